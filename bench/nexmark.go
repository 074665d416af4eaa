package bench

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/exec/connector/nexmark"
	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// nexmarkFiles are the statements of the Nexmark benchmark, which psql can run too (psql -v events=1000000 -f bid.sql), and answers.txt, what
// PostgreSQL answers: a line for each query and number of events, with the rows of its answer and their checksum.
//
//go:embed nexmark
var nexmarkFiles embed.FS

// The numbers of events for which there are answers.
const (
	nexmarkEvents = 2_000_000
	nexmarkSmoke  = 20_000
)

// nexmarkQuery is one of the queries.
type nexmarkQuery struct {
	name    string
	streams []string
	setup   string // what else it needs
	check   string // what of it is compared; "*" but where the query leaves open which of several equal rows it shows
	// Published figures, thousand events a second and core; 0: none.
	flink, risingwave float64
}

var nexmarkQueries = []nexmarkQuery{
	{"q0", []string{"bid"}, "", "*", 155, 118},
	{"q1", []string{"bid"}, "", "*", 0, 0},
	{"q2", []string{"bid"}, "", "*", 175, 127},
	{"q3", []string{"person", "auction"}, "", "*", 152, 97},
	{"q4", []string{"auction", "bid"}, "", "*", 34, 14},
	{"q5", []string{"bid"}, "", "*", 22, 5},
	{"q6", []string{"auction", "bid"}, "", "*", 0, 0},
	{"q7", []string{"bid"}, "", "*", 12, 20},
	{"q8", []string{"person", "auction"}, "", "*", 146, 61},
	{"q9", []string{"auction", "bid"}, "", "id, price, bid_time", 14, 8},
	{"q10", []string{"bid"}, "", "*", 0, 0},
	{"q11", []string{"bid"}, "", "*", 0, 0},
	{"q12", []string{"bid"}, "", "*", 0, 0},
	{"q13", []string{"bid"}, "side_input", "*", 0, 0},
	{"q14", []string{"bid"}, "count_char", "*", 0, 0},
	{"q15", []string{"bid"}, "", "*", 72, 79},
	{"q16", []string{"bid"}, "", "*", 19, 8},
	{"q17", []string{"bid"}, "", "*", 0, 0},
	{"q18", []string{"bid"}, "", "bidder, auction, date_time", 54, 10},
	{"q19", []string{"bid"}, "", "auction, price, place", 44, 0},
	{"q20", []string{"auction", "bid"}, "", "*", 19, 13},
	{"q21", []string{"bid"}, "", "*", 0, 0},
	{"q22", []string{"bid"}, "", "*", 0, 0},
}

// answer is what a view shows, for comparison: rows and their checksum, which does not depend on their order.
type answer struct {
	rows int64
	sum  uint64
}

// add takes a row in: its values as text, NULL as \N, with a line feed between.
func (a *answer) add(row []byte) {
	a.rows++
	a.sum += xxhash.Sum64(row)
}

// nexmarkText gives one of the files.
func nexmarkText(name string, events int) (string, error) {
	b, err := nexmarkFiles.ReadFile("nexmark/" + name)
	return strings.ReplaceAll(string(b), ":'events'", fmt.Sprintf("'%d'", events)), err
}

// nexmarkAnswers gives the known answers for a number of events, by query.
func nexmarkAnswers(events int) (map[string]answer, error) {
	text, err := nexmarkText("answers.txt", 0)
	if err != nil {
		return nil, err
	}
	out := map[string]answer{}
	for line := range strings.Lines(text) {
		var name string
		var n int
		var a answer
		if _, err := fmt.Sscanf(line, "%s %d %d %x", &name, &n, &a.rows, &a.sum); err != nil {
			return nil, fmt.Errorf("answers.txt: %q: %w", line, err)
		}
		if n == events {
			out[name] = a
		}
	}
	return out, nil
}

