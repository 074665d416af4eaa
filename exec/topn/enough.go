package topn

import (
	"bytes"
	"math"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
)

// enough tells when no more rows need come of those that come in order, see plan.TopN.Presorted.
type enough struct {
	most int64 // so many rows are kept, or passed over as OFFSET has it
	ties bool  // and of rows like the last of them those that sort first by what else they have
	seen int64 // rows that came
	edge []byte
	past bool // a row came that sorts behind edge, the sort key of the last row that is kept
	last []byte
}

func newEnough(n *plan.TopN) enough {
	switch {
	case n.Limit < 0:
		return enough{most: math.MaxInt64}
	case n.Limit == 0:
		return enough{}
	}
	return enough{most: rowenc.AddSat(n.Offset, n.Limit), ties: n.Ties}
}

// took notes n rows, of which sel (nil: all) are used; vecs are their columns of the order.
func (e *enough) took(n int, sel []int32, order *rowenc.SortKeys, vecs []*batch.Vector) {
	if sel != nil {
		n = len(sel)
	}
	before := e.seen
	e.seen += int64(n)
	if !e.ties || n == 0 || e.seen < e.most {
		return
	}
	at := func(i int) int {
		if sel != nil {
			return int(sel[i])
		}
		return i
	}
	if before < e.most {
		e.edge = order.Append(e.edge[:0], vecs, at(int(e.most-before)-1))
	}
	e.last = order.Append(e.last[:0], vecs, at(n-1))
	e.past = !bytes.Equal(e.edge, e.last)
}

// Enough says that rows which come behind those that came are not among those that are kept. It is for a SELECT, where none goes away.
func (e *enough) Enough() bool {
	return e.seen >= e.most && (!e.ties || e.past)
}
