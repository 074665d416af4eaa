package engine

import (
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// stepOption is the option of a stream that holds rows back whose event time is further ahead of the greatest so far than it says:
// one row with a wrong clock would close all windows. The first row of a stream has nothing to be compared with, and a row that does not
// move the watermark, because ADVANCE or silence has taken it further than rows did, is not ahead.
const stepOption = "max_watermark_step"

// watermarkStep reads the option, microseconds; 0 without it.
func watermarkStep(rel *catalog.Relation) (int64, error) {
	text, ok := rel.Options[stepOption]
	if !ok {
		return 0, nil
	}
	bad := sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for option \"%s\": \"%s\"", stepOption, text)
	d, err := types.Parse(types.Of(types.Interval), text, types.DefaultEnv())
	if err != nil {
		return 0, bad
	}
	months, days, micros := types.IntervalParts(d.I, d.J)
	const day = 86_400_000_000
	if months != 0 || days < 0 || int64(days) > 1<<20 || micros < -day || micros > 1<<60 || int64(days)*day+micros <= 0 {
		return 0, bad.WithHint("It is an interval greater than zero without months.")
	}
	if rel.Kind != catalog.Stream || rel.Watermark == nil {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "option \"%s\" needs a stream with a watermark", stepOption)
	}
	return int64(days)*day + micros, nil
}

// holdAhead takes rows that are too far ahead out of the epoch, and makes them dead letters of their streams. What is recorded
// is what is left, and the letters.
func (e *Engine) holdAhead(b *epochBuild) error {
	if b.replay {
		return nil
	}
	for oid, c := range b.changes {
		s := e.streams[oid]
		if s == nil || s.maxStep == 0 {
			continue
		}
		var parts []part
		letters, high := batch.New(columnTypes(deadColumns), 0), s.furthest()
		for _, p := range c.parts {
			rows, held := []*batch.Batch{}, letters.N
			err := eachBatch([]part{p}, func(x *batch.Batch) error {
				ok := s.inStep(x, &high, letters, b.n)
				if p.b == nil || len(ok) < x.N {
					x = x.Select(ok)
				}
				rows = append(rows, x)
				return nil
			})
			if err != nil {
				return err
			}
			if letters.N == held { // nothing of it was held: it stays as it is
				parts = append(parts, p)
				continue
			}
			for _, x := range rows {
				if x.N > 0 {
					parts = append(parts, part{b: x})
				}
			}
		}
		if letters.N > 0 {
			c.parts = parts
			b.hold(oid, letters)
		}
	}
	return nil
}

// furthest is the event time that the next one is compared with: the greatest so far, or that which the watermark stands for, if it is
// beyond that.
func (s *stream) furthest() int64 {
	if s.maxEvent == dataflow.NoTime || s.wm == dataflow.NoWatermark {
		return s.maxEvent
	}
	return max(s.maxEvent, int64(s.wm)+s.rel.Watermark.DelayMicros)
}

// inStep lists the rows whose event time is in step with the furthest so far, which it moves on, and makes letters of the others.
func (s *stream) inStep(b *batch.Batch, high *int64, letters *batch.Batch, epoch uint64) []int32 {
	v := b.Cols[s.rel.Watermark.Column]
	ok := make([]int32, 0, b.N)
	for i := 0; i < b.N; i++ {
		if !v.IsNull(i) {
			if t, finite := eventMicros(v.Type, v.I64[i]); finite {
				if *high != dataflow.NoTime && t > *high && uint64(t)-uint64(*high) > uint64(s.maxStep) {
					s.letter(b, i, *high, letters, epoch)
					continue
				}
				*high = max(*high, t)
			}
		}
		ok = append(ok, int32(i))
	}
	return ok
}

// letter makes a dead letter of a row that is too far ahead.
func (s *stream) letter(b *batch.Batch, i int, high int64, letters *batch.Batch, epoch uint64) {
	names := make([]string, len(s.rel.Columns))
	for k, c := range s.rel.Columns {
		names[k] = c.Name
	}
	tz := types.Of(types.TimestampTZ)
	at := func(us int64) string {
		return string(types.Append(nil, tz, types.Datum{I: us}, types.DefaultEnv()))
	}
	v := b.Cols[s.rel.Watermark.Column]
	t, _ := eventMicros(v.Type, v.I64[i])
	c := letters.Cols
	c[0].AppendString(string(sqlerr.DatetimeFieldOverflow))
	c[1].AppendString("event time " + at(t) + " is further ahead of the stream's time, " + at(high) + ", than " + stepOption + " allows")
	c[2].AppendBytes(rowJSON(names, b, i, false))
	c[3].AppendInt(int64(epoch))
	letters.EndRow(b.Weight(i))
}

// hold notes the epoch's letters of a stream.
func (b *epochBuild) hold(oid catalog.OID, letters *batch.Batch) {
	if b.held == nil {
		b.held = map[catalog.OID]*batch.Batch{}
	}
	if h := b.held[oid]; h != nil {
		h.AppendBatch(letters, nil)
		return
	}
	b.held[oid] = letters
}

// deliverHeld adds the epoch's letters to their streams' hidden relations.
func (e *Engine) deliverHeld(b *epochBuild) error {
	for oid, letters := range b.held {
		s := e.streams[oid]
		if s == nil || s.held == nil {
			continue
		}
		if err := s.held.add(letters); err != nil {
			return err
		}
		s.heldNow = letters
	}
	return nil
}
