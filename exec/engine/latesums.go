package engine

import (
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/batch"
)

// lateSums sums up what the operators of a view say of late rows in an epoch. An operator beneath may let a row come and take it away again, as an
// outer join does whose left rows are taken in before the right ones: what is late then is what is left of it, and how the inputs were taken
// in turn does not show.
type lateSums struct {
	at  map[string]int // where the epoch's late rows stand that may be taken back, by operator, port, time and row
	key []byte
	// counted is what operators have counted as late, by weight, less what was recorded of it, by operator; a total.
	counted map[int]int64
}

// again adds row i of b to the one that stands for it in late, and says false if there is none: it is the next that is added then.
func (s *lateSums) again(late *batch.Batch, ep *dataflow.Epoch, b *batch.Batch, i int, eventTime, windowEnd int64) bool {
	w := b.Weight(i)
	if s.counted == nil {
		s.counted = map[int]int64{}
	}
	s.counted[ep.Operator] += max(w, -w)
	k := binary.AppendVarint(s.key[:0], int64(ep.Operator))
	k = binary.AppendVarint(k, int64(ep.Port))
	k = binary.AppendVarint(k, eventTime)
	k = binary.AppendVarint(k, windowEnd)
	s.key = rowenc.AppendRow(k, b.Cols, i)
	at, have := s.at[string(s.key)]
	if !have {
		if s.at == nil {
			s.at = map[string]int{}
		}
		s.at[string(s.key)] = late.N
		return false
	}
	if late.Weights == nil {
		late.Weights = make([]int64, late.N)
		for r := range late.Weights {
			late.Weights[r] = 1
		}
	}
	late.Weights[at] += w
	return true
}

// settle gives the rows to record, nil for none. One that was taken away is recorded too: that was kept out just as well.
func (s *lateSums) settle(late *batch.Batch) *batch.Batch {
	for _, r := range s.at {
		w := late.Weight(r)
		s.counted[int(late.Cols[0].I64[r])] -= max(w, -w)
	}
	s.at = nil
	var left []int32
	for r, w := range late.Weights {
		if late.Weights[r] = max(w, -w); w != 0 {
			left = append(left, int32(r))
		}
	}
	switch {
	case late.Weights == nil || len(left) == late.N:
		return late
	case len(left) == 0:
		return nil
	}
	return late.Select(left)
}

// surplus gives what an operator has counted as late in all that was not recorded.
func (s *lateSums) surplus(operator int) int64 { return s.counted[operator] }
