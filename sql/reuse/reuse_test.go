package reuse

import "testing"

// TestSpoils: memory of any length is spoilt from end to end in builds with the race detector, and stays as it is in others.
func TestSpoils(t *testing.T) {
	for _, n := range []int{0, 1, 511, 512, 513, 10_000} {
		b, x, f := make([]byte, n+1), make([]int64, n+1), make([]float64, n+1)
		Bytes(b[:n])
		Ints(x[:n])
		Floats(f[:n])
		for i := range n {
			if (b[i] != 0) != spoils || (x[i] != 0) != spoils || (f[i] != 0) != spoils {
				t.Fatalf("of %d, %d is %d, %d and %v", n, i, b[i], x[i], f[i])
			}
		}
		if b[n] != 0 || x[n] != 0 || f[n] != 0 {
			t.Fatalf("what is behind %d is spoilt", n)
		}
	}
}
