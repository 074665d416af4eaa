package custom

import (
	"bytes"
	"math/rand"
	"sort"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestInputByKey compares the rows by key with a stable sort of them, for keys that share prefixes, are prefixes of each other and
// end in zeros.
func TestInputByKey(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	ts := []types.Type{types.Of(types.Bytea), types.Of(types.Int8), types.Of(types.Int8)}
	keyOf := []plan.Expr{&plan.Col{Index: 0, Typ: ts[0]}, &plan.Col{Index: 1, Typ: ts[1]}}
	exprs, err := rowenc.Compile(keyOf, ts)
	if err != nil {
		t.Fatal(err)
	}
	in := &input{keys: exprs, schema: NewSchema(nil)}
	in.clear(ts)
	for range 200 {
		n, alphabet, length, prefix := rnd.Intn(600), 1+rnd.Intn(256), rnd.Intn(20), rnd.Intn(12)
		type row struct {
			key []byte
			id  int64
		}
		var want []row
		id := int64(0)
		for n > 0 { // in several batches
			b := batch.New(ts, 0)
			var sel []int32
			for i := range min(n, 1+rnd.Intn(300)) {
				k := bytes.Repeat([]byte{'p'}, prefix)
				for range rnd.Intn(length + 1) {
					k = append(k, byte(rnd.Intn(alphabet)))
				}
				b.Cols[0].AppendBytes(k)
				b.Cols[1].AppendInt(rnd.Int63n(3) - 1)
				b.Cols[2].AppendInt(id)
				b.EndRow(1)
				for range 1 + rnd.Intn(2)*rnd.Intn(2) {
					sel = append(sel, int32(i))
					want = append(want, row{rowenc.AppendKey(nil, b.Cols[:2], i), id})
				}
				id++
			}
			n -= b.N
			vecs, _, err := exprs.Eval(&dataflow.Epoch{}, nil, b)
			if err != nil {
				t.Fatal(err)
			}
			in.add(vecs, b, sel)
		}
		sort.SliceStable(want, func(i, j int) bool { return bytes.Compare(want[i].key, want[j].key) < 0 })
		var last []byte
		if err := in.each(func(key Row, gkey []byte, rows Rows) error {
			if last != nil && bytes.Compare(last, gkey) >= 0 {
				t.Fatalf("key %x comes after %x", gkey, last)
			}
			last = bytes.Clone(gkey)
			if got := rowenc.AppendKey(nil, in.keyB.Cols, key.i); !bytes.Equal(got, gkey) {
				t.Fatalf("the key's values are those of %x, not of %x", got, gkey)
			}
			for i := 0; i < rows.Len(); i++ {
				if len(want) == 0 || !bytes.Equal(want[0].key, gkey) || want[0].id != rows.At(i).Datum(2).I {
					t.Fatalf("key %x, row %d: wanted %v", gkey, rows.At(i).Datum(2).I, want[0])
				}
				want = want[1:]
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(want) > 0 {
			t.Fatalf("%d rows are missing", len(want))
		}
	}
}
