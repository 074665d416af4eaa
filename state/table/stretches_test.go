package table

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// heldRow is a row of the model of a Stretches.
type heldRow struct {
	id           int // in the order in which rows came
	key          string
	time, weight int64
	marked       bool
}

// body is larger than a block for some rows.
func (h *heldRow) body() []byte {
	n := h.id % 13
	if h.id%3001 == 1500 {
		n = rowBlock + h.id%7
	}
	return fmt.Appendf(nil, "%d%s", h.id, strings.Repeat("-", n))
}

// stretchModel is a Stretches beside a naive list of its rows.
type stretchModel struct {
	t     *testing.T
	r     *rand.Rand
	b     *memBacking
	sp    *Space
	tab   *Stretches
	decl  Decl
	rows  []*heldRow
	ids   int
	until int64
	now   int64
	stray int // of how many rows one comes out of order
}

func (m *stretchModel) open() {
	m.sp = Open(m.b)
	m.tab = m.sp.Stretches(m.decl)
	m.decl.Width = 1 + m.r.Int64N(60) // after a restart: what is stored keeps its own
	if err := m.sp.Verify(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *stretchModel) key() string {
	if m.r.IntN(4) == 0 {
		return "hot"
	}
	return fmt.Sprintf("key%d", m.r.IntN(300))
}

func (m *stretchModel) append() {
	for range m.r.IntN(60) {
		m.now += int64(m.r.IntN(3))
		h := &heldRow{id: m.ids, key: m.key(), time: m.now, weight: 1, marked: m.r.IntN(9) == 0}
		m.ids++
		if m.r.IntN(m.stray) == 0 {
			h.time = m.now - 150 + int64(m.r.IntN(400))
		}
		if m.r.IntN(500) == 0 {
			h.time = []int64{math.MinInt64, math.MaxInt64}[m.r.IntN(2)]
		}
		if m.r.IntN(10) == 0 {
			h.weight = int64(m.r.IntN(5)) + 2
		}
		m.tab.Append(HashBytes([]byte(h.key)), []byte(h.key), h.time, h.weight, h.body(), h.marked)
		m.rows = append(m.rows, h)
	}
	m.gone()
}

// gone drops what is forgotten.
func (m *stretchModel) gone() {
	if m.decl.Forgets {
		m.rows = slices.DeleteFunc(m.rows, func(h *heldRow) bool { return h.marked })
	}
}

func (m *stretchModel) check(h *heldRow, r Row) {
	m.t.Helper()
	if r.Time() != h.time || r.Weight() != h.weight || string(r.Key()) != h.key || string(r.Body()) != string(h.body()) || r.Marked() != h.marked {
		m.t.Fatalf("row %d: %d %d %q %q %v, want %+v", h.id, r.Time(), r.Weight(), r.Key(), r.Body(), r.Marked(), h)
	}
}

func (m *stretchModel) expired(time int64) bool { return m.until != math.MinInt64 && time <= m.until }

func (m *stretchModel) find() {
	n := m.r.IntN(200)
	var hashes []uint64
	var data []byte
	var from, to []int64
	off := []uint32{0}
	var want []*heldRow
	var of []int
	for k := range n {
		key := m.key()
		data = append(data, key...)
		off = append(off, uint32(len(data)))
		hashes = append(hashes, HashBytes([]byte(key)))
		lo := m.now - int64(m.r.IntN(250))
		hi := lo + int64(m.r.IntN(150))
		switch m.r.IntN(10) {
		case 0:
			lo = math.MinInt64
		case 1:
			hi = math.MaxInt64
		}
		from, to = append(from, lo), append(to, hi)
		first := len(want)
		for _, h := range m.rows {
			// What came after its time had expired is there until the next Expire, but nobody can look for it.
			if h.key == key && h.time >= lo && h.time <= hi && !m.expired(h.time) {
				want, of = append(want, h), append(of, k)
			}
		}
		slices.SortFunc(want[first:], func(a, b *heldRow) int {
			if c := cmp.Compare(m.tab.startOf(a.time), m.tab.startOf(b.time)); c != 0 {
				return c
			}
			return b.id - a.id
		})
	}
	i, stop := 0, -1
	if len(want) > 0 && m.r.IntN(5) == 0 {
		stop = m.r.IntN(len(want))
	}
	m.tab.Find(hashes, off, data, from, to, func(k int, r Row) bool {
		if m.expired(r.Time()) {
			return true
		}
		for m.decl.Forgets && i < len(want) && want[i].marked {
			i++ // as it was found for a key before
		}
		if i >= len(want) || of[i] != k {
			m.t.Fatalf("found %q for key %d, which is number %d of %d", r.Body(), k, i, len(want))
		}
		m.check(want[i], r)
		if m.r.IntN(40) == 0 {
			want[i].marked = true
			m.tab.Mark(r)
		}
		i++
		return i-1 != stop
	})
	for m.decl.Forgets && i < len(want) && want[i].marked {
		i++
	}
	if stop < 0 && i != len(want) {
		m.t.Fatalf("found %d of %d", i, len(want))
	}
	m.gone()
}

func (m *stretchModel) expire() {
	m.until = max(m.until, m.now-200+int64(m.r.IntN(100)))
	var want []*heldRow
	weight := int64(0)
	for _, h := range m.rows {
		if h.time <= m.until {
			want = append(want, h)
			weight += h.weight
		}
	}
	m.rows = slices.DeleteFunc(m.rows, func(h *heldRow) bool { return h.time <= m.until })
	var f func(r Row) error
	i := 0
	if m.r.IntN(2) == 0 {
		f = func(r Row) error {
			// Those that are overdue come first in their stretch.
			for k, h := range want {
				if h != nil && string(h.body()) == string(r.Body()) {
					m.check(h, r)
					want[k] = nil
					i++
					return nil
				}
			}
			m.t.Fatalf("%q expired", r.Body())
			return nil
		}
	}
	got, err := m.tab.Expire(m.until, f)
	if err != nil || got != weight || f != nil && i != len(want) {
		m.t.Fatalf("expired %d, %d rows, want %d, %d; %v", got, i, weight, len(want), err)
	}
}

// checkSums compares what is kept up with what it is the sum of.
func (m *stretchModel) checkSums() {
	m.t.Helper()
	var rows, held, dirty int64
	mem := int64(len(m.tab.pool.blocks)) * rowBlock
	for _, x := range m.tab.list {
		rows, held, dirty, mem = rows+x.rows, held+x.rows-x.base, dirty+x.rows-x.cleanRows, mem+x.memBytes()
	}
	if r, h, d, b := m.tab.Len(), m.tab.heldEntries(), m.tab.dirtyEntries(), m.tab.MemBytes(); r != rows || h != held || d != dirty || b != mem {
		m.t.Fatalf("%d rows, %d in memory, %d dirty, %d bytes, want %d, %d, %d, %d", r, h, d, b, rows, held, dirty, mem)
	}
}

func (m *stretchModel) checkAll() {
	n := 0
	left := map[string]*heldRow{}
	for _, h := range m.rows {
		if !m.expired(h.time) {
			left[string(h.body())] = h
		}
	}
	m.tab.Each(func(r Row) bool {
		h := left[string(r.Body())]
		if h == nil {
			m.t.Fatalf("row %q is not expected", r.Body())
		}
		m.check(h, r)
		n++
		return true
	})
	if n != len(left) {
		m.t.Fatalf("%d rows, want %d", n, len(left))
	}
	n = 0
	m.sp.Each(0, func(e *Entry) bool {
		head, k := binary.Uvarint(e.Value)
		w, _ := binary.Varint(e.Value[k:])
		h := left[string(e.Key[head:])]
		if h == nil || string(e.Key[:head-8]) != h.key || w != h.weight || int64(binary.BigEndian.Uint64(e.Key[head-8:])^1<<63) != h.time {
			m.t.Fatalf("entry %q", e.Key)
		}
		n++
		return true
	})
	if n != len(left) {
		m.t.Fatalf("%d entries, want %d", n, len(left))
	}
}

// verify checks what is on disk.
func (m *stretchModel) verify() {
	c := NewChecker()
	lo, hi := MetaRange()
	add := func(k, v []byte) bool {
		err := c.Add(k, v)
		if k[0] == lo[0] {
			err = c.Declare(k, v)
		}
		if err != nil {
			m.t.Fatal(err)
		}
		return true
	}
	_ = m.b.Scan(lo, hi, false, add)
	_ = m.b.Scan([]byte{spaceData}, lo, false, add)
	if p := c.Problems(); len(p) > 0 {
		m.t.Fatal(p)
	}
}

// TestStretchesAgainstList drives a Stretches through epochs, checkpoints that are written late, evictions and restarts, with and without a
// budget, with rows in order and not.
func TestStretchesAgainstList(t *testing.T) {
	r := seeded(t)
	defer func(n int) { growAtOnce = n }(growAtOnce)
	growAtOnce = 32
	for round := range 16 {
		m := &stretchModel{t: t, r: r, b: &memBacking{m: map[string]string{}}, until: math.MinInt64, now: -500, stray: []int{2, 1000}[round/4%2],
			decl: Decl{Name: "rows", Width: int64(1 + r.IntN(60)), Forgets: round >= 8}}
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
		for range 120 {
			m.append()
			m.find()
			m.expire()
			m.checkSums()
			switch r.IntN(9) {
			case 0:
				pending = append(pending, m.sp.Freeze())
			case 1:
				write()
			case 2, 3:
				m.sp.Evict(budget / 2)
			case 4:
				m.sp.Load(int64(r.IntN(100_000)))
			case 5:
				m.checkAll()
			case 6:
				if r.IntN(3) > 0 {
					continue
				}
				write()
				m.b.write(t, m.sp.Freeze())
				m.verify()
				m.open()
				m.sp.SetBudget(budget)
				m.checkAll()
			case 7:
				if r.IntN(20) == 0 {
					m.sp.Drop()
					m.rows = nil
				}
			}
		}
		m.checkAll()
		m.checkSums()
		if r.IntN(2) == 0 {
			m.until = math.MaxInt64
			if _, err := m.tab.Expire(m.until, nil); err != nil || m.tab.Len() != 0 {
				t.Fatalf("%d rows left; %v", m.tab.Len(), err)
			}
			write()
			m.b.write(t, m.sp.Freeze())
			m.verify()
			if len(m.b.m) != 1 {
				t.Fatalf("%d keys left", len(m.b.m))
			}
		}
	}
}

// TestChunks compares the ways to make chunks.
func TestChunks(t *testing.T) {
	r := seeded(t)
	for range 100 {
		x := newStretch(r.Int64N(1000)-500, &blockPool{})
		x.bits = r.IntN(8)
		for num := range r.IntN(500) {
			key := binary.BigEndian.AppendUint32(nil, r.Uint32N(300))
			x.put(0, uint32(3*num), x.start+r.Int64N(1<<r.IntN(40)), []int64{1, 1, 2, 1 << 40}[r.IntN(4)], key, make([]byte, r.IntN(20)))
		}
		a, b := &part{common: []byte("p")}, &part{common: []byte("p")}
		x.chunks(a)
		x.chunksByRef(b)
		if a.n != b.n || !slices.EqualFunc(a.blocks, b.blocks, slices.Equal) {
			t.Fatal("chunks differ")
		}
	}
}

// TestSortRows compares the ways to sort rows.
func TestSortRows(t *testing.T) {
	r := seeded(t)
	for range 300 {
		rows := make([]dueRow, r.IntN(2000))
		first, width := r.Int64()-r.Int64(), int64(1)<<r.IntN(50)
		for i := range rows {
			rows[i] = dueRow{first + r.Int64N(width), uint32(i), r.Uint32()}
		}
		if r.IntN(4) == 0 {
			r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
		want := slices.Clone(rows)
		slices.SortFunc(want, dueRow.compare)
		if got := sortRows(rows); !slices.Equal(got, want) {
			t.Fatalf("%d rows of %d are not sorted", len(rows), width)
		}
	}
}

// TestStretchesExpireInOrder: rows expire by time and then as they came, also those that lie in a stretch that others went from before.
func TestStretchesExpireInOrder(t *testing.T) {
	r := seeded(t)
	for range 50 {
		tab := NewTransient().Stretches(Decl{Width: 1000})
		var times []int64
		add := func(n int, lo int64) {
			for range n {
				at := lo + int64(r.IntN(1500))
				times = append(times, at)
				tab.Append(0, nil, at, 1, binary.BigEndian.AppendUint32(nil, uint32(len(times))), false)
			}
		}
		done := int64(-1)
		for until := int64(0); until < 4000; until += int64(r.IntN(300)) {
			add(r.IntN(400), until)
			last, n := done, 0
			lastID := uint32(0)
			_, err := tab.Expire(until, func(row Row) error {
				id := binary.BigEndian.Uint32(row.Body())
				if row.Time() < last || row.Time() == last && id < lastID && last != done || times[id-1] != row.Time() {
					t.Fatalf("row %d of %d after %d of %d", id, row.Time(), lastID, last)
				}
				last, lastID = row.Time(), id
				n++
				return nil
			})
			want := 0
			for _, at := range times {
				if at > done && at <= until {
					want++
				}
			}
			if err != nil || n < want {
				t.Fatalf("%d rows, want %d; %v", n, want, err)
			}
			done = max(done, until)
		}
	}
}

// TestStretchOfAFullBlock drops a stretch from memory whose last block has no room left.
func TestStretchOfAFullBlock(t *testing.T) {
	b := &memBacking{m: map[string]string{}}
	sp := Open(b)
	tab := sp.Stretches(Decl{Name: "rows", Width: 1000})
	key := []byte("k")
	tab.Append(HashBytes(key), key, 1, 1, make([]byte, rowBlock), false)
	b.write(t, sp.Freeze())
	sp.Evict(0)
	if held := tab.heldEntries(); held != 0 {
		t.Fatalf("%d rows in memory", held)
	}
	n := 0
	tab.Find([]uint64{HashBytes(key)}, []uint32{0, 1}, key, []int64{0}, []int64{9}, func(_ int, r Row) bool {
		n += len(r.Body())
		return true
	})
	if n != rowBlock {
		t.Fatalf("found %d bytes", n)
	}
}
