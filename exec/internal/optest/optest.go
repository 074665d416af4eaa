// Package optest drives one operator in a test: it pushes changes in random cuts, ends epochs, and keeps the sum of the
// output as a Z-set of printed rows, to be compared with a slow obvious reference.
package optest

import (
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Row is a row of values: nil, int64, float64, string or types.Datum.
type Row []any

// Change is a weighted row on a port.
type Change struct {
	Port int
	Row  Row
	W    int64
}

// ZSet is a weighted set of printed rows without zero weights.
type ZSet map[string]int64

// Add adds w to the weight of a printed row.
func (z ZSet) Add(row string, w int64) {
	if z[row] += w; z[row] == 0 {
		delete(z, row)
	}
}

// String lists the set in order.
func (z ZSet) String() string {
	keys := make([]string, 0, len(z))
	for k := range z {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%s x%d\n", k, z[k])
	}
	return b.String()
}

// Equal fails the test if the sets differ.
func Equal(t *testing.T, what string, got, want ZSet) {
	t.Helper()
	diff := ZSet{}
	for k, w := range want {
		diff.Add(k, -w)
	}
	for k, w := range got {
		diff.Add(k, w)
	}
	if len(diff) > 0 {
		t.Fatalf("%s: too much (positive) or missing (negative):\n%s", what, diff)
	}
}

// Datum makes a Datum of a Row's value.
func Datum(x any) types.Datum {
	switch v := x.(type) {
	case nil:
		return types.NullDatum
	case int:
		return types.IntDatum(int64(v))
	case int64:
		return types.IntDatum(v)
	case float64:
		return types.FloatDatum(v)
	case string:
		return types.StringDatum(v)
	case types.Datum:
		return v
	}
	panic(fmt.Sprintf("optest: a value of type %T", x))
}

// Print prints a row as Text prints one of a batch.
func Print(ts []types.Type, r Row) string {
	b := Batch(ts, []Change{{Row: r, W: 1}})
	return Text(b, 0)
}

// Text prints row i of b, columns separated by a bar.
func Text(b *batch.Batch, i int) string {
	parts := make([]string, len(b.Cols))
	for c, v := range b.Cols {
		d := v.Datum(i)
		switch {
		case d.Null:
			parts[c] = "NULL"
		case v.Type.Kind == types.Numeric:
			parts[c] = types.NumDecode(d.B).String()
		case v.Type.Layout() == types.LayoutI64:
			parts[c] = fmt.Sprint(d.I)
		case v.Type.Layout() == types.LayoutF64:
			parts[c] = fmt.Sprint(d.F)
		case v.Type.Layout() == types.LayoutPair:
			parts[c] = fmt.Sprintf("%d..%d", d.I, d.J)
		default:
			parts[c] = string(d.B)
		}
	}
	return strings.Join(parts, "|")
}

// Batch makes a batch of changes, whose ports are ignored.
func Batch(ts []types.Type, cs []Change) *batch.Batch {
	b := batch.New(ts, len(cs))
	for _, c := range cs {
		for i, v := range b.Cols {
			v.AppendDatum(Datum(c.Row[i]))
		}
		b.EndRow(c.W)
	}
	return b
}

// Runner runs one operator.
type Runner struct {
	T     *testing.T
	Op    dataflow.Operator
	In    dataflow.InputTypes
	Rand  *rand.Rand // for cuts; nil: one batch for each port
	Final bool

	Total    ZSet // of all output
	Delta    ZSet // of the last epoch's
	Negative bool // some output had a negative weight
	Late     ZSet // rows recorded as late, printed
	Letters  ZSet // dead letters: "SQLSTATE row"
	Err      error

	n      uint64
	before dataflow.Watermark
}

// New makes a runner.
func New(t *testing.T, op dataflow.Operator, in dataflow.InputTypes, r *rand.Rand) *Runner {
	return &Runner{T: t, Op: op, In: in, Rand: r, Total: ZSet{}, Late: ZSet{}, Letters: ZSet{}, before: dataflow.NoWatermark}
}

// Late and Dead implement dataflow.Sink through sink.
type sink struct{ r *Runner }

func (s sink) Late(_ *dataflow.Epoch, b *batch.Batch, i int, _, _, _ int64) {
	s.r.Late.Add(Text(b, i), b.Weight(i))
}

func (s sink) Dead(_ *dataflow.Epoch, b *batch.Batch, i int, err *sqlerr.Error) error {
	if s.r.Final {
		return err
	}
	s.r.Letters.Add(string(err.Code)+" "+Text(b, i), b.Weight(i))
	return nil
}

// Epoch runs an epoch: changes in random cuts, then the end with a new watermark and a timestamp.
func (r *Runner) Epoch(cs []Change, after dataflow.Watermark, timestamp int64) error {
	r.T.Helper()
	r.n++
	ep := &dataflow.Epoch{N: r.n, Timestamp: timestamp, Before: r.before, After: after, Final: r.Final, Sink: sink{r},
		Inputs: make([]dataflow.PortInfo, len(r.In))}
	r.before, r.Delta = after, ZSet{}
	out := func(b *batch.Batch) error {
		if b.N == 0 {
			r.T.Fatal("an empty batch was emitted")
		}
		for i := 0; i < b.N; i++ {
			w := b.Weight(i)
			if w == 0 {
				r.T.Fatal("a row with weight 0 was emitted")
			}
			r.Negative = r.Negative || w < 0
			r.Total.Add(Text(b, i), w)
			r.Delta.Add(Text(b, i), w)
		}
		return nil
	}
	for len(cs) > 0 {
		port, n := cs[0].Port, 1
		limit := len(cs)
		if r.Rand != nil {
			limit = 1 + r.Rand.Intn(8)
		}
		for n < len(cs) && n < limit && cs[n].Port == port {
			n++
		}
		ep.Port = port
		if err := r.Op.Push(ep, port, Batch(r.In[port], cs[:n]), out); err != nil {
			return err
		}
		cs = cs[n:]
	}
	return r.Op.EndEpoch(ep, out)
}

// Changes makes random changes of a Z-set for a port: insertions made by gen, and deletions of rows that are in have,
// which it updates.
func Changes(rnd *rand.Rand, port, n int, have *[]Row, gen func() Row, deletes bool) []Change {
	var cs []Change
	for i := 0; i < n; i++ {
		if deletes && len(*have) > 0 && rnd.Intn(5) < 2 {
			k := rnd.Intn(len(*have))
			cs = append(cs, Change{port, (*have)[k], -1})
			(*have)[k] = (*have)[len(*have)-1]
			*have = (*have)[:len(*have)-1]
			continue
		}
		r := gen()
		w := int64(1)
		if deletes && rnd.Intn(6) == 0 {
			w = 2
			*have = append(*have, r)
		}
		*have = append(*have, r)
		cs = append(cs, Change{port, r, w})
	}
	return cs
}
