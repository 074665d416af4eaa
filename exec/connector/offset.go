package connector

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"
)

// Offset is how far a source was read. The zero value is the beginning. It is stored in checkpoints, as JSON.
//
// Parts that were read to their end are many, in a folder to which files come for years: beyond keepParts they are kept in a short form, and
// those of before Floor not at all.
type Offset struct {
	Parts map[string]Position `json:",omitempty"`
	// Rows were decoded so far, Errors not.
	Rows, Errors int64
	// Last is the part that was read last.
	Last string `json:",omitempty"`
	// Old are parts that were read to their end, in the order of their hashes, oldSize bytes each. Its bytes are never changed.
	Old []byte `json:",omitempty"`
	// Floor is the greatest of the extents'.
	Floor int64 `json:",omitempty"`
}

// Position is how far one part was read. See Span.
type Position struct {
	At, Line      int64
	Size, ModTime int64
	Done          bool `json:",omitempty"`
	Cut           bool `json:",omitempty"`
}

// keepParts is how many parts an offset has in full, before those that were read to their end are kept in their short form.
const keepParts = 1024

// State: an old part is the hash of its name 8 | its size, and in the highest bit whether it was cut 8 | its time of modification 8 | its
// lines, at most 2^32-1, 4; little-endian.
const oldSize = 28

const oldCut = 1 << 63

// Part gives how far a part was read; false: it was not, as far as is known. Of an old part At is its size.
func (o *Offset) Part(name string) (Position, bool) {
	if p, ok := o.Parts[name]; ok || len(o.Old) == 0 {
		return p, ok
	}
	h := xxhash.Sum64String(name)
	n := len(o.Old) / oldSize
	i := sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint64(o.Old[i*oldSize:]) >= h })
	if i == n || binary.LittleEndian.Uint64(o.Old[i*oldSize:]) != h {
		return Position{}, false
	}
	b := o.Old[i*oldSize:]
	size := binary.LittleEndian.Uint64(b[8:])
	p := Position{Size: int64(size &^ oldCut), Cut: size&oldCut != 0, Done: true, ModTime: int64(binary.LittleEndian.Uint64(b[16:])), Line: int64(binary.LittleEndian.Uint32(b[24:]))}
	p.At = p.Size
	return p, true
}

// Add moves the offset over an extent that begins where it stands.
func (o *Offset) Add(e *Extent) {
	for i := range e.Spans {
		o.AddSpan(&e.Spans[i])
	}
	o.Rows, o.Errors, o.Floor = o.Rows+e.Rows, o.Errors+e.Errors, max(o.Floor, e.Floor)
}

// AddSpan moves the offset over a span.
func (o *Offset) AddSpan(s *Span) {
	if o.Parts == nil {
		o.Parts = map[string]Position{}
	}
	o.Parts[s.Part] = Position{At: s.To, Line: s.ToLine, Size: s.Size, ModTime: s.ModTime, Done: s.Done, Cut: s.Cut}
	o.Last = s.Part
	if len(o.Parts) > keepParts {
		o.shorten()
	}
}

// shorten brings the parts that were read to their end, but for the last, into their short form, and forgets those of before Floor.
func (o *Offset) shorten() {
	type old struct {
		hash uint64
		rec  [oldSize]byte
	}
	var add []old
	for name, p := range o.Parts {
		if !p.Done || name == o.Last {
			continue
		}
		delete(o.Parts, name)
		x := old{hash: xxhash.Sum64String(name)}
		size := uint64(p.Size)
		if p.Cut {
			size |= oldCut
		}
		binary.LittleEndian.PutUint64(x.rec[:], x.hash)
		binary.LittleEndian.PutUint64(x.rec[8:], size)
		binary.LittleEndian.PutUint64(x.rec[16:], uint64(p.ModTime))
		binary.LittleEndian.PutUint32(x.rec[24:], uint32(min(p.Line, math.MaxUint32)))
		add = append(add, x)
	}
	slices.SortFunc(add, func(a, b old) int {
		if a.hash < b.hash {
			return -1
		}
		return 1
	})
	out := make([]byte, 0, len(o.Old)+len(add)*oldSize)
	put := func(rec []byte) {
		if int64(binary.LittleEndian.Uint64(rec[16:])) >= o.Floor {
			out = append(out, rec...)
		}
	}
	rest := o.Old
	for i := range add {
		for len(rest) > 0 && binary.LittleEndian.Uint64(rest) < add[i].hash {
			put(rest[:oldSize])
			rest = rest[oldSize:]
		}
		if len(rest) > 0 && binary.LittleEndian.Uint64(rest) == add[i].hash {
			rest = rest[oldSize:] // it has grown since
		}
		put(add[i].rec[:])
	}
	for ; len(rest) > 0; rest = rest[oldSize:] {
		put(rest[:oldSize])
	}
	o.Old = out
}

// Clone copies the offset.
func (o *Offset) Clone() *Offset {
	c := *o
	c.Parts = maps.Clone(o.Parts)
	return &c
}
