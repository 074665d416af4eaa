package wire

import (
	"encoding/binary"
	"strconv"

	"github.com/jackc/pgproto3/v2"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Formats of values.
const (
	textFormat   int16 = 0
	binaryFormat int16 = 1
)

// formatOf gives the format of value i: formats has none (all text), one for all, or one for each.
func formatOf(formats []int16, i int) int16 {
	switch len(formats) {
	case 0:
		return textFormat
	case 1:
		return formats[0]
	}
	return formats[i]
}

// rowDescription describes result columns.
func rowDescription(cols []session.Column, formats []int16) *pgproto3.RowDescription {
	m := &pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, len(cols))}
	for i, col := range cols {
		m.Fields[i] = pgproto3.FieldDescription{
			Name: []byte(clean(col.Name)), TableOID: col.TableOID, TableAttributeNumber: uint16(col.Attr),
			DataTypeOID: col.Type.OID(), DataTypeSize: int16(col.Type.Len()), TypeModifier: col.Type.PGMod(), Format: formatOf(formats, i),
		}
	}
	return m
}

// valueEncoder appends value i of v, which is not NULL.
type valueEncoder func(dst []byte, v *batch.Vector, i int) []byte

// encoderFor picks how values of a type are written in a format. The choice is made once per result, not per row. env is called where the text depends on it.
func encoderFor(t types.Type, format int16, env func() *types.Env) valueEncoder {
	switch {
	case t.Kind == types.Text || t.Kind == types.Varchar || t.Kind == types.Name || t.Kind == types.Unknown:
		return appendBytes
	case format == binaryFormat && t.Kind == types.Bytea:
		return appendBytes
	case format == binaryFormat && t.Kind == types.Int8:
		return appendBinaryInt8
	case format == binaryFormat && t.Kind == types.Int4:
		return appendBinaryInt4
	case format == binaryFormat:
		return func(dst []byte, v *batch.Vector, i int) []byte { return types.AppendBinary(dst, t, v.Datum(i)) }
	case t.Kind.IsInt():
		return appendTextInt
	}
	e := env()
	return func(dst []byte, v *batch.Vector, i int) []byte { return types.Append(dst, t, v.Datum(i), e) }
}

func appendBytes(dst []byte, v *batch.Vector, i int) []byte {
	return append(dst, v.Data[v.Off[i]:v.Off[i+1]]...)
}

func appendTextInt(dst []byte, v *batch.Vector, i int) []byte {
	return strconv.AppendInt(dst, v.I64[i], 10)
}

func appendBinaryInt8(dst []byte, v *batch.Vector, i int) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(v.I64[i]))
}

func appendBinaryInt4(dst []byte, v *batch.Vector, i int) []byte {
	return binary.BigEndian.AppendUint32(dst, uint32(v.I64[i]))
}

// rowEncoder writes rows as DataRow messages.
type rowEncoder struct {
	values []valueEncoder
}

func newRowEncoder(cols []session.Column, formats []int16, env func() *types.Env) *rowEncoder {
	e := &rowEncoder{values: make([]valueEncoder, len(cols))}
	for i, col := range cols {
		e.values[i] = encoderFor(col.Type, formatOf(formats, i), env)
	}
	return e
}

// appendRow appends row i of b as a message.
func (e *rowEncoder) appendRow(dst []byte, b *batch.Batch, i int) []byte {
	start := len(dst)
	dst = append(dst, 'D', 0, 0, 0, 0, byte(len(e.values)>>8), byte(len(e.values)))
	dst = e.appendFields(dst, b, i)
	binary.BigEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-1))
	return dst
}

// appendFields appends the values of row i, each with its length in front. Binary COPY has the same form.
func (e *rowEncoder) appendFields(dst []byte, b *batch.Batch, i int) []byte {
	for c, enc := range e.values {
		v := b.Cols[c]
		if v.Valid != nil && !v.Valid.Get(i) {
			dst = append(dst, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = enc(dst, v, i)
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}
