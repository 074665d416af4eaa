package fn

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// candidate is a function with its parameter list expanded to the number of arguments given.
type candidate struct {
	f      *Func
	params []types.Type
}

// expand gives the parameters of f for n arguments.
func (f *Func) expand(n int) ([]types.Type, bool) {
	if !f.Variadic {
		return f.Args, len(f.Args) == n
	}
	if n < len(f.Args) {
		return nil, false
	}
	out := append([]types.Type(nil), f.Args...)
	for len(out) < n {
		out = append(out, f.Args[len(f.Args)-1])
	}
	return out, true
}

func accepts(c candidate, args []types.Type) bool {
	for i, p := range c.params {
		if !coercible(args[i], p) {
			return false
		}
	}
	_, ok := c.f.consistent(c.params, args)
	return ok
}

// ResolveCall chooses the function for a call (PostgreSQL 10.3). An argument that is an untyped literal or
// parameter has type Unknown. It looks at functions of the given classes, or of every class but operators and
// casts if none is given. argTypes are the types to which the arguments must be brought, by ResolveCast in
// Implicit context or by reading an untyped literal; result is the type of the call. A name that is a type's
// and has no function that fits is a cast, f then being of class Cast.
//
// Errors: 42883 (no function fits), 42725 (several fit equally), 42804 (polymorphic types not determined).
func ResolveCall(name string, args []types.Type, classes ...Class) (f *Func, argTypes []types.Type, result types.Type, err error) {
	var cands []candidate
	for _, g := range funcsByName[name] {
		if !hasClass(g.Class, classes) {
			continue
		}
		if params, ok := g.expand(len(args)); ok {
			cands = append(cands, candidate{g, params})
		}
	}
	c, n := choose(cands, args)
	switch {
	case c == nil && n > 1:
		return nil, nil, result, sqlerr.New(sqlerr.AmbiguousFunction, "function %s is not unique", callText(name, args)).
			WithHint("Could not choose a best candidate function. You might need to add explicit type casts.")
	case c == nil:
		if cast, t := typeCall(name, args); cast != nil {
			return cast, cast.Args, t, nil
		}
		return nil, nil, result, sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", callText(name, args)).
			WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
	}
	argTypes, result, err = c.f.actual(c.params, args)
	return c.f, argTypes, result, err
}

// Choose picks among parameter lists, each as long as args, the one that a call with arguments of the types args means, by the rules of
// ResolveCall. It gives its number, -1 if there is none, and how many fit equally: 0 for none, more than one for an ambiguous call.
func Choose(params [][]types.Type, args []types.Type) (at, fit int) {
	cands := make([]candidate, len(params))
	for i, p := range params {
		cands[i] = candidate{&Func{Args: p}, p}
	}
	c, n := choose(cands, args)
	if c != nil {
		for i := range cands {
			if cands[i].f == c.f {
				return i, 1
			}
		}
	}
	return -1, n
}

func hasClass(c Class, classes []Class) bool {
	if len(classes) == 0 {
		return true
	}
	for _, x := range classes {
		if c == x {
			return true
		}
	}
	return false
}

// typeCall reads float8(x) as a cast.
func typeCall(name string, args []types.Type) (*Func, types.Type) {
	if len(args) != 1 {
		return nil, types.Type{}
	}
	to, ok := types.ByName(name)
	if !ok || to.Kind >= types.Record {
		return nil, to
	}
	f, err := ResolveCast(args[0], to.NoMod(), Explicit)
	if err != nil {
		return nil, to
	}
	return f, to.NoMod()
}

func callText(name string, args []types.Type) string { return name + "(" + typeList(args) + ")" }

func typeList(ts []types.Type) string {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = shownName(t)
	}
	return strings.Join(names, ", ")
}

// shownName is a type in a message, where character(n) without n is "character".
func shownName(t types.Type) string {
	if t.Kind == types.Bpchar {
		return "character"
	}
	return t.NoMod().String()
}

// choose applies the steps after the exact match of 10.2 and 10.3. With no winner it gives the number of
// candidates left: 0 for none, more for an ambiguous call.
func choose(cands []candidate, args []types.Type) (*candidate, int) {
	for i := range cands {
		if exact(cands[i], args) {
			return &cands[i], 1
		}
	}
	var fit []candidate
	for _, c := range cands {
		if accepts(c, args) {
			fit = append(fit, c)
		}
	}
	fit = preferNonVariadic(fit)
	if len(fit) <= 1 {
		return first(fit)
	}
	return bestCandidate(fit, args)
}

func first(cs []candidate) (*candidate, int) {
	if len(cs) == 1 {
		return &cs[0], 1
	}
	return nil, len(cs)
}

func exact(c candidate, args []types.Type) bool {
	for i, p := range c.params {
		if !p.Same(args[i]) {
			return false
		}
	}
	return true
}

