package agg

import (
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/state/table"
)

// disk is a table.Backing that holds what checkpoints wrote.
type disk map[string]string

func (d disk) Get(k []byte, f func([]byte)) error {
	if v, ok := d[string(k)]; ok {
		f([]byte(v))
	}
	return nil
}

func (d disk) GetMany(keys [][]byte, f func(int, []byte)) error {
	for i, k := range keys {
		if v, ok := d[string(k)]; ok {
			f(i, []byte(v))
		}
	}
	return nil
}

func (d disk) Scan(lo, hi []byte, desc bool, f func(k, v []byte) bool) error {
	var keys []string
	for k := range d {
		if k >= string(lo) && (hi == nil || k < string(hi)) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	if desc {
		slices.Reverse(keys)
	}
	for _, k := range keys {
		if !f([]byte(k), []byte(d[k])) {
			break
		}
	}
	return nil
}

func (d disk) write(f *table.Frozen) error {
	for _, r := range f.Ranges() {
		for k := range d {
			if k >= string(r.Lo) && k < string(r.Hi) {
				delete(d, k)
			}
		}
	}
	err := f.Each(func(c table.Change) error {
		if c.Delete {
			delete(d, string(c.Key))
		} else {
			d[string(c.Key)] = string(c.Val)
		}
		return nil
	})
	f.Written()
	return err
}

// checkpoint writes the state to disk and then, at random, goes on, drops it from memory, or starts the operator anew from disk.
func (h *harness) checkpoint(r *rand.Rand) {
	if err := h.disk.write(h.space.Freeze()); err != nil {
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
