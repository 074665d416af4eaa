package rowenc

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

var errCorrupt = errors.New("operator state is corrupt: truncated or malformed value")

func itoa(i int) string { return strconv.Itoa(i) }

// Exprs is a list of compiled expressions over one input. It belongs to one operator.
type Exprs struct {
	Types []types.Type // of the values
	cols  []int        // input column of a plain column reference, else -1
	kern  []*kernel.Kernel
	part  []bool // of an input column: its memory is the input's
	vecs  []*batch.Vector
}

// Compile compiles exprs over an input with columns of the types in.
func Compile(exprs []plan.Expr, in []types.Type) (*Exprs, error) {
	e := &Exprs{vecs: make([]*batch.Vector, len(exprs))}
	for _, x := range exprs {
		col, kern := -1, (*kernel.Kernel)(nil)
		if c, ok := x.(*plan.Col); ok {
			col = c.Index
		} else {
			k, err := kernel.Compile(x, in)
			if err != nil {
				return nil, err
			}
			kern = k
		}
		e.Types, e.cols, e.kern, e.part = append(e.Types, x.Type()), append(e.cols, col), append(e.kern, kern), append(e.part, isPart(x))
	}
	return e, nil
}

// Len is the number of expressions.
func (e *Exprs) Len() int { return len(e.cols) }

// Eval evaluates every expression for all rows of b. A row that fails goes to the sink's dead letters, once, and
// is missing from the selection it gives; a nil selection means all rows. The vectors are valid until the next Eval. The
// error is the sink's: the statement ends.
func (e *Exprs) Eval(ep *dataflow.Epoch, env *kernel.Env, b *batch.Batch) ([]*batch.Vector, []int32, error) {
	vecs, failed := e.Values(env, b, nil)
	sel, err := Bury(ep, b, nil, failed)
	return vecs, sel, err
}

// Values is Eval for who buries the rows that fail together with others: it appends their errors to failed.
func (e *Exprs) Values(env *kernel.Env, b *batch.Batch, failed []kernel.RowError) ([]*batch.Vector, []kernel.RowError) {
	for i, c := range e.cols {
		if c >= 0 {
			e.vecs[i] = b.Cols[c]
			continue
		}
		v, errs := e.kern[i].Eval(env, b, nil)
		e.vecs[i], failed = v, append(failed, errs...)
	}
	return e.vecs, failed
}

// isPart says of an expression whether it is a start or end in a column of windows, which lie there as they are.
func isPart(x plan.Expr) bool {
	f, ok := x.(*plan.WindowField)
	if !ok {
		return false
	}
	_, ok = f.X.(*plan.Col)
	return ok
}

// Last makes the vectors that Eval gave last as long as its input: those whose memory is not the input's are copied.
func (e *Exprs) Last(vecs []*batch.Vector) {
	for i, k := range e.kern {
		if k != nil && !e.part[i] {
			v := batch.NewVector(vecs[i].Type, vecs[i].N)
			v.AppendVector(vecs[i], nil)
			vecs[i] = v
		}
	}
}

// Bury sends the rows of b that failed to the sink's dead letters, each once with its first error, and gives the rows of
// sel (nil: all) without them; nil for all rows. Letters come in the order of the rows, whichever expression failed, so that they are
// the same however rows are cut into batches; all that can fail for a batch is therefore to be buried at once. It sorts failed.
func Bury(ep *dataflow.Epoch, b *batch.Batch, sel []int32, failed []kernel.RowError) ([]int32, error) {
	if len(failed) == 0 {
		return sel, nil
	}
	if err := Letters(ep, b, failed); err != nil {
		return nil, err
	}
	return Without(b.N, sel, failed), nil
}

// Letters is Bury for who knows which rows are left.
func Letters(ep *dataflow.Epoch, b *batch.Batch, failed []kernel.RowError) error {
	slices.SortStableFunc(failed, func(x, y kernel.RowError) int { return cmp.Compare(x.Row, y.Row) })
	for i, f := range failed {
		if i > 0 && f.Row == failed[i-1].Row {
			continue
		}
		if err := ep.Sink.Dead(ep, b, f.Row, f.Err); err != nil {
			return err
		}
	}
	return nil
}

// Without gives the rows of sel (nil: all n) that are not among those that failed; nil for all rows.
func Without(n int, sel []int32, failed []kernel.RowError) []int32 {
	if len(failed) == 0 {
		return sel
	}
	bad := make(map[int32]bool, len(failed))
	for _, f := range failed {
		bad[int32(f.Row)] = true
	}
	good := make([]int32, 0, n)
	_ = EachRow(n, sel, func(i int) error {
		if !bad[int32(i)] {
			good = append(good, int32(i))
		}
		return nil
	})
	return good
}

// SortKeys is a compiled ORDER BY.
type SortKeys struct {
	*Exprs
	keys []plan.SortKey
}

// CompileSort compiles sort keys over an input with columns of the types in.
func CompileSort(keys []plan.SortKey, in []types.Type) (*SortKeys, error) {
	xs := make([]plan.Expr, len(keys))
	for i, k := range keys {
		xs[i] = k.X
	}
	e, err := Compile(xs, in)
	if err != nil {
		return nil, err
	}
	return &SortKeys{Exprs: e, keys: keys}, nil
}

// Columns declares the columns of the keys.
func (s *SortKeys) Columns() []table.Column {
	cols := Columns("sort", s.Types)
	for i, k := range s.keys {
		cols[i].Desc = k.Desc
	}
	return cols
}

// Append appends the key of row i, given the vectors of Eval; bytes compare as ORDER BY asks.
func (s *SortKeys) Append(dst []byte, vecs []*batch.Vector, i int) []byte {
	for k, v := range vecs {
		dst = types.AppendKey(dst, v.Type, v.Datum(i), s.keys[k].Desc, s.keys[k].NullsFirst)
	}
	return dst
}

// AppendKey appends the grouping key of row i: equal bytes for equal values, NULLs equal, ascending.
func AppendKey(dst []byte, vecs []*batch.Vector, i int) []byte {
	for _, v := range vecs {
		dst = types.AppendKey(dst, v.Type, v.Datum(i), false, false)
	}
	return dst
}

// EachRow calls f for the selected rows (nil: all n) until it gives an error.
func EachRow(n int, sel []int32, f func(i int) error) error {
	if sel == nil {
		for i := 0; i < n; i++ {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range sel {
		if err := f(int(i)); err != nil {
			return err
		}
	}
	return nil
}
