package sqllogictest

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Mode is a way to run a file. Whatever the mode, the expected rows are the same.
type Mode string

// The modes.
const (
	// AsIs runs the records as they stand.
	AsIs Mode = "asis"
	// Before makes each query a materialized view as early as its relations exist, before the data if possible, and reads that
	// view in the query's place.
	Before Mode = "before"
	// After makes each query a materialized view in its place, reads and drops it.
	After Mode = "after"
	// Restarting stops and reopens the server after every few records.
	Restarting Mode = "restart"
)

var allModes = []Mode{AsIs, Before, After, Restarting}

// Options say how files are run.
type Options struct {
	URL  string // of the server, as pgx understands it
	Mode Mode   // "" is AsIs
	// Complete rewrites the expected answers in the files with those of the server.
	Complete bool
	// Restart stops and reopens the server and gives its new URL; nil where that cannot be done.
	Restart func() (string, error)
	// RestartEvery is the number of records between restarts in mode Restarting; 0 means 5.
	RestartEvery int
	// Timeout limits one record; 0 means 60 s.
	Timeout time.Duration
	// MaxFailures ends a file after so many; 0 means 20.
	MaxFailures int
}

// Run runs files one after the other. The error is for what no report can hold: a mode that does not exist, no server.
// Failures of records and files that cannot be read are in the report.
func Run(ctx context.Context, opts Options, files ...string) (Report, error) {
	if opts.Mode == "" {
		opts.Mode = AsIs
	}
	if !slices.Contains(allModes, opts.Mode) {
		return Report{}, fmt.Errorf("unknown mode %q", opts.Mode)
	}
	if opts.Mode == Restarting && opts.Restart == nil {
		return Report{}, errors.New("mode restart needs a server that can be restarted")
	}
	if opts.Complete && opts.Mode != AsIs {
		return Report{}, errors.New("answers are completed in mode asis only")
	}
	if opts.RestartEvery <= 0 {
		opts.RestartEvery = 5
	}
	if opts.Timeout <= 0 {
		opts.Timeout = time.Minute
	}
	if opts.MaxFailures <= 0 {
		opts.MaxFailures = 20
	}
	rep := Report{Mode: opts.Mode}
	for _, f := range files {
		r := &runner{opts: opts, report: FileReport{Name: f}, sessions: map[string]*connection{}, labels: map[string]string{}}
		err := r.file(ctx, f)
		opts.URL = r.opts.URL // a restarted server may have moved
		rep.Files = append(rep.Files, r.report)
		if err != nil {
			return rep, err
		}
	}
	return rep, nil
}

// connection is a named connection of a file.
type connection struct {
	pg   *pgconn.PgConn
	sets []string // SET statements, to be said again after a restart
}

// runner runs one file.
type runner struct {
	opts     Options
	report   FileReport
	sessions map[string]*connection
	engine   string            // "postgres" or "tidemark"
	labels   map[string]string // result of each labelled query
	views    viewSet
	done     int // records since the last restart
	edits    []edit
}

func (r *runner) file(ctx context.Context, path string) error {
	start := time.Now()
	defer func() { r.report.Duration = time.Since(start) }()
	defer r.closeAll(ctx)
	records, err := parseFile(path)
	if err != nil {
		r.report.fail(Failure{Place: path, Message: err.Error()})
		return nil
	}
	if err := r.identify(ctx); err != nil {
		return fmt.Errorf("connect to server: %w", err)
	}
	if r.opts.Mode == Before {
		r.views.plan(records, r.applies)
	}
	for _, rec := range records {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !r.applies(rec) {
			r.report.Skipped++
			continue
		}
		if rec.kind == haltRecord {
			break
		}
		r.report.Records++
		if f := r.run(ctx, rec); f != nil {
			f.Place, f.SQL = rec.place(), rec.sql
			r.report.fail(*f)
			if len(r.report.Failures) >= r.opts.MaxFailures {
				break
			}
		}
	}
	r.views.dropAll(ctx, r)
	if r.opts.Complete {
		return applyEdits(r.edits)
	}
	return nil
}

// identify connects and finds out what kind of server it is.
func (r *runner) identify(ctx context.Context) error {
	c, err := r.connection(ctx, "")
	if err != nil {
		return err
	}
	res := exec(ctx, c.pg, "SELECT version()")
	if res.err != nil {
		return res.err
	}
	r.engine = "postgres"
	if len(res.rows) == 1 && strings.Contains(string(res.rows[0][0]), "Tidemark") {
		r.engine = "tidemark"
	}
	return nil
}

// applies says whether skipif and onlyif let a record run.
func (r *runner) applies(rec *record) bool {
	is := func(label string) bool {
		return label == r.engine || label == "postgresql" && r.engine == "postgres" || label == string(r.opts.Mode)
	}
	for _, l := range rec.skipIf {
		if is(l) {
			return false
		}
	}
	for _, l := range rec.onlyIf {
		if !is(l) {
			return false
		}
	}
	return true
}

