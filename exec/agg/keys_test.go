package agg

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// texts gives a column of random values without NULLs, empty and long ones and zero bytes among them, that does not begin with its memory.
func texts(r *rand.Rand, n int) *batch.Vector {
	v := batch.NewVector(types.Of(types.Bytea), 0)
	v.AppendString("before")
	for range n {
		b := make([]byte, r.IntN(3)*r.IntN(20))
		for k := range b {
			b[k] = byte(r.IntN(3))
		}
		v.AppendBytes(b)
	}
	return v.Slice(1, n+1)
}

// TestScratchFollowsRows: a group of one event time of very many has no more memory for its rows than it had use for.
func TestScratchFollowsRows(t *testing.T) {
	v := batch.NewVector(types.Of(types.Int8), 0)
	for i := range 3 * int64(batch.Target) {
		v.AppendInt(i % 5)
	}
	c := &keyCol{typ: v.Type, form: keyInt, v: v}
	var ks keySet
	ks.init([]*keyCol{c})
	tg := &target{h: table.NewTransient().Hash(table.Decl{Name: "t", Words: headWords, IntKey: true}), intKey: true}
	for n := 1; n <= v.N; n++ {
		if n > 100 {
			n = min(n+700, v.N)
		}
		tg.rows = tg.rows[:0]
		for i := range n {
			tg.rows = append(tg.rows, int32(i))
		}
		ks.find(tg)
		for k, s := range tg.slot {
			if s != tg.slot[k%5] {
				t.Fatalf("%d rows: row %d has entry %d, and row %d has %d", n, k, s, k%5, tg.slot[k%5])
			}
		}
		if len(tg.slot) != n || cap(tg.slot) > 2*n {
			t.Fatalf("%d rows: %d entries, room for %d", n, len(tg.slot), cap(tg.slot))
		}
	}
}

// TestTextKeys: rows find the entries of their texts, with and without hashes that came with them, one after the other and not, and the texts come back as they went in.
func TestTextKeys(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		c := &keyCol{typ: types.Of(types.Bytea), form: keyText}
		var ks keySet
		ks.init([]*keyCol{c})
		tg := &target{h: table.NewTransient().Hash(table.Decl{Name: "t", Words: headWords, TextKey: true}), textKey: true}
		entries := map[string]int32{}
		for range 4 {
			c.v = texts(r, 1+r.IntN(300))
			b := &batch.Batch{N: c.v.N}
			if r.IntN(2) == 0 {
				b.Hashes = make([]uint64, b.N)
				table.HashMany(c.v.Data, c.v.Off, b.Hashes)
			}
			ks.take(b)
			tg.rows = tg.rows[:0]
			all := r.IntN(2) == 0
			for i := range int32(b.N) {
				if all || r.IntN(3) > 0 {
					tg.rows = append(tg.rows, i)
				}
			}
			ks.find(tg)
			for k, row := range tg.rows {
				text := string(c.v.Bytes(int(row)))
				if s, ok := entries[text]; ok && s != tg.slot[k] {
					t.Fatalf("%q is entry %d and %d", text, s, tg.slot[k])
				}
				entries[text] = tg.slot[k]
			}
			got := batch.NewVector(c.typ, 0)
			got.AppendString("first")
			slots := slices.Clone(tg.slot)
			ks.show(tg, slots, []*batch.Vector{got})
			if got.N != len(slots)+1 {
				t.Fatalf("%d values, want %d", got.N, len(slots)+1)
			}
			for k, row := range tg.rows {
				if want := c.v.Bytes(int(row)); !bytes.Equal(got.Bytes(k+1), want) {
					t.Fatalf("row %d: %q, want %q", row, got.Bytes(k+1), want)
				}
			}
		}
		if int(tg.h.Len()) != len(entries) {
			t.Fatalf("%d entries, want %d", tg.h.Len(), len(entries))
		}
		// Sets of a group lie under its key as several columns have it.
		for text, s := range entries {
			if want := types.AppendKey(nil, c.typ, types.Datum{B: []byte(text)}, false, false); !bytes.Equal(tg.groupKey(s), want) {
				t.Fatalf("%q: %x", text, tg.groupKey(s))
			}
		}
	}
}

// TestEncode compares the key bytes of columns with types.AppendKey, and their hashes with those of the bytes.
func TestEncode(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 50 {
		v := texts(r, 100)
		w := batch.NewVector(types.Of(types.Int8), 0)
		var rows []int32
		for i := range int32(v.N) {
			if r.IntN(9) == 0 {
				w.AppendNull()
			} else {
				w.AppendInt(int64(r.Uint64()))
			}
			if r.IntN(3) > 0 {
				rows = append(rows, i)
			}
		}
		ks := keySet{cols: []*keyCol{{typ: v.Type, form: formOf(v.Type), v: v}, {typ: w.Type, form: formOf(w.Type), v: w}}}
		hashes := ks.encode(rows)
		for k, row := range rows {
			want := types.AppendKey(nil, v.Type, v.Datum(int(row)), false, false)
			want = types.AppendKey(want, w.Type, w.Datum(int(row)), false, false)
			if got := ks.data[ks.off[k]:ks.off[k+1]]; !bytes.Equal(got, want) || hashes[k] != table.HashBytes(want) {
				t.Fatalf("%x for %x", got, want)
			}
		}
	}
}
