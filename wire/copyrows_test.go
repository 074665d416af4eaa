package wire

import (
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestCopyRows: batches end where units end, and a row that is refused, as it is read or for its key, is told with the line that it stood on.
func TestCopyRows(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewSource(seed))
	for range 200 {
		n := 1 + r.Intn(3*batch.Target)
		rules := session.CopyRules{Rows: r.Intn(2) == 0, Keys: r.Intn(2) == 0}
		if r.Intn(2) == 0 {
			rules.UnitRows = 1 + r.Intn(2*batch.Target)
		}
		unit := rules.UnitRows
		if unit == 0 {
			unit = n + 1
		}
		// Lines with breaks, and what a refused row's error is to say.
		var data strings.Builder
		bad, byKey := r.Intn(n), rules.Keys && r.Intn(2) == 0
		line, want := 0, ""
		for i := range n {
			row := fmt.Sprintf("%d,%s", i, strings.Repeat("x", r.Intn(3)*60))
			if i > 0 && r.Intn(4) == 0 { // breaks before the first line end do not count, as in PostgreSQL
				row = fmt.Sprintf("%d,\"a\nb\n\"", i)
				line += 2
			}
			line++
			data.WriteString(row + "\n")
			if i == bad {
				want = fmt.Sprintf("COPY t, line %d", line)
				if shown := row; rules.Rows && !byKey {
					if len(shown) > 100 {
						shown = shown[:100] + "..."
					}
					want += ": \"" + shown + "\""
				}
			}
		}
		refused := &session.RowError{Row: int64(bad), Shown: !byKey, Err: sqlerr.New(sqlerr.CheckViolation, "bad")}
		got, batches := 0, 0
		in := &fakeCopyIn{e: &fakeEngine{columns: abColumns, rules: rules}}
		sink := newCopySink(in, types.DefaultEnv(), 1<<20, func(b *batch.Batch) error {
			from, to := got, got+b.N
			got, batches = to, batches+1
			if from/unit != (to-1)/unit {
				t.Errorf("a batch of rows %d to %d with units of %d", from, to-1, unit)
			}
			if byKey && to%unit != 0 && to != n { // keys are tested at the end of a unit
				return nil
			}
			if bad < to {
				return refused
			}
			return nil
		})
		dec := newCSVDecoder(&csvCopy, sink)
		err := dec.feed([]byte(data.String()))
		if err == nil {
			err = errors.Join(dec.finish(), sink.flush())
		}
		if err == nil {
			t.Fatalf("%d rows, %+v: row %d was not refused", n, rules, bad)
		}
		if where := sqlerr.From(err).Where; where != want {
			t.Fatalf("%d rows, %+v, row %d refused: %q, want %q", n, rules, bad, where, want)
		}
	}
}

// TestCopySettle: what is wrong with a row comes before what is wrong with a later line, also with one that does not end.
func TestCopySettle(t *testing.T) {
	for _, x := range []struct {
		rules session.CopyRules
		want  string
	}{
		{session.CopyRules{Rows: true}, `refused; COPY t, line 2: "2,x"`},
		{session.CopyRules{Keys: true}, `invalid input syntax for type integer: "x"; COPY t, line 3, column a: "x"`},
		{session.CopyRules{NotNull: []bool{false, true}}, `invalid input syntax for type integer: "x"; COPY t, line 3, column a: "x"`},
	} {
		in := &fakeCopyIn{e: &fakeEngine{columns: abColumns, rules: x.rules}}
		sink := newCopySink(in, types.DefaultEnv(), 1<<20, func(*batch.Batch) error {
			return &session.RowError{Row: 1, Shown: true, Err: sqlerr.New(sqlerr.CheckViolation, "refused")}
		})
		e := sqlerr.From(sink.settle(newCSVDecoder(&csvCopy, sink).feed([]byte("1,x\n2,x\nx,x\n"))))
		if got := e.Message + "; " + e.Where; got != x.want {
			t.Errorf("%+v: %q, want %q", x.rules, got, x.want)
		}
	}
	// A NULL that is not taken ends the batch.
	in := &fakeCopyIn{e: &fakeEngine{columns: abColumns, rules: session.CopyRules{NotNull: []bool{false, true}}}}
	sink := newCopySink(in, types.DefaultEnv(), 1<<20, func(b *batch.Batch) error {
		return &session.RowError{Row: int64(b.N - 1), Shown: true, Err: sqlerr.New(sqlerr.NotNullViolation, "null")}
	})
	e := sqlerr.From(newCSVDecoder(&csvCopy, sink).feed([]byte("1,x\n2,\nx,x\n")))
	if got, want := e.Message+"; "+e.Where, `null; COPY t, line 2: "2,"`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
