package equivalence

import (
	"fmt"
	"strings"
)

// scenario is a case as drawn: what a recipe says.
type scenario struct {
	base  []*relation
	views []*view
	steps []*step
}

// view is a view to make before step at (len(steps): after the last).
type view struct {
	name, query string // query may be dual
	options     string // WITH (...) of CREATE MATERIALIZED VIEW, with a blank after it
	at          int
	model       *model // how a slow model computes it, if one does
}

func (v *view) create() string {
	return fmt.Sprintf("CREATE MATERIALIZED VIEW %s %sAS %s", v.name, v.options, tidemark(v.query))
}

// drawUpdate draws a case without late rows.
func drawUpdate(r *recipe, source func(part, i int) *choices) *scenario {
	s := &scenario{base: drawSchema(source(partSchema, 0))}
	rels := append([]*relation(nil), s.base...)
	at := 0
	for i := range r.views {
		c := source(partView, i)
		if c.n(2) == 1 { // created amid the data, never before a view that it may read
			at = max(at, c.n(len(r.steps)+1))
		}
		g := &generator{c: c, rels: rels}
		q, cols := g.query(nil, 1+c.n(3))
		v := &view{name: fmt.Sprintf("v%d", i), query: q, at: at}
		s.views = append(s.views, v)
		// A view that only reads base relations at times, so that chains of them are as frequent as views side by side.
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
		line("-- afresh: %s;", tidemark(v.query))
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
