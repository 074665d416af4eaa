package engine

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestLateness compares quantiles with sorting, and takes an epoch back.
func TestLateness(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 2))
	for range 50 {
		s := &stream{rel: &catalog.Relation{Watermark: &catalog.Watermark{}}, maxEvent: dataflow.NoTime}
		spread := int64(1) << (1 + rnd.IntN(50))
		var behind []int64
		high := int64(math.MinInt64)
		epoch := func(n int, count bool) *relChange {
			v := batch.NewVector(types.Of(types.Timestamp), n)
			for range n {
				x := rnd.Int64N(spread)
				v.AppendInt(x)
				if count {
					high = max(high, x)
					behind = append(behind, high-x)
				}
			}
			return &relChange{parts: []part{{b: &batch.Batch{N: n, Cols: []*batch.Vector{v}}}}}
		}
		for range 3 {
			if _, err := s.take(epoch(1+rnd.IntN(500), true)); err != nil {
				t.Fatal(err)
			}
		}
		old, img := *s, s.lateness.image()
		c := epoch(100, false)
		if _, err := s.take(c); err != nil {
			t.Fatal(err)
		}
		s.undo(old, c)
		if got := s.lateness.image(); !reflect.DeepEqual(got, img) || s.maxEvent != high {
			t.Fatalf("seed %d: an epoch that was taken back left a trace", seed)
		}
		text, _ := json.Marshal(img)
		var back latenessImage
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		l := back.open()
		slices.Sort(behind)
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 1} {
			want := behind[max(0, int(math.Ceil(q*float64(len(behind))))-1)]
			got, ok := l.quantile(q)
			if !ok || math.Abs(float64(got-want)) > 0.016*float64(want)+1 {
				t.Errorf("seed %d: quantile %g of %d rows: %d, want %d", seed, q, len(behind), got, want)
			}
		}
		if l.max != behind[len(behind)-1] {
			t.Errorf("seed %d: max %d, want %d", seed, l.max, behind[len(behind)-1])
		}
	}
}

// TestBuckets: every distance lies in a bucket whose middle is close to it.
func TestBuckets(t *testing.T) {
	for x := int64(1); x > 0; x += max(x/37, 1) {
		b := bucketOf(x)
		if b >= maxBuckets || math.Abs(float64(middle(b)-x)) > 0.016*float64(x)+0.5 {
			t.Fatalf("%d: bucket %d with middle %d", x, b, middle(b))
		}
	}
	if b := bucketOf(math.MaxInt64); b != maxBuckets-1 {
		t.Errorf("the last bucket is %d", b)
	}
}

// TestMean: event times before 1970 are rounded down too.
func TestMean(t *testing.T) {
	s := &stream{rel: &catalog.Relation{Watermark: &catalog.Watermark{}}, maxEvent: dataflow.NoTime}
	v := batch.NewVector(types.Of(types.Timestamp), 3)
	for _, x := range []int64{-1, 2500, -3999} { // -1, 2 and -4 ms
		v.AppendInt(x)
	}
	s.observe(v)
	if m := s.epoch.mean(); m != -1 || s.epoch.min != -3999 || s.epoch.max != 2500 {
		t.Errorf("mean %d min %d max %d", m, s.epoch.min, s.epoch.max)
	}
}

// TestObserveLater: what is found of large batches while views run is what is found of them at once, with infinite times, out of order and in order.
func TestObserveLater(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 3))
	for round := range 40 {
		newStream := func(number int) *stream {
			s := &stream{rel: &catalog.Relation{Watermark: &catalog.Watermark{}}, maxEvent: dataflow.NoTime}
			s.team.Number = func() int { return number }
			return s
		}
		later, plain := newStream(1+round%3), newStream(1)
		for epoch := range 4 {
			c := &relChange{}
			for range 1 + rnd.IntN(3) {
				n := 1 + rnd.IntN(5*pieceRows)
				v := batch.NewVector(types.Of(types.Timestamp), n)
				base, spread := int64(epoch)<<30-rnd.Int64N(1<<32), 1+rnd.Int64N(1<<uint(1+rnd.IntN(32)))
				sorted, odd := rnd.IntN(2) == 0, rnd.IntN(3)
				for i := range n {
					x := base + int64(i)
					if !sorted {
						x = base + rnd.Int64N(spread)
					}
					if odd > 0 && rnd.IntN(n) == 0 {
						x = []int64{math.MinInt64, math.MaxInt64}[odd-1]
					}
					v.AppendInt(x)
				}
				c.parts = append(c.parts, part{b: &batch.Batch{N: n, Cols: []*batch.Vector{v}}})
			}
			rows, err := later.take(c)
			if err != nil {
				t.Fatal(err)
			}
			later.settle()
			plain.moved, plain.epoch = false, eventStats{}
			for _, p := range c.parts {
				plain.observe(p.b.Cols[0])
				rows -= int64(p.b.N)
			}
			a, b := later.epoch, plain.epoch
			a.sum, a.base, b.sum, b.base = a.sum+a.n*a.base, 0, b.sum+b.n*b.base, 0
			if rows != 0 || a != b || later.maxEvent != plain.maxEvent || later.moved != plain.moved || !reflect.DeepEqual(later.lateness.image(), plain.lateness.image()) {
				t.Fatalf("seed %d, round %d, epoch %d: %+v and %+v, %d and %d", seed, round, epoch, a, b, later.maxEvent, plain.maxEvent)
			}
		}
	}
}
