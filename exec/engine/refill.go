package engine

import (
	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// refillNotices tells of the views among all that would not show the same if they were filled anew, which is what RESUME and REBUILD
// do. It runs on the loop's goroutine.
func (e *Engine) refillNotices(all []catalog.OID) []*sqlerr.Error {
	var out []*sqlerr.Error
	for i := len(all) - 1; i >= 0; i-- { // what is built upon before what is built on it
		v := e.viewByOID[all[i]]
		if v == nil || v.plan == nil {
			continue
		}
		if why, in := refillDiffers(v.plan.Root); in != nil {
			out = append(out, sqlerr.Notice("what \"%s\" shows depends on when its rows came, because %s, and of \"%s\" only the present contents are kept", v.rel().Name, why, in.Name).
				WithHint("RESUME and REBUILD fill the view from history with those: rows that it has shown may change."))
		}
	}
	return out
}

// refillDiffers says why a plan that is filled from history need not give what it gave: a node whose meaning is a sequence of epochs
// has an input that is no stream, so that its earlier epochs are not kept. in is that input, nil if there is none.
func refillDiffers(n plan.Node) (why string, in *catalog.Relation) {
	if _, timed := n.(*plan.TemporalFilter); !timed { // what passes it is a function of the present contents and the time
		if why = exec.EpochDependent(n); why != "" {
			if in = notStream(n); in != nil {
				return why, in
			}
		}
	}
	for _, x := range n.Inputs() {
		if why, in = refillDiffers(x); in != nil {
			return why, in
		}
	}
	return "", nil
}

// notStream finds a table or view among what a plan reads, nil if it reads streams only.
func notStream(n plan.Node) *catalog.Relation {
	if s, ok := n.(*plan.Scan); ok && s.Rel.Kind != catalog.Stream {
		return s.Rel
	}
	for _, in := range n.Inputs() {
		if r := notStream(in); r != nil {
			return r
		}
	}
	return nil
}
