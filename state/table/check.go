package table

import (
	"encoding/binary"
	"fmt"
)

// Checker verifies one space as it is on disk: first Declare is called with
// the keys of MetaRange, then Add with all others, then Problems.
type Checker struct {
	decls   map[int]storedDecl
	want    map[int]int64           // entries by table, as recorded
	windows map[int]map[int64]int64 // entries by window or stretch, as recorded less as seen
	bits    map[int]map[int64]int   // by window or stretch
	buckets map[int]uint            // bits of the buckets of Hash tables
	seen    map[int]int64           // entries by table
	merger  BlockMerger
}

// MetaRange gives the range of the keys, relative to the space, that describe its tables.
func MetaRange() (lo, hi []byte) { return []byte{spaceMeta}, []byte{spaceMeta + 1} }

// NewChecker makes a checker.
func NewChecker() *Checker {
	return &Checker{decls: map[int]storedDecl{}, want: map[int]int64{}, windows: map[int]map[int64]int64{}, bits: map[int]map[int64]int{}, buckets: map[int]uint{}, seen: map[int]int64{}}
}

// Declare takes a key that describes a table or a window.
func (c *Checker) Declare(k, v []byte) error {
	if len(k) != 3 && len(k) != 11 {
		return fmt.Errorf("key %x is malformed", k)
	}
	ord := int(binary.BigEndian.Uint16(k[1:]))
	if len(k) == 3 {
		n, bits, d, err := parseDecl(v)
		if err != nil {
			return fmt.Errorf("declaration of table %d: %w", ord, err)
		}
		c.decls[ord], c.want[ord], c.buckets[ord] = d, n, bits
		return nil
	}
	if kind := c.decls[ord].Kind; kind == string(KindStretches) || kind == string(KindExpiring) {
		return c.declareStretch(ord, k, v)
	}
	_, count, bits, ok := parseWindow(v)
	if !ok {
		return fmt.Errorf("record of a window of table %d is malformed", ord)
	}
	if c.windows[ord] == nil {
		c.windows[ord], c.bits[ord] = map[int64]int64{}, map[int64]int{}
	}
	c.windows[ord][windowEnd(k)], c.bits[ord][windowEnd(k)] = count, int(bits)
	return nil
}

// Add takes an entry and says what is wrong with it by itself.
func (c *Checker) Add(k, v []byte) error {
	if len(k) < 3 || k[0] != spaceData {
		return fmt.Errorf("key %x is of no known kind", k)
	}
	ord := int(binary.BigEndian.Uint16(k[1:]))
	d, ok := c.decls[ord]
	if !ok {
		return fmt.Errorf("key %x is of a table that is not declared", k)
	}
	c.seen[ord]++
	rest := k[3:]
	switch Kind(d.Kind[0]) {
	case KindOrdered:
		return nil
	case KindStretches, KindExpiring:
		return c.addChunk(ord, d, k, v)
	case KindWindows:
		if len(rest) < 8 {
			return fmt.Errorf("key %x lacks a window", k)
		}
		end := windowEnd(k)
		if _, ok := c.windows[ord][end]; !ok {
			return fmt.Errorf("key %x is of a window that is not open", k)
		}
		n, err := c.addBlock(d, rest[8:], v, uint(c.bits[ord][end]))
		c.windows[ord][end] -= n
		c.seen[ord] += n - 1
		return err
	}
	n, err := c.addBlock(d, rest, v, c.buckets[ord])
	c.seen[ord] += n - 1
	return err
}

