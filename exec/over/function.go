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
	acc    accumulator // of an aggregate, else nil
	run    func(c *call) error
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
var ranks = map[string]func(c *call) error{
	"row_number":   func(c *call) error { return c.ints(func(i int) int64 { return int64(i) + 1 }) },
	"rank":         func(c *call) error { return c.ints(func(i int) int64 { return int64(c.p.start[i]) + 1 }) },
	"dense_rank":   func(c *call) error { return c.ints(func(i int) int64 { return int64(c.p.group[i]) + 1 }) },
	"percent_rank": percentRank,
	"cume_dist":    cumeDist,
	"ntile":        ntile,
	"lag":          func(c *call) error { return c.neighbour(-1) },
	"lead":         func(c *call) error { return c.neighbour(1) },
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
	if f.run = ranks[n.Fn.Name]; f.run != nil {
		return f, nil
	}
	if f.frame, err = newFrame(n.Frame, keys, in, env); err != nil {
		return nil, err
	}
	if f.run = values[n.Fn.Name]; f.run != nil {
		return f, nil
	}
	if n.Fn.Class != fn.Aggregate {
		return nil, sqlerr.Unsupported("window function %s is not supported", n.Fn.Name)
	}
	t := types.Of(types.Any)
	if f.nargs > 0 {
		t = n.Args[0].Type()
	}
	if f.acc, err = newAccumulator(n.Fn.Name, t); err != nil {
		return nil, err
	}
	f.run = (*call).aggregate
	return f, nil
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
	n := c.p.b.N
	for i := 0; i < n; i++ {
		if n == 1 {
			c.dst.AppendFloat(0)
		} else {
			c.dst.AppendFloat(float64(c.p.start[i]) / float64(n-1))
		}
	}
	return nil
}

func cumeDist(c *call) error {
	n := c.p.b.N
	for i := 0; i < n; i++ {
		c.dst.AppendFloat(float64(c.p.end[i]) / float64(n))
	}
	return nil
}

// ntile divides the partition into as many buckets as its first row says, the larger ones first.
func ntile(c *call) error {
	n := c.p.b.N
	if c.args[0].IsNull(0) {
		for i := 0; i < n; i++ {
			c.dst.AppendNull()
		}
		return nil
	}
	buckets := c.args[0].I64[0]
	if buckets <= 0 {
		for i := 0; i < n; i++ {
			c.dst.AppendNull()
			c.fail(i, sqlerr.New("22014", "argument of ntile must be greater than zero"))
		}
		return nil
	}
	size, larger := int64(n)/buckets, int64(n)%buckets
	return c.ints(func(i int) int64 {
		k := int64(i)
		if k < larger*(size+1) {
			return k/(size+1) + 1
		}
		return larger + (k-larger*(size+1))/size + 1
	})
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
	fs, err := c.f.frame.of(c.p, c.env)
	if err != nil {
		return err
	}
	for i := 0; i < c.p.b.N; i++ {
		k, ok, e := which(i)
		c.fail(i, e)
		if row := fs.pick(i, k); ok && row >= 0 {
			c.dst.AppendFrom(c.args[0], row)
		} else {
			c.dst.AppendNull()
		}
	}
	return nil
}

// pick gives the k'th row of row i's frame, -1 if there is none.
func (fs *frames) pick(i int, k int64) int {
	lo, hi := fs.lo[i], fs.hi[i]
	if fs.exclude == "" || fs.exclude == "no others" {
		switch {
		case lo == hi || k > int64(hi-lo) || k == 0:
			return -1
		case k < 0:
			return hi - 1
		}
		return lo + int(k) - 1
	}
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

// aggregate appends the aggregate over each frame.
func (c *call) aggregate() error {
	fs, err := c.f.frame.of(c.p, c.env)
	if err != nil {
		return err
	}
	var arg, filter *batch.Vector
	if c.f.nargs > 0 {
		arg = c.args[0]
	}
	if c.f.filter {
		filter = c.args[c.f.nargs]
	}
	passes := func(row int) bool { return filter == nil || !filter.IsNull(row) && filter.I64[row] != 0 }
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
