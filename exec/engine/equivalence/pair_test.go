package equivalence

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPairsEqualQuery is promise 4 for every pair of operators chained (pair_query_test.go, TestEveryPairPlanned): views of them over streams
// and a table that change, in either output mode, through restarts, must equal their queries run afresh, in append mode when all watermarks are past all rows; and
// a copy that is made at the end must equal the first.
func TestPairsEqualQuery(t *testing.T) {
	run := &pairRun{refused: map[string]int{}}
	var seeds []uint64
	for i := range uint64(pairParts()) {
		seeds = append(seeds, i)
	}
	if testing.Short() {
		seeds = seeds[:3]
	}
	search(t, 0, seeds, func(seed uint64) *recipe {
		part := int(seed % uint64(pairParts()))
		return newRecipe(seed, pairsPerCase, 9, func(r *recipe, source func(part, i int) *choices) { drawPairs(r, source, part) }).withPart(part)
	}, func(r *recipe) *scenario { return drawPairs(r, r.replay, r.part) }, run.run)
	t.Logf("%d views, %d comparisons, %d with the query run afresh", run.views, run.compared, run.checked)
	for m, n := range run.refused {
		t.Logf("%5d %s", n, m)
	}
}

// withPart notes which part of the pairs the case has.
func (r *recipe) withPart(part int) *recipe {
	r.part = part
	return r
}

// pairRun runs the cases of pairs.
type pairRun struct {
	refused                  map[string]int
	views, compared, checked int
}

func (u *pairRun) run(s *scenario) *failure {
	return s.on(func(d *db) *failure {
		return (&pairCase{pairRun: u, s: s, d: d, had: map[string]*rowset{}, out: map[string]bool{}}).all()
	})
}

type pairCase struct {
	*pairRun
	s     *scenario
	d     *db
	live  []*view
	had   map[string]*rowset // of append views: their rows at the comparison before
	out   map[string]bool    // views that are no longer compared
	ended bool
}

func (x *pairCase) all() *failure {
	for _, r := range x.s.base {
		if f := x.d.create(r); f != nil {
			return f
		}
	}
	if _, err := x.d.run(pairProcessor); err != nil {
		return failed("create "+sqlState(err), "%v", err)
	}
	for _, v := range x.s.views {
		if f := x.create(v); f != nil {
			return f
		}
	}
	for i, st := range x.s.steps {
		var err error
		switch {
		case st.restart:
			err = x.d.restart()
		case st.crash:
			err = x.d.crash()
		default:
			_, err = x.d.run(st.text())
		}
		if err != nil {
			return failed("step: "+firstWords(err), "%s\n%v", st.text(), err)
		}
		if i%3 == 2 {
			if f := x.compare(); f != nil {
				f.step = i
				return f
			}
		}
	}
	f := x.end()
	if f != nil {
		f.step = len(x.s.steps)
	}
	return f
}

// create makes a view; what is refused in append mode is made in update mode.
func (x *pairCase) create(v *view) *failure {
	_, err := x.d.run(v.create())
	if sqlState(err) == "0A000" && strings.Contains(v.options, "append") {
		v.options = ""
		_, err = x.d.run(v.create())
	}
	switch {
	case sqlState(err) == "0A000":
		x.refused[firstWords(err)]++
		return nil
	case err != nil:
		return failed("create view: "+firstWords(err), "%s\n%v", v.create(), err)
	}
	x.views++
	x.live = append(x.live, v)
	return nil
}

// compare compares all views with their queries.
func (x *pairCase) compare() *failure {
	late, err := x.d.run("SELECT DISTINCT view_name FROM tidemark.late_rows UNION SELECT relation FROM tidemark.dead_letters")
	if err != nil {
		return failed("late rows: "+firstWords(err), "%v", err)
	}
	for _, r := range late.rows {
		x.out[r[0]] = true // what was late or failed is not in the view
	}
	for _, v := range x.live {
		rows, err := x.d.run("SELECT * FROM " + v.name)
		if err != nil {
			return failed("SELECT from view: "+firstWords(err), "%s\n%v", v.create(), err)
		}
		x.compared++
		if strings.Contains(v.options, "append") {
			if before := x.had[v.name]; before != nil {
				if d := onlyIn(differences(before, rows, "before", "after", 0), "before"); d != "" {
					return failed("a row of an append view is gone", "%s\n%s", v.create(), d)
				}
			}
			x.had[v.name] = rows
		}
		if v.unlike || x.out[v.name] {
			continue
		}
		if f := x.afresh(v, rows); f != nil {
			return f
		}
	}
	return nil
}

func (x *pairCase) afresh(v *view, rows *rowset) *failure {
	query := v.query
	if v.pairLeaf {
		query = query[strings.Index(query, "AS ")+3:]
	}
	q, err := x.d.run(query)
	if err != nil {
		return failed("SELECT fails: "+firstWords(err), "%s\n%v", query, err)
	}
	x.checked++
	d := differences(rows, q, "view", "query", 0)
	if strings.Contains(v.options, "append") {
		d = wrong(d, x.ended)
	}
	if len(d) > 0 {
		return failed("view differs from its query", "%s\n%s", v.create(), strings.Join(d[:min(len(d), 12)], "\n"))
	}
	return nil
}

// wrong keeps the lines of a diff of an append view and its query that are faults. Before the end the view may lack rows, and a group without event time
// is never final.
func wrong(lines []string, ended bool) []string {
	return slices.DeleteFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "only in query:") && (!ended || strings.HasSuffix(l, ", NULL)"))
	})
}

// overContents finds a view or table that a query reads.
var overContents = regexp.MustCompile(`\b(v0|v1|t)\b`)

// end moves all watermarks past all rows, compares, and then makes every view again and compares the two.
func (x *pairCase) end() *failure {
	for _, r := range x.s.base {
		if r.stream {
			if _, err := x.d.run(fmt.Sprintf("ADVANCE WATERMARK OF %s TO '2030-01-01'", r.name)); err != nil {
				return failed("advance: "+firstWords(err), "%v", err)
			}
		}
	}
	x.ended = true
	if f := x.compare(); f != nil {
		return f
	}
	for _, v := range x.live {
		if v.unlike && overContents.MatchString(v.query) {
			continue // it gets a view's or a table's contents at once
		}
		again := *v
		again.name = v.name + "_late"
		if _, err := x.d.run(again.create()); err != nil {
			return failed("create view again: "+firstWords(err), "%s\n%v", again.create(), err)
		}
		a, err := x.d.run("SELECT * FROM " + v.name)
		if err != nil {
			return failed("SELECT from view: "+firstWords(err), "%v", err)
		}
		b, err := x.d.run("SELECT * FROM " + again.name)
		if err != nil {
			return failed("SELECT from view: "+firstWords(err), "%v", err)
		}
		if d := diff(a, b, "view", "copy", 0); d != "" {
			return failed("contents depend on when the view was created", "%s\n%s", v.create(), d)
		}
	}
	return nil
}
