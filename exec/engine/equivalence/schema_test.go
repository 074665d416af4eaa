package equivalence

import (
	"fmt"
	"strings"
)

// kind is a column's type as the generator knows it: expressions of one kind have one type in both systems.
type kind int

const (
	kInt kind = iota
	kBig
	kText
	kNum
	kDbl
	kTS
	kBool
	kArr // result of array_agg: shown and ordered, not computed with
)

var kindNames = []string{"int", "bigint", "text", "numeric", "double precision", "timestamp", "boolean"}

type column struct {
	name string
	kind kind
}

// relation is what a FROM item can name: a stream, a table, a view or a CTE.
type relation struct {
	name   string
	cols   []column
	stream bool
	key    bool   // a table whose first column is its primary key
	time   string // a stream's column with a watermark, if any
	mark   string // watermark clause
}

// schema draws the base relations. delays are the watermark delays to choose from; the first is for streams without late rows.
func drawSchema(c *choices) []*relation {
	var out []*relation
	for i := range 1 + c.n(3) {
		r := &relation{name: fmt.Sprintf("b%d", i)}
		shape := c.weighted(3, 3, 2) // table with key, stream, table without key
		r.stream, r.key = shape == 1, shape == 0
		r.cols = append(r.cols, column{"a", kInt})
		for k := range 1 + c.n(4) {
			r.cols = append(r.cols, column{string(rune('b' + k)), kind(c.n(int(kArr)))})
		}
		if shape == 1 && c.n(2) == 1 {
			r.cols = append(r.cols, column{"ts", kTS})
			r.time, r.mark = "ts", ", WATERMARK FOR ts AS ts - INTERVAL '1000 days'"
		}
		out = append(out, r)
	}
	return out
}

// ddl gives the statement that makes the relation, for either system (see dual).
func (r *relation) ddl() string {
	var cols []string
	for i, c := range r.cols {
		s := c.name + " " + kindNames[c.kind]
		if c.kind == kNum {
			s += "(10,2)"
		}
		if i == 0 && r.key {
			s += " PRIMARY KEY"
		}
		cols = append(cols, s)
	}
	what := "TABLE"
	if r.stream {
		what = dual("STREAM", "TABLE")
	}
	return fmt.Sprintf("CREATE %s %s (%s%s)", what, r.name, strings.Join(cols, ", "), dual(r.mark, ""))
}

// dual gives text that differs between Tidemark and PostgreSQL; parts may contain dual text.
func dual(tidemark, postgres string) string { return "\x01" + tidemark + "\x02" + postgres + "\x03" }

// tidemark and postgres resolve dual text for one system.
func tidemark(s string) string { return resolve(s, false) }
func postgres(s string) string { return resolve(s, true) }

func resolve(s string, second bool) string {
	var out strings.Builder
	side := []bool{} // for each open part: whether its second half is being read
	hidden := 0      // how many of the open parts are at the half that is not wanted
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case 1:
			side = append(side, false)
			if second {
				hidden++
			}
		case 2:
			side[len(side)-1] = true
			if second {
				hidden--
			} else {
				hidden++
			}
		case 3:
			if side[len(side)-1] != second {
				hidden--
			}
			side = side[:len(side)-1]
		default:
			if hidden == 0 {
				out.WriteByte(s[i])
			}
		}
	}
	return out.String()
}

// value draws a literal of a kind, from a small domain so that rows meet.
func value(c *choices, k kind, null bool) string {
	if null && c.oneIn(7) {
		return "NULL"
	}
	switch k {
	case kInt:
		return fmt.Sprint(c.n(9) - c.n(2)*4)
	case kBig:
		return fmt.Sprint((c.n(9) - c.n(2)*4) * pick(c, 1, 1, 1_000_000_000))
	case kText:
		return pick(c, "'a'", "'b'", "'ab'", "''", "'B c'", "'ä'", "'abc'", "'eight by'", "'of sixteen bytes'", "'of sixteen bytes and more, and no'")
	case kNum:
		return pick(c, "1.00", "2.50", "0.00", "-1.25", "10.10", "99.99", "0.01", "'NaN'")
	case kDbl:
		return pick(c, "1", "0.5", "0", "-2.25", "1e10", "3.125", "-7", "'NaN'", "'Infinity'", "'-Infinity'")
	case kTS:
		return fmt.Sprintf("'2024-01-01 %02d:%02d:%02d'", c.n(3), c.n(12)*5, pick(c, 0, 0, 30, 59))
	case kBool:
		return pick(c, "true", "false")
	}
	return "NULL"
}
