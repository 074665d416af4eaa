package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/tidemarkdb/tidemark/exec/connector"
)

const benchRows = 1 << 18

type benchRow struct {
	K  int64     `parquet:"k"`
	V  int64     `parquet:"v"`
	X  int64     `parquet:"x"`
	TS time.Time `parquet:"ts,timestamp(microsecond)"`
}

// benchFile makes rows of four fields.
func benchFile(b *testing.B, format string) []byte {
	b.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[benchRow](&buf)
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range benchRows {
		k, v, x, ts := i*7919%1000, i*31%65536, i%1000, at.Add(time.Duration(i)*15*time.Microsecond)
		switch format {
		case "csv":
			fmt.Fprintf(&buf, "%d,%d,%d,%s\n", k, v, x, ts.Format("2006-01-02 15:04:05.000000"))
		case "quoted":
			fmt.Fprintf(&buf, "\"%d\",%d,%d,\"%s\"\n", k, v, x, ts.Format("2006-01-02 15:04:05.000000"))
		case "json":
			fmt.Fprintf(&buf, "{\"k\":%d,\"v\":%d,\"x\":%d,\"ts\":\"%s\"}\n", k, v, x, ts.Format("2006-01-02T15:04:05.000000Z"))
		case "parquet":
			if _, err := w.Write([]benchRow{{int64(k), int64(v), int64(x), ts}}); err != nil {
				b.Fatal(err)
			}
		}
	}
	if format == "parquet" {
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	return buf.Bytes()
}

// writerRow is a row as other writers make it: columns that may be NULL, dictionaries, a text, milliseconds.
type writerRow struct {
	TS    *int64   `parquet:"ts,optional,dict,timestamp(millisecond:local)"`
	K     *int64   `parquet:"k,optional,dict"`
	Name  string   `parquet:"name,optional,dict"`
	Price *float64 `parquet:"price,optional,dict"`
}

// BenchmarkDecodeDictionaries reads a Parquet file of such rows.
func BenchmarkDecodeDictionaries(b *testing.B) {
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[writerRow](&buf, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(50_000))
	for i := range int64(benchRows) {
		ts, k, price := 1_700_000_000_000+i-i*7919%60_000, i*7919%100_000, float64(i*31%100_000)/100
		if _, err := w.Write([]writerRow{{&ts, &k, fmt.Sprintf("name-%07d", k), &price}}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	write(b, dir, "f", buf.Bytes())
	decodeAll(b, connector.Config{Options: map[string]string{"path": dir, "bounded": "true", "format": "parquet"},
		Columns: columnsOf(b, "ts timestamp, k bigint, name text, price float8")})
}

// BenchmarkDecode reads files of rows of four fields into batches.
func BenchmarkDecode(b *testing.B) {
	for _, format := range []string{"csv", "quoted", "json", "parquet"} {
		b.Run(format, func(b *testing.B) {
			dir := b.TempDir()
			write(b, dir, "f", benchFile(b, format))
			o := map[string]string{"path": dir, "bounded": "true", "format": format}
			if format == "quoted" {
				o["format"] = "csv"
			}
			decodeAll(b, connector.Config{Options: o, Columns: columnsOf(b, "k bigint, v bigint, x bigint, ts timestamp")})
		})
	}
}

// decodeAll reads the files again and again.
func decodeAll(b *testing.B, cfg connector.Config) {
	b.ReportAllocs()
	for b.Loop() {
		src, err := Connector{}.Open(cfg)
		if err != nil {
			b.Fatal(err)
		}
		n := int64(0)
		for {
			c, err := src.Read(context.Background(), 1<<16)
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			n += c.Extent.Rows
		}
		src.Close()
		if n != benchRows {
			b.Fatalf("%d rows", n)
		}
	}
	b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
