package bench

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
)

// model computes directly, from the events of a run, what the check query of a workload must give.
type model interface {
	add(stream int, e event)
	// endEpoch ends an epoch; mark is the watermark then.
	endEpoch(mark int64)
	result() []int64
}

// compare checks the one row of a check query. NULL stands for a sum or maximum over nothing.
func compare(rows [][]string, want ...int64) error {
	if len(rows) != 1 || len(rows[0]) != len(want) {
		return fmt.Errorf("the check gave %d rows", len(rows))
	}
	for i, w := range want {
		if got := rows[0][i]; got != strconv.FormatInt(w, 10) && (got != "" || want[0] != 0) {
			return fmt.Errorf("the view is wrong: %v, want %v", rows[0], want)
		}
	}
	return nil
}

// totalModel counts and sums up everything.
type totalModel struct{ n, sum int64 }

func (m *totalModel) add(_ int, e event) { m.n, m.sum = m.n+1, m.sum+e.v }

func (m *totalModel) endEpoch(int64) {}

func (m *totalModel) result() []int64 { return []int64{m.n, m.sum} }

// filterModel counts and sums up what passes.
type filterModel struct{ n, sum int64 }

func (m *filterModel) add(_ int, e event) {
	if e.x < 100 {
		m.n++
		m.sum += e.v
	}
}

func (m *filterModel) endEpoch(int64) {}

func (m *filterModel) result() []int64 { return []int64{m.n, m.sum} }

// windowModel has one pane a slide, and takes windows together when they close.
type windowModel struct {
	keys, size, slide       int64
	panes                   map[int64]*pane // by end
	next                    int64           // end of the next window to close
	groups, rows, sum, most int64
}

type pane struct {
	seen      []uint64 // a bit for each key
	n, s, max int64
}

func newWindowModel(keys, size, slide int64) *windowModel {
	return &windowModel{keys: keys, size: size, slide: slide, panes: map[int64]*pane{}, next: epochBase + slide}
}

func (m *windowModel) add(_ int, e event) {
	end := e.ts - e.ts%m.slide + m.slide
	p := m.panes[end]
	if p == nil {
		p = &pane{seen: make([]uint64, (m.keys+63)/64)}
		m.panes[end] = p
	}
	p.seen[e.key/64] |= 1 << (e.key % 64)
	p.n++
	p.s += e.v
	p.max = max(p.max, e.x)
}

func (m *windowModel) endEpoch(mark int64) {
	for ; m.next <= mark; m.next += m.slide {
		seen := make([]uint64, (m.keys+63)/64)
		for end := m.next; end > m.next-m.size; end -= m.slide {
			p := m.panes[end]
			if p == nil {
				continue
			}
			for i, w := range p.seen {
				seen[i] |= w
			}
			m.rows += p.n
			m.sum += p.s
			m.most = max(m.most, p.max)
		}
		for _, w := range seen {
			m.groups += int64(bits.OnesCount64(w))
		}
		delete(m.panes, m.next-m.size+m.slide)
	}
}

func (m *windowModel) result() []int64 { return []int64{m.groups, m.rows, m.sum, m.most} }

// sessionModel relies on events that come in order of time.
type sessionModel struct {
	gap   int64
	keys  []openSession
	ended []openSession // that have no more rows to come, but are not closed
	// of sessions that are closed: number, rows, sum of v, greatest x, length
	n, rows, sum, most, length int64
}

type openSession struct{ first, last, n, s, m int64 }

func (m *sessionModel) add(_ int, e event) {
	k := &m.keys[e.key]
	if k.n > 0 && e.ts > k.last+m.gap {
		m.ended = append(m.ended, *k)
		*k = openSession{}
	}
	if k.n == 0 {
		k.first = e.ts
	}
	k.last, k.n, k.s, k.m = e.ts, k.n+1, k.s+e.v, max(k.m, e.x)
}

func (m *sessionModel) endEpoch(mark int64) {
	m.ended = slices.DeleteFunc(m.ended, func(k openSession) bool { return m.close(k, mark) })
	for i, k := range m.keys {
		if k.n > 0 && m.close(k, mark) {
			m.keys[i] = openSession{}
		}
	}
}

