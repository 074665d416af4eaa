package state

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestNoEmptyRanges: contents that are dropped before any of them are on disk have nothing to delete there. Pebble's iterators do not bear a range that ends where it
// begins.
func TestNoEmptyRanges(t *testing.T) {
	for _, small := range []int64{0, 1 << 20} { // the least size of a write that is tables to ingest
		st, err := Open(filepath.Join(t.TempDir(), "db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		st.smallWrite = small
		ts := []types.Type{types.Of(types.Int8)}
		c := st.Chunks(7, ts)
		add := func(epoch uint64) {
			b := batch.New(ts, 1)
			b.Cols[0].AppendInt(int64(epoch))
			b.EndRow(1)
			c.Append(b)
			c.Publish(epoch)
		}
		write := func() (ranges uint64) {
			if err := st.Write(context.Background(), []*Section{c.Freeze()}, nil); err != nil {
				t.Fatal(err)
			}
			if err := st.db.Flush(); err != nil {
				t.Fatal(err)
			}
			tables, err := st.db.SSTables(pebble.WithProperties())
			if err != nil {
				t.Fatal(err)
			}
			for _, level := range tables {
				for _, x := range level {
					ranges += x.Properties.NumRangeDeletions
				}
			}
			return ranges
		}
		add(1)
		c.DropContents()
		add(2)
		if n := write(); n != 0 {
			t.Errorf("smallWrite %d: %d ranges are deleted, where nothing was", small, n)
		}
		c.DropContents()
		add(3)
		if n := write(); n != 1 {
			t.Errorf("smallWrite %d: %d ranges are deleted, want that of what is on disk", small, n)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
