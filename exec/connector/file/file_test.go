package file

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// columnsOf reads "k bigint, t text not null".
func columnsOf(t testing.TB, def string) []catalog.Column {
	t.Helper()
	kinds := map[string]types.Type{"bigint": types.Of(types.Int8), "int": types.Of(types.Int4), "text": types.Of(types.Text), "timestamp": types.Of(types.Timestamp),
		"float8": types.Of(types.Float8), "float4": types.Of(types.Float4), "bool": types.Of(types.Bool), "numeric": types.Of(types.Numeric), "jsonb": types.Of(types.JSONB), "date": types.Of(types.Date),
		"uuid": types.Of(types.UUID), "timestamptz": types.Of(types.TimestampTZ), "int[]": types.ArrayOf(types.Of(types.Int4))}
	var out []catalog.Column
	for _, d := range strings.Split(def, ",") {
		f := strings.Fields(d)
		ty, ok := kinds[f[1]]
		if !ok {
			t.Fatalf("no type %s", f[1])
		}
		out = append(out, catalog.Column{Name: f[0], Type: ty, NotNull: len(f) > 2})
	}
	return out
}

func write(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// rowsText shows rows as text, fields divided by |, NULL as ~.
func rowsText(b *batch.Batch) []string {
	var out []string
	for i := 0; i < b.N; i++ {
		var f []string
		for _, v := range b.Cols {
			if v.N != b.N {
				panic(fmt.Sprintf("a column has %d values, the batch %d rows", v.N, b.N))
			}
			if v.IsNull(i) {
				f = append(f, "~")
			} else {
				f = append(f, string(types.Append(nil, v.Type, v.Datum(i), parseEnv)))
			}
		}
		out = append(out, strings.Join(f, "|"))
	}
	return out
}

// drain reads a source to where it has nothing more, and reads all extents again.
func drain(t testing.TB, src connector.Source, cfg connector.Config, max int) (rows, bad []string) {
	t.Helper()
	again, err := Connector{}.Reread(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for {
		c, err := src.Read(context.Background(), max)
		if err == io.EOF || err == nil && c == nil {
			return rows, bad
		}
		if err != nil {
			t.Fatal(err)
		}
		got := rowsText(c.Rows)
		rows = append(rows, got...)
		for _, b := range c.Bad {
			bad = append(bad, fmt.Sprintf("%s:%d %s %s", b.Part, b.Line, b.Err.Code, b.Err.Message))
		}
		if c.Extent.Rows != int64(c.Rows.N) || c.Extent.Errors != int64(len(c.Bad)) {
			t.Fatalf("the extent tells of %d rows, %d errors; there are %d, %d", c.Extent.Rows, c.Extent.Errors, c.Rows.N, len(c.Bad))
		}
		b, err := again.Reread(context.Background(), &c.Extent)
		if err != nil {
			t.Fatal(err)
		}
		if r := rowsText(b); !slices.Equal(r, got) {
			t.Fatalf("read again: %q, was %q", r, got)
		}
	}
}

// readAll reads a directory with several chunk sizes, which must not matter.
func readAll(t testing.TB, dir, cols string, opts map[string]string) (rows, bad []string) {
	t.Helper()
	o := map[string]string{"path": dir, "bounded": "true"}
	for k, v := range opts {
		o[k] = v
	}
	cfg := connector.Config{Options: o, Columns: columnsOf(t, cols), Fingerprint: true}
	for i, max := range []int{1 << 16, 1, 3} {
		src, err := Connector{}.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		r, b := drain(t, src, cfg, max)
		src.Close()
		if i > 0 && (!slices.Equal(r, rows) || !slices.Equal(b, bad)) {
			t.Fatalf("chunks of %d rows give %q %q, else %q %q", max, r, b, rows, bad)
		}
		rows, bad = r, b
	}
	return rows, bad
}

func expect(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestCSV(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.csv", []byte("1,one,2024-01-01 00:00:01\r\n2,,\n\n3,\"\",2024-02-29T12:00:00.5Z\nx,bad,\n4,\"a,\"\"b\"\"\nc\",infinity\n5\n6,a,,b\n7,pl\"ai,n\"!,"))
	rows, bad := readAll(t, dir, "k bigint, t text, ts timestamp", map[string]string{"format": "csv"})
	expect(t, "rows", rows, []string{"1|one|2024-01-01 00:00:01", "2|~|~", "3||2024-02-29 12:00:00.5", "4|a,\"b\"\nc|infinity", "7|plai,n!|~"})
	expect(t, "bad", bad, []string{`a.csv:5 22P02 invalid input syntax for type bigint: "x", column "k"`, `a.csv:8 22P04 missing data for column "t"`,
		`a.csv:9 22P04 extra data after last expected column`})
}

func TestCSVHeader(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.csv", []byte("\ufeffT;other;K\none;x;1\n\"two\";y;2\n"))
	write(t, dir, "b.csv", []byte("k;t\n3;N\n4;\n"))
	write(t, dir, "c.csv", []byte("nothing;of;it\n1;2;3\n"))
	write(t, dir, "d.csv", nil)
	write(t, dir, ".e.csv", []byte("k\n9\n"))
	write(t, dir, "f.txt", []byte("k\n9\n"))
	rows, bad := readAll(t, dir, "k int notnull, t text, z float8", map[string]string{"format": "csv", "header": "true", "delimiter": ";", "match_pattern": "*.csv", "null": "N"})
	expect(t, "rows", rows, []string{"1|one|~", "2|two|~", "3|~|~", "4||~"})
	expect(t, "bad", bad, []string{`c.csv:0 22P04 the header names none of the stream's columns`})
}

