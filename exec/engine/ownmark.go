package engine

import (
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// ownMark is a watermark that a view's query declares on a stream: as if the stream had been declared with it.
type ownMark struct {
	w             *catalog.Watermark
	before, after dataflow.Watermark
}

// declareOwn finds the sources whose watermark is the query's.
func (v *view) declareOwn() {
	v.own = make([]*ownMark, len(v.graph.Sources()))
	for i, s := range v.graph.Sources() {
		if w := s.Rel.Watermark; w != nil && w.Own {
			v.own[i] = &ownMark{w: w, before: dataflow.NoWatermark, after: dataflow.NoWatermark}
		}
	}
}

// advanceOwn moves the query's own watermarks by the epoch's rows.
func (v *view) advanceOwn(in *epochInput) error {
	for i, o := range v.own {
		if o == nil {
			continue
		}
		o.before = o.after
		err := eachBatch(in.changes(v.graph.Sources()[i].Rel.OID), func(b *batch.Batch) error {
			v := b.Cols[o.w.Column]
			for i := 0; i < v.N; i++ {
				if v.IsNull(i) {
					continue
				}
				if t, ok := eventMicros(v.Type, v.I64[i]); ok {
					o.after = max(o.after, dataflow.Watermark(floorMilli(t-o.w.DelayMicros)))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ownMarks gives the query's own watermarks by source, nil if there are none.
func (v *view) ownMarks() []int64 {
	var out []int64
	for i, o := range v.own {
		if o != nil {
			out = append(out, make([]int64, i+1-len(out))...)
			out[i] = int64(o.after)
		}
	}
	return out
}

// markOf gives a source's mark in the running epoch.
func (v *view) markOf(in *epochInput, s *dataflow.Source) mark {
	m := in.marks(s.Rel.OID)
	for i, x := range v.graph.Sources() {
		if x == s && v.own[i] != nil {
			m.before, m.after = v.own[i].before, v.own[i].after
		}
	}
	return m
}

// restoreOwn takes the query's own watermarks from a checkpoint.
func (v *view) restoreOwn(w []int64) {
	for i := range min(len(w), len(v.own)) {
		if v.own[i] != nil {
			v.own[i].after = dataflow.Watermark(w[i])
		}
	}
}
