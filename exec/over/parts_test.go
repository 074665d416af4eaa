package over

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

var partTypes = []types.Type{i4, i8, num, f8, i8} // partition, order, values, id

// partFunctions makes some functions over frames of their own.
func partFunctions(rnd *rand.Rand) (fs []plan.OverFunc, desc string) {
	add := func(name string, typ types.Type, args ...plan.Expr) {
		f := &plan.OverFunc{Typ: typ}
		for _, c := range lookup(name, len(args)) {
			if len(args) == 0 || c.Args[0].Same(args[0].Type()) || c.Args[0].Kind >= types.Any {
				f.Fn = c
			}
		}
		f.Args, f.Frame = args, randomFrame(rnd)
		if rnd.Intn(3) > 0 {
			f.Frame.Exclude = ""
		}
		if rnd.Intn(4) == 0 {
			f.Frame = plan.Frame{}
		}
		if rnd.Intn(6) == 0 {
			f.Filter = optest.Op("<", optest.Col(partTypes, 4), optest.Const(i8, rnd.Intn(1000)))
		}
		if _, ranked := ranks[name]; ranked || strings.HasSuffix(name, "_value") {
			f.Filter = nil
		}
		fs, desc = append(fs, *f), desc+fmt.Sprintf("\n%s %d %+v filter %v", name, len(args), f.Frame, f.Filter != nil)
	}
	col := func(i int) plan.Expr { return optest.Col(partTypes, i) }
	all := []func(){
		func() { add("row_number", i8) },
		func() { add("rank", i8) },
		func() { add("dense_rank", i8) },
		func() { add("percent_rank", f8) },
		func() { add("cume_dist", f8) },
		func() { add("ntile", i4, optest.Const(i4, 1+rnd.Intn(7))) },
		func() { add("lag", i8, col(4), optest.Const(i4, rnd.Intn(3))) },
		func() { add("lead", i8, col(4)) },
		func() { add("first_value", i8, col(4)) },
		func() { add("last_value", i8, col(4)) },
		func() { add("nth_value", i8, col(4), optest.Const(i4, 1+rnd.Intn(5))) },
		func() { add("count", i8) },
		func() { add("count", i8, col(1)) },
		func() { add("sum", num, col(1)) },
		func() { add("sum", num, col(2)) },
		func() { add("sum", f8, col(3)) },
		func() { add("avg", num, col(2)) },
		func() { add("min", num, col(2)) },
		func() { add("max", f8, col(3)) },
		func() { add("max", i8, col(4)) },
	}
	for n := 1 + rnd.Intn(3); n > 0; n-- {
		all[rnd.Intn(len(all))]()
	}
	return fs, desc
}

// TestParts: of partitions with many rows only parts are computed, from sums of the rest, with the same result as computing all; with checkpoints,
// eviction and restarts in between.
func TestParts(t *testing.T) {
	rnd := seeded(t)
	was := contextRows
	defer func() { contextRows = was }()
	for round := 0; round < 250; round++ {
		contextRows = []int64{2, 5, was}[rnd.Intn(3)] // with few, frames are searched for
		in := dataflow.InputTypes{partTypes}
		n := &plan.OverWindow{Sort: []plan.SortKey{{X: optest.Col(partTypes, 1), Desc: rnd.Intn(2) == 0, NullsFirst: rnd.Intn(2) == 0}}}
		if rnd.Intn(2) == 0 {
			n.PartitionBy = []plan.Expr{optest.Col(partTypes, 0)}
		}
		var desc string
		n.Funcs, desc = partFunctions(rnd)
		disk := optest.Disk{}
		var sp *table.Space
		open := func() dataflow.Operator {
			sp = table.Open(disk)
			op, err := New(n, in, sp, 0, &kernel.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if err := sp.Verify(); err != nil {
				t.Fatal(err)
			}
			return op
		}
		r := optest.New(t, open(), in, rnd)
		keys := []int{1, 4, 60, 1000}[rnd.Intn(4)]
		var have []optest.Row
		gen := func() optest.Row {
			row := optest.Row{rnd.Intn(2), rnd.Intn(keys), numeric(t, fmt.Sprintf("%.*f", rnd.Intn(3), float64(rnd.Intn(40))/8)), float64(rnd.Intn(40)) / 3, rnd.Intn(1000)}
			for c := 1; c < 4; c++ {
				if rnd.Intn(8) == 0 {
					row[c] = nil
				}
			}
			return row
		}
		for e := 0; e < 8; e++ {
			size := 1 + rnd.Intn(5)
			if e == 0 {
				size = rnd.Intn(500)
			}
			if err := r.Epoch(optest.Changes(rnd, 0, size, &have, gen, true), dataflow.NoWatermark, 0); err != nil {
				t.Fatal(err)
			}
			optest.Equal(t, fmt.Sprintf("round %d epoch %d, %d keys, %d rows, %+v%s", round, e, keys, len(have), n.Sort[0], desc)+fmt.Sprint("\ncontext ", contextRows), r.Total, wholeResult(t, n, have))
			switch rnd.Intn(6) {
			case 0, 1, 2:
				if err := disk.Write(sp.Freeze()); err != nil {
					t.Fatal(err)
				}
				if rnd.Intn(2) == 0 {
					sp.Evict(rnd.Int63n(sp.MemBytes() + 1))
				} else {
					r.Op = open()
				}
			}
		}
	}
}

// wholeResult computes the functions once over all rows, which TestOver and TestPostgres compare with their definitions.
func wholeResult(t *testing.T, n *plan.OverWindow, rows []optest.Row) optest.ZSet {
	in := dataflow.InputTypes{partTypes}
	op, err := New(n, in, table.NewTransient(), 0, &kernel.Env{})
	if err != nil {
		t.Fatal(err)
	}
	r := optest.New(t, op, in, nil)
	r.Final = true
	var cs []optest.Change
	for _, row := range rows {
		cs = append(cs, optest.Change{Row: row, W: 1})
	}
	if err := r.Epoch(cs, dataflow.NoWatermark, 0); err != nil {
		t.Fatal(err)
	}
	return r.Total
}
