package agg

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// bigSum is the sum of floats by arbitrary precision.
func bigSum(xs []float64) *big.Float {
	z := new(big.Float).SetPrec(5000)
	for _, x := range xs {
		z.Add(z, new(big.Float).SetPrec(5000).SetFloat64(x))
	}
	return z
}

// randomFloat has exponents from a narrow band mostly, and anything at times.
func randomFloat(r *rand.Rand, spread int) float64 {
	switch r.IntN(20) {
	case 0:
		return 0
	case 1:
		return math.Float64frombits(r.Uint64() &^ (1 << 62)) // below 2
	case 2:
		return math.SmallestNonzeroFloat64 * float64(r.IntN(1000))
	}
	return (r.Float64() - 0.5) * math.Pow(2, float64(r.IntN(spread+1)))
}

// cellBench is a program over one float column and the entry of one group.
func floatProgram(t testing.TB, aggs ...string) (*program, *target) {
	s := newSource(false, tFloat)
	var calls []plan.Agg
	for _, a := range aggs {
		calls = append(calls, call(a, col(s, 0)))
	}
	p, err := newProgram(calls, plan.Types(s), false, false, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := table.NewTransient().Hash(table.Decl{Words: p.words + p.rare, Rare: p.rare, IntKey: true})
	slots := make([]int32, 1)
	h.FindOrAddInts([]int64{7}, nil, slots)
	return p, &target{h: h, fields: p.fields, intKey: true}
}

func feed(p *program, tg *target, xs []float64, w int64) {
	b := batch.New([]types.Type{tFloat}, len(xs))
	tg.rows, tg.slot = nil, nil
	for i, x := range xs {
		b.Cols[0].AppendFloat(x)
		b.EndRow(w)
		tg.rows, tg.slot = append(tg.rows, int32(i)), append(tg.slot, 0)
	}
	tg.h.Words(0)[wordRows] += w * int64(len(xs))
	p.evaluate(b, nil, nil)
	p.accumulate(tg, b.Weights)
}

func result(p *program, tg *target, i int) float64 {
	v := batch.NewVector(tFloat, 1)
	p.outs[i].emit(tg, []int32{0}, v, func(int, *sqlerr.Error) { v.F64[len(v.F64)-1] = math.Inf(1) })
	if v.IsNull(0) && len(v.F64) > 0 && !math.IsInf(v.F64[0], 0) {
		return -12345
	}
	return v.F64[0]
}

func TestFloatSumIsExact(t *testing.T) {
	for seed := uint64(0); seed < 200; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		spread := []int{0, 10, 60, 200}[seed%4]
		xs := make([]float64, 1+r.IntN(40))
		for i := range xs {
			xs[i] = randomFloat(r, spread)
		}
		wantSum, _ := bigSum(xs).Float64()
		q := new(big.Float).SetPrec(5000).Quo(bigSum(xs), new(big.Float).SetPrec(5000).SetInt64(int64(len(xs))))
		wantAvg, _ := q.Float64()
		p, tg := floatProgram(t, "sum", "avg", "var_samp", "var_pop")
		var extra []float64
		for i := 0; i < r.IntN(10); i++ {
			extra = append(extra, randomFloat(r, 1000))
		}
		feed(p, tg, extra, 3)
		r.Shuffle(len(xs), func(i, j int) { xs[i], xs[j] = xs[j], xs[i] })
		cut := r.IntN(len(xs) + 1)
		feed(p, tg, xs[:cut], 1)
		feed(p, tg, extra, -2)
		feed(p, tg, xs[cut:], 1)
		feed(p, tg, extra, -1)
		if got := result(p, tg, 0); got != wantSum && !(got == 0 && wantSum == 0) {
			t.Fatalf("seed %d: sum of %v = %v, want %v", seed, xs, got, wantSum)
		}
		if got := result(p, tg, 1); got != wantAvg && !(got == 0 && wantAvg == 0) {
			t.Fatalf("seed %d: avg of %v = %v, want %v", seed, xs, got, wantAvg)
		}
		checkVariance(t, seed, p, tg, xs)
	}
}

// checkVariance compares with the definition, the sum of squared distances to the mean.
func checkVariance(t *testing.T, seed uint64, p *program, tg *target, xs []float64) {
	t.Helper()
	n := int64(len(xs))
	mean := new(big.Rat)
	rats := make([]*big.Rat, n)
	for i, x := range xs {
		rats[i] = new(big.Rat).SetFloat64(x)
		mean.Add(mean, rats[i])
	}
	mean.Quo(mean, new(big.Rat).SetInt64(n))
	sum := new(big.Rat)
	for _, x := range rats {
		d := new(big.Rat).Sub(x, mean)
		sum.Add(sum, d.Mul(d, d))
	}
	for i, den := range []int64{n - 1, n} {
		if den == 0 {
			continue
		}
		want, _ := new(big.Rat).Quo(sum, new(big.Rat).SetInt64(den)).Float64()
		if got := result(p, tg, 2+i); got != want {
			t.Fatalf("seed %d: variance %d of %v = %v, want %v", seed, i, xs, got, want)
		}
	}
}

func TestFloatSumSpecials(t *testing.T) {
	inf := math.Inf(1)
	p, tg := floatProgram(t, "sum", "var_pop")
	feed(p, tg, []float64{1e20, 1, -1e20}, 1)
	if got := result(p, tg, 0); got != 1 {
		t.Errorf("1e20 + 1 - 1e20 = %v", got)
	}
	feed(p, tg, []float64{inf}, 1)
	if got := result(p, tg, 0); got != inf {
		t.Errorf("with infinity: %v", got)
	}
	feed(p, tg, []float64{-inf}, 1)
	if got := result(p, tg, 0); got == got {
		t.Errorf("with both infinities: %v", got)
	}
	feed(p, tg, []float64{inf, -inf, 1e20}, -1)
	if got := result(p, tg, 0); got != -1e20 {
		t.Errorf("without infinities: %v", got)
	}
	feed(p, tg, []float64{math.MaxFloat64, math.MaxFloat64}, 1)
	if got := result(p, tg, 0); !math.IsInf(got, 1) {
		t.Errorf("overflow: %v", got)
	}
	feed(p, tg, []float64{math.MaxFloat64, math.NaN()}, -1)
	feed(p, tg, []float64{math.NaN()}, 1)
	if got := result(p, tg, 0); got != math.MaxFloat64 {
		t.Errorf("back: %v", got)
	}
}

// Sums of real are rounded once to real, not by way of double.
func TestRealIsRoundedOnce(t *testing.T) {
	x := exact{mag: []uint64{1<<53 + 1<<29 + 1}, base: 0}
	if got := x.div(1, formatReal); got != float64(1<<53+1<<30) {
		t.Errorf("got %v", got)
	}
	if got := (exact{mag: []uint64{1<<53 + 1}}).div(1, formatDouble); got != 1<<53 {
		t.Errorf("half to even: %v", got)
	}
	if got := (exact{mag: []uint64{3}, base: -1075}).div(1, formatDouble); got != 2*math.SmallestNonzeroFloat64 {
		t.Errorf("subnormal: %v", got)
	}
	if got := (exact{mag: []uint64{1}, base: -1075}).div(1, formatDouble); got != 0 {
		t.Errorf("half of the smallest: %v", got)
	}
}
