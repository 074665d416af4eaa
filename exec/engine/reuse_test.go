package engine

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// prepareTest prepares one statement.
func prepareTest(t *testing.T, s session.Session, sql string, ts ...types.Type) session.Prepared {
	t.Helper()
	sts, err := s.Parse(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	p, err := s.Prepare(context.Background(), sts[0], ts)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return p
}

// executeTest executes a prepared statement with parameters in text form, nil for NULL, and gives its rows as text or "!" and its SQLSTATE.
func executeTest(t *testing.T, s session.Session, p session.Prepared, params ...any) string {
	t.Helper()
	ds := make([]types.Datum, len(params))
	for i, x := range params {
		if ds[i] = types.NullDatum; x == nil {
			continue
		}
		var err error
		if ds[i], err = types.Parse(p.Params()[i], fmt.Sprint(x), s.Env()); err != nil {
			return "!" + string(sqlerr.From(err).Code)
		}
	}
	res, err := s.Execute(context.Background(), p, ds)
	if err != nil {
		return "!" + string(sqlerr.From(err).Code)
	}
	defer res.Close()
	return rest(t, s, res, 0)
}

// rest reads a result to its end, limit rows at a time.
func rest(t *testing.T, s session.Session, res session.Result, limit int) string {
	t.Helper()
	var out []string
	for {
		b, err := res.Next(context.Background(), limit)
		if err != nil {
			return "!" + string(sqlerr.From(err).Code)
		}
		if b == nil {
			return strings.Join(out, "\n")
		}
		for i := 0; i < b.N; i++ {
			var row []string
			for c, v := range b.Cols {
				text := "NULL"
				if !v.IsNull(i) {
					text = string(types.Append(nil, res.Columns()[c].Type, v.Datum(i), s.Env()))
				}
				row = append(row, text)
			}
			out = append(out, strings.Join(row, ","))
		}
	}
}

func wantText(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s gives %q, want %q", what, got, want)
	}
}

// TestLookupIsScan compares lookups by key with the same condition in a form that scans, over keys of all kinds, with NULLs, values that are equal
// and written differently, values that the column's type does not have, and parameters of other types.
func TestLookupIsScan(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	s, _ := openTest(t, Options{Dir: t.TempDir()})
	for n, c := range []struct {
		typ    string
		values string // separated by |
		others string // further values to look for
		params string // types of the parameter
	}{
		{"smallint", "1|2|-3|32767|-32768|0", "40000|-40000|9223372036854775807", "int2 int4 int8 numeric float8"},
		{"int", "1|2|-3|2147483647|-2147483648|0", "2147483648|9223372036854775807", "int2 int4 int8 numeric float8"},
		{"bigint", "1|2|-3|9223372036854775807|-9223372036854775808|0", "5", "int2 int4 int8 numeric float8"},
		{"numeric", "1|1.0|1.00|0|-0.5|0.50|NaN|Infinity|-Infinity|12345678901234567890.5", "2|-0.50|0.5", "numeric int4 int8 float8"},
		{"numeric(8,2)", "1.005|1.00|2.5|-7", "1|1.005|2.50", "numeric int4"},
		{"double precision", "0|-0|1.5|NaN|Infinity|-Infinity|1e300", "2|1.50", "float8 float4 int4 numeric"},
		{"real", "0|-0|1.5|0.1|NaN", "0.1|2", "float4 float8"},
		{"text", "a|A|ä|a |ab||aa|Z", "b|a  |B", "text varchar bpchar"},
		{"varchar", "a|A|a |ab|", "b|a  ", "text varchar bpchar"},
		{"varchar(3)", "a|abc|a ", "abcd|a", "text varchar"},
		{"char(3)", "a|ab|abc|", "a  |abcd", "text bpchar varchar"},
		{"boolean", "true|false", "true", "bool"},
		{"date", "2024-01-01|2024-02-29|infinity|-infinity", "2023-12-31", "date timestamp timestamptz"},
		{"timestamp", "2024-01-01 00:00:00|2024-01-01 00:00:00.000001|infinity", "2024-01-01", "timestamp date timestamptz"},
		{"timestamptz", "2024-01-01 00:00:00+00|2024-01-01 01:00:00+01|infinity", "2024-01-01 00:00:00+02", "timestamptz timestamp"},
		{"interval", "1 day|24 hours|1 mon|30 days", "1440 minutes|2 days", "interval"},
		{"uuid", "00000000-0000-0000-0000-000000000001|a0000000-0000-0000-0000-000000000001", "A0000000-0000-0000-0000-000000000001", "uuid"},
		{"bytea", `\x|\x00|\x0000|\xff`, `\x01`, "bytea"},
	} {
		values := strings.Split(c.values, "|")
		base := fmt.Sprintf("k%d", n)
		expect(t, s, fmt.Sprintf("CREATE TABLE t_%s (k %s PRIMARY KEY, v int)", base, c.typ), "",
			fmt.Sprintf("CREATE STREAM s_%s (k %s, g int, v int)", base, c.typ), "",
			fmt.Sprintf("CREATE MATERIALIZED VIEW v_%s AS SELECT k, count(*) AS n, sum(v) AS v FROM s_%[1]s GROUP BY k", base), "",
			fmt.Sprintf("CREATE MATERIALIZED VIEW w_%s AS SELECT g, k, count(*) AS n FROM s_%[1]s GROUP BY g, k", base), "")
		for i := range 60 {
			v := "NULL"
			if rnd.Intn(8) > 0 {
				v = "'" + values[rnd.Intn(len(values))] + "'"
			}
			expect(t, s, fmt.Sprintf("INSERT INTO s_%s VALUES (%s, %d, %d)", base, v, rnd.Intn(2), i), "")
			if v != "NULL" {
				expect(t, s, fmt.Sprintf("INSERT INTO t_%s VALUES (%s, %d) ON CONFLICT DO NOTHING", base, v, i), "")
			}
			if i == 30 {
				expect(t, s, "CHECKPOINT", "")
			}
		}
		looked := append(values, strings.Split(c.others, "|")...)
		for _, pt := range append(strings.Fields(c.params), "") {
			comparePair(t, s, rnd, base, pt, looked)
		}
	}
}

