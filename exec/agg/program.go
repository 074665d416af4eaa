package agg

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// program is a list of aggregates compiled into the accumulators they share
// and what makes results of these.
type program struct {
	in         []types.Type
	appendOnly bool // no row is ever taken back
	sketch     bool // plan.Aggregate.Sketch
	env        *kernel.Env

	exprs   []*argument
	filters []*predicate
	inputs  []*input
	cells   []cell
	sets    []*setCell
	// distincts are the sets of DISTINCT aggregates that need no order.
	distincts []*distinctTable
	outs      []output

	head   []table.Column
	words  int  // of an entry, but the rare ones
	rare   int  // rare words of an entry
	plain  bool // rare words may be used: the operator does not move entries about
	fields int  // of a blob
	shared map[string]any
}

// output makes the results of one aggregate.
type output interface {
	// emit appends the result of each entry to v, NULL where it fails.
	emit(t *target, slots []int32, v *batch.Vector, fail failFunc)
}

// failFunc takes the error of the k-th entry.
type failFunc func(k int, err *sqlerr.Error)

// argument is an expression under a filter.
type argument struct {
	x      plan.Expr
	filter int
	col    int // plain column, -1 for none
	k      *kernel.Kernel
	v      *batch.Vector
}

// predicate is a FILTER clause.
type predicate struct {
	x    plan.Expr
	k    *kernel.Kernel
	rows []int32 // that pass
	pass []bool
}

// newProgram compiles aggregates over input columns of the types in. head are the words of an entry that the operator keeps between
// headWords and the accumulators.
func newProgram(aggs []plan.Agg, in []types.Type, appendOnly, sketch bool, head []table.Column, env *kernel.Env) (*program, error) {
	p := &program{plain: head == nil, in: in, appendOnly: appendOnly, sketch: sketch, env: env, head: head, words: headWords + len(head), fields: 1, shared: map[string]any{}}
	for i := range aggs {
		o, err := p.compile(&aggs[i])
		if err != nil {
			return nil, err
		}
		p.outs = append(p.outs, o)
	}
	p.shareCounting()
	return p, nil
}

// share gives what make makes, once for each key.
func share[T any](p *program, key string, make func() (T, error)) (T, error) {
	if x, ok := p.shared[key]; ok {
		return x.(T), nil
	}
	x, err := make()
	if err == nil {
		p.shared[key] = x
	}
	return x, err
}

func (p *program) addFilter(x plan.Expr) (int, error) {
	if x == nil {
		return -1, nil
	}
	for i, f := range p.filters {
		if reflect.DeepEqual(f.x, x) {
			return i, nil
		}
	}
	k, err := kernel.Compile(x, p.in)
	if err != nil {
		return 0, err
	}
	p.filters = append(p.filters, &predicate{x: x, k: k})
	return len(p.filters) - 1, nil
}

func (p *program) addExpr(x plan.Expr, filter int) (int, error) {
	for i, e := range p.exprs {
		if reflect.DeepEqual(e.x, x) && (e.filter == filter || e.col >= 0) {
			return i, nil
		}
	}
	a := &argument{x: x, filter: filter, col: -1}
	if c, ok := x.(*plan.Col); ok {
		a.col = c.Index
	} else {
		k, err := kernel.Compile(x, p.in)
		if err != nil {
			return 0, err
		}
		a.k = k
	}
	p.exprs = append(p.exprs, a)
	return len(p.exprs) - 1, nil
}

// addInput gives the input of the arguments under a filter; rows in which one of the first strict arguments is NULL are left out.
func (p *program) addInput(args []plan.Expr, filter plan.Expr, strict int) (*input, error) {
	f, err := p.addFilter(filter)
	if err != nil {
		return nil, err
	}
	in := &input{filter: f, strict: strict}
	for _, x := range args {
		i, err := p.addExpr(x, f)
		if err != nil {
			return nil, err
		}
		in.args = append(in.args, i)
	}
	return share(p, fmt.Sprint("input", in.args, f, strict), func() (*input, error) {
		p.inputs = append(p.inputs, in)
		return in, nil
	})
}

// scope is where an aggregate's accumulators get their rows from: an input, or the changes of a DISTINCT set.
type scope struct {
	in    *input
	inner *[]cell // of the set; nil: the program's
}

// addCell gives a cell of a kind over the scope's input; make gets the first of its words.
func addCell[T cell](p *program, s scope, kind string, words int, make func(off int) T) T {
	c, _ := share(p, fmt.Sprintf("%s %p", kind, s.in), func() (T, error) {
		c := make(p.words)
		p.words += words
		if s.inner != nil {
			*s.inner = append(*s.inner, c)
		} else {
			p.cells = append(p.cells, c)
		}
		return c, nil
	})
	return c
}