// run runs one record and gives its failure, if any.
func (r *runner) run(ctx context.Context, rec *record) *Failure {
	switch rec.kind {
	case sleepRecord:
		select {
		case <-time.After(rec.sleep):
		case <-ctx.Done():
		}
		return nil
	case restartRecord:
		return r.restart(ctx)
	}
	c, err := r.connection(ctx, rec.conn)
	if err != nil {
		return failf("connect: %v", err)
	}
	var f *Failure
	if rec.kind == queryRecord && !rec.isError {
		f = r.query(ctx, c, rec)
	} else {
		f = r.statement(ctx, c, rec)
	}
	if r.done++; f == nil && r.opts.Mode == Restarting && r.done >= r.opts.RestartEvery && r.allIdle() {
		f = r.restart(ctx)
	}
	return f
}

var (
	firstData = regexp.MustCompile(`(?is)^\s*(insert|copy|update|delete|begin|start|with)\b`)
	creates   = regexp.MustCompile(`(?is)^\s*(create|alter)\b`)
	drops     = regexp.MustCompile(`(?is)^\s*(drop|alter|rollback|truncate)\b`)
	sets      = regexp.MustCompile(`(?is)^\s*(set\s+(session\s+)?[a-z_]|set\s+time\s+zone)`)
)

// statement runs a statement, or anything of which an error is expected.
func (r *runner) statement(ctx context.Context, c *connection, rec *record) *Failure {
	if r.opts.Mode == Before && firstData.MatchString(rec.sql) {
		r.views.createAll(ctx, r, c)
	}
	res := r.exec(ctx, c, rec.sql)
	if r.opts.Mode == Before && !rec.isError && sqlState(res.err) == "2BP01" && drops.MatchString(rec.sql) {
		// Only our own views can be in the way of something that the file expects to work.
		r.views.retract(ctx, r)
		res = r.exec(ctx, c, rec.sql)
	}
	if res.err == nil && sets.MatchString(rec.sql) {
		c.sets = append(c.sets, rec.sql)
	}
	if rec.isError {
		return r.checkError(rec, res.err)
	}
	if res.err != nil {
		return failf("%s", errorText(res.err))
	}
	if r.opts.Mode == Before && creates.MatchString(rec.sql) && r.views.started && c.pg.TxStatus() == 'I' {
		r.views.createAll(ctx, r, c)
	}
	if rec.count >= 0 && res.affected != rec.count {
		return &Failure{Message: "wrong number of rows", Want: fmt.Sprint(rec.count), Got: fmt.Sprint(res.affected)}
	}
	return nil
}

// checkError compares an error with the one expected.
func (r *runner) checkError(rec *record, err error) *Failure {
	if err == nil {
		return failf("an error was expected")
	}
	got := errorText(err)
	if r.opts.Complete && rec.pattern == nil {
		r.complete(rec, strings.Split(got, "\n"))
		return nil
	}
	if rec.pattern != nil && !rec.pattern.MatchString(got) {
		return &Failure{Message: "the error does not match", Want: rec.pattern.String(), Got: got}
	}
	if rec.message != "" && rec.message != got {
		return &Failure{Message: "another error was expected", Want: rec.message, Got: got}
	}
	return nil
}

// query runs a query, as the mode wants it, and compares its rows.
func (r *runner) query(ctx context.Context, c *connection, rec *record) *Failure {
	if r.opts.Mode == Before && !r.views.started {
		r.views.createAll(ctx, r, c)
	}
	res, sorted := r.views.answer(ctx, r, c, rec)
	if res == nil {
		res = r.exec(ctx, c, rec.sql)
	}
	if res.err != nil {
		return failf("%s", errorText(res.err))
	}
	if rec.types != "" && res.columns != len(rec.types) {
		return &Failure{Message: "wrong number of columns", Want: fmt.Sprint(len(rec.types)), Got: fmt.Sprint(res.columns)}
	}
	got, values := res.lines(rec.sort)
	if r.opts.Complete {
		if rec.threshold > 0 && values > rec.threshold {
			got = []string{res.hash(rec.sort)}
		}
		r.complete(rec, got)
		return nil
	}
	if f := r.checkLabel(rec, got); f != nil {
		return f
	}
	want := make([]string, len(rec.expected))
	for i, l := range rec.expected {
		want[i] = strings.TrimRight(l, " \t")
	}
	if len(want) == 1 && hashed.MatchString(want[0]) {
		got = []string{res.hash(rec.sort)}
	}
	if sorted || rec.sort != noSort {
		slices.Sort(want)
		slices.Sort(got)
	}
	if !slices.Equal(want, got) {
		return &Failure{Message: "the rows differ", Want: strings.Join(want, "\n"), Got: strings.Join(got, "\n")}
	}
	return nil
}

var hashed = regexp.MustCompile(`^\d+ values hashing to [0-9a-f]{32}$`)

