package wire

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// fakeEngine understands a small language of one word per statement, enough to make wire do everything it can.
type fakeEngine struct {
	mu      sync.Mutex
	log     []string // calls that matter to a test
	table   *batch.Batch
	columns []session.Column // of table, for COPY
	format  session.CopyFormat
	rules   session.CopyRules
	params  session.Params // of the last session
}

func (e *fakeEngine) note(format string, args ...any) {
	e.mu.Lock()
	e.log = append(e.log, fmt.Sprintf(format, args...))
	e.mu.Unlock()
}

func (e *fakeEngine) takeLog() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := strings.Join(e.log, " ")
	e.log = nil
	return s
}

func (e *fakeEngine) NewSession(p session.Params) (session.Session, error) {
	if p.Database == "nosuch" {
		return nil, sqlerr.New(sqlerr.InvalidCatalogName, `database "nosuch" does not exist`)
	}
	e.mu.Lock()
	e.params = p
	e.mu.Unlock()
	return &fakeSession{e: e, p: p, tx: session.TxIdle, settings: map[string]string{"TimeZone": "Europe/Berlin"}}, nil
}

type fakeSession struct {
	e        *fakeEngine
	p        session.Params
	tx       session.TxStatus
	settings map[string]string
}

type fakeStatement struct{ text string }

func (s fakeStatement) Text() string { return s.text }
func (s fakeStatement) Tag() string  { return strings.ToUpper(strings.Fields(s.text)[0]) }
func (s fakeStatement) EndsTransaction() bool {
	return s.text == "commit" || s.text == "rollback"
}

func (s *fakeSession) Parse(text string) ([]session.Statement, error) {
	if i := strings.Index(text, "??"); i >= 0 {
		return nil, sqlerr.New(sqlerr.SyntaxError, `syntax error at or near "??"`).At(i)
	}
	var out []session.Statement
	for _, part := range strings.Split(text, ";") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, fakeStatement{part})
		}
	}
	return out, nil
}

type fakePrepared struct {
	st     fakeStatement
	params []types.Type
	cols   []session.Column
}

func (p *fakePrepared) Statement() session.Statement { return p.st }
func (p *fakePrepared) Params() []types.Type         { return p.params }
func (p *fakePrepared) Columns() []session.Column    { return p.cols }

var rowColumns = []session.Column{{Name: "id", Type: types.Of(types.Int8), TableOID: 16384, Attr: 1}, {Name: "name", Type: types.Of(types.Text)}}

// Prepare knows: "rows n", "ended n", "weights", "echo type...", "sleep", "fail", "failrows", "notice text", "set name value",
// "begin", "commit", "rollback", "insert", "panic", "stream", "copyin", "copyout", "deallocate name".
func (s *fakeSession) Prepare(_ context.Context, st session.Statement, ts []types.Type) (session.Prepared, error) {
	p := &fakePrepared{st: st.(fakeStatement)}
	words := strings.Fields(p.st.text)
	switch words[0] {
	case "rows", "ended", "weights", "stream", "failrows":
		p.cols = rowColumns
	case "echo":
		for i, w := range words[1:] {
			kind := map[string]types.Kind{"int8": types.Int8, "int4": types.Int4, "text": types.Text, "float8": types.Float8, "bytea": types.Bytea}[w]
			t := types.Of(kind)
			if w == "param" {
				t = ts[i]
			}
			p.params = append(p.params, t)
			p.cols = append(p.cols, session.Column{Name: fmt.Sprintf("c%d", i+1), Type: t})
		}
	case "bind":
		return nil, sqlerr.New(sqlerr.UndefinedColumn, `column "nope" does not exist`).At(strings.Index(p.st.text, "nope"))
	}
	return p, nil
}

func (s *fakeSession) Execute(ctx context.Context, prep session.Prepared, params []types.Datum) (session.Result, error) {
	p := prep.(*fakePrepared)
	words := strings.Fields(p.st.text)
	r := &fakeResult{s: s, tag: p.st.Tag(), cols: p.cols}
	switch words[0] {
	case "rows":
		r.total, _ = strconv.Atoi(words[1])
		r.tag = "SELECT " + words[1]
	case "ended":
		r.total, _ = strconv.Atoi(words[1])
		r.tag = "SELECT " + words[1]
		return &fakeEnder{r}, nil
	case "stream":
		r.total, r.slow = 3, true
		r.tag = "SUBSCRIBE 3"
	case "weights":
		r.tag, r.batches = "SELECT 6", weightBatches()
	case "failrows":
		r.total, r.failAt = 5000, 3000
	case "echo":
		b := batch.New(p.params, 1)
		for i, d := range params {
			b.Cols[i].AppendDatum(d)
		}
		b.EndRow(1)
		r.tag, r.batches = "SELECT 1", []*batch.Batch{b}
	case "sleep":
		<-ctx.Done()
		return nil, ctx.Err()
	case "fail":
		s.failed()
		return nil, sqlerr.New(sqlerr.DivisionByZero, "division by zero").WithDetail("d").WithHint("h")
	case "notice":
		s.p.Notice(sqlerr.Notice("%s", words[1]))
	case "set":
		s.settings[words[1]] = words[2]
		s.p.ParameterStatus(words[1], words[2])
	case "begin":
		s.tx = session.TxOpen
	case "commit", "rollback":
		s.tx = session.TxIdle
	case "insert":
		s.e.note("insert")
		r.tag = "INSERT 0 1"
	case "deallocate":
		if !s.p.Deallocate(words[1]) {
			return nil, sqlerr.New(sqlerr.InvalidStatementName, "prepared statement %q does not exist", words[1])
		}
	case "panic":
		panic("the engine has a bug")
	case "copyin":
		r.in = &fakeCopyIn{e: s.e}
		r.in.b = batch.New(columnTypes(s.e.columns), 16)
	case "copyout":
		r.out, r.cols = &s.e.format, s.e.columns
		r.batches = []*batch.Batch{s.e.table}
	}
	return r, nil
}

