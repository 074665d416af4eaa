package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
)

// shown are statements whose results have everything that decides how a table is drawn.
const shown = "\ufeff" + `CREATE TABLE q (a int, b text, n numeric);
COPY q FROM STDIN;
1	x	1.5
2	\N	-2
3	two\nlines	100
4	日本	7
\.
SELECT * FROM q ORDER BY a; SELECT a AS "an int", b AS "x
y" FROM q ORDER BY a;
\copy q FROM 'q.csv' (FORMAT csv)
COPY q FROM STDIN (FORMAT csv, DELIMITER ';');
11;";";-1
\.
SELECT a FROM q WHERE a = 9;
INSERT INTO q VALUES (5, E'a\tb\rc\x01d', 0.00001), (6, E'e\u0301', null) RETURNING a, b;
SELECT b, a, b, n FROM q ORDER BY a; UPDATE q SET a = a + 1 WHERE a > 5 RETURNING *; DELETE FROM q WHERE a > 5;
SHOW timezone;
SELECT; SELECT FROM q;
SELECT true AS t, 1.5::float8, '{1,2}'::int[] AS ar, null AS nothing, 7::bigint;
COPY q (a) TO STDOUT;
BEGIN; DECLARE c CURSOR FOR SELECT a FROM q ORDER BY a; FETCH 2 FROM c; COMMIT;
VALUES (1, 'a'), (20, 'bb');
/* of old:
copy q from stdin;
*/
SELECT 'a
COPY q FROM STDIN;
\copy q FROM ''nothing''
' AS x; -- and
COPY q FROM STDIN;
12	12	12
\.
SELECT a FROM q WHERE a = 12;
`

// TestRunPrints: what a script answers is printed as psql -f prints it.
func TestRunPrints(t *testing.T) {
	psql, err := exec.LookPath("psql")
	if err != nil {
		pgtest.Missing(t, "psql is not installed")
	}
	dir := t.TempDir()
	writeFile(t, dir, "q.csv", "10,z,0\n")
	writeFile(t, dir, "s.sql", shown)
	var got bytes.Buffer
	url, _ := startServer(t, t.TempDir())
	if err := runFile(context.Background(), url, filepath.Join(dir, "s.sql"), &got, io.Discard); err != nil {
		t.Fatal(err)
	}
	url, _ = startServer(t, t.TempDir())
	cmd := exec.Command(psql, "-X", "-v", "ON_ERROR_STOP=1", url, "-f", "s.sql")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "PAGER=cat")
	want, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("from line %d on\n%s\nwant\n%s", i+1, strings.Join(g[min(i, len(g)):], "\n"), strings.Join(w[min(i, len(w)):], "\n"))
		}
	}
}

// TestRunFails: an error ends a script and says where it is; what came before it is printed.
func TestRunFails(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	dir := t.TempDir()
	for _, x := range []struct{ script, out, says string }{
		{"SELECT 1 AS x;\n\nSELECT 2,\n  nope;", " x \n---\n 1\n(1 row)\n\n", "@:4: ERROR: column \"nope\" does not exist (SQLSTATE 42703)\n"},
		{"CREATE TABLE t (a int);\nCOPY t FROM STDIN;\n1\n\\.\nSELECT é FROM t;", "CREATE TABLE\nCOPY 1\n", "@:5: ERROR: column \"é\" does not exist (SQLSTATE 42703)\n"},
		{"COPY t FROM STDIN;\nx\n\\.\n", "", "@: ERROR: invalid input syntax for type integer: \"x\" (SQLSTATE 22P02)\nCONTEXT:  COPY t, line 1, column a: \"x\"\n"},
		{"SELECT 1 WHERE false; COPY t FROM STDIN;", " ?column? \n----------\n(0 rows)\n\n", "@: ERROR: COPY from stdin failed: COPY ... FROM STDIN must be on a line of its own, with the rows behind it (SQLSTATE 57014)\n"},
		{"\\copy t to 'x'\n", "", "@: cannot read \"\\\\copy t to 'x'\": only \\copy TABLE FROM 'FILE' [OPTIONS] is known\n"},
		{"SELECT 1 AS x;\n\\timing\n", " x \n---\n 1\n(1 row)\n\n", "@: cannot read \"\\\\timing\": only \\copy TABLE FROM 'FILE' [OPTIONS] is known\n"},
		{"SELECT 1\nCOPY t FROM STDIN;\n1\n\\.\n", "", "@:2: ERROR: syntax error at or near \"t\" (SQLSTATE 42601)\n"},
		{"CREATE TABLE kept (a int); INSERT INTO kept VALUES (1);\n\nINSERT INTO kept\nVALUES (x);", "CREATE TABLE\nINSERT 0 1\n", "@:4: ERROR: column \"x\" does not exist (SQLSTATE 42703)\n"},
		{"BEGIN; INSERT INTO kept VALUES (2); COMMIT; BEGIN; INSERT INTO kept VALUES (3); SELECT * FROM kept ORDER BY a;", "BEGIN\nINSERT 0 1\nCOMMIT\nBEGIN\nINSERT 0 1\n a \n---\n 1\n 2\n 3\n(3 rows)\n\n", ""},
		{"SELECT count(*) FROM kept; SELECT 1/0 AS x;", " count \n-------\n     2\n(1 row)\n\n", "@: ERROR: division by zero (SQLSTATE 22012)\n"},
	} {
		writeFile(t, dir, "s.sql", x.script)
		file := filepath.Join(dir, "s.sql")
		out, says, code := program(t, "run", file, "--url", url)
		want, fails := "tidemark: "+strings.ReplaceAll(x.says, "@", file), 1
		if x.says == "" {
			want, fails = "", 0
		}
		// PostgreSQL, too, describes the rows of a statement before it fails.
		if out != x.out || !strings.HasPrefix(says, want) || code != fails {
			t.Errorf("%q:\n%s%s%d\nwant\n%s%s", x.script, out, says, code, x.out, want)
		}
	}
	writeFile(t, dir, "s.sql", "SELECT 1")
	if out, says, code := program(t, "run", "--quiet", filepath.Join(dir, "s.sql"), "--url", url); out != "" || says != "" || code != 0 {
		t.Errorf("quiet: %q, %q, %d", out, says, code)
	}
}