// comparePair looks for values with a parameter of type pt ("": as it is inferred), by key and by scan, in both executions of each statement.
func comparePair(t *testing.T, s session.Session, rnd *rand.Rand, base, pt string, values []string) {
	t.Helper()
	var ts []types.Type
	if pt != "" {
		typ, ok := types.ByName(pt)
		if !ok {
			t.Fatalf("no type %s", pt)
		}
		ts = []types.Type{typ}
	}
	for _, q := range []struct{ find, scan string }{
		{"SELECT * FROM t_%s WHERE k = $1", "SELECT * FROM t_%s WHERE (k = $1) IS TRUE"},
		{"SELECT v, k FROM v_%s WHERE $1 = k", "SELECT v, k FROM v_%s WHERE ($1 = k) IS TRUE"},
		{"SELECT v, $1 IS NULL FROM v_%s WHERE k = $1 ORDER BY v LIMIT 1", "SELECT v, $1 IS NULL FROM v_%s WHERE (k = $1) IS TRUE ORDER BY v LIMIT 1"},
		{"SELECT n FROM w_%s WHERE k = $1 AND g = 1", "SELECT n FROM w_%s WHERE (k = $1) IS TRUE AND (g = 1) IS TRUE"},
		{"SELECT k FROM v_%s WHERE k = $1 AND n > 2 UNION ALL SELECT k FROM t_%[1]s WHERE k = $1", "SELECT k FROM v_%s WHERE (k = $1) IS TRUE AND n > 2 UNION ALL SELECT k FROM t_%[1]s WHERE (k = $1) IS TRUE"},
	} {
		find, scan := fmt.Sprintf(q.find, base), fmt.Sprintf(q.scan, base)
		a, b := prepareTest(t, s, find, ts...), prepareTest(t, s, scan, ts...)
		for range 2 * len(values) {
			var v any
			if rnd.Intn(10) > 0 {
				v = values[rnd.Intn(len(values))]
			}
			wantText(t, fmt.Sprintf("%s with %v of type %s (%s)", find, v, a.Params()[0], pt), executeTest(t, s, a, v), executeTest(t, s, b, v))
		}
	}
}

