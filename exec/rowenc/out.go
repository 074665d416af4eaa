package rowenc

import (
	"bytes"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Out collects output rows and emits them in batches of about batch.Target. It belongs to one operator and is empty
// between calls of the operator.
type Out struct {
	B       *batch.Batch // the rows so far; append values to every column, then call End
	weights []int64      // memory for B's
}

// NewOut makes one for output columns of the given types.
func NewOut(ts []types.Type) *Out {
	o := &Out{B: batch.New(ts, batch.Target)}
	o.B.Swaps = true
	return o
}

// End finishes a row whose values were appended to B's columns and emits a full batch.
func (o *Out) End(w int64, emit dataflow.Emit) error {
	if w != 1 && o.B.Weights == nil {
		if o.weights == nil {
			o.weights = make([]int64, 0, batch.Target)
		}
		o.B.Weights = o.weights[:0]
		for range o.B.N {
			o.B.Weights = append(o.B.Weights, 1)
		}
	}
	o.B.EndRow(w)
	if o.B.N < batch.Target {
		return nil
	}
	return o.Flush(emit)
}

// Row appends an encoded row with a weight.
func (o *Out) Row(row []byte, w int64, emit dataflow.Emit) error {
	ReadRow(row, o.B.Cols)
	return o.End(w, emit)
}

// Copy appends row i of src, which has the output's columns, with a weight.
func (o *Out) Copy(src *batch.Batch, i int, w int64, emit dataflow.Emit) error {
	for c, v := range o.B.Cols {
		v.AppendFrom(src.Cols[c], i)
	}
	return o.End(w, emit)
}

// Flush emits what there is.
func (o *Out) Flush(emit dataflow.Emit) error {
	if o.B.N == 0 {
		return nil
	}
	weighted := o.B.Weights != nil
	err := emit(o.B)
	if weighted {
		o.weights = o.B.Weights // others, if the batch was exchanged
	}
	o.B.Reset()
	return err
}

// Changes is a log of weighted keys that nets them: after any number of Add, Each gives every key whose weights do not
// sum to zero, in ascending order.
type Changes struct {
	arena []byte
	ents  []change
}

type change struct {
	off, n int
	w      int64
}

// Add adds w to the weight of key, which is copied.
func (c *Changes) Add(key []byte, w int64) {
	c.ents = append(c.ents, change{len(c.arena), len(key), w})
	c.arena = append(c.arena, key...)
}

// Len is the number of additions.
func (c *Changes) Len() int { return len(c.ents) }

func (c *Changes) key(e change) []byte { return c.arena[e.off : e.off+e.n : e.off+e.n] }

// Each nets the log and calls f for each key with a weight that is not zero, ascending. Keys alias the log and are valid until Reset.
// With zero, keys that net to zero are given too.
func (c *Changes) Each(zero bool, f func(key []byte, w int64) error) error {
	slices.SortFunc(c.ents, func(a, b change) int { return bytes.Compare(c.key(a), c.key(b)) })
	for i := 0; i < len(c.ents); {
		k, w, j := c.key(c.ents[i]), int64(0), i
		for ; j < len(c.ents) && bytes.Equal(c.key(c.ents[j]), k); j++ {
			w += c.ents[j].w
		}
		i = j
		if w == 0 && !zero {
			continue
		}
		if err := f(k, w); err != nil {
			return err
		}
	}
	return nil
}

// Reset empties the log and keeps its memory unless it is large.
func (c *Changes) Reset() {
	if cap(c.arena) > 1<<24 {
		*c = Changes{}
		return
	}
	c.arena, c.ents = c.arena[:0], c.ents[:0]
}
