package state

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"runtime"
	"testing"
	"time"
)

// lateRuns gives so many late runs with the same cuts, each of random rows, of which those of the second half have the weight -1.
func lateRuns(rnd *rand.Rand, n, rows int, key func(run, i int) uint64) []*run {
	var out []*run
	var c *cuts
	for k := range n {
		r := &run{}
		weight := int64(1)
		if k >= n/2 {
			weight = -1
		}
		for _, i := range rnd.Perm(rows) {
			r.take(binary.BigEndian.AppendUint64(nil, key(k, i)), 0, weight)
		}
		if c == nil {
			c = newCuts(r)
		}
		out = append(out, r.split(c))
	}
	return out
}

// allocated gives the bytes that f allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestWrittenInParts: a checkpoint goes through the rows of runs that nobody has read without a copy of all of them in order.
func TestWrittenInParts(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	for _, sorted := range []bool{false, true} {
		runs := lateRuns(rnd, 8, 60_000, func(k, i int) uint64 { return uint64(k*60_000+i) * 0x9e3779b97f4a7c15 })
		if sorted { // one of them was read
			runs[3].inOrder()
		}
		data, rows := 0, 0
		for _, r := range runs {
			data += len(r.data)
		}
		last := uint64(0)
		got := allocated(func() {
			if err := eachMerged(runs, func(key []byte, _ uint32, _ int64) error {
				k := binary.BigEndian.Uint64(key)
				if rows++; k < last {
					return fmt.Errorf("%x comes after %x", k, last)
				}
				last = k
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
		if rows != 480_000 {
			t.Errorf("%d rows, want 480000", rows)
		}
		if got > int64(data+rows*recBytes)/4 {
			t.Errorf("%d bytes are allocated, a run with all rows has %d", got, data+rows*recBytes)
		}
		for i, r := range runs {
			if !r.unread() && !(sorted && i == 3) {
				t.Errorf("run %d has its rows in order now, beside those that it had", i)
			}
		}
	}
}

// TestMergedRoom: where it is not known how many rows are left of runs, what is made of them takes about what is left, and not as much again on the way.
func TestMergedRoom(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	for _, left := range []int{0, 1_000, 10_000, 40_000} { // of 80,000 rows that came, so many were not taken away again
		runs := lateRuns(rnd, 8, 20_000, func(k, i int) uint64 {
			if k >= 4 {
				k -= 4
				if k*20_000+i < left {
					i += 1 << 30 // takes away what never came
				}
			}
			return uint64(k*20_000+i) * 0x9e3779b97f4a7c15
		})
		var out *run
		got := allocated(func() { out = together(runs, 2) })
		if want := 2 * left; len(out.recs) != want {
			t.Fatalf("%d rows are left, want %d", len(out.recs), want)
		}
		if got > out.memBytes()*5/4+1<<20 {
			t.Errorf("%d bytes are allocated for a run of %d", got, out.memBytes())
		}
		if least := int64(len(out.data) + recBytes*len(out.recs)); out.memBytes() > least*3/2+4096 {
			t.Errorf("a run of %d bytes takes %d", least, out.memBytes())
		}
	}
}
