package join

import (
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/state/table"
)

// finish ends a SELECT: rows that were held back and have no match come out.
func (o *join) finish(out dataflow.Emit) error {
	for i := range o.sides {
		s := &o.sides[i]
		if !o.shows(s) {
			continue
		}
		var err error
		if o.near {
			s.near.Each(func(r table.Row) bool {
				err = o.showNear(s, r, out)
				return err == nil
			})
		} else {
			s.rows.Scan(nil, nil, func(key, val []byte) bool {
				err = o.showUnmatched(s, key, val, out)
				return err == nil
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shows says whether unmatched rows of a side come out.
func (o *join) shows(s *side) bool { return s.tracked && o.n.Kind != plan.Semi }

func (o *join) showUnmatched(s *side, key, val []byte, out dataflow.Emit) error {
	e := o.readEntry(s, val)
	if o.keyed {
		e.matches = o.sides[1-s.port].keyCount(key[:e.klen])
	}
	if e.matches > 0 {
		return nil
	}
	return o.emitStored(s, key[e.klen:], e.w, out)
}

// evict removes the rows that can't match any more by the watermark after the epoch. In append mode those that never
// matched come out first; in update mode they have been out since they came.
func (o *join) evict(ep *dataflow.Epoch, out dataflow.Emit) error {
	if o.n.KeyTime >= 0 {
		return o.evictKeys(int64(ep.After), out)
	}
	for i := range o.sides {
		s := &o.sides[i]
		if s.bound == nil {
			continue
		}
		if err := o.evictTimes(s, rowenc.AddSat(int64(ep.After), s.bound.OffsetMicros), out); err != nil {
			return err
		}
	}
	return nil
}

// evictKeys removes both sides' rows whose key's time is at or below until. Keys begin with that time.
func (o *join) evictKeys(until int64, out dataflow.Emit) error {
	hi := rowenc.AfterTime(nil, until)
	for i := range o.sides {
		s := &o.sides[i]
		if s.rows == nil {
			continue
		}
		var err error
		s.rows.Scan(nil, hi, func(key, val []byte) bool {
			if o.hold && o.shows(s) {
				err = o.showUnmatched(s, key, val, out)
			}
			o.removed(s, o.readEntry(s, val).w)
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	for i := range o.sides {
		s := &o.sides[i]
		if s.rows != nil {
			s.rows.DeleteRange(nil, hi)
		}
		if s.counts == nil {
			continue
		}
		if s.rows == nil {
			s.counts.Scan(nil, hi, func(_, val []byte) bool {
				w, _ := rowenc.Varint(val)
				o.removed(s, w)
				return true
			})
		}
		s.counts.DeleteRange(nil, hi)
	}
	return nil
}

// evictTimes removes a side's rows whose time is at or below until, by its index of times.
func (o *join) evictTimes(s *side, until int64, out dataflow.Emit) error {
	if o.near {
		return o.expireNear(s, until, out)
	}
	hi := rowenc.AfterTime(nil, until)
	var err error
	show := o.hold && o.shows(s)
	s.times.Scan(nil, hi, func(timeKey, weight []byte) bool {
		key := timeKey[rowenc.TimeLen:]
		if show {
			if val, ok := s.rows.Get(key); ok {
				if err = o.showUnmatched(s, key, val, out); err != nil {
					return false
				}
			}
		}
		w, _ := rowenc.Varint(weight)
		o.removed(s, w)
		s.rows.Delete(key)
		return true
	})
	if err != nil {
		return err
	}
	s.times.DeleteRange(nil, hi)
	return nil
}

func (o *join) removed(s *side, w int64) {
	s.count -= w
	o.stats.RowsRemoved += w
}
