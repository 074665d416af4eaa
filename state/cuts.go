package state

import (
	"math/bits"
	"slices"

	"github.com/tidemarkdb/tidemark/state/table"
)

const (
	// lateParts is into how many parts the rows of a run are divided that are not in order: those of one part of several runs are sorted in the near
	// caches together.
	lateParts = 128
	// sampleRows is how many rows tell where cuts lie.
	sampleRows = 2048
	// digitBits is how many bits of keys tell their parts, mostly.
	digitBits = 12
)

// cuts divide keys into parts: the keys of each part are less than those of the next one. They are immutable.
type cuts struct {
	skip  string   // with what the keys of the sample begin
	heads []uint64 // ascending: the words behind skip at which parts begin, but the first
	// The bits in which the words of the sample differ, the first digitBits of them, are a digit that tells the part of each word whose other bits, as far
	// as the last of these, are those of the sample.
	digit        stretches
	fixed, other uint64 // the other bits, and what they are
	byDigit      [1 << digitBits]uint8
}

// newCuts gives cuts that divide rows like those of r about evenly.
func newCuts(r *run) *cuts {
	step := len(r.recs)/sampleRows + 1
	first := r.key(0)
	common := len(first)
	for i := step; i < len(r.recs); i += step {
		common = commonLen(first[:common], r.key(i))
	}
	var sample []uint64
	differ := uint64(0)
	for i := 0; i < len(r.recs); i += step {
		sample = append(sample, table.Head(r.key(i)[common:]))
		differ |= sample[0] ^ sample[len(sample)-1]
	}
	slices.Sort(sample)
	c := &cuts{skip: string(first[:common])}
	low := c.digit.choose(differ, digitBits)
	c.fixed = ^differ &^ (1<<low - 1)
	c.other = sample[0] & c.fixed
	for i := 1; i < lateParts; i++ {
		h := sample[i*len(sample)/lateParts] &^ (1<<low - 1)
		if n := len(c.heads); h > sample[0] && (n == 0 || h > c.heads[n-1]) {
			c.heads = append(c.heads, h)
		}
	}
	for i, h := range c.heads {
		for d := c.digit.of(h); d < 1<<digitBits; d++ {
			c.byDigit[d] = uint8(i + 1)
		}
	}
	return c
}

// parts gives the number of parts.
func (c *cuts) parts() int { return len(c.heads) + 1 }

// part gives the part of a key, and whether it begins as those of the sample do.
func (c *cuts) part(key []byte) (part int, like bool) {
	if n := len(c.skip); n > 0 {
		if len(key) < n || string(key[:n]) != c.skip {
			if string(key) < c.skip {
				return 0, false
			}
			return len(c.heads), false
		}
		key = key[n:]
	}
	h := table.Head(key)
	if h&c.fixed == c.other {
		return int(c.byDigit[c.digit.of(h)&(1<<digitBits-1)]), true
	}
	n, found := slices.BinarySearch(c.heads, h)
	if found {
		n++
	}
	return n, true
}

// stretches are those bits of words that matter, as stretches of bits that stand together.
type stretches struct {
	n   int
	all [maxStretches]stretch
}

type stretch struct {
	shift, width uint8
	mask         uint64
}

// maxStretches bounds the stretches of bits that are taken.
const maxStretches = 8

// choose takes the first bits, as many as most, of those in a mask, or fewer if they are scattered. It says where the last one stands, 64 if there is none.
func (s *stretches) choose(mask uint64, most int) (low int) {
	low = 64
	for s.n = 0; mask != 0 && s.n < maxStretches && most > 0; s.n++ {
		hi := bits.Len64(mask)
		w := min(bits.LeadingZeros64(^(mask << (64 - hi))), most)
		low, most = hi-w, most-w
		s.all[s.n] = stretch{uint8(low), uint8(w), 1<<w - 1}
		mask &= 1<<low - 1
	}
	return low
}

// of gives the bits of a word, one behind the other.
func (s *stretches) of(word uint64) (x uint64) {
	for i := range s.all[:s.n] {
		t := &s.all[i]
		x = x<<(t.width&63) | word>>(t.shift&63)&t.mask
	}
	return x
}
