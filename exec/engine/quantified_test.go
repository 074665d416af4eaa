package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestQuantifiedConstants: x = ANY (array) and x <> ALL (array) give of a constant array, which is looked up in, what they give of one that is a column, which is gone through.
func TestQuantifiedConstants(t *testing.T) {
	c := openClocked(t)
	for i, x := range []struct{ typ, values string }{
		{"int", "0 -1 1 2147483647 NULL"},
		{"smallint", "0 -1 7 NULL"},
		{"bigint", "0 1 -9000000000 NULL"},
		{"numeric", "1 1.0 1.50 1.5 NaN Infinity 0 -0.0 1e30 NULL"},
		{"float8", "0 -0 1.5 NaN Infinity -Infinity NULL"},
		{"float4", "0 -0 1.5 NaN NULL"},
		{"text", "a A '' 'a ' é NULL"},
		{"varchar", "a '' 'a ' NULL"},
		{"char(3)", "a '' 'a ' ab NULL"},
		{"bytea", `'' \x00 \x0000 \xff NULL`},
		{"bool", "t f NULL"},
		{"date", "2020-01-01 infinity NULL"},
		{"timestamp", "2020-01-01 '2020-01-01 00:00:01' -infinity NULL"},
		{"timestamptz", "'2020-01-01 00:00+00' '2020-01-01 01:00+01' NULL"},
		{"interval", "'1 day' '24 hours' '1 mon' '30 days' NULL"},
		{"uuid", "00000000-0000-0000-0000-000000000001 ffffffff-0000-0000-0000-000000000001 NULL"},
		{"jsonb", `1 1.0 '{"a": 1}' '{"a": 1.00}' null '"a"' NULL`},
	} {
		var values []string
		for rest := x.values; rest != ""; {
			var v string
			if quoted, isQuoted := strings.CutPrefix(rest, "'"); isQuoted {
				v, rest, _ = strings.Cut(quoted, "'")
				rest = strings.TrimPrefix(rest, " ")
				values = append(values, "'"+v+"'")
				continue
			}
			if v, rest, _ = strings.Cut(rest, " "); v != "NULL" {
				v = "'" + v + "'"
			}
			values = append(values, v)
		}
		table := fmt.Sprint("q", i)
		c.exec(fmt.Sprintf(`CREATE TABLE %s (id int PRIMARY KEY, x %s, a %[2]s[])`, table, x.typ))
		lists := []string{"", "NULL"}
		for j, v := range values {
			lists = append(lists, v, strings.Join(values[j:], ", "), strings.Join(values[:j+1], ", ")+", "+v)
		}
		id := 0
		for _, list := range lists {
			array := fmt.Sprintf("ARRAY[%s]::%s[]", list, x.typ)
			for _, v := range values {
				id++
				c.exec(fmt.Sprintf(`INSERT INTO %s VALUES (%d, %s, %s)`, table, id, v, array))
			}
			for _, op := range []string{"= ANY", "<> ALL", "<> ANY", "= ALL"} {
				c.want(fmt.Sprintf(`SELECT count(*) FROM %s WHERE id > %d AND (x %s (%s)) IS DISTINCT FROM (x %[3]s (a))`, table, id-len(values), op, array), "0")
				c.want(fmt.Sprintf(`SELECT count(*) FROM (SELECT id FROM %s WHERE id > %d AND x %s (%s) EXCEPT SELECT id FROM %[1]s WHERE x %[3]s (a)) d`, table, id-len(values), op, array), "0")
			}
		}
	}
	c.want(`SELECT NULL::int = ANY ('{}'::int[]), NULL::int <> ALL ('{}'::int[]), 1 = ANY (NULL::int[]), 1::smallint = ANY ('{65537,1}'::bigint[])`, "f,t,,t")
}

// TestLookupsTogether: rows that are looked up one by one go on together, in order, and a lookup that finds nothing can be cancelled.
func TestLookupsTogether(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE TABLE t (k int PRIMARY KEY, v int)`, `INSERT INTO t SELECT 2 * g, g FROM generate_series(1, 60000) g`)
	p := c.e.current()
	rows := rowsOf(p.contents(p.cat.Relation("public", "t").OID))
	for _, desc := range []bool{false, true} {
		for _, n := range []int{1, 64, 65, 5000, 20000} {
			var vals []types.Datum
			for i := range n {
				vals = append(vals, types.IntDatum(int64(3*i)))
			}
			looked := n <= 60000/8
			batches, last, got := 0, int64(0), 0
			err := lookupEach(context.Background(), rows, nil, vals, desc, func(b *batch.Batch) error {
				batches++
				for i, k := range b.Cols[0].I64[:b.N] {
					if b.Cols[1].I64[i] != k/2 || last != 0 && (k > last) == desc || looked && k%3 != 0 {
						t.Fatalf("row %d, %d behind %d", k, b.Cols[1].I64[i], last)
					}
					if last = k; k%3 == 0 {
						got++
					}
				}
				return nil
			})
			if want := (n - 1) / 2; err != nil || got != want || batches > 4+got/batch.Target*2 && looked {
				t.Errorf("%d of %d in %d batches, desc %v: %v", got, want, batches, desc, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	none := []types.Datum{types.IntDatum(1), types.IntDatum(3)}
	if err := lookupEach(ctx, rows, nil, none, false, func(*batch.Batch) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
