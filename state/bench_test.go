package state_test

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state"
	"github.com/tidemarkdb/tidemark/state/table"
)

func benchStore(b *testing.B) *state.Store {
	st, err := state.Open(filepath.Join(b.TempDir(), "db"), state.Options{ReserveBytes: 1, CacheBytes: 256 << 20})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	return st
}

// BenchmarkAppendEpoch is the cost of one small INSERT without parsing: mostly the sync.
func BenchmarkAppendEpoch(b *testing.B) {
	st := benchStore(b)
	rec := &state.EpochRecord{Changes: []state.RelChange{{OID: 1, Batch: ints(1)}}}
	for range b.N {
		rec.Epoch = st.LastEpoch() + 1
		wait, err := st.AppendEpoch(rec)
		if err == nil {
			err = wait()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRows is the cost per row of applying and publishing changes, and of
// writing them with a checkpoint, which happens beside the epochs.
func BenchmarkRows(b *testing.B) {
	for _, mode := range []string{"memory", "checkpoint", "checkpoint unique"} {
		b.Run(mode, func(b *testing.B) {
			st := benchStore(b)
			rows := st.Rows(1, []types.Type{types.Of(types.Int8), types.Of(types.Int8)}, []int{0})
			if mode == "checkpoint unique" {
				rows.SetUnique()
			}
			n := int64(0)
			for done := 0; done < b.N; done += 2048 {
				x := batch.New(rows.Snapshot().Types(), 2048)
				for range 2048 {
					x.Cols[0].AppendInt(n * 7919 % 1_000_003)
					x.Cols[1].AppendInt(n)
					x.EndRow(1)
					n++
				}
				rows.Apply(x)
				rows.Publish(1)
				if n%(1<<19) != 0 {
					continue
				}
				if mode == "memory" {
					rows.DropContents()
				} else if err := st.Write(context.Background(), []*state.Section{rows.Freeze()}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReadBack is the cost per entry of reading a hash table of a million entries back, as after a restart, for keys that are
// looked up 64k at a time.
func BenchmarkReadBack(b *testing.B) {
	const n, batchRows = 1 << 20, 1 << 16
	st := benchStore(b)
	decl := table.Decl{Name: "t", IntKey: true, Words: 2}
	keys, slots := make([]int64, batchRows), make([]int32, batchRows)
	each := func(h *table.Hash, f func()) {
		for lo := 0; lo < n; lo += batchRows {
			for i := range keys {
				keys[i] = int64((lo + i) * 7919 % n)
			}
			h.FindOrAddInts(keys, nil, slots)
			f()
		}
	}
	sp := st.Space(9)
	h := sp.Hash(decl)
	each(h, func() {
		for i, s := range slots {
			h.Words(s)[0] = keys[i]
		}
		h.MarkDirty(slots)
	})
	if err := st.Write(context.Background(), []*state.Section{state.SpaceSection(9, sp.Freeze())}, nil); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for done := 0; done < b.N; done += n {
		sp := st.Space(9)
		h := sp.Hash(decl)
		each(h, func() {
			for i, s := range slots {
				if h.Words(s)[0] != keys[i] {
					b.Fatalf("key %d is lost", keys[i])
				}
			}
		})
	}
}

// BenchmarkCheckpoint is the cost per entry of a checkpoint of a hash table of a million entries, all of which changed: copying, and what the writer does.
func BenchmarkCheckpoint(b *testing.B) {
	const n, batchRows = 1 << 20, 1 << 16
	for _, kind := range []string{"ints", "strings"} {
		b.Run(kind, func(b *testing.B) {
			st := benchStore(b)
			sp := st.Space(9)
			h := sp.Hash(table.Decl{Name: "t", IntKey: kind == "ints", Words: 3})
			keys, slots := make([]int64, batchRows), make([]int32, batchRows)
			var copied, written time.Duration
			for done := 0; done < b.N; done += n {
				for lo := 0; lo < n; lo += batchRows {
					var data []byte
					off := []uint32{0}
					hashes := make([]uint64, batchRows)
					for i := range keys {
						keys[i] = int64((lo + i) * 7919 % n)
						if kind == "strings" {
							at := len(data)
							data = strconv.AppendInt(append(data, "key-"...), keys[i]+10_000_000, 10)
							off = append(off, uint32(len(data)))
							hashes[i] = table.HashBytes(data[at:])
						}
					}
					if kind == "ints" {
						h.FindOrAddInts(keys, nil, slots)
					} else {
						h.FindOrAddBytes(hashes, off, data, slots)
					}
					for i, s := range slots {
						w := h.Words(s)
						w[0], w[1], w[2] = w[0]+3, keys[i]*3+100, w[2]+keys[i]%10000
					}
					h.MarkDirty(slots)
				}
				at := time.Now()
				f := sp.Freeze()
				f.Complete()
				copied += time.Since(at)
				at = time.Now()
				if err := st.Write(context.Background(), []*state.Section{state.SpaceSection(9, f)}, nil); err != nil {
					b.Fatal(err)
				}
				written += time.Since(at)
			}
			done := float64((b.N + n - 1) / n * n)
			b.ReportMetric(float64(copied)/done, "copy-ns")
			b.ReportMetric(float64(written)/done, "write-ns")
			b.ReportMetric(float64(st.DiskBytes())/n, "disk-B")
		})
	}
}

// BenchmarkColdKeys is the cost of a key that is only on disk, for batches of so many among three million, some of which several checkpoints have
// changed, with a small cache.
func BenchmarkColdKeys(b *testing.B) {
	const n, step = 3 << 20, 1 << 18
	st, err := state.Open(filepath.Join(b.TempDir(), "db"), state.Options{ReserveBytes: 1, CacheBytes: 12 << 20})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	sp := st.Space(9)
	sp.SetBudget(4 << 20)
	h := sp.Hash(table.Decl{Name: "t", IntKey: true, Words: 2})
	slots, next := make([]int32, step), int64(0)
	batch := func(n int) []int64 {
		keys := make([]int64, n)
		for i := range keys {
			keys[i] = next * 514_229 % (3 << 20)
			next++
		}
		return keys
	}
	write := func(keys []int64) {
		h.FindOrAddInts(keys, nil, slots)
		for i := range keys {
			h.Words(slots[i])[0] += keys[i]
		}
		h.MarkDirty(slots[:len(keys)])
		if err := st.Write(context.Background(), []*state.Section{state.SpaceSection(9, sp.Freeze())}, nil); err != nil {
			b.Fatal(err)
		}
		sp.Evict(0)
	}
	for range n / step {
		write(batch(step))
	}
	for range 6 {
		write(batch(1 << 15))
	}
	for _, size := range []int{1000, 6500, 65_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			for done := 0; done < b.N; done += size {
				b.StopTimer()
				keys := batch(size)
				sp.Evict(0)
				b.StartTimer()
				h.FindManyInts(keys, slots)
			}
		})
	}
}

// BenchmarkPointRead is the cost of a lookup by a key of a million rows with a unique key, which came in ascending order: in runs in memory, on disk or some of each.
func BenchmarkPointRead(b *testing.B) {
	const n, step = 1 << 20, 1 << 16
	for _, where := range []string{"memory", "both", "disk"} {
		b.Run(where, func(b *testing.B) {
			st := benchStore(b)
			rows := st.Rows(1, []types.Type{types.Of(types.Int8), types.Of(types.Int8), types.Of(types.Int8)}, []int{0})
			rows.SetUnique()
			write := func() {
				if err := st.Write(context.Background(), []*state.Section{rows.Freeze()}, nil); err != nil {
					b.Fatal(err)
				}
			}
			for lo := 0; lo < n; lo += step {
				x := batch.New(rows.Snapshot().Types(), step)
				for i := range step {
					x.Cols[0].AppendInt(int64(lo + i))
					x.Cols[1].AppendInt(1)
					x.Cols[2].AppendInt(int64(3 * (lo + i)))
					x.EndRow(1)
				}
				rows.Apply(x)
				rows.Publish(1)
				if where == "both" && lo == n/2 {
					write()
				}
			}
			if where == "disk" {
				write()
			}
			v := rows.Snapshot()
			rnd := uint64(1)
			key := make([]types.Datum, 1)
			read := func() {
				rnd ^= rnd << 13
				rnd ^= rnd >> 7
				rnd ^= rnd << 17
				k, got := int64(rnd>>1%n), int64(-1)
				key[0] = types.IntDatum(k)
				err := v.Lookup(key, func(b *batch.Batch) error {
					got = b.Cols[2].I64[0]
					return nil
				})
				if err != nil || got != 3*k {
					b.Fatalf("key %d reads as %d: %v", k, got, err)
				}
			}
			for range 1000 { // runs are put in order
				read()
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				read()
			}
		})
	}
}
