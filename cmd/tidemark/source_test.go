package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func writeFile(t testing.TB, dir, name, text string) {
	t.Helper()
	tmp := filepath.Join(dir, "."+name)
	if err := os.WriteFile(tmp, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func expectRows(t testing.TB, c *pgx.Conn, query string, want ...string) {
	t.Helper()
	if got := csvOf(t, c, query); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n got %q\nwant %q", query, got, want)
	}
}

func codeOf(c *pgx.Conn, sql string) (string, *pgconn.PgError) {
	_, err := c.PgConn().Exec(context.Background(), sql).ReadAll()
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code, pe
	}
	return "", nil
}

// TestFileSource: formats, dead letters, new files, and what is refused.
func TestFileSource(t *testing.T) {
	dir := t.TempDir()
	url, _ := startServer(t, filepath.Join(dir, "data"))
	c := connect(t, url)
	in := filepath.Join(dir, "in")
	if err := os.Mkdir(in, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, in, "a.csv", "k,v\n1,10\n2,x\n3,\"30\"\n")
	execSQL(t, c, fmt.Sprintf(`CREATE STREAM s (k int, v bigint) WITH (connector = 'file', path = '%s', match_pattern = '*.csv', format = 'csv', header = 'true')`, in))
	execSQL(t, c, "CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n, sum(v) AS s FROM s; CREATE MATERIALIZED VIEW l AS SELECT relation, count(*) AS n FROM tidemark.dead_letters GROUP BY relation")
	execSQL(t, c, "WAIT FOR s")
	expectRows(t, c, "SELECT * FROM m", "2,40")
	expectRows(t, c, "SELECT relation, sqlstate, message, \"row\" FROM tidemark.dead_letters",
		`s,22P02,"file a.csv, line 3: invalid input syntax for type bigint: ""x"", column ""v""","{""file"": ""a.csv"", ""line"": 3, ""text"": ""2,x""}"`)
	writeFile(t, in, "b.csv", "v,k\n5,1\n")
	execSQL(t, c, "WAIT FOR s")
	expectRows(t, c, "SELECT * FROM m", "3,45")
	expectRows(t, c, "SELECT * FROM l", "s,1")
	expectRows(t, c, "SELECT * FROM s ORDER BY v", "1,5", "1,10", "3,30")
	expectRows(t, c, "SELECT stream, connector, position, lag_bytes, rows, errors, state, message FROM tidemark.sources", "s,file,b.csv:8,0,3,1,waiting,")
	for sql, want := range map[string]string{
		"INSERT INTO s VALUES (1, 2)":         "42809",
		"COPY s FROM STDIN":                   "42809",
		"ALTER STREAM s RENAME COLUMN v TO w": "0A000",
		"CREATE STREAM x (k int) WITH (connector = 'file', path = '/x', format = 'csv', headr = 'true')":       "22023",
		"CREATE STREAM x (k int) WITH (connector = 'file', path = '/x', format = 'csv', retention = '7 days')": "0A000",
		"CREATE STREAM x (k int DEFAULT 1) WITH (connector = 'file', path = '/x', format = 'csv')":             "0A000",
		"CREATE STREAM x (k int) WITH (connector = 'carrier_pigeon')":                                          "0A000",
		"CREATE TABLE x (k int) WITH (connector = 'file', path = '/x', format = 'csv')":                        "0A000",
		"CREATE STREAM x (k int) WITH (connector = 'file', path = '/x') FORMAT UPSERT ENCODE JSON":             "0A000",
		"CREATE STREAM x (k int) WITH (retention = '0')":                                                       "0A000",
		"BEGIN; WAIT FOR s": "25001",
	} {
		if got, _ := codeOf(c, sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
		_, _ = codeOf(c, "ROLLBACK")
	}
	execSQL(t, c, "ALTER STREAM s ADD COLUMN w text")
	writeFile(t, in, "c.csv", "k,w\n7,seven\n")
	execSQL(t, c, "WAIT FOR s")
	expectRows(t, c, "SELECT * FROM s ORDER BY k, v", "1,5,", "1,10,", "3,30,", "7,,seven")
	execSQL(t, c, "DROP STREAM s CASCADE")
	expectRows(t, c, "SELECT count(*) FROM tidemark.sources", "0")

	// RisingWave's spelling.
	writeFile(t, in, "x.json", `{"k": 1, "v": 2}`+"\n")
	execSQL(t, c, fmt.Sprintf(`CREATE STREAM j (k int, v bigint) WITH (connector = 'posix_fs', posix_fs.root = '%s', match_pattern = '*.json', bounded = 'true') FORMAT PLAIN ENCODE JSON; WAIT FOR j`, in))
	expectRows(t, c, "SELECT * FROM j", "1,2")
	execSQL(t, c, fmt.Sprintf(`CREATE STREAM r (k int, v bigint) WITH (connector = 'posix_fs', "posix_fs.root" = '%s', match_pattern = 'a.csv', bounded) FORMAT PLAIN ENCODE CSV (without_header = 'false', delimiter = ','); WAIT FOR r`, in))
	expectRows(t, c, "SELECT * FROM r", "1,10", "3,30")
	expectRows(t, c, "SELECT stream, state FROM tidemark.sources ORDER BY 1", "j,finished", "r,finished")
}

// TestFileSourceNotes: a directory that is not there and a file of other columns are told to who makes the stream, and shown.
func TestFileSourceNotes(t *testing.T) {
	dir := t.TempDir()
	url, _ := startServer(t, filepath.Join(dir, "data"))
	said := ""
	c := listening(t, url, &said)
	in := filepath.Join(dir, "in")
	create := `CREATE STREAM %s (k int, v bigint) WITH (connector = 'file', path = '%s', format = 'csv', header = 'true', bounded = '%v')`
	missing := fmt.Sprintf("directory or file \"%s\" does not exist", in)
	const other = "file a.csv lacks column \"v\" of the stream, and has column \"w\" that the stream does not read"
	said = ""
	execSQL(t, c, fmt.Sprintf(create, "s", in, false)+"; WAIT FOR s")
	execSQL(t, c, "BEGIN; "+fmt.Sprintf(create, "b", in, true)+"; COMMIT")
	if want := strings.Repeat("WARNING 01000 "+missing+"\n", 2); said != want {
		t.Errorf("said %q, want %q", said, want)
	}
	expectRows(t, c, "SELECT state, message FROM tidemark.sources WHERE stream = 's'", "waiting,\""+strings.ReplaceAll(missing, `"`, `""`)+`"`)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) { // a bounded source tries until the files are there
		var message *string
		if err := c.QueryRow(context.Background(), "SELECT message FROM tidemark.sources WHERE stream = 'b'").Scan(&message); err != nil {
			t.Fatal(err)
		}
		if message != nil && *message == fmt.Sprintf("could not stat \"%s\": no such file or directory", in) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a bounded source without files says %v", message)
		}
	}
	if err := os.Mkdir(in, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, in, "a.csv", "k,w\n1,10\n")
	execSQL(t, c, "WAIT FOR b; WAIT FOR s")
	expectRows(t, c, "SELECT k, v FROM s UNION ALL SELECT k, v FROM b", "1,", "1,")
	expectRows(t, c, "SELECT message FROM tidemark.sources", "\""+strings.ReplaceAll(other, `"`, `""`)+`"`, "\""+strings.ReplaceAll(other, `"`, `""`)+`"`)
	said = ""
	execSQL(t, c, fmt.Sprintf(create, "late", in, true))
	if want := "WARNING 01000 " + other + "\n"; said != want {
		t.Errorf("said %q, want %q", said, want)
	}
}

