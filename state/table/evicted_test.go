package table

import (
	"fmt"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// countingBacking counts the point reads of a memBacking.
type countingBacking struct {
	memBacking
	gets int
}

func (b *countingBacking) Get(k []byte, f func([]byte)) error {
	b.gets++
	return b.memBacking.Get(k, f)
}

func (b *countingBacking) GetMany(keys [][]byte, f func(int, []byte)) error {
	b.gets += len(keys)
	return b.memBacking.GetMany(keys, f)
}

// TestNewKeysAreNotReadTwice puts keys that the caller knows not to be there into a table that was evicted.
func TestNewKeysAreNotReadTwice(t *testing.T) {
	b := &countingBacking{memBacking: memBacking{m: map[string]string{}}}
	sp := Open(b)
	sp.SetBudget(1)
	o := sp.Ordered(Decl{Name: "t"})
	for i := range 1000 {
		o.Put(fmt.Appendf(nil, "%04d", i), []byte("x"))
	}
	b.write(t, sp.Freeze())
	sp.Evict(0)
	for i := 1000; i < 1100; i++ {
		k := fmt.Appendf(nil, "%04d", i)
		if _, ok := o.Get(k); ok {
			t.Fatalf("%s is there", k)
		}
		o.PutNew(k, []byte("y"))
	}
	if b.gets != 100 {
		t.Errorf("100 new keys took %d reads", b.gets)
	}
	n := 0
	o.Scan(nil, nil, func(_, _ []byte) bool { n++; return true })
	if n != 1100 || o.Len() != 1100 {
		t.Errorf("%d entries, Len %d", n, o.Len())
	}
}

// TestWindowsCloseWhileEvicted drops windows, more than are kept for reuse, of which an eviction has dropped entries and goes on.
func TestWindowsCloseWhileEvicted(t *testing.T) {
	for _, steps := range []int{0, 1, 3, 10, 40} {
		b := &memBacking{m: map[string]string{}}
		sp := Open(b)
		w := sp.Windows(Decl{Name: "t", Words: 1})
		for end := range int64(12) {
			h := w.At(end, end+1)
			for i := range 500 {
				h.findOrAddBytes(fmt.Appendf(nil, "a key of some length %04d", i), uint32(HashBytes(fmt.Appendf(nil, "a key of some length %04d", i))>>32))
			}
		}
		b.write(t, sp.Freeze())
		sp.Finish()
		sp.BeginEvict(0)
		for range steps {
			sp.Step(100)
		}
		for end := range int64(10) {
			w.Drop(end + 1)
		}
		for sp.Step(100) {
		}
		if n := w.Len(); n != 1000 {
			t.Errorf("%d steps: %d entries", steps, n)
		}
		for end := int64(10); end < 12; end++ {
			n := 0
			w.Get(end + 1).Each(func(int32) bool { n++; return true })
			if n != 500 {
				t.Errorf("%d steps: window %d has %d entries", steps, end, n)
			}
		}
	}
}

// TestKeyThatIsTooLong: a key beyond the limit leaves the table as it was.
func TestKeyThatIsTooLong(t *testing.T) {
	b := &memBacking{m: map[string]string{}}
	sp := Open(b)
	h := sp.Hash(Decl{Name: "t", Words: 1})
	add := func(key []byte) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = p.(*Failure).Err
			}
		}()
		h.findOrAddBytes(key, uint32(HashBytes(key)>>32))
		return nil
	}
	for i := range 100 {
		if err := add(fmt.Appendf(nil, "%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := add(make([]byte, maxKeyLen+1)); sqlerr.CodeOf(err) != sqlerr.ProgramLimitExceeded {
		t.Errorf("%v", err)
	}
	long := make([]byte, 20<<20)
	if err := add(long); err != nil {
		t.Error(err)
	}
	b.write(t, sp.Freeze())
	sp.Evict(0)
	n := 0
	h.Each(func(int32) bool { n++; return true })
	if n != 101 || h.Len() != 101 || h.FindBytes(long) < 0 || h.FindBytes([]byte("7")) < 0 {
		t.Errorf("%d entries, Len %d", n, h.Len())
	}
}

// TestFreeSlotsOutliveAnEviction: an eviction that ends when it has dropped enough gives what is free back, or leaves it to be used.
func TestFreeSlotsOutliveAnEviction(t *testing.T) {
	b := &memBacking{m: map[string]string{}}
	sp := Open(b)
	h := sp.Hash(Decl{Name: "t", Words: 1, IntKey: true})
	for i := range int64(4000) {
		h.findOrAddInt(i)
	}
	b.write(t, sp.Freeze())
	sp.Finish()
	for i := range int64(2000) {
		h.Remove(h.FindInt(i))
	}
	b.write(t, sp.Freeze())
	sp.Finish()
	b.write(t, sp.Freeze())
	sp.Evict(sp.MemBytes() - 1000) // entries have been of use
	sp.Evict(sp.MemBytes() - 1000)
	gone, slots := h.disk.absent, len(h.flags)
	if gone == 0 || gone > 200 {
		t.Fatalf("%d entries were dropped", gone)
	}
	for i := range int64(1900) {
		h.findOrAddInt(10_000 + i)
	}
	if len(h.flags) > max(slots, h.used) || h.Len() != 3900 {
		t.Errorf("%d slots were %d, Len %d", len(h.flags), slots, h.Len())
	}
}

// TestBring: what was brought into memory is found there, and is read once.
func TestBring(t *testing.T) {
	b := &countingBacking{memBacking: memBacking{m: map[string]string{}}}
	sp := Open(b)
	sp.SetBudget(1)
	ints := sp.Hash(Decl{Name: "i", Words: 1, IntKey: true})
	texts := sp.Hash(Decl{Name: "t", Words: 1})
	const n = 3000
	keys, slots := make([]int64, n), make([]int32, n)
	hashes, off, data := make([]uint64, n), make([]uint32, 1, n+1), []byte(nil)
	for i := range keys {
		keys[i] = int64(i)
		k := fmt.Appendf(nil, "key %d", i)
		hashes[i], data = HashBytes(k), append(data, k...)
		off = append(off, uint32(len(data)))
	}
	set := func(h *Hash) {
		for i, s := range slots {
			h.Words(s)[0] = int64(i)
		}
	}
	ints.FindOrAddInts(keys, nil, slots)
	set(ints)
	texts.FindOrAddBytes(hashes, off, data, slots)
	set(texts)
	if ints.Partial() {
		t.Error("a table of which all is in memory is partial")
	}
	b.write(t, sp.Freeze())
	sp.Evict(0)
	if !ints.Partial() || !texts.Partial() {
		t.Fatal("tables of which nothing is in memory are not partial")
	}
	sel := []int32{5, 700, 2999}
	ints.BringInts(keys, sel)
	if b.gets != len(sel) {
		t.Errorf("%d reads for %d keys", b.gets, len(sel))
	}
	ints.BringInts(keys, nil)
	texts.BringBytes(hashes, off, data)
	// Each block once, but those of the first keys again.
	blocks := 0
	for k := range b.m {
		if k[0] == spaceData {
			blocks++
		}
	}
	brought := b.gets
	if brought < blocks || brought > blocks+len(sel) {
		t.Errorf("%d reads of %d blocks", brought, blocks)
	}
	for i := range keys {
		s, u := ints.FindInt(keys[i]), texts.FindBytes(data[off[i]:off[i+1]])
		if s < 0 || u < 0 || ints.Words(s)[0] != int64(i) || texts.Words(u)[0] != int64(i) {
			t.Fatalf("key %d is at %d and %d", i, s, u)
		}
	}
	if b.gets != brought {
		t.Errorf("%d reads for %d keys that are in memory", b.gets-brought, 2*n)
	}
}