// TestPreparedFollowsCatalog executes prepared statements while what they read is changed, dropped, made anew and hidden by search_path.
func TestPreparedFollowsCatalog(t *testing.T) {
	s, _ := openTest(t, Options{Dir: t.TempDir()})
	other := newTestSession(t, s.(*sess).e)
	expect(t, other, "CREATE TABLE t (k int PRIMARY KEY, v int)", "", "INSERT INTO t VALUES (1, 10), (2, 20)", "",
		"CREATE STREAM s (k int, v int)", "", "INSERT INTO s VALUES (1, 5), (1, 6), (2, 7)", "",
		"CREATE MATERIALIZED VIEW v AS SELECT k, sum(v) AS x FROM s GROUP BY k", "", "CREATE VIEW plain AS SELECT k, v + 1 AS y FROM t", "")
	find := prepareTest(t, s, "SELECT v FROM t WHERE k = $1")
	all := prepareTest(t, s, "SELECT * FROM t WHERE k = $1")
	view := prepareTest(t, s, "SELECT x FROM v WHERE k = $1")
	plain := prepareTest(t, s, "SELECT y FROM plain WHERE k = $1")
	scan := prepareTest(t, s, "SELECT v FROM t")
	check := func(p session.Prepared, want string, params ...any) {
		t.Helper()
		for range 2 { // the second time from what the first kept
			wantText(t, p.Statement().Text(), executeTest(t, s, p, params...), want)
		}
	}
	check(find, "10", 1)
	check(all, "1,10", 1)
	check(view, "11", 1)
	check(plain, "11", 1)
	check(scan, "10\n20")
	expect(t, other, "INSERT INTO s VALUES (1, 100)", "", "UPDATE t SET v = 11 WHERE k = 1", "")
	check(find, "11", 1)
	check(view, "111", 1)
	check(scan, "11\n20")

	expect(t, other, "DROP VIEW plain", "", "DROP TABLE t", "", "CREATE TABLE t (k int PRIMARY KEY, v int, w int DEFAULT 3)", "",
		"INSERT INTO t VALUES (1, 11), (2, 20)", "", "CREATE VIEW plain AS SELECT k, v + 1 AS y FROM t", "")
	check(find, "11", 1)
	check(all, "!0A000", 1) // cached plan must not change result type
	check(scan, "11\n20")
	expect(t, other, "CREATE OR REPLACE MATERIALIZED VIEW v AS SELECT k, sum(v) + 1000 AS x FROM s GROUP BY k", "",
		"CREATE OR REPLACE VIEW plain AS SELECT k, v + 2 AS y FROM t", "")
	check(view, "1111", 1)
	check(plain, "13", 1)
	expect(t, other, "DROP VIEW plain", "", "DROP TABLE t", "", "DROP MATERIALIZED VIEW v", "")
	check(find, "!42P01", 1)
	check(view, "!42P01", 1)
	check(plain, "!42P01", 1)
	check(scan, "!42P01")
	expect(t, other, "CREATE TABLE t (v int, k int PRIMARY KEY)", "", "INSERT INTO t VALUES (30, 1)", "",
		"CREATE MATERIALIZED VIEW v AS SELECT k, min(v) AS x FROM s GROUP BY k", "")
	check(find, "30", 1)
	check(view, "!0A000", 1) // sum of int is bigint, min is int
	check(scan, "30")
	expect(t, other, "DROP TABLE t", "", "CREATE TABLE t (k text PRIMARY KEY, v int)", "", "INSERT INTO t VALUES ('1', 40)", "")
	check(find, "!42883", 1) // the parameter stays an integer
	check(scan, "40")

	expect(t, s, "CREATE SCHEMA a", "", "CREATE TABLE a.t (k int PRIMARY KEY, v int)", "", "INSERT INTO a.t VALUES (1, 50)", "", "SET search_path = a, public", "")
	check(find, "50", 1)
	check(scan, "50")
	expect(t, s, "SET search_path = public", "")
	check(scan, "40")
	expect(t, s, "BEGIN", "", "CREATE SCHEMA b", "", "CREATE TABLE b.t (k int PRIMARY KEY, v int)", "", "INSERT INTO b.t VALUES (1, 60)", "", "SET LOCAL search_path = b", "")
	check(scan, "60")
	expect(t, s, "ROLLBACK", "")
	check(scan, "40")
}

// TestExecuteKeepsPlan is the same for PREPARE and EXECUTE in SQL.
func TestExecuteKeepsPlan(t *testing.T) {
	s, _ := openTest(t, Options{Dir: t.TempDir()})
	expect(t, s, "CREATE TABLE t (k int PRIMARY KEY, v int)", "", "INSERT INTO t VALUES (1, 10)", "",
		"PREPARE q AS SELECT v FROM t WHERE k = $1", "", "PREPARE w AS SELECT * FROM t", "", "EXECUTE q(1)", "10", "EXECUTE q('1')", "10", "EXECUTE q(NULL)", "", "EXECUTE w", "1,10",
		"DROP TABLE t", "", "CREATE TABLE t (k int PRIMARY KEY, v int, x int)", "", "INSERT INTO t VALUES (1, 10)", "", "EXECUTE q(1)", "10", "EXECUTE w", "!0A000", "EXECUTE w", "!0A000",
		"DROP TABLE t", "", "EXECUTE q(1)", "!42P01", "EXECUTE q(1)", "!42P01",
		"CREATE TABLE t (v int, k int PRIMARY KEY)", "", "INSERT INTO t VALUES (20, 1)", "", "EXECUTE q(1)", "20", "DISCARD ALL", "", "EXECUTE q(1)", "!26000")
}

