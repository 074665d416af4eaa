package batch

import "github.com/tidemarkdb/tidemark/sql/types"

// Target is the number of rows that operators aim for in one batch.
const Target = 2048

// Batch is a set of row changes by column: row i was inserted Weights[i]
// times (negative: removed). All columns have length N. Invariants: no weight
// is zero; nil Weights means +1 for every row.
//
// A batch that is handed to someone is read-only from then on, for both
// sides, and valid until the callee returns unless its contract says longer.
type Batch struct {
	N       int
	Cols    []*Vector
	Weights []int64
	// Gift, if not nil, offers the memory of columns and weights: see there.
	Gift *Gift
	// Swaps says that whoever is handed this very batch may have its memory for other memory: see Exchange.
	Swaps bool
	// Hashes, if not nil, has for each row the hash (table.HashBytes) of the key that the reader of the batch has, a dataflow.HashTaker: one text without NULLs. It
	// is valid as long as the columns. Whoever passes the rows on to others leaves it out.
	Hashes []uint64
}

// Gift goes with a batch whose memory its maker can do without. Who is handed the batch may keep the values of columns and the weights, not the batch or its
// vectors themselves, by calling Keep before it returns; it still may not change them. Otherwise the maker uses the memory again.
type Gift struct {
	Taken bool
	// Cut says that the memory behind the values is not part of the gift: other batches lie there. Else it stays with whoever keeps the values, who counts it.
	Cut bool
}

// Keep gives a batch with the rows of b that lasts: b's own memory if that is a gift, else a copy. It is read-only.
func (b *Batch) Keep() *Batch {
	if b.Gift == nil {
		c := New(b.Types(), b.N)
		c.AppendBatch(b, nil)
		return c
	}
	return b.KeepPart(0, b.N)
}

// KeepPart is Keep for rows [lo, hi) of a batch that is a gift. Of bytes it keeps those of all rows.
func (b *Batch) KeepPart(lo, hi int) *Batch {
	b.Gift.Taken = true
	s := b.Slice(lo, hi)
	if hi == b.N && !b.Gift.Cut {
		for i, c := range s.Cols {
			c.extend(b.Cols[i])
		}
	}
	return s
}

// Exchange gives the rows of from, whose maker has set Swaps, to b, which is empty and has columns of the same types, and the memory of b to from, which is empty then.
// It may be called while from is handed to the caller; from's maker must be done with the rows.
func (b *Batch) Exchange(from *Batch) {
	for i, c := range from.Cols {
		*b.Cols[i], *c = *c, *b.Cols[i]
	}
	b.N, from.N = from.N, 0
	b.Weights, from.Weights = from.Weights, b.Weights[:0]
}

// New makes an empty batch with columns of the given types.
func New(ts []types.Type, capacity int) *Batch {
	b := shell(len(ts))
	for i, t := range ts {
		b.Cols[i].init(t, capacity)
	}
	return b
}

// shell makes a batch with n columns that are nothing yet. Of few columns it is one object: batches are many.
func shell(n int) *Batch {
	switch {
	case n <= 2:
		x := &struct {
			b    Batch
			cols [2]*Vector
			vecs [2]Vector
		}{}
		return x.b.assemble(x.cols[:n:n], x.vecs[:n])
	case n <= 4:
		x := &struct {
			b    Batch
			cols [4]*Vector
			vecs [4]Vector
		}{}
		return x.b.assemble(x.cols[:n:n], x.vecs[:n])
	case n <= 8:
		x := &struct {
			b    Batch
			cols [8]*Vector
			vecs [8]Vector
		}{}
		return x.b.assemble(x.cols[:n:n], x.vecs[:n])
	}
	return new(Batch).assemble(make([]*Vector, n), make([]Vector, n))
}

// assemble gives b the columns vecs.
func (b *Batch) assemble(cols []*Vector, vecs []Vector) *Batch {
	for i := range vecs {
		cols[i] = &vecs[i]
	}
	b.Cols = cols
	return b
}

// Weight gives the weight of row i.
func (b *Batch) Weight(i int) int64 {
	if b.Weights == nil {
		return 1
	}
	return b.Weights[i]
}

