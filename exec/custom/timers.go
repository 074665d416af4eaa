package custom

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// timer is one that has expired. Its bytes are valid until the operator fires others.
type timer struct {
	at    int64 // ms
	gkey  []byte
	exact []byte // what the entry carries of the key
}

// fire fires the timers at or below until (ms) that were registered before the round, in order of expiry, then key. A round that is cut short by
// the budget stays pending; again continues it.
func (o *Operator) fire(ep *dataflow.Epoch, until int64, budget *int, again bool, out dataflow.Emit) error {
	m := &o.st.meta
	round := m.Round + 1
	if again {
		round = m.Round
	}
	due, more := o.due(until, round, *budget)
	if len(due) == 0 && !more {
		m.Pending = false
		return nil
	}
	m.Round, m.Pending, m.Until = round, more, until
	*budget -= len(due)
	defer o.forgetDue(due)
	t := o.clocks(until)
	o.h.counts.expired += int64(len(due))
	for _, x := range due {
		if err := o.fireOne(ep, x, t, out); err != nil {
			return err
		}
	}
	return nil
}

// due lists the timers of a round, and says whether there are more than max.
func (o *Operator) due(until int64, round uint64, max int) (out []timer, more bool) {
	arena := o.fired.arena[:0]
	out = o.fired.timers[:0]
	o.st.timers.Scan(nil, rowenc.AfterTime(nil, until), func(k, v []byte) bool {
		registered, rest := rowenc.Uvarint(v)
		if registered >= round {
			return true
		}
		if len(out) == max {
			more = true
			return false
		}
		n := len(arena)
		arena = append(append(arena, k[rowenc.TimeLen:]...), rest...) // what lies in an earlier array stays there
		m := n + len(k) - rowenc.TimeLen
		out = append(out, timer{rowenc.ReadTime(k), arena[n:m:m], arena[m:]})
		return true
	})
	o.fired.arena = arena
	return out, more
}

// forgetDue keeps the memory of a round for the next one, unless it is large.
func (o *Operator) forgetDue(due []timer) {
	o.fired.timers = due[:0]
	if len(due) > maxTimersPerEpoch || cap(o.fired.arena) > 1<<24 {
		o.fired.timers, o.fired.arena = nil, nil
	}
}

// fireOne fires a timer and deletes it, also when its handler fails: its letter has the key and the expiry.
func (o *Operator) fireOne(ep *dataflow.Epoch, x timer, t TimerValues, out dataflow.Emit) error {
	o.fired.key, _, _ = o.h.keys.cutInto(o.fired.key, x.gkey, x.exact)
	key := Row{Schema: o.h.keys.schema, vals: o.fired.key}
	res, err := o.call(phaseTimers, key, x.gkey, func(k Row) (Output, error) {
		return o.proc.HandleExpiredTimer(k, t, ExpiredTimerInfo{x.at})
	})
	o.h.timerFired(x)
	if err != nil {
		return o.buryTimer(ep, x, err)
	}
	return o.emit(x.gkey, res, out)
}

// timerFired deletes a timer for good.
func (h *Handle) timerFired(x timer) {
	h.counts.deleted++
	h.last = append(rowenc.AppendTime(h.last[:0], x.at), x.gkey...)
	h.st.timers.Delete(h.last)
	h.last = rowenc.AppendTime(append(h.last[:0], x.gkey...), x.at)
	h.st.keyTimers.Delete(h.last)
}

func (o *Operator) buryTimer(ep *dataflow.Epoch, x timer, cause error) error {
	var ts []types.Type
	var names []string
	for _, f := range o.h.keys.schema.Fields {
		ts, names = append(ts, f.Type), append(names, f.Name)
	}
	b := batch.New(append(ts, types.Of(types.Timestamp)), 1)
	for i, d := range o.fired.key {
		b.Cols[i].AppendDatum(d)
	}
	b.Cols[len(o.fired.key)].AppendInt(clampMicros(x.at))
	b.EndRow(1)
	at := *ep
	at.Port, at.Inputs = 0, []dataflow.PortInfo{{Columns: append(names, "expired_timer")}}
	if len(ep.Inputs) > 0 {
		at.Inputs[0].Streams = ep.Inputs[0].Streams
	}
	return ep.Sink.Dead(&at, b, 0, letter(cause))
}

