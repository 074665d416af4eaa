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
	windows map[int]map[int64]int64 // entries by window, as recorded less as seen
	seen    map[int]int64           // entries by table
}

// MetaRange gives the range of the keys, relative to the space, that describe its tables.
func MetaRange() (lo, hi []byte) { return []byte{spaceMeta}, []byte{spaceMeta + 1} }

// NewChecker makes a checker.
func NewChecker() *Checker {
	return &Checker{map[int]storedDecl{}, map[int]int64{}, map[int]map[int64]int64{}, map[int]int64{}}
}

// Declare takes a key that describes a table or a window.
func (c *Checker) Declare(k, v []byte) error {
	if len(k) != 3 && len(k) != 11 {
		return fmt.Errorf("key %x is malformed", k)
	}
	ord := int(binary.BigEndian.Uint16(k[1:]))
	if len(k) == 3 {
		n, d, err := parseDecl(v)
		if err != nil {
			return fmt.Errorf("declaration of table %d: %w", ord, err)
		}
		c.decls[ord], c.want[ord] = d, n
		return nil
	}
	_, count, ok := parseWindow(v)
	if !ok {
		return fmt.Errorf("record of a window of table %d is malformed", ord)
	}
	if c.windows[ord] == nil {
		c.windows[ord] = map[int64]int64{}
	}
	c.windows[ord][windowEnd(k)] = count
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
	case KindWindows:
		if len(rest) < 8 {
			return fmt.Errorf("key %x lacks a window", k)
		}
		end := windowEnd(k)
		if _, ok := c.windows[ord][end]; !ok {
			return fmt.Errorf("key %x is of a window that is not open", k)
		}
		c.windows[ord][end]--
		rest = rest[8:]
	}
	if len(rest) < hashKeyBytes || d.IntKey && len(rest) != hashKeyBytes+8 {
		return fmt.Errorf("key %x is malformed", k)
	}
	tag := uint32(HashBytes(rest[hashKeyBytes:]) >> 32)
	if d.IntKey {
		tag = tagInt(int64(binary.BigEndian.Uint64(rest[hashKeyBytes:]) ^ 1<<63))
	}
	if binary.BigEndian.Uint16(rest) != uint16(tag>>16) {
		return fmt.Errorf("key %x does not lie where its hash says", k)
	}
	if _, err := decodeWords(make([]int64, d.Words), v); err != nil {
		return fmt.Errorf("key %x: %w", k, err)
	}
	return nil
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
				out = append(out, fmt.Sprintf("table %d, %q: window %d lacks %d entries", ord, d.Name, end, n))
			}
		}
	}
	return out
}
