package main

import (
	"bufio"
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
)

// writePart writes a part as a file: Parquet with Snappy and dictionaries, one row group, columns that may be NULL; CSV with a header line; JSON
// lines. Times are milliseconds without zone.
func writePart(path, format string, t *table) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	switch {
	case format != "parquet":
		writeText(w, format == "json", t)
	case t.k1 != nil:
		err = writeRows(w, t, func(i int) eventRow {
			return eventRow{&t.ts[i], &t.k1[i], &t.k2[i], &t.k3[i], string(nameOf(nil, t.k2[i])), &t.v[i], price(t.cents[i])}
		})
	case t.v != nil:
		err = writeRows(w, t, func(i int) dupRow { return dupRow{&t.id[i], &t.ts[i], &t.v[i]} })
	default:
		err = writeRows(w, t, func(i int) idRow { return idRow{&t.id[i], &t.ts[i]} })
	}
	return errors.Join(err, w.Flush())
}

type eventRow struct {
	TS    *int64   `parquet:"ts,optional,dict,timestamp(millisecond:local)"`
	K1    *int64   `parquet:"k1,optional,dict"`
	K2    *int64   `parquet:"k2,optional,dict"`
	K3    *int64   `parquet:"k3,optional,dict"`
	Name  string   `parquet:"name,optional,dict"`
	V     *int64   `parquet:"v,optional,dict"`
	Price *float64 `parquet:"price,optional,dict"`
}

type dupRow struct {
	ID *int64 `parquet:"id,optional,dict"`
	TS *int64 `parquet:"ts,optional,dict,timestamp(millisecond:local)"`
	V  *int64 `parquet:"v,optional,dict"`
}

type idRow struct {
	ID *int64 `parquet:"id,optional,dict"`
	TS *int64 `parquet:"ts,optional,dict,timestamp(millisecond:local)"`
}

func price(cents int64) *float64 {
	p := float64(cents) / 100
	return &p
}

func writeRows[T any](w *bufio.Writer, t *table, row func(int) T) error {
	rows := make([]T, t.rows())
	for i := range rows {
		rows[i] = row(i)
	}
	pw := parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1), parquet.PageBufferSize(1<<20))
	if _, err := pw.Write(rows); err != nil {
		return err
	}
	return pw.Close()
}

// writeText writes the columns of events.
func writeText(w *bufio.Writer, json bool, t *table) {
	line := []byte("ts,k1,k2,k3,name,v,price\n")
	if !json {
		_, _ = w.Write(line)
	}
	names := [...]string{`{"ts":"`, `","k1":`, `,"k2":`, `,"k3":`, `,"name":"`, `","v":`, `,"price":`}
	for i := range t.rows() {
		line = line[:0]
		for c, name := range names {
			if json {
				line = append(line, name...)
			} else if c > 0 {
				line = append(line, ',')
			}
			switch c {
			case 0:
				line = time.UnixMilli(t.ts[i]).UTC().AppendFormat(line, "2006-01-02 15:04:05.000")
			case 1, 2, 3, 5:
				line = strconv.AppendInt(line, [...][]int64{nil, t.k1, t.k2, t.k3, nil, t.v}[c][i], 10)
			case 4:
				line = nameOf(line, t.k2[i])
			default:
				line = strconv.AppendFloat(line, float64(t.cents[i])/100, 'f', -1, 64)
			}
		}
		if json {
			line = append(line, '}')
		}
		_, _ = w.Write(append(line, '\n'))
	}
}
