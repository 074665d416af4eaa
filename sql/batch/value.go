package batch

import (
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// AppendValue appends the exact encoding of value i, as types.AppendValue does, to dst.
func (v *Vector) AppendValue(dst []byte, i int) []byte {
	if v.Valid == nil {
		switch v.Type.Layout() {
		case types.LayoutI64:
			return types.AppendIntValue(dst, v.I64[i])
		case types.LayoutBytes:
			b := v.Data[v.Off[i]:v.Off[i+1]]
			if n := len(b); n < 0x7f {
				dst = append(dst, byte(n+1))
			} else {
				dst = binary.AppendUvarint(dst, uint64(n)+1)
			}
			return append(dst, b...)
		}
	}
	return types.AppendValue(dst, v.Type, v.Datum(i))
}

// ReadValue appends the value of the vector's type that types.AppendValue wrote at the front of b, and gives what follows it. An error
// means that b is corrupt; nothing was appended then.
func (v *Vector) ReadValue(b []byte) (rest []byte, err error) {
	if v.Valid == nil && v.Type.Layout() == types.LayoutI64 {
		if x, rest, ok := types.ReadIntValue(b); ok {
			v.I64 = append(v.I64, x)
			v.N++
			return rest, nil
		}
	}
	d, rest, err := types.ReadValue(v.Type, b)
	if err != nil {
		return nil, err
	}
	v.AppendDatum(d)
	return rest, nil
}