// preferNonVariadic drops a variadic candidate whose expanded parameters equal those of a plain one.
func preferNonVariadic(cs []candidate) []candidate {
	var out []candidate
next:
	for _, c := range cs {
		if c.f.Variadic {
			for _, d := range cs {
				if !d.f.Variadic && exact(d, c.params) {
					continue next
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// keepBest keeps the candidates that score highest.
func keepBest(cs []candidate, score func(candidate) int) []candidate {
	best := -1
	var out []candidate
	for _, c := range cs {
		s := score(c)
		if s > best {
			best, out = s, out[:0:0]
		}
		if s == best {
			out = append(out, c)
		}
	}
	return out
}

// bestCandidate is PostgreSQL's func_select_candidate.
func bestCandidate(cs []candidate, args []types.Type) (*candidate, int) {
	unknowns := 0
	for _, a := range args {
		if a.Kind == types.Unknown {
			unknowns++
		}
	}
	count := func(match func(p, a types.Type) bool) func(candidate) int {
		return func(c candidate) int {
			n := 0
			for i, a := range args {
				if a.Kind != types.Unknown && match(c.params[i], a) {
					n++
				}
			}
			return n
		}
	}
	cs = keepBest(cs, count(func(p, a types.Type) bool { return p.Same(a) }))
	if len(cs) == 1 {
		return first(cs)
	}
	cs = keepBest(cs, count(func(p, a types.Type) bool {
		return p.Same(a) || category(p) == category(a) && preferred(p)
	}))
	if len(cs) == 1 || unknowns == 0 {
		return first(cs)
	}
	if kept := byUnknownCategory(cs, args); len(kept) > 0 {
		cs = kept
	}
	if len(cs) == 1 {
		return first(cs)
	}
	return byKnownType(cs, args)
}

// byUnknownCategory settles the category of each unknown argument, text winning, and keeps the candidates
// that agree with it; nil where a category stays open.
func byUnknownCategory(cs []candidate, args []types.Type) []candidate {
	keep := make([]bool, len(cs))
	for i := range keep {
		keep[i] = true
	}
	for pos, a := range args {
		if a.Kind != types.Unknown {
			continue
		}
		slot, pref, conflict := category(cs[0].params[pos]), preferred(cs[0].params[pos]), false
		for _, c := range cs[1:] {
			p := c.params[pos]
			switch cat := category(p); {
			case cat == slot:
				pref = pref || preferred(p)
			case cat == 'S':
				slot, pref = cat, preferred(p)
			default:
				conflict = true
			}
		}
		if conflict && slot != 'S' {
			return nil
		}
		for i, c := range cs {
			p := c.params[pos]
			if category(p) != slot || pref && !preferred(p) {
				keep[i] = false
			}
		}
	}
	var out []candidate
	for i, c := range cs {
		if keep[i] {
			out = append(out, c)
		}
	}
	return out
}

// byKnownType takes unknown arguments to be of the type that all the known ones have.
func byKnownType(cs []candidate, args []types.Type) (*candidate, int) {
	var known types.Type
	for _, a := range args {
		switch {
		case a.Kind == types.Unknown || a.Same(known):
		case known.Kind == types.Unknown:
			known = a
		default:
			return nil, len(cs)
		}
	}
	if known.Kind == types.Unknown {
		return nil, len(cs)
	}
	assumed := make([]types.Type, len(args))
	for i := range assumed {
		assumed[i] = known
	}
	var out []candidate
	for _, c := range cs {
		if accepts(c, assumed) {
			out = append(out, c)
		}
	}
	if len(out) == 1 {
		return first(out)
	}
	return nil, len(cs)
}

// ResolveOperator chooses an operator (PostgreSQL 10.2); left is nil for a prefix operator. l and r are the
// types to which the operands must be brought. Errors: 42883, 42725.
func ResolveOperator(op string, left, right *types.Type) (f *Func, l, r types.Type, result types.Type, err error) {
	if op == "!=" {
		op = "<>"
	}
	args := []types.Type{right.NoMod()}
	if left != nil {
		args = []types.Type{left.NoMod(), right.NoMod()}
	}
	var cands []candidate
	for _, g := range opsByName[op] {
		if len(g.Args) == len(args) {
			cands = append(cands, candidate{g, g.Args})
		}
	}
	c, n := chooseOperator(cands, args)
	if c == nil {
		return nil, l, r, result, operatorError(op, args, n)
	}
	argTypes, result, err := c.f.actual(c.params, args)
	if err != nil {
		return nil, l, r, result, err
	}
	r = argTypes[len(argTypes)-1]
	if left != nil {
		l = argTypes[0]
	}
	return c.f, l, r, result, nil
}

// chooseOperator first takes an untyped operand to be of the other's type, if there is exactly that operator.
func chooseOperator(cands []candidate, args []types.Type) (*candidate, int) {
	if len(args) == 2 && (args[0].Kind == types.Unknown) != (args[1].Kind == types.Unknown) {
		t := args[0]
		if t.Kind == types.Unknown {
			t = args[1]
		}
		same := []types.Type{t, t}
		for i := range cands {
			if exact(cands[i], same) {
				return &cands[i], 1
			}
		}
	}
	return choose(cands, args)
}

func operatorError(op string, args []types.Type, n int) error {
	text := op + " " + shownName(args[0])
	if len(args) == 2 {
		text = shownName(args[0]) + " " + op + " " + shownName(args[1])
	}
	if n > 1 {
		return sqlerr.New(sqlerr.AmbiguousFunction, "operator is not unique: %s", text).
			WithHint("Could not choose a best candidate operator. You might need to add explicit type casts.")
	}
	hint := "No operator matches the given name and argument types. You might need to add explicit type casts."
	if len(args) == 1 {
		hint = "No operator matches the given name and argument type. You might need to add an explicit type cast."
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", text).WithHint("%s", hint)
}

func errPolymorphic() error {
	return sqlerr.New(sqlerr.DatatypeMismatch, "could not determine polymorphic type because input has type unknown")
}
