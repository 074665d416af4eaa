package fn

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// The tables. A line of a function table is
//
//	name(type,type) result flag...
//
// and of an operator table "left op right result flag..." or "op right result
// flag...". Types are named as in pg_type, with [] for arrays, and as
// PostgreSQL's pseudo-types. Several names may share a line: "ceil|ceiling(...)".
// Flags: null (called with NULL arguments), stable, volatile, variadic,
// session, agg, window, set, orderedset, cols=name:type,name:type.
// A line that begins with -- is a comment.

func init() {
	for _, t := range []string{mathFuncs, textFuncs, regexpFuncs, timeFuncs, jsonFuncs, arrayFuncs, systemFuncs, privilegeFuncs, aggregates, windowFuncs} {
		eachLine(t, addFuncLine)
	}
	for _, t := range []string{arithmeticOps, textOps, timeOps, jsonOps, arrayOps} {
		eachLine(t, addOperatorLine)
	}
	addComparisons()
	addCasts()
}

func eachLine(table string, f func(string)) {
	for _, line := range strings.Split(table, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "--") {
			f(line)
		}
	}
}

func addFuncLine(line string) {
	head, rest, ok := strings.Cut(line, ") ")
	names, args, ok2 := strings.Cut(head, "(")
	if !ok || !ok2 {
		panic("fn: bad line: " + line)
	}
	words := strings.Fields(rest)
	for _, name := range strings.Split(names, "|") {
		f := &Func{Name: name, Class: Scalar}
		if args != "" {
			for _, a := range strings.Split(args, ",") {
				f.Args = append(f.Args, f.typeOf(a, line))
			}
		}
		f.Result = f.typeOf(words[0], line)
		f.flags(words[1:], line)
		addFunc(f)
	}
}

func addFunc(f *Func) {
	f.sig = makeSignature(f)
	allFuncs = append(allFuncs, f)
	switch f.Class {
	case Operator:
		opsByName[f.Name] = append(opsByName[f.Name], f)
	case Cast:
	default:
		funcsByName[f.Name] = append(funcsByName[f.Name], f)
	}
}

func addOperatorLine(line string) {
	words := strings.Fields(line)
	f := &Func{Class: Operator}
	if isTypeWord(words[0]) {
		f.Name = words[1]
		f.Args = []types.Type{f.typeOf(words[0], line), f.typeOf(words[2], line)}
		words = words[3:]
	} else {
		f.Name = words[0]
		f.Args = []types.Type{f.typeOf(words[1], line)}
		words = words[2:]
	}
	f.Result = f.typeOf(words[0], line)
	f.flags(words[1:], line)
	addFunc(f)
}

func isTypeWord(w string) bool { return w[0] >= 'a' && w[0] <= 'z' }

// typeOf reads a type word and notes on f what a pseudo-type says beyond its kind.
func (f *Func) typeOf(word, line string) types.Type {
	switch word {
	case "anycompatible":
		f.compat = true
		return types.Of(types.AnyElement)
	case "anycompatiblearray":
		f.compat = true
		return types.Of(types.AnyArray)
	case "anynonarray":
		f.nonArray = true
		return types.Of(types.AnyElement)
	case "char": // the one-byte type; the word alone means character(1) in SQL
		return types.Of(types.Char)
	}
	t, ok := types.ByName(word)
	if !ok {
		panic("fn: no type " + word + " in: " + line)
	}
	return t
}

func (f *Func) flags(words []string, line string) {
	f.Strict = true
	for _, w := range words {
		switch w {
		case "null":
			f.Strict = false
		case "stable":
			f.Volatility = Stable
		case "volatile":
			f.Volatility = Volatile
		case "variadic":
			f.Variadic = true
		case "session":
			f.Session = true
		case "agg":
			f.Class, f.Strict = Aggregate, false
		case "window":
			f.Class, f.Strict = Window, false
		case "set":
			f.Class = Set
		case "orderedset":
			f.Class, f.Strict, f.OrderedSet = Aggregate, false, true
		default:
			cols, ok := strings.CutPrefix(w, "cols=")
			if !ok {
				panic("fn: bad flag " + w + " in: " + line)
			}
			for _, c := range strings.Split(cols, ",") {
				name, t, _ := strings.Cut(c, ":")
				f.OutCols = append(f.OutCols, OutCol{Name: name, Type: f.typeOf(t, line)})
			}
		}
	}
}
