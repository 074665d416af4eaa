package equivalence

import (
	"fmt"
	"math"
	"sort"
	"time"
)

// event is a row of a stream as the model sees it.
type event struct {
	stream string
	k, x   *int64 // nil: NULL
	ts     *int64 // microseconds since 1970
}

// model computes a view with one aggregation over event-time windows as the rules say, row by row and without any index.
type model struct {
	stream     string
	delay      int64 // of the stream's watermark, microseconds
	size, step int64 // of windows; step 0: a session with gap size
	mode       string
	keyed      bool  // grouped by k as well
	above      int64 // rows with x <= above are filtered out, noFilter: none

	wm     int64 // noMark: none
	open   []*pane
	closed []*pane // closed panes, whose rows stay
	late   [][]string
}

const (
	noMark   = math.MinInt64
	noFilter = math.MinInt64
)

// pane is one group of one window.
type pane struct {
	start, end int64
	key        *int64
	n          int64
	sum, max   *int64
}

func (p *pane) add(x *int64) {
	p.n++
	if x == nil {
		return
	}
	if p.sum == nil {
		s, m := int64(0), *x
		p.sum, p.max = &s, &m
	}
	*p.sum += *x
	*p.max = max(*p.max, *x)
}

// merge adds the rows of q.
func (p *pane) merge(q *pane) {
	p.start, p.end, p.n = min(p.start, q.start), max(p.end, q.end), p.n+q.n
	if q.sum == nil {
		return
	}
	if p.sum == nil {
		p.sum, p.max = q.sum, q.max
		return
	}
	*p.sum += *q.sum
	*p.max = max(*p.max, *q.max)
}

// query is the query that the model computes.
func (m *model) query() string {
	seconds := func(us int64) string { return fmt.Sprintf("%d seconds", us/1_000_000) }
	win, call := "window", fmt.Sprintf("window(ts, '%s', '%s')", seconds(m.size), seconds(m.step))
	if m.step == 0 {
		win, call = "session_window", fmt.Sprintf("session_window(ts, '%s')", seconds(m.size))
	}
	key, group := "NULL::int", call
	if m.keyed {
		key, group = "k", call+", k"
	}
	where := ""
	if m.above != noFilter {
		where = fmt.Sprintf(" WHERE x > %d", m.above)
	}
	return fmt.Sprintf("SELECT %s.start AS ws, %s.end AS we, %s AS k, count(*) AS n, sum(x) AS s, max(x) AS m, window_time(%s) AS wt FROM %s%s GROUP BY %s",
		win, win, key, win, m.stream, where, group)
}

// start forgets all rows.
func (m *model) start() { m.wm, m.open, m.closed, m.late = noMark, nil, nil, nil }

// epoch takes the rows of one epoch, in which the watermark may be advanced as well (noMark: it is not).
func (m *model) epoch(events []event, advance int64) {
	after := max(m.wm, advance)
	for _, e := range events {
		if e.stream != m.stream || e.ts == nil {
			continue
		}
		after = max(after, floorMilli(*e.ts-m.delay))
		if m.above != noFilter && (e.x == nil || *e.x <= m.above) {
			continue
		}
		if m.step == 0 {
			m.session(e)
		} else {
			m.windows(e)
		}
	}
	m.wm = after
	if m.mode == "complete" || after == noMark {
		return
	}
	var still []*pane
	for _, p := range m.open {
		if p.end <= after {
			m.closed = append(m.closed, p)
		} else {
			still = append(still, p)
		}
	}
	m.open = still
}

func floorMilli(us int64) int64 { return us - ((us%1000)+1000)%1000 }

func (m *model) isLate(end int64) bool { return m.mode != "complete" && m.wm != noMark && end <= m.wm }

func (m *model) windows(e event) {
	last := *e.ts - ((*e.ts%m.step)+m.step)%m.step
	for start := last; start > *e.ts-m.size; start -= m.step {
		end := start + m.size
		if m.isLate(end) {
			m.late = append(m.late, []string{stamp(*e.ts), stamp(start), stamp(end), stamp(m.wm)})
			continue
		}
		m.pane(start, end, m.key(e)).add(e.x)
	}
}

func (m *model) key(e event) *int64 {
	if !m.keyed {
		return nil
	}
	return e.k
}

func (m *model) pane(start, end int64, key *int64) *pane {
	for _, p := range m.open {
		if p.start == start && p.end == end && same(p.key, key) {
			return p
		}
	}
	p := &pane{start: start, end: end, key: key}
	m.open = append(m.open, p)
	return p
}

func same(a, b *int64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func (m *model) session(e event) {
	end := *e.ts + m.size
	if m.isLate(end) {
		m.late = append(m.late, []string{stamp(*e.ts), stamp(*e.ts), stamp(end), stamp(m.wm)})
		return
	}
	one := &pane{start: *e.ts, end: end, key: m.key(e)}
	one.add(e.x)
	var rest []*pane
	for _, p := range m.open {
		if same(p.key, one.key) && p.start <= one.end && one.start <= p.end {
			one.merge(p)
		} else {
			rest = append(rest, p)
		}
	}
	m.open = append(rest, one)
}

// contents gives the rows of the view.
func (m *model) contents() []string {
	show := append([]*pane(nil), m.closed...)
	if m.mode != "append" {
		show = append(show, m.open...)
	}
	var out []string
	for _, p := range show {
		out = append(out, rowText([]string{stamp(p.start), stamp(p.end), number(p.key), fmt.Sprint(p.n), number(p.sum), number(p.max), stamp(p.end - 1)}))
	}
	sort.Strings(out)
	return out
}

// lateRows gives the rows recorded as late: event time, window, watermark.
func (m *model) lateRows() []string {
	return sortedRows(&rowset{rows: m.late})
}

func number(x *int64) string {
	if x == nil {
		return nullText
	}
	return fmt.Sprint(*x)
}

// stamp writes a time as PostgreSQL does.
func stamp(us int64) string { return time.UnixMicro(us).UTC().Format("2006-01-02 15:04:05.999999") }
