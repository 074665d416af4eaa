package table

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// The hashes of keys decide where entries lie on disk and which slot of a view a row is of, so both are part of the storage format
// (docs/storage.md). They are made of one step, the product of two words in 128 bits with its halves xored, as in wyhash.

const (
	hashA = 0x2d358dccaa6c78a5
	hashB = 0x9e3779b97f4a7c15
	hashC = 0x8bb84b93962eacc9
)

func fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

// HashBytes is the hash of a bytes key. It decides where entries lie on disk, so it is part of the storage format.
func HashBytes(b []byte) uint64 {
	n := len(b)
	if n > 16 {
		return hashLong(b)
	}
	var x, y uint64
	switch {
	case n >= 8:
		x, y = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		x, y = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		x = uint64(b[0])<<16 | uint64(b[n>>1])<<8 | uint64(b[n-1])
	}
	hi, lo := bits.Mul64(x^hashA, y^hashB)
	return fold(lo^hashC^uint64(n), hi^hashA)
}

// HashMany puts the HashBytes of keys into hashes: key k is data[off[k]:off[k+1]]. It takes less than to hash one after the other, for most of
// which there is a call; and where the keys were just written, the processor has them by the time that they are read. The hashes may be the words of a column.
func HashMany[W int64 | uint64](data []byte, off []uint32, hashes []W) {
	if len(hashes) == 0 {
		return
	}
	off = off[:len(hashes)+1]
	lo, first := uint(off[0]), unsafe.Pointer(unsafe.SliceData(data))
	for k := range hashes {
		hi := uint(off[k+1])
		if n := hi - lo; n-8 <= 8 && hi <= uint(len(data)) { // 8 to 16 bytes, as HashBytes has it; the compiler would look at both places again
			x, y := *(*[8]byte)(unsafe.Add(first, lo)), *(*[8]byte)(unsafe.Add(first, hi-8))
			h, l := bits.Mul64(binary.LittleEndian.Uint64(x[:])^hashA, binary.LittleEndian.Uint64(y[:])^hashB)
			hashes[k] = W(fold(l^hashC^uint64(n), h^hashA))
		} else {
			hashes[k] = W(HashBytes(data[lo:hi]))
		}
		lo = hi
	}
}

// hashLong is HashBytes of more than 16 bytes: of each 16 but the last ones, some of which may be among those before them, a step.
func hashLong(b []byte) uint64 {
	n := len(b)
	x, y := binary.LittleEndian.Uint64(b[n-16:]), binary.LittleEndian.Uint64(b[n-8:])
	seed := uint64(hashB)
	for ; len(b) > 16; b = b[16:] {
		seed = fold(binary.LittleEndian.Uint64(b)^hashC, binary.LittleEndian.Uint64(b[8:])^seed)
	}
	hi, lo := bits.Mul64(x^hashA, y^seed)
	return fold(lo^hashC^uint64(n), hi^hashA)
}

// hashInt is the hash of an int key. Keys that follow each other must not have hashes that do so, as one step alone would give: the index
// uses the bits from 32 on.
func hashInt(k int64) uint64 { return fold(fold(uint64(k)^hashA, hashB)^hashC, hashB) }

func tagInt(k int64) uint32 { return uint32(hashInt(k) >> 32) }