// TestFileSourceKilled: a server that is killed again and again while it reads shows every line once, whether its log keeps the rows or not.
func TestFileSourceKilled(t *testing.T) {
	for _, retention := range []string{"all", "0"} {
		t.Run(retention, func(t *testing.T) {
			seed := time.Now().UnixNano()
			t.Logf("seed %d", seed)
			rnd := rand.New(rand.NewSource(seed))
			dir := t.TempDir()
			in := filepath.Join(dir, "in")
			if err := os.Mkdir(in, 0o755); err != nil {
				t.Fatal(err)
			}
			n, sum, bad := 0, 0, 0
			file := 0
			more := func(lines int) {
				var sb strings.Builder
				for range lines {
					if n%1000 == 999 && bad <= n/1000 {
						sb.WriteString("oops,1\n")
						bad++
						continue
					}
					fmt.Fprintf(&sb, "%d,%d\n", n, n%7)
					sum += n % 7
					n++
				}
				writeFile(t, in, fmt.Sprintf("%04d.csv", file), sb.String())
				file++
			}
			for range 3 {
				more(150_000)
			}
			p := startProcess(t, filepath.Join(dir, "data"), "--checkpoint-interval", "100ms")
			c := connect(t, p.url)
			execSQL(t, c, fmt.Sprintf(`CREATE STREAM s (k bigint, v bigint) WITH (connector = 'file', path = '%s', format = 'csv', retention = '%s')`, in, retention))
			execSQL(t, c, "CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n, sum(v) AS s, count(DISTINCT k) AS d FROM s")
			for range 4 {
				time.Sleep(time.Duration(rnd.Intn(150)) * time.Millisecond)
				p.kill()
				more(50_000)
				p = startProcess(t, filepath.Join(dir, "data"), "--checkpoint-interval", "100ms")
			}
			c = connect(t, p.url)
			execSQL(t, c, "WAIT FOR s")
			want := fmt.Sprintf("%d,%d,%d", n, sum, n)
			expectRows(t, c, "SELECT * FROM m", want)
			expectRows(t, c, "SELECT count(*), sum(v), count(DISTINCT k) FROM s", want)
			expectRows(t, c, "SELECT count(*) FROM tidemark.dead_letters", fmt.Sprint(bad))
			expectRows(t, c, "SELECT rows, errors FROM tidemark.sources", fmt.Sprintf("%d,%d", n, bad))
			// A view that comes late is the same.
			execSQL(t, c, "CREATE MATERIALIZED VIEW late AS SELECT count(*) AS n, sum(v) AS s, count(DISTINCT k) AS d FROM s")
			expectRows(t, c, "SELECT * FROM late", want)
			// And one that reads some of the columns, or none.
			execSQL(t, c, "CREATE MATERIALIZED VIEW one AS SELECT sum(v) AS s FROM s")
			execSQL(t, c, "CREATE MATERIALIZED VIEW none AS SELECT count(*) AS n FROM s")
			expectRows(t, c, "SELECT s, n FROM one, none", fmt.Sprintf("%d,%d", sum, n))
			// Large chunks that the log keeps are files, each of them named by an epoch, and go with the stream.
			spools := func() int {
				files, err := filepath.Glob(filepath.Join(dir, "data", "spool", "*"))
				if err != nil {
					t.Fatal(err)
				}
				return len(files)
			}
			if got := spools(); (got > 0) != (retention == "all") {
				t.Errorf("%d files of spools", got)
			}
			execSQL(t, c, "DROP STREAM s CASCADE")
			execSQL(t, c, "CHECKPOINT")
			if got := spools(); got > 0 {
				t.Errorf("%d files of spools are left", got)
			}
		})
	}
}

