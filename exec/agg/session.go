package agg

import (
	"encoding/binary"
	"math"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// session is the session aggregate. A row with time t and gap g is the session [t, t+g); sessions of a key that overlap or touch are
// one. How sessions are kept is the store's affair.
type session struct {
	prog      *program
	env       *kernel.Env
	mode      catalog.OutputMode
	closes    bool // the time carries a watermark
	time, gap *kernel.Kernel
	fixed     int64 // microseconds of a gap that is the same for all rows, else 0
	scale     int64 // microseconds of a unit of the time
	unit      int64 // microseconds of a unit of the session's fields
	keys      keySet
	outTypes  []types.Type // session, keys, aggregates
	store     sessionStore
	stats     dataflow.Stats

	running bool
	updates bool
	ord     int64 // rows seen in the epoch

	from, to []int64 // the session of each row of the batch
	rows     []int32
	dead     map[int32]bool
	failed   []kernel.RowError // of the batch at hand, of each of its dead rows one
}

// sessionStore keeps the sessions of one operator.
type sessionStore interface {
	// add takes rows of b, whose keys and arguments are evaluated, as sessions [from, to) each.
	add(ep *dataflow.Epoch, b *batch.Batch, rows []int32)
	// end emits what changed, closes what the watermark closes, and forgets the epoch.
	end(ep *dataflow.Epoch, out dataflow.Emit) error
	// size gives the number of sessions and the memory used.
	size() (n, bytes int64)
}

func newSession(n *plan.Aggregate, in []types.Type, prog *program, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	s := &session{prog: prog, env: env, mode: n.Mode, closes: n.Session.TimeWatermarked, scale: 1, unit: 1, outTypes: outputTypes(n), dead: map[int32]bool{}}
	var err error
	if s.time, err = kernel.Compile(n.Session.Time, in); err != nil {
		return nil, err
	}
	if s.gap, err = kernel.Compile(n.Session.Gap, in); err != nil {
		return nil, err
	}
	if c, ok := n.Session.Gap.(*plan.Const); ok && !c.Val.Null {
		if months, _, _ := types.IntervalParts(c.Val.I, c.Val.J); months == 0 {
			if gap, ok := addInterval(0, c.Val.I, c.Val.J); ok {
				s.fixed = max(0, gap)
			}
		}
	}
	if n.Session.Time.Type().Kind == types.Date {
		s.scale = microsPerDay
	}
	if s.outTypes[0].Elem == types.Date {
		s.unit = microsPerDay
	}
	var cols []*keyCol
	for _, x := range n.Keys {
		c, err := newKeyCol(x, in)
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	s.keys.init(cols)
	s.stats.Name = "sessionWindowStateStoreSave"
	if prog.appendOnly && prog.mergeable() {
		s.store = newMergedSessions(s, sp, opID)
	} else {
		s.store = newRowSessions(s, n, in, sp, opID)
	}
	return s, nil
}

// begin starts the epoch at its first call.
func (s *session) begin(ep *dataflow.Epoch) {
	if !s.running {
		s.running = true
		s.updates = ep.Final || s.mode != catalog.Append
		if ep.Again { // its rows come after those of the first run
			s.ord = 1 << 62
		}
	}
}

// closing gives the watermark that closes sessions at the end of the epoch.
func (s *session) closing(ep *dataflow.Epoch) dataflow.Watermark {
	if !s.closes || ep.Final || s.mode == catalog.Complete {
		return dataflow.NoWatermark
	}
	return ep.After
}

func (s *session) lateBound(ep *dataflow.Epoch) dataflow.Watermark {
	if !s.closes || ep.Final || s.mode == catalog.Complete {
		return dataflow.NoWatermark
	}
	return ep.Before
}

// TakesHashes implements dataflow.HashTaker.
func (s *session) TakesHashes() bool {
	_, merged := s.store.(*mergedSessions)
	return merged && s.keys.textKey()
}

// Push implements dataflow.Operator.
func (s *session) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, _ dataflow.Emit) error {
	if b.N == 0 {
		return nil
	}
	s.begin(ep)
	clear(s.dead)
	s.failed = s.failed[:0]
	dead := func(row int, e *sqlerr.Error) {
		if !s.dead[int32(row)] {
			s.dead[int32(row)] = true
			s.failed = append(s.failed, kernel.RowError{Row: row, Err: e})
		}
	}
	eval := func(k *kernel.Kernel) *batch.Vector {
		v, errs := k.Eval(s.env, b, nil)
		for _, e := range errs {
			dead(e.Row, e.Err)
		}
		return v
	}
	times := eval(s.time)
	var gaps *batch.Vector
	if s.fixed == 0 {
		gaps = eval(s.gap)
	}
	for _, c := range s.keys.cols {
		if c.col >= 0 {
			c.v = b.Cols[c.col]
		} else {
			c.v = eval(c.k)
		}
	}
	s.keys.take(b)
	s.spans(ep, b, times, gaps, dead)
	before := len(s.dead)
	if len(s.rows) > 0 {
		s.prog.evaluate(b, s.rows, dead)
	}
	if err := rowenc.Letters(ep, b, s.failed); err != nil || len(s.rows) == 0 {
		return err
	}
	if len(s.dead) > before {
		kept := s.rows[:0]
		for _, r := range s.rows {
			if !s.dead[r] {
				kept = append(kept, r)
			}
		}
		s.rows = kept
	}
	s.store.add(ep, b, s.rows)
	s.ord += int64(b.N)
	return nil
}

// spans finds the session of every row and leaves in s.rows those that count. gaps is nil where all have s.fixed.
func (s *session) spans(ep *dataflow.Epoch, b *batch.Batch, times, gaps *batch.Vector, dead func(int, *sqlerr.Error)) {
	s.rows = s.rows[:0]
	for len(s.from) < b.N {
		s.from, s.to = append(s.from, 0), append(s.to, 0)
	}
	bound := s.lateBound(ep)
	plain := s.fixed > 0 && s.scale == 1 && s.unit == 1 && times.Valid == nil && len(s.dead) == 0
	for i := 0; i < b.N; i++ {
		if plain {
			if t := times.I64[i]; types.IsFiniteTime(t) && t+s.fixed > t && !bound.Late(t+s.fixed) {
				s.from[i], s.to[i] = t, t+s.fixed
				s.rows = append(s.rows, int32(i))
				continue
			}
		}
		if s.dead[int32(i)] {
			continue
		}
		if times.IsNull(i) || !types.IsFiniteTime(times.I64[i]) {
			s.stats.RowsNullEvent += max(b.Weight(i), -b.Weight(i))
			continue
		}
		t := times.I64[i] * s.scale
		e, ok := t+s.fixed, true
		if gaps != nil {
			if gaps.IsNull(i) {
				dead(i, sqlerr.New(sqlerr.NullValueNotAllowed, "gap of session_window must not be null"))
				continue
			}
			e, ok = addInterval(t, gaps.I64[i], gaps.J64[i])
		}
		if x := times.I64[i]; x > math.MaxInt64/s.scale || x < math.MinInt64/s.scale || !ok || e < t && s.fixed > 0 {
			dead(i, sqlerr.New(sqlerr.DatetimeFieldOverflow, "end of session_window is out of range"))
			continue
		}
		if e <= t {
			dead(i, sqlerr.New(sqlerr.InvalidParameterValue, "gap of session_window must be greater than zero"))
			continue
		}
		if e%s.unit != 0 && s.unit != 1 {
			dead(i, sqlerr.New(sqlerr.InvalidParameterValue, "gap of session_window over dates must be whole days"))
			continue
		}
		if bound.Late(e) {
			rowenc.CountLate(&s.stats, b, i)
			ep.Sink.Late(ep, b, i, t, t, e)
			continue
		}
		s.from[i], s.to[i] = t, e
		s.rows = append(s.rows, int32(i))
	}
}

// addInterval adds an interval to a time: months by the calendar in UTC, days of 24 hours. It says false where the sum is out of range, or
// within a few days of it.
func addInterval(t, micros, monthsDays int64) (sum int64, ok bool) {
	months, days, us := types.IntervalParts(micros, monthsDays)
	if about := float64(t) + float64(us) + (31*float64(months)+float64(days))*microsPerDay; math.Abs(about) >= math.MaxInt64-1<<12 {
		return 0, false
	}
	if months != 0 {
		day := floorDiv(t, microsPerDay)
		rest := t - day*microsPerDay
		y, m, d := types.DaysToCivil(day)
		m += int(months) - 1
		y += int(floorDiv(int64(m), 12))
		m -= int(floorDiv(int64(m), 12)) * 12
		next := types.CivilToDays(y, m+1, 1)
		last := types.CivilToDays(y+(m+1)/12, (m+1)%12+1, 1) - next
		t = (next+min(int64(d), last)-1)*microsPerDay + rest
	}
	return t + int64(days)*microsPerDay + us, true
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// EndEpoch implements dataflow.Operator.
func (s *session) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	s.begin(ep)
	err := s.store.end(ep, out)
	s.running, s.ord = false, 0
	return err
}

// Stats implements dataflow.Stateful.
func (s *session) Stats() dataflow.Stats {
	st := s.stats
	st.RowsTotal, st.MemoryUsedBytes = s.store.size()
	return st
}

// appendTime appends a time so that the order of bytes is that of times.
func appendTime(dst []byte, t int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(t)^signBit)
}

func readTime(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ signBit) }