func columnTypes(cols []session.Column) []types.Type {
	ts := make([]types.Type, len(cols))
	for i, c := range cols {
		ts[i] = c.Type
	}
	return ts
}

func weightBatches() []*batch.Batch {
	b := batch.New(columnTypes(rowColumns), 3)
	for i, w := range []int64{1, 3, 2} {
		b.Cols[0].AppendInt(int64(i))
		b.Cols[1].AppendNull()
		b.EndRow(w)
	}
	return []*batch.Batch{b}
}

func (s *fakeSession) failed() {
	if s.tx == session.TxOpen {
		s.tx = session.TxFailed
	}
}

func (s *fakeSession) Fail()                      { s.failed() }
func (s *fakeSession) BeginImplicit()             { s.e.note("begin") }
func (s *fakeSession) TxStatus() session.TxStatus { return s.tx }
func (s *fakeSession) Env() *types.Env            { return types.DefaultEnv() }
func (s *fakeSession) Close()                     { s.e.note("close") }

func (s *fakeSession) EndImplicit(_ context.Context, failed bool) error {
	s.e.note("end(%v)", failed)
	return nil
}

func (s *fakeSession) Setting(name string) (string, bool) {
	v, ok := s.settings[name]
	return v, ok
}

type fakeResult struct {
	s       *fakeSession
	tag     string
	cols    []session.Column
	batches []*batch.Batch
	total   int // rows to make up
	made    int
	failAt  int
	slow    bool
	in      *fakeCopyIn
	out     *session.CopyFormat
}

func (r *fakeResult) Columns() []session.Column { return r.cols }
func (r *fakeResult) Tag() string               { return r.tag }
func (r *fakeResult) Close()                    {}

func (r *fakeResult) CopyIn() session.CopyIn {
	if r.in == nil {
		return nil
	}
	return r.in
}

func (r *fakeResult) CopyOut() *session.CopyFormat { return r.out }

func (r *fakeResult) Next(ctx context.Context, most int) (*batch.Batch, error) {
	if len(r.batches) > 0 {
		b := r.batches[0]
		r.batches = r.batches[1:]
		return b, nil
	}
	n := min(r.total-r.made, 1000)
	if most > 0 {
		n = min(n, most)
	}
	if r.slow {
		n = min(n, 1)
		if r.made > 0 {
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
	if n == 0 || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if r.failAt > 0 && r.made >= r.failAt {
		return nil, sqlerr.New(sqlerr.DivisionByZero, "division by zero")
	}
	b := batch.New(columnTypes(rowColumns), n)
	for i := 0; i < n; i++ {
		r.made++
		b.Cols[0].AppendInt(int64(r.made))
		b.Cols[1].AppendString("row " + strconv.Itoa(r.made))
		b.EndRow(1)
	}
	return b, nil
}

// fakeEnder is a result that knows when it has no more rows. It notes each call of Next.
type fakeEnder struct{ *fakeResult }

func (r *fakeEnder) Next(ctx context.Context, most int) (*batch.Batch, error) {
	r.s.e.note("next(%d)", most)
	return r.fakeResult.Next(ctx, most)
}

// Ended implements session.Ender.
func (r *fakeEnder) Ended() bool { return r.made == r.total }

type fakeCopyIn struct {
	e *fakeEngine
	b *batch.Batch
}

func (c *fakeCopyIn) Format() *session.CopyFormat { return &c.e.format }
func (c *fakeCopyIn) Columns() []session.Column   { return c.e.columns }
func (c *fakeCopyIn) Relation() string            { return "t" }
func (c *fakeCopyIn) Rules() session.CopyRules    { return c.e.rules }
func (c *fakeCopyIn) Kept() int64                 { return 0 }
func (c *fakeCopyIn) Abort()                      { c.e.note("abort") }

func (c *fakeCopyIn) Write(_ context.Context, b *batch.Batch) error {
	c.b.AppendBatch(b, nil)
	return nil
}

func (c *fakeCopyIn) Commit(context.Context) (int64, error) {
	c.e.table = c.b
	return int64(c.b.N), nil
}

// startServer runs a server over a fake engine until the test ends.
func startServer(t testing.TB, opts Options) (*fakeEngine, *Server, string) {
	t.Helper()
	e := &fakeEngine{}
	srv := New(e, opts, zerolog.Nop())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = srv.Shutdown(ctx) // a test may leave statements running
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return e, srv, ln.Addr().String()
}
