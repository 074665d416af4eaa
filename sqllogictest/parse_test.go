package sqllogictest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// write makes a file in the test's directory and gives its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func parse(t *testing.T, text string) []*record {
	t.Helper()
	recs, err := parseFile(write(t, t.TempDir(), "x.slt", text))
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

func TestParseRecords(t *testing.T) {
	recs := parse(t, `# a comment
statement ok
CREATE TABLE t (
  a int
)

statement count 2
INSERT INTO t VALUES (1), (2)

statement error division by (zero|0)
SELECT 1/0

statement error
SELECT 1/0
----
22012: division by zero
more


query IT rowsort lab
SELECT a, 'x y'
FROM t
----
1 x y
2 x y

query error 42P01
SELECT * FROM u

sleep 10ms

restart

connection other
onlyif tidemark
query I
SELECT 1
----

halt

statement ok
never
`)
	if len(recs) != 10 {
		t.Fatalf("%d records", len(recs))
	}
	if r := recs[0]; r.sql != "CREATE TABLE t (\n  a int\n)" || r.line != 2 || r.isError || r.count != -1 {
		t.Errorf("statement ok: %+v", r)
	}
	if recs[1].count != 2 {
		t.Errorf("statement count: %+v", recs[1])
	}
	if r := recs[2]; !r.isError || r.pattern.String() != "division by (zero|0)" {
		t.Errorf("statement error: %+v", r)
	}
	if r := recs[3]; !r.isError || r.pattern != nil || r.message != "22012: division by zero\nmore" {
		t.Errorf("multi-line error: %+v", r)
	}
	if r := recs[4]; r.types != "IT" || r.sort != rowSort || r.label != "lab" || strings.Join(r.expected, "|") != "1 x y|2 x y" || r.sql != "SELECT a, 'x y'\nFROM t" {
		t.Errorf("query: %+v", r)
	}
	if r := recs[5]; !r.isError || r.pattern.String() != "42P01" || r.kind != queryRecord {
		t.Errorf("query error: %+v", r)
	}
	if recs[6].sleep != 10*time.Millisecond || recs[7].kind != restartRecord {
		t.Errorf("sleep, restart: %+v %+v", recs[6], recs[7])
	}
	if r := recs[8]; r.conn != "other" || len(r.onlyIf) != 1 || len(r.expected) != 0 {
		t.Errorf("conditions: %+v", r)
	}
	if recs[9].kind != haltRecord || recs[9].conn != "" {
		t.Errorf("halt: %+v", recs[9])
	}
}

func TestParseLoops(t *testing.T) {
	recs := parse(t, `
loop i 0 2
foreach x a b
query T
SELECT '$i-${x}y'
----
$i-${x}y

endloop
endloop
`)
	var got []string
	for _, r := range recs {
		got = append(got, r.sql+"="+r.expected[0])
		if r.origin != nil {
			t.Error("a record in a loop has no one answer")
		}
	}
	if s := strings.Join(got, " "); s != "SELECT '0-ay'=0-ay SELECT '0-by'=0-by SELECT '1-ay'=1-ay SELECT '1-by'=1-by" {
		t.Error(s)
	}
}

func TestParseIncludeAndControl(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "b.part", "statement ok\nB\n")
	write(t, dir, "a.part", "query I\nA\n")
	recs, err := parseFile(write(t, dir, "main.slt", "control sortmode rowsort\n\ninclude *.part\n\nhash-threshold 3\n\nquery I nosort\nC\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(recs) != 3 || recs[0].sql != "A" || recs[0].sort != rowSort || recs[1].sql != "B" || recs[2].sort != noSort || recs[2].threshold != 3 {
		t.Errorf("%+v", recs)
	}
	if filepath.Base(recs[0].origin.file) != "a.part" {
		t.Errorf("origin %+v", recs[0].origin)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"system ok\nrm\n":                    "1: system is refused",
		"statement fine\nX\n":                "1: statement needs",
		"\nstatement count x\nX\n":           "2: statement count needs",
		"query I sideways lab\nX\n":          `1: unexpected "lab"`,
		"statement error (\nX\n":             "1: regular expression",
		"loop i 0 3\nstatement ok\nX\n":      "1: loop without endloop",
		"endloop\n":                          "1: endloop without loop",
		"include nothing*.slt\n":             "no such file",
		"control sortmode upside\n":          "1: only control sortmode",
		"nonsense\n":                         "1: unknown directive",
		"statement ok\n\n":                   "1: statement without SQL",
		"query I\n----\n1\n":                 "1: query without SQL",
		"loop i 0 1\n\nwhat\n\nendloop\n":    "3: unknown directive",
		"include x.slt\n":                    "nested too deeply",
		"loop i 0 1000000000\n\n\nendloop\n": "1: loop needs",
	} {
		_, err := parseFile(write(t, t.TempDir(), "x.slt", text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestHash(t *testing.T) {
	res := &result{columns: 2, rows: [][][]byte{{[]byte("2"), []byte("b")}, {[]byte("1"), nil}}}
	// md5 of "1\nNULL\n2\nb\n"
	if got := res.hash(rowSort); got != "4 values hashing to a639de320e13abdf28aab807f04bab61" {
		t.Error(got)
	}
}
