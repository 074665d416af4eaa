package equivalence

import (
	"fmt"
	"strings"
)

// scenario is a case as drawn: what a recipe says.
type scenario struct {
	opts  engineOptions
	base  []*relation
	views []*view
	steps []*step
	// nullTimes says that there may be rows without event time.
	nullTimes bool
}

// view is a view to make before step at (len(steps): after the last).
type view struct {
	name, query string // query may be dual
	options     string // WITH (...) of CREATE MATERIALIZED VIEW, with a blank after it
	at          int
	model       *model    // how a slow model computes it, if one does
	slow        *slowView // how the model of chained operators computes it, if it does
	// fresh is the query to compare with where it is not query itself: of a view with dead letters, the query without the rows that
	// fail, of which letters gives the number.
	fresh, letters string
	// unlike says that the view means a sequence of epochs, so that its query run afresh is no measure.
	unlike bool
	// unfinished says that a view in append mode never shows some rows of its query: a full join needs only one of its sides bounded
	// (reference 5.2), and the other's rows without a match are never known to have none.
	unfinished bool
	// pairLeaf says that query has the options and AS too.
	pairLeaf bool
}

// afresh is the query whose answer the view must equal.
func (v *view) afresh() string {
	if v.fresh != "" {
		return v.fresh
	}
	return v.query
}

func (v *view) create() string {
	if v.pairLeaf {
		return fmt.Sprintf("CREATE MATERIALIZED VIEW %s %s", v.name, v.query)
	}
	return fmt.Sprintf("CREATE MATERIALIZED VIEW %s %sAS %s", v.name, v.options, tidemark(v.query))
}

// drawUpdate draws a case without late rows.
func drawUpdate(r *recipe, source func(part, i int) *choices) *scenario {
	c := source(partSchema, 0)
	s := &scenario{base: drawSchema(c)}
	s.opts = drawOptions(c)
	rels := append([]*relation(nil), s.base...)
	at := 0
	for i := range r.views {
		c := source(partView, i)
		if c.n(2) == 1 { // created amid the data, never before a view that it may read
			at = max(at, c.n(len(r.steps)+1))
		}
		g := &generator{c: c, rels: rels}
		v := &view{name: fmt.Sprintf("v%d", i), at: at}
		var cols []column
		if c.oneIn(10) {
			cols = g.failing(v)
		} else {
			v.query, cols = g.query(nil, 1+c.n(3))
		}
		if c.oneIn(3) {
			v.options = fmt.Sprintf("WITH (state_partitions = %d) ", pick(c, 1, 2, 3, 4, 8))
		}
		s.views = append(s.views, v)
		rels = append(rels, &relation{name: v.name, cols: cols})
	}
	for i := range r.steps {
		s.steps = append(s.steps, drawStep(source(partStep, i), s.base))
	}
	return s
}

// script prints the case as statements to paste.
func (s *scenario) script() string {
	var out strings.Builder
	line := func(f string, args ...any) { fmt.Fprintf(&out, f+"\n", args...) }
	line("-- %+v", s.opts)
	for _, r := range s.base {
		line("%s;", tidemark(r.ddl()))
	}
	for i := 0; i <= len(s.steps); i++ {
		for _, v := range s.views {
			if v.at == i {
				line("%s;", v.create())
			}
		}
		if i < len(s.steps) {
			line("%s", s.steps[i].text())
		}
	}
	for _, v := range s.views {
		line("SELECT * FROM %s;", v.name)
		line("-- afresh: %s;", tidemark(v.afresh()))
	}
	return out.String()
}

// failure is what went wrong. Shrinking keeps its class.
type failure struct {
	class, detail string
	step          int
}

func (f *failure) String() string {
	return fmt.Sprintf("%s (after step %d)\n%s", f.class, f.step, f.detail)
}

func failed(class, format string, args ...any) *failure {
	return &failure{class: class, detail: fmt.Sprintf(format, args...)}
}