func TestJSON(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.json", []byte(`{"k":1,"t":"one","ts":"2024-01-01T00:00:00Z","j":{"a":[1,{}]},"b":true,"a":[1,null,3]}
{"t":"esc\"aped \u00e9","k":2}

 { "k" : 3 , "k" : 4, "t" : null, "x": 1.5e3, "b": false }
{"k":"5","t":12}
{"k":1.5}
{"k":01}
[1]
null
{"k":6,"t":"`+"\xff"+`"}
{"k":7,"j":"s"}
{"k":8`))
	rows, bad := readAll(t, dir, "k bigint, t text, ts timestamptz, j jsonb, b bool, a int[]", map[string]string{"format": "json"})
	expect(t, "rows", rows, []string{`1|one|2024-01-01 00:00:00+00|{"a": [1, {}]}|t|{1,NULL,3}`, `2|esc"aped é|~|~|~|~`, `4|~|~|~|f|~`, `5|12|~|~|~|~`, `7|~|~|"s"|~|~`})
	for i := range bad {
		bad[i] = bad[i][:strings.IndexByte(bad[i], ' ')+6]
	}
	expect(t, "bad", bad, []string{"a.json:6 22P02", "a.json:7 22032", "a.json:8 22032", "a.json:9 22032", "a.json:10 22021", "a.json:12 22032"})
}

func TestCompressionAndOrder(t *testing.T) {
	dir := t.TempDir()
	var gz, zs bytes.Buffer
	z := gzip.NewWriter(&gz)
	var want []string
	for i := range 50_000 {
		fmt.Fprintf(z, "%d,\"v%d\"\n", i, i)
		want = append(want, fmt.Sprintf("%d|v%d", i, i))
	}
	z.Close()
	zw, _ := zstd.NewWriter(&zs)
	for i := range 1000 {
		fmt.Fprintf(zw, "%d,z\n", i)
	}
	zw.Close()
	write(t, dir, "b.csv.gz", gz.Bytes())
	write(t, dir, "a.csv.zst", zs.Bytes())
	write(t, dir, "c.csv.gz", gz.Bytes()[:gz.Len()/2])
	cfg := connector.Config{Options: map[string]string{"path": dir, "format": "csv", "bounded": "true"}, Columns: columnsOf(t, "k int, t text"), Fingerprint: true}
	src, err := Connector{}.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	rows, bad := drain(t, src, cfg, 4096)
	if len(rows) < 52_000 || rows[0] != "0|z" || !slices.Equal(rows[1000:51_000], want) || rows[51_000] != "0|v0" {
		t.Fatalf("%d rows", len(rows))
	}
	if len(bad) != 1 || !strings.HasPrefix(bad[0], "c.csv.gz:0 22P04 the file is damaged") {
		t.Errorf("bad: %q", bad)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "b.csv.gz"), old, old); err != nil {
		t.Fatal(err)
	}
	o := &options{root: dir, pattern: "*", byTime: true}
	files, err := o.list()
	if err != nil || files[0].name != "b.csv.gz" {
		t.Errorf("in order of time: %v, %v", files, err)
	}
}

