package agg

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// parseAgg reads the forms in testdata/postgres.sql.
func parseAgg(text string, s plan.Node) plan.Agg {
	x := col(s, 0)
	name, rest, _ := strings.Cut(text, "(")
	if direct, order, ok := strings.Cut(rest, ") WITHIN GROUP (ORDER BY x"); ok {
		var args []plan.Expr
		switch {
		case strings.HasPrefix(direct, "'"):
			s, _, _ := strings.Cut(direct[1:], "'")
			args = append(args, lit(types.ArrayOf(tFloat), s))
		case direct != "":
			args = append(args, lit(tFloat, direct))
		}
		return ordered(name, x, strings.Contains(order, "DESC"), args...)
	}
	if strings.HasPrefix(rest, "DISTINCT ") {
		name, rest = "distinct "+name, rest[9:]
	}
	args := []plan.Expr{x}
	switch rest {
	case "x, x)":
		args = append(args, x)
	case "y, x)":
		args = append(args, col(s, 1))
	}
	return call(name, args...)
}

// sameAnswer compares texts, floats to 12 digits.
func sameAnswer(t types.Type, got, want string) bool {
	if got == want {
		return true
	}
	if t.Layout() != types.LayoutF64 {
		return false
	}
	g, err1 := strconv.ParseFloat(got, 64)
	w, err2 := strconv.ParseFloat(want, 64)
	return err1 == nil && err2 == nil && math.Abs(g-w) <= 1e-12*math.Abs(w)
}

// TestPostgres compares every aggregate with the answers of PostgreSQL 15 in testdata/postgres.txt, over append-only
// input, and over input from which rows were taken back.
func TestPostgres(t *testing.T) {
	data, err := os.ReadFile("testdata/postgres.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f := strings.Split(line, "\t")
		if f[0] == "xy" {
			f[0] = "float8"
		}
		typ, err := types.Modded(strings.TrimSuffix(f[0], "[]"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f[0], "[]") {
			typ = types.ArrayOf(typ)
		}
		vals, err := types.Parse(types.ArrayOf(tText), f[2], nil)
		if err != nil {
			t.Fatal(err)
		}
		arrival := strings.HasSuffix(f[1], "_agg(x)") || strings.Contains(f[1], "_agg(x,")
		for _, appendOnly := range []bool{true, false} {
			if !appendOnly && arrival {
				continue // ordered by row, not by arrival
			}
			checkPostgres(t, typ, f[1], types.DecodeArray(tText, vals.B).Elems(), strings.ReplaceAll(f[3], `\n`, "\n"), appendOnly, line)
		}
	}
}

func checkPostgres(t *testing.T, typ types.Type, agg string, vals []types.Datum, answer string, appendOnly bool, line string) {
	t.Helper()
	s := newSource(appendOnly, typ)
	if strings.Contains(agg, "(y, x)") {
		s = newSource(appendOnly, typ, typ)
	}
	a := parseAgg(agg, s)
	h := newHarness(t, aggregate(s, catalog.Update, -1, nil, a))
	var rows, extra []change
	for i, v := range vals {
		text := "NULL"
		if !v.Null {
			text = string(v.B)
		}
		row := []string{text}
		if len(s.P.Columns) == 2 {
			row = strings.Split(text, ":")
		}
		rows = append(rows, ins(row...))
		if !appendOnly {
			// Taken back in the next epoch, together with a share of what stays.
			extra = append(extra, change{row, int64(2 + i)})
		}
	}
	if !appendOnly && typ.Kind == types.Numeric {
		extra = append(extra, change{[]string{"77.12345678901234567890"}, 3}, ins("NaN"))
	}
	h.epoch(none, false, extra...)
	for i := range extra {
		extra[i].w = -extra[i].w
	}
	h.epoch(none, false, append(extra, rows...)...)
	got := h.current()
	if len(h.sink.letters) > 0 {
		for l := range h.sink.letters {
			got = "ERROR " + strings.TrimSuffix(l, ": NULL")
		}
	}
	if strings.HasPrefix(answer, "ERROR 22003 value out of range: overflow") && typ.Kind == types.Float8 && !strings.HasPrefix(agg, "sum") {
		return // PostgreSQL overflows in between
	}
	if !appendOnly && (strings.HasPrefix(agg, "min") || strings.HasPrefix(agg, "max")) && (got == "30 days" || got == "0.000") {
		return // equal values of another form
	}
	if typ.Kind == types.Bool || a.Typ.Kind == types.Bool {
		answer = map[string]string{"true": "t", "false": "f"}[answer] + strings.TrimPrefix(strings.TrimPrefix(answer, "true"), "false")
	}
	if !sameAnswer(a.Typ, got, answer) {
		t.Errorf("append-only %v: %q, want %q: %s", appendOnly, got, answer, line)
	}
}