// TestOverlappingExecutions reads several executions of one statement in parts, in turns.
func TestOverlappingExecutions(t *testing.T) {
	s, _ := openTest(t, Options{Dir: t.TempDir()})
	expect(t, s, "CREATE TABLE t (k int PRIMARY KEY, v int)", "", "INSERT INTO t SELECT k, 10 * k FROM generate_series(1, 5000) AS k", "")
	ctx := context.Background()
	point := prepareTest(t, s, "SELECT v, $1 + 1 FROM t WHERE k = $1 UNION ALL SELECT k, $1 FROM t WHERE k = $1 + 1")
	scan := prepareTest(t, s, "SELECT v + 1 FROM t WHERE v % 20 = 0")
	points, scans := map[int]session.Result{}, map[int]session.Result{}
	start := func(p session.Prepared, params ...types.Datum) session.Result {
		r, err := s.Execute(ctx, p, params)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		return r
	}
	first := func(r session.Result) string {
		b, err := r.Next(ctx, 1)
		if err != nil || b == nil || b.N != 1 {
			t.Fatalf("no first row: %v", err)
		}
		return string(types.Append(nil, r.Columns()[0].Type, b.Cols[0].Datum(0), s.Env()))
	}
	for i := 1; i <= 3; i++ {
		points[i], scans[i] = start(point, types.IntDatum(int64(i))), start(scan)
	}
	for i := 3; i >= 1; i-- {
		wantText(t, "first row of a lookup", first(points[i]), fmt.Sprint(10*i))
		wantText(t, "first row of a scan", first(scans[i]), "21")
	}
	expect(t, s, "UPDATE t SET v = 0", "") // what runs sees it no more
	for i := 1; i <= 3; i++ {
		wantText(t, "second row of a lookup", rest(t, s, points[i], 1), fmt.Sprintf("%d,%d", i+1, i))
		if n := strings.Count(rest(t, s, scans[i], 7), "\n") + 1; n != 2499 {
			t.Errorf("the rest of a scan has %d rows", n)
		}
	}
	wantText(t, "a lookup afterwards", executeTest(t, s, point, 2), "0,3\n3,2")
	closed := start(scan)
	first(closed)
	closed.Close()
	wantText(t, "a failing lookup", executeTest(t, s, prepareTest(t, s, "SELECT 1 / v FROM t WHERE k = $1"), 1), "!22012")
	failing := prepareTest(t, s, "SELECT 10 / ($2 - v) FROM t WHERE k = $1")
	for _, c := range [][2]string{{"5", "2"}, {"0", "!22012"}, {"2", "5"}} {
		wantText(t, "10 / "+c[0], executeTest(t, s, failing, 1, c[0]), c[1])
	}
}

// TestLateSettings executes a lookup whose result depends on the session's settings and on the time.
func TestLateSettings(t *testing.T) {
	s, _ := openTest(t, Options{Dir: t.TempDir()})
	expect(t, s, "CREATE TABLE t (k timestamptz PRIMARY KEY, v int)", "", "INSERT INTO t VALUES ('2024-01-01 12:00+00', 1)", "")
	p := prepareTest(t, s, "SELECT k::text || ' ' || $2::text FROM t WHERE k = $1", types.Of(types.TimestampTZ), types.Of(types.TimestampTZ))
	at := "2024-01-01 12:00:00+00"
	wantText(t, "in UTC", executeTest(t, s, p, at, at), "2024-01-01 12:00:00+00 2024-01-01 12:00:00+00")
	expect(t, s, "SET TimeZone = 'Asia/Tokyo'", "")
	wantText(t, "in Tokyo", executeTest(t, s, p, at, at), "2024-01-01 21:00:00+09 2024-01-01 21:00:00+09")
	now := prepareTest(t, s, "SELECT now() FROM t WHERE k = $1", types.Of(types.TimestampTZ))
	a := executeTest(t, s, now, at)
	time.Sleep(2 * time.Millisecond)
	if b := executeTest(t, s, now, at); a == b {
		t.Errorf("now() stands still at %s", a)
	}
}