func clampMicros(ms int64) int64 { return min(max(ms, -maxMillis), maxMillis) * 1000 }

// hold fixes the output watermark of an operator whose round was cut short: below its earliest timer, but never going back.
func (o *Operator) hold(ep *dataflow.Epoch) {
	w := int64(ep.After)
	round := o.st.meta.Round
	o.st.timers.Scan(nil, nil, func(k, v []byte) bool {
		if registered, _ := rowenc.Uvarint(v); registered >= round {
			return true
		}
		w = min(w, clampMicros(rowenc.ReadTime(k))-1000)
		return false
	})
	o.st.meta.Hold = max(int64(o.floor), w)
}

// Share implements dataflow.Sharer: the timers of an epoch are bounded.
func (o *Operator) Share(n int) { o.maxTimers = (o.maxTimers + n - 1) / n }

// HeldWatermark implements dataflow.WatermarkHolder.
func (o *Operator) HeldWatermark(in dataflow.Watermark) dataflow.Watermark {
	if o.st.meta.Pending && o.mode == TimeModeEventTime && in != dataflow.NoWatermark {
		return min(in, dataflow.Watermark(o.st.meta.Hold))
	}
	return in
}

// NextDue implements dataflow.Timed: a round that was cut short goes on at once; timers of processing time and TTLs fall due.
func (o *Operator) NextDue() (int64, bool) {
	if o.st.meta.Pending {
		return 0, true
	}
	due, any := int64(0), false
	note := func(t *table.Ordered) {
		t.Scan(nil, nil, func(k, _ []byte) bool {
			if at := clampMicros(rowenc.ReadTime(k)); !any || at < due {
				due, any = at, true
			}
			return false
		})
	}
	if o.mode == TimeModeProcessingTime {
		note(o.st.timers)
		note(o.st.ttl)
	}
	return due, any
}

// expire removes what has outlived its TTL.
func (o *Operator) expire() {
	if o.st.ttl.Len() == 0 {
		return
	}
	type entry struct {
		index, key []byte
		elem       bool
	}
	var gone []entry
	o.st.ttl.Scan(nil, rowenc.AfterTime(nil, o.h.now), func(k, _ []byte) bool {
		k = bytes.Clone(k)
		gone = append(gone, entry{k, k[rowenc.TimeLen+1:], k[rowenc.TimeLen] == ttlElems})
		return true
	})
	lists := map[string]bool{}
	for _, e := range gone {
		o.st.ttl.Delete(e.index)
		t := o.st.values
		if e.elem {
			t = o.st.elems
		}
		t.Delete(e.key)
		o.h.removed++
		o.h.counts.outlived++
		if e.elem {
			lists[string(e.key[:len(e.key)-8])] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		o.trimList([]byte(key))
	}
}

// trimList moves the beginning of a list past elements that have expired, and removes the bounds of one that has none left. It is done once
// a list: what was removed is passed over by whoever looks for what is left.
func (o *Operator) trimList(key []byte) {
	val, ok := o.st.lists.Get(key)
	if !ok {
		return
	}
	rest := o.h.keys.skip(val)
	first, next := readBounds(rest)
	left := next
	o.st.elems.Scan(rowenc.AppendTime(bytes.Clone(key), first), rowenc.PrefixEnd(nil, key), func(k, _ []byte) bool {
		left = rowenc.ReadTime(k[len(k)-8:])
		return false
	})
	switch {
	case left >= next:
		o.st.lists.Delete(key)
	case left > first:
		val = bytes.Clone(val[:len(val)-len(rest)])
		o.st.lists.Put(key, binary.AppendVarint(binary.AppendVarint(val, left), next))
	}
}
