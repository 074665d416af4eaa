package state_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestChunksCountWhatTheyKeep: contents count about the memory that they keep alive, be it their own, gifts with memory behind their values, or gifts that were cut from
// memory for several.
func TestChunksCountWhatTheyKeep(t *testing.T) {
	ts := []types.Type{types.Of(types.Int8), types.Of(types.Float8), types.Of(types.Text), types.Of(types.Int8)}
	fill := func(b *batch.Batch, n int) {
		for i := range n {
			b.Cols[0].AppendInt(int64(i))
			b.Cols[1].AppendFloat(float64(i))
			b.Cols[2].AppendString("text of a row")
			b.Cols[3].AppendInt(int64(i))
			b.EndRow(1)
		}
	}
	roomy := func(n, room int) *batch.Batch {
		b := batch.New(ts, room)
		b.Cols[2].Data = make([]byte, 0, 13*room)
		fill(b, n)
		b.Gift = &batch.Gift{}
		return b
	}
	copies := func(rows int) func(add func(*batch.Batch)) {
		b := batch.New(ts, rows)
		fill(b, rows)
		return func(add func(*batch.Batch)) { add(b) }
	}
	cutter := batch.NewCutter(ts)
	for name, epoch := range map[string]func(add func(*batch.Batch)){
		"one row":        copies(1),
		"some rows":      copies(300),
		"many rows":      copies(50_000),
		"full gifts":     func(add func(*batch.Batch)) { add(roomy(batch.Target, batch.Target)) },
		"small gifts":    func(add func(*batch.Batch)) { add(roomy(batch.Target/4, batch.Target)) },
		"gifts in parts": func(add func(*batch.Batch)) { add(roomy(batch.Target+1, 3*batch.Target)) },
		"cut gifts": func(add func(*batch.Batch)) {
			const n, each = 8, batch.Target * 3 / 4 // more than are copied together
			for i := range n {
				b := cutter.Next(each, (n-i)*each, -1)
				fill(b, each)
				b.Gift = &batch.Gift{Cut: true}
				add(b)
				cutter.Kept()
			}
		},
		"large and small": func() func(add func(*batch.Batch)) {
			i, large, small := 0, copies(50_000), copies(1)
			return func(add func(*batch.Batch)) {
				if i++; i%50 == 1 {
					large(add)
				} else {
					small(add)
				}
			}
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			c := openDir(t, filepath.Join(t.TempDir(), "db")).Chunks(7, ts)
			before, rows := heap(), 0
			for e := uint64(1); rows < 400_000 && e < 3000; e++ {
				epoch(func(b *batch.Batch) {
					rows += b.N
					c.Append(b)
				})
				c.Publish(e)
			}
			kept, counted := heap()-before, c.MemBytes()
			runtime.KeepAlive(c)
			if slack := int64(1 << 20); kept > counted*5/4+slack || counted > kept*5/4+slack {
				t.Errorf("%s are counted for %d rows, and %s kept", mb(counted), rows, mb(kept))
			}
		})
	}
}

// heap gives the memory of what is alive.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func mb(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
