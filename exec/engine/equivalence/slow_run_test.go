package equivalence

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// slowRun compares views with the slow model.
type slowRun struct {
	refused                map[string]int
	ops                    map[string]int
	epochs, compared, late int
	lateGone               int
	open                   int // comparisons where the model leaves open what is late
}

func (u *slowRun) run(s *scenario) *failure {
	return s.on(func(d *db) *failure {
		return (&slowCase{slowRun: u, s: s, d: d, live: map[string]bool{}, table: map[int64]int64{}, marks: map[string]slowMark{}}).all()
	})
}

type slowCase struct {
	*slowRun
	s     *scenario
	d     *db
	live  map[string]bool
	table map[int64]int64
	marks map[string]slowMark
}

func (x *slowCase) all() *failure {
	for _, r := range x.s.base {
		if f := x.d.create(r); f != nil {
			return f
		}
		x.marks[r.name] = slowMark{r.mark != "", noMark}
	}
	for i := 0; i <= len(x.s.steps); i++ {
		if f := x.step(i); f != nil {
			f.step = i
			return f
		}
	}
	return nil
}

func (x *slowCase) step(i int) *failure {
	for _, v := range x.s.views {
		if v.at == i {
			if f := x.create(v); f != nil {
				return f
			}
		}
	}
	if i == len(x.s.steps) {
		return x.compare()
	}
	st := x.s.steps[i]
	var err error
	switch {
	case st.restart:
		err = x.d.restart()
	case st.crash:
		err = x.d.crash()
	case st.partitions > 0:
		return x.repartition(st.partitions)
	default:
		_, err = x.d.run(st.text())
	}
	if err != nil {
		return failed("step: "+firstWords(err), "%s\n%v", st.text(), err)
	}
	x.epochs++
	if len(st.sql) > 0 {
		x.epoch(st)
	}
	return x.compare()
}

// repartition changes the number of partitions of every view; a server that can't says 0A000.
func (x *slowCase) repartition(n int) *failure {
	for _, v := range x.s.views {
		if !x.live[v.name] {
			continue
		}
		_, err := x.d.run(fmt.Sprintf("ALTER MATERIALIZED VIEW %s SET (state_partitions = %d)", v.name, n))
		if err != nil && sqlState(err) != "0A000" {
			return failed("repartition: "+firstWords(err), "%s: %v", v.name, err)
		}
	}
	return x.compare()
}

// create makes a view, which must be refused where the model says so.
func (x *slowCase) create(v *view) *failure {
	_, err := x.d.run(v.create())
	if sqlState(err) == "0A000" && strings.Contains(v.options, "state_partitions") {
		v.options = v.options[:strings.Index(v.options, ", state_partitions")] + ") "
		_, err = x.d.run(v.create())
	}
	first := v
	if v.slow == nil {
		first = x.s.views[slices.Index(x.s.views, v)-1]
	}
	legal := slowLegal(first.slow.root, first.slow.mode)
	switch {
	case first.slow.inexact && (err == nil) != legal && (err == nil || sqlState(err) == "0A000"):
		x.refused["open: a condition that turns an outer join into another"]++
	case err == nil && !legal:
		return failed("a view was not refused", "%s", v.create())
	case sqlState(err) == "0A000" && !legal:
		x.refused[firstWords(err)]++
	case err != nil:
		return failed("create view: "+firstWords(err), "%s\n%v", v.create(), err)
	default:
		x.live[v.name] = true
	}
	if x.live[v.name] && v.slow != nil {
		for _, o := range v.slow.operators {
			x.ops[strings.TrimPrefix(fmt.Sprintf("%T", o), "*equivalence.slow")]++
		}
		v.slow.take(runSlow(v.slow.root, nil, x.marks))
	}
	return nil
}

func (m *slowView) take(changes []slowChange) {
	for _, c := range changes {
		m.bag.add(c.row, c.n)
	}
}

