// Package rowenc is what operators with state have in common: whole rows as
// bytes and back, event times as bytes that sort, compiled lists of key
// expressions, an output batch that empties itself, and a log of changes that
// nets them.
//
// A row is encoded with types.AppendValue, column after column. That is exact
// (1.0 and 1.00 differ), so it identifies a row in a Z-set; keys that must
// compare as SQL does are encoded with types.AppendKey instead.
package rowenc

import (
	"encoding/binary"
	"math"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// MicrosPerDay is the length of a day.
const MicrosPerDay = 86_400_000_000

// AppendRow appends the encoding of row i of cols.
func AppendRow(dst []byte, cols []*batch.Vector, i int) []byte {
	for _, c := range cols {
		dst = c.AppendValue(dst, i)
	}
	return dst
}

// ReadRow appends the values of an encoded row to cols, one each, and gives the bytes that follow the row. Bytes that no
// AppendRow wrote are corrupt state: it panics with *table.Failure, as a failed read does.
func ReadRow(row []byte, cols []*batch.Vector) []byte {
	for _, c := range cols {
		rest, err := c.ReadValue(row)
		if err != nil {
			panic(&table.Failure{Err: err})
		}
		row = rest
	}
	return row
}

// Varint reads a signed varint from the front of b and gives what follows. It panics with *table.Failure on corrupt bytes.
func Varint(b []byte) (int64, []byte) {
	v, n := binary.Varint(b)
	if n <= 0 {
		failCorrupt()
	}
	return v, b[n:]
}

// Uvarint reads an unsigned varint from the front of b and gives what follows. It panics with *table.Failure on corrupt bytes.
func Uvarint(b []byte) (uint64, []byte) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		failCorrupt()
	}
	return v, b[n:]
}

func failCorrupt() { panic(&table.Failure{Err: errCorrupt}) }

// TimeLen is the number of bytes that AppendTime appends.
const TimeLen = 8

// AppendTime appends a time (or any int64) so that bytes sort as times do.
func AppendTime(dst []byte, t int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(t)^1<<63)
}

// ReadTime reads what AppendTime wrote at the front of b.
func ReadTime(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ 1<<63) }

// AfterTime appends the key that bounds from above, exclusively, all keys that begin with a time at or below t.
func AfterTime(dst []byte, t int64) []byte {
	if t == math.MaxInt64 {
		return append(AppendTime(dst, t), 0xFF)
	}
	return AppendTime(dst, t+1)
}

// EventTime gives the event time in microseconds of value i: the value of a timestamp or date, the end of a
// window. It is false for NULL.
func EventTime(v *batch.Vector, i int) (int64, bool) {
	if v.IsNull(i) {
		return 0, false
	}
	switch v.Type.Kind {
	case types.Window:
		return ScaleTime(v.Type.Elem, v.J64[i]), true
	default:
		return ScaleTime(v.Type.Kind, v.I64[i]), true
	}
}

// AllAfter says that all of the first n values are timestamps after a bound. It may say false where they are.
func AllAfter(time *batch.Vector, n int, bound int64) bool {
	if k := time.Type.Kind; time.Valid != nil || k != types.Timestamp && k != types.TimestampTZ {
		return false
	}
	for _, t := range time.I64[:n] {
		if t <= bound {
			return false
		}
	}
	return true
}

// ScaleTime turns a value of a time kind into microseconds: days are multiplied, infinities stay.
func ScaleTime(k types.Kind, t int64) int64 {
	if k != types.Date || !types.IsFiniteTime(t) {
		return t
	}
	return AddSat(0, mulSat(t, MicrosPerDay))
}

// AddSat adds and stops at the ends of int64.
func AddSat(a, b int64) int64 {
	s := a + b
	if a > 0 && b > 0 && s < 0 {
		return math.MaxInt64
	}
	if a < 0 && b < 0 && s >= 0 {
		return math.MinInt64
	}
	return s
}

func mulSat(a, b int64) int64 {
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	if a < math.MinInt64/b {
		return math.MinInt64
	}
	return a * b
}

// PrefixEnd puts into buf the smallest key above every key that begins with prefix; nil when there is none.
func PrefixEnd(buf, prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xFF {
			buf = append(buf[:0], prefix[:i+1]...)
			buf[i]++
			return buf
		}
	}
	return nil
}

// Late counts row i of b as late in stats and records it with the sink: t is the event time, or the end of a window if v is a column of windows.
func Late(ep *dataflow.Epoch, stats *dataflow.Stats, b *batch.Batch, i int, v *batch.Vector, t int64) {
	CountLate(stats, b, i)
	if v.Type.Kind == types.Window {
		ep.Sink.Late(ep, b, i, dataflow.NoTime, ScaleTime(v.Type.Elem, v.I64[i]), t)
		return
	}
	ep.Sink.Late(ep, b, i, t, dataflow.NoTime, dataflow.NoTime)
}

// CountLate counts row i of b as late. One that is taken away counts like one that comes.
func CountLate(stats *dataflow.Stats, b *batch.Batch, i int) {
	stats.RowsDroppedLate += max(b.Weight(i), -b.Weight(i))
}

// Columns declares state table columns c0, c1, ... of the given types, with a prefix for their names.
func Columns(prefix string, ts []types.Type) []table.Column {
	cols := make([]table.Column, len(ts))
	for i, t := range ts {
		cols[i] = table.Column{Name: prefix + itoa(i), Type: t}
	}
	return cols
}
