package custom

import (
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
		c.exact = c.exact || !types.KeyReversible(f.Type)
	}
	return c
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
	return c.cutInto(nil, key, val)
}

// cutInto is cut with memory for the values, nil for new memory.
func (c keyCoder) cutInto(vals []types.Datum, key, val []byte) (_ []types.Datum, keyRest, valRest []byte) {
	if vals == nil {
		vals = make([]types.Datum, len(c.schema.Fields))
	}
	if c.exact {
		n := c.append(nil, c.read(vals, &val))
		if len(n) > len(key) {
			corrupt()
		}
		return vals, key[len(n):], val
	}
	for i, f := range c.schema.Fields {
		var err error
		if vals[i], key, err = types.ReadKey(f.Type, key); err != nil {
			panic(&table.Failure{Err: err})
		}
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
