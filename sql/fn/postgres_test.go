package fn

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// The file testdata/resolution.txt says how PostgreSQL 15 resolves every operator for every pair of types, every
// function of up to two arguments for every combination, casts and common types. Only what resolves is listed;
// everything else must fail. To make it again:
//
//	go test -run AgainstPostgres -pg 'host=localhost user=postgres' ./sql/fn
var pgDSN = flag.String("pg", "", "connection string of a PostgreSQL 15 that answers how it resolves")

const resolutionFile = "testdata/resolution.txt"

// pgTypes are the types that take part; unknown is an untyped NULL.
var pgTypes = strings.Fields(`unknown bool int2 int4 int8 float4 float8 numeric text varchar bpchar name bytea date time timestamp
	timestamptz interval uuid json jsonb oid int4[] int8[] text[] numeric[]`)

// resolveCase is one question: how we and PostgreSQL write it.
type resolveCase struct {
	key string
	sql string
	our func() (types.Type, error)
}

func typeNamed(w string) types.Type {
	if w == "unknown" {
		return types.Of(types.Unknown)
	}
	var f Func
	return f.typeOf(w, w)
}

func pgNull(w string) string {
	if w == "unknown" {
		return "NULL"
	}
	return "NULL::" + w
}

func resolveCases() []resolveCase {
	var out []resolveCase
	ops := make([]string, 0, len(opsByName))
	for op := range opsByName {
		ops = append(ops, op)
	}
	sort.Strings(ops)
	for _, op := range ops {
		for _, r := range pgTypes {
			rt := typeNamed(r)
			if opsByName[op][0].Args != nil && hasPrefixForm(op) {
				out = append(out, resolveCase{op + " " + r, "(" + op + " " + pgNull(r) + ")", func() (types.Type, error) {
					_, _, _, t, err := ResolveOperator(op, nil, &rt)
					return t, err
				}})
			}
			for _, l := range pgTypes {
				lt := typeNamed(l)
				out = append(out, resolveCase{l + " " + op + " " + r, "(" + pgNull(l) + " " + op + " " + pgNull(r) + ")", func() (types.Type, error) {
					_, _, _, t, err := ResolveOperator(op, &lt, &rt)
					return t, err
				}})
			}
		}
	}
	for _, l := range pgTypes {
		lt := typeNamed(l)
		for _, r := range pgTypes {
			rt := typeNamed(r)
			out = append(out, resolveCase{"common " + l + " " + r, "coalesce(" + pgNull(l) + "," + pgNull(r) + ")", func() (types.Type, error) {
				return CommonType([]types.Type{lt, rt})
			}})
			if r != "unknown" && l != "unknown" {
				out = append(out, resolveCase{"cast " + l + " " + r, "(" + pgNull(l) + "::" + r + ")", func() (types.Type, error) {
					_, err := ResolveCast(lt, rt, Explicit)
					return rt, err
				}})
			}
		}
	}
	return append(out, callCases()...)
}

func hasPrefixForm(op string) bool {
	for _, f := range opsByName[op] {
		if len(f.Args) == 1 {
			return true
		}
	}
	return false
}

// callCases asks for calls of the functions and aggregates that PostgreSQL has too, with one and two arguments.
func callCases() []resolveCase {
	ours := map[string]bool{"array_slice": true, "window_start": true, "window_end": true, "window_time": true, "session_of": true, "approx_count_distinct": true, "approx_percentile": true,
		"greatest": true, "least": true, "user": true, "current_catalog": true, "current_role": true,
		"pg_sleep": true, "pg_terminate_backend": true, "pg_cancel_backend": true, "set_config": true, "inet_client_addr": true}
	var names []string
	for name, fs := range funcsByName {
		if c := fs[0].Class; c != Window && !fs[0].OrderedSet && !ours[name] && !fs[0].Session {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	var out []resolveCase
	for _, name := range names {
		for _, a := range pgTypes {
			args := []types.Type{typeNamed(a)}
			out = append(out, resolveCase{name + "(" + a + ")", quoted(name) + "(" + pgNull(a) + ")", func() (types.Type, error) {
				_, _, t, err := ResolveCall(name, args)
				return t, err
			}})
			for _, b := range pgTypes {
				args := []types.Type{typeNamed(a), typeNamed(b)}
				out = append(out, resolveCase{name + "(" + a + "," + b + ")", quoted(name) + "(" + pgNull(a) + "," + pgNull(b) + ")", func() (types.Type, error) {
					_, _, t, err := ResolveCall(name, args)
					return t, err
				}})
			}
		}
	}
	return out
}

// hasMoreThere are questions whose answer in PostgreSQL rests on types that we do not have (geometry, xid, bit,
// timetz).
var hasMoreThere = map[string]bool{"unknown ?| unknown": true, "age(unknown)": true, "bit_count(unknown)": true, "trunc(unknown)": true,
	// Aggregates that PostgreSQL 15 lacks.
	"min(bool)": true, "max(bool)": true, "min(bytea)": true, "max(bytea)": true, "min(uuid)": true, "max(uuid)": true}

func TestAgainstPostgres(t *testing.T) {
	cases := resolveCases()
	if *pgDSN != "" {
		writeResolution(t, cases)
	}
	src, err := os.ReadFile(resolutionFile)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, line := range strings.Split(string(src), "\n") {
		if key, result, ok := strings.Cut(line, "\t"); ok {
			want[key] = result
		}
	}
	bad := 0
	for _, c := range cases {
		typ, err := c.our()
		got := shownName(typ)
		if err != nil {
			got = ""
			if code := sqlerr.CodeOf(err); code == sqlerr.InternalError {
				t.Errorf("%s: %v", c.key, err)
			}
		}
		if got != want[c.key] && !hasMoreThere[c.key] {
			if bad++; bad <= 60 {
				t.Errorf("%s: got %q (%v), PostgreSQL has %q", c.key, got, err, want[c.key])
			}
		}
	}
	t.Logf("%d of %d differ", bad, len(cases))
}

// writeResolution asks PostgreSQL to prepare each expression, which resolves it and does not run it.
func writeResolution(t *testing.T, cases []resolveCase) {
	c, err := pgconn.Connect(context.Background(), *pgDSN)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	var out bytes.Buffer
	for _, rc := range cases {
		d, err := c.Prepare(context.Background(), "", "SELECT "+rc.sql, nil)
		var pe *pgconn.PgError
		switch {
		case err == nil:
			typ, ok := types.FromOID(d.Fields[0].DataTypeOID)
			if !ok {
				continue
			}
			fmt.Fprintf(&out, "%s\t%s\n", rc.key, shownName(typ))
		case errors.As(err, &pe) && (pe.Code[:2] == "42" || pe.Code == "0A000"):
		default:
			t.Logf("%s: %v", rc.sql, err)
		}
	}
	if err := os.WriteFile(resolutionFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// quoted keeps a name from being read as special syntax.
func quoted(name string) string { return `pg_catalog."` + name + `"` }
