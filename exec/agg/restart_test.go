package agg

import (
	"math/rand/v2"

	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/state/table"
)

// checkpoint writes the state to disk and then, at random, goes on, drops it from memory, or starts the operator anew from disk.
func (h *harness) checkpoint(r *rand.Rand) {
	if err := h.disk.Write(h.space.Freeze()); err != nil {
		h.t.Fatal(err)
	}
	switch r.IntN(3) {
	case 1:
		h.space.Evict(0)
	case 2:
		h.late += h.stats().RowsDroppedLate
		h.start()
		if err := h.space.Verify(); err != nil {
			h.t.Fatal(err)
		}
	}
}

// start makes the operator over what is on disk.
func (h *harness) start() {
	h.t.Helper()
	h.space = table.Open(h.disk)
	op, err := NewAggregate(h.plan, plan.Types(h.plan.Input), h.space, 0, &kernel.Env{})
	if err != nil {
		h.t.Fatal(err)
	}
	h.op = op
}
