package engine

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state"
)

// A stream with a connector is read by a goroutine of its own, ahead of the loop: while one chunk's epoch runs, the next ones wait in the queue, if they are
// large, and one more is read. Each chunk is a unit: its epoch's
// record holds the rows, or names the spool to which they were written ahead, or with retention = '0' has a fingerprint of them, and in all cases which extent of the input they are. The
// stream's offset is the sum of the extents in the log and moves when their epoch is published, so that a restart reads on behind what is
// durable: every row counts exactly once.

// ChunksAhead is how many large chunks a source has under way: one of which the epoch runs, and others that wait behind it, so that at full speed
// neither waits for the other to wake. There are fewer where they would take more than a 64th of the memory budget.
const ChunksAhead = 4

// Bounds of the waiting of sources.
const (
	minPoll  = 50 * time.Millisecond
	maxPoll  = 500 * time.Millisecond
	minRetry = 100 * time.Millisecond
	maxRetry = 10 * time.Second
	// sourceRows is how many rows one chunk has, about.
	sourceRows = 1 << 16
	// aloneRows is how many rows make a chunk an epoch of its own.
	aloneRows = sourceRows / 4
	// spoolBytes is how large a chunk is, in memory, that is spooled while the loop is busy with the one before.
	spoolBytes = 512 << 10
)

// States of a source, as tidemark.sources shows them.
const (
	sourceRunning  = "running"
	sourceWaiting  = "waiting"  // it has read all there is
	sourceFinished = "finished" // it is bounded, and has ended
	sourceRetrying = "retrying" // an error that may pass
	sourceFailed   = "failed"   // an error that will not; a restart tries again
)

// source reads the input of one stream.
type source struct {
	e    *Engine
	oid  catalog.OID
	name string // of the connector
	conn connector.Connector
	// keeps: the log keeps its rows.
	keeps bool
	// offset is what the published epochs have taken in. Of the loop's goroutine, and of recovery before it.
	offset connector.Offset
	// broken: a chunk was not taken since the source was opened, so that those behind it must not be either. Of the loop's goroutine.
	broken bool

	nudge chan struct{} // ends a wait for more input

	mu     sync.Mutex
	rel    *catalog.Relation
	state  string
	err    error
	note   string // what is remarkable about its input
	polls  uint64 // how often there was nothing more
	last   string // the part that was read last, and to where
	at     int64
	rows   int64
	errs   int64
	lag    int64
	cancel context.CancelFunc // nil: it has not been started
	done   chan struct{}      // closed when the goroutine has ended
}

// sources are the database's sources, for those who do not run in the loop.
type sources struct {
	mu    sync.Mutex
	byOID map[catalog.OID]*source
	wg    sync.WaitGroup
}

func (s *sources) get(oid catalog.OID) *source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byOID[oid]
}

// newSource makes the source of a stream, nil for one without a connector. It does not run yet.
func (e *Engine) newSource(rel *catalog.Relation) *source {
	name := rel.Options[connectorOption]
	if name == "" {
		return nil
	}
	s := &source{e: e, oid: rel.OID, name: name, conn: e.opts.Connectors[name], keeps: keepsRows(rel), rel: rel, nudge: make(chan struct{}, 1), state: sourceRunning}
	if s.conn == nil {
		s.state, s.err = sourceFailed, e.noConnector(name)
	}
	return s
}

// launch makes a stream's source known, and runs it unless the database is being recovered. It runs on the loop's goroutine, or before it.
func (e *Engine) launch(oid catalog.OID, run bool) {
	st := e.streams[oid]
	if st == nil || st.src == nil {
		return
	}
	e.sources.mu.Lock()
	if e.sources.byOID == nil {
		e.sources.byOID = map[catalog.OID]*source{}
	}
	e.sources.byOID[oid] = st.src
	e.sources.mu.Unlock()
	if run && !e.opts.NoSources {
		st.src.start(nil)
	}
}

