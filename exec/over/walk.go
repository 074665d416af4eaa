package over

import (
	"bytes"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/batch"
)

// walks adds the zones of running aggregates.
func (z *zones) walks() {
	for _, kind := range []zone{zonePrefix, zoneSuffix, zoneTotal} {
		var fs []*function
		for _, f := range z.o.funcs {
			if f.zone == kind {
				fs = append(fs, f)
			}
		}
		if len(fs) == 0 || z.all {
			continue
		}
		w := &walk{z: z, fs: fs, desc: kind == zoneSuffix, cs: slices.Clone(z.cs)}
		if w.desc {
			slices.Reverse(w.cs)
		}
		for len(w.cs) > 0 {
			first := w.cs[0]
			last, ended := w.run()
			if kind == zoneTotal {
				z.all = z.all || ended
			} else {
				z.walked(first, last, ended, w.desc)
			}
		}
	}
}

// walked adds the zone from a change to the last row that it reaches, in the direction of the walk.
func (z *zones) walked(first, last change, ended, desc bool) {
	o := z.o
	if desc {
		first, last = last, first
	}
	lo, hi := z.whole.lo, z.whole.hi
	if !ended || !desc {
		lo = o.before(&o.reach.ahead, z.part, first.key, first.send)
	}
	if !ended || desc {
		hi = o.behind(&o.reach.back, last.key, last.send, hi)
	}
	z.add(lo, hi)
}

// walk goes through the rows of a partition from a changed one on, with the running aggregates as they are and as they will be, until
// both are the same.
type walk struct {
	z    *zones
	fs   []*function
	desc bool
	cs   []change // those ahead, in the direction of the walk
}

// merged is a row before and after the changes: its weights.
type merged struct {
	change
	was, is int64
}

// run walks from the first change on, and takes the changes that it passes off the list. It gives the last row that it came to, and says
// whether it came to the end of the partition with aggregates that differ.
func (w *walk) run() (last change, ended bool) {
	o := w.z.o
	at := w.cs[0].key
	if w.desc {
		o.sums.Range(w.z.part, append(bytes.Clone(at), 0), nil)
	} else {
		o.sums.Range(w.z.part, nil, at)
	}
	states := o.summary.states()
	for _, f := range w.fs {
		for _, s := range []running{f.state, f.other} {
			s.reset()
			s.merge(states[f.slot])
		}
	}
	first := true
	for limit := 16; ; limit = min(2*limit, batch.Target) {
		rows, more := w.next(at, first, limit)
		if len(rows) == 0 {
			return last, true
		}
		n := w.add(rows)
		last, at, first = rows[n-1].change, rows[n-1].key, false
		passed := 0
		for passed < len(w.cs) && w.reached(w.cs[passed].key, at) {
			passed++
		}
		w.cs = w.cs[passed:]
		if w.same() {
			return last, false
		}
		if !more {
			return last, true
		}
	}
}

func (w *walk) reached(key, at []byte) bool {
	if w.desc {
		return bytes.Compare(key, at) >= 0
	}
	return bytes.Compare(key, at) <= 0
}

// next gives up to limit rows of the state from a key on, or with first from it, and the changes among them. The key itself belongs to them only
// if it is the first one.
func (w *walk) next(at []byte, first bool, limit int) (rows []merged, more bool) {
	after := append(bytes.Clone(at), 0)
	collect := func(k, v []byte) bool {
		if len(rows) == limit {
			more = true
			return false
		}
		_, send, n := readRow(v)
		rows = append(rows, merged{change{bytes.Clone(k), send, 0}, n, n})
		return true
	}
	switch {
	case w.desc && first:
		w.z.o.rows.ScanDesc(w.z.whole.lo, after, collect)
	case w.desc:
		w.z.o.rows.ScanDesc(w.z.whole.lo, at, collect)
	case first:
		w.z.o.rows.Scan(at, w.z.whole.hi, collect)
	default:
		w.z.o.rows.Scan(after, w.z.whole.hi, collect)
	}
	cs := w.cs
	if more {
		n := 0
		for n < len(cs) && w.reached(cs[n].key, rows[len(rows)-1].key) {
			n++
		}
		cs = cs[:n]
	}
	if len(cs) > 0 {
		rows = w.mergeIn(rows, cs)
	}
	return rows, more
}

// mergeIn adds changes to rows, both in the order of the walk.
func (w *walk) mergeIn(rows []merged, cs []change) []merged {
	out := make([]merged, 0, len(rows)+len(cs))
	for _, r := range rows {
		for len(cs) > 0 && w.reached(cs[0].key, r.key) {
			c := cs[0]
			cs = cs[1:]
			if bytes.Equal(c.key, r.key) {
				r.is += c.w
				break
			}
			out = append(out, merged{c, 0, c.w})
		}
		out = append(out, r)
	}
	for _, c := range cs {
		out = append(out, merged{c, 0, c.w})
	}
	return out
}

// add adds rows to the aggregates, one after the other until they are the same again; it gives the number of rows.
func (w *walk) add(rows []merged) int {
	o := w.z.o
	b := batch.New(o.in, len(rows))
	for _, r := range rows {
		rowenc.ReadRow(r.key[r.send:], b.Cols)
		b.EndRow(1)
	}
	args := make([][]*batch.Vector, len(w.fs))
	for k, f := range w.fs {
		vecs, _, err := f.args.Eval(nil, o.env, b)
		if err != nil {
			panic(corrupt(err)) // it did not fail when the rows came
		}
		args[k] = vecs
	}
	for i, r := range rows {
		for k, f := range w.fs {
			arg, passes := f.argument(args[k])
			if !passes(i) {
				continue
			}
			for n := r.was; n > 0; n-- {
				f.state.add(arg, i)
			}
			for n := r.is; n > 0; n-- {
				f.other.add(arg, i)
			}
		}
		if w.same() {
			return i + 1
		}
	}
	return len(rows)
}

func (w *walk) same() bool {
	for _, f := range w.fs {
		if !f.state.same(f.other) {
			return false
		}
	}
	return true
}
