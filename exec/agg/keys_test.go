package agg

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// TestEncodeTexts compares the key bytes of a column of texts with types.AppendKey.
func TestEncodeTexts(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		v := batch.NewVector(types.Of(types.Bytea), 0)
		var rows []int32
		for i := range 100 {
			b := make([]byte, r.IntN(3)*r.IntN(20))
			for k := range b {
				if b[k] = byte(1 + r.IntN(255)); r.IntN(40) == 0 {
					b[k] = 0
				}
			}
			v.AppendBytes(b)
			if r.IntN(3) > 0 {
				rows = append(rows, int32(i))
			}
		}
		v.Data = v.Data[:len(v.Data):len(v.Data)]
		ks := keySet{cols: []*keyCol{{typ: v.Type, form: formOf(v.Type), v: v}}}
		ks.encode(rows)
		for k, row := range rows {
			want := types.AppendKey(nil, v.Type, v.Datum(int(row)), false, false)
			if got := ks.data[ks.off[k]:ks.off[k+1]]; !bytes.Equal(got, want) || ks.hashes[k] != table.HashBytes(want) {
				t.Fatalf("seed %d: %x for %x", seed, got, want)
			}
		}
	}
}
