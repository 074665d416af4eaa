package table

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkExpiringKnown looks up keys of which all are there, in a batch as an epoch has it: all but little of it is waiting for memory.
func BenchmarkExpiringKnown(b *testing.B) {
	const n, batch = 1 << 20, 1 << 16
	t := NewTransient().Expiring(Decl{IntKey: true, Width: 60_000_000})
	r := rand.New(rand.NewPCG(1, 2))
	keys, times, look := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range keys {
		keys[i], times[i], look[i] = int64(i), int64(i)*100, r.Int64N(n)
	}
	rows := t.AddInts(keys, nil, times, nil)
	b.ResetTimer()
	for i := 0; i < b.N; i += batch {
		o := i & (n - 1)
		if rows = t.AddInts(look[o:o+batch], nil, times[o:o+batch], rows[:0]); len(rows) > 0 {
			b.Fatal(len(rows))
		}
	}
}
