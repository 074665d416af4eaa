package engine

import (
	"strings"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

var watermarkColumns = []catalog.Column{
	col("stream", types.Text), col("watermark", types.TimestampTZ), col("idle", types.Bool), col("max_event_time", types.TimestampTZ),
	col("lateness_p50", types.Interval), col("lateness_p99", types.Interval), col("lateness_max", types.Interval),
}

// watermarkRows are the rows of tidemark.watermarks: lateness is how far rows were behind the greatest event time before them.
func watermarkRows(c *systemContext) (*batch.Batch, error) {
	b := batch.New(columnTypes(watermarkColumns), 0)
	for _, r := range c.Catalog.Relations() {
		if r.Kind != catalog.Stream || r.Watermark == nil {
			continue
		}
		s := streamStat{maxEvent: dataflow.NoTime}
		if pub := c.snap.rel(r.OID).stream; pub != nil {
			s = pub.stat
		}
		b.Cols[0].AppendString(r.Name)
		appendTime(b.Cols[1], int64(c.snap.watermark(r.OID)))
		b.Cols[2].AppendDatum(types.BoolDatum(s.idle))
		appendTime(b.Cols[3], s.maxEvent)
		for i, us := range []int64{s.p50, s.p99, s.max} {
			if s.any {
				b.Cols[4+i].AppendDatum(types.IntervalDatum(0, 0, us))
			} else {
				b.Cols[4+i].AppendNull()
			}
		}
		b.EndRow(1)
	}
	return b, nil
}

// viewInput is one relation that a view reads.
type viewInput struct {
	rel      *catalog.Relation
	declared bool // it has a watermark
	wm       dataflow.Watermark
	idle     bool
	holds    bool // the view would be further without it
}

// inputsOf lists the inputs of a view, and says which of them hold it back: under min the inputs at the least watermark that are not
// idle, under max none.
func (p *published) inputsOf(v *view) []viewInput {
	var out []viewInput
	seen := map[catalog.OID]bool{}
	for _, s := range v.graph.Sources() {
		if seen[s.Rel.OID] {
			continue
		}
		seen[s.Rel.OID] = true
		out = append(out, viewInput{rel: s.Rel, declared: s.Rel.Watermark != nil || len(s.Rel.WatermarkCols) > 0,
			wm: p.watermark(s.Rel.OID), idle: p.rel(s.Rel.OID).idle})
	}
	if v.rel().Options["watermark_policy"] == "max" {
		return out
	}
	low, live := dataflow.NoWatermark, false
	for _, in := range out {
		if in.declared && !in.idle && (!live || in.wm < low) {
			low, live = in.wm, true
		}
	}
	for i := range out {
		in := &out[i]
		in.holds = live && in.declared && !in.idle && in.wm == low
	}
	return out
}

// heldBackBy names the inputs that hold a view back.
func (p *published) heldBackBy(v *view) string {
	var names []string
	for _, in := range p.inputsOf(v) {
		if in.holds {
			names = append(names, in.rel.Name)
		}
	}
	return strings.Join(names, ", ")
}

var viewInputColumns = []catalog.Column{
	col("view_name", types.Text), col("input", types.Text), col("watermark", types.TimestampTZ), col("idle", types.Bool), col("holds_back", types.Bool),
}

// viewInputRows are the rows of tidemark.view_inputs.
func viewInputRows(c *systemContext) (*batch.Batch, error) {
	b := batch.New(columnTypes(viewInputColumns), 0)
	for _, v := range c.e.liveViews(c.snap) {
		for _, in := range c.snap.inputsOf(v) {
			b.Cols[0].AppendString(v.rel().Name)
			b.Cols[1].AppendString(in.rel.Name)
			appendTime(b.Cols[2], int64(in.wm))
			b.Cols[3].AppendDatum(types.BoolDatum(in.idle))
			b.Cols[4].AppendDatum(types.BoolDatum(in.holds))
			b.EndRow(1)
		}
	}
	return b, nil
}
