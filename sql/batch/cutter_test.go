package batch

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestCutter: batches that were kept stay what they were while others are made in the memory behind them, and memory that was not kept is used again.
func TestCutter(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	ts := []types.Type{types.Of(types.Int8), types.Of(types.Float8), types.Of(types.Text), types.Of(types.Interval)}
	for range 20 {
		c := NewCutter(ts)
		var kept []*Batch
		var want [][]byte
		for range 30 {
			n := 1 + r.IntN(300)
			except := -1
			if r.IntN(4) == 0 {
				except = 0
			}
			b := c.Next(n, n*r.IntN(12), except)
			if b.N != 0 || b.Weights != nil {
				t.Fatalf("a batch begins with %d rows", b.N)
			}
			if r.IntN(4) == 0 {
				n += r.IntN(300) // more than was said
			}
			for range n {
				fillRow(r, b)
			}
			if r.IntN(3) == 0 {
				c.Unkept()
				continue
			}
			b.Gift = &Gift{}
			k := b.Keep()
			if !b.Gift.Taken {
				t.Fatal("a gift was not taken")
			}
			kept, want = append(kept, k), append(want, Encode(nil, b))
			c.Kept()
		}
		for i, b := range kept {
			if !bytes.Equal(Encode(nil, b), want[i]) {
				t.Fatalf("batch %d of %d has changed", i, len(kept))
			}
		}
	}
}

// fillRow appends a row of random values of the columns' layouts.
func fillRow(r *rand.Rand, b *Batch) {
	for _, v := range b.Cols {
		switch {
		case r.IntN(20) == 0:
			v.AppendNull()
		case v.Type.Layout() == types.LayoutI64:
			v.AppendInt(r.Int64())
		case v.Type.Layout() == types.LayoutF64:
			v.AppendFloat(r.Float64())
		case v.Type.Layout() == types.LayoutPair:
			v.AppendPair(r.Int64(), r.Int64())
		default:
			v.AppendBytes(make([]byte, r.IntN(40)))
			for i := v.Off[v.N-1]; i < v.Off[v.N]; i++ {
				v.Data[i] = byte(r.Uint32())
			}
		}
	}
	b.EndRow(1 + int64(r.IntN(2)*r.IntN(3)))
}

// TestCutterIsCheap: batches of which each is kept take a few allocations each, not one for each column.
func TestCutterIsCheap(t *testing.T) {
	ts := []types.Type{types.Of(types.Int8), types.Of(types.Int8), types.Of(types.Int8), types.Of(types.Int8), types.Of(types.Int8)}
	c := NewCutter(ts)
	const n = 64
	n1 := testing.AllocsPerRun(20, func() {
		for i := range n {
			b := c.Next(100, 100*(n-i), -1)
			for _, v := range b.Cols {
				v.AppendInts(100)
			}
			b.N = 100
			b.Gift = &Gift{}
			b.Keep()
			c.Kept()
		}
	})
	if n1 > 2*n+20 { // the batch and its gift, and the columns of all
		t.Errorf("%d batches took %v allocations", n, n1)
	}
}

// TestCutterFillsItsMemory: batches of one size use up the memory that was made for them, that of texts too.
func TestCutterFillsItsMemory(t *testing.T) {
	c := NewCutter([]types.Type{types.Of(types.Int8), types.Of(types.Text)})
	const n, each = 8, 1024
	for e := range 4 {
		var last []byte
		for i := range n {
			b := c.Next(each, (n-i)*each, -1)
			for range each {
				b.Cols[0].AppendInt(1)
				b.Cols[1].AppendString("text of a row")
				b.EndRow(1)
			}
			data := b.Cols[1].Data
			if e > 0 && i > 0 && cap(last)-len(last) != cap(data) {
				t.Errorf("epoch %d: the texts of batch %d do not lie behind those before", e, i)
			}
			last = data
			c.Kept()
		}
	}
}
