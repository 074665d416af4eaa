//go:build unix

package over

import (
	"context"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
	"github.com/tidemarkdb/tidemark/state/table"
)

// The table of the comparison: id is unique; one sort key of each kind that RANGE supports.
var (
	pgNames = []string{"id", "i", "n", "f", "t", "v"}
	pgTypes = []types.Type{i8, i8, num, f8, types.Of(types.Timestamp), i4}
)

func numeric(t *testing.T, s string) types.Datum {
	n, err := types.NumParse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n.Datum()
}

// literal is a value in SQL.
func literal(ty types.Type, x any) string {
	d := optest.Datum(x)
	switch {
	case d.Null:
		return "NULL"
	case ty.Kind == types.Numeric:
		return "'" + types.NumDecode(d.B).String() + "'::numeric"
	case ty.Kind == types.Float8:
		return fmt.Sprintf("'%v'::float8", d.F)
	case ty.Kind == types.Timestamp:
		return fmt.Sprintf("timestamp '1970-01-01' + %d * interval '1 second'", d.I/1e6)
	case ty.Kind == types.Interval:
		return fmt.Sprintf("interval '%d seconds'", d.I/1e6)
	}
	return strconv.FormatInt(d.I, 10)
}

func randomTable(t *testing.T, rnd *rand.Rand) []optest.Change {
	var cs []optest.Change
	for id := 0; id < 40; id++ {
		row := optest.Row{id, rnd.Intn(12), numeric(t, strconv.FormatFloat(float64(rnd.Intn(60))/8, 'f', rnd.Intn(4), 64)),
			float64(rnd.Intn(40)) / 4, rnd.Intn(12) * 1e6, rnd.Intn(100)}
		if rnd.Intn(12) == 0 {
			row[2] = numeric(t, []string{"NaN", "Infinity", "-Infinity"}[rnd.Intn(3)])
		}
		for c := 1; c < len(row); c++ {
			if rnd.Intn(8) == 0 {
				row[c] = nil
			}
		}
		cs = append(cs, optest.Change{Row: row, W: 1})
	}
	return cs
}

// pgFrame makes a random frame over sort key column key and its SQL.
func pgFrame(t *testing.T, rnd *rand.Rand, key int) (plan.Frame, string) {
	f := randomFrame(rnd)
	words := make([]string, 2)
	for i, b := range []*plan.FrameBound{&f.Start, &f.End} {
		words[i] = b.Kind
		if b.Offset == nil {
			continue
		}
		if ty := pgTypes[key]; f.Mode == "range" {
			n := rnd.Intn(5)
			switch ty.Kind {
			case types.Numeric:
				b.Offset = optest.Const(num, numeric(t, fmt.Sprintf("%d.25", n)))
			case types.Float8:
				b.Offset = optest.Const(f8, float64(n)/2)
			case types.Timestamp:
				b.Offset = optest.Const(types.Of(types.Interval), types.IntervalDatum(0, 0, int64(n)*1e6))
			}
		}
		c := b.Offset.(*plan.Const)
		words[i] = literal(c.Typ, c.Val) + " " + b.Kind
	}
	sql := fmt.Sprintf("%s BETWEEN %s AND %s", f.Mode, words[0], words[1])
	if f.Exclude != "" {
		sql += " EXCLUDE " + f.Exclude
	}
	return f, sql
}

// pgCalls are the functions that are compared; those that depend on the order of peers only with ROWS, where id decides it.
func pgCalls() (names []string, calls []*plan.OverFunc, ordered []bool) {
	col := func(i int) plan.Expr { return optest.Col(pgTypes, i) }
	add := func(order bool, sql string, f *plan.OverFunc, args ...plan.Expr) {
		names, calls, ordered = append(names, sql), append(calls, with(f, args...)), append(ordered, order)
	}
	aggregate := func(name string, arg int, result types.Type) {
		f := &plan.OverFunc{Typ: result}
		for _, c := range lookup(name, 1) {
			if c.Args[0].Same(pgTypes[arg]) || c.Args[0].Kind >= types.Any {
				f.Fn = c
			}
		}
		add(false, name+"("+pgNames[arg]+")", f, col(arg))
	}
	add(false, "count(*)", overFunc("count", 0, i8))
	aggregate("count", 1, i8)
	aggregate("sum", 5, i8)
	aggregate("sum", 1, num)
	aggregate("sum", 2, num)
	aggregate("sum", 3, f8)
	aggregate("avg", 5, num)
	aggregate("avg", 2, num)
	aggregate("avg", 3, f8)
	for _, c := range []int{1, 2, 3, 4} {
		aggregate("min", c, pgTypes[c])
		aggregate("max", c, pgTypes[c])
	}
	for name, ty := range map[string]types.Type{"rank": i8, "dense_rank": i8, "percent_rank": f8, "cume_dist": f8} {
		add(false, name+"()", overFunc(name, 0, ty))
	}
	add(true, "row_number()", overFunc("row_number", 0, i8))
	add(true, "ntile(7)", overFunc("ntile", 1, i4), optest.Const(i4, 7))
	add(true, "lag(v, 2)", overFunc("lag", 2, i4), col(5), optest.Const(i4, 2))
	add(true, "lead(v)", overFunc("lead", 1, i4), col(5))
	add(true, "first_value(v)", overFunc("first_value", 1, i4), col(5))
	add(true, "last_value(v)", overFunc("last_value", 1, i4), col(5))
	add(true, "nth_value(v, 3)", overFunc("nth_value", 2, i4), col(5), optest.Const(i4, 3))
	return names, calls, ordered
}

