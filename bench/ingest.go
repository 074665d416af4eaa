package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// ingestWorkload sends the events of the tumbling-1k workload over the wire, with its view behind them. send sends a number of epochs of them.
type ingestWorkload struct {
	name   string
	goal   float64 // million rows per CPU second of the server
	epochs int     // of epochRows rows
	send   func(ctx context.Context, c *pgx.Conn, src *source, epochs int) error
}

var ingestWorkloads = []ingestWorkload{
	{"wire-copy-binary", 1.5, 64, copyWith("binary", binaryRows)},
	{"wire-copy-csv", 1, 64, copyWith("csv", csvRows)},
	{"wire-copy-text", 1, 64, copyWith("text", textRows)},
	{"wire-insert-values", 0, 6, insertValues},
	{"wire-insert-pipeline", 0, 3, insertPipeline},
}

// copyEpochs is how many batches of epochRows one COPY has.
const copyEpochs = 8

const ingestTable = "CREATE STREAM events (k bigint, v bigint, x bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 second')"

// measure runs the workload against a server of its own.
func (w *ingestWorkload) measure(ctx context.Context, o *Options) ([]Figure, error) {
	s, err := o.startServer(ctx, w.name)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	n := w.epochs
	if o.Smoke {
		n = 2
	}
	view := tumbling(w.name, "bigint", 1000, time.Second, n, 0)
	c, err := s.connect(ctx, ingestTable, view.create(o))
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	src := newSource(view)
	if err := w.send(ctx, c, src, 1); err != nil { // warms up
		return nil, err
	}
	cpu, start := s.cpu(), time.Now()
	if err := w.send(ctx, c, src, n); err != nil {
		return nil, err
	}
	cpu, wall := s.cpu()-cpu, time.Since(start)
	rows, err := textQuery(ctx, c, view.sums)
	if err != nil {
		return nil, err
	}
	million := float64(n) * epochRows / 1e6
	return []Figure{
		{w.name, "server", million / max(cpu.Seconds(), 0.01), "M rows/s/core", w.goal, false},
		{w.name, "client and server", million / wall.Seconds(), "M rows/s", 0, false},
	}, view.check(src, rows)
}

