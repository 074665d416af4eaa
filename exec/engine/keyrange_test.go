package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestKeyRanges: SELECTs of a part of a relation by its key, and of the first rows in the order of its key, give what they give where the key cannot be used, which x + 0 and
// x || ” hide. Rows are in memory, on disk, and changed since; a block sees its own.
func TestKeyRanges(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	c := openClocked(t)
	c.exec(`CREATE STREAM s (a int, b text, d double precision, v int)`,
		`CREATE MATERIALIZED VIEW one AS SELECT a, count(*) AS n FROM s GROUP BY a`,
		`CREATE MATERIALIZED VIEW two AS SELECT a, b, count(*) AS n FROM s GROUP BY a, b`,
		`CREATE MATERIALIZED VIEW fl AS SELECT d, count(*) AS n FROM s GROUP BY d`,
		`CREATE MATERIALIZED VIEW nu AS SELECT (a + d * 2)::numeric(10, 1) AS m, count(*) AS n FROM s WHERE d BETWEEN -100 AND 100 GROUP BY 1`,
		`CREATE TABLE t (a int, b int, v int, PRIMARY KEY (a, b))`)
	k := &keyRanges{t, r, c}
	for step := range 40 {
		k.change()
		if r.IntN(4) == 0 {
			c.exec(`CHECKPOINT`)
		}
		block := step%5 == 0
		if block {
			c.exec(`BEGIN`, fmt.Sprintf(`INSERT INTO t VALUES (%d, %d, 1) ON CONFLICT (a, b) DO NOTHING`, r.IntN(3), 600+r.IntN(50)), `DELETE FROM t WHERE b % 11 = 0`)
		}
		for range 25 {
			k.check()
		}
		if block {
			c.exec(k.oneOf(`COMMIT`, `ROLLBACK`))
		}
	}
}

// keyRanges makes changes and SELECTs at random.
type keyRanges struct {
	t *testing.T
	r *rand.Rand
	c *clocked
}

func (k *keyRanges) oneOf(s ...string) string { return s[k.r.IntN(len(s))] }

func (k *keyRanges) text() string { return k.oneOf("''", "'a'", "'ab'", "'b'", "'zz'", "'é'") }

func (k *keyRanges) float() string {
	return k.oneOf("-1.5", "0", "-0.0", "2.25", "1e300", "-1e300", "'NaN'", "'Infinity'", "'-Infinity'")
}

func (k *keyRanges) op() string { return k.oneOf("<", "<=", ">", ">=", "=") }

func (k *keyRanges) num() string {
	return k.oneOf(fmt.Sprint(k.r.IntN(320)-30), fmt.Sprint(k.r.IntN(10)), "3000000000", "-3000000000", "NULL", "2147483647", "-2147483648", "4::smallint", "7::bigint", "3.5", "5.0")
}

// change makes an epoch of s, and some of t.
func (k *keyRanges) change() {
	var rows []string
	for range 1 + k.r.IntN(200) {
		rows = append(rows, fmt.Sprintf("(%s, %s, %s, 1)", k.oneOf(fmt.Sprint(k.r.IntN(300)-20), fmt.Sprint(k.r.IntN(10)), "NULL"), k.oneOf(k.text(), "NULL"), k.oneOf(k.float(), "NULL")))
	}
	k.c.exec(`INSERT INTO s VALUES ` + strings.Join(rows, ", "))
	rows = rows[:0]
	for b := range 1 + k.r.IntN(50) {
		rows = append(rows, fmt.Sprintf("(%d, %d, %d)", k.r.IntN(5), 50*k.r.IntN(10)+b, k.r.IntN(9)))
	}
	k.c.exec(`INSERT INTO t VALUES ` + strings.Join(rows, ", ") + ` ON CONFLICT (a, b) DO UPDATE SET v = excluded.v`)
	k.c.exec(fmt.Sprintf(`DELETE FROM t WHERE b %% 7 = %d`, k.r.IntN(30)))
}

