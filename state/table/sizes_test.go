package table

import (
	"slices"
	"testing"
)

// spaceOfAll is a space with a table of each kind, of which entries can be added.
type spaceOfAll struct {
	sp    *Space
	add   []func(from, to int64)
	win   *Windows
	names []string
}

func openAll(b Backing) *spaceOfAll {
	sp := Open(b)
	sp.SetBudget(1)
	s := &spaceOfAll{sp: sp, win: sp.Windows(Decl{Name: "windows", Words: 1, IntKey: true}),
		names: []string{"ints", "strs", "windows", "ordered", "rows", "keys"}}
	ints, strs := sp.Hash(Decl{Name: "ints", Words: 1, IntKey: true}), sp.Hash(Decl{Name: "strs", Words: 1})
	ordered := sp.Ordered(Decl{Name: "ordered"})
	rows := sp.Stretches(Decl{Name: "rows", Width: 1 << 40})
	keys := sp.Expiring(Decl{Name: "keys", Words: 1, IntKey: true, Width: 1 << 40})
	each := func(f func(k int64)) func(from, to int64) {
		return func(from, to int64) {
			for k := from; k < to; k++ {
				f(k)
			}
		}
	}
	s.add = []func(from, to int64){
		each(func(k int64) { ints.findOrAddInt(k) }),
		each(func(k int64) { strs.findOrAddBytes(keyBytes(k), uint32(HashBytes(keyBytes(k))>>32)) }),
		each(func(k int64) { s.win.At(0, 10).findOrAddInt(k) }),
		each(func(k int64) { ordered.Put(keyBytes(k), keyBytes(-k)) }),
		each(func(k int64) { rows.Append(HashBytes(keyBytes(k)), keyBytes(k), k, 1, keyBytes(-k), false) }),
		each(func(k int64) { keys.AddInts([]int64{k}, nil, []int64{k}, nil) }),
	}
	return s
}

// TestDirtyBytes: what the next Freeze takes is counted with its share of what a table has in memory for entries, whatever else is there: filters, and
// tables and blocks that are spare.
func TestDirtyBytes(t *testing.T) {
	const n = 40_000
	for i := range openAll(&memBacking{m: map[string]string{}}).names {
		b := &countingBacking{memBacking: memBacking{m: map[string]string{}}}
		s := openAll(b)
		sp, add := s.sp, s.add[i]
		t.Run(s.names[i], func(t *testing.T) {
			near := func(what string, got, want int64) {
				t.Helper()
				if got < want*9/10 || got > want*11/10 {
					t.Errorf("%s: %d bytes, want %d or so", what, got, want)
				}
			}
			empty := sp.MemBytes()
			add(0, n)
			all := sp.MemBytes()
			near("all is new, dirty", sp.DirtyBytes(), all)
			near("all is new, clean", sp.CleanBytes(), 0)
			b.write(t, sp.Freeze())
			near("all is written, dirty", sp.DirtyBytes(), 0)
			near("all is written, clean", sp.CleanBytes(), sp.MemBytes())
			add(n, 2*n)
			near("half is written, dirty", sp.DirtyBytes(), sp.MemBytes()/2)
			near("half is written, clean", sp.CleanBytes(), sp.MemBytes()/2)
			b.write(t, sp.Freeze())
			sp.Evict(0)
			sp.Evict(0)
			if d, c := sp.DirtyBytes(), sp.CleanBytes(); d != 0 || c != 0 {
				t.Errorf("nothing is left: %d of %d bytes are dirty, %d clean, %d filters", d, sp.MemBytes(), c, sp.FilterBytes())
			}
			add(2*n, 2*n+n/2)
			if d, m := sp.DirtyBytes(), sp.MemBytes()-sp.FilterBytes()+empty; d <= all/8 || d > min(m, all) {
				t.Errorf("what is new beside a filter: %d of %d bytes are dirty, %d without filters, %d were of twice as many", d, sp.MemBytes(), m, all)
			}
		})
	}
}

// TestSpareIsNotDirty: tables of closed windows are no entries of those that are open.
func TestSpareIsNotDirty(t *testing.T) {
	b := &countingBacking{memBacking: memBacking{m: map[string]string{}}}
	s := openAll(b)
	for k := range int64(20_000) {
		s.win.At(0, 10).findOrAddInt(k)
	}
	all := s.sp.MemBytes()
	s.win.Drop(10)
	spare := s.sp.MemBytes()
	s.win.At(10, 20)
	s.win.At(20, 30).findOrAddInt(1)
	if spare < all/8 || !slices.Equal(s.win.Ends(), []int64{20, 30}) {
		t.Fatalf("%d bytes are spare, of %d; windows %v", spare, all, s.win.Ends())
	}
	s.win.Drop(20)
	if d := s.sp.DirtyBytes(); d == 0 || d > spare/8 {
		t.Errorf("%d bytes are of one entry, %d of a table that is spare", d, spare)
	}
	if c := s.sp.CleanBytes(); c < spare/2 {
		t.Errorf("%d bytes can be freed, of a table of %d", c, spare)
	}
}
