package equivalence

import (
	"fmt"
	"strings"
)

// step is one thing that happens: statements of one epoch, or a restart.
type step struct {
	sql     []string // one statement, or a transaction
	restart bool
	crash   bool
	// partitions, if not 0, is the number of state partitions that all views get.
	partitions int
	// What the model needs to know: the rows of streams, in order, and watermarks advanced.
	events  []event
	advance map[string]int64
}

func (s *step) text() string {
	switch {
	case s.restart:
		return "-- restart"
	case s.crash:
		return "-- kill, and open again"
	case s.partitions > 0:
		return fmt.Sprintf("-- ALTER MATERIALIZED VIEW ... SET (state_partitions = %d), of each view", s.partitions)
	case len(s.sql) == 1:
		return s.sql[0] + ";"
	}
	return "BEGIN; " + strings.Join(s.sql, "; ") + "; COMMIT;"
}

// drawStep draws a change of the base relations.
func drawStep(c *choices, base []*relation) *step {
	switch c.weighted(80, 20, 1, 1) {
	case 1:
		s := &step{}
		for range 2 + c.n(3) {
			s.sql = append(s.sql, drawChange(c, base))
		}
		return s
	case 2:
		return &step{restart: true}
	case 3:
		return &step{crash: true}
	}
	return &step{sql: []string{drawChange(c, base)}}
}

func drawChange(c *choices, base []*relation) string {
	r := pick(c, base...)
	what := 0
	if !r.stream {
		what = c.weighted(5, 3, 2)
	}
	g := &generator{c: c, rels: base, flat: c.n(2) == 0}
	scope := g.columns(r, r.name)
	switch what {
	case 1:
		at := c.n(len(r.cols))
		if r.key {
			at = 1 + c.n(len(r.cols)-1)
		}
		set := r.cols[at]
		x := value(c, set.kind, true)
		if c.oneIn(3) {
			x = g.expr(set.kind, scope, 1)
			if set.kind == kNum {
				x = "round((" + x + ") % 1000, 2)" // stay within numeric(10,2)
			}
		}
		return fmt.Sprintf("UPDATE %s SET %s = %s WHERE %s", r.name, set.name, x, g.expr(kBool, scope, 1))
	case 2:
		return fmt.Sprintf("DELETE FROM %s WHERE %s", r.name, g.expr(kBool, scope, 1))
	}
	if !r.key && c.oneIn(6) {
		from := pick(c, base...)
		fs := g.columns(from, "f")
		var items []string
		for _, col := range r.cols {
			x := g.expr(col.kind, fs, 1)
			if col.kind == kNum {
				x = "round((" + x + ") % 1000, 2)" // stay within numeric(10,2)
			}
			items = append(items, x)
		}
		// Only few rows, so that the relations stay small.
		return fmt.Sprintf("INSERT INTO %s SELECT %s FROM %s f WHERE f.a = %d AND %s", r.name, strings.Join(items, ", "), from.name, c.n(9), g.pred(fs, 1))
	}
	var rows []string
	for range 1 + c.n(6) {
		var vals []string
		for i, col := range r.cols {
			if r.key && i == 0 {
				vals = append(vals, fmt.Sprint(c.n(40)))
				continue
			}
			vals = append(vals, value(c, col.kind, true))
		}
		rows = append(rows, "("+strings.Join(vals, ", ")+")")
	}
	if !r.key {
		return fmt.Sprintf("INSERT INTO %s VALUES %s", r.name, strings.Join(rows, ", "))
	}
	if c.oneIn(2) {
		// A statement may not hit a row twice, so this one has one row.
		last := r.cols[len(r.cols)-1].name
		return fmt.Sprintf("INSERT INTO %s VALUES %s ON CONFLICT (a) DO UPDATE SET %s = excluded.%s", r.name, rows[0], last, last)
	}
	return fmt.Sprintf("INSERT INTO %s VALUES %s ON CONFLICT DO NOTHING", r.name, strings.Join(rows, ", "))
}
