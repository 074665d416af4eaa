package state

import "encoding/binary"

// In the data of a run a row is a head and its key. The head is a little-endian integer of 32 bits: whether the weight is -1 instead of 1 (1 bit), whether the head
// is long (1 bit), six bits of nothing, the length of the key (16 bits) and that of its ordered part (8 bits). Of a long head only that bit matters: uvarints of both
// lengths and a varint of the weight follow it.
const (
	headLen  = 4
	headLess = 1
	headLong = 2
)

// rowHead gives the head of a row; false if it must be a long one.
func rowHead(length, klen int, weight int64) (head uint32, ok bool) {
	return uint32(klen)<<24 | uint32(length)<<8 | uint32(1-weight)>>1, length < 1<<16 && klen < 1<<8 && uint64(weight+1)&^2 == 0
}

// appendRow appends a row to data.
func appendRow(data, key []byte, klen int, weight int64) []byte {
	h, ok := rowHead(len(key), klen, weight)
	if !ok {
		data = binary.LittleEndian.AppendUint32(data, headLong)
		data = binary.AppendUvarint(data, uint64(len(key)))
		data = binary.AppendUvarint(data, uint64(klen))
		data = binary.AppendVarint(data, weight)
		return append(data, key...)
	}
	return append(binary.LittleEndian.AppendUint32(data, h), key...)
}

// readRow reads the row at the front of data: its key, how long the ordered part of that is, its weight, and how many bytes it takes.
func readRow(data []byte) (key []byte, klen uint32, weight int64, n int) {
	h := binary.LittleEndian.Uint32(data)
	if h&headLong == 0 {
		n = headLen + int(h>>8&0xffff)
		return data[headLen:n:n], h >> 24, 1 - 2*int64(h&headLess), n
	}
	return readLong(data)
}

func readLong(data []byte) (key []byte, klen uint32, weight int64, n int) {
	n = headLen
	length, m := binary.Uvarint(data[n:])
	n += m
	k, m := binary.Uvarint(data[n:])
	n += m
	weight, m = binary.Varint(data[n:])
	n += m
	end := n + int(length)
	return data[n:end:end], uint32(k), weight, end
}
