package engine

import (
	"math"
	"math/bits"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// lateness counts how far the rows of a stream were behind the greatest event time before them, microseconds, in logarithmic
// buckets: subBuckets to a power of two, so that a quantile is within 1.6 per cent. A row that is not behind counts as 0.
type lateness struct {
	n, zero int64 // rows, and those of them that were not behind
	max     int64
	buckets []int64 // by bucketOf; nil until the first row that is behind
}

const (
	subBits    = 5
	subBuckets = 1 << subBits
	maxBuckets = (63-subBits)*subBuckets + subBuckets
)

// bucketOf gives the bucket of a distance, which is positive.
func bucketOf(us int64) int {
	if us < subBuckets {
		return int(us)
	}
	e := bits.Len64(uint64(us)) - subBits - 1
	return e*subBuckets + int(us>>e)
}

// middle gives the distance that stands for a bucket.
func middle(bucket int) int64 {
	if bucket < 2*subBuckets {
		return int64(bucket)
	}
	e := bucket/subBuckets - 1
	return int64(bucket%subBuckets+subBuckets)<<e + int64(1)<<e/2
}

// quantile gives the distance that the fraction q of the rows was not further behind than; false without rows.
func (l *lateness) quantile(q float64) (int64, bool) {
	if l.n == 0 {
		return 0, false
	}
	rank := int64(math.Ceil(q*float64(l.n))) - l.zero
	if rank <= 0 {
		return 0, true
	}
	for i, n := range l.buckets {
		if rank -= n; rank <= 0 {
			return min(middle(i), l.max), true
		}
	}
	return l.max, true
}

// latenessImage is a histogram in a checkpoint: pairs of bucket and count.
type latenessImage struct {
	N, Zero, Max int64
	Buckets      [][2]int64 `json:",omitempty"`
}

func (l *lateness) image() latenessImage {
	img := latenessImage{N: l.n, Zero: l.zero, Max: l.max}
	for i, n := range l.buckets {
		if n > 0 {
			img.Buckets = append(img.Buckets, [2]int64{int64(i), n})
		}
	}
	return img
}

func (img *latenessImage) open() lateness {
	l := lateness{n: img.N, zero: img.Zero, max: img.Max}
	for _, p := range img.Buckets {
		if l.buckets == nil {
			l.buckets = make([]int64, maxBuckets)
		}
		if p[0] >= 0 && p[0] < maxBuckets {
			l.buckets[p[0]] = p[1]
		}
	}
	return l
}

// eventStats are the event times of a stream's rows in one epoch, for progress. NULL and infinite ones do not count.
type eventStats struct {
	n        int64
	min, max int64 // microseconds
	base     int64 // milliseconds; sum is of the distances from it
	sum      int64
}

// mean gives the average of the times, each rounded down to milliseconds, in milliseconds.
func (s *eventStats) mean() int64 {
	m := s.sum / s.n
	if s.sum%s.n < 0 {
		m--
	}
	return s.base + m
}

// observe takes a batch of event times in, in order of arrival: the greatest time so far, the lateness, the epoch's figures.
func (s *stream) observe(v *batch.Vector) { s.observeBy(v, 1) }

// observeBy is observe, or with by = -1 takes what it did to lateness back.
func (s *stream) observeBy(v *batch.Vector, by int64) {
	ts := v.I64[:v.N]
	var sum summary
	plain := v.Valid == nil && v.Type.Kind != types.Date && v.N > 0
	if plain {
		sum = summarize(ts)
		plain = sum.min != math.MinInt64 && sum.max != math.MaxInt64
	}
	if !plain { // NULLs, infinities or days: those that count are copied
		if ts = finiteMicros(v); len(ts) == 0 {
			return
		}
		sum = summarize(ts)
	}
	s.epoch.add(&sum)
	s.lateness.note(ts, &sum, s.maxEvent, by)
	s.reach(sum.max)
}

// reach says that there is an event time t.
func (s *stream) reach(t int64) {
	if t > s.maxEvent {
		s.maxEvent, s.moved = t, true
	}
}

// note counts times of which sum is the summary; the greatest time before them was high.
func (l *lateness) note(ts []int64, sum *summary, high, by int64) {
	if sum.sorted && ts[0] >= high {
		l.n += by * sum.n
		l.zero += by * sum.n
		return
	}
	l.addAll(ts, high, by)
}

// summary is what one pass finds of times; sum is of the distances from base, in milliseconds.
type summary struct {
	n, min, max, base, sum int64
	sorted                 bool
}

// milliBias is a whole number of milliseconds that makes times positive, so that they can be rounded down by an unsigned division.
const milliBias = (1 << 63) / 1000 * 1000

func summarize(ts []int64) summary {
	low, high, prev := ts[0], ts[0], ts[0]
	base, sum, back := uint64(ts[0])+milliBias, uint64(0), false
	base /= 1000
	for _, t := range ts {
		low, high = min(low, t), max(high, t)
		sum += (uint64(t)+milliBias)/1000 - base
		back = back || t < prev
		prev = t
	}
	return summary{n: int64(len(ts)), min: low, max: high, base: int64(base) - milliBias/1000, sum: int64(sum), sorted: !back}
}

// finiteMicros copies the times that are neither NULL nor infinite, as microseconds.
func finiteMicros(v *batch.Vector) []int64 {
	ts := make([]int64, 0, v.N)
	for i, x := range v.I64[:v.N] {
		if v.Valid != nil && v.IsNull(i) {
			continue
		}
		if t, ok := eventMicros(v.Type, x); ok {
			ts = append(ts, t)
		}
	}
	return ts
}

// add takes a batch's figures in.
func (s *eventStats) add(x *summary) {
	if s.n == 0 {
		s.min, s.max, s.base = x.min, x.max, x.base
	}
	s.n += x.n
	s.min, s.max = min(s.min, x.min), max(s.max, x.max)
	s.sum += x.sum + x.n*(x.base-s.base)
}

// addAll counts rows of which the greatest time before them was high; with by = -1 it takes them back, but for max.
func (l *lateness) addAll(ts []int64, high, by int64) {
	if l.buckets == nil {
		l.buckets = make([]int64, maxBuckets)
	}
	buckets, most, zero := l.buckets, l.max, int64(0)
	for _, t := range ts {
		if t >= high {
			high = t
			zero++
			continue
		}
		us := high - t
		if us < 0 { // further than can be told
			us = math.MaxInt64
		}
		most = max(most, us)
		buckets[bucketOf(us)] += by
	}
	l.max = most
	l.n += by * int64(len(ts))
	l.zero += by * zero
}
