package engine

import (
	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/state/table"
)

// shadow follows the watermark that a view had in epochs of the past. A view's watermark is a function of its streams' marks, so
// its graph is run without rows over the recorded ones. A view that is made late, and reads another view beside a stream, then judges
// the stream's rows as it would have done at the time (promise 4a).
type shadow struct {
	oid   catalog.OID
	graph *dataflow.Graph
}

// shadowsOf makes the shadows of the views that a graph reads, directly or not, each behind those that it reads, and lists the streams
// beneath them. A view with a watermark of its query's own has none: its marks come from rows. It runs on the loop's goroutine.
func (e *Engine) shadowsOf(g *dataflow.Graph) (out []*shadow, streams []catalog.OID, err error) {
	seen := map[catalog.OID]bool{}
	var visit func(g *dataflow.Graph) error
	visit = func(g *dataflow.Graph) error {
		for _, s := range g.Sources() {
			oid := s.Rel.OID
			if seen[oid] {
				continue
			}
			seen[oid] = true
			if e.streams[oid] != nil {
				streams = append(streams, oid)
				continue
			}
			in := e.viewByOID[oid]
			if in == nil || in.ownMarks() != nil {
				continue
			}
			if in.unbuilt {
				return errNotRunning(in)
			}
			if err := visit(in.graph); err != nil {
				return err
			}
			policy := dataflow.PolicyMin
			if in.rel().Options["watermark_policy"] == "max" {
				policy = dataflow.PolicyMax
			}
			sg, err := exec.NewGraph(in.plan.Root, policy, table.NewTransient(), viewEnv(in.rel()), exec.Slots{})
			if err != nil {
				return err
			}
			out = append(out, &shadow{oid, sg})
		}
		return nil
	}
	return out, streams, visit(g)
}

// move adds to marks the view's mark in an epoch of which marks has those of its inputs.
func (s *shadow) move(n uint64, ts int64, marks map[catalog.OID]mark) {
	of := marksIn(marks)
	s.graph.Begin(&dataflow.EpochInfo{N: n, Timestamp: ts,
		Watermarks: func(src *dataflow.Source) (dataflow.Watermark, dataflow.Watermark) {
			m := of(src.Rel.OID)
			return m.before, m.after
		},
		Idle: func(src *dataflow.Source) (bool, bool) {
			m := of(src.Rel.OID)
			return m.idleBefore, m.idleAfter
		}}, nil)
	before, after := s.graph.OutputWatermark()
	was := of(s.oid)
	marks[s.oid] = mark{before, after, was.idleAfter, s.graph.Idle()}
}