// mayBeRare says whether cells of a scope may have rare words: those of sets are told of changes, not of all rows.
func (p *program) mayBeRare(s scope) bool { return p.plain && s.inner == nil }

// addRare takes a rare word.
func (p *program) addRare() int {
	p.rare++
	return p.rare - 1
}

// addField takes a blob field.
func (p *program) addField() int {
	p.fields++
	return p.fields - 1
}

// addSet enters a set.
func (p *program) addSet(s scope, key string, make func() *setCell) *setCell {
	c, _ := share(p, fmt.Sprintf("set %s %p", key, s.in), func() (*setCell, error) {
		c := make()
		c.in, c.id = s.in, len(p.sets)
		if c.arrival {
			c.off = p.words
			p.words++
		}
		p.sets = append(p.sets, c)
		p.cells = append(p.cells, c)
		return c, nil
	})
	return c
}

// distinct gives the scope of the changes of the set of different arguments.
func (p *program) distinct(s scope, ts []types.Type) scope {
	if tellsApart(ts) {
		set := p.addDistinct(s.in, ts)
		return scope{in: set.changes, inner: &set.inner}
	}
	set := p.addSet(s, "distinct", func() *setCell {
		return &setCell{args: columnsOf(ts), changes: &input{filter: -1}}
	})
	return scope{in: set.changes, inner: &set.inner}
}

func columnsOf(ts []types.Type) []sortKey {
	out := make([]sortKey, len(ts))
	for i, t := range ts {
		out[i] = sortKey{arg: i, typ: t}
	}
	return out
}

// evaluate computes filters and arguments for the rows sel (nil: all) of b. dead takes rows that fail, once each.
func (p *program) evaluate(b *batch.Batch, sel []int32, dead func(row int, err *sqlerr.Error)) {
	report := func(errs []kernel.RowError) {
		for _, e := range errs {
			dead(e.Row, e.Err)
		}
	}
	for _, f := range p.filters {
		var errs []kernel.RowError
		f.rows, errs = f.k.Filter(p.env, b, sel, f.rows)
		report(errs)
		f.pass = append(f.pass[:0], make([]bool, b.N)...)
		for _, r := range f.rows {
			f.pass[r] = true
		}
	}
	for _, e := range p.exprs {
		if e.col >= 0 {
			e.v = b.Cols[e.col]
			continue
		}
		rows := sel
		if e.filter >= 0 {
			rows = p.filters[e.filter].rows
		}
		var errs []kernel.RowError
		e.v, errs = e.k.Eval(p.env, b, rows)
		report(errs)
	}
	for _, in := range p.inputs {
		in.cols = in.cols[:0]
		for _, a := range in.args {
			in.cols = append(in.cols, p.exprs[a].v)
		}
		in.pass = nil
		if in.filter >= 0 {
			in.pass = p.filters[in.filter].pass
		}
	}
	for _, s := range p.sets {
		s.b = b
	}
}

// accumulate adds the target's rows to their entries, but for the count of rows.
func (p *program) accumulate(t *target, w []int64) {
	for _, in := range p.inputs {
		in.bind(t, w)
	}
	for _, c := range p.cells {
		c.add(t)
	}
}

// mergeable says whether entries can be merged.
func (p *program) mergeable() bool { return len(p.sets)+len(p.distincts) == 0 }

// emit appends the results of entries to columns from first on.
func (p *program) emit(t *target, slots []int32, cols []*batch.Vector, fail failFunc) {
	for i, o := range p.outs {
		o.emit(t, slots, cols[i], fail)
	}
}

// constant evaluates an argument that must not depend on the input.
func constant(x plan.Expr, env *kernel.Env) (types.Datum, error) {
	if c, ok := x.(*plan.Const); ok {
		return c.Val, nil
	}
	k, err := kernel.Compile(x, nil)
	if err != nil {
		return types.NullDatum, err
	}
	v, errs := k.Eval(env, &batch.Batch{N: 1}, nil)
	if len(errs) > 0 {
		return types.NullDatum, errs[0].Err
	}
	return v.Datum(0).Clone(), nil
}

// unsupported is the error for an aggregate that is not built.
func unsupported(a *plan.Agg) error {
	names := make([]string, len(a.Args))
	for i, x := range a.Args {
		names[i] = x.Type().String()
	}
	return sqlerr.Unsupported("aggregate %s(%s) is not supported", a.Fn.Name, strings.Join(names, ", "))
}
