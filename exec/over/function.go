package over

import (
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// function is one compiled plan.OverFunc. args are its arguments and, last, its filter if it has one.
type function struct {
	args   *rowenc.Exprs
	nargs  int
	filter bool
	frame  *frame
	acc    accumulator // of an aggregate over frames of which no end is unbounded, or that have holes
	state  running     // of other aggregates
	other  running     // another state of the same kind
	slot   int         // of state, among those of the operator
	zone   zone
	// Rows before and after its own that it looks at, other than those of its frame.
	lookBack, lookAhead int64
	k                   int64 // zoneNth: number of the row; zoneTile: number of buckets
	run                 func(c *call) error
}

// call is the computation of one function for one partition.
type call struct {
	f    *function
	p    *partition
	args []*batch.Vector
	dst  *batch.Vector
	env  *kernel.Env
}

// ranks are the functions that do not look at a frame; values those that do.
var ranks = map[string]struct {
	run  func(c *call) error
	zone zone
}{
	"row_number": {func(c *call) error { return c.ints(func(i int) int64 { return c.p.base + int64(i) + 1 }) }, zoneCount},
	"rank":       {func(c *call) error { return c.ints(func(i int) int64 { return c.p.base + int64(c.p.start[i]) + 1 }) }, zoneRank},
	"dense_rank": {func(c *call) error {
		return c.ints(func(i int) int64 { return c.p.groupBase + int64(c.p.group[i]) + 1 })
	}, zoneDense},
	"percent_rank": {percentRank, zoneRankShare},
	"cume_dist":    {cumeDist, zoneShare},
	"ntile":        {ntile, zoneTile},
	"lag":          {func(c *call) error { return c.neighbour(-1) }, zoneNear},
	"lead":         {func(c *call) error { return c.neighbour(1) }, zoneNear},
}

var values = map[string]func(c *call) error{
	"first_value": func(c *call) error { return c.inFrame(func(int) (int64, bool, *sqlerr.Error) { return 1, true, nil }) },
	"last_value":  func(c *call) error { return c.inFrame(func(int) (int64, bool, *sqlerr.Error) { return -1, true, nil }) },
	"nth_value":   func(c *call) error { return c.inFrame(c.nth) },
}

func newFunction(n *plan.OverFunc, keys []plan.SortKey, in []types.Type, env *kernel.Env) (*function, error) {
	f := &function{nargs: len(n.Args), filter: n.Filter != nil}
	exprs := n.Args
	if f.filter {
		exprs = append(exprs[:len(exprs):len(exprs)], n.Filter)
	}
	var err error
	if f.args, err = rowenc.Compile(exprs, in); err != nil {
		return nil, err
	}
	if r, ok := ranks[n.Fn.Name]; ok {
		f.run, f.zone = r.run, r.zone
		f.rankZone(n)
		return f, nil
	}
	if f.frame, err = newFrame(n.Frame, keys, in, env); err != nil {
		return nil, err
	}
	if f.run = values[n.Fn.Name]; f.run != nil {
		f.valueZone(n)
		return f, nil
	}
	if n.Fn.Class != fn.Aggregate {
		return nil, sqlerr.Unsupported("window function %s is not supported", n.Fn.Name)
	}
	return f, f.newAggregate(n)
}

// newAggregate makes an aggregate's accumulators.
func (f *function) newAggregate(n *plan.OverFunc) (err error) {
	t := types.Of(types.Any)
	if f.nargs > 0 {
		t = n.Args[0].Type()
	}
	fromStart, toEnd := f.frame.unbounded()
	f.zone = f.frame.nearZone()
	if f.frame.exclude != "" || !fromStart && !toEnd {
		f.run = (*call).aggregate
		if f.acc, err = newAccumulator(n.Fn.Name, t); err == nil && f.zone == zoneWide {
			f.state, err = newRunning(n.Fn.Name, t, false)
		}
		return err
	}
	switch {
	case !toEnd:
		f.zone, f.run = zonePrefix, (*call).fromStart
	case !fromStart:
		f.zone, f.run = zoneSuffix, (*call).toEnd
	default:
		f.zone, f.run = zoneTotal, (*call).total
	}
	if f.frame.far() {
		f.zone = zoneAll
	}
	if f.state, err = newRunning(n.Fn.Name, t, !fromStart); err == nil {
		f.other, err = newRunning(n.Fn.Name, t, !fromStart)
	}
	return err
}

// compute appends the function's value for every row of a partition to dst. Errors of rows go to p.failed.
func (f *function) compute(p *partition, env *kernel.Env, dst *batch.Vector) error {
	// Arguments were evaluated when the rows came and can't fail.
	vecs, _, err := f.args.Eval(nil, env, p.b)
	if err != nil {
		return err
	}
	return f.run(&call{f: f, p: p, args: vecs, dst: dst, env: env})
}

func (c *call) fail(i int, e *sqlerr.Error) {
	if e != nil && c.p.failed[i] == nil {
		c.p.failed[i] = e
	}
}

func (c *call) ints(f func(i int) int64) error {
	for i := 0; i < c.p.b.N; i++ {
		c.dst.AppendInt(f(i))
	}
	return nil
}

func percentRank(c *call) error {
	for i := 0; i < c.p.b.N; i++ {
		if c.p.n == 1 {
			c.dst.AppendFloat(0)
		} else {
			c.dst.AppendFloat(float64(c.p.base+int64(c.p.start[i])) / float64(c.p.n-1))
		}
	}
	return nil
}

func cumeDist(c *call) error {
	for i := 0; i < c.p.b.N; i++ {
		c.dst.AppendFloat(float64(c.p.base+int64(c.p.end[i])) / float64(c.p.n))
	}
	return nil
}

// ntile divides the partition into as many buckets as its first row says, the larger ones first.
func ntile(c *call) error {
	arg, first, err := c.at(0)
	if err != nil {
		return err
	}
	if arg.IsNull(first) {
		for i := 0; i < c.p.b.N; i++ {
			c.dst.AppendNull()
		}
		return nil
	}
	buckets := arg.I64[first]
	if buckets <= 0 {
		for i := 0; i < c.p.b.N; i++ {
			c.dst.AppendNull()
			c.fail(i, sqlerr.New("22014", "argument of ntile must be greater than zero"))
		}
		return nil
	}
	size, larger := c.p.n/buckets, c.p.n%buckets
	return c.ints(func(i int) int64 {
		k := c.p.base + int64(i)
		if k < larger*(size+1) {
			return k/(size+1) + 1
		}
		return larger + (k-larger*(size+1))/size + 1
	})
}

// at gives the first argument's vector and the row in it that has its value in row n of the partition.
func (c *call) at(n int64) (*batch.Vector, int, error) {
	if k := n - c.p.base; k >= 0 && k < int64(c.p.b.N) {
		return c.args[0], int(k), nil
	}
	if c.p.far == nil || c.p.farAt != n {
		c.p.far, c.p.farAt = c.p.fetch(n), n
	}
	// The vectors of Eval last until the next one: the argument's value is copied.
	vecs, _, err := c.f.args.Eval(nil, c.env, c.p.far)
	if err != nil {
		return nil, 0, err
	}
	v := batch.NewVector(vecs[0].Type, 1)
	v.AppendFrom(vecs[0], 0)
	c.args, _, err = c.f.args.Eval(nil, c.env, c.p.b)
	return v, 0, err
}

// neighbour is lag (dir -1) and lead (dir 1): value, offset, default.
func (c *call) neighbour(dir int64) error {
	n := int64(c.p.b.N)
	for i := int64(0); i < n; i++ {
		off := int64(1)
		if len(c.args) > 1 {
			if c.args[1].IsNull(int(i)) {
				c.dst.AppendNull()
				continue
			}
			off = c.args[1].I64[i]
		}
		switch k := i + dir*off; {
		case k >= 0 && k < n:
			c.dst.AppendFrom(c.args[0], int(k))
		case len(c.args) > 2:
			c.dst.AppendFrom(c.args[2], int(i))
		default:
			c.dst.AppendNull()
		}
	}
	return nil
}

// nth gives the second argument of nth_value.
func (c *call) nth(i int) (int64, bool, *sqlerr.Error) {
	if c.args[1].IsNull(i) {
		return 0, false, nil
	}
	k := c.args[1].I64[i]
	if k <= 0 {
		return 0, false, sqlerr.New("22016", "argument of nth_value must be greater than zero")
	}
	return k, true, nil
}

// inFrame appends the first argument's value in the which'th row of each frame, from 1; from the end for -1.
func (c *call) inFrame(which func(i int) (int64, bool, *sqlerr.Error)) error {
	if c.p.wide && c.f.zone == zoneWide {
		return c.inWideFrame(which)
	}
	fs, err := c.f.frame.of(c.p, c.env)
	if err != nil {
		return err
	}
	fromStart, toEnd := c.f.frame.unbounded()
	var far *batch.Vector // the value in row farAt, beyond those at hand
	farAt, farRow := int64(-1), 0
	for i := 0; i < c.p.b.N; i++ {
		k, ok, e := which(i)
		c.fail(i, e)
		if c.f.frame.exclude != "" {
			if row := fs.pick(i, k); ok && row >= 0 {
				c.dst.AppendFrom(c.args[0], row)
			} else {
				c.dst.AppendNull()
			}
			continue
		}
		lo, hi := c.p.base+int64(fs.lo[i]), c.p.base+int64(fs.hi[i])
		if fromStart {
			lo = 0
		}
		if toEnd {
			hi = c.p.n
		}
		row := lo + k - 1
		if k < 0 {
			row = hi - 1
		}
		if !ok || lo >= hi || row >= hi || row < lo {
			c.dst.AppendNull()
			continue
		}
		if near := row - c.p.base; near >= 0 && near < int64(c.p.b.N) {
			c.dst.AppendFrom(c.args[0], int(near))
			continue
		}
		if farAt != row {
			if far, farRow, err = c.at(row); err != nil {
				return err
			}
			farAt = row
		}
		c.dst.AppendFrom(far, farRow)
	}
	return nil
}

// pick gives the k'th row of row i's frame, which may have holes, -1 if there is none.
func (fs *frames) pick(i int, k int64) int {
	lo, hi := fs.lo[i], fs.hi[i]
	if k < 0 {
		for row := hi - 1; row >= lo; row-- {
			if fs.holds(i, row) {
				return row
			}
		}
		return -1
	}
	for row := lo; row < hi; row++ {
		if fs.holds(i, row) {
			if k--; k == 0 {
				return row
			}
		}
	}
	return -1
}
