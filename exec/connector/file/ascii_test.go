package file

import (
	"bytes"
	"slices"
	"testing"
)

// TestIsASCII compares with a look at each byte, for every byte at every place.
func TestIsASCII(t *testing.T) {
	for n := range 20 {
		b := bytes.Repeat([]byte("a"), n)
		if !isASCII(b) {
			t.Errorf("%d letters are not", n)
		}
		for i := range b {
			for c := range 256 {
				for _, before := range []byte{1, 'a', 127} {
					if i > 0 {
						b[i-1] = before
					}
					b[i] = byte(c)
					want := !slices.ContainsFunc(b, func(c byte) bool { return c == 0 || c > 127 })
					if isASCII(b) != want {
						t.Fatalf("%q: %v", b, !want)
					}
				}
				if i > 0 {
					b[i-1] = 'a'
				}
			}
			b[i] = 'a'
		}
	}
}
