package kernel

import (
	"encoding/binary"
	"math/bits"
)

// PostgreSQL's hash functions, so that hashtext and the like give its values (Bob Jenkins's lookup3).

func hashMix(a, b, c uint32) (uint32, uint32, uint32) {
	rot := bits.RotateLeft32
	a -= c
	a ^= rot(c, 4)
	c += b
	b -= a
	b ^= rot(a, 6)
	a += c
	c -= b
	c ^= rot(b, 8)
	b += a
	a -= c
	a ^= rot(c, 16)
	c += b
	b -= a
	b ^= rot(a, 19)
	a += c
	c -= b
	c ^= rot(b, 4)
	b += a
	return a, b, c
}

func hashFinal(a, b, c uint32) uint32 {
	rot := bits.RotateLeft32
	c ^= b
	c -= rot(b, 14)
	a ^= c
	a -= rot(c, 11)
	b ^= a
	b -= rot(a, 25)
	c ^= b
	c -= rot(b, 16)
	a ^= c
	a -= rot(c, 4)
	b ^= a
	b -= rot(a, 14)
	c ^= b
	c -= rot(b, 24)
	return c
}

// hashBytes is hash_any.
func hashBytes(k []byte) uint32 {
	a := 0x9e3779b9 + uint32(len(k)) + 3923095
	b, c := a, a
	for len(k) >= 12 {
		a += binary.LittleEndian.Uint32(k)
		b += binary.LittleEndian.Uint32(k[4:])
		c += binary.LittleEndian.Uint32(k[8:])
		a, b, c = hashMix(a, b, c)
		k = k[12:]
	}
	var tail [12]byte
	copy(tail[:], k)
	// The lowest byte of c is reserved for the length.
	a += binary.LittleEndian.Uint32(tail[:])
	b += binary.LittleEndian.Uint32(tail[4:])
	c += binary.LittleEndian.Uint32(tail[8:]) << 8
	return hashFinal(a, b, c)
}

// hashUint32 is hash_uint32.
func hashUint32(k uint32) uint32 {
	a := uint32(0x9e3779b9 + 4 + 3923095)
	b, c := a, a
	a += k
	return hashFinal(a, b, c)
}
