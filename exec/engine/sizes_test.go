package engine

import (
	"testing"
	"time"
)

// TestSizes: PostgreSQL's size functions tell about what relations take, whether it is in memory or on disk, and 0 of what is empty. A row has a text of 32 hexadecimal
// digits, so 16 bytes that nothing can spare.
func TestSizes(t *testing.T) {
	o := Options{Dir: t.TempDir(), CheckpointInterval: time.Hour}
	s, closeDB := openTest(t, o)
	expect(t, s, "CREATE STREAM st (a int, b text)", "", "CREATE TABLE ta (a int PRIMARY KEY, b text UNIQUE, UNIQUE (b, a))", "", "CREATE TABLE no (a int PRIMARY KEY, b text UNIQUE)", "",
		"CREATE MATERIALIZED VIEW ag AS SELECT b, count(*) AS n FROM st GROUP BY b", "", "CREATE MATERIALIZED VIEW ro AS SELECT b FROM st", "",
		"CREATE MATERIALIZED VIEW bad AS SELECT 1 / (a - a) AS x, b FROM st", "", "CREATE VIEW pl AS SELECT 1", "",
		"SELECT x, pg_total_relation_size(x::regclass) FROM unnest(ARRAY['bad', 'no', 'no_b_key', 'pl', 'ro', 'st', 'ta']) x ORDER BY 1", "bad,0\nno,0\nno_b_key,0\npl,0\nro,0\nst,0\nta,0")
	const rows = " SELECT i, md5(i::text) FROM generate_series(1, 20000) i"
	expect(t, s, "INSERT INTO st"+rows, "", "INSERT INTO ta"+rows, "")
	const between = " BETWEEN 20000 * 16 AND 20000 * 150"
	told := func() {
		t.Helper()
		expect(t, s, "SELECT pg_relation_size('st')"+between+", pg_relation_size('ta')"+between+", pg_relation_size('ag')"+between+", pg_relation_size('ro')"+between, "t,t,t,t",
			"SELECT pg_relation_size('ta_b_key')"+between+", pg_relation_size('ta_b_a_key')"+between+", pg_relation_size('ta_pkey')", "t,t,0",
			"SELECT pg_indexes_size('ta') = pg_relation_size('ta_b_key') + pg_relation_size('ta_b_a_key'), pg_table_size('ta') = pg_relation_size('ta', 'main')", "t,t",
			"SELECT pg_total_relation_size('ta') = pg_table_size('ta') + pg_indexes_size('ta'), pg_total_relation_size('st') = pg_relation_size('st')", "t,t",
			"SELECT pg_indexes_size('ag')"+between+", pg_indexes_size('ro'), pg_indexes_size('st')", "t,0,0",
			"SELECT pg_relation_size('bad'), pg_table_size('bad') BETWEEN 20000 * 16 AND 20000 * 600, pg_total_relation_size('pl'), pg_total_relation_size('no')", "0,t,0,0",
			"SELECT pg_database_size('tidemark') >= pg_relation_size('st'), pg_database_size('tidemark') = pg_database_size(1)", "t,t")
	}
	told()
	expect(t, s, "CHECKPOINT", "")
	told()
	closeDB()
	s, _ = openTest(t, o)
	told()
	expect(t, s, "SELECT pg_relation_size('ta', 'fsm'), pg_relation_size(4000000::oid), pg_table_size('tidemark.views')", "0,,0",
		"SELECT pg_relation_size('ta', 'nope')", "!22023", "SELECT pg_database_size('nope')", "!3D000", "SELECT pg_relation_size('nope')", "!42P01",
		"DELETE FROM ta", "", "CHECKPOINT", "", "SELECT pg_total_relation_size('ta')", "0")
	// A block sees what it made, which has no rows yet, and not what it dropped.
	expect(t, s, "SET client_min_messages = error", "", "CREATE TABLE oids AS SELECT 'no'::regclass::oid::bigint AS o", "", "BEGIN", "", "CREATE TABLE own (a int PRIMARY KEY, b int UNIQUE)", "", "INSERT INTO own VALUES (1, 1)", "", "DROP TABLE no", "",
		"SELECT pg_relation_size('own'), pg_total_relation_size('own'), pg_relation_size('own_b_key')", "0,0,0", "SELECT pg_relation_size(o::oid) FROM oids", "", "ROLLBACK", "",
		"SELECT pg_relation_size(o::oid) FROM oids", "0")
}