// where gives a condition on a key column, and the same on what hides it.
func (k *keyRanges) where(col, hidden, typ string, val func() string) (plain, full string) {
	for i := range k.r.IntN(3) {
		if i > 0 {
			plain, full = plain+" AND ", full+" AND "
		}
		if v, w := val(), val(); k.r.IntN(3) == 0 {
			plain, full = plain+fmt.Sprintf("%s BETWEEN %s AND %s", col, v, w), full+fmt.Sprintf("%s BETWEEN %s AND %s", hidden, v, w)
		} else if u := val(); k.r.IntN(3) == 0 {
			in := k.oneOf("IN (%[1]s, %[2]s, %[3]s)", "IN (%[1]s, %[1]s)", "= ANY (ARRAY[%[1]s, %[2]s, %[3]s]::%[4]s[])", "NOT IN (%[1]s, %[2]s)", "> ANY (ARRAY[%[1]s, %[2]s]::%[4]s[])", "<> ALL (ARRAY[%[1]s, %[3]s]::%[4]s[])")
			plain, full = plain+col+" "+fmt.Sprintf(in+"%.0[3]s%.0[4]s", v, w, u, typ), full+hidden+" "+fmt.Sprintf(in+"%.0[3]s%.0[4]s", v, w, u, typ)
		} else if o := k.op(); k.r.IntN(3) == 0 {
			plain, full = plain+v+" "+o+" "+col, full+v+" "+o+" "+hidden
		} else {
			plain, full = plain+col+" "+o+" "+v, full+hidden+" "+o+" "+v
		}
	}
	if plain == "" {
		return "true", "true"
	}
	return plain, full
}

// relation chooses a relation: conditions on its key, plain and hidden, and its order alike.
func (k *keyRanges) relation() (from, p, f, order, hidden string) {
	switch k.r.IntN(5) {
	case 0:
		from, order, hidden = "one", "a", "a + 0"
		p, f = k.where("a", "a + 0", k.oneOf("bigint", "numeric"), k.num)
	case 1:
		from, order, hidden = "two", "a, b", "a + 0, b || ''"
		p, f = k.where("a", "a + 0", k.oneOf("bigint", "numeric"), k.num)
		q, g := k.where("b", "(b || '')", "text", k.text)
		p, f = p+" AND "+q, f+" AND "+g
	case 2:
		from, order, hidden = "fl", "d", "d + 0"
		p, f = k.where("d", "(d + 0)", "float8", k.float)
	case 3:
		from, order, hidden = "nu", "m", "m + 0"
		p, f = k.where("m", "(m + 0)", k.oneOf("bigint", "numeric", "numeric(10, 1)"), func() string { return k.oneOf(fmt.Sprint(k.r.IntN(300)), "2.5", "7.50", "7.25", "NULL", "5::bigint") })
	default:
		from, order, hidden = "t", "a, b", "a + 0, b + 0"
		p, f = k.where("a", "a + 0", k.oneOf("bigint", "numeric"), func() string { return fmt.Sprint(k.r.IntN(6)) })
		q, g := k.where("b", "b + 0", k.oneOf("bigint", "numeric"), k.num)
		p, f = p+" AND "+q, f+" AND "+g
	}
	return from, p, f, order, hidden
}

// check compares a SELECT with the one that can use no key.
func (k *keyRanges) check() {
	k.t.Helper()
	from, p, f, order, hidden := k.relation()
	tail := ""
	ties := k.r.IntN(3) == 0
	if ties { // the rest of the key decides nothing
		order, _, _ = strings.Cut(order, ",")
		hidden, _, _ = strings.Cut(hidden, ",")
	}
	if k.r.IntN(2) == 0 {
		order, hidden = strings.ReplaceAll(order, ",", " DESC,")+" DESC", strings.ReplaceAll(hidden, ",", " DESC,")+" DESC"
	}
	if k.r.IntN(2) == 0 {
		tail = fmt.Sprintf(" LIMIT %d OFFSET %d", k.r.IntN(100), k.r.IntN(3)*k.r.IntN(60))
	}
	if k.r.IntN(4) == 0 {
		p, f = p+" AND n % 2 = 1", f+" AND n % 2 = 1"
		if from == "t" {
			p, f = strings.ReplaceAll(p, "n %", "v %"), strings.ReplaceAll(f, "n %", "v %")
		}
	}
	q := fmt.Sprintf("SELECT * FROM %s WHERE %s ORDER BY %s%s", from, p, order, tail)
	got, err := query(k.c.sess, q)
	full := fmt.Sprintf("SELECT * FROM %s WHERE %s ORDER BY %s%s", from, f, hidden, tail)
	want, werr := query(k.c.sess, full)
	if ties {
		got, want = sortedLines(got), sortedLines(want)
	}
	if got != want || (err == nil) != (werr == nil) || err != nil && err.Error() != "integer out of range" {
		k.t.Fatalf("%s:\n%s, %v\n%s:\n%s, %v", q, got, err, full, want, werr)
	}
}

