package kernel

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// The files in testdata hold expressions, one a line, each followed by PostgreSQL 15's answer:
//
//	= type "text"     or  = type NULL  or  = no rows
//	! SQLSTATE message
//
// A line "# timezone X" changes the time zone for what follows; other lines with # are comments. To fill the
// answers again after adding expressions, run against a real server with the C locale:
//
//	go test -run Golden -pg 'host=localhost user=postgres' ./exec/kernel
var pgDSN = flag.String("pg", "", "connection string of a PostgreSQL 15 that fills the golden files")

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) { goldenFile(t, name) })
	}
}

func goldenFile(t *testing.T, name string) {
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var c *pgconn.PgConn
	if *pgDSN != "" {
		if c, err = pgconn.Connect(context.Background(), *pgDSN); err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
	}
	env := *types.DefaultEnv()
	var out bytes.Buffer
	expr := ""
	lines := bufio.NewScanner(bytes.NewReader(src))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case line == "" || line[0] == '#':
			if zone, ok := strings.CutPrefix(line, "# timezone "); ok {
				if env.Location, err = types.ParseZoneSetting(zone); err != nil {
					t.Fatal(err)
				}
				if c != nil {
					ask(t, c, "SET timezone = '"+zone+"'")
				}
			}
			fmt.Fprintln(&out, line)
		case line[0] == '=' || line[0] == '!':
			if c == nil {
				if got := answer(expr, &env); got != line && !sameFloat(got, line) {
					t.Errorf("%s:%d: %s\n got %s\nwant %s", name, n, expr, got, line)
				}
			}
		default:
			expr = line
			fmt.Fprintln(&out, line)
			if c != nil {
				fmt.Fprintln(&out, ask(t, c, "SELECT pg_typeof(x), x FROM (SELECT "+expr+") AS s(x)"))
			}
		}
	}
	if c != nil && !bytes.Equal(out.Bytes(), src) {
		if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// sameFloat allows for the last digits of a C library's transcendental functions.
func sameFloat(a, b string) bool {
	var x, y float64
	const form = "= double precision \"%g\""
	if _, err := fmt.Sscanf(a, form, &x); err != nil {
		return false
	}
	if _, err := fmt.Sscanf(b, form, &y); err != nil {
		return false
	}
	return math.Abs(x-y) <= 4e-16*math.Abs(y)
}

// ask gives PostgreSQL's answer.
func ask(t *testing.T, c *pgconn.PgConn, sql string) string {
	t.Helper()
	rs, err := c.Exec(context.Background(), sql).ReadAll()
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return fmt.Sprintf("! %s %s", pe.Code, pe.Message)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !rs[0].CommandTag.Select() {
		return ""
	}
	if len(rs[0].Rows) == 0 {
		return "= no rows"
	}
	var typ, all string
	for _, row := range rs[0].Rows {
		typ = string(row[0])
		if row[1] == nil {
			all += " NULL"
		} else {
			all += fmt.Sprintf(" %q", row[1])
		}
	}
	return "= " + typ + all
}

// answer gives ours.
func answer(expr string, env *types.Env) (out string) {
	defer func() {
		if r := recover(); r != nil {
			out = fmt.Sprintf("panic: %v", r)
		}
	}()
	fail := func(err error) string {
		e := sqlerr.From(err)
		return fmt.Sprintf("! %s %s", e.Code, e.Message)
	}
	e, err := bindText(expr, env, nil, nil)
	if err != nil {
		return fail(err)
	}
	kenv := &Env{Session: env}
	if c, ok := e.(*plan.Call); ok && c.Fn.Class == fn.Set {
		rows, err := setRows(c, kenv)
		if err != nil {
			return fail(err)
		}
		if rows == "" {
			return "= no rows"
		}
		return "= " + c.Typ.NoMod().String() + rows
	}
	d, err := EvalConst(e, kenv)
	if err != nil {
		return fail(err)
	}
	return "= " + typeName(e.Type()) + showValue(e.Type(), d, env)
}

// typeName is pg_typeof's text.
func typeName(t types.Type) string {
	if t = t.NoMod(); t.Kind == types.Bpchar {
		return "character"
	}
	return t.String()
}

func showValue(t types.Type, d types.Datum, env *types.Env) string {
	switch {
	case d.Null:
		return " NULL"
	case t.Kind == types.Regtype:
		u, _ := types.FromOID(uint32(d.I))
		return fmt.Sprintf(" %q", u.String())
	}
	return fmt.Sprintf(" %q", types.Format(t, d, env))
}

func setRows(c *plan.Call, env *Env) (string, error) {
	k, err := CompileSet(c.Fn, c.Args, nil)
	if err != nil {
		return "", err
	}
	out := ""
	err = k.Call(env, &batch.Batch{N: 1}, 0, func(vals []types.Datum) bool {
		if len(vals) == 1 {
			out += showValue(c.Typ, vals[0], env.Session)
			return true
		}
		var ts []types.Type
		for _, col := range c.Fn.OutCols {
			ts = append(ts, col.Type)
		}
		out += showValue(types.Of(types.Record), types.Datum{B: types.AppendRecord(nil, ts, vals)}, env.Session)
		return true
	})
	return out, err
}
