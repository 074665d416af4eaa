package file

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/connector"
)

// TestNotes: what is remarkable about files is told when a stream is made, and by its source as it reads.
func TestNotes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in")
	csv := map[string]string{"path": dir, "format": "csv", "header": "true", "match_pattern": "*.csv"}
	cfg := connector.Config{Options: csv, Columns: columnsOf(t, "k int, t text")}
	src, err := Connector{}.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	step := func(what, probe, note string) {
		t.Helper()
		got := ""
		if n := (Connector{}).Probe(cfg); n != nil {
			got = n.Severity + " " + n.Message
		}
		if want := strings.ReplaceAll(probe, "DIR", dir); got != want {
			t.Errorf("%s: the probe says\n %q, want\n %q", what, got, want)
		}
		for {
			c, err := src.Read(context.Background(), 100)
			if err != nil && err != io.EOF {
				t.Fatal(err)
			}
			if c == nil {
				break
			}
		}
		if got, want := src.(connector.Noter).Note(), strings.ReplaceAll(note, "DIR", dir); got != want {
			t.Errorf("%s: the source says\n %q, want\n %q", what, got, want)
		}
	}
	step("nothing", `WARNING directory or file "DIR" does not exist`, `directory or file "DIR" does not exist`)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a.txt", []byte("k,t\n1,x\n"))
	step("no file", `NOTICE no file in directory "DIR" matches "*.csv"`, `no file in directory "DIR" matches "*.csv"`)
	write(t, dir, "c.csv", []byte("t,K\nx,1\n"))
	step("as declared", "", "")
	write(t, dir, "b.csv", []byte("k,x,t\n1,2,3\n"))
	step("more", `NOTICE file b.csv has column "x" that the stream does not read`, `file b.csv has column "x" that the stream does not read`)
	write(t, dir, "d.csv", []byte("k,x,t\n1,2,3\n"))
	write(t, dir, "e.csv", []byte("k,t\n1,2\n"))
	step("the same again, and one that fits", `NOTICE file b.csv has column "x" that the stream does not read`, `file b.csv has column "x" that the stream does not read`)
	write(t, dir, "a.csv", []byte("y,k,k\n1,2,3\n"))
	differs := `file a.csv lacks column "t" of the stream, and has columns "y", "k" that the stream does not read`
	step("less", "WARNING "+differs, differs)
	write(t, dir, "Z.csv", []byte("y\n1\n"))
	step("none", "WARNING file Z.csv: the header names none of the stream's columns", differs)

	write(t, dir, "a.parquet", parquetFile(t, 3))
	cfg.Options = map[string]string{"path": dir, "format": "parquet", "match_pattern": "*.parquet", "bounded": "true"}
	cfg.Columns = columnsOf(t, "k int, t text, w text, ts timestamp, f float8, b bool, d date, n numeric, u uuid, v int")
	differs = `file a.parquet lacks columns "w", "v" of the stream, and has columns "o", "x" that the stream does not read`
	if src, err = (Connector{}).Open(cfg); err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	step("parquet", "WARNING "+differs, differs)

	cfg.Options = map[string]string{"path": dir, "format": "json", "match_pattern": "*.txt", "bounded": "true"}
	if src, err = (Connector{}).Open(cfg); err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	step("json that is none says nothing", "", "")
	cfg.Options = map[string]string{"path": dir, "format": "json", "match_pattern": "*.json"}
	cfg.Columns = columnsOf(t, "k int, t text")
	if src, err = (Connector{}).Open(cfg); err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	write(t, dir, "b.json", []byte(`{"t":"x","other":1}`+"\n"+`{"x":5}`+"\n"))
	step("json with one of them", "", "")
	write(t, dir, "d.json", []byte(`{"other":{"x":1},"k":1}`+"\n"))
	step("json with nested members", "", "")
	write(t, dir, "a.json", []byte("\n"+`{"K":1,"T":"x"}`+"\n"))
	differs = `file a.json has no member that is a column of the stream, but "K", "T"`
	step("json without", "WARNING "+differs, differs)
}

// TestManyNames: a note does not name hundreds of columns.
func TestManyNames(t *testing.T) {
	if got, want := difference(nil, strings.Split("a b c d e f g h i j", " ")), `has columns "a", "b", "c", "d", "e", "f", "g", "h" and 2 more that the stream does not read`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
