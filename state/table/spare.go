package table

import (
	"math/bits"
	"slices"

	"github.com/tidemarkdb/tidemark/sql/reuse"
)

// spare is memory of leaves that are gone or have grown, for others of the same tree: where entries come and go, leaves would else be allocated anew for ever.
type spare struct {
	leaves []*leaf
	data   [spareClasses][][]byte // by the length of their size in bits
	bytes  int64                  // of all
}

const (
	spareClasses = 7
	spareLeast   = 10      // bits of a buffer that is worth it
	spareEach    = 8       // buffers of a class, and leaves
	spareMost    = 1 << 20 // bytes
)

// give takes a buffer that nothing refers to, of a tree whose leaves take so many bytes: what is spare does not become more than they.
func (s *spare) give(b []byte, tree int64) {
	reuse.Bytes(b)
	class := bits.Len(uint(cap(b))) - spareLeast
	if class < 0 || class >= spareClasses || len(s.data[class]) >= spareEach || s.bytes+int64(cap(b)) > min(tree, spareMost) {
		return
	}
	s.data[class] = append(s.data[class], b[:0])
	s.bytes += int64(cap(b))
}

// take gives an empty buffer for n bytes, of up to four times as many if there is one.
func (s *spare) take(n int) []byte {
	class := max(bits.Len(uint(n))-spareLeast, 0)
	for i := class; i < min(class+2, spareClasses); i++ {
		all := s.data[i]
		for j := len(all) - 1; j >= 0; j-- {
			if b := all[j]; cap(b) >= n && cap(b) <= 4*n {
				s.data[i] = slices.Delete(all, j, j+1)
				s.bytes -= int64(cap(b))
				return b
			}
		}
	}
	return slices.Grow([]byte(nil), n)
}

// giveLeaf takes a leaf that is not in the tree any more.
func (s *spare) giveLeaf(l *leaf, tree int64) {
	s.give(l.data, tree)
	size := int64(leafFixed + cellBytes*cap(l.ents))
	if len(s.leaves) < spareEach && cap(l.ents) == leafCells+1 && s.bytes+size <= min(tree, spareMost) {
		*l = leaf{ents: l.ents[:0]}
		s.leaves = append(s.leaves, l)
		s.bytes += size
	}
}

// takeLeaf gives an empty leaf.
func (s *spare) takeLeaf() *leaf {
	n := len(s.leaves)
	if n == 0 {
		l := newLeaf()
		l.ents = make([]cell, 0, leafCells+1)
		return l
	}
	l := s.leaves[n-1]
	s.leaves = s.leaves[:n-1]
	s.bytes -= int64(leafFixed + cellBytes*cap(l.ents))
	l.heads.h = l.room[:0]
	return l
}

// drop lets go of all.
func (s *spare) drop() { *s = spare{} }