// start runs the source, once the goroutine before has ended.
func (s *source) start(before <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.rows, s.errs = s.offset.Last, s.offset.Rows, s.offset.Errors
	s.at = s.position()
	if s.state == sourceFailed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.done = cancel, make(chan struct{})
	s.e.sources.wg.Add(1)
	go func(rel *catalog.Relation, done chan struct{}) {
		defer s.e.sources.wg.Done()
		defer close(done)
		if before != nil {
			<-before
		}
		s.run(ctx, rel)
	}(s.rel, s.done)
}

// position gives to where the part was read that was read last.
func (s *source) position() int64 {
	p, _ := s.offset.Part(s.last)
	return p.At
}

// stop ends the source, without waiting for it. What it has under way fails or is taken in.
func (s *source) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
}

// alter goes on with another description of the stream. It runs on the loop's goroutine.
func (s *source) alter(rel *catalog.Relation) {
	s.mu.Lock()
	running, done := s.cancel != nil && s.state != sourceFailed, s.done
	s.rel = rel
	s.mu.Unlock()
	if running {
		s.stop()
		s.start(done)
	}
}

// stopSources ends all sources and waits for them. The loop has ended.
func (e *Engine) stopSources() {
	e.sources.mu.Lock()
	for _, s := range e.sources.byOID {
		s.stop()
	}
	e.sources.mu.Unlock()
	e.sources.wg.Wait()
}

// forget ends the source of a dropped stream.
func (e *Engine) forget(st *stream) {
	if st.src == nil {
		return
	}
	st.src.stop()
	e.sources.mu.Lock()
	delete(e.sources.byOID, st.rel.OID)
	e.sources.mu.Unlock()
	e.published.broadcast()
}

// set notes how the source is, and tells those who wait for it.
func (s *source) set(state string, err error) {
	s.mu.Lock()
	s.state, s.err = state, err
	if state == sourceWaiting || state == sourceFinished {
		s.polls, s.lag = s.polls+1, 0
	}
	s.mu.Unlock()
	s.e.published.broadcast()
}

// run reads until the source ends, fails for good or is stopped.
func (s *source) run(ctx context.Context, rel *catalog.Relation) {
	log := s.e.log.With().Str("source", rel.Name).Logger()
	for retry := minRetry; ; retry = min(2*retry, maxRetry) {
		progress := false
		err := s.read(ctx, rel, &progress)
		if progress {
			retry = minRetry
		}
		switch {
		case ctx.Err() != nil || sqlerr.From(err).Code == sqlerr.AdminShutdown:
			return
		case errors.Is(err, io.EOF):
			s.set(sourceFinished, nil)
			log.Info().Msg("source has ended")
			return
		case lasting(err):
			s.set(sourceFailed, err)
			log.Error().Err(err).Msg("source stopped")
			return
		}
		s.set(sourceRetrying, err)
		log.Warn().Err(err).Msg("source failed, it is tried again")
		if !s.sleep(ctx, retry) {
			return
		}
	}
}

// lasting says whether no other attempt would help.
func lasting(err error) bool {
	switch sqlerr.From(err).Code {
	case sqlerr.DataCorrupted, sqlerr.NotInPrerequisiteState:
		return true
	}
	return false
}

// sleep waits for d, or less if somebody wants to know what there is; false: the source was stopped.
func (s *source) sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.nudge:
	case <-s.e.closing:
		return false
	case <-ctx.Done():
		return false
	}
	return true
}

