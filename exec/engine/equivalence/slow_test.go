package equivalence

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSlowModel compares views of random chains of operators with the slow model after every epoch: what they hold, how many rows were late
// for each operator, and how many rows each has in state where the definition fixes it. A second copy of each view, made later, must
// come to the same.
func TestSlowModel(t *testing.T) {
	run := &slowRun{refused: map[string]int{}, ops: map[string]int{}}
	search(t, 10*time.Second, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, func(seed uint64) *recipe {
		return newRecipe(seed, 1+int(seed%3), 8+int(seed%5)*5, func(r *recipe, source func(part, i int) *choices) { drawSlow(r, source) })
	}, func(r *recipe) *scenario { return drawSlow(r, r.replay) }, run.run)
	t.Logf("%d epochs, %d comparisons of views, %d of them with each other, %d late rows, %d of them to be taken away, operators %v; refused, as the model says:", run.epochs, run.compared, run.open, run.late, run.lateGone, run.ops)
	for m, n := range run.refused {
		t.Logf("%5d %s", n, m)
	}
}

// slowView is the model's side of a view.
type slowView struct {
	root      slowNode
	mode      string
	inexact   bool
	tables    bool
	open      bool       // slowOpen
	operators []slowNode // stateful ones from the root down
	bag       *slowBag   // contents
}

func drawSlow(r *recipe, source func(part, i int) *choices) *scenario {
	c := source(partSchema, 0)
	s := &scenario{nullTimes: true}
	delays := map[string]int64{}
	for _, name := range []string{"s0", "s1", "s2", "u0"} {
		rel := &relation{name: name, stream: true, time: "ts", cols: []column{{"k", kInt}, {"x", kInt}, {"ts", kTS}}}
		if name != "u0" {
			d := pick(c, 10, 0, 5, 30)
			delays[name] = int64(d) * minute
			rel.mark = fmt.Sprintf(", WATERMARK FOR ts AS ts - INTERVAL '%d minutes'", d)
		}
		s.base = append(s.base, rel)
	}
	s.base = append(s.base, &relation{name: "t", key: true, cols: []column{{"a", kInt}, {"b", kInt}}})
	s.opts = drawOptions(c)
	calm := c.n(3) == 2
	for i := range r.views {
		vc := source(partView, i)
		v := drawSlowView(vc, fmt.Sprintf("v%d", i), delays)
		s.views = append(s.views, v, &view{name: v.name + "_late", query: v.query, options: v.options, at: vc.n(len(r.steps) + 1)})
	}
	for i := range r.steps {
		s.steps = append(s.steps, drawSlowStep(source(partStep, i), i, calm))
	}
	return s
}

func drawSlowView(c *choices, name string, delays map[string]int64) *view {
	mode := pick(c, "append", "update", "append", "update", "complete")
	policy := pick(c, "min", "min", "min", "max")
	depth := 1 + c.weighted(3, 4, 4)
	free := c.oneIn(10) // any query, legal or not
	var g *slowGen
	var root slowNode
	for try := 0; ; try++ {
		if try == 8 {
			mode = "update"
		}
		g = &slowGen{c: c, mode: mode, policy: policy, delays: delays}
		if root = nil; try == 0 && c.oneIn(8) {
			mode, policy = "update", "max"
			g.mode, g.policy = mode, policy
			root = g.overtaken()
		} else {
			root = g.tree(depth)
		}
		if _, scan := root.(*slowScan); !scan && (free || slowLegal(root, mode)) {
			break
		}
		if try > 12 {
			break
		}
	}
	slowReads(root, allOf(root.node().cols))
	m := &slowView{root: root, mode: mode, inexact: g.inexact, tables: g.tables, open: mode != "append" && slowOpen(root), bag: newBag()}
	var list func(n slowNode)
	list = func(n slowNode) {
		if n.node().stateful {
			m.operators = append(m.operators, n)
		}
		for _, in := range n.node().ins {
			list(in)
		}
	}
	list(root)
	opts := []string{fmt.Sprintf("output_mode = '%s'", mode)}
	if policy != "min" {
		opts = append(opts, "watermark_policy = 'max'")
	}
	if c.oneIn(4) {
		opts = append(opts, fmt.Sprintf("state_partitions = %d", 1+c.n(4)))
	}
	return &view{name: name, query: root.sql(), options: "WITH (" + strings.Join(opts, ", ") + ") ", slow: m}
}