// Types lists the column types.
func (b *Batch) Types() []types.Type {
	ts := make([]types.Type, len(b.Cols))
	for i, c := range b.Cols {
		ts[i] = c.Type
	}
	return ts
}

// AppendRow appends row i of src with weight w.
func (b *Batch) AppendRow(src *Batch, i int, w int64) {
	for c, v := range b.Cols {
		v.AppendFrom(src.Cols[c], i)
	}
	b.EndRow(w)
}

// EndRow finishes a row whose values were appended to every column.
func (b *Batch) EndRow(w int64) {
	if w != 1 && b.Weights == nil {
		b.Weights = make([]int64, b.N, 2*b.N+8)
		for i := range b.Weights {
			b.Weights[i] = 1
		}
	}
	if b.Weights != nil {
		b.Weights = append(b.Weights, w)
	}
	b.N++
}

// AppendBatch appends the selected rows of src (nil: all), weights included.
func (b *Batch) AppendBatch(src *Batch, sel []int32) {
	n := src.N
	if sel != nil {
		n = len(sel)
	}
	if src.Weights != nil || b.Weights != nil {
		if b.Weights == nil {
			b.Weights = make([]int64, b.N, b.N+n)
			for i := range b.Weights {
				b.Weights[i] = 1
			}
		}
		for k := 0; k < n; k++ {
			i := k
			if sel != nil {
				i = int(sel[k])
			}
			b.Weights = append(b.Weights, src.Weight(i))
		}
	}
	if sel == nil {
		for c, v := range b.Cols {
			v.AppendVector(src.Cols[c], nil)
		}
	} else {
		b.gather(src, sel)
	}
	b.N += n
}

// Slice gives rows [lo, hi), sharing memory.
func (b *Batch) Slice(lo, hi int) *Batch {
	s := shell(len(b.Cols))
	b.SliceTo(s, lo, hi)
	return s
}

// SliceTo makes s the rows [lo, hi), sharing memory, as Slice does, with s's own memory for what is not shared: s was made by SliceTo or is empty.
func (b *Batch) SliceTo(s *Batch, lo, hi int) {
	if len(s.Cols) != len(b.Cols) {
		s.assemble(make([]*Vector, len(b.Cols)), make([]Vector, len(b.Cols)))
	}
	for i, c := range b.Cols {
		*s.Cols[i] = c.View(lo, hi)
	}
	s.N, s.Weights = hi-lo, nil
	if b.Weights != nil {
		s.Weights = b.Weights[lo:hi:hi]
	}
}

// Select gives a new batch of the selected rows.
func (b *Batch) Select(sel []int32) *Batch {
	s := New(b.Types(), len(sel))
	s.AppendBatch(b, sel)
	return s
}

// Project gives a batch of the named columns, sharing memory.
func (b *Batch) Project(cols []int) *Batch {
	s := &Batch{N: b.N, Weights: b.Weights, Cols: make([]*Vector, len(cols)), Gift: b.Gift}
	for i, c := range cols {
		s.Cols[i] = b.Cols[c]
	}
	return s
}

// Negate gives the batch with every weight negated, sharing columns.
func (b *Batch) Negate() *Batch {
	s := &Batch{N: b.N, Cols: b.Cols, Weights: make([]int64, b.N)}
	for i := range s.Weights {
		s.Weights[i] = -b.Weight(i)
	}
	return s
}

// Reset empties the batch and keeps its memory; it must own its vectors.
func (b *Batch) Reset() {
	for _, c := range b.Cols {
		c.Reset(c.Type)
	}
	b.N, b.Weights = 0, nil
}

// InsertOnly says whether no weight is negative.
func (b *Batch) InsertOnly() bool {
	for _, w := range b.Weights {
		if w < 0 {
			return false
		}
	}
	return true
}

// MemBytes gives the bytes of memory that the batch occupies.
func (b *Batch) MemBytes() int {
	n := 8 * cap(b.Weights)
	for _, c := range b.Cols {
		n += c.MemBytes()
	}
	return n
}
