package types

import (
	"encoding/binary"
	"math"
)

// KeyReversible says whether ReadKey can read what AppendKey wrote for a type: its key determines the value.
func KeyReversible(t Type) bool {
	switch t.Layout() {
	case LayoutI64, LayoutF64:
		return true
	case LayoutPair:
		return t.Kind == UUID || t.Kind == Window
	}
	switch t.Kind {
	case Text, Varchar, Name, Bytea, Unknown:
		return true
	}
	return false
}

// ReadKey reads one value that AppendKey wrote, ascending, for a type that KeyReversible accepts, and gives what follows it. Datum.B may alias
// b. Of a float, -0 comes back as 0 and any NaN as one. An error means that b is corrupt or of another type.
func ReadKey(t Type, b []byte) (Datum, []byte, error) {
	if len(b) == 0 || !KeyReversible(t) {
		return Datum{}, nil, errValue
	}
	tag := b[0]
	b = b[1:]
	if tag != 1 {
		return NullDatum, b, nil
	}
	words := 1
	switch t.Layout() {
	case LayoutBytes:
		return readKeyBytes(b)
	case LayoutPair:
		words = 2
	}
	if len(b) < 8*words {
		return Datum{}, nil, errValue
	}
	i, rest := binary.BigEndian.Uint64(b), b[8*words:]
	switch {
	case t.Layout() == LayoutF64:
		return FloatDatum(floatOfKey(i)), rest, nil
	case words == 1:
		return IntDatum(int64(i ^ 1<<63)), rest, nil
	}
	j := binary.BigEndian.Uint64(b[8:])
	if t.Kind == UUID {
		return PairDatum(int64(i), int64(j)), rest, nil
	}
	return PairDatum(int64(i^1<<63), int64(j^1<<63)), rest, nil
}

// floatOfKey is the way back of floatKeyBits.
func floatOfKey(u uint64) float64 {
	switch {
	case u == math.MaxUint64:
		return math.NaN()
	case u>>63 != 0:
		return math.Float64frombits(u &^ (1 << 63))
	}
	return math.Float64frombits(^u)
}

// readKeyBytes reads what appendKeyBytes wrote.
func readKeyBytes(b []byte) (Datum, []byte, error) {
	out := []byte{}
	start := 0
	for i := 0; i+1 < len(b); i++ {
		if b[i] != 0 {
			continue
		}
		if b[i+1] == 1 {
			if start == 0 {
				return Datum{B: b[:i:i]}, b[i+2:], nil
			}
			return Datum{B: append(out, b[start:i]...)}, b[i+2:], nil
		}
		out = append(out, b[start:i+1]...)
		i++
		start = i + 1
	}
	return Datum{}, nil, errValue
}
