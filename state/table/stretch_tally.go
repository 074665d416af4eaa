package table

import (
	"math/bits"
	"slices"
)

// tally counts the rows of a stretch of an Expiring as they expire, without bringing them into order: when the first of a stretch expires, the
// times of all are put into buckets, of which one at a time is looked through.
type tally struct {
	built  bool
	start  int64    // of the stretch
	shift  uint     // of a time less start, to the number of its bucket
	times  []int64  // by bucket
	ends   []uint32 // of the buckets
	bucket int      // those before it are counted
	at     int      // times before it are counted
	late   []int64  // that came since, in no order
}

const (
	tallyLog  = 10      // there are two to this many buckets at most
	tallyFew  = 64      // times of a bucket, if there are few of them
	tallyLate = 1 << 12 // times that came since, before they are put into buckets too
)

func (y *tally) memBytes() int64 { return int64(8*cap(y.times) + 4*cap(y.ends) + 8*cap(y.late)) }

// build takes the times of a stretch of so many microseconds.
func (y *tally) build(start, width int64, times []int64) {
	log := min(bits.Len(uint(len(times)/tallyFew)), tallyLog)
	*y = tally{built: true, start: start, late: y.late[:0]}
	y.shift = uint(max(bits.Len64(uint64(width-1))-log, 0))
	ends := make([]uint32, uint64(width-1)>>y.shift+2)
	for _, t := range times {
		ends[uint64(t-start)>>y.shift+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	y.times = make([]int64, len(times))
	for _, t := range times {
		b := uint64(t-start) >> y.shift
		y.times[ends[b]] = t
		ends[b]++
	}
	y.ends = ends[:len(ends)-1] // each began where the one before it ends now
}

// expire counts the times at or before until that were not counted.
func (y *tally) expire(until int64) (n int64) {
	from := y.at
	last := int(min(uint64(until-y.start)>>y.shift, uint64(len(y.ends)-1)))
	if last > y.bucket {
		y.bucket, y.at = last, int(y.ends[last-1])
	}
	y.at += front(y.times[y.at:y.ends[y.bucket]], until)
	late := front(y.late, until)
	y.late = y.late[:copy(y.late, y.late[late:])]
	return int64(y.at - from + late)
}

// again puts the times that came since build into buckets if there are many.
func (y *tally) again(width int64) {
	if rest := y.times[y.at:]; len(y.late) > max(tallyLate, len(rest)) {
		y.build(y.start, width, slices.Concat(rest, y.late))
	}
}

// front moves the times at or before until to the front, and gives their number.
func front(times []int64, until int64) int {
	n := 0
	for i, t := range times {
		if t <= until {
			times[i], times[n] = times[n], t
			n++
		}
	}
	return n
}