// TestPostgres compares random windows with PostgreSQL.
func TestPostgres(t *testing.T) {
	url := pgtest.Start(t)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	rnd := seeded(t)
	in := dataflow.InputTypes{pgTypes}
	for round := 0; round < 60; round++ {
		cs := randomTable(t, rnd)
		var values []string
		for _, c := range cs {
			var parts []string
			for k, x := range c.Row {
				parts = append(parts, literal(pgTypes[k], x))
			}
			values = append(values, "("+strings.Join(parts, ", ")+")")
		}
		key := 1 + rnd.Intn(4)
		frame, frameSQL := pgFrame(t, rnd, key)
		n := &plan.OverWindow{Sort: []plan.SortKey{{X: optest.Col(pgTypes, key), Desc: rnd.Intn(2) == 0, NullsFirst: rnd.Intn(2) == 0}}}
		over := "ORDER BY " + pgNames[key] + map[bool]string{true: " DESC", false: " ASC"}[n.Sort[0].Desc] +
			map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[n.Sort[0].NullsFirst]
		if frame.Mode == "rows" {
			n.Sort = append(n.Sort, plan.SortKey{X: optest.Col(pgTypes, 0)})
			over += ", id"
		}
		if rnd.Intn(2) == 0 {
			n.PartitionBy = []plan.Expr{optest.Op("%", optest.Col(pgTypes, 0), optest.Const(i8, 3))}
			over = "PARTITION BY id % 3 " + over
		}
		names, calls, ordered := pgCalls()
		out := append([]types.Type(nil), pgTypes...)
		var used []string
		sql := "SELECT id"
		for k, f := range calls {
			if ordered[k] && frame.Mode != "rows" {
				continue
			}
			f.Frame, used = frame, append(used, names[k])
			n.Funcs, out = append(n.Funcs, *f), append(out, f.Typ)
			sql += ", " + names[k] + " OVER (" + over + " " + frameSQL + ")"
		}
		sql += " FROM (VALUES " + strings.Join(values, ", ") + ") AS w(" + strings.Join(pgNames, ", ") + ")"
		op, err := New(n, in, table.NewTransient(), 0, &kernel.Env{})
		if err != nil {
			t.Fatal(err)
		}
		r := optest.New(t, op, in, rnd)
		if err := r.Epoch(cs, dataflow.NoWatermark, 0); err != nil {
			t.Fatal(err)
		}
		got := map[string][]string{}
		for row := range r.Total {
			cols := strings.Split(row, "|")
			got[cols[0]] = cols
		}
		compare(t, conn, sql, used, got, out)
	}
}

func compare(t *testing.T, conn *pgx.Conn, sql string, names []string, got map[string][]string, out []types.Type) {
	t.Helper()
	results, err := conn.PgConn().Exec(context.Background(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	for _, row := range results[0].Rows {
		id := string(row[0])
		for k := 1; k < len(row); k++ {
			c := len(pgTypes) + k - 1
			ours, theirs := got[id][c], string(row[k])
			if row[k] == nil {
				theirs = "NULL"
			} else if out[c].Kind == types.Timestamp {
				theirs = fmt.Sprint((int64(theirs[17]-'0')*10 + int64(theirs[18]-'0')) * 1e6)
			} else if out[c].Kind == types.Float8 {
				a, _ := strconv.ParseFloat(ours, 64)
				b, _ := strconv.ParseFloat(theirs, 64)
				ours, theirs = fmt.Sprintf("%.12g", a), fmt.Sprintf("%.12g", b)
			} else if out[c].Kind == types.Numeric && names[k-1][0] == 'm' && ours != "NULL" {
				// Which of equal peers min and max give (1 or 1.0) is arbitrary.
				a, _ := types.NumParse(ours)
				b, _ := types.NumParse(theirs)
				ours, theirs = a.TrimScale().String(), b.TrimScale().String()
			}
			if ours != theirs {
				t.Fatalf("id %s, %s: %s, PostgreSQL says %s\n%s", id, names[k-1], ours, theirs, sql)
			}
		}
	}
}
