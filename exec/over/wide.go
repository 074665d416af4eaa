package over

import (
	"bytes"
	"sort"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Frames of rows within a distance (the last hour) hold many rows that do not change when one comes at the end. Where those
// around a zone are more than contextRows, they are not read: the ends of the frames of the zone's rows are searched for by position, and the aggregate between them
// comes from the sums. That costs more a row than adding up frames one after the other, so a long zone is computed in that way anyway.

// wideZone is the greatest number of rows of a zone whose frames are searched for.
const wideZone = 256

// context extends a zone, which has rows from first to last, by the rows that its values depend on. It says whether wide frames were left out.
func (o *over) context(zone, whole span, first, last change) (at span, wide bool) {
	extend := func(r *reaches, limit int64) (span, bool) {
		at := zone
		if !r.any {
			return at, true
		}
		n := o.nearby(&r.back, first.key, first.send, true)
		n.limit = limit
		at.lo = o.earliest(n, whole.lo, first.key)
		m := o.nearby(&r.ahead, last.key, last.send, false)
		m.limit = limit
		at.hi = o.latest(m, last.key, whole.hi)
		return at, !n.stopped && !m.stopped
	}
	if !o.wide || o.longer(zone, wideZone) {
		at, _ = extend(&o.reach, 0)
		return at, false
	}
	at, ok := extend(&o.reach, contextRows)
	if ok {
		return at, false
	}
	at, _ = extend(&o.must, 0)
	return at, true
}

// longer says whether a zone has more than n entries.
func (o *over) longer(zone span, n int) bool {
	o.rows.Scan(zone.lo, zone.hi, func(_, _ []byte) bool {
		n--
		return n >= 0
	})
	return n < 0
}

// aggregateWide appends the aggregate over each frame from the sums, NULL for rows whose values are not wanted.
func (c *call) aggregateWide() error {
	fs, err := c.wideFrames()
	if err != nil {
		return err
	}
	for i := 0; i < c.p.b.N; i++ {
		if i < c.p.lo || i >= c.p.hi {
			c.dst.AppendNull()
			continue
		}
		if err := c.sumPlaces(fs.lo[i], fs.hi[i]); err != nil {
			return err
		}
		arg, _ := c.f.argument(c.args)
		c.fail(i, c.f.state.result(arg, c.dst))
	}
	return nil
}

// inWideFrame is inFrame over frames that are searched for.
func (c *call) inWideFrame(which func(i int) (int64, bool, *sqlerr.Error)) error {
	fs, err := c.wideFrames()
	if err != nil {
		return err
	}
	for i := 0; i < c.p.b.N; i++ {
		k, ok, e := which(i)
		c.fail(i, e)
		row := fs.lo[i] + k - 1
		if k < 0 {
			row = fs.hi[i] - 1
		}
		if !ok || i < c.p.lo || i >= c.p.hi || row < fs.lo[i] || row >= fs.hi[i] {
			c.dst.AppendNull()
			continue
		}
		v, at, err := c.at(row)
		if err != nil {
			return err
		}
		c.dst.AppendFrom(v, at)
	}
	return nil
}

// sumPlaces makes the function's running aggregate that of the rows in places [lo, hi) of the partition.
func (c *call) sumPlaces(lo, hi int64) error {
	o, f := c.p.o, c.f
	f.state.reset()
	if lo >= hi {
		return nil
	}
	// An entry is a row as often as its weight says, and the range may begin or end in the middle of one.
	add := func(key, val []byte, n int64) error {
		if n <= 0 {
			return nil
		}
		_, send, _ := readRow(val)
		b := batch.New(o.in, 1)
		rowenc.ReadRow(key[send:], b.Cols)
		b.EndRow(1)
		vecs, _, err := f.args.Eval(nil, o.env, b)
		if err != nil {
			return err
		}
		for arg, passes := f.argument(vecs); n > 0 && passes(0); n-- {
			f.state.add(arg, 0)
		}
		return nil
	}
	k, v, before, ok := o.sums.Select(c.p.part, lo)
	if !ok {
		panic(corrupt(errShort))
	}
	w := o.summary.EntryRows(v)
	if err := add(k, v, min(before+w, hi)-lo); err != nil || before+w >= hi {
		return c.again(err)
	}
	end, last, at, ok := o.sums.Select(c.p.part, hi)
	var bound []byte
	if ok {
		bound = end
	}
	o.sums.Range(c.p.part, append(bytes.Clone(k), 0), bound)
	f.state.merge(o.summary.states()[f.slot])
	if ok {
		return c.again(add(end, last, hi-at))
	}
	return c.again(nil)
}

// again evaluates the arguments for the rows at hand once more, since their vectors last until the next evaluation only.
func (c *call) again(err error) error {
	if err == nil {
		c.args, _, err = c.f.args.Eval(nil, c.env, c.p.b)
	}
	return err
}

// places are the frames of the wanted rows of a partition: row i's is the places [lo[i], hi[i]) in it.
type places struct{ lo, hi []int64 }

// wideFrames searches for the frames of the wanted rows.
func (c *call) wideFrames() (*places, error) {
	p, f := c.p, c.f.frame
	fs := &places{make([]int64, p.b.N), make([]int64, p.b.N)}
	var value *batch.Vector
	if f.value != nil {
		vecs, _, err := f.value.Eval(nil, c.env, p.b)
		if err != nil {
			return nil, err
		}
		value = batch.NewVector(vecs[0].Type, p.b.N)
		value.AppendVector(vecs[0], nil)
	}
	for i := p.lo; i < p.hi; i++ {
		fs.lo[i] = c.place(value, i, f.start, 0)
		fs.hi[i] = max(c.place(value, i, f.end, 1), fs.lo[i])
	}
	return fs, nil
}

// place gives the place of a frame's first row (past 0), or that behind its last one (past 1).
func (c *call) place(value *batch.Vector, i int, b bound, past int64) int64 {
	p, f := c.p, c.f.frame
	switch {
	case f.mode == "rows":
		at := p.base + int64(i) + past
		if b.kind != "current row" {
			at = rowenc.AddSat(at, b.signed())
		}
		return max(0, min(at, p.n))
	case (b.kind == "current row" || value.IsNull(i)) && past == 0:
		return p.base + int64(p.start[i])
	case b.kind == "current row" || value.IsNull(i):
		return p.base + int64(p.end[i])
	}
	back := (b.kind == "preceding") != f.desc
	two := batch.NewVector(value.Type, 2)
	var failed error
	at := sort.Search(int(p.n), func(n int) bool {
		vecs, _, err := f.value.Eval(nil, c.env, p.row(int64(n)))
		if err != nil {
			failed = err
			return true
		}
		if vecs[0].IsNull(0) {
			return !f.nullsFirst
		}
		two.Reset(value.Type)
		two.AppendFrom(vecs[0], 0)
		two.AppendFrom(value, i)
		d := compareMoved(two, 0, 1, b, back)
		if f.desc {
			d = -d
		}
		return int64(d) >= past
	})
	if failed != nil {
		panic(corrupt(failed)) // it did not fail when the rows came
	}
	return int64(at)
}

// row gives row n of the partition, at hand or not.
func (p *partition) row(n int64) *batch.Batch {
	if k := n - p.base; k >= 0 && k < int64(p.b.N) {
		return p.b.Slice(int(k), int(k)+1)
	}
	return p.fetch(n)
}
