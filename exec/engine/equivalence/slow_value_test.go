package equivalence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The slow model computes a chain of operators row by row from the definitions. It shares no code with the engine, keeps every row
// that it ever took in, and computes each operator's answer anew from these rows in every epoch.

// slowVal is a value: NULL, a number, a time in microseconds, or a window from a to b.
type slowVal struct {
	null bool
	a, b int64
}

type slowRow []slowVal

// slowChange is a row that comes (n > 0) or goes (n < 0).
type slowChange struct {
	row slowRow
	n   int
}

type slowKind int

const (
	slowInt slowKind = iota
	slowTime
	slowWindow
)

// slowCol is a column. mark says that it carries the watermark, delay what WITHIN WATERMARK adds to it. lag says of one
// that is marked what may still come at a watermark w: times, or ends of windows, above w - lag.
type slowCol struct {
	name  string
	kind  slowKind
	mark  bool
	delay int64
	lag   int64
}

// due gives the watermark at which a value of the column comes too late.
func (c slowCol) due(v slowVal) int64 { return v.time(c.kind) + max(0, c.lag) }

// markLag is the lag of a column that is marked.
func (c slowCol) markLag() int64 {
	if !c.mark {
		return 0
	}
	return c.lag
}

// markDelay is the delay of a column that is marked.
func (c slowCol) markDelay() int64 {
	if !c.mark {
		return 0
	}
	return c.delay
}

// timeLag is the lag of the column's time, which of a window is its last microsecond.
func (c slowCol) timeLag() int64 {
	if c.kind == slowWindow {
		return c.lag + 1
	}
	return c.lag
}

var slowNull = slowVal{null: true}

func slowNum(x int64) slowVal { return slowVal{a: x} }

// key is a text that only the same rows have.
func (r slowRow) key() string {
	var out strings.Builder
	for _, v := range r {
		if v.null {
			out.WriteString("n,")
		} else {
			fmt.Fprintf(&out, "%d:%d,", v.a, v.b)
		}
	}
	return out.String()
}

func (r slowRow) pick(at []int) slowRow {
	out := make(slowRow, len(at))
	for i, c := range at {
		out[i] = r[c]
	}
	return out
}

func (r slowRow) with(s slowRow) slowRow { return append(append(slowRow(nil), r...), s...) }

func slowNulls(n int) slowRow {
	out := make(slowRow, n)
	for i := range out {
		out[i] = slowNull
	}
	return out
}

// text is the row as the database prints it.
func (r slowRow) text(cols []slowCol) string {
	out := make([]string, len(r))
	for i, v := range r {
		switch {
		case v.null:
			out[i] = nullText
		case cols[i].kind == slowInt:
			out[i] = fmt.Sprint(v.a)
		case cols[i].kind == slowTime:
			out[i] = stamp(v.a)
		default:
			out[i] = fmt.Sprintf(`("%s","%s")`, stamp(v.a), stamp(v.b))
		}
	}
	return rowText(out)
}

// time is the event time of a value of a marked column: of a window its end.
func (v slowVal) time(k slowKind) int64 {
	if k == slowWindow {
		return v.b
	}
	return v.a
}

// compareVals orders values ascending, NULL last.
func compareVals(a, b slowVal) int {
	switch {
	case a.null || b.null:
		return cmp.Compare(boolInt(a.null), boolInt(b.null))
	case a.a != b.a:
		return cmp.Compare(a.a, b.a)
	}
	return cmp.Compare(a.b, b.b)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compareRows(a, b slowRow) int { return slices.CompareFunc(a, b, compareVals) }

// slowBag is a multiset of rows.
type slowBag struct {
	rows map[string]slowRow
	n    map[string]int
}

func newBag() *slowBag { return &slowBag{map[string]slowRow{}, map[string]int{}} }

func (g *slowBag) add(r slowRow, n int) {
	k := r.key()
	g.rows[k] = r
	if g.n[k] += n; g.n[k] == 0 {
		delete(g.n, k)
		delete(g.rows, k)
	}
}

// list gives the rows in order, each as often as it is there. A row that is there less than never is a fault of the model.
func (g *slowBag) list() []slowRow {
	var out []slowRow
	for k, n := range g.n {
		if n < 0 {
			panic("the model has a row less than never")
		}
		for range n {
			out = append(out, g.rows[k])
		}
	}
	slices.SortFunc(out, compareRows)
	return out
}

// since gives what has changed since the contents were old.
func (g *slowBag) since(old *slowBag) []slowChange {
	var out []slowChange
	for k, r := range old.rows {
		if d := g.n[k] - old.n[k]; d != 0 {
			out = append(out, slowChange{r, d})
		}
	}
	for k, r := range g.rows {
		if _, had := old.n[k]; !had {
			out = append(out, slowChange{r, g.n[k]})
		}
	}
	slices.SortFunc(out, func(a, b slowChange) int { return compareRows(a.row, b.row) })
	return out
}
