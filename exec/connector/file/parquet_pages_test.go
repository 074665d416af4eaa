package file

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

type pagesRow struct {
	K  int64    `parquet:"k"`
	KD int64    `parquet:"kd,dict"`
	KE int64    `parquet:"ke,delta"`
	KO *int64   `parquet:"ko,optional"`
	F  float64  `parquet:"f"`
	FD *float64 `parquet:"fd,optional,dict"`
	G  float32  `parquet:"g"`
	I  int32    `parquet:"i,dict"`
	IO *int32   `parquet:"io,optional"`
	S  string   `parquet:"s,plain"`
	SD string   `parquet:"sd,dict"`
	SO *string  `parquet:"so,optional,plain"`
	SE string   `parquet:"se,delta"`
	N  *int64   `parquet:"n,optional,dict"` // always NULL
}

const pagesColumns = "k bigint, kd bigint, ke bigint, ko bigint, f float8, fd float8, g float8, i bigint, io bigint, s text, sd text, so text, se text, n bigint"

func pagesFile(t *testing.T, r *rand.Rand, n int, o ...parquet.WriterOption) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[pagesRow](&buf, o...)
	texts := []string{"", "a", "zwölf", strings.Repeat("0123456789", 3), "sixteen letters.", "seventeen letters"}
	text := func() string {
		if r.IntN(3) == 0 {
			return fmt.Sprint(r.IntN(1000))
		}
		return texts[r.IntN(len(texts))]
	}
	for i := range n {
		x := pagesRow{K: r.Int64() - r.Int64(), KD: int64(r.IntN(30)), KE: int64(i), F: r.NormFloat64(), G: float32(r.IntN(100)) / 8, I: int32(r.IntN(5)) - 2, S: text(), SD: text(), SE: text()}
		if r.IntN(3) > 0 || i < 500 {
			a, b, c, d := r.Int64(), float64(r.IntN(9)), int32(r.Uint32()), text()
			x.KO, x.FD, x.IO, x.SO = &a, &b, &c, &d
		}
		if _, err := w.Write([]pagesRow{x}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// readPages reads a file from a row on; each looks at the reader between reads.
func readPages(path string, fields []field, at int64, each func(*parquetReader)) (string, error) {
	p, err := openParquet(path, fields, at, -1)
	if err != nil {
		return "", err
	}
	defer p.close()
	var ts []types.Type
	for i := range fields {
		ts = append(ts, fields[i].typ)
	}
	s := &sink{fields: fields, rows: batch.New(ts, 0)}
	for err == nil {
		each(p)
		s.bytes = 0
		err = p.read(s, s.rows.N+len(s.bad)+97)
	}
	if err != io.EOF {
		return "", err
	}
	var out strings.Builder
	for i := range s.rows.N {
		for c, v := range s.rows.Cols {
			if v.IsNull(i) {
				out.WriteString("|~")
			} else {
				out.Write(append([]byte{'|'}, types.Append(nil, ts[c], v.Datum(i), types.DefaultEnv())...))
			}
		}
		out.WriteByte('\n')
	}
	fmt.Fprint(&out, s.bad)
	return out.String(), nil
}

func firstDiff(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return fmt.Sprintf("line %d: %s\nwant %s", i, x[i], strings.Join(y[min(i, len(y)):min(i+1, len(y))], ""))
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(x), len(y))
}

// TestParquetPages: what is read past the library is what it reads, and either may begin, or take over, anywhere.
func TestParquetPages(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	fields := newFields(columnsOf(t, pagesColumns))
	path := filepath.Join(t.TempDir(), "x.parquet")
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli} {
		for _, version := range []int{1, 2} {
			n := 1 + r.IntN(4000)
			data := pagesFile(t, r, n, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(200+r.IntN(20_000)), parquet.MaxRowsPerRowGroup(int64(100+r.IntN(5000))))
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			want, err := readPages(path, fields, 0, func(p *parquetReader) { p.slow = true })
			if err != nil {
				t.Fatal(err)
			}
			fast := 0
			got, err := readPages(path, fields, 0, func(p *parquetReader) {
				fast = 0
				for _, c := range p.cur {
					if c.fast != nil {
						fast++
					}
				}
			})
			if err != nil || got != want {
				t.Fatalf("%s, version %d, %d rows: %v %s", codec, version, n, err, firstDiff(got, want))
			}
			if n > 500 && fast != 12 { // all but those in delta encoding
				t.Errorf("%s, version %d: %d columns were read past the library", codec, version, fast)
			}
			got, err = readPages(path, fields, 0, func(p *parquetReader) {
				for _, c := range p.cur {
					if c.fast != nil && c.row == c.rows && r.IntN(3) == 0 {
						if err := c.leaveFast(); err != nil {
							t.Fatal(err)
						}
					}
				}
			})
			if err != nil || got != want {
				t.Fatalf("%s, version %d, changing over: %v", codec, version, err)
			}
			lines := strings.SplitAfter(want, "\n")
			at := r.IntN(n)
			got, err = readPages(path, fields, int64(at), func(*parquetReader) {})
			if err != nil || got != strings.Join(lines[at:], "") {
				t.Fatalf("%s, version %d, from row %d: %v", codec, version, at, err)
			}
		}
	}
}

// TestParquetSpoilt reads files with wrong bytes: it ends, with rows or an error.
func TestParquetSpoilt(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	fields := newFields(columnsOf(t, pagesColumns))
	path := filepath.Join(t.TempDir(), "x.parquet")
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy} {
		data := pagesFile(t, r, 600, parquet.Compression(codec), parquet.DataPageVersion(1+r.IntN(2)), parquet.PageBufferSize(1000))
		for range 150 {
			spoilt := bytes.Clone(data)
			for range 1 + r.IntN(4) {
				spoilt[r.IntN(len(spoilt))] = byte(r.Uint32())
			}
			if err := os.WriteFile(path, spoilt, 0o600); err != nil {
				t.Fatal(err)
			}
			_, _ = readPages(path, fields, 0, func(*parquetReader) {})
		}
	}
}
