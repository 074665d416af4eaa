package table

import (
	"encoding/binary"
	"testing"
)

// TestOrderedQueue: where entries are put in at one end and taken out at the other, leaves are made of those that are gone, and memory that is spare does not
// stay when the table shrinks.
func TestOrderedQueue(t *testing.T) {
	tab := Open(&memBacking{m: map[string]string{}}).Ordered(Decl{Name: "t"})
	key := func(i uint64) []byte { return binary.BigEndian.AppendUint64(nil, i) }
	val := make([]byte, 2000)
	next, first := uint64(0), uint64(0)
	turn := func(in, out uint64) {
		for range in {
			binary.BigEndian.PutUint64(val, next)
			tab.Put(key(next), val)
			next++
		}
		first += out
		tab.DeleteRange(nil, key(first))
	}
	turn(500, 0)
	for range 50 {
		turn(20, 20)
	}
	grown := tab.MemBytes()
	const turns, each = 20, 20
	n := testing.AllocsPerRun(turns, func() { turn(each, each) })
	// Keys and bounds are made by the test, the separator of a leaf with each; a leaf, its cells and some ten sizes of its bytes would be as many again.
	if leaves := float64(each*len(val)) / leafBytes; n > each+2+4*leaves {
		t.Errorf("%v allocations for %d entries in and out, of %.1f leaves", n, each, leaves)
	}
	if now := tab.MemBytes(); now > grown*5/4 {
		t.Errorf("%d bytes became %d", grown, now)
	}
	i := first
	tab.Scan(nil, nil, func(k, v []byte) bool {
		if binary.BigEndian.Uint64(k) != i || binary.BigEndian.Uint64(v) != i || len(v) != len(val) {
			t.Fatalf("entry %d is %x, %x", i, k, v[:8])
		}
		i++
		return true
	})
	if i != next || tab.Len() != int64(next-first) {
		t.Fatalf("%d entries and Len %d instead of %d", i-first, tab.Len(), next-first)
	}
	turn(0, next-first)
	if now := tab.MemBytes(); tab.Len() != 0 || now > min(grown, spareMost)+leafFixed+cellBytes*(leafCells+1) {
		t.Errorf("%d entries and %d bytes are left", tab.Len(), now)
	}
}
