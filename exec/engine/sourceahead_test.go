package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// numbers is a connector that gives the numbers from 0 on, in chunks of sizes that come again and again, until there are so many.
type numbers struct {
	connector.Connector
	total int64
	sizes []int64
	reads chan int64 // gets where each chunk begins
}

func (n *numbers) Check(connector.Config) error   { return nil }
func (n *numbers) Bounded(map[string]string) bool { return true }
func (n *numbers) Open(c connector.Config) (connector.Source, error) {
	return &numbersFrom{n, c.Offset.Rows, 0}, nil
}

type numbersFrom struct {
	*numbers
	at   int64
	read int
}

func (n *numbersFrom) Close() error { return nil }

func (n *numbersFrom) Read(ctx context.Context, _ int) (*connector.Chunk, error) {
	select {
	case n.reads <- n.at:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	rows := min(n.sizes[n.read%len(n.sizes)], n.total-n.at)
	if rows == 0 {
		return nil, io.EOF
	}
	n.read++
	b := batch.New([]types.Type{types.Of(types.Int8)}, int(rows))
	for range rows {
		b.Cols[0].AppendInt(n.at)
		b.EndRow(1)
		n.at++
	}
	return &connector.Chunk{Rows: b, Extent: connector.Extent{Rows: rows, Columns: 1}}, nil
}

// TestSourceAhead: of a source that has several chunks under way each row counts once, also where one of them is not taken.
func TestSourceAhead(t *testing.T) {
	for _, sizes := range [][]int64{{aloneRows}, {aloneRows, 1, aloneRows + 7, 100}, {100}} {
		n := &numbers{sizes: sizes, reads: make(chan int64)}
		for i := range 60 {
			n.total += sizes[i%len(sizes)]
		}
		s, closeDB := openTest(t, Options{Dir: t.TempDir(), CheckpointInterval: time.Hour, Connectors: map[string]connector.Connector{"numbers": n}})
		e := s.(*sess).e
		expect(t, s, "CREATE STREAM s (x bigint) WITH (connector = 'numbers')", "",
			"CREATE MATERIALIZED VIEW v AS SELECT count(*), min(x), max(x), sum(x) FROM s", "")
		over, again := make(chan struct{}), 0
		go func() {
			defer close(over)
			read := int64(-1)
			for i := 0; read < n.total; i++ {
				at := <-n.reads
				if at <= read && at < n.total {
					again++
				}
				read = at
				if i%20 == 10 && i < 60 { // as if an epoch could not be written
					_ = e.do(func() {
						for _, st := range e.streams {
							st.src.broken = true
						}
					})
				}
			}
		}()
		select {
		case <-over:
		case <-time.After(60 * time.Second):
			t.Fatal("the source does not come to its end")
		}
		expect(t, s, "WAIT FOR s", "", "SELECT * FROM v", fmt.Sprintf("%d,0,%d,%d", n.total, n.total-1, n.total*(n.total-1)/2),
			"SELECT count(*), sum(x) FROM s", fmt.Sprintf("%d,%d", n.total, n.total*(n.total-1)/2))
		if again == 0 {
			t.Error("no chunk failed")
		}
		closeDB()
	}
}

// failing is a connector whose source can't be read.
type failing struct {
	connector.Connector
	opens atomic.Int64
}

func (f *failing) Check(connector.Config) error   { return nil }
func (f *failing) Bounded(map[string]string) bool { return true }
func (f *failing) Open(connector.Config) (connector.Source, error) {
	f.opens.Add(1)
	return failingSource{}, nil
}

type failingSource struct{}

func (failingSource) Close() error { return nil }

func (failingSource) Read(context.Context, int) (*connector.Chunk, error) {
	return nil, errors.New("not there")
}

// TestWaitForFailing: a source that fails pauses before it tries again, whoever waits for it.
func TestWaitForFailing(t *testing.T) {
	f := &failing{}
	s, _ := openTest(t, Options{Dir: t.TempDir(), CheckpointInterval: time.Hour, Connectors: map[string]connector.Connector{"failing": f}})
	expect(t, s, "CREATE STREAM s (x bigint) WITH (connector = 'failing')", "")
	start := time.Now()
	const waits = 3
	for range waits {
		ctx, cancel := context.WithTimeout(context.Background(), 2*minRetry)
		if err := s.(*sess).e.sources.get(s.(*sess).e.current().cat.Relation("public", "s").OID).wait(ctx, "s"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the wait gives %v", err)
		}
		cancel()
	}
	// Each wait may have it try once more than its pauses let it.
	if n, most := f.opens.Load(), int64(time.Since(start)/minRetry)+1+2*waits; n > most {
		t.Errorf("%d attempts, want %d at most", n, most)
	}
}