// read opens the source where the published epochs end and feeds the loop. It returns when nothing is under way.
func (s *source) read(ctx context.Context, rel *catalog.Relation, progress *bool) (err error) {
	defer sqlerr.Recover(&err)
	var from *connector.Offset
	if err := s.e.do(func() { from, s.broken = s.offset.Clone(), false }); err != nil {
		return err
	}
	src, err := s.conn.Open(connector.Config{Options: connectorOptions(rel), Columns: rel.Columns, Offset: from, Fingerprint: !s.keeps})
	if err != nil {
		return err
	}
	defer src.Close()
	f := flights{e: s.e}
	defer f.landAll()
	for poll := minPoll; ; {
		asked := time.Now()
		ch, err := src.Read(ctx, sourceRows)
		s.remark(src)
		if lerr := f.land(ch); lerr != nil {
			return lerr
		}
		if err != nil {
			return err
		}
		*progress = true
		if ch == nil {
			s.set(sourceWaiting, nil)
			poll = min(2*poll, max(maxPoll, 20*time.Since(asked)))
			if !s.sleep(ctx, poll) {
				return errShutdown() // of the source, or of the database
			}
			continue
		}
		poll = minPoll
		if err := s.submit(ctx, ch, &f); err != nil {
			return err
		}
	}
}

// remark shows what the source has to tell of its input, and logs it when it is new.
func (s *source) remark(src connector.Source) {
	n, ok := src.(connector.Noter)
	if !ok {
		return
	}
	note := n.Note()
	s.mu.Lock()
	fresh := note != s.note
	s.note = note
	name := s.rel.Name
	s.mu.Unlock()
	if fresh && note != "" {
		s.e.log.Warn().Str("source", name).Str("err", note).Msg("input of source is not as expected")
	}
}

// flights are the chunks of a source that are under way, oldest first.
type flights struct {
	e     *Engine
	under []flight
	bytes int64
	// alone: the newest ends its epoch, so that another may be queued behind it.
	alone bool
}

type flight struct {
	out   chan error
	bytes int64
}

// room says whether another chunk may be queued behind what is under way: there are few, and they take little memory.
func (f *flights) room(ch *connector.Chunk) bool {
	return f.alone && len(f.under) < ChunksAhead && f.bytes+int64(ch.Rows.MemBytes()) <= f.e.opts.MemoryBytes/64
}

// land waits until there is room for a chunk; nil: until nothing is under way. It gives the error of the first that was not taken.
func (f *flights) land(ch *connector.Chunk) error {
	for len(f.under) > 0 && (ch == nil || !f.room(ch)) {
		first := f.under[0]
		f.under, f.bytes = append(f.under[:0], f.under[1:]...), f.bytes-first.bytes
		if err := f.e.outcome(first.out); err != nil {
			return err
		}
	}
	return nil
}

// landAll waits until none is under way.
func (f *flights) landAll() {
	for len(f.under) > 0 {
		_ = f.land(nil) // what is wrong was told of the first
	}
}

// submit queues a chunk and notes in f where its outcome comes.
func (s *source) submit(ctx context.Context, ch *connector.Chunk, f *flights) error {
	out := make(chan error, 1)
	a, err := s.spool(ch)
	if err != nil {
		return err
	}
	u := &unit{rows: ch.Rows.N, last: ch.Rows.N >= aloneRows, run: func(b *epochBuild) error { return s.take(b, ch, a) }, done: func(err error) {
		a.settle(s.e)
		if err == nil {
			s.taken(ch)
		}
		s.broken = s.broken || err != nil
		out <- err
	}}
	if err := s.e.enqueue(ctx, u); err != nil {
		a.settle(s.e)
		return err
	}
	n := int64(ch.Rows.MemBytes())
	f.under, f.bytes, f.alone = append(f.under, flight{out, n}), f.bytes+n, u.last
	return nil
}

// ahead is a chunk that was spooled before its epoch.
type ahead struct {
	sp     *state.Spool
	done   *state.Spooled
	change *relChange // that it went into
}

