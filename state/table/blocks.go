package table

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Entries of a Hash lie on disk in blocks (State: on disk): those of a bucket, which is a range of hashes, are the value of one key. What a checkpoint
// changes of a bucket it merges with that. So a checkpoint writes far fewer keys than entries, and those of a bucket come together when the
// store compacts its files.
//
// A value is blocks, the newest first, each behind its length, a uvarint: to merge two is to append one to the other, until the newer blocks are half as
// large as the last one, or many. Then one is made of all. A block has entries in the order of their keys; of two with the same key, that in
// the newer block counts.
//
//	kind 1, plus 0x80 if some keys are gone | entries
//	entry of kind 1: uvarint of the key, zigzag, less that of the entry before | value
//	entry of kind 2: uvarint bytes that the key has in common with the one before | uvarint length of the rest of the key, rest | value
//	value:           uvarint 0: the key is gone, or its length plus 1, bytes
const (
	intBlock   byte = 1
	bytesBlock byte = 2
	blockHides byte = 0x80

	mostBlocks = 8 // of a value
)

var errBlock = errors.New("block of state entries is malformed")

// number gives the order of int keys in blocks: those near zero are small.
func number(key int64) uint64 { return uint64(key)<<1 ^ uint64(key>>63) }

// numbered is the inverse of number.
func numbered(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

// blockReader goes through the entries of a block.
type blockReader struct {
	rest []byte
	ints bool
	num  uint64 // the key of an int block
	key  []byte // that of another, valid until next
	val  []byte // aliases the block
	gone bool
	err  error
}

// open begins with a block.
func (r *blockReader) open(block []byte) {
	r.num, r.key, r.err = 0, r.key[:0], nil
	if len(block) == 0 || block[0]&^blockHides != intBlock && block[0]&^blockHides != bytesBlock {
		r.rest, r.err = nil, errBlock
		return
	}
	r.ints, r.rest = block[0]&^blockHides == intBlock, block[1:]
}

// next reads an entry; false at the end, or if r.err is set.
func (r *blockReader) next() bool {
	b := r.rest
	if len(b) == 0 {
		return false
	}
	x, n := binary.Uvarint(b)
	if n <= 0 {
		return r.fail()
	}
	b = b[n:]
	if r.ints {
		r.num += x
	} else {
		l, n := binary.Uvarint(b)
		if n <= 0 || x > uint64(len(r.key)) || l > uint64(len(b)-n) {
			return r.fail()
		}
		r.key, b = append(r.key[:x], b[n:n+int(l)]...), b[n+int(l):]
	}
	x, n = binary.Uvarint(b)
	if n <= 0 || x > uint64(len(b)-n)+1 {
		return r.fail()
	}
	b = b[n:]
	if r.gone = x == 0; r.gone {
		r.val, r.rest = nil, b
		return true
	}
	r.val, r.rest = b[:x-1:x-1], b[x-1:]
	return true
}

func (r *blockReader) fail() bool {
	r.rest, r.err = nil, errBlock
	return false
}

// compare orders the entries at which two readers of one kind of block are.
func (r *blockReader) compare(o *blockReader) int {
	switch {
	case !r.ints:
		return bytes.Compare(r.key, o.key)
	case r.num < o.num:
		return -1
	case r.num > o.num:
		return 1
	}
	return 0
}

// blockWriter makes a block of entries that come in the order of their keys.
type blockWriter struct {
	b     []byte
	start int // of the block in b
	num   uint64
	key   []byte
}

// begin begins a block behind what is in dst.
func (w *blockWriter) begin(dst []byte, kind byte) {
	w.start, w.b = len(dst), append(dst, kind)
	w.num, w.key = 0, w.key[:0]
}

// addInt appends an entry of an int block.
func (w *blockWriter) addInt(num uint64, val []byte, gone bool) {
	w.b = binary.AppendUvarint(w.b, num-w.num)
	w.num = num
	w.value(val, gone)
}

// addBytes appends an entry of another block.
func (w *blockWriter) addBytes(key, val []byte, gone bool) {
	n := 0
	for most := min(len(key), len(w.key)); n < most && key[n] == w.key[n]; n++ {
	}
	w.b = binary.AppendUvarint(w.b, uint64(n))
	w.b = append(binary.AppendUvarint(w.b, uint64(len(key)-n)), key[n:]...)
	w.key = append(w.key[:n], key[n:]...)
	w.value(val, gone)
}

func (w *blockWriter) value(val []byte, gone bool) {
	if gone {
		w.b[w.start] |= blockHides
		w.b = append(w.b, 0)
		return
	}
	w.b = append(binary.AppendUvarint(w.b, uint64(len(val))+1), val...)
}

// copy appends the entry at which r is.
func (w *blockWriter) copy(r *blockReader) {
	if r.ints {
		w.addInt(r.num, r.val, r.gone)
	} else {
		w.addBytes(r.key, r.val, r.gone)
	}
}

// nextBlock gives the first block of a value, and what follows; nil if it is malformed.
func nextBlock(val []byte) (block, rest []byte) {
	l, n := binary.Uvarint(val)
	if n <= 0 || l == 0 || l > uint64(len(val)-n) {
		return nil, nil
	}
	return val[n : n+int(l)], val[n+int(l):]
}

func appendBlock(dst, block []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(block))), block...)
}

