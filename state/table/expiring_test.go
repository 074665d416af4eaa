package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// expiringModel is an Expiring beside a map of its keys.
type expiringModel struct {
	t      *testing.T
	r      *rand.Rand
	b      *memBacking
	sp     *Space
	tab    *Expiring
	decl   Decl
	times  map[int64]int64 // of live keys
	until  int64
	now    int64
	spread int64 // keys come from so many
}

func (m *expiringModel) open() {
	m.sp = Open(m.b)
	m.tab = m.sp.Expiring(m.decl)
	m.decl.Width = 1 + m.r.Int64N(60) // after a restart: what is stored keeps its own
	if err := m.sp.Verify(); err != nil {
		m.t.Fatal(err)
	}
}

func expiringKey(k int64) []byte { return fmt.Appendf(nil, "key %d", k) }

// add adds a batch, of which some rows are left out.
func (m *expiringModel) add() {
	n := m.r.IntN(400)
	keys, times := make([]int64, n), make([]int64, n)
	sel := []int32{}
	var want []int32
	for k := range keys {
		m.now += int64(m.r.IntN(2))
		keys[k] = m.r.Int64N(m.spread) + m.now*m.spread/500
		times[k] = m.now + 100 + m.r.Int64N(150)
		switch m.r.IntN(300) {
		case 0:
			times[k] = math.MaxInt64
		case 1:
			times[k] = m.now + 100_000
		case 2:
			keys[k] = []int64{0, math.MinInt64, -1}[m.r.IntN(3)]
		}
		if m.r.IntN(4) > 0 {
			sel = append(sel, int32(k))
		}
	}
	if m.r.IntN(3) == 0 {
		sel = sel[:0]
		for k := range keys {
			sel = append(sel, int32(k))
		}
	}
	for _, k := range sel {
		if _, ok := m.times[keys[k]]; !ok {
			m.times[keys[k]] = times[k]
			want = append(want, k)
		}
	}
	var got []int32
	if m.decl.IntKey {
		if len(sel) == n {
			got = m.tab.AddInts(keys, nil, times, nil)
		} else {
			got = m.tab.AddInts(keys, sel, times, nil)
		}
	} else {
		var hashes []uint64
		var data []byte
		off, at := []uint32{0}, []int64{}
		for _, k := range sel {
			b := expiringKey(keys[k])
			data, hashes, at = append(data, b...), append(hashes, HashBytes(b)), append(at, times[k])
			off = append(off, uint32(len(data)))
		}
		for _, i := range m.tab.AddBytes(hashes, off, data, at, nil) {
			got = append(got, sel[i])
		}
	}
	if !slices.Equal(got, want) {
		m.t.Fatalf("new are %v, want %v", got, want)
	}
}

func (m *expiringModel) expire() {
	m.until = max(m.until, m.now-50+int64(m.r.IntN(100)))
	want := int64(0)
	for k, at := range m.times {
		if at <= m.until {
			delete(m.times, k)
			want++
		}
	}
	if got := m.tab.Expire(m.until); got != want {
		m.t.Fatalf("%d expired, want %d", got, want)
	}
}

// check compares all keys, and what is kept up of them.
func (m *expiringModel) check() {
	m.t.Helper()
	if got := m.tab.Len(); got != int64(len(m.times)) {
		m.t.Fatalf("%d keys, want %d", got, len(m.times))
	}
	left := map[string]int64{}
	for k, at := range m.times {
		if m.decl.IntKey {
			left[fmt.Sprint(k)] = at
		} else {
			left[string(expiringKey(k))] = at
		}
	}
	m.sp.Each(0, func(e *Entry) bool {
		k := string(e.Key)
		if m.decl.IntKey {
			k = fmt.Sprint(e.Int)
		}
		if at, ok := left[k]; !ok || at != e.Words[0] {
			m.t.Fatalf("key %q expires at %d, want %d", k, e.Words[0], at)
		}
		delete(left, k)
		return true
	})
	if len(left) > 0 {
		m.t.Fatalf("%d keys are missing", len(left))
	}
	m.checkIndex()
}

