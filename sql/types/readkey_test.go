package types

import (
	"math/rand"
	"testing"
)

// TestReadKey: every value that is read back from its key is equal to it, whatever follows.
func TestReadKey(t *testing.T) {
	seed := rand.Int63()
	r := rand.New(rand.NewSource(seed))
	for i := 0; i < 20000; i++ {
		k := []Kind{Bool, Int8, Int4, Float8, Text, Bytea, Timestamp, Date, UUID, Window}[r.Intn(10)]
		typ := Of(k)
		if k == Window {
			typ = WindowOf(Timestamp)
		}
		d := randomDatum(typ, r)
		if r.Intn(10) == 0 {
			d = NullDatum
		}
		if k == Text || k == Bytea {
			d = Datum{B: []byte([]string{"", "\x00", "a\x00", "\x00\x00b", "abc", "\x00\xff\x01"}[r.Intn(6)])}
		}
		b := AppendKey(nil, typ, d, false, false)
		got, rest, err := ReadKey(typ, append(b, "tail"...))
		if err != nil || string(rest) != "tail" || got.Null != d.Null || !d.Null && !Equal(typ, got, d) {
			t.Fatalf("seed %d: %v of %s came back as %v, %q, %v", seed, d, typ, got, rest, err)
		}
		if _, _, err := ReadKey(typ, b[:len(b)-1]); err == nil && len(b) > 1 {
			t.Fatalf("seed %d: a truncated key of %s was read", seed, typ)
		}
	}
}
