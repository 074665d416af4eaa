// Package reuse spoils memory that is about to be used again, in builds with the race detector: whoever still reads it then finds what it cannot mistake for what was
// there. Other builds leave it alone.
package reuse

import "math"

// What is found in spoilt memory.
const (
	spoiltByte = 0xDB
	spoiltInt  = 0x0BADBADBADBADBAD
)

var (
	someBytes  [1 << 12]byte
	someInts   [1 << 9]int64
	someFloats [1 << 9]float64
)

func init() {
	for i := range someBytes {
		someBytes[i] = spoiltByte
	}
	for i := range someInts {
		someInts[i], someFloats[i] = spoiltInt, -math.MaxFloat64
	}
}

// Bytes spoils b, which nobody is to read any more.
func Bytes(b []byte) {
	if spoils {
		fill(b, someBytes[:])
	}
}

// Ints is Bytes for integers.
func Ints(x []int64) {
	if spoils {
		fill(x, someInts[:])
	}
}

// Floats is Bytes for floating-point numbers.
func Floats(x []float64) {
	if spoils {
		fill(x, someFloats[:])
	}
}

func fill[T any](x, with []T) {
	for len(x) > 0 {
		x = x[copy(x, with):]
	}
}