// checkIndex compares what is counted of the index with the index.
func (m *expiringModel) checkIndex() {
	x := m.tab.idx
	used, dead := 0, 0
	entered := map[*stretch]int{}
	for i := range x.segs {
		s, n := &x.segs[i], 0
		for j, c := range s.cells {
			if c.ref == 0 {
				continue
			}
			if j%lineCells > 0 && s.cells[j-1].ref == 0 {
				m.t.Fatal("an empty cell before one in use")
			}
			n++
			if of := x.of[c.ref>>(32+partLog)]; of == nil {
				dead++
			} else {
				entered[of]++
			}
		}
		if s.used != n {
			m.t.Fatalf("%d cells of a segment, want %d", s.used, n)
		}
		used += n
	}
	if x.used != used || x.dead != dead {
		m.t.Fatalf("%d cells and %d dead ones, want %d and %d", x.used, x.dead, used, dead)
	}
	for _, s := range m.tab.rows.list {
		if s.entered != entered[s] {
			m.t.Fatalf("%d cells of a stretch, want %d", s.entered, entered[s])
		}
	}
}

func (m *expiringModel) verify() {
	(&stretchModel{t: m.t, b: m.b}).verify()
}

// TestExpiringAgainstMap drives an Expiring through epochs, checkpoints that are written late, evictions and restarts, with and without a
// budget, with keys that are integers and bytes.
func TestExpiringAgainstMap(t *testing.T) {
	r := seeded(t)
	defer func(n int) { passCells = n }(passCells)
	passCells = 64
	for round := range 24 {
		m := &expiringModel{t: t, r: r, b: &memBacking{m: map[string]string{}}, times: map[int64]int64{}, until: math.MinInt64, now: -500, spread: []int64{50, 3000}[round/4%2],
			decl: Decl{Name: "ids", Words: 1, Width: []int64{1 + r.Int64N(60), 3000}[r.IntN(2)], IntKey: round >= 12}}
		m.open()
		budget := []int64{0, 1, 20_000, 60_000}[round%4]
		m.sp.SetBudget(budget)
		var pending []*Frozen
		write := func() {
			for _, f := range pending {
				m.b.write(t, f)
			}
			pending = nil
		}
		for range 100 {
			m.add()
			if r.IntN(3) > 0 {
				m.expire()
			}
			if n := m.tab.Len(); n != int64(len(m.times)) {
				t.Fatalf("%d keys, want %d", n, len(m.times))
			}
			switch r.IntN(9) {
			case 0:
				pending = append(pending, m.sp.Freeze())
			case 1:
				write()
			case 2:
				m.sp.Evict(budget / 2)
			case 3:
				m.sp.BeginEvict(budget / 2)
				for range r.IntN(8) {
					m.sp.Step(r.IntN(30))
				}
			case 4:
				m.sp.Load(int64(r.IntN(100_000)))
			case 5:
				m.check()
			case 6:
				if r.IntN(3) > 0 {
					continue
				}
				write()
				m.b.write(t, m.sp.Freeze())
				m.verify()
				m.open()
				m.sp.SetBudget(budget)
				m.check()
			case 7:
				if r.IntN(20) == 0 {
					m.sp.Drop()
					clear(m.times)
				}
			default:
				m.sp.Step(r.IntN(100))
			}
		}
		m.check()
		if r.IntN(2) == 0 {
			m.until = math.MaxInt64
			if n := m.tab.Expire(m.until); n != int64(len(m.times)) || m.tab.Len() != 0 {
				t.Fatalf("%d keys expired, %d are left", n, m.tab.Len())
			}
			write()
			m.b.write(t, m.sp.Freeze())
			m.verify()
			if len(m.b.m) != 1 {
				t.Fatalf("%d keys left on disk", len(m.b.m))
			}
		}
	}
}

