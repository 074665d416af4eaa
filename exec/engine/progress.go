package engine

import (
	"strconv"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// ringEpochs is how many epochs with work a view's progress keeps (Spark's numRecentProgressUpdates).
const ringEpochs = 100

// opProgress is what one operator did in one epoch.
type opProgress struct {
	id                                         int
	name                                       string
	total, updated, removed, dropped, nullTime int64
	memory                                     int64
}

// epochProgress is what a view did in one epoch.
type epochProgress struct {
	epoch         uint64
	timestamp     int64
	rows          int64
	took          time.Duration
	before, after dataflow.Watermark
	ops           []opProgress
}

// progressRing keeps a view's last epochs with work. The view's goroutine writes it, any goroutine reads it.
type progressRing struct {
	ids  []int
	ops  []dataflow.Stateful
	last []dataflow.Stats

	mu   sync.Mutex
	ring []epochProgress
	next int
}

func newProgressRing(g *dataflow.Graph) *progressRing {
	ids, ops := g.Stateful()
	p := &progressRing{ids: ids, ops: ops, last: make([]dataflow.Stats, len(ops))}
	p.note(0, 0, 0, 0, dataflow.NoWatermark, dataflow.NoWatermark)
	return p
}

// note records an epoch: counters are what the operators' totals grew by.
func (p *progressRing) note(epoch uint64, ts, rows int64, took time.Duration, before, after dataflow.Watermark) {
	e := epochProgress{epoch: epoch, timestamp: ts, rows: rows, took: took, before: before, after: after}
	for i, op := range p.ops {
		s, l := op.Stats(), p.last[i]
		e.ops = append(e.ops, opProgress{id: p.ids[i], name: s.Name, total: s.RowsTotal, updated: s.RowsUpdated - l.RowsUpdated,
			removed: s.RowsRemoved - l.RowsRemoved, dropped: s.RowsDroppedLate - l.RowsDroppedLate,
			nullTime: s.RowsNullEvent - l.RowsNullEvent, memory: s.MemoryUsedBytes})
		p.last[i] = s
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ring) < ringEpochs {
		p.ring = append(p.ring, e)
		return
	}
	p.ring[p.next%ringEpochs] = e
	p.next++
}

// epochs lists the kept epochs, oldest first.
func (p *progressRing) epochs() []epochProgress {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.next % ringEpochs
	out := append([]epochProgress(nil), p.ring[k:]...)
	return append(out, p.ring[:k]...)
}

// latest is the last epoch with work.
func (p *progressRing) latest() epochProgress {
	es := p.epochs()
	return es[len(es)-1]
}

// timed runs the view's epoch and records its progress.
func (v *view) timed(in *epochInput) error {
	before := v.wm
	start := time.Now()
	if err := v.runEpoch(in); err != nil {
		return err
	}
	v.progress.note(in.n, in.ts, v.pushed, time.Since(start), before, v.wm)
	return nil
}

func col(name string, k types.Kind) catalog.Column {
	return catalog.Column{Name: name, Type: types.Of(k)}
}

var stateOperatorColumns = []catalog.Column{
	col("view_name", types.Text), col("operator_id", types.Int4), col("operator_name", types.Text), col("num_rows_total", types.Int8),
	col("num_rows_updated", types.Int8), col("num_rows_removed", types.Int8), col("num_rows_dropped_by_watermark", types.Int8),
	col("num_rows_null_event_time", types.Int8), col("memory_used_bytes", types.Int8),
}

func stateOperatorRows(c *systemContext) (*batch.Batch, error) {
	b := batch.New(columnTypes(stateOperatorColumns), 0)
	for _, v := range c.e.liveViews(c.snap) {
		for _, o := range v.progress.latest().ops {
			b.Cols[0].AppendString(v.rel.Name)
			for i, x := range []int64{int64(o.id), 0, o.total, o.updated, o.removed, o.dropped, o.nullTime, o.memory} {
				if i == 1 {
					b.Cols[2].AppendString(o.name)
					continue
				}
				b.Cols[i+1].AppendInt(x)
			}
			b.EndRow(1)
		}
	}
	return b, nil
}

var queryProgressColumns = []catalog.Column{
	col("view_name", types.Text), col("batch_id", types.Int8), col("timestamp", types.TimestampTZ), col("num_input_rows", types.Int8),
	col("processed_rows_per_second", types.Float8), col("duration_ms", types.JSONB), col("event_time", types.JSONB), col("state_operators", types.JSONB),
}

func queryProgressRows(c *systemContext) (*batch.Batch, error) {
	b := batch.New(columnTypes(queryProgressColumns), 0)
	for _, v := range c.e.liveViews(c.snap) {
		for _, e := range v.progress.epochs() {
			if e.epoch == 0 {
				continue
			}
			ms := float64(e.took.Microseconds()) / 1000
			b.Cols[0].AppendString(v.rel.Name)
			b.Cols[1].AppendInt(int64(e.epoch))
			b.Cols[2].AppendInt(e.timestamp)
			b.Cols[3].AppendInt(e.rows)
			b.Cols[4].AppendFloat(float64(e.rows) / max(ms, 1) * 1000)
			b.Cols[5].AppendBytes(jsonb(`{"addBatch": ` + strconv.FormatFloat(ms, 'f', 3, 64) + `}`))
			b.Cols[6].AppendBytes(jsonb(e.eventTime()))
			b.Cols[7].AppendBytes(jsonb(e.operators()))
			b.EndRow(1)
		}
	}
	return b, nil
}

// jsonb brings JSON text that is known to be valid into jsonb's canonical form.
func jsonb(text string) []byte {
	d, err := types.Parse(types.Of(types.JSONB), text, types.DefaultEnv())
	if err != nil {
		return []byte("null")
	}
	return d.B
}

func (e *epochProgress) eventTime() string {
	s := "{"
	for _, f := range []struct {
		name string
		w    dataflow.Watermark
	}{{"watermark", e.before}, {"watermark_after", e.after}} {
		if f.w == dataflow.NoWatermark {
			continue
		}
		if len(s) > 1 {
			s += ", "
		}
		s += `"` + f.name + `": "` + time.UnixMicro(int64(f.w)).UTC().Format("2006-01-02T15:04:05.000Z") + `"`
	}
	return s + "}"
}

func (e *epochProgress) operators() string {
	s := "["
	for i, o := range e.ops {
		if i > 0 {
			s += ", "
		}
		s += `{"operatorName": "` + o.name + `", "numRowsTotal": ` + strconv.FormatInt(o.total, 10) +
			`, "numRowsUpdated": ` + strconv.FormatInt(o.updated, 10) + `, "numRowsRemoved": ` + strconv.FormatInt(o.removed, 10) +
			`, "numRowsDroppedByWatermark": ` + strconv.FormatInt(o.dropped, 10) + `, "memoryUsedBytes": ` + strconv.FormatInt(o.memory, 10) + `}`
	}
	return s + "]"
}