// close counts a session that the watermark closes.
func (m *sessionModel) close(k openSession, mark int64) bool {
	if k.last+m.gap > mark {
		return false
	}
	m.n, m.rows, m.sum, m.most, m.length = m.n+1, m.rows+k.n, m.sum+k.s, max(m.most, k.m), m.length+k.last-k.first+m.gap
	return true
}

func (m *sessionModel) result() []int64 { return []int64{m.n, m.rows, m.sum, m.most, m.length} }

// joinModel keeps the rows of both streams by key while partners may come.
type joinModel struct {
	span       int64
	rows       [2]map[int64][]event
	n, sum, sx int64
}

func (m *joinModel) add(stream int, e event) {
	other := m.rows[1-stream][e.key]
	for _, o := range other {
		l, r := e, o
		if stream == 1 {
			l, r = o, e
		}
		if r.ts >= l.ts && r.ts <= l.ts+m.span {
			m.n++
			m.sum += l.v
			m.sx += r.x
		}
	}
	// What is much older has no partners any more.
	mine := slices.DeleteFunc(m.rows[stream][e.key], func(o event) bool { return o.ts < e.ts-3*m.span })
	m.rows[stream][e.key] = append(mine, e)
}

func (m *joinModel) endEpoch(int64) {}

func (m *joinModel) result() []int64 { return []int64{m.n, m.sum, m.sx} }

// dedupModel knows which ids are remembered, and in which order they are forgotten.
type dedupModel struct {
	delay          int64
	ids            map[int64]struct{}
	first          []event // of each id
	n, sum, sumKey int64
}

func (m *dedupModel) add(_ int, e event) {
	if _, ok := m.ids[e.key]; ok {
		return
	}
	m.ids[e.key] = struct{}{}
	m.first = append(m.first, e)
	m.n++
	m.sum += e.v
	m.sumKey += e.key
}

func (m *dedupModel) endEpoch(mark int64) {
	for len(m.first) > 0 && m.first[0].ts+m.delay <= mark {
		delete(m.ids, m.first[0].key)
		m.first = m.first[1:]
	}
}

func (m *dedupModel) result() []int64 { return []int64{m.n, m.sum, m.sumKey} }

// topModel has the greatest values of each key, descending.
type topModel struct {
	n    int
	keys [][]int64
}

func (m *topModel) add(_ int, e event) {
	top := m.keys[e.key]
	at, _ := slices.BinarySearchFunc(top, e.v, func(x, v int64) int { return int(v - x) })
	if at == m.n {
		return
	}
	top = slices.Insert(top, at, e.v)
	m.keys[e.key] = top[:min(len(top), m.n)]
}

func (m *topModel) endEpoch(int64) {}

func (m *topModel) result() []int64 {
	var n, sum, most int64
	for _, top := range m.keys {
		for _, v := range top {
			n, sum, most = n+1, sum+v, max(most, v)
		}
	}
	return []int64{n, sum, most}
}

// countModel knows which keys came.
type countModel struct {
	seen                 []bool
	keys, rows, sum, max int64
}

func (m *countModel) add(_ int, e event) {
	if !m.seen[e.key] {
		m.seen[e.key] = true
		m.keys++
	}
	m.rows, m.sum, m.max = m.rows+1, m.sum+e.v, max(m.max, e.x)
}

func (m *countModel) endEpoch(int64) {}

func (m *countModel) result() []int64 { return []int64{m.keys, m.rows, m.sum, m.max} }

// meanModel knows the totals of each key.
type meanModel struct{ keys []keyTotal }

type keyTotal struct{ n, sum, max int64 }

func (m *meanModel) add(_ int, e event) {
	k := &m.keys[e.key]
	k.n, k.sum, k.max = k.n+1, k.sum+e.v, max(k.max, e.x)
}

func (m *meanModel) endEpoch(int64) {}

func (m *meanModel) result() []int64 {
	var keys, rows, sum, most, means int64
	for _, k := range m.keys {
		if k.n > 0 {
			keys, rows, sum, most = keys+1, rows+k.n, sum+k.sum, max(most, k.max)
			means += (200*k.sum + k.n) / (2 * k.n) // hundredths of the mean, a half away from zero
		}
	}
	return []int64{keys, rows, sum, most, means, keys}
}
