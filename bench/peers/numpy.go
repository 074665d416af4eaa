package main

import "math/bits"

// numpy draws the numbers that numpy.random.default_rng draws: PCG64 (XSL-RR, 128 bits of state) with numpy's way to seed it and its way to
// bound integers. So the input is the same, byte for byte of its values, as a script with numpy makes.
type numpy struct {
	hi, lo       uint64 // state
	incHi, incLo uint64
	half         uint32 // what is left of a word of which half was asked for
	hasHalf      bool
}

// newNumpy is default_rng of a list of numbers.
func newNumpy(entropy ...uint32) *numpy {
	s := seedSequence(entropy)
	g := &numpy{incHi: s[2]<<1 | s[3]>>63, incLo: s[3]<<1 | 1}
	g.step()
	var carry uint64
	g.lo, carry = bits.Add64(g.lo, s[1], 0)
	g.hi, _ = bits.Add64(g.hi, s[0], carry)
	g.step()
	return g
}

// seedSequence is numpy's SeedSequence(entropy).generate_state(4, uint64).
func seedSequence(entropy []uint32) (out [4]uint64) {
	const multA, multB, mixL, mixR = 0x931e8875, 0x58f38ded, 0xca01f9dd, 0x4973f715
	hash := uint32(0x43b0d7e5)
	hashed := func(v uint32) uint32 {
		v ^= hash
		hash *= multA
		v *= hash
		return v ^ v>>16
	}
	mixed := func(x, y uint32) uint32 {
		r := mixL*x - mixR*y
		return r ^ r>>16
	}
	var pool [4]uint32
	for i := range pool {
		v := uint32(0)
		if i < len(entropy) {
			v = entropy[i]
		}
		pool[i] = hashed(v)
	}
	for from := range pool {
		for to := range pool {
			if from != to {
				pool[to] = mixed(pool[to], hashed(pool[from]))
			}
		}
	}
	for _, e := range entropy[min(4, len(entropy)):] {
		for to := range pool {
			pool[to] = mixed(pool[to], hashed(e))
		}
	}
	hash = 0x8b51f9dd
	var words [8]uint32
	for i := range words {
		v := pool[i%4] ^ hash
		hash *= multB
		v *= hash
		words[i] = v ^ v>>16
	}
	for i := range out {
		out[i] = uint64(words[2*i]) | uint64(words[2*i+1])<<32
	}
	return out
}

func (g *numpy) step() {
	const mulHi, mulLo = 2549297995355413924, 4865540595714422341
	hi, lo := bits.Mul64(g.lo, mulLo)
	hi += g.hi*mulLo + g.lo*mulHi
	var carry uint64
	g.lo, carry = bits.Add64(lo, g.incLo, 0)
	g.hi, _ = bits.Add64(hi, g.incHi, carry)
}

func (g *numpy) uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.hi^g.lo, -int(g.hi>>58))
}

func (g *numpy) uint32() uint32 {
	if g.hasHalf {
		g.hasHalf = false
		return g.half
	}
	x := g.uint64()
	g.half, g.hasHalf = uint32(x>>32), true
	return uint32(x)
}

// float is random().
func (g *numpy) float() float64 { return float64(g.uint64()>>11) / (1 << 53) }

// below is one of integers(0, n), n less than 2^32.
func (g *numpy) below(n int64) int64 {
	if n == 1 {
		return 0
	}
	bound := uint32(n)
	m := uint64(g.uint32()) * uint64(bound)
	if low := uint32(m); low < bound {
		for threshold := -bound % bound; low < threshold; low = uint32(m) {
			m = uint64(g.uint32()) * uint64(bound)
		}
	}
	return int64(m >> 32)
}

// integers is integers(0, n, count).
func (g *numpy) integers(n int64, count int) []int64 {
	out := make([]int64, count)
	for i := range out {
		out[i] = g.below(n)
	}
	return out
}

// choice is choice(n, count, replace=False), as it is for n over 10,000 and count over a fiftieth of it.
func (g *numpy) choice(n, count int) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = int64(i)
	}
	for i := n - 1; i >= max(n-count, 1); i-- {
		j := g.below(int64(i) + 1)
		all[i], all[j] = all[j], all[i]
	}
	return all[n-count:]
}