// checkLabel checks that all queries of one label have one result.
func (r *runner) checkLabel(rec *record, got []string) *Failure {
	if rec.label == "" || r.opts.Mode != AsIs {
		return nil
	}
	text := strings.Join(got, "\n")
	before, seen := r.labels[rec.label]
	if r.labels[rec.label] = text; seen && before != text {
		return &Failure{Message: "the rows differ from those of the same label", Want: before, Got: text}
	}
	return nil
}

// connection gives the connection of a name and makes it if need be.
func (r *runner) connection(ctx context.Context, name string) (*connection, error) {
	c := r.sessions[name]
	if c != nil && c.pg != nil && !c.pg.IsClosed() {
		return c, nil
	}
	if c == nil {
		c = &connection{}
		r.sessions[name] = c
	}
	cfg, err := pgconn.ParseConfig(r.opts.URL)
	if err != nil {
		return nil, err
	}
	cctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	if c.pg, err = pgconn.ConnectConfig(cctx, cfg); err != nil {
		return nil, err
	}
	for _, s := range c.sets {
		if res := exec(cctx, c.pg, s); res.err != nil {
			return nil, res.err
		}
	}
	return c, nil
}

// allIdle says that no connection has an open transaction.
func (r *runner) allIdle() bool {
	for _, c := range r.sessions {
		if c.pg != nil && !c.pg.IsClosed() && c.pg.TxStatus() != 'I' {
			return false
		}
	}
	return true
}

func (r *runner) closeAll(ctx context.Context) {
	for _, c := range r.sessions {
		if c.pg != nil {
			_ = c.pg.Close(ctx) // it may be broken, which has been reported where it mattered
			c.pg = nil
		}
	}
}

func (r *runner) restart(ctx context.Context) *Failure {
	r.done = 0
	if r.opts.Restart == nil {
		r.report.Skipped++
		return nil
	}
	r.closeAll(ctx)
	url, err := r.opts.Restart()
	if err != nil {
		return failf("restart: %v", err)
	}
	r.opts.URL = url
	r.report.Restarts++
	return nil
}

// exec runs SQL on a connection within the time that a record has.
func (r *runner) exec(ctx context.Context, c *connection, sql string) *result {
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	return exec(ctx, c.pg, sql)
}

// result is what a server answered: the rows of the last statement that had any.
type result struct {
	columns  int
	rows     [][][]byte // nil is NULL
	affected int64
	err      error
}

func exec(ctx context.Context, pg *pgconn.PgConn, sql string) *result {
	res := &result{}
	all := pg.Exec(ctx, sql)
	for all.NextResult() {
		rr := all.ResultReader()
		fields := rr.FieldDescriptions()
		if len(fields) > 0 {
			res.columns, res.rows = len(fields), nil
		}
		for rr.NextRow() {
			row := make([][]byte, len(fields))
			for i, v := range rr.Values() {
				if v != nil {
					row[i] = append([]byte{}, v...)
				}
			}
			res.rows = append(res.rows, row)
		}
		tag, err := rr.Close()
		if err == nil {
			res.affected = tag.RowsAffected()
		}
	}
	res.err = all.Close()
	return res
}

// text is how a value looks in a file.
func text(v []byte) string {
	switch {
	case v == nil:
		return "NULL"
	case len(v) == 0:
		return "(empty)"
	}
	s := string(v)
	if strings.ContainsAny(s, "\n\r") {
		s = strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(s)
	}
	return s
}

// lines gives the rows as lines, sorted as the mode says, and the number of values.
func (res *result) lines(sort string) (out []string, values int) {
	for _, row := range res.rows {
		values += len(row)
		words := make([]string, len(row))
		for i, v := range row {
			words[i] = text(v)
		}
		if sort == valueSort {
			out = append(out, words...)
		} else {
			out = append(out, strings.TrimRight(strings.Join(words, " "), " \t"))
		}
	}
	if sort != noSort {
		slices.Sort(out)
	}
	return out, values
}

// hash is the short form of a long result: MD5 over the values, a line each, in the order of the sort mode.
func (res *result) hash(sort string) string {
	type line struct {
		key  string
		vals []string
	}
	var all []line
	n := 0
	for _, row := range res.rows {
		words := make([]string, len(row))
		for i, v := range row {
			words[i] = text(v)
		}
		n += len(words)
		if sort == valueSort {
			for _, w := range words {
				all = append(all, line{w, []string{w}})
			}
		} else {
			all = append(all, line{strings.Join(words, " "), words})
		}
	}
	if sort != noSort {
		slices.SortStableFunc(all, func(a, b line) int { return strings.Compare(a.key, b.key) })
	}
	h := md5.New()
	for _, l := range all {
		for _, v := range l.vals {
			h.Write([]byte(v + "\n"))
		}
	}
	return fmt.Sprintf("%d values hashing to %s", n, hex.EncodeToString(h.Sum(nil)))
}

// errorText is how an error looks in a file: SQLSTATE and message.
func errorText(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code + ": " + strings.TrimSpace(pg.Message)
	}
	return err.Error()
}

func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

func failf(format string, args ...any) *Failure {
	return &Failure{Message: fmt.Sprintf(format, args...)}
}