type parquetRow struct {
	K  int64     `parquet:"k"`
	T  *string   `parquet:"t,optional,dict"`
	TS time.Time `parquet:"ts,timestamp(millisecond)"`
	F  float64   `parquet:"f"`
	B  bool      `parquet:"b"`
	D  int32     `parquet:"d,date"`
	N  int64     `parquet:"n,decimal(2:10)"`
	U  [16]byte  `parquet:"u,uuid"`
	O  *int32    `parquet:"o,optional"`
	X  []int64   `parquet:"x"`
}

func parquetFile(t testing.TB, n int) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[parquetRow](&buf, parquet.MaxRowsPerRowGroup(1000), parquet.PageBufferSize(2000))
	for i := range n {
		r := parquetRow{K: int64(i), TS: time.UnixMilli(1_700_000_000_000 + int64(i)).UTC(), F: float64(i) / 4, B: i%2 == 0, D: int32(i), N: int64(i - 5), U: [16]byte{15: byte(i)}}
		if i%3 > 0 {
			s := fmt.Sprintf("t%d", i%7)
			o := int32(i) * 1000
			r.T, r.O = &s, &o
		}
		if _, err := w.Write([]parquetRow{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestParquet(t *testing.T) {
	dir := t.TempDir()
	const n = 2500
	write(t, dir, "a.parquet", parquetFile(t, n))
	write(t, dir, "b.parquet", []byte("PAR1 this is none PAR1"))
	cfg := connector.Config{Options: map[string]string{"path": dir, "format": "parquet", "bounded": "true"}, Fingerprint: true,
		Columns: columnsOf(t, "n numeric, t text, k bigint, ts timestamp, f float8, b bool, d date, u uuid, o int, absent text")}
	var want []string
	for i := range n {
		txt, o := "~", "~"
		if i%3 > 0 {
			txt, o = fmt.Sprintf("t%d", i%7), fmt.Sprint(i*1000)
		}
		b := map[bool]string{true: "t", false: "f"}[i%2 == 0]
		num := fmt.Sprintf("%.2f", float64(i-5)/100)
		day := time.Unix(int64(i)*86400, 0).UTC().Format("2006-01-02")
		ts := strings.TrimRight(strings.TrimRight(time.UnixMilli(1_700_000_000_000+int64(i)).UTC().Format("2006-01-02 15:04:05.000"), "0"), ".")
		want = append(want, fmt.Sprintf("%s|%s|%d|%s|%v|%s|%s|00000000-0000-0000-0000-0000000000%02x|%s|~", num, txt, i, ts, float64(i)/4, b, day, byte(i), o))
	}
	for _, max := range []int{1 << 16, 777} {
		src, err := Connector{}.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		rows, bad := drain(t, src, cfg, max)
		if !slices.Equal(rows, want) {
			for i := range rows {
				if rows[i] != want[i] {
					t.Fatalf("row %d: %s, want %s", i, rows[i], want[i])
				}
			}
			t.Fatalf("%d rows, want %d", len(rows), n)
		}
		if len(bad) != 1 || !strings.HasPrefix(bad[0], "b.parquet:0 22P04") {
			t.Errorf("bad: %q", bad)
		}
	}
}

// TestParquetBadRows: values that do not fit are bad rows, the others of their chunk stay.
func TestParquetBadRows(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.parquet", parquetFile(t, 40))
	rows, bad := readAll(t, dir, "o int notnull, k bigint, t text", map[string]string{"format": "parquet"})
	if len(rows) != 26 || rows[0] != "1000|1|t1" || len(bad) != 14 || !strings.HasPrefix(bad[1], "a.parquet:4 23502") {
		t.Errorf("%q %q", rows, bad)
	}
	if rows, bad = readAll(t, dir, "x bigint", map[string]string{"format": "parquet"}); len(rows) != 0 || len(bad) != 1 || !strings.Contains(bad[0], "nested") {
		t.Errorf("%q %q", rows, bad)
	}
	if rows, bad = readAll(t, dir, "t bigint", map[string]string{"format": "parquet"}); len(rows) != 14 || len(bad) != 26 {
		t.Errorf("%q %q", rows, bad)
	}
}

// TestGrowth: a file that is being written, resumption from an offset, and changes that must be noticed.
func TestGrowth(t *testing.T) {
	dir := t.TempDir()
	cfg := connector.Config{Options: map[string]string{"path": dir, "format": "csv"}, Columns: columnsOf(t, "k int"), Fingerprint: true, Offset: &connector.Offset{}}
	src, _ := Connector{}.Open(cfg)
	step := func(want ...string) {
		t.Helper()
		rows, bad := drain(t, src, cfg, 100)
		expect(t, "rows", append(rows, bad...), want)
	}
	step()
	write(t, dir, "a.csv", []byte("1\n2\n3"))
	step("1", "2")
	write(t, dir, "a.csv", []byte("1\n2\n34\n"))
	step("34")
	write(t, dir, "b.csv", []byte("5\n"))
	step("5")
	cfg.Offset = cfg.Offset.Clone()
	src.Close()
	src, _ = Connector{}.Open(cfg)
	step()
	write(t, dir, "a.csv", []byte("1\n2\n34\n6"))
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(dir, "a.csv"), old, old); err != nil {
		t.Fatal(err)
	}
	step("6")
	write(t, dir, "a.csv", []byte("1\n2\n34\n67\n"))
	if _, err := src.Read(context.Background(), 10); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("a row that was taken went on: %v", err)
	}
}

// TestManyFiles: of files that were read long ago an offset has little, and none is read twice, changes unseen, or can't grow.
func TestManyFiles(t *testing.T) {
	const files = 1500
	dir := t.TempDir()
	name := func(i int) string { return fmt.Sprintf("%05d.csv", i) }
	for i := range files {
		write(t, dir, name(i), fmt.Appendf(nil, "%d\n", i))
	}
	cfg := connector.Config{Options: map[string]string{"path": dir, "format": "csv"}, Columns: columnsOf(t, "k int"), Fingerprint: true, Offset: &connector.Offset{}}
	src, _ := Connector{}.Open(cfg)
	rows, _ := drain(t, src, cfg, 100)
	if len(rows) != files || len(cfg.Offset.Parts) > 1024 {
		t.Fatalf("%d rows, %d files in full", len(rows), len(cfg.Offset.Parts))
	}
	src.Close()
	b, err := json.Marshal(cfg.Offset)
	if err != nil {
		t.Fatal(err)
	}
	open := func() {
		cfg.Offset = &connector.Offset{}
		if err := json.Unmarshal(b, cfg.Offset); err != nil {
			t.Fatal(err)
		}
		src, _ = Connector{}.Open(cfg)
	}
	open()
	write(t, dir, name(7), []byte("7\n8\nx\n"))
	write(t, dir, "0.csv", []byte("1\n"))
	rows, bad := drain(t, src, cfg, 100)
	expect(t, "rows", rows, []string{"1", "8"})
	if len(bad) != 1 || !strings.HasPrefix(bad[0], name(7)+":3 ") {
		t.Errorf("bad rows: %q", bad)
	}
	open()
	write(t, dir, name(8), nil)
	if _, err := src.Read(context.Background(), 10); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("a file became shorter: %v", err)
	}
}