// epoch runs the model.
func (x *slowCase) epoch(st *step) {
	streams := map[string][]slowChange{}
	was := maps.Clone(x.table)
	for _, e := range st.events {
		if e.stream == "t" {
			if delete(x.table, *e.k); e.x != nil {
				x.table[*e.k] = *e.x
			}
			continue
		}
		row := slowRow{slowNull, slowNull, slowNull}
		for i, v := range []*int64{e.k, e.x, e.ts} {
			if v != nil {
				row[i] = slowNum(*v)
			}
		}
		streams[e.stream] = append(streams[e.stream], slowChange{row, 1})
		if b := x.relation(e.stream); e.ts != nil && b.mark != "" {
			x.advance(e.stream, floorMilli(*e.ts-x.delay(b)))
		}
	}
	for name, to := range st.advance {
		x.advance(name, to)
	}
	for _, kv := range []struct {
		of map[int64]int64
		n  int
	}{{was, -1}, {x.table, 1}} {
		for a, b := range kv.of {
			streams["t"] = append(streams["t"], slowChange{slowRow{slowNum(a), slowNum(b)}, kv.n})
		}
	}
	for _, v := range x.s.views {
		if v.slow != nil && x.live[v.name] {
			v.slow.take(runSlow(v.slow.root, streams, x.marks))
		}
	}
}

func (x *slowCase) relation(name string) *relation {
	return x.s.base[slices.IndexFunc(x.s.base, func(r *relation) bool { return r.name == name })]
}

func (x *slowCase) delay(r *relation) int64 {
	var d int64
	fmt.Sscanf(r.mark[strings.Index(r.mark, "INTERVAL '")+len("INTERVAL '"):], "%d", &d)
	return d * minute
}

func (x *slowCase) advance(name string, to int64) {
	m := x.marks[name]
	m.at = max(m.at, to)
	x.marks[name] = m
}

// compare compares each view with the model, and its late copy too.
func (x *slowCase) compare() *failure {
	for i := 0; i < len(x.s.views); i += 2 {
		first := x.s.views[i]
		for _, v := range x.s.views[i : i+2] {
			if !x.live[v.name] || !x.live[first.name] {
				continue
			}
			if f := x.view(v, first); f != nil {
				return f
			}
		}
	}
	return nil
}

// view compares a view with the model, which the first view of the query has. Where the model leaves open what is late, the view must hold
// what the first one does.
func (x *slowCase) view(v, first *view) *failure {
	m := first.slow
	got, err := x.d.run("SELECT * FROM " + v.name)
	if err != nil {
		return failed("SELECT from view: "+firstWords(err), "%v", err)
	}
	x.compared++
	var want []string
	if m.open {
		x.open++
		of, err := x.d.run("SELECT * FROM " + first.name)
		if err != nil {
			return failed("SELECT from view: "+firstWords(err), "%v", err)
		}
		want = sortedRows(of)
	} else {
		for _, r := range m.bag.list() {
			want = append(want, r.text(m.root.node().cols))
		}
	}
	slices.Sort(want)
	if d := diffLines(sortedRows(got), want, "view", "model"); d != "" {
		return failed("view differs from the model", "%s: %s", v.name, d)
	}
	if m.inexact || m.tables && v.slow == nil {
		return nil
	}
	late, err := x.d.run(fmt.Sprintf("SELECT operator_id, count(*) FROM tidemark.late_rows WHERE view_name = '%s' GROUP BY 1", v.name))
	if err != nil {
		return failed("late rows", "%v", err)
	}
	state, err := x.d.run(fmt.Sprintf("SELECT operator_id, operator_name, num_rows_total FROM tidemark.state_operators WHERE view_name = '%s' ORDER BY 1", v.name))
	if err != nil {
		return failed("state", "%v", err)
	}
	return x.operators(v, m, late, state)
}

// operators compares the numbers of late rows and of rows in state.
func (x *slowCase) operators(v *view, m *slowView, late, state *rowset) *failure {
	counts := map[string]string{}
	for _, r := range late.rows {
		counts[r[0]] = r[1]
	}
	if len(state.rows) != len(m.operators) {
		return failed("the number of operators differs", "%s has %v, the model %d", v.name, sortedRows(state), len(m.operators))
	}
	for i, o := range m.operators {
		b := o.node()
		got, name := counts[fmt.Sprint(i)], state.rows[i][1]
		if got == "" {
			got = "0"
		}
		x.late, x.lateGone = x.late+b.late, x.lateGone+b.lateGone
		if got != fmt.Sprint(b.late) {
			return failed("late rows differ from the model: "+name, "%s: operator %d %s has recorded %s late rows, the model %d", v.name, i, name, got, b.late)
		}
		if n, fixed := o.state(); fixed && state.rows[i][2] != fmt.Sprint(n) {
			return failed("rows in state differ from the model: "+name, "%s: operator %d %s has %s rows in state, the model %d", v.name, i, name, state.rows[i][2], n)
		}
	}
	return nil
}
