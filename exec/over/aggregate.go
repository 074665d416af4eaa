package over

import (
	"github.com/tidemarkdb/tidemark/sql/batch"
)

// argument gives what an aggregate adds up, nil for count(*), and which rows.
func (f *function) argument(args []*batch.Vector) (arg *batch.Vector, passes func(row int) bool) {
	if f.nargs > 0 {
		arg = args[0]
	}
	if !f.filter {
		return arg, func(int) bool { return true }
	}
	filter := args[f.nargs]
	return arg, func(row int) bool { return !filter.IsNull(row) && filter.I64[row] != 0 }
}

// startWith sets the running aggregate to what the summary before or after the rows at hand has for it.
func (f *function) startWith(states [][]byte) {
	f.state.reset()
	if states != nil {
		f.state.merge(states[f.slot])
	}
}

// fromStart appends the aggregate over frames that begin with the partition.
func (c *call) fromStart() error {
	fs, err := c.f.frame.of(c.p, c.env)
	if err != nil {
		return err
	}
	arg, passes := c.f.argument(c.args)
	c.f.startWith(c.p.before)
	done := 0
	for i := 0; i < c.p.b.N; i++ {
		hi := fs.hi[i]
		if hi < done {
			c.f.startWith(c.p.before)
			done = 0
		}
		for ; done < hi; done++ {
			if passes(done) {
				c.f.state.add(arg, done)
			}
		}
		c.fail(i, c.f.state.result(arg, c.dst))
	}
	return nil
}

// toEnd appends the aggregate over frames that end with the partition.
func (c *call) toEnd() error {
	fs, err := c.f.frame.of(c.p, c.env)
	if err != nil {
		return err
	}
	arg, passes := c.f.argument(c.args)
	n := c.p.b.N
	results := batch.NewVector(c.dst.Type, n) // from the last row back
	c.f.startWith(c.p.after)
	from := n
	for i := n - 1; i >= 0; i-- {
		lo := fs.lo[i]
		if lo > from {
			c.f.startWith(c.p.after)
			from = n
		}
		for from > lo {
			if from--; passes(from) {
				c.f.state.add(arg, from)
			}
		}
		c.fail(i, c.f.state.result(arg, results))
	}
	for i := n - 1; i >= 0; i-- {
		c.dst.AppendFrom(results, i)
	}
	return nil
}

// total appends the aggregate over the partition, to each row.
func (c *call) total() error {
	arg, passes := c.f.argument(c.args)
	c.f.startWith(c.p.all)
	if c.p.all == nil {
		for i := 0; i < c.p.b.N; i++ {
			if passes(i) {
				c.f.state.add(arg, i)
			}
		}
	}
	one := batch.NewVector(c.dst.Type, 1)
	e := c.f.state.result(arg, one)
	for i := 0; i < c.p.b.N; i++ {
		c.fail(i, e)
		c.dst.AppendFrom(one, 0)
	}
	return nil
}

// aggregate appends the aggregate over each frame.
func (c *call) aggregate() error {
	if c.p.wide && c.f.zone == zoneWide {
		return c.aggregateWide()
	}
	fs, err := c.f.frame.of(c.p, c.env)
	if err != nil {
		return err
	}
	arg, passes := c.f.argument(c.args)
	acc, sliding := c.f.acc, fs.sliding()
	acc.reset()
	lo, hi := 0, 0 // the rows in acc
	for i := 0; i < c.p.b.N; i++ {
		if !sliding {
			acc.reset()
			lo, hi = fs.lo[i], fs.lo[i]
		}
		for ; hi < fs.hi[i]; hi++ {
			if passes(hi) && (sliding || fs.holds(i, hi)) {
				acc.add(arg, hi)
			}
		}
		for ; lo < fs.lo[i]; lo++ {
			if passes(lo) && lo < hi {
				acc.remove(arg, lo)
			}
		}
		hi = max(hi, lo)
		c.fail(i, acc.result(arg, c.dst))
	}
	return nil
}