// TestTally counts times in any order, some of which come while others are counted.
// TestExpiringFarApart adds keys whose times are as far apart as times can be, one after the other: each expires in its own.
func TestExpiringFarApart(t *testing.T) {
	times := []int64{math.MinInt64, math.MinInt64 + 1, math.MinInt64 + 2_000_000, -1, 0, 1, math.MaxInt64 - 2_000_000, math.MaxInt64 - 1, math.MaxInt64}
	for _, width := range []int64{1, 7, 1_000_000, 1 << 40, math.MaxInt64} {
		for _, ints := range []bool{true, false} {
			for _, a := range times {
				for _, b := range times {
					for _, until := range times[1 : len(times)-1] {
						tab := Open(&memBacking{m: map[string]string{}}).Expiring(Decl{Name: "x", IntKey: ints, Words: 1, Width: width})
						for k, time := range []int64{a, b, a} { // the stretch of the latest key is looked at first
							if ints {
								tab.AddInts([]int64{int64(k)}, nil, []int64{time}, nil)
							} else {
								key := expiringKey(int64(k))
								tab.AddBytes([]uint64{HashBytes(key)}, []uint32{0, uint32(len(key))}, key, []int64{time}, nil)
							}
						}
						tab.Expire(until)
						var want, got []int64
						for _, time := range []int64{a, a, b} {
							if time > until {
								want = append(want, time)
							}
						}
						tab.Each(func(_ int64, _ []byte, time int64) bool {
							got = append(got, time)
							return true
						})
						slices.Sort(want)
						slices.Sort(got)
						if !slices.Equal(got, want) || tab.Len() != int64(len(want)) {
							t.Fatalf("width %d, times %d and %d, until %d: %d are left, %d of them counted, want %d", width, a, b, until, got, tab.Len(), want)
						}
					}
				}
			}
		}
	}
}

func TestTally(t *testing.T) {
	r := seeded(t)
	for range 300 {
		start, width := r.Int64N(1000)-500, int64(1)<<r.IntN(40)+r.Int64N(3)
		left := make([]int64, r.IntN(3000))
		for i := range left {
			left[i] = start + r.Int64N(width)
		}
		var y tally
		y.build(start, width, slices.Clone(left))
		for until := start; len(left) > 0; until += 1 + r.Int64N(width/4+1) {
			for range r.IntN(20) * 100 * r.IntN(2) {
				if at := start + r.Int64N(width); at > until && len(left) < 20_000 {
					y.late, left = append(y.late, at), append(left, at)
				}
			}
			n := len(left)
			left = slices.DeleteFunc(left, func(at int64) bool { return at <= until })
			if got := y.expire(until); got != int64(n-len(left)) {
				t.Fatalf("%d at %d, want %d", got, until, n-len(left))
			}
			y.again(width)
			if until > start+width {
				break
			}
		}
	}
}

// TestExpiringSameHash: keys of one hash are told apart.
func TestExpiringSameHash(t *testing.T) {
	tab := NewTransient().Expiring(Decl{Words: 1, Width: 10})
	keys := []string{"a", "b", "a", "c", "b"}
	var data []byte
	off := []uint32{0}
	for _, k := range keys {
		data = append(data, k...)
		off = append(off, uint32(len(data)))
	}
	hashes, times := make([]uint64, len(keys)), []int64{5, 15, 5, 15, 25}
	if got := tab.AddBytes(hashes, off, data, times, nil); !slices.Equal(got, []int32{0, 1, 3}) {
		t.Fatal(got)
	}
	if n := tab.Expire(5); n != 1 {
		t.Fatal(n)
	}
	if got := tab.AddBytes(hashes, off, data, []int64{16, 16, 16, 16, 16}, nil); !slices.Equal(got, []int32{0}) {
		t.Fatal(got)
	}
}

// BenchmarkExpiring adds ids of which a million live, all new or all known.
func BenchmarkExpiring(b *testing.B) {
	const rows, epochs = 1 << 16, 16
	for _, known := range []bool{false, true} {
		b.Run(fmt.Sprintf("known=%v", known), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			tab := NewTransient().Expiring(Decl{IntKey: true, Words: 1, Width: epochs / 4})
			keys, times := make([]int64, rows), make([]int64, rows)
			var fresh []int32
			e := int64(0)
			epoch := func() {
				for i := range keys {
					keys[i], times[i] = e*rows+int64(i), e+epochs-1
				}
				r.Shuffle(rows, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				b.StartTimer()
				fresh = tab.AddInts(keys, nil, times, fresh[:0])
				tab.Expire(e)
				b.StopTimer()
				e++
			}
			for range 3 * epochs {
				epoch()
			}
			last := e
			b.ResetTimer()
			for n := 0; n < b.N; n += rows {
				if known {
					e = last - 1 - int64(n/rows)%(epochs/2)
				}
				epoch()
			}
		})
	}
}