// TestFileSourceChanged: with retention = '0' a file that changed before a replay stops the stream and its views, and nothing else.
func TestFileSourceChanged(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.Mkdir(in, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, in, "a.csv", "1\n2\n3\n")
	p := startProcess(t, filepath.Join(dir, "data"), "--checkpoint-interval", "1h")
	c := connect(t, p.url)
	execSQL(t, c, fmt.Sprintf(`CREATE STREAM s (k int) WITH (connector = 'file', path = '%s', format = 'csv', retention = '0')`, in))
	execSQL(t, c, "CREATE MATERIALIZED VIEW m AS SELECT sum(k) AS s FROM s; CREATE MATERIALIZED VIEW mm AS SELECT s + 1 AS s FROM m")
	execSQL(t, c, "CREATE STREAM o (k int); CREATE MATERIALIZED VIEW ov AS SELECT sum(k) AS s FROM o; INSERT INTO o VALUES (5)")
	execSQL(t, c, "WAIT FOR s")
	expectRows(t, c, "SELECT * FROM mm", "7")
	p.kill()
	writeFile(t, in, "a.csv", "1\n4\n3\n")
	p = startProcess(t, filepath.Join(dir, "data"), "--checkpoint-interval", "1h")
	c = connect(t, p.url)
	for _, q := range []string{"SELECT * FROM m", "SELECT * FROM mm", "WAIT FOR s"} {
		if code, e := codeOf(c, q); code != "55000" || !strings.Contains(e.Detail, "was changed after it had been read") && !strings.Contains(e.Detail, "\"m\"") {
			t.Errorf("%s: %s %v", q, code, e)
		}
	}
	if code, _ := codeOf(c, "SELECT * FROM s"); code != "XX001" {
		t.Errorf("the stream can be read: %s", code)
	}
	expectRows(t, c, "SELECT state FROM tidemark.sources", "failed")
	execSQL(t, c, "INSERT INTO o VALUES (6)")
	expectRows(t, c, "SELECT * FROM ov", "11")
	// With the file as it was the database is whole again.
	p.kill()
	writeFile(t, in, "a.csv", "1\n2\n3\n")
	writeFile(t, in, "b.csv", "4\n")
	p = startProcess(t, filepath.Join(dir, "data"))
	c = connect(t, p.url)
	execSQL(t, c, "WAIT FOR s")
	expectRows(t, c, "SELECT * FROM mm", "11")
	expectRows(t, c, "SELECT * FROM ov", "11")
}

// TestFileSourceCheck: a check of a directory compares views with what the files give again, and reads nothing new.
func TestFileSourceCheck(t *testing.T) {
	dir := t.TempDir()
	in, data := filepath.Join(dir, "in"), filepath.Join(dir, "data")
	if err := os.Mkdir(in, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, in, "a.csv", "1\n2\n3\n")
	url, stop := startServer(t, data)
	c := connect(t, url)
	execSQL(t, c, fmt.Sprintf(`CREATE STREAM s (k int) WITH (connector = 'file', path = '%s', format = 'csv', retention = '0')`, in))
	execSQL(t, c, "CREATE MATERIALIZED VIEW m AS SELECT sum(k) AS s FROM s; WAIT FOR s")
	c.Close(context.Background())
	stop()
	writeFile(t, in, "b.csv", "4\n")
	if code := checkMain([]string{data}); code != 0 {
		t.Errorf("check: %d", code)
	}
	url, _ = startServer(t, data)
	c = connect(t, url)
	execSQL(t, c, "WAIT FOR s")
	expectRows(t, c, "SELECT s FROM m", "10")
}
