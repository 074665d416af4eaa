package types

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// The files in testdata hold PostgreSQL 15's answers. To fill them again after
// adding inputs (lines without a result), run against a real server:
//
//	go test -run Golden -pg 'host=localhost user=postgres' ./sql/types
//
// values.txt: "@type name" starts a section and "@set name value" changes a
// setting; other lines are an input, its text output or error, and its binary
// form, separated by tabs. functions.txt: a name of goldenFuncs, its arguments
// and the result.
var pgDSN = flag.String("pg", "", "connection string of a PostgreSQL 15 that fills the golden files")

func esc(s string) string { q := strconv.Quote(s); return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`) }

func unesc(t *testing.T, s string) string {
	t.Helper()
	u, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		t.Fatalf("bad golden text %q: %v", s, err)
	}
	return u
}

func errText(err error) string {
	e := sqlerr.From(err)
	s := "ERROR " + string(e.Code) + " " + e.Message
	if e.Code == sqlerr.NumericValueOutOfRange && e.Detail != "" {
		s += " / " + e.Detail
	}
	return s
}

// ask gives PostgreSQL's text and binary answers to a query of one value.
func ask(t *testing.T, c *pgconn.PgConn, sql string, args ...string) (text, bin string) {
	t.Helper()
	params := make([][]byte, len(args))
	oids := make([]uint32, len(args))
	for i, a := range args {
		params[i], oids[i] = []byte(a), 25
	}
	var out [2]string
	for format := range int16(2) {
		r := c.ExecParams(context.Background(), sql, params, oids, nil, []int16{format}).Read()
		if r.Err != nil {
			var pe *pgconn.PgError
			if !errors.As(r.Err, &pe) {
				t.Fatal(r.Err)
			}
			s := "ERROR " + pe.Code + " " + pe.Message
			if pe.Code == "22003" && pe.Detail != "" {
				s += " / " + pe.Detail
			}
			return s, ""
		}
		v := r.Rows[0][0]
		if v == nil {
			return "NULL", ""
		}
		if format == 0 {
			out[0] = string(v)
		} else {
			out[1] = hex.EncodeToString(v)
		}
	}
	return out[0], out[1]
}

func connect(t *testing.T) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), *pgDSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	for _, s := range []string{"TimeZone='UTC'", "DateStyle='ISO, MDY'", "IntervalStyle='postgres'"} {
		if _, err := c.Exec(context.Background(), "SET "+s).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// golden calls each for every line of a file; in fill mode what it gives replaces the line.
func golden(t *testing.T, file string, each func(c *pgconn.PgConn, line string) string) {
	path := "testdata/" + file
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var c *pgconn.PgConn
	if *pgDSN != "" {
		c = connect(t)
	}
	var out bytes.Buffer
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line != "" && line[0] != '#' {
			line = each(c, line)
		}
		out.WriteString(line + "\n")
	}
	if c != nil {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func setEnv(t *testing.T, env *Env, name, value string) {
	t.Helper()
	switch name {
	case "TimeZone":
		loc, err := ParseZoneSetting(value)
		if err != nil {
			t.Fatal(err)
		}
		env.Location, env.TimeZoneName = loc, value
	case "DateStyle":
		env.DateOrder = value[strings.LastIndexByte(value, ' ')+1:]
	case "IntervalStyle":
		env.IntervalStyle = value
	case "extra_float_digits":
		env.ExtraFloatDigits, _ = strconv.Atoi(value)
	case "bytea_output":
		env.ByteaHex = value == "hex"
	default:
		t.Fatalf("unknown setting %s", name)
	}
}

func typeOf(t *testing.T, s string) Type {
	t.Helper()
	name, rest, modded := strings.Cut(s, "(")
	var mods []int
	if modded {
		args, tail, _ := strings.Cut(rest, ")")
		name += tail
		for _, a := range strings.Split(args, ",") {
			n, err := strconv.Atoi(a)
			if err != nil {
				t.Fatal(err)
			}
			mods = append(mods, n)
		}
	}
	typ, err := Modded(name, mods)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func TestGoldenValues(t *testing.T) {
	var typ Type
	var typName string
	env := DefaultEnv()
	golden(t, "values.txt", func(c *pgconn.PgConn, line string) string {
		if set, ok := strings.CutPrefix(line, "@set "); ok {
			name, value, _ := strings.Cut(set, " ")
			setEnv(t, env, name, value)
			if c != nil {
				if _, err := c.Exec(context.Background(), fmt.Sprintf("SET %s = '%s'", name, value)).ReadAll(); err != nil {
					t.Fatal(err)
				}
			}
			return line
		}
		if name, ok := strings.CutPrefix(line, "@type "); ok {
			typName, typ = name, typeOf(t, name)
			return line
		}
		parts := strings.Split(line, "\t")
		in := unesc(t, parts[0])
		if c != nil {
			// A function's argument takes the modifier as an assignment would not;
			// so does a column.
			sql := "SELECT $1::text::" + typName
			if typ.Mod != 0 {
				sql = "WITH x AS (INSERT INTO golden VALUES ($1::text::" + typ.NoMod().String() + ") RETURNING v) SELECT v FROM x"
				for _, s := range []string{"DROP TABLE IF EXISTS golden", "CREATE TEMP TABLE golden (v " + typName + ")"} {
					if _, err := c.Exec(context.Background(), s).ReadAll(); err != nil {
						t.Fatal(err)
					}
				}
			}
			text, bin := ask(t, c, sql, in)
			parts = []string{parts[0], esc(text), bin}
		}
		if len(parts) != 3 {
			t.Fatalf("line without answer: %q", line)
		}
		checkValue(t, typ, env, in, unesc(t, parts[1]), parts[2])
		return strings.Join(parts, "\t")
	})
}

// checkValue compares both outputs of an input and reads both back.
func checkValue(t *testing.T, typ Type, env *Env, in, text, bin string) {
	t.Helper()
	d, err := Parse(typ, in, env)
	if err != nil {
		if got := errText(err); got != text {
			t.Errorf("%s %q: got %s, want %s", typ, in, got, text)
		}
		return
	}
	if got := Format(typ, d, env); got != text {
		t.Errorf("%s %q: got %s, want %s", typ, in, got, text)
		return
	}
	if got := hex.EncodeToString(AppendBinary(nil, typ, d)); got != bin {
		t.Errorf("%s %q: binary %s, want %s", typ, in, got, bin)
	}
	raw, _ := hex.DecodeString(bin)
	if b, err := ParseBinary(typ, raw); err != nil || Format(typ, b, env) != text || !Equal(typ, b, d) {
		t.Errorf("%s %q: read from binary: %v %v", typ, in, Format(typ, b, env), err)
	}
	if !(typ.Kind == Float4 || typ.Kind == Float8) || env.ExtraFloatDigits > 0 {
		if b, err := Parse(typ, text, env); err != nil || Format(typ, b, env) != text {
			t.Errorf("%s %q: output %s reads back as %v %v", typ, in, text, Format(typ, b, env), err)
		}
	}
	v := AppendValue(nil, typ, d)
	if r, rest, err := ReadValue(typ, append(v, 7)); err != nil || len(rest) != 1 || Format(typ, r, env) != text {
		t.Errorf("%s %q: row value does not round-trip", typ, in)
	}
}
