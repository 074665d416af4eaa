package kernel

import (
	"sort"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// SessionFuncs answers the functions that depend on the catalog or the session (fn.Func.Session): those of
// pg_catalog that psql calls, current_setting and the like. Args have the declared
// types and may alias a batch; a non-strict function may get NULLs. It is called from the goroutine of the kernel.
type SessionFuncs interface {
	Call(name string, args []types.Datum) (types.Datum, error)
}

// Env is what an evaluation depends on besides its input. It is not changed during an evaluation.
type Env struct {
	Session *types.Env   // how values are read and shown; nil means types.DefaultEnv
	Now     int64        // the epoch's or statement's timestamp, microseconds since 1970 UTC
	Funcs   SessionFuncs // nil: functions of the session answer 0A000
	// Params are the values of parameters that were made late ones (Late); one that is missing is NULL.
	Params []types.Datum
}

// RowError is the error of one row of a batch.
type RowError struct {
	Row int
	Err *sqlerr.Error
}

// Kernel is one compiled expression. It owns scratch memory, so one goroutine may use it at a time.
type Kernel struct {
	root node
	typ  types.Type
	ctx  ctx
	wide *batch.Vector // a constant result, spread over the rows
	full *batch.Vector // a literal, spread over as many rows as were ever asked for
	head batch.Vector  // a result under the expression's own type, where it is a relabelled column
}

// Compile builds the kernel of e over columns of the types in. Errors: 0A000 for a function that is not
// built, XX000 for an expression that is not well formed (a parameter that was not bound, a column out of range).
func Compile(e plan.Expr, in []types.Type) (*Kernel, error) {
	n, err := compile(e, in)
	if err != nil {
		return nil, err
	}
	return &Kernel{root: n, typ: e.Type()}, nil
}

// Type is the type of the kernel's values.
func (k *Kernel) Type() types.Type { return k.typ }

// Eval computes the expression for the rows of b in sel, ascending, or for all rows if sel is nil. v has b.N
// values; those of rows outside sel and of rows with an error are unspecified. v may be a column of b, else it
// belongs to the kernel and is valid until the kernel's next use. errs has one error a row at most, in order of
// rows, and is valid as long as v.
func (k *Kernel) Eval(env *Env, b *batch.Batch, sel []int32) (v *batch.Vector, errs []RowError) {
	c := k.begin(env, b)
	o := k.root.eval(c, sel)
	return k.spread(o, b.N), c.finish()
}

// Filter gives the rows in sel (nil: all) for which a boolean expression is true, ascending, in the memory of
// out (which may be sel) or larger memory. A row with an error is not among them. Operands of AND are
// evaluated only for rows for which all earlier ones are true. errs is as in Eval.
func (k *Kernel) Filter(env *Env, b *batch.Batch, sel, out []int32) ([]int32, []RowError) {
	c := k.begin(env, b)
	if cap(out) < b.N {
		out = make([]int32, 0, b.N)
	}
	if sel == nil {
		out = filterNode(k.root, c, nil, out[:b.N])
	} else {
		out = filterNode(k.root, c, sel, out[:max(len(sel), 0)])
	}
	errs := c.finish()
	if len(errs) > 0 {
		out = dropErrors(out, errs)
	}
	return out, errs
}

func dropErrors(rows []int32, errs []RowError) []int32 {
	kept := rows[:0]
	for _, r := range rows {
		for len(errs) > 0 && errs[0].Row < int(r) {
			errs = errs[1:]
		}
		if len(errs) == 0 || errs[0].Row != int(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

func (k *Kernel) begin(env *Env, b *batch.Batch) *ctx {
	c := &k.ctx
	if env == nil {
		env = &Env{}
	}
	c.env, c.session, c.b, c.n, c.errs = env, env.Session, b, b.N, c.errs[:0]
	if c.session == nil {
		c.session = defaultSession
	}
	return c
}

// spread turns a constant result into b.N values.
func (k *Kernel) spread(o operand, n int) *batch.Vector {
	if !o.con && o.v.Type == k.typ {
		return o.v
	}
	if !o.con {
		k.head = *o.v
		k.head.Type = k.typ
		return &k.head
	}
	if c, ok := k.root.(*constNode); ok {
		return k.repeat(c.v.Datum(0), n)
	}
	if k.wide == nil {
		k.wide = batch.NewVector(k.typ, n)
	}
	k.wide.Reset(k.typ)
	d := o.v.Datum(0)
	for i := 0; i < n; i++ {
		k.wide.AppendDatum(d)
	}
	return k.wide
}

// repeat gives n copies of a literal, which are made once: of a short one as many as a batch has rows, of a long one not many more than are asked for.
func (k *Kernel) repeat(d types.Datum, n int) *batch.Vector {
	if k.full == nil || k.full.N < n {
		room := batch.Target
		if len(d.B) > shortLiteral {
			room = 0
			if k.full != nil {
				room = min(2*k.full.N, batch.Target)
			}
		}
		k.full, k.wide = batch.Constant(k.typ, d, max(n, room)), nil
	}
	if k.wide == nil || k.wide.N != n {
		k.wide = k.full.Slice(0, n)
	}
	return k.wide
}

// shortLiteral is up to how many bytes a literal is short.
const shortLiteral = 64

var defaultSession = types.DefaultEnv()

// ctx is one evaluation.
type ctx struct {
	env     *Env
	session *types.Env
	b       *batch.Batch
	n       int // rows of b
	errs    []RowError
	iota    []int32 // 0, 1, 2 ...
}

// fail notes an error of a row.
func (c *ctx) fail(row int, err error) {
	c.errs = append(c.errs, RowError{Row: row, Err: sqlerr.From(err)})
}

// rows gives sel as an explicit list, which is not to be changed.
func (c *ctx) rows(sel []int32) []int32 {
	if sel != nil {
		return sel
	}
	for len(c.iota) < c.n {
		c.iota = append(c.iota, int32(len(c.iota)))
	}
	return c.iota[:c.n:c.n]
}

// finish orders the errors by row and keeps the first of each.
func (c *ctx) finish() []RowError {
	c.b = nil // not to keep the batch alive
	if len(c.errs) < 2 {
		return c.errs
	}
	sort.SliceStable(c.errs, func(i, j int) bool { return c.errs[i].Row < c.errs[j].Row })
	kept := c.errs[:1]
	for _, e := range c.errs[1:] {
		if e.Row != kept[len(kept)-1].Row {
			kept = append(kept, e)
		}
	}
	c.errs = kept
	return kept
}
