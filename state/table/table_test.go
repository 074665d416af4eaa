package table

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strconv"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// memBacking keeps what checkpoints wrote in a sorted map.
type memBacking struct {
	m    map[string]string
	fail func() error // asked before each entry is given; nil: reads do not fail
}

func (b *memBacking) failing() error {
	if b.fail == nil {
		return nil
	}
	return b.fail()
}

func (b *memBacking) Get(k []byte, f func([]byte)) error {
	if err := b.failing(); err != nil {
		return err
	}
	if v, ok := b.m[string(k)]; ok {
		f([]byte(v))
	}
	return nil
}

func (b *memBacking) GetMany(keys [][]byte, f func(int, []byte)) error {
	for i, k := range keys {
		if i > 0 && bytes.Compare(keys[i-1], k) >= 0 {
			return fmt.Errorf("keys do not ascend")
		}
		if err := b.failing(); err != nil {
			return err
		}
		if v, ok := b.m[string(k)]; ok {
			f(i, []byte(v))
		}
	}
	return nil
}

func (b *memBacking) Scan(lo, hi []byte, desc bool, f func(k, v []byte) bool) error {
	var keys []string
	for k := range b.m {
		if k >= string(lo) && (hi == nil || k < string(hi)) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	if desc {
		slices.Reverse(keys)
	}
	for _, k := range keys {
		if err := b.failing(); err != nil {
			return err
		}
		if !f([]byte(k), []byte(b.m[k])) {
			break
		}
	}
	return nil
}

func (b *memBacking) write(t testing.TB, f *Frozen) {
	for _, r := range f.Ranges() {
		for k := range b.m {
			if k >= string(r.Lo) && k < string(r.Hi) {
				delete(b.m, k)
			}
		}
	}
	var last []byte
	err := f.Each(func(c Change) error {
		if last != nil && bytes.Compare(last, c.Key) >= 0 {
			return fmt.Errorf("changes do not ascend: %x, %x", last, c.Key)
		}
		last = append(last[:0], c.Key...)
		if c.Delete {
			delete(b.m, string(c.Key))
			return nil
		}
		if c.Merge {
			var z BlockMerger
			val, err := z.Merge(nil, []byte(b.m[string(c.Key)]), c.Val, true)
			b.m[string(c.Key)] = string(val)
			return err
		}
		b.m[string(c.Key)] = string(c.Val)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Written()
}

func seeded(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("TIDEMARK_TABLE_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// model is a space with three tables beside naive maps, driven at random.
type model struct {
	t    *testing.T
	r    *rand.Rand
	b    *memBacking
	sp   *Space
	ints *Hash
	strs *Hash
	ord  *Ordered
	win  *Windows

	mInts   map[int64][2]int64
	mStrs   map[string]string // blob
	mOrd    map[string]string
	mWin    map[int64]map[int64]int64
	pending []*Frozen
}

func (m *model) open() {
	m.sp = Open(m.b)
	m.ints = m.sp.Hash(Decl{Name: "ints", Words: 2, Rare: 1, IntKey: true})
	m.strs = m.sp.Hash(Decl{Name: "strs", Words: 3, Rare: 2})
	m.ord = m.sp.Ordered(Decl{Name: "ord"})
	m.win = m.sp.Windows(Decl{Name: "win", Words: 2, Rare: 1, IntKey: true})
	if err := m.sp.Verify(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) key() int64 { return int64(m.r.IntN(3000))<<uint(m.r.IntN(2)*30) - 1000 }

func (m *model) str() string { return fmt.Sprintf("key%d", m.r.IntN(3000)) }

func (m *model) stepInts() {
	keys := make([]int64, 1+m.r.IntN(40))
	for i := range keys {
		keys[i] = m.key()
	}
	slots := make([]int32, len(keys))
	m.ints.FindOrAddInts(keys, nil, slots)
	for i, s := range slots {
		if m.ints.KeyInt(s) != keys[i] {
			m.t.Fatalf("slot of %d has key %d", keys[i], m.ints.KeyInt(s))
		}
		m.ints.Words(s)[0]++
		m.ints.AddRare(s, 0, keys[i])
		w := m.mInts[keys[i]]
		m.mInts[keys[i]] = [2]int64{w[0] + 1, w[1] + keys[i]}
	}
	m.ints.MarkDirty(slots)
	for range m.r.IntN(30) {
		k := m.key()
		s := m.ints.FindInt(k)
		if _, ok := m.mInts[k]; ok != (s >= 0) {
			m.t.Fatalf("find %d: slot %d, want %v", k, s, ok)
		}
		if s >= 0 && m.ints.Words(s)[0] != m.mInts[k][0] {
			m.t.Fatalf("key %d: %v, want %v", k, m.ints.Words(s), m.mInts[k])
		}
		if s >= 0 {
			m.ints.Remove(s)
			delete(m.mInts, k)
		}
	}
}

// stepMany looks many keys up at once, and changes or removes what is found.
func (m *model) stepMany() {
	n := 1 + m.r.IntN(30)
	keys, slots := make([]int64, n), make([]int32, n)
	for i := range keys {
		keys[i] = m.key()
	}
	m.ints.FindManyInts(keys, slots)
	for i, s := range slots {
		k := keys[i]
		w, ok := m.mInts[k]
		if gone := slices.Contains(keys[:i], k); gone { // its slot may be free by now
			continue
		}
		if ok != (s >= 0) {
			m.t.Fatalf("find %d: slot %d, want %v", k, s, ok)
		}
		switch {
		case !ok:
		case m.r.IntN(2) == 0:
			m.ints.Remove(s)
			delete(m.mInts, k)
		default:
			m.ints.Words(s)[0]++
			m.ints.MarkDirty([]int32{s})
			m.mInts[k] = [2]int64{w[0] + 1, w[1]}
		}
	}
	var data []byte
	off, hashes := []uint32{0}, []uint64(nil)
	for range n {
		data = append(data, m.str()...)
		hashes = append(hashes, HashBytes(data[off[len(off)-1]:]))
		off = append(off, uint32(len(data)))
	}
	m.strs.FindManyBytes(hashes, off, data, slots)
	seen := map[string]bool{}
	for i, s := range slots {
		k := string(data[off[i]:off[i+1]])
		if seen[k] {
			continue
		}
		seen[k] = true
		b, ok := m.mStrs[k]
		if ok != (s >= 0) {
			m.t.Fatalf("find %q: slot %d, want %v", k, s, ok)
		}
		switch {
		case !ok:
		case m.r.IntN(2) == 0:
			m.strs.Remove(s)
			delete(m.mStrs, k)
		default:
			m.strs.SetBlob(s, []byte(b+"+"))
			m.mStrs[k] = b + "+"
			m.strs.AddRare(s, 1, 1)
		}
	}
}

func (m *model) stepStrs() {
	n := 1 + m.r.IntN(40)
	var data []byte
	off := []uint32{0}
	var hashes []uint64
	for range n {
		data = append(data, m.str()...)
		hashes = append(hashes, HashBytes(data[off[len(off)-1]:]))
		off = append(off, uint32(len(data)))
	}
	slots := make([]int32, n)
	if m.r.IntN(2) == 0 {
		m.strs.FindOrAddBytes(hashes, off, data, slots)
	} else {
		for i := range slots {
			slots[i] = m.strs.FindOrAddKey(data[off[i]:off[i+1]])
		}
	}
	for i, s := range slots {
		k := string(data[off[i]:off[i+1]])
		if string(m.strs.Key(s)) != k {
			m.t.Fatalf("slot of %q has key %q", k, m.strs.Key(s))
		}
		if string(m.strs.Blob(s)) != m.mStrs[k] {
			m.t.Fatalf("%q: blob %q, want %q", k, m.strs.Blob(s), m.mStrs[k])
		}
		b := m.mStrs[k] + string(rune('a'+m.r.IntN(26)))
		m.strs.SetBlob(s, []byte(b))
		m.mStrs[k] = b
		m.strs.AddRare(s, 1, 1)
	}
	for range m.r.IntN(30) {
		k := m.str()
		s := m.strs.FindBytes([]byte(k))
		if _, ok := m.mStrs[k]; ok != (s >= 0) {
			m.t.Fatalf("find %q: slot %d, want %v", k, s, ok)
		}
		if s >= 0 {
			m.strs.Remove(s)
			delete(m.mStrs, k)
		}
	}
}

func (m *model) stepOrdered() {
	for range m.r.IntN(60) {
		k := m.str()
		switch m.r.IntN(8) {
		case 0, 1, 2:
			v := fmt.Sprint(m.r.IntN(1 << m.r.IntN(60)))
			if _, there := m.mOrd[k]; !there && m.r.IntN(2) == 0 {
				m.ord.PutNew([]byte(k), []byte(v))
			} else {
				m.ord.Put([]byte(k), []byte(v))
			}
			m.mOrd[k] = v
		case 3:
			m.ord.Delete([]byte(k))
			delete(m.mOrd, k)
		case 4:
			if m.r.IntN(6) > 0 {
				continue
			}
			lo, hi := m.bounds(200)
			m.ord.DeleteRange(lo, hi)
			for k := range m.mOrd {
				if k >= string(lo) && (hi == nil || k < string(hi)) {
					delete(m.mOrd, k)
				}
			}
		case 5:
			m.checkScan(m.r.IntN(10) * 10)
		default:
			v, ok := m.ord.Get([]byte(k))
			w, want := m.mOrd[k]
			if ok != want || string(v) != w {
				m.t.Fatalf("get %q: %q %v, want %q %v", k, v, ok, w, want)
			}
		}
	}
}

func (m *model) bounds(span int) (lo, hi []byte) {
	a := m.r.IntN(3000)
	lo, hi = []byte(fmt.Sprintf("key%d", a)), []byte(fmt.Sprintf("key%d", a+m.r.IntN(span)))
	switch m.r.IntN(40) {
	case 0:
		hi = nil
	case 1:
		lo = nil
	}
	return lo, hi
}

func (m *model) checkScan(limit int) {
	lo, hi := m.bounds(1000)
	var want []string
	for k := range m.mOrd {
		if k >= string(lo) && (hi == nil || k < string(hi)) {
			want = append(want, k)
		}
	}
	sort.Strings(want)
	desc := m.r.IntN(2) == 0
	scan := m.ord.Scan
	if desc {
		slices.Reverse(want)
		scan = m.ord.ScanDesc
	}
	if limit > 0 && limit < len(want) {
		want = want[:limit]
	}
	var got []string
	scan(lo, hi, func(k, v []byte) bool {
		if m.mOrd[string(k)] != string(v) {
			m.t.Fatalf("scan %q: %q, want %q", k, v, m.mOrd[string(k)])
		}
		got = append(got, string(k))
		return limit == 0 || len(got) < limit
	})
	if !slices.Equal(got, want) {
		m.t.Fatalf("scan [%q, %q) desc %v limit %d: %d keys, want %d\n%q\n%q", lo, hi, desc, limit, len(got), len(want), got, want)
	}
}

func (m *model) stepWindows() {
	base := int64(m.r.IntN(8)) - 3
	h := m.win.At(base*10, base*10+10)
	if m.mWin[base*10+10] == nil {
		m.mWin[base*10+10] = map[int64]int64{}
	}
	keys := []int64{m.key(), m.key(), m.key()}
	slots := make([]int32, 3)
	h.FindOrAddInts(keys, []int32{0, 2}, slots)
	for _, i := range []int{0, 2} {
		h.Words(slots[i])[0] += 7
		m.mWin[base*10+10][keys[i]] += 7
		if keys[i]%7 == 0 {
			h.AddRare(slots[i], 0, 7)
		}
	}
	h.MarkDirty([]int32{slots[0], slots[2]})
	if m.r.IntN(20) == 0 {
		end := int64(m.r.IntN(8))*10 - 20
		m.win.Drop(end)
		delete(m.mWin, end)
	}
}

func (m *model) checkAll() {
	if m.ints.Len() != int64(len(m.mInts)) || m.strs.Len() != int64(len(m.mStrs)) || m.ord.Len() != int64(len(m.mOrd)) {
		m.t.Fatalf("lengths %d %d %d, want %d %d %d", m.ints.Len(), m.strs.Len(), m.ord.Len(), len(m.mInts), len(m.mStrs), len(m.mOrd))
	}
	ends := m.win.Ends()
	if len(ends) != len(m.mWin) || !slices.IsSorted(ends) {
		m.t.Fatalf("windows %v, want %d", ends, len(m.mWin))
	}
	for _, e := range ends {
		if m.win.StartOf(e) != e-10 || m.win.Get(e).Len() != int64(len(m.mWin[e])) {
			m.t.Fatalf("window %d: start %d, %d entries, want %d", e, m.win.StartOf(e), m.win.Get(e).Len(), len(m.mWin[e]))
		}
	}
	n := [4]int{}
	for i := range n {
		m.sp.Each(i, func(e *Entry) bool {
			n[i]++
			ok := true
			switch i {
			case 0:
				w := m.mInts[e.Int]
				ok = slices.Equal(e.Words, w[:])
			case 1:
				ok = m.mStrs[string(e.Key)] == string(e.Value) && e.Words[2] == int64(len(e.Value))
			case 2:
				ok = m.mOrd[string(e.Key)] == string(e.Value)
			case 3:
				ok = m.mWin[e.WindowEnd][e.Int] == e.Words[0] && (e.Int%7 == 0 && e.Words[1] == e.Words[0] || e.Int%7 != 0 && e.Words[1] == 0)
			}
			if !ok {
				m.t.Fatalf("table %d: wrong entry %+v", i, e)
			}
			return true
		})
	}
	if n[0] != len(m.mInts) || n[1] != len(m.mStrs) || n[2] != len(m.mOrd) || int64(n[3]) != m.win.Len() {
		m.t.Fatalf("entries %v, want %d %d %d %d", n, len(m.mInts), len(m.mStrs), len(m.mOrd), m.win.Len())
	}
}

func (m *model) writePending() {
	for _, f := range m.pending {
		m.b.write(m.t, f)
	}
	m.pending = nil
}

// TestSpaceAgainstMaps drives all kinds of table through epochs, checkpoints
// that are written late, evictions and restarts, with and without a budget.
func TestSpaceAgainstMaps(t *testing.T) {
	r := seeded(t)
	for round := range 12 {
		m := &model{t: t, r: r, b: &memBacking{m: map[string]string{}},
			mInts: map[int64][2]int64{}, mStrs: map[string]string{}, mOrd: map[string]string{}, mWin: map[int64]map[int64]int64{}}
		m.open()
		budget := []int64{0, 1, 40_000, 120_000}[round%4]
		m.sp.SetBudget(budget)
		for range 300 {
			m.stepInts()
			m.stepStrs()
			m.stepMany()
			m.stepOrdered()
			m.stepWindows()
			switch m.r.IntN(12) {
			case 0:
				m.pending = append(m.pending, m.sp.Freeze())
			case 1:
				m.writePending()
			case 2, 3:
				m.sp.Evict(budget / 2)
			case 4:
				m.sp.Load(int64(m.r.IntN(100_000)))
			case 5:
				m.checkAll()
			case 6:
				if m.r.IntN(4) > 0 {
					continue
				}
				m.writePending()
				m.b.write(t, m.sp.Freeze())
				m.open()
				m.sp.SetBudget(budget)
				m.checkAll()
			case 7:
				if m.r.IntN(30) > 0 {
					continue
				}
				m.sp.Drop()
				clear(m.mInts)
				clear(m.mStrs)
				clear(m.mOrd)
				clear(m.mWin)
			}
		}
		m.checkAll()
		m.ints.Each(func(s int32) bool {
			if w := m.mInts[m.ints.KeyInt(s)]; w[0] != m.ints.Words(s)[0] {
				t.Fatalf("each: key %d", m.ints.KeyInt(s))
			}
			return true
		})
	}
}

func TestWindowOpenedAndClosedIsNotWritten(t *testing.T) {
	b := &memBacking{m: map[string]string{}}
	sp := Open(b)
	w := sp.Windows(Decl{Name: "w", IntKey: true, Words: 1})
	slots := make([]int32, 1)
	w.At(0, 10).FindOrAddInts([]int64{5}, nil, slots)
	w.Drop(10)
	f := sp.Freeze()
	if f.Len() != 1 || len(f.Ranges()) != 0 { // the table's own record
		t.Fatalf("%d changes, %d ranges", f.Len(), len(f.Ranges()))
	}
}

func TestVerifySaysWhatChanged(t *testing.T) {
	b := &memBacking{m: map[string]string{}}
	sp := Open(b)
	sp.Hash(Decl{Name: "default", Words: 2})
	sp.Ordered(Decl{Name: "timers"})
	b.write(t, sp.Freeze())
	for _, c := range []struct {
		open func(sp *Space)
		want string
	}{
		{func(sp *Space) { sp.Hash(Decl{Name: "default", Words: 2}); sp.Ordered(Decl{Name: "timers"}) }, ""},
		{func(sp *Space) { sp.Hash(Decl{Name: "default", Words: 3}); sp.Ordered(Decl{Name: "timers"}) },
			`table 0, "default" of operator 0: entries had 2 words and have 3`},
		{func(sp *Space) { sp.Hash(Decl{Name: "default", Words: 2, Width: 5}); sp.Ordered(Decl{Name: "timers"}) },
			`table 0, "default" of operator 0: the width of stretches changed`},
		{func(sp *Space) { sp.Hash(Decl{Name: "default", Words: 2}) }, `table 1, "timers" of operator 0, is no longer declared`},
		{func(sp *Space) { sp.Ordered(Decl{Name: "default"}) }, `table 0, "default" of operator 0: the kind of table was "h" and is "o"`},
	} {
		sp := Open(b)
		c.open(sp)
		got := ""
		if err := sp.Verify(); err != nil {
			got = sqlerr.From(err).Detail
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// The width of stretches is that of the table when it was made, whatever its span is declared to be later.
func TestStoredWidthStays(t *testing.T) {
	b := &memBacking{m: map[string]string{}}
	for _, width := range []int64{1000, 7, 100_000} {
		sp := Open(b)
		ids, rows := sp.Expiring(Decl{Name: "ids", Words: 1, Width: width}), sp.Stretches(Decl{Name: "rows", Width: width})
		if err := sp.Verify(); err != nil {
			t.Fatal(err)
		}
		if is := []int64{ids.rows.inf.decl.Width, rows.inf.decl.Width}; is[0] != 1000 || is[1] != 1000 {
			t.Errorf("declared with %d: widths %d, want 1000", width, is)
		}
		b.write(t, sp.Freeze())
	}
}

func TestPrefixEnd(t *testing.T) {
	for _, c := range [][2][]byte{{{1, 2}, {1, 3}}, {{1, 0xFF}, {2}}, {{0xFF}, nil}, {nil, nil}} {
		if got := PrefixEnd(c[0]); !bytes.Equal(got, c[1]) {
			t.Errorf("%x: %x", c[0], got)
		}
	}
}

func BenchmarkFindOrAddInts(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			h := NewTransient().Hash(Decl{IntKey: true, Words: 2})
			r := rand.New(rand.NewPCG(1, 2))
			keys := make([]int64, 1<<20)
			for i := range keys {
				keys[i] = int64(r.IntN(n))
			}
			slots := make([]int32, 2048)
			for i := 0; i < len(keys); i += 2048 {
				h.FindOrAddInts(keys[i:i+2048], nil, slots)
			}
			b.ResetTimer()
			for i := 0; i < b.N; i += 2048 {
				o := i & (1<<20 - 1)
				h.FindOrAddInts(keys[o:o+2048], nil, slots)
			}
		})
	}
}

func BenchmarkFindOrAddBytes(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			h := NewTransient().Hash(Decl{Words: 2})
			r := rand.New(rand.NewPCG(1, 2))
			const batch, batches = 2048, 256
			var data [batches][]byte
			var off [batches][]uint32
			hashes := make([]uint64, batch)
			slots := make([]int32, batch)
			for i := range data {
				off[i] = []uint32{0}
				for range batch {
					data[i] = fmt.Appendf(data[i], "k%011d", r.IntN(n))
					off[i] = append(off[i], uint32(len(data[i])))
				}
			}
			run := func(i int) {
				for k := range hashes {
					hashes[k] = HashBytes(data[i][off[i][k]:off[i][k+1]])
				}
				h.FindOrAddBytes(hashes, off[i], data[i], slots)
			}
			for i := range data {
				run(i)
			}
			b.ResetTimer()
			for i := 0; i < b.N; i += batch {
				run(i / batch % batches)
			}
		})
	}
}

func BenchmarkAddInts(b *testing.B) {
	keys, slots := make([]int64, 2048), make([]int32, 2048)
	h := NewTransient().Hash(Decl{IntKey: true, Words: 2})
	for i := 0; i < b.N; i += 2048 {
		for k := range keys {
			keys[k] = int64(i + k)
		}
		h.FindOrAddInts(keys, nil, slots)
	}
}

func BenchmarkOrderedPut(b *testing.B) {
	t := NewTransient().Ordered(Decl{})
	r := rand.New(rand.NewPCG(1, 2))
	key, val := make([]byte, 16), make([]byte, 24)
	for i := 0; i < b.N; i++ {
		v := r.IntN(1_000_000)
		for j := range 8 {
			key[j] = byte(v >> (8 * j))
		}
		t.Put(key, val)
	}
}

// BenchmarkFreeze is what a dirty entry costs a checkpoint on the goroutine of the space: all of it, and the part between two epochs that can't be put off.
func BenchmarkFreeze(b *testing.B) {
	const n = 1 << 18
	for _, whole := range []bool{true, false} {
		b.Run(map[bool]string{true: "whole", false: "pause"}[whole], func(b *testing.B) {
			h := Open(&memBacking{m: map[string]string{}}).Hash(Decl{IntKey: true, Words: 2})
			keys, slots := make([]int64, n), make([]int32, n)
			for i := range keys {
				keys[i] = int64(i) * 31
			}
			h.FindOrAddInts(keys, nil, slots)
			b.ResetTimer()
			for i := 0; i < b.N; i += n {
				h.MarkDirty(slots)
				f := h.inf.sp.Freeze()
				if !whole {
					b.StopTimer()
				}
				f.Complete()
				b.StartTimer()
				f.Written()
			}
		})
	}
}

func BenchmarkOrderedGet(b *testing.B) {
	t := NewTransient().Ordered(Decl{})
	r := rand.New(rand.NewPCG(1, 2))
	key := make([]byte, 16)
	set := func(v int) {
		for j := range 8 {
			key[j] = byte(v >> (56 - 8*j))
		}
	}
	for i := range 1_000_000 {
		set(i)
		t.Put(key, key)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		set(r.IntN(1_000_000))
		t.Get(key)
	}
}

// TestEvictedProbes: a table of which a part is in memory finds its keys in few steps.
func TestEvictedProbes(t *testing.T) {
	b := &memBacking{m: map[string]string{}}
	sp := Open(b)
	h := sp.Hash(Decl{Name: "h", Words: 1, IntKey: true})
	for k := range int64(100_000) {
		s := []int32{0}
		h.FindOrAddInts([]int64{k}, nil, s)
		h.MarkDirty(s)
	}
	f := sp.Freeze()
	b.write(t, f)
	f.Written()
	sp.Evict(h.MemBytes() * 45 / 100)
	sp.Evict(h.MemBytes() * 45 / 100)
	steps, n, mask := 0, 0, uint32(len(h.cells)-1)
	for i, e := range h.cells {
		if e != 0 {
			steps += int((uint32(i)-h.tagOf(int32(e&h.slot)-1))&mask) + 1
			n++
		}
	}
	if n == 0 || n > 60_000 || steps > 4*n {
		t.Errorf("%d keys in memory are found in %d steps", n, steps)
	}
}
