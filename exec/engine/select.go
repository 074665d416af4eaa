package engine

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/topn"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/state/table"
)

// reader gives the contents of relations at one moment: a published epoch, that plus a transaction's own writes, or
// the epoch that is being made.
type reader interface {
	// scan gives a source's rows, with the columns that the source declares. Batches are valid during the call of f.
	scan(ctx context.Context, src *dataflow.Source, f func(*batch.Batch) error) error
	// memory is how many bytes of state a query may hold.
	memory() int64
}

// queryMemory bounds the state of one query: a SELECT has no store to evict to.
func (e *Engine) queryMemory() int64 { return max(e.opts.MemoryBytes/2, 256<<20) }

// interrupt gives what ends a query early: a cancelled context, or more state than may be held.
func interrupt(ctx context.Context, limit int64, held func() int64) func() error {
	n := 0
	return func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n++; n%64 == 0 && held() > limit {
			return sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("The query holds more than %d MB.", limit>>20).
				WithHint("Filter earlier, or raise --memory.")
		}
		return nil
	}
}

// errStop ends a query whose consumer wants no more rows.
var errStop = errors.New("stop")

// selectSink makes every row error abort the statement, as PostgreSQL does; a SELECT has no late rows.
type selectSink struct{}

func (selectSink) Late(*dataflow.Epoch, *batch.Batch, int, int64, int64, int64) {}

func (selectSink) Dead(_ *dataflow.Epoch, _ *batch.Batch, _ int, err *sqlerr.Error) error { return err }

// runQuery runs a plan once over the contents that r gives: a view that lives for one epoch. out gets batches whose
// rows all count once, in final order.
func runQuery(ctx context.Context, root plan.Node, r reader, env *kernel.Env, out func(*batch.Batch) error) error {
	sp := table.NewTransient()
	g, err := exec.NewGraph(root, dataflow.PolicyMin, sp, env, exec.Slots{})
	if err != nil {
		return err
	}
	emit := func(b *batch.Batch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := unitWeights(b)
		if err != nil || b.N == 0 {
			return err
		}
		return out(b)
	}
	var all []*batch.Batch
	sorting := int64(0) // bytes in all
	sort, isSort := root.(*plan.Sort)
	if isSort {
		emit = func(b *batch.Batch) error {
			b, err := unitWeights(b)
			if err == nil {
				all = append(all, b.Select(allRows(b.N)))
				sorting += int64(all[len(all)-1].MemBytes())
			}
			return err
		}
	}
	info := &dataflow.EpochInfo{Timestamp: env.Now, Final: true, Sink: selectSink{},
		Interrupt: interrupt(ctx, r.memory(), func() int64 { return sp.MemBytes() + sorting }),
		Watermarks: func(*dataflow.Source) (dataflow.Watermark, dataflow.Watermark) {
			return dataflow.NoWatermark, dataflow.NoWatermark
		}}
	err = runGraph(ctx, g, info, r, emit)
	if cerr := closeGraph(g); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if !isSort {
		return nil
	}
	sorted, err := topn.SortBatches(all, sort.Keys, plan.Types(sort.Input), env)
	if err != nil {
		return err
	}
	for _, b := range sorted {
		if err := ctx.Err(); err != nil {
			return err
		}
		if sort.Visible > 0 { // further columns are only sorted by
			b = b.Project(cols(0, sort.Visible))
		}
		if err := out(b); err != nil {
			return err
		}
	}
	return nil
}

// runGraph runs one epoch of a graph over whole relations. A panic in an operator becomes an error.
func runGraph(ctx context.Context, g *dataflow.Graph, info *dataflow.EpochInfo, r reader, emit dataflow.Emit) (err error) {
	defer recoverOperator(&err)
	g.Begin(info, emit)
	for _, src := range g.Sources() {
		err := r.scan(ctx, src, func(b *batch.Batch) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return g.Push(src, b)
		})
		if err != nil {
			return err
		}
	}
	return g.End()
}

// recoverOperator turns a panic of an operator into an error: a limit of state that was reached and a failed read of it as what they are,
// anything else as XX000.
func recoverOperator(err *error) {
	switch r := recover().(type) {
	case nil:
	case *table.Failure:
		if *err = r.Err; sqlerr.CodeOf(r.Err) != sqlerr.ProgramLimitExceeded {
			*err = sqlerr.New(sqlerr.IOError, "could not read operator state").WithCause(r)
		}
	default:
		func() {
			defer sqlerr.Recover(err)
			panic(r)
		}()
	}
}

// unitWeights repeats rows so that every row counts once.
func unitWeights(b *batch.Batch) (*batch.Batch, error) {
	if b.Weights == nil {
		return b, nil
	}
	plain := true
	for _, w := range b.Weights {
		if w < 0 {
			return nil, sqlerr.New(sqlerr.InternalError, "internal error: a query gave a row of negative weight")
		}
		plain = plain && w == 1
	}
	if plain {
		return &batch.Batch{N: b.N, Cols: b.Cols}, nil
	}
	var sel []int32
	for i, w := range b.Weights {
		for ; w > 0; w-- {
			sel = append(sel, int32(i))
		}
	}
	flat := &batch.Batch{N: b.N, Cols: b.Cols}
	return flat.Select(sel), nil
}

// rowStream pulls the rows of a running query: the producer runs as a coroutine, a batch at a time, so nothing is
// buffered whole and a slow client holds up only itself.
type rowStream struct {
	ctx context.Context // of the current pull
	// few gives all rows at once, where there are few: then there is no producer.
	few  func(context.Context) (*batch.Batch, error)
	next func() (*batch.Batch, error, bool)
	stop func()
	cur  *batch.Batch
	off  int
	rows int64
	done bool
}

func newRowStream(run func(ctx context.Context, out func(*batch.Batch) error) error) *rowStream {
	s := &rowStream{ctx: context.Background()}
	s.next, s.stop = iter.Pull2(func(yield func(*batch.Batch, error) bool) {
		err := run(pullCtx{s}, func(b *batch.Batch) error {
			if !yield(b, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	})
	return s
}

// pullCtx is the context of whichever call pulls at the moment.
type pullCtx struct{ s *rowStream }

// Deadline implements context.Context.
func (c pullCtx) Deadline() (time.Time, bool) { return c.s.ctx.Deadline() }

// Err implements context.Context.
func (c pullCtx) Err() error { return c.s.ctx.Err() }

// Done implements context.Context.
func (c pullCtx) Done() <-chan struct{} { return c.s.ctx.Done() }

// Value implements context.Context.
func (c pullCtx) Value(k any) any { return c.s.ctx.Value(k) }

// pull gives up to limit rows (0: any number), nil at the end.
func (s *rowStream) pull(ctx context.Context, limit int) (*batch.Batch, error) {
	if s.cur == nil || s.off >= s.cur.N {
		if s.done {
			return nil, nil
		}
		s.ctx = ctx
		var b *batch.Batch
		var err error
		ok := true
		if s.few != nil {
			b, err = s.few(ctx)
			s.done, ok = true, b != nil
		} else {
			b, err, ok = s.next()
		}
		if err != nil {
			s.done = true
			return nil, err
		}
		if !ok {
			s.done = true
			return nil, nil
		}
		s.cur, s.off = b, 0
	}
	n := s.cur.N - s.off
	if limit > 0 && n > limit {
		n = limit
	}
	b := s.cur
	if s.off > 0 || n < b.N {
		b = s.cur.Slice(s.off, s.off+n)
	}
	s.off += n
	s.rows += int64(n)
	return b, nil
}

func (s *rowStream) close() {
	s.done = true
	if s.stop != nil {
		s.stop()
	}
}