// spool writes a chunk that is large and is to be kept, so that the epoch's record need but name it; nil for another.
func (s *source) spool(ch *connector.Chunk) (*ahead, error) {
	if !s.keeps || ch.Rows.N == 0 || ch.Rows.MemBytes() < spoolBytes {
		return nil, nil
	}
	a := &ahead{sp: s.e.store.NewSpool(true)}
	err := a.sp.Append(ch.Rows)
	if err == nil {
		a.done, err = a.sp.Finish()
	}
	if err != nil {
		a.settle(s.e)
		return nil, err
	}
	return a, nil
}

// settle deletes what no epoch names. What can't be deleted now is dropped when the database is opened again.
func (a *ahead) settle(e *Engine) {
	if a == nil {
		return
	}
	if a.change == nil || !slices.ContainsFunc(a.change.parts, func(p part) bool { return p.sp == a.done }) {
		_ = e.abort(a.sp)
	}
}

// take puts a chunk into the epoch. It runs on the loop's goroutine.
func (s *source) take(b *epochBuild, ch *connector.Chunk, a *ahead) error {
	rel, st := b.cat.ByOID(s.oid), b.e.streams[s.oid]
	if rel == nil || st == nil || st.src != s {
		return sqlerr.New(sqlerr.UndefinedTable, "the stream was dropped")
	}
	if s.broken {
		return sqlerr.New(sqlerr.ObjectInUse, "the rows before these were not taken")
	}
	if ch.Extent.Columns > len(rel.Columns) {
		return sqlerr.New(sqlerr.ObjectInUse, "stream \"%s\" was changed meanwhile", rel.Name)
	}
	if b.changes[s.oid] != nil {
		return sqlerr.New(sqlerr.ObjectInUse, "stream \"%s\" is written to by others", rel.Name)
	}
	c := &relChange{rel: rel, replayable: !s.keeps, read: &ch.Extent}
	if ch.Rows.N > 0 {
		c.parts = []part{{b: pad(rel, ch.Rows)}}
		if a != nil {
			c.parts[0].sp, a.change = a.done, c
		}
	}
	b.changes[s.oid] = c
	b.order = append(b.order, s.oid)
	if len(ch.Bad) > 0 {
		b.hold(s.oid, decodeLetters(ch.Bad, b.n))
	}
	return nil
}

// taken moves the offset over a chunk whose epoch is published. It runs on the loop's goroutine.
func (s *source) taken(ch *connector.Chunk) {
	s.offset.Add(&ch.Extent)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.err, s.lag = sourceRunning, nil, ch.Lag
	s.last, s.rows, s.errs = s.offset.Last, s.offset.Rows, s.offset.Errors
	s.at = s.position()
}

// decodeLetters makes dead letters of rows that could not be decoded.
func decodeLetters(bad []connector.BadRow, epoch uint64) *batch.Batch {
	out := batch.New(columnTypes(deadColumns), len(bad))
	text := types.Of(types.Text)
	var row []byte
	for i := range bad {
		b := &bad[i]
		where := "file " + b.Part
		row = types.AppendJSONValue(append(row[:0], `{"file": `...), text, types.StringDatum(b.Part))
		if b.Line > 0 {
			line := types.Append(nil, types.Of(types.Int8), types.IntDatum(b.Line), types.DefaultEnv())
			where += ", line " + string(line)
			row = append(append(row, `, "line": `...), line...)
		}
		if b.Raw != "" {
			row = types.AppendJSONValue(append(row, `, "text": `...), text, types.StringDatum(b.Raw))
		}
		row = append(row, '}')
		if d, err := types.Parse(types.Of(types.JSONB), string(row), types.DefaultEnv()); err == nil {
			row = append(row[:0], d.B...)
		}
		c := out.Cols
		c[0].AppendString(string(b.Err.Code))
		c[1].AppendString(where + ": " + b.Err.Message)
		c[2].AppendBytes(row)
		c[3].AppendInt(int64(epoch))
		out.EndRow(1)
	}
	return out
}

// offset gives how far the stream's source was read, nil without one.
func (s *stream) offset() *connector.Offset {
	if s.src == nil {
		return nil
	}
	return &s.src.offset
}