// drawSlowStep draws what happens at step i.
func drawSlowStep(c *choices, i int, calm bool) *step {
	st := &step{advance: map[string]int64{}}
	switch c.weighted(30, 1, 1, 1, 1) {
	case 1:
		st.restart = true
		return st
	case 2:
		st.crash = true
		return st
	case 3:
		name := pick(c, "s0", "s1", "s2")
		st.advance[name] = epoch0 + int64(i)*5*minute + int64(c.n(20)-10)*minute
		st.sql = append(st.sql, fmt.Sprintf("ADVANCE WATERMARK OF %s TO '%s'", name, stamp(st.advance[name])))
		return st
	case 4:
		st.partitions = 1 + c.n(4)
		return st
	}
	for range 1 + c.weighted(4, 3, 2) {
		if c.oneIn(8) {
			drawSlowTable(c, st)
			continue
		}
		drawSlowRows(c, st, pick(c, "s0", "s1", "s2", "s0", "s1", "u0"), i, calm)
	}
	return st
}

func drawSlowTable(c *choices, st *step) {
	a, b := int64(c.n(5)-1), int64(c.n(3))
	e := event{stream: "t", k: &a, x: &b}
	if c.n(3) == 2 {
		e.x = nil // deleted
		st.sql = append(st.sql, fmt.Sprintf("DELETE FROM t WHERE a = %d", a))
	} else {
		st.sql = append(st.sql, fmt.Sprintf("INSERT INTO t VALUES (%d, %d) ON CONFLICT (a) DO UPDATE SET b = excluded.b", a, b))
	}
	st.events = append(st.events, e)
}

func drawSlowRows(c *choices, st *step, stream string, i int, calm bool) {
	var rows []string
	var last *event
	for range 1 + c.n(5) {
		e := event{stream: stream}
		if last != nil && c.oneIn(6) {
			e = *last // the same row again
		} else {
			for _, p := range []**int64{&e.k, &e.x} {
				if !c.oneIn(9) {
					v := int64(c.n(4) - c.n(2))
					*p = &v
				}
			}
			if !c.oneIn(15) {
				back := c.n(2) * c.n(8) * 8
				if calm {
					back /= 8
				}
				ts := epoch0 + int64(i)*5*minute + int64(c.n(6)-back)*minute + pick(c, int64(0), 0, 0, 500, 1, minute-1, 999_999, 1000)
				e.ts = &ts
			}
		}
		last = &e
		st.events = append(st.events, e)
		ts := "NULL"
		if e.ts != nil {
			ts = "'" + stamp(*e.ts) + "'"
		}
		rows = append(rows, fmt.Sprintf("(%s, %s, %s)", sqlNumber(e.k), sqlNumber(e.x), ts))
	}
	st.sql = append(st.sql, fmt.Sprintf("INSERT INTO %s VALUES %s", stream, strings.Join(rows, ", ")))
}

func sqlNumber(x *int64) string {
	if x == nil {
		return "NULL"
	}
	return fmt.Sprint(*x)
}

// slowLegal says whether a view of a tree can have the mode of the tree.
func slowLegal(n slowNode, mode string) bool {
	switch mode {
	case "append":
		if j, ok := n.(*slowJoin); ok && j.kind == "SEMI" && !j.outerFinal() {
			return false
		}
		return n.node().final && !slices.ContainsFunc(n.node().ins, func(c slowNode) bool { return !slowLegal(c, mode) })
	case "complete":
		switch n.(type) {
		case *slowAgg, *slowSession:
			return true
		}
		return slices.ContainsFunc(n.node().ins, func(c slowNode) bool { return slowLegal(c, mode) })
	}
	return true
}
