package join

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// nearPair is one join twice: with its rows in stretches, which are written to disk, evicted and opened again, and, of an input that is said to
// have deletions, in ordered tables in memory.
type nearPair struct {
	t             *testing.T
	n             plan.Join
	in            dataflow.InputTypes
	disk          optest.Disk
	sp            *table.Space
	near, general *optest.Runner
	frozen        []*table.Frozen
}

func (p *nearPair) open() {
	p.sp = table.Open(p.disk)
	op, err := New(&p.n, p.in, p.sp, 0, &kernel.Env{})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.sp.Verify(); err != nil {
		p.t.Fatal(err)
	}
	if !op.(*join).near {
		p.t.Fatal("rows are not in stretches")
	}
	p.near.Op = op
}

func (p *nearPair) write() {
	for _, f := range p.frozen {
		if err := p.disk.Write(f); err != nil {
			p.t.Fatal(err)
		}
	}
	p.frozen = nil
}

// state does something to the state of the one join between epochs.
func (p *nearPair) state(rnd *rand.Rand) {
	switch rnd.Intn(5) {
	case 0:
		p.frozen = append(p.frozen, p.sp.Freeze())
	case 1:
		p.write()
	case 2:
		p.sp.Evict(0)
	case 3:
		p.frozen = append(p.frozen, p.sp.Freeze())
		p.write()
		p.open()
		p.sp.SetBudget(int64(rnd.Intn(2)))
	}
}

// nearRow has weights, NULLs, infinities, rows that are late and far ahead of the others, and few keys.
func nearRow(rnd *rand.Rand, e int) (optest.Row, int64) {
	row := optest.Row{rnd.Intn(4), (e + rnd.Intn(14)) * second}
	switch rnd.Intn(25) {
	case 0:
		row[0] = nil
	case 1:
		row[1] = nil
	case 2:
		row[1] = int64(types.Infinity)
	case 3:
		row[1] = int64(types.NegInfinity)
	case 4:
		row[1] = (e + 60) * second
	}
	return row, int64(1 + max(0, rnd.Intn(8)-5))
}

// TestNear compares both ways to keep rows for all kinds of join, in append and in update mode, with and without another condition.
func TestNear(t *testing.T) {
	rnd := seeded(t)
	in := dataflow.InputTypes{timedTs, timedTs}
	more := []plan.Expr{nil, optest.Op("<>", optest.Op("+", optest.Col(timedTs2, 0), optest.Col(timedTs2, 2)), optest.Const(i8, 2)),
		optest.Op("<", optest.Const(i8, 0), optest.Col(timedTs2, 0)),
		optest.Op("<", optest.Op("/", optest.Const(i8, 6), optest.Col(timedTs2, 0)), optest.Const(i8, 5))}
	for _, mode := range []catalog.OutputMode{catalog.Append, catalog.Update} {
		for kind := plan.Inner; kind <= plan.Anti; kind++ {
			for c, cond := range more {
				t.Run(fmt.Sprint(mode, kind, c), func(t *testing.T) {
					j := rangeJoin()
					j.n.Kind, j.n.Mode = kind, mode
					if cond != nil {
						j.n.Residual = &plan.And{Args: []plan.Expr{j.n.Residual, cond}}
					}
					j.n.Left, j.n.Right = optest.Input(timedTs, true), optest.Input(timedTs, true)
					g := j.n
					g.Left = optest.Input(timedTs, false)
					p := &nearPair{t: t, n: j.n, in: in, disk: optest.Disk{}, near: optest.New(t, nil, in, nil), general: optest.New(t, mustNew(t, &g, in), in, nil)}
					p.open()
					runNear(t, rnd, p)
				})
			}
		}
	}
}

func runNear(t *testing.T, rnd *rand.Rand, p *nearPair) {
	after := dataflow.NoWatermark
	for e := range 25 {
		var cs []optest.Change
		for i := rnd.Intn(16); i > 0; i-- {
			row, w := nearRow(rnd, e)
			cs = append(cs, optest.Change{Port: rnd.Intn(2), Row: row, W: w})
		}
		if w := dataflow.Watermark((e + rnd.Intn(3)) * second); e > 2 && w > after {
			after = w
		}
		if e == 24 {
			after = 1000 * second
		}
		for _, r := range []*optest.Runner{p.near, p.general} {
			if err := r.Epoch(cs, after, 0); err != nil {
				t.Fatal(err)
			}
		}
		optest.Equal(t, fmt.Sprintf("epoch %d", e), p.near.Total, p.general.Total)
		optest.Equal(t, "late", p.near.Late, p.general.Late)
		optest.Equal(t, "letters", p.near.Letters, p.general.Letters)
		a, b := p.near.Op.(dataflow.Stateful).Stats(), p.general.Op.(dataflow.Stateful).Stats()
		if settles := p.n.Mode == catalog.Append && p.n.Kind >= plan.Semi; a.RowsTotal != b.RowsTotal && !settles || a.RowsTotal > b.RowsTotal || a.RowsTotal < 0 {
			t.Fatalf("epoch %d: %d rows in state and %d", e, a.RowsTotal, b.RowsTotal)
		}
		if e < 24 {
			p.state(rnd)
		}
	}
}
