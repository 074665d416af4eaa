package rowenc

import "encoding/binary"

// Ranked is an element of a short list of rows in order that is the value of one entry of state. The bytes of the list begin with its
// last element, which is the one to go when another comes in before it.
//
// State: uvarint of twice the bytes that follow, plus one if shown | uvarint length of key | key | row.
type Ranked struct {
	Shown    bool   // what the owner of the list wants to know of a row besides
	Key, Row []byte // by which it is in order; they alias the list
}

// AppendRanked puts an element at the end of dst.
func AppendRanked(dst []byte, e Ranked) []byte {
	n := uint64(uvarintLen(uint64(len(e.Key)))+len(e.Key)+len(e.Row)) << 1
	if e.Shown {
		n |= shownBit
	}
	dst = binary.AppendUvarint(dst, n)
	dst = binary.AppendUvarint(dst, uint64(len(e.Key)))
	return append(append(dst, e.Key...), e.Row...)
}

// shownBit is where Ranked.Shown is in the first byte of an element.
const shownBit = 1

// FlipRanked changes Shown of the element at which list begins.
func FlipRanked(list []byte) { list[0] ^= shownBit }

func uvarintLen(x uint64) int {
	n := 1
	for ; x >= 0x80; x >>= 7 {
		n++
	}
	return n
}

// NextRanked takes an element from the front of a list and gives the length that it has there. It panics with *table.Failure on corrupt bytes.
func NextRanked(list []byte) (e Ranked, n int) {
	if len(list) > 1 && list[0]|list[1] < 0x80 { // both lengths are one byte
		n, klen := 1+int(list[0]>>1), 2+int(list[1])
		if klen <= n && n <= len(list) {
			return Ranked{list[0]&shownBit != 0, list[2:klen:klen], list[klen:n]}, n
		}
	}
	size, rest := Uvarint(list)
	n = len(list) - len(rest) + int(size>>1)
	if size>>1 > uint64(len(rest)) {
		failCorrupt()
	}
	rest = rest[:size>>1]
	klen, rest := Uvarint(rest)
	if klen > uint64(len(rest)) {
		failCorrupt()
	}
	return Ranked{size&shownBit != 0, rest[:klen:klen], rest[klen:]}, n
}

// SkipBeyond gives the length of the elements at the front of a list whose keys begin with a byte of 1 and eight bytes that are greater
// than head, a big-endian integer; it may stop before one that has long lengths. It is NextRanked for those of which nothing else matters.
func SkipBeyond(list []byte, head uint64) int {
	at := 0
	for {
		x := list[at:]
		if len(x) < 11 || x[0]|x[1] >= 0x80 || x[1] < 9 || x[2] != 1 || binary.BigEndian.Uint64(x[3:]) <= head {
			return at
		}
		n := 1 + int(x[0]>>1)
		if n > len(x) {
			return at
		}
		at += n
	}
}

// SkipRanked tells of the element at the front of a list only how long it is there, and whether it is shown.
func SkipRanked(list []byte) (shown bool, n int) {
	if list[0] < 0x80 {
		return list[0]&shownBit != 0, min(1+int(list[0]>>1), len(list))
	}
	e, n := NextRanked(list)
	return e.Shown, n
}
