package file

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// decode reads data as a file, a few rows at a time, with a first block of n bytes, so that rows lie across blocks.
func decode(t testing.TB, o *options, cols []catalog.Column, data []byte, block, max int) (*batch.Batch, []string) {
	t.Helper()
	l := &lineReader{r: bytes.NewReader(data), limit: -1, buf: make([]byte, block)}
	s := &sink{fields: newFields(cols)}
	s.rows = batch.New(typesOf(cols), 0)
	var r reader
	var err error
	if o.format == "csv" {
		if r, err = newCSV(l, o, s.fields, true); err != nil {
			t.Fatal(err)
		}
	} else {
		r = newJSON(l, s.fields, true)
	}
	for err == nil {
		before := s.rows.N + len(s.bad)
		err = r.read(s, before+max)
		if err == nil && s.rows.N+len(s.bad) != before+max {
			t.Fatalf("%d rows were asked for, %d given", max, s.rows.N+len(s.bad)-before)
		}
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	if at, _ := r.pos(); at != int64(len(data)) {
		t.Fatalf("the reader ends at %d of %d bytes", at, len(data))
	}
	var bad []string
	for _, b := range s.bad {
		bad = append(bad, fmt.Sprintf("%d %s", b.Line, b.Err.Code))
	}
	return s.rows, bad
}

func typesOf(cols []catalog.Column) []types.Type {
	var ts []types.Type
	for _, c := range cols {
		ts = append(ts, c.Type)
	}
	return ts
}

// FuzzCSV compares text fields with encoding/csv, where that accepts the input: it knows no quotes within a field.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "\"x\"\"y\",z\n", "a,\"b\nc\"\n,\n", "\"", "a\r\nb,c\r\n", "\n\n,", "a,b,c\n", "\"a\"b,c"} {
		f.Add([]byte(s))
	}
	cols := columnsOf(f, "a text, b text")
	f.Fuzz(func(t *testing.T, data []byte) {
		o := &options{format: "csv", delimiter: ',', null: "\x00none"}
		got, bad := decode(t, o, cols, data, 7, 3)
		again, bad2 := decode(t, o, cols, data, blockBytes, 1<<20)
		if g, a := rowsText(got), rowsText(again); strings.Join(g, "\n") != strings.Join(a, "\n") || strings.Join(bad, "\n") != strings.Join(bad2, "\n") {
			t.Fatalf("blocks matter: %q %q, %q %q", g, bad, a, bad2)
		}
		if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 || bytes.IndexByte(data, '\r') >= 0 {
			return
		}
		rd := csv.NewReader(bytes.NewReader(data))
		rd.FieldsPerRecord = -1
		rows, err := rd.ReadAll()
		if err != nil {
			return
		}
		i, errs := 0, 0
		for _, row := range rows {
			if len(row) != 2 {
				errs++
				continue
			}
			if i == got.N || string(got.Cols[0].Bytes(i)) != row[0] || string(got.Cols[1].Bytes(i)) != row[1] {
				t.Fatalf("row %d is not %q: %q", i, row, rowsText(got))
			}
			i++
		}
		if i != got.N || errs != len(bad) {
			t.Fatalf("%d rows and %d bad ones, want %d and %d", got.N, len(bad), i, errs)
		}
	})
}

// FuzzJSON compares with encoding/json line by line.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":"x","n":1.5,"b":true}`, `{"a":"\u00e9","z":[1,{"a":2}]}`, `{"n":-0,"n":1e5,"a":null}`, `{"n":01}`, `{}`, ` { "b" : false } `, "{\"a\":\"\xff\"}", `{"a":1}{`, "null", "[]",
		`{"n":1E400}`, `{"":"","a":"b"}`} {
		f.Add([]byte(s))
	}
	cols := columnsOf(f, "a text, n float8, b bool")
	f.Fuzz(func(t *testing.T, data []byte) {
		o := &options{format: "json"}
		got, bad := decode(t, o, cols, data, 7, 3)
		again, bad2 := decode(t, o, cols, data, blockBytes, 1<<20)
		if g, a := rowsText(got), rowsText(again); strings.Join(g, "\n") != strings.Join(a, "\n") || strings.Join(bad, "\n") != strings.Join(bad2, "\n") {
			t.Fatalf("blocks matter: %q %q, %q %q", g, bad, a, bad2)
		}
		i, errs := 0, 0
		for _, line := range bytes.Split(data, []byte{'\n'}) {
			line = trimCR(line)
			if len(bytes.TrimLeft(line, " \t\r")) == 0 {
				continue
			}
			want, ok := reference(line)
			if !ok {
				errs++
				continue
			}
			if i == got.N || rowsText(got)[i] != want {
				t.Fatalf("line %q: want %q, got %q", line, want, rowsText(got))
			}
			i++
		}
		if i != got.N || errs != len(bad) {
			t.Fatalf("%d rows and %d bad ones, want %d and %d", got.N, len(bad), i, errs)
		}
	})
}

// reference decodes a line with encoding/json and types.Parse.
func reference(line []byte) (string, bool) {
	var obj map[string]json.RawMessage
	if !utf8.Valid(line) || json.Unmarshal(line, &obj) != nil || obj == nil {
		return "", false
	}
	var out []string
	for _, c := range []struct {
		name string
		t    types.Type
	}{{"a", types.Of(types.Text)}, {"n", types.Of(types.Float8)}, {"b", types.Of(types.Bool)}} {
		raw, ok := obj[c.name]
		if !ok || string(raw) == "null" {
			out = append(out, "~")
			continue
		}
		text := string(raw)
		if raw[0] == '"' {
			if json.Unmarshal(raw, &text) != nil {
				return "", false
			}
		}
		d, err := types.Parse(c.t, text, parseEnv)
		if err != nil {
			return "", false
		}
		out = append(out, string(types.Append(nil, c.t, d, parseEnv)))
	}
	return strings.Join(out, "|"), true
}

// FuzzField compares the short cuts with types.Parse.
func FuzzField(f *testing.F) {
	for _, s := range []string{"1", "-0", "12.5", ".5", "5.", "2024-02-29 10:20:30", "2023-02-29T00:00:00Z", "2024-01-01 00:00:00.123456", "0001-01-01 00:00:00", "true", "1e5", "999999999999999999", "123456789012345.", "2024-01-01 00:00:00.", "2000-12-31T23:59:59.9Z"} {
		f.Add(s)
	}
	fields := newFields(columnsOf(f, "a bigint, b int, c float8, d timestamp, e timestamptz, f bool, g text"))
	f.Fuzz(func(t *testing.T, s string) {
		for i := range fields {
			v := batch.NewVector(fields[i].typ, 1)
			err := fields[i].append(v, []byte(s))
			d, perr := types.Parse(fields[i].typ, s, parseEnv)
			if (err == nil) != (perr == nil) {
				t.Fatalf("%s %q: %v, types.Parse: %v", fields[i].typ, s, err, perr)
			}
			if err != nil {
				continue
			}
			got, want := types.Append(nil, v.Type, v.Datum(0), parseEnv), types.Append(nil, v.Type, d, parseEnv)
			if !bytes.Equal(got, want) {
				t.Fatalf("%s %q: %s, types.Parse: %s", fields[i].typ, s, got, want)
			}
		}
	})
}
