package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/exec/connector/file"
	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// fileWorkload is a tumbling window over a file: parsed, recorded, kept up to date as a user would have it. The -offsets variants keep no
// rows in the log (retention = '0').
type fileWorkload struct {
	name, format, retention string
	goal                    float64 // million rows a second and core
}

var fileWorkloads = []fileWorkload{
	{"file-csv", "csv", "all", 4}, {"file-csv-offsets", "csv", "0", 4},
	{"file-json", "json", "all", 2.5}, {"file-json-offsets", "json", "0", 2.5},
	{"file-parquet", "parquet", "all", 5}, {"file-parquet-offsets", "parquet", "0", 5},
}

// fileEpochs is how many batches of epochRows a file has.
const fileEpochs = 48

// measure makes the file and reads it on a database of its own.
func (w *fileWorkload) measure(ctx context.Context, o *Options) (_ *result, err error) {
	dir, err := os.MkdirTemp("", "tidemark-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	n := fileEpochs
	if o.Smoke {
		n = 2
	}
	query1k := tumbling(w.name, "bigint", 1000, time.Second, n, 0)
	src := newSource(query1k)
	path := filepath.Join(dir, "events."+w.format)
	if err := w.write(path, src, n); err != nil {
		return nil, err
	}
	d, err := openDatabase(ctx, engine.Options{Connectors: map[string]connector.Connector{"file": file.Connector{}}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	s := d.s
	r := &result{name: w.name, goal: w.goal, events: int64(n) * epochRows}
	// In one transaction: the view has no history to catch up with.
	all := []string{"BEGIN",
		fmt.Sprintf("CREATE STREAM events (k bigint, v bigint, x bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 second') WITH (connector = 'file', path = '%s', format = '%s', bounded = 'true', retention = '%s')", path, w.format, w.retention),
		query1k.create(o), "COMMIT", "WAIT FOR events"}
	if err := r.measure(o, func() (fed, error) {
		start := time.Now()
		for _, q := range all {
			if _, err := query(ctx, s, q); err != nil {
				return fed{}, err
			}
		}
		return fed{elapsed: time.Since(start)}, nil
	}, func() error {
		_, err := query(ctx, s, "CHECKPOINT")
		return err
	}); err != nil {
		return nil, err
	}
	if err := r.rows(ctx, s, 0); err != nil {
		return nil, err
	}
	rows, err := query(ctx, s, query1k.sums)
	if err != nil {
		return nil, err
	}
	return r, query1k.check(src, rows)
}

// fileRow is a row of the Parquet file.
type fileRow struct {
	K  int64 `parquet:"k"`
	V  int64 `parquet:"v"`
	X  int64 `parquet:"x"`
	TS int64 `parquet:"ts,timestamp(microsecond)"`
}

// write makes a file of n batches.
func (w *fileWorkload) write(path string, src *source, n int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<20)
	if w.format == "parquet" {
		pw := parquet.NewGenericWriter[fileRow](out, parquet.Compression(&parquet.Snappy))
		for range n {
			b := src.next()
			if _, err := pw.Write(fileRows(b)); err != nil {
				return err
			}
		}
		return errors.Join(pw.Close(), out.Flush())
	}
	var line []byte
	for range n {
		b := src.next()
		for i := 0; i < b.N; i++ {
			line = w.line(line[:0], b, i)
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

func fileRows(b *batch.Batch) []fileRow {
	rows := make([]fileRow, b.N)
	for i := range rows {
		rows[i] = fileRow{b.Cols[0].I64[i], b.Cols[1].I64[i], b.Cols[2].I64[i], b.Cols[3].I64[i]}
	}
	return rows
}

// line writes a row as a line of CSV or JSON.
func (w *fileWorkload) line(dst []byte, b *batch.Batch, i int) []byte {
	names := [...]string{`{"k":`, `,"v":`, `,"x":`, `,"ts":"`}
	for c, name := range names {
		if w.format == "json" {
			dst = append(dst, name...)
		} else if c > 0 {
			dst = append(dst, ',')
		}
		if c < 3 {
			dst = strconv.AppendInt(dst, b.Cols[c].I64[i], 10)
		} else {
			dst = types.Append(dst, b.Cols[c].Type, b.Cols[c].Datum(i), nil)
		}
	}
	if w.format == "json" {
		dst = append(dst, `"}`...)
	}
	return append(dst, '\n')
}
