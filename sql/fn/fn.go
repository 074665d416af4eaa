// Package fn is the catalogue of functions, operators, casts and aggregates:
// their names, signatures, result types and properties, and PostgreSQL's rules
// for choosing among them (PostgreSQL, chapter 10). The planner resolves
// against it, exec/kernel and exec/agg implement it, pg_proc is shown from it.
//
// The signatures are lines of text in the files ops_*.go, fns_*.go and aggs.go,
// read once at package initialisation. Everything here is read-only from then
// on and safe for concurrent use.
package fn

import (
	"sort"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// Class is what kind of function it is.
type Class uint8

// The classes.
const (
	Scalar    Class = iota
	Aggregate       // usable with GROUP BY, and with OVER
	Window          // row_number, rank, lag ...: only with OVER
	Set             // returns rows: generate_series, unnest ...
	Operator        // infix or prefix operator
	Cast            // conversion between two types; Name is "cast", or "assign" for one that refuses what a cast cuts off
)

// Volatility is PostgreSQL's volatility category.
type Volatility uint8

// The categories.
const (
	Immutable Volatility = iota
	Stable
	Volatile
)

// Func is one function, operator, cast or aggregate with one signature. Values are made once and compared by
// pointer.
type Func struct {
	Name       string // "lower", "+", "cast", "sum"
	Class      Class
	Args       []types.Type // may hold the pseudo-types Any, AnyElement, AnyArray
	Variadic   bool         // the last argument repeats
	Result     types.Type   // may be a pseudo-type: the resolution functions give the actual type; of a cast, with modifier
	Strict     bool         // NULL in, NULL out
	Volatility Volatility
	// OutCols are the columns of a Set function that returns several; nil means one column named Name.
	OutCols []OutCol
	// OrderedSet says that an aggregate takes WITHIN GROUP; its direct arguments come first in Args, then the sorted one.
	OrderedSet bool
	// Session says that the value depends on the catalog or the session, which answer it at run time.
	Session bool
	// Make, of a function that a user made, makes what evaluates it, for one goroutine; nil for all others.
	Make func() (func(args []types.Datum) (types.Datum, error), error)
	// MakeSet is Make of a Set function: what it makes gives each row to emit, which says whether more are wanted.
	MakeSet func() (func(args []types.Datum, emit func([]types.Datum) bool) error, error)

	compat   bool   // AnyElement and AnyArray are PostgreSQL's anycompatible ones: arguments of a common type
	nonArray bool   // AnyElement is not an array (anynonarray)
	sig      string // see Signature

	parts    []*Func // see Parts
	partArgs []int
}

// OutCol is one output column of a set-returning function.
type OutCol struct {
	Name string
	Type types.Type
}

// Signature names the function uniquely: "lower(text)", "int4 + int4", "- int4", "cast(int4 text)".
func (f *Func) Signature() string { return f.sig }

func makeSignature(f *Func) string {
	names := make([]string, len(f.Args))
	for i, t := range f.Args {
		names[i] = typeWord(t)
	}
	if f.Class == Operator {
		if len(names) == 1 {
			return f.Name + " " + names[0]
		}
		return names[0] + " " + f.Name + " " + names[1]
	}
	sep := ","
	if f.Class == Cast {
		return f.Name + "(" + names[0] + " " + typeWord(f.Result) + ")"
	}
	return f.Name + "(" + strings.Join(names, sep) + ")"
}

// typeWord is the type's name in signatures: pg_type.typname, with [] for arrays.
func typeWord(t types.Type) string {
	if t.Kind == types.Array {
		return t.ElemType().InternalName() + "[]"
	}
	return t.InternalName()
}

var (
	funcsByName = map[string][]*Func{} // all but operators and casts
	opsByName   = map[string][]*Func{}
	allFuncs    []*Func
)

// Lookup gives every function, aggregate and set-returning function of the name, in the order of the
// catalogue. The slice is not to be changed.
func Lookup(name string) []*Func { return funcsByName[name] }

// LookupOperator is Lookup for operators, by symbol.
func LookupOperator(op string) []*Func { return opsByName[op] }

// All lists the whole catalogue but I/O conversions and array casts, which follow from the types, ordered by
// class, name and signature. The caller owns the slice.
func All() []*Func {
	out := append([]*Func(nil), allFuncs...)
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Class != b.Class {
			return a.Class < b.Class
		}
		if a.Name != b.Name {
			return a.Name < b.Name
		}
		return a.sig < b.sig
	})
	return out
}