func sortedLines(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestKeyRangeReads: a range of a key and the first rows in its order are read without going through all rows.
func TestKeyRangeReads(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (a int, v int)`, `CREATE MATERIALIZED VIEW one AS SELECT a, count(*) AS n FROM s GROUP BY a`,
		`CREATE MATERIALIZED VIEW copied WITH (output_mode = 'append') AS SELECT a, v FROM s`,
		`INSERT INTO s SELECT g, 1 FROM generate_series(1, 20000) g`, `INSERT INTO s VALUES (30000, 1)`)
	for _, where := range []string{"in memory", "on disk"} {
		for _, q := range []struct{ sql, want string }{
			// Further rows would divide by zero.
			{`SELECT 10 / (a - 200) FROM one WHERE a > 150 AND a <= 152`, "0,0"},
			{`SELECT a / (a / 9999 - 1) FROM one ORDER BY a LIMIT 2`, "-1,-2"},
			{`SELECT a / (a / 9999 - 1) FROM one WHERE a IN (7, 5, 5, NULL, 30001)`, "-5,-7"},
			{`SELECT a / (a / 9999 - 1) FROM one WHERE a = ANY ('{9, 3}'::bigint[])`, "-3,-9"},
			{`SELECT a / (a / 11 - 1) FROM one ORDER BY a DESC LIMIT 2`, "11,11"},
			{`SELECT a / (a / 11 - 1) FROM one WHERE a < 6000 ORDER BY a DESC LIMIT 1`, "11"},
			{`SELECT v / (a / 30000 - 1) FROM s LIMIT 2`, "-1,-1"},
			{`SELECT v / (a / 19999 - 1) FROM copied LIMIT 2 OFFSET 50`, "-1,-1"},
			{`SELECT a FROM (SELECT a, 1 / (a / 9999 - 1) AS x FROM one WHERE a > 100) z WHERE x < 5 ORDER BY a LIMIT 3`, "101,102,103"},
		} {
			got, err := query(c.sess, q.sql)
			if got = strings.ReplaceAll(got, "\n", ","); err != nil || got != q.want {
				t.Errorf("%s, %s: %q, %v, want %q", q.sql, where, got, err, q.want)
			}
		}
		c.exec(`CHECKPOINT`)
	}
	if _, err := query(c.sess, `SELECT a FROM (SELECT a, 1 / (a / 9999 - 1) AS x FROM one WHERE a > 100) z WHERE x < 5 ORDER BY a + 0 LIMIT 3`); err == nil {
		t.Error("all rows were read, and none divided by zero")
	}
}

// TestKeyOfAppendOnly: an append-only view may have a key, but its rows lie in the order of their arrival.
func TestKeyOfAppendOnly(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '0' SECOND)`,
		`CREATE MATERIALIZED VIEW w WITH (output_mode = 'append') AS SELECT k, window(ts, '1 minute') AS win, count(*) AS n FROM s GROUP BY k, window(ts, '1 minute')`)
	for minute := range 3 {
		c.exec(fmt.Sprintf(`INSERT INTO s SELECT %d - g, '2026-01-01 00:0%d:00' FROM generate_series(1, 5000) g`, 20001-6000*minute, minute))
	}
	c.want(`SELECT k FROM w ORDER BY k, win LIMIT 3`, "9001", "9002", "9003")
	c.want(`SELECT k FROM w WHERE k > 14000 ORDER BY k LIMIT 2`, "15001", "15002")
	c.want(`SELECT k FROM w WHERE k IN (19000, 9100, 5) ORDER BY k`, "9100", "19000")
	c.want(`SELECT count(*) FROM w WHERE k BETWEEN 14000 AND 15010`, "11")
}
