package table

import (
	"encoding/binary"
	"slices"
)

// heads finds a key among sorted ones and reads little memory for it: of each it holds the eight bytes behind the bytes that all of
// them begin with, in one array. Only keys whose head is that of the one sought need be looked at.
type heads struct {
	h    []uint64
	plen int // how many bytes all keys begin with; more may be the same
	pre  [maxShared]byte
}

// maxShared bounds the beginning that is left out.
const maxShared = 32

// Head gives the first eight bytes of a key as a number; what is missing counts as zero, so a lesser head is of a lesser key. It may be called
// from any goroutine.
func Head[K string | []byte](k K) uint64 {
	if len(k) >= 8 {
		return uint64(k[0])<<56 | uint64(k[1])<<48 | uint64(k[2])<<40 | uint64(k[3])<<32 | uint64(k[4])<<24 | uint64(k[5])<<16 | uint64(k[6])<<8 | uint64(k[7])
	}
	var b [8]byte
	copy(b[:], k)
	return binary.BigEndian.Uint64(b[:])
}

// begin empties x for keys from first to last, which append adds.
func begin[K string | []byte](x *heads, first, last K) {
	x.h, x.plen = x.h[:0], 0
	for n := min(len(first), len(last), maxShared); x.plen < n && first[x.plen] == last[x.plen]; x.plen++ {
		x.pre[x.plen] = first[x.plen]
	}
}

// appendHead adds the key that follows those there are; it lies in the range that begin was told.
func appendHead[K string | []byte](x *heads, k K) { x.h = append(x.h, Head(k[x.plen:])) }

// insert adds a key as the i-th. It says false, and does nothing, if the key begins otherwise: the heads must be made anew.
func (x *heads) insert(i int, k []byte) bool {
	if len(k) < x.plen || string(k[:x.plen]) != string(x.pre[:x.plen]) {
		return false
	}
	x.h = slices.Insert(x.h, i, Head(k[x.plen:]))
	return true
}

func (x *heads) remove(i int) { x.h = slices.Delete(x.h, i, i+1) }

// near bounds the place of k: keys before lo are less, those from hi on are greater.
func (x *heads) near(k []byte) (lo, hi int) {
	n := len(x.h)
	if x.plen > 0 {
		switch a, b := string(k[:min(len(k), x.plen)]), string(x.pre[:x.plen]); {
		case a == b:
		case a < b:
			return 0, 0
		default:
			return n, n
		}
	}
	kh := Head(k[x.plen:])
	for n > 0 {
		half := n >> 1
		if x.h[lo+half] < kh {
			lo += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	for hi = lo; hi < len(x.h) && x.h[hi] == kh; hi++ {
	}
	return lo, hi
}
