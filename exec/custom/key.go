package custom

import (
	"encoding/binary"
	"math"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// keyCoder turns values into the bytes by which state is found (types.AppendKey) and back. Where such bytes do not determine the
// value, as 1.0 and 1.00 are one key, entries carry the value beside (exact).
type keyCoder struct {
	schema *Schema
	exact  bool // bytes alone do not give the values back
}

func newKeyCoder(s *Schema) keyCoder {
	c := keyCoder{schema: s}
	for _, f := range s.Fields {
		c.exact = c.exact || !reversible(f.Type)
	}
	return c
}

// reversible says whether decodeKey can read what types.AppendKey wrote for a type.
func reversible(t types.Type) bool {
	switch t.Layout() {
	case types.LayoutI64, types.LayoutF64:
		return true
	case types.LayoutPair:
		return t.Kind == types.UUID || t.Kind == types.Window
	}
	switch t.Kind {
	case types.Text, types.Varchar, types.Name, types.Bytea, types.Unknown:
		return true
	}
	return false
}

// append appends the key bytes of values.
func (c keyCoder) append(dst []byte, vals []types.Datum) []byte {
	for i, f := range c.schema.Fields {
		dst = types.AppendKey(dst, f.Type, vals[i], false, false)
	}
	return dst
}

// appendExact appends what an entry carries of the key.
func (c keyCoder) appendExact(dst []byte, vals []types.Datum) []byte {
	if !c.exact {
		return dst
	}
	for i, f := range c.schema.Fields {
		dst = types.AppendValue(dst, f.Type, vals[i])
	}
	return dst
}

// cut reads a key from the front of an entry's key, and what the entry carries of it from the front of its value. Values alias both.
func (c keyCoder) cut(key, val []byte) (vals []types.Datum, keyRest, valRest []byte) {
	vals = make([]types.Datum, len(c.schema.Fields))
	if c.exact {
		n := c.append(nil, c.read(vals, &val))
		if len(n) > len(key) {
			corrupt()
		}
		return vals, key[len(n):], val
	}
	for i, f := range c.schema.Fields {
		vals[i], key = decodeKey(f.Type, key)
	}
	return vals, key, val
}

// read reads exact values from the front of b.
func (c keyCoder) read(vals []types.Datum, b *[]byte) []types.Datum {
	*b = readDatums(c.schema, vals, *b)
	return vals
}

// skip steps over what an entry carries of the key.
func (c keyCoder) skip(val []byte) []byte {
	if !c.exact {
		return val
	}
	for _, f := range c.schema.Fields {
		_, rest, err := types.ReadValue(f.Type, val)
		if err != nil {
			panic(&table.Failure{Err: err})
		}
		val = rest
	}
	return val
}

// readDatums reads an encoded row into vals and gives what follows it.
func readDatums(s *Schema, vals []types.Datum, b []byte) []byte {
	for i, f := range s.Fields {
		d, rest, err := types.ReadValue(f.Type, b)
		if err != nil {
			panic(&table.Failure{Err: err})
		}
		vals[i], b = d, rest
	}
	return b
}

func appendDatums(dst []byte, s *Schema, vals []types.Datum) []byte {
	for i, f := range s.Fields {
		dst = types.AppendValue(dst, f.Type, vals[i])
	}
	return dst
}

func corrupt() { rowenc.Varint(nil) }

// decodeKey reads what types.AppendKey wrote, ascending with NULL last.
func decodeKey(t types.Type, b []byte) (types.Datum, []byte) {
	if len(b) == 0 {
		corrupt()
	}
	tag := b[0]
	b = b[1:]
	if tag != 1 {
		return types.NullDatum, b
	}
	word := func() uint64 {
		if len(b) < 8 {
			corrupt()
		}
		w := binary.BigEndian.Uint64(b)
		b = b[8:]
		return w
	}
	switch t.Layout() {
	case types.LayoutI64:
		return types.IntDatum(int64(word() ^ 1<<63)), b
	case types.LayoutF64:
		u := word()
		if u == math.MaxUint64 {
			return types.FloatDatum(math.NaN()), b
		}
		if u>>63 != 0 {
			u &^= 1 << 63
		} else {
			u = ^u
		}
		return types.FloatDatum(math.Float64frombits(u)), b
	case types.LayoutPair:
		i, j := word(), word()
		if t.Kind == types.UUID {
			return types.PairDatum(int64(i), int64(j)), b
		}
		return types.PairDatum(int64(i^1<<63), int64(j^1<<63)), b
	}
	// 0 is 0, 255; the end is 0, 1.
	var out []byte
	for i := 0; i+1 < len(b); i++ {
		if b[i] != 0 {
			continue
		}
		if b[i+1] == 1 {
			if out == nil {
				return types.Datum{B: b[:i:i]}, b[i+2:]
			}
			return types.Datum{B: append(out, b[:i]...)}, b[i+2:]
		}
		out = append(out, b[:i+1]...)
		b, i = b[i+2:], -1
	}
	corrupt()
	return types.Datum{}, nil
}
