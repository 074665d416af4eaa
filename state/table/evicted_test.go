package table

import (
	"fmt"
	"testing"
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