// nexmarkRun measures the queries that are wanted, each on a database of its own.
func nexmarkRun(ctx context.Context, o Options) error {
	events := nexmarkEvents
	if o.Smoke {
		events = nexmarkSmoke
	}
	want, err := nexmarkAnswers(events)
	if err != nil {
		return err
	}
	header := false
	for i := range nexmarkQueries {
		q := &nexmarkQueries[i]
		if !o.wants("nexmark-" + q.name) {
			continue
		}
		if !header {
			header = true
			fmt.Fprintf(o.Out, "\nNexmark, %d events, of which a query reads those of its streams; offsets only in the log (retention = '0'); answers checked. Flink, RisingWave: published\n\n", events)
			fmt.Fprintf(o.Out, "%-14s %9s %10s %7s %11s %8s %10s %10s %8s\n", "query", "M events", "k ev/s/c", "Flink", "RisingWave", "wall s", "state rows", "view rows", "RSS MB")
		}
		r, got, err := q.measure(ctx, events)
		if err != nil {
			return fmt.Errorf("nexmark-%s: %w", q.name, err)
		}
		if got != want[q.name] {
			return fmt.Errorf("nexmark-%s: the answer is wrong: %d rows with checksum %x, want %d with %x", q.name, got.rows, got.sum, want[q.name].rows, want[q.name].sum)
		}
		o.figures.add(r.figures()...)
		fmt.Fprintf(o.Out, "%-14s %9.2f %10.0f %7s %11s %8.1f %10d %10d %8d\n", r.name, float64(r.events)/1e6, float64(r.events)/r.cpu.Seconds()/1e3,
			orNone(q.flink), orNone(q.risingwave), r.wall.Seconds(), r.stateRows, r.viewRows, r.rssBytes>>20)
	}
	return nil
}

func orNone(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprint(v)
}

// measure runs a query over a number of events and gives what its view shows.
func (q *nexmarkQuery) measure(ctx context.Context, events int) (_ *result, got answer, err error) {
	d, err := openDatabase(ctx, engine.Options{Connectors: map[string]connector.Connector{"nexmark": nexmark.Connector{}}})
	if err != nil {
		return nil, got, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	s := d.s
	run := func(files ...string) error {
		for _, f := range files {
			text, err := nexmarkText(f+".sql", events)
			if err == nil {
				err = script(ctx, s, text)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if q.setup != "" {
		if err := run(q.setup); err != nil {
			return nil, got, err
		}
	}
	r := &result{name: "nexmark-" + q.name}
	runtime.GC()
	cpu0, start := processCPU(), time.Now()
	// In one transaction: the view has no history to catch up with.
	if err := errors.Join(script(ctx, s, "BEGIN"), run(slices.Concat(q.streams, []string{q.name})...), script(ctx, s, "COMMIT")); err != nil {
		return nil, got, err
	}
	for _, st := range q.streams {
		if err := script(ctx, s, "WAIT FOR "+st); err != nil {
			return nil, got, err
		}
	}
	r.cpu, r.wall, r.rssBytes = processCPU()-cpu0, time.Since(start), rss()
	return r, got, q.look(ctx, s, r, &got)
}

// look reads what a finished query shows, and what it took.
func (q *nexmarkQuery) look(ctx context.Context, s session.Session, r *result, got *answer) error {
	var late int64
	for _, x := range []struct {
		sql string
		at  *int64
	}{
		{"SELECT sum(rows)::bigint FROM tidemark.sources", &r.events},
		{"SELECT coalesce(sum(num_rows_total), 0)::bigint FROM tidemark.state_operators", &r.stateRows},
		{"SELECT count(*) FROM " + q.name, &r.viewRows},
		{"SELECT coalesce(sum(late_rows_total + dead_letters_total), 0)::bigint FROM tidemark.views", &late},
	} {
		n, err := count(ctx, s, x.sql)
		if err != nil {
			return err
		}
		*x.at = n
	}
	if late > 0 {
		return fmt.Errorf("%d rows were late", late)
	}
	return checksum(ctx, s, "SELECT "+q.check+" FROM "+q.name, got)
}

// script runs statements that give no rows of interest.
func script(ctx context.Context, s session.Session, sql string) error {
	stmts, err := s.Parse(sql)
	if err != nil {
		return err
	}
	for _, st := range stmts {
		p, err := s.Prepare(ctx, st, nil)
		if err != nil {
			return err
		}
		res, err := s.Execute(ctx, p, nil)
		if err != nil {
			return err
		}
		for {
			b, err := res.Next(ctx, 0)
			if err != nil {
				res.Close()
				return err
			}
			if b == nil {
				break
			}
		}
		res.Close()
	}
	return nil
}

// checksum adds the rows of a query to an answer.
func checksum(ctx context.Context, s session.Session, sql string, to *answer) error {
	st, err := s.Parse(sql)
	if err != nil {
		return err
	}
	p, err := s.Prepare(ctx, st[0], nil)
	if err != nil {
		return err
	}
	res, err := s.Execute(ctx, p, nil)
	if err != nil {
		return err
	}
	defer res.Close()
	env := s.Env()
	var row []byte
	for {
		b, err := res.Next(ctx, 0)
		if err != nil || b == nil {
			return err
		}
		for i := range b.N {
			row = row[:0]
			for _, c := range b.Cols {
				if c.IsNull(i) {
					row = append(row, `\N`...)
				} else {
					row = types.Append(row, c.Type, c.Datum(i), env)
				}
				row = append(row, '\n')
			}
			to.add(row)
		}
	}
}
