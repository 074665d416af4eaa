package agg

import (
	"math"
	"math/big"

	"github.com/tidemarkdb/tidemark/sql/batch"
)

// regression is the sums that the aggregates of two variables go by; sxx, syy and sxy are about the means.
type regression struct {
	n             int64
	sx, sy        float64
	sxx, syy, sxy float64
}

// regressions make the results; false is NULL. n is above 0.
var regressions = map[string]func(r *regression) (float64, bool){
	"covar_pop":  func(r *regression) (float64, bool) { return r.sxy / float64(r.n), true },
	"covar_samp": func(r *regression) (float64, bool) { return r.sxy / float64(r.n-1), r.n > 1 },
	"corr": func(r *regression) (float64, bool) {
		return r.sxy / math.Sqrt(r.sxx*r.syy), r.sxx != 0 && r.syy != 0
	},
	"regr_count": nil,
	"regr_avgx":  func(r *regression) (float64, bool) { return r.sx / float64(r.n), true },
	"regr_avgy":  func(r *regression) (float64, bool) { return r.sy / float64(r.n), true },
	"regr_sxx":   func(r *regression) (float64, bool) { return r.sxx, true },
	"regr_syy":   func(r *regression) (float64, bool) { return r.syy, true },
	"regr_sxy":   func(r *regression) (float64, bool) { return r.sxy, true },
	"regr_r2": func(r *regression) (float64, bool) {
		if r.syy == 0 {
			return 1, r.sxx != 0
		}
		return r.sxy * r.sxy / (r.sxx * r.syy), r.sxx != 0
	},
	"regr_slope": func(r *regression) (float64, bool) { return r.sxy / r.sxx, r.sxx != 0 },
	"regr_intercept": func(r *regression) (float64, bool) {
		return (r.sy - r.sx*r.sxy/r.sxx) / float64(r.n), r.sxx != 0
	},
}

// regressionOut is an aggregate f(y, x).
type regressionOut struct {
	what                  func(r *regression) (float64, bool)
	cnt                   tally
	sx, sy, sxx, syy, sxy *floatCell
}

func (o *regressionOut) emit(t *target, slots []int32, v *batch.Vector, fail failFunc) {
	for k, s := range slots {
		n := o.cnt.of(t, s)
		if o.what == nil {
			v.AppendInt(n)
			continue
		}
		if n <= 0 {
			v.AppendNull()
			continue
		}
		r := o.sums(t, s, n)
		f, ok := o.what(&r)
		switch {
		case !ok:
			v.AppendNull()
		case math.IsInf(f, 0) && isFinite(r.sx) && isFinite(r.sy):
			v.AppendNull()
			fail(k, errFloatOverflow)
		default:
			v.AppendFloat(f)
		}
	}
}

func (o *regressionOut) sums(t *target, s int32, n int64) regression {
	r := regression{n: n}
	var finite [2]bool
	sum := func(c *floatCell) (exact, float64, bool) {
		x, f, special := c.sum(t, s, nil)
		if !special {
			f = x.div(1, formatDouble)
		}
		return x, f, !special
	}
	var x, y exact
	x, r.sx, finite[0] = sum(o.sx)
	y, r.sy, finite[1] = sum(o.sy)
	r.sxx, r.syy, r.sxy = math.NaN(), math.NaN(), math.NaN()
	about := func(c *floatCell, a, b exact) float64 {
		p, _, special := c.sum(t, s, nil)
		if special {
			return math.NaN()
		}
		num, e := moments(n, p, a, b)
		return ratio(num, big.NewInt(n), e)
	}
	if finite[0] {
		r.sxx = about(o.sxx, x, x)
	}
	if finite[1] {
		r.syy = about(o.syy, y, y)
	}
	if finite[0] && finite[1] {
		r.sxy = about(o.sxy, x, y)
	}
	return r
}