// BlockMerger merges the values of keys of a space that a Change with Merge wrote: the blocks of entries. The zero value is ready for use, by one
// goroutine at a time.
type BlockMerger struct {
	older, newer blockReader
	w            blockWriter
	acc          []byte
}

// Merge appends to dst what older and newer are together. Either may be empty. whole says that nothing is below older. It fails for what are
// no such values.
func (m *BlockMerger) Merge(dst, older, newer []byte, whole bool) ([]byte, error) {
	return m.Settle(append(append(make([]byte, 0, len(older)+len(newer)), newer...), older...), dst, whole)
}

// Settle gives val, which is values one after the other, the newest first, or the value appended to dst that they are together, if they are too many to
// be left so. whole is as for Merge.
func (m *BlockMerger) Settle(val, dst []byte, whole bool) ([]byte, error) {
	blocks, size, last, hides := 0, 0, 0, false
	for rest := val; len(rest) > 0; blocks++ {
		var b []byte
		if b, rest = nextBlock(rest); b == nil {
			return nil, errBlock
		}
		size, last, hides = size+len(b), len(b), b[0]&blockHides != 0
	}
	if blocks == 1 && !(whole && hides) || blocks > 1 && blocks <= mostBlocks && 2*(size-last) <= last {
		return val, nil
	}
	b, err := m.one(val, whole)
	if err != nil {
		return nil, err
	}
	return appendBlock(dst, b), nil
}

// one makes one block of a value, valid until the next call. whole says that what it takes away is to be left out.
func (m *BlockMerger) one(val []byte, whole bool) ([]byte, error) {
	acc, rest := nextBlock(val)
	if acc == nil {
		return nil, errBlock
	}
	if len(rest) == 0 && whole && acc[0]&blockHides != 0 {
		return m.two([]byte{acc[0] &^ blockHides}, acc, true)
	}
	for len(rest) > 0 {
		var b []byte
		if b, rest = nextBlock(rest); b == nil {
			return nil, errBlock
		}
		var err error
		if acc, err = m.two(b, acc, whole && len(rest) == 0); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

// two makes one block of two, which is valid until the next but one call.
func (m *BlockMerger) two(older, newer []byte, whole bool) ([]byte, error) {
	o, n := &m.older, &m.newer
	o.open(older)
	n.open(newer)
	if err := errors.Join(o.err, n.err); err != nil {
		return nil, err
	}
	if o.ints != n.ints {
		return nil, errBlock
	}
	m.w.b, m.acc = m.acc, m.w.b
	m.w.begin(m.w.b[:0], newer[0]&^blockHides)
	put := func(r *blockReader) {
		if !whole || !r.gone {
			m.w.copy(r)
		}
	}
	hasOld, hasNew := o.next(), n.next()
	for hasOld && hasNew {
		c := n.compare(o)
		if c <= 0 {
			put(n)
			hasNew = n.next()
		} else {
			put(o)
		}
		if c >= 0 {
			hasOld = o.next()
		}
	}
	for ; hasOld; hasOld = o.next() {
		put(o)
	}
	for ; hasNew; hasNew = n.next() {
		put(n)
	}
	return m.w.b, errors.Join(o.err, n.err)
}
