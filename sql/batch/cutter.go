package batch

import "github.com/tidemarkdb/tidemark/sql/types"

// cutRows is how many rows a Cutter makes memory for at most, if no batch needs more.
const cutRows = 16 * Target

// Cutter makes batches of the same columns one after the other, for a maker whose batches are mostly kept by whoever gets them: their memory is allocated for
// several at once, and each begins where the one before ended. It belongs to one goroutine; those who keep batches need know nothing of it.
type Cutter struct {
	types []types.Type
	b     *Batch    // the batch at hand
	kept  bool      // the last batch was kept
	each  []float64 // bytes of a row, by column: of the batch that was kept last
}

// NewCutter gives a Cutter of batches with columns of the given types.
func NewCutter(ts []types.Type) *Cutter {
	return &Cutter{types: ts, each: make([]float64, len(ts))}
}

// Next gives an empty batch with room for n rows; memory of a batch that was not kept is used again. soon is how many rows are expected, in this batch and those that
// follow, for which memory is made at once if batches are kept. Column except, -1 for none, needs no room. The batch may be changed until it is kept, or the next one is made.
func (c *Cutter) Next(n, soon, except int) *Batch {
	if c.b == nil {
		c.b = shell(len(c.types))
	}
	c.b.N, c.b.Weights, c.b.Gift = 0, nil, nil
	rows := n
	if c.kept {
		rows = max(n, min(soon, cutRows))
	}
	for i, v := range c.b.Cols {
		switch {
		case i == except:
			*v = Vector{Type: c.types[i]}
		case v.room() < n:
			*v = Vector{}
			room := rows
			if c.types[i].Layout() == types.LayoutBytes {
				room += rows / max(n, 1) // each batch begins with an offset of its own
			}
			v.init(c.types[i], room)
			if c.each[i] > 0 {
				v.Data = make([]byte, 0, int(c.each[i]*1.05*float64(rows))+64)
			}
		default:
			v.Reset(c.types[i])
		}
	}
	return c.b
}

// Kept says that the batch that Next gave last, or a batch with its columns, was kept: what comes has other memory.
func (c *Cutter) Kept() {
	c.kept = true
	if c.b.N == 0 {
		return
	}
	for i, v := range c.b.Cols {
		if v.N == c.b.N { // else it is not the column that was kept
			c.each[i] = float64(len(v.Data)) / float64(v.N)
			v.cut()
		}
	}
}

// Unkept says that nobody kept the batch that Next gave last.
func (c *Cutter) Unkept() { c.kept = false }

// Drop lets go of the memory that no batch has.
func (c *Cutter) Drop() { c.b = nil }

// MemBytes gives the memory that no batch has yet, with that of the batch at hand.
func (c *Cutter) MemBytes() int {
	if c.b == nil {
		return 0
	}
	return c.b.MemBytes()
}

// room gives how many values the vector's memory has room for, but for bytes.
func (v *Vector) room() int {
	switch v.Type.Layout() {
	case types.LayoutI64:
		return cap(v.I64)
	case types.LayoutF64:
		return cap(v.F64)
	case types.LayoutPair:
		return min(cap(v.I64), cap(v.J64))
	}
	return cap(v.Off) - 1
}

// cut makes the vector empty, with the memory behind its values.
func (v *Vector) cut() {
	v.N, v.Valid = 0, nil
	v.I64, v.J64, v.F64, v.Data = v.I64[len(v.I64):], v.J64[len(v.J64):], v.F64[len(v.F64):], v.Data[len(v.Data):]
	if off := v.Off[len(v.Off):]; cap(off) > 0 {
		v.Off = append(off, 0)
	} else {
		v.Off = nil
	}
}