// TestMaxFileAge: what is found at once is read, however old; later, files that are too old are passed over and those that were read forgotten.
func TestMaxFileAge(t *testing.T) {
	dir := t.TempDir()
	aged := func(name string, hours int) {
		write(t, dir, name, []byte(name+"\n"))
		at := time.Date(2025, 1, 10, 0, 0, 0, 0, time.UTC).Add(-time.Duration(hours) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	cfg := connector.Config{Options: map[string]string{"path": dir, "format": "csv", "max_file_age": "2 days"}, Columns: columnsOf(t, "k text"), Fingerprint: true, Offset: &connector.Offset{}}
	src, _ := Connector{}.Open(cfg)
	aged("a", 24*9)
	aged("b", 24)
	rows, _ := drain(t, src, cfg, 1)
	expect(t, "at once", rows, []string{"a", "b"})
	aged("c", 24*4)
	aged("d", 24*2)
	rows, _ = drain(t, src, cfg, 100)
	expect(t, "later", rows, []string{"d"})
	aged("e", 0)
	rows, _ = drain(t, src, cfg, 100)
	expect(t, "newer", rows, []string{"e"})
	aged("f", 24*2+1)
	src.Close()
	cfg.Offset = cfg.Offset.Clone()
	src, _ = Connector{}.Open(cfg)
	rows, _ = drain(t, src, cfg, 100)
	expect(t, "after a restart", rows, nil)
}

func TestRereadChanged(t *testing.T) {
	for _, now := range []string{"1\n3\n", "1\n", "1\n\n2\n", "1\n23\n", "1\n2\n3\n"} {
		dir := t.TempDir()
		cfg := connector.Config{Options: map[string]string{"path": dir, "format": "csv", "bounded": "true"}, Columns: columnsOf(t, "k int"), Fingerprint: true}
		write(t, dir, "a.csv", []byte("1\n2\n"))
		src, _ := Connector{}.Open(cfg)
		c, err := src.Read(context.Background(), 100)
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, "a.csv", []byte(now))
		r, _ := Connector{}.Reread(cfg)
		if _, err := r.Reread(context.Background(), &c.Extent); (err == nil) != (now == "1\n2\n3\n") {
			t.Errorf("%q: %v", now, err)
		}
	}
}

func TestOptions(t *testing.T) {
	base := func(kv ...string) map[string]string {
		m := map[string]string{"path": "/d", "format": "csv"}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return m
	}
	for _, bad := range []map[string]string{{}, {"path": "/d"}, base("format", "xml"), base("delimiter", "ab"), base("header", "maybe"), base("headers", "true"),
		base("order", "size"), base("posix_fs.root", "/e"), base("header", "true", "without_header", "true"), base("format", "json", "header", "true"), base("match_pattern", "["), base("max_file_age", "1 month"), base("max_file_age", "-1 day"), base("max_file_age", "0")} {
		if _, err := parseOptions(bad); err == nil || !strings.Contains(fmt.Sprintf("%v", err), "") {
			t.Errorf("%v is accepted", bad)
		}
	}
	o, err := parseOptions(base("without_header", "false", "delimiter", `\t`, "order", "time"))
	if err != nil || !o.header || o.delimiter != '\t' || !o.byTime {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestUnreadable: a file that can't be read holds back what comes behind it, not what comes before.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.csv", []byte("1\n"))
	write(t, dir, "c.csv", []byte("3\n"))
	cfg := connector.Config{Options: map[string]string{"path": dir, "format": "csv", "bounded": "true"}, Columns: columnsOf(t, "k int"), Fingerprint: true}
	src, _ := Connector{}.Open(cfg)
	s := src.(*source)
	if err := s.poll(); err != nil {
		t.Fatal(err)
	}
	// A folder can be opened and not be read.
	s.queue = slices.Insert(s.queue, 1, found{name: "b.csv", path: dir, size: 1})
	c, err := src.Read(context.Background(), 100)
	if err != nil || c.Rows.N != 1 || len(c.Extent.Spans) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if c, err = src.Read(context.Background(), 100); err == nil {
		t.Fatalf("%+v", c)
	}
	s.queue[0] = found{name: "b.csv", path: filepath.Join(dir, "a.csv"), size: 2}
	if c, err = src.Read(context.Background(), 100); err != nil || c.Rows.N != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
}
