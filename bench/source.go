package bench

import (
	"fmt"
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// epochBase is the time of the first event, microseconds since 1970: a whole minute, so that windows begin with it.
const epochBase = int64(1_700_000_040_000_000)

// event is one row of a stream; key is k as a number, whatever its type in the stream.
type event struct{ key, v, x, ts int64 }

// source makes the same events for the same workload, epoch after epoch. One epoch's batch is valid until the second call of next after it, or as many calls
// later as keep says.
type source struct {
	w      *workload
	bufs   []*batch.Batch
	epochs int64 // made so far
	rnd    xorshift
	names  [][]byte
	counts [2]int64 // events of each stream so far
	// drawn is called with each event where it is set.
	drawn func(stream int, e event)
}

func newSource(w *workload) *source {
	s := &source{w: w, rnd: newXorshift(0)}
	if w.keyType == "text" {
		for i := int64(0); i < w.keys; i++ {
			s.names = append(s.names, fmt.Appendf(nil, "key-%08d", i))
		}
	}
	s.keep(2)
	return s
}

// keep makes the batches of n epochs valid at the same time.
func (s *source) keep(n int) {
	kt := types.Of(types.Int8)
	if s.names != nil {
		kt = types.Of(types.Text)
	}
	for len(s.bufs) < n {
		s.bufs = append(s.bufs, batch.New([]types.Type{kt, types.Of(types.Int8), types.Of(types.Int8), types.Of(types.Timestamp)}, epochRows))
	}
}

// stream is the number of the stream that the next epoch belongs to. With two streams epochs go to them in turn, and both cover the same
// time.
func (s *source) stream() int {
	if s.w.joined {
		return int(s.epochs & 1)
	}
	return 0
}

// next gives the next epoch.
func (s *source) next() *batch.Batch {
	b, stream := s.bufs[s.epochs%int64(len(s.bufs))], s.stream()
	s.epochs++
	b.Reset()
	// The number of events before a time is fixed, not the time between events: it need not be a whole number of nanoseconds.
	span, n := s.w.perEpoch.Microseconds(), s.counts[stream]
	for range epochRows {
		r := s.rnd.next()
		e := event{key: int64(r>>32) % s.w.keys, v: int64(r & 0xffff), x: int64(r>>16&0xffff) % 1000, ts: epochBase + n*span/epochRows}
		if s.w.retire > 0 {
			e.key += n * s.w.retire / epochRows
		}
		n++
		if s.names != nil {
			b.Cols[0].AppendBytes(s.names[e.key])
		} else {
			b.Cols[0].AppendInt(e.key)
		}
		b.Cols[1].AppendInt(e.v)
		b.Cols[2].AppendInt(e.x)
		b.Cols[3].AppendInt(e.ts)
		if s.drawn != nil {
			s.drawn(stream, e)
		}
	}
	b.N, s.counts[stream] = epochRows, n
	return b
}

// replay makes the events of the first n epochs again, for m.
func (w *workload) replay(n int64, m model) {
	again := newSource(w)
	var newest [2]int64
	again.drawn = func(stream int, e event) {
		newest[stream] = e.ts
		m.add(stream, e)
	}
	for again.epochs < n {
		again.next()
		low := newest[0]
		if w.streams() == 2 {
			low = min(low, newest[1])
		}
		if low > 0 {
			m.endEpoch((low - w.delay.Microseconds()) / 1000 * 1000)
		}
	}
}

// check compares the row that the query sums gave with what the model computes from the events of src.
func (w *workload) check(src *source, rows [][]string) error {
	m := w.model()
	w.replay(src.epochs, m)
	return compare(rows, m.result()...)
}

// interval spells d in SQL.
func interval(d time.Duration) string {
	return fmt.Sprintf("INTERVAL '%d milliseconds'", d.Milliseconds())
}

// texts shows rows as text; NULL is the empty string.
func texts(s session.Session, b *batch.Batch) [][]string {
	out := make([][]string, b.N)
	env := s.Env()
	for i := range out {
		for _, c := range b.Cols {
			if c.IsNull(i) {
				out[i] = append(out[i], "")
				continue
			}
			out[i] = append(out[i], string(types.Append(nil, c.Type, c.Datum(i), env)))
		}
	}
	return out
}
