package agg

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// TestShowTexts: keys of one column of bytes come back as they went in, those that are shown together and those with zeros and NULLs among them and
// with something behind them, after values that the column has already.
func TestShowTexts(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	typ := types.Of(types.Bytea)
	for range 200 {
		decl := table.Decl{Name: "t", Key: []table.Column{{Name: "key1", Type: typ}}, Words: headWords}
		h := table.NewTransient().Hash(decl)
		ks := &keySet{}
		ks.init([]*keyCol{{typ: typ, form: formOf(typ)}})
		zeros, nulls, tail := r.IntN(3) == 0, r.IntN(3) == 0, r.IntN(3) == 0
		want := batch.NewVector(typ, 0)
		want.AppendString("before")
		seen := map[string]bool{}
		var slots []int32
		for range 1 + r.IntN(300) {
			d := types.Datum{B: make([]byte, r.IntN(12))}
			for i := range d.B {
				if d.B[i] = byte(1 + r.IntN(3)); zeros && r.IntN(5) == 0 {
					d.B[i] = 0
				}
			}
			if nulls && r.IntN(40) == 0 {
				d = types.NullDatum
			}
			key := types.AppendKey(nil, typ, d, false, false)
			if seen[string(key)] {
				continue
			}
			seen[string(key)] = true
			if tail { // as sessions have it
				key = binary.BigEndian.AppendUint64(key, r.Uint64()>>r.IntN(64))
			}
			var slot [1]int32
			h.FindOrAddBytes([]uint64{table.HashBytes(key)}, []uint32{0, uint32(len(key))}, key, slot[:])
			slots = append(slots, slot[0])
			want.AppendDatum(d)
		}
		got := batch.NewVector(typ, 0)
		got.AppendString("before")
		ks.show(&target{h: h}, slots, []*batch.Vector{got})
		if got.N != want.N {
			t.Fatalf("%d values, want %d", got.N, want.N)
		}
		for i := range want.N {
			if got.IsNull(i) != want.IsNull(i) || !bytes.Equal(got.Bytes(i), want.Bytes(i)) {
				t.Fatalf("value %d: %v, want %v", i, got.Datum(i), want.Datum(i))
			}
		}
	}
}