// textQuery runs a query and gives its rows as text.
func textQuery(ctx context.Context, c *pgx.Conn, q string) ([][]string, error) {
	rows, err := c.Query(ctx, q, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out [][]string
	for rows.Next() {
		var row []string
		for _, v := range rows.RawValues() {
			row = append(row, string(v))
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// copyWith sends events by COPY in a format; form appends a batch to dst.
func copyWith(format string, form func(dst []byte, b *batch.Batch) []byte) func(context.Context, *pgx.Conn, *source, int) error {
	return func(ctx context.Context, c *pgx.Conn, src *source, epochs int) error {
		for epochs > 0 {
			n := min(epochs, copyEpochs)
			epochs -= n
			r := &copyReader{src: src, left: n, form: form}
			if format == "binary" {
				r.head, r.tail = []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"), []byte{0xff, 0xff}
			}
			tag, err := c.PgConn().CopyFrom(ctx, r, "COPY events FROM STDIN (FORMAT "+format+")")
			if err != nil {
				return err
			}
			if tag.RowsAffected() != int64(n)*epochRows {
				return fmt.Errorf("COPY took %d rows", tag.RowsAffected())
			}
		}
		return nil
	}
}

// copyReader gives events in a form of COPY.
type copyReader struct {
	src        *source
	left       int
	form       func(dst []byte, b *batch.Batch) []byte
	head, tail []byte
	buf        []byte
	rest       []byte
}

// Read implements io.Reader.
func (r *copyReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		switch {
		case r.head != nil:
			r.rest, r.head = r.head, nil
		case r.left > 0:
			r.left--
			r.buf = r.form(r.buf[:0], r.src.next())
			r.rest = r.buf
		case r.tail != nil:
			r.rest, r.tail = r.tail, nil
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func binaryRows(dst []byte, b *batch.Batch) []byte {
	// Times are sent as microseconds since 2000.
	const epoch2000 = 946_684_800_000_000
	for i := 0; i < b.N; i++ {
		dst = append(dst, 0, 4)
		for c, v := range b.Cols {
			x := v.I64[i]
			if c == 3 {
				x -= epoch2000
			}
			dst = append(dst, 0, 0, 0, 8)
			dst = binary.BigEndian.AppendUint64(dst, uint64(x))
		}
	}
	return dst
}

func csvRows(dst []byte, b *batch.Batch) []byte  { return separatedRows(dst, b, ',') }
func textRows(dst []byte, b *batch.Batch) []byte { return separatedRows(dst, b, '\t') }

func separatedRows(dst []byte, b *batch.Batch, sep byte) []byte {
	for i := 0; i < b.N; i++ {
		dst = appendEvent(dst, b, i, sep, "")
		dst = append(dst, '\n')
	}
	return dst
}

// appendEvent appends the values of an event in text form, its time between quotes.
func appendEvent(dst []byte, b *batch.Batch, i int, sep byte, quote string) []byte {
	for _, v := range b.Cols[:3] {
		dst = append(strconv.AppendInt(dst, v.I64[i], 10), sep)
	}
	dst = append(dst, quote...)
	dst = types.Append(dst, types.Of(types.Timestamp), b.Cols[3].Datum(i), nil)
	return append(dst, quote...)
}

// insertRowsEach is how many rows one INSERT of several rows has, and how many single ones a pipeline.
const insertRowsEach = 1024

// insertValues sends events by INSERTs of several rows, as text.
func insertValues(ctx context.Context, c *pgx.Conn, src *source, epochs int) error {
	var sql bytes.Buffer
	for range epochs {
		b := src.next()
		for lo := 0; lo < b.N; lo += insertRowsEach {
			sql.Reset()
			sql.WriteString("INSERT INTO events VALUES ")
			buf := sql.AvailableBuffer()
			for i := lo; i < lo+insertRowsEach; i++ {
				if i > lo {
					buf = append(buf, ',')
				}
				buf = append(appendEvent(append(buf, '('), b, i, ',', "'"), ')')
			}
			sql.Write(buf)
			if _, err := c.Exec(ctx, sql.String(), pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
	}
	return nil
}

// insertPipeline sends events by a prepared INSERT of one row, many in flight.
func insertPipeline(ctx context.Context, c *pgx.Conn, src *source, epochs int) error {
	for range epochs {
		b := src.next()
		for lo := 0; lo < b.N; lo += insertRowsEach {
			p := &pgx.Batch{}
			for i := lo; i < lo+insertRowsEach; i++ {
				p.Queue("INSERT INTO events VALUES ($1, $2, $3, $4)", b.Cols[0].I64[i], b.Cols[1].I64[i], b.Cols[2].I64[i], time.UnixMicro(b.Cols[3].I64[i]).UTC())
			}
			if err := c.SendBatch(ctx, p).Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupClients is how many connections insert single rows at once.
const groupClients = 64

// groupCommit measures single-row INSERTs from many connections, durable and not, in turns against one server: connections share what
// the disk takes to sync.
func groupCommit(ctx context.Context, o *Options) ([]Figure, error) {
	const name = "wire-group-commit"
	s, err := o.startServer(ctx, name)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	admin, err := s.connect(ctx, "CREATE STREAM single (id bigint, k bigint)",
		"CREATE MATERIALIZED VIEW single_v AS SELECT k, count(*) AS n, sum(id) AS s FROM single GROUP BY k")
	if err != nil {
		return nil, err
	}
	defer admin.Close(ctx)
	rounds, each := 3, 3*time.Second
	if o.Smoke {
		rounds, each = 1, 100*time.Millisecond
	}
	var conns []*pgx.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close(ctx)
		}
	}()
	for range groupClients {
		c, err := s.connect(ctx)
		if err != nil {
			return nil, err
		}
		conns = append(conns, c)
	}
	done := map[string]int64{}
	cpu := map[string]time.Duration{}
	next := int64(0)
	for range rounds {
		for _, mode := range []string{"on", "off"} {
			before := s.cpu()
			n, err := insertFrom(ctx, conns, mode, each, next)
			if err != nil {
				return nil, err
			}
			done[mode], cpu[mode] = done[mode]+n, cpu[mode]+s.cpu()-before
			next += n
		}
	}
	rows, err := textQuery(ctx, admin, "SELECT sum(n)::bigint, count(*) FROM single_v")
	if err != nil {
		return nil, err
	}
	total := float64(rounds) * each.Seconds()
	on, off := float64(done["on"])/total, float64(done["off"])/total
	return []Figure{
		{name, "synchronous_commit on, 64 connections", on / 1000, "k rows/s", 0, false},
		{name, "synchronous_commit off", off / 1000, "k rows/s", 0, false},
		{name, "share of the rate without sync", 100 * on / off, "%", 70, false},
		{name, "server, on", float64(cpu["on"].Microseconds()) / float64(done["on"]), "CPU us/row", 0, false},
		{name, "server, off", float64(cpu["off"].Microseconds()) / float64(done["off"]), "CPU us/row", 0, false},
	}, compare(rows, next, groupClients)
}

// insertFrom inserts single rows from all connections for a while and gives their number.
func insertFrom(ctx context.Context, conns []*pgx.Conn, mode string, d time.Duration, first int64) (int64, error) {
	var wg sync.WaitGroup
	counts, errs := make([]int64, len(conns)), make([]error, len(conns))
	until := time.Now().Add(d)
	for i, c := range conns {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if _, errs[i] = c.Exec(ctx, "SET synchronous_commit = "+mode); errs[i] != nil {
				return
			}
			for time.Now().Before(until) && errs[i] == nil {
				_, errs[i] = c.Exec(ctx, "INSERT INTO single VALUES ($1, $2)", first+counts[i], int64(i))
				counts[i]++
			}
		}()
	}
	wg.Wait()
	total := int64(0)
	for i := range conns {
		if errs[i] != nil {
			return 0, errs[i]
		}
		total += counts[i]
	}
	return total, nil
}
