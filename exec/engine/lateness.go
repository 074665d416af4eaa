package engine

import (
	"math"
	"math/bits"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
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

// add counts a row that was behind, or with by = -1 takes it back (but for max).
func (l *lateness) add(us, by int64) {
	if us < 0 { // further than can be told
		us = math.MaxInt64
	}
	if l.buckets == nil {
		l.buckets = make([]int64, maxBuckets)
	}
	l.n += by
	l.max = max(l.max, us)
	l.buckets[bucketOf(us)] += by
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

// observe takes an epoch's event times in, in order of arrival: one pass gives the greatest time so far, the lateness and the
// epoch's figures.
func (s *stream) observe(v *batch.Vector) { s.observeBy(v, 1) }

func (s *stream) observeBy(v *batch.Vector, by int64) {
	high, st := s.maxEvent, &s.epoch
	ahead := int64(0)
	for i, x := range v.I64[:v.N] {
		if v.Valid != nil && v.IsNull(i) {
			continue
		}
		t, ok := eventMicros(v.Type, x)
		if !ok {
			continue
		}
		if t >= high {
			high = t
			ahead++
		} else {
			s.lateness.add(high-t, by)
		}
		ms := floorMilli(t) / 1000
		if st.n == 0 {
			st.min, st.max, st.base = t, t, ms
		}
		st.n++
		st.min, st.max = min(st.min, t), max(st.max, t)
		st.sum += ms - st.base
	}
	s.lateness.n += by * ahead
	s.lateness.zero += by * ahead
	if high != s.maxEvent && high != dataflow.NoTime {
		s.maxEvent, s.moved = high, true
	}
}