// addBlock takes the blocks of a bucket, and gives the number of its entries.
func (c *Checker) addBlock(d storedDecl, at, val []byte, bits uint) (n int64, err error) {
	block, err := c.merger.one(val, true)
	if err != nil {
		return 0, fmt.Errorf("block %x: %w", at, err)
	}
	var r blockReader
	if r.open(block); len(at) != bucketKeyBytes || r.err != nil || r.ints != d.IntKey {
		return 0, fmt.Errorf("block %x: %w", at, errBlock)
	}
	bucket := uint32(at[0])<<16 | uint32(at[1])<<8 | uint32(at[2])
	words, rare := make([]int64, d.Words-d.Rare), make([]int64, d.Rare)
	var last blockReader
	for ; r.next(); n++ {
		if n > 0 && last.compare(&r) >= 0 {
			return n, fmt.Errorf("block %x: keys are not in order", at)
		}
		last.ints, last.num, last.key = r.ints, r.num, append(last.key[:0], r.key...)
		tag := uint32(HashBytes(r.key) >> 32)
		if d.IntKey {
			tag = tagInt(numbered(r.num))
		}
		if bucketOf(tag, bits)<<(maxBuckets-bits) != bucket {
			return n, fmt.Errorf("block %x: an entry does not lie where its hash says", at)
		}
		if _, err := decodeWords(words, rare, r.val); err != nil {
			return n, fmt.Errorf("block %x: %w", at, err)
		}
	}
	if r.err != nil {
		err = fmt.Errorf("block %x: %w", at, r.err)
	}
	return n, err
}

// declareStretch takes the record of a stretch.
func (c *Checker) declareStretch(ord int, k, v []byte) error {
	var x stretch
	if !x.parse(v) {
		return fmt.Errorf("record of a stretch of table %d is malformed", ord)
	}
	if c.windows[ord] == nil {
		c.windows[ord], c.bits[ord] = map[int64]int64{}, map[int64]int{}
	}
	c.windows[ord][windowEnd(k)], c.bits[ord][windowEnd(k)] = x.rows, x.bits
	if c.decls[ord].Kind == string(KindExpiring) {
		c.seen[ord] += x.live
	}
	return nil
}

// addChunk takes rows or marks of a stretch.
func (c *Checker) addChunk(ord int, d storedDecl, k, v []byte) error {
	c.seen[ord]-- // rows are counted, not keys
	if len(k) < 12 {
		return fmt.Errorf("key %x lacks a stretch", k)
	}
	x := stretch{start: windowEnd(k)}
	if _, ok := c.windows[ord][x.start]; !ok {
		return fmt.Errorf("key %x is of a stretch that is not there", k)
	}
	x.bits = c.bits[ord][x.start]
	switch rest := k[12:]; {
	case k[11] == pageKind && len(rest) == 4 && len(v) == 8*pageWords:
		return nil
	case k[11] != chunkKind || len(rest) != 6:
		return fmt.Errorf("key %x is malformed", k)
	}
	bucket, err := binary.BigEndian.Uint16(k[12:]), error(nil)
	if e := readChunk(x.start, binary.BigEndian.Uint32(k[14:]), v, func(r diskRow) bool {
		if Kind(d.Kind[0]) == KindStretches {
			c.seen[ord]++
		}
		c.windows[ord][x.start]--
		if d.IntKey && len(r.key) != 8 {
			err = fmt.Errorf("key %x: a row has a key that is not of an integer", k)
		} else if x.bucket(uint32(HashBytes(r.key)>>32)) != bucket || r.time-x.start < 0 || r.time-x.start >= d.Width {
			err = fmt.Errorf("key %x: a row does not lie where its key and time say", k)
		}
		return err == nil
	}); e != nil {
		return fmt.Errorf("key %x: %w", k, e)
	}
	return err
}

// Problems says what does not fit together.
func (c *Checker) Problems() []string {
	var out []string
	for ord, d := range c.decls {
		if c.seen[ord] != c.want[ord] {
			out = append(out, fmt.Sprintf("table %d, %q, has %d entries instead of %d", ord, d.Name, c.seen[ord], c.want[ord]))
		}
		for end, n := range c.windows[ord] {
			if n != 0 {
				out = append(out, fmt.Sprintf("table %d, %q: window or stretch %d lacks %d entries", ord, d.Name, end, n))
			}
		}
	}
	return out
}
