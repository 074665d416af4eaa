package engine

import (
	"context"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// numberBatch is one row of a bigint.
func numberBatch(x int64) *batch.Batch {
	b := batch.New([]types.Type{types.Of(types.Int8)}, 1)
	b.Cols[0].AppendInt(x)
	b.EndRow(1)
	return b
}

// behind queues three batches of one row for a stream behind a statement: the first enters its epoch, the others ones of their own. It gives what became of
// them.
func behind(t *testing.T, s *sess, statement, stream string) (errs []error) {
	t.Helper()
	held, free, ended := make(chan bool), make(chan bool), make(chan error)
	go func() { _ = s.e.do(func() { close(held); <-free }) }()
	<-held
	go func() {
		_, err := query(s, statement)
		ended <- err
	}()
	for len(s.e.queue) == 0 {
		select {
		case err := <-ended:
			close(free)
			t.Fatalf("%s: %v", statement, err)
		case <-time.After(time.Millisecond):
		}
	}
	var waits []func() error
	for i := range int64(3) {
		wait, err := s.e.FeedAhead(context.Background(), "public", stream, numberBatch(i))
		if err != nil {
			t.Fatal(err)
		}
		waits = append(waits, wait)
	}
	close(free)
	if err := <-ended; err != nil {
		t.Errorf("%s: %v", statement, err)
	}
	for _, wait := range waits {
		errs = append(errs, wait())
	}
	return errs
}

// TestFeedAltered: rows that a source had queued when their stream was dropped are refused, and when it got a column they have that, too.
func TestFeedAltered(t *testing.T) {
	s, _ := openTest(t, Options{Dir: t.TempDir(), CheckpointInterval: time.Hour})
	expect(t, s, "CREATE STREAM s (x bigint)", "", "CREATE STREAM r (x bigint)", "", "CREATE TABLE t (x bigint)", "")
	for i, err := range behind(t, s.(*sess), "DROP STREAM s", "s") {
		if err == nil || sqlerr.From(err).Code != sqlerr.UndefinedTable {
			t.Errorf("batch %d gives %v", i, err)
		}
	}
	expect(t, s, "BEGIN", "", "ALTER STREAM r ADD COLUMN y bigint DEFAULT 7", "", "CREATE MATERIALIZED VIEW v AS SELECT count(*), sum(x) AS x, sum(y) AS y FROM r", "")
	for i, err := range behind(t, s.(*sess), "COMMIT", "r") {
		if err != nil {
			t.Errorf("batch %d gives %v", i, err)
		}
	}
	expect(t, s, "SELECT * FROM v", "3,3,21", "INSERT INTO t VALUES (1)", "", "SELECT * FROM t", "1")
}

// TestDropObserved: what is to be found of the event times of a stream that is dropped with the same epoch is found before that epoch ends.
func TestDropObserved(t *testing.T) {
	s, _ := openTest(t, Options{Dir: t.TempDir(), CheckpointInterval: time.Hour})
	e := s.(*sess).e
	expect(t, s, "CREATE STREAM o (k int, ts timestamp, WATERMARK FOR ts AS ts)", "",
		"CREATE MATERIALIZED VIEW v WITH (state_partitions = 2) AS SELECT k, count(*) FROM o GROUP BY k", "", "INSERT INTO o VALUES (1, '2024-01-01')", "",
		"CREATE STREAM s (ts timestamp, WATERMARK FOR ts AS ts)", "")
	var st *stream
	_ = e.do(func() { st = e.streams[e.current().cat.Relation("public", "s").OID] })
	expect(t, s, "BEGIN", "", "INSERT INTO s SELECT timestamp '2024-01-01' + n * interval '1 second' FROM generate_series(1, 40000) n", "",
		"DROP STREAM s", "", "COMMIT", "")
	if st.seen == nil {
		t.Fatal("nothing was left for later")
	}
	if n := len(st.seen.pieces); n > 0 {
		t.Errorf("%d pieces are left", n)
	}
}

// TestHoldLent: what a view that is being filled keeps of a batch that is lent to the epoch does not change with it.
func TestHoldLent(t *testing.T) {
	g := dataflow.NewGraph(dataflow.PolicyMin)
	g.AddSource(&dataflow.Source{Rel: &catalog.Relation{OID: 7}}, false)
	v, b := &view{graph: g, fill: &backfill{}}, numberBatch(1)
	v.hold(&epochInput{n: 1, changes: func(catalog.OID) []part { return []part{{b: b, lent: true}} },
		marks:  func(catalog.OID) mark { return still(dataflow.NoWatermark, false) },
		stream: func(catalog.OID) (streamInput, bool) { return streamInput{}, false }})
	b.Cols[0].I64[0] = 2
	h, _ := v.fill.take()
	if x := h.changes[7][0].b.Cols[0].I64[0]; x != 1 {
		t.Errorf("1 became %d", x)
	}
}
