package table

import (
	"errors"
	"fmt"
	"maps"
	"testing"
)

// TestFreezeIsOfItsMoment: what is written of a Freeze is the space as it was then, however much changes while it is copied.
func TestFreezeIsOfItsMoment(t *testing.T) {
	r := seeded(t)
	for range 25 {
		m := &model{t: t, r: r, b: &memBacking{m: map[string]string{}},
			mInts: map[int64][2]int64{}, mStrs: map[string]string{}, mOrd: map[string]string{}, mWin: map[int64]map[int64]int64{}}
		m.open()
		budget := []int64{0, 60_000}[r.IntN(2)]
		m.sp.SetBudget(budget)
		change := func() {
			m.stepInts()
			m.stepStrs()
			m.stepMany()
			m.stepOrdered()
			m.stepWindows()
		}
		for range 12 {
			for range 1 + r.IntN(40) {
				change()
			}
			switch r.IntN(4) {
			case 0:
				m.sp.Evict(budget / 2)
			case 1, 2: // in steps, which a Freeze may come into the midst of
				m.sp.BeginEvict(r.Int64N(60_000))
				for m.sp.Step(1+r.IntN(300)) && r.IntN(20) > 0 {
					change()
				}
			}
			f, then := m.sp.Freeze(), m.clone()
			// Small steps between epochs, until it is copied.
			for n := r.IntN(40); n > 0 || m.sp.Step(1+r.IntN(60)); n-- {
				change()
			}
			m.b.write(t, f)
			f.Written()
			then.open()
			then.checkAll()
			for r.IntN(3) > 0 && m.sp.Step(1+r.IntN(200)) {
				change()
			}
		}
		m.checkAll()
	}
}

// clone gives a model of what this one is now, to open on what was written of it.
func (m *model) clone() *model {
	c := &model{t: m.t, r: m.r, b: m.b, mInts: maps.Clone(m.mInts), mStrs: maps.Clone(m.mStrs), mOrd: maps.Clone(m.mOrd), mWin: map[int64]map[int64]int64{}}
	for end, w := range m.mWin {
		c.mWin[end] = maps.Clone(w)
	}
	return c
}

// TestFreezeOutlivesFailure: a read that fails in the midst of an epoch stops the view whose epoch it is, and changes nothing in what is
// written of the Freeze before. The next space goes on with that.
func TestFreezeOutlivesFailure(t *testing.T) {
	r := seeded(t)
	failures := 0
	m := &model{t: t, r: r, b: &memBacking{m: map[string]string{}},
		mInts: map[int64][2]int64{}, mStrs: map[string]string{}, mOrd: map[string]string{}, mWin: map[int64]map[int64]int64{}}
	for range 60 {
		m.open()
		m.sp.SetBudget([]int64{1, 60_000}[r.IntN(2)])
		steps := []func(){m.stepInts, m.stepStrs, m.stepMany, m.stepOrdered, m.stepWindows}
		change := func(n int) {
			for range n {
				steps[r.IntN(len(steps))]()
			}
		}
		change(r.IntN(150))
		m.b.write(t, m.sp.Freeze())
		m.sp.Evict(int64(r.IntN(30_000)))
		change(r.IntN(30))
		f, then := m.sp.Freeze(), m.clone()
		left := r.IntN(400)
		m.b.fail = func() error {
			if left--; left < 0 {
				return errors.New("no such block")
			}
			return nil
		}
		func() {
			defer func() {
				if p := recover(); p != nil {
					if _, ok := p.(*Failure); !ok {
						panic(p)
					}
					failures++
				}
			}()
			for range 100 {
				change(1)
				m.sp.Step(r.IntN(60))
			}
		}()
		m.b.fail = nil
		m.b.write(t, f)
		m = then
		m.open()
		m.checkAll()
	}
	if failures == 0 {
		t.Error("no read failed")
	}
}

// TestStepEnds: every entry is copied and thawed once, and then there is nothing to do.
func TestStepEnds(t *testing.T) {
	b := &memBacking{m: map[string]string{}}
	sp := Open(b)
	h, o := sp.Hash(Decl{Name: "h", Words: 1, IntKey: true}), sp.Ordered(Decl{Name: "o"})
	slots := make([]int32, 1)
	for i := range int64(10_000) {
		h.FindOrAddInts([]int64{i}, nil, slots)
		o.Put(fmt.Appendf(nil, "%08d", i), []byte("x"))
	}
	f := sp.Freeze()
	steps := 0
	for sp.Step(100) {
		steps++
	}
	if steps < 100 || steps > 1000 {
		t.Errorf("20,000 entries were copied in %d steps of 100", steps)
	}
	if f.Len() != 20_002 {
		t.Errorf("%d changes, want 20,000 and two tables", f.Len())
	}
	b.write(t, f)
	f.Written()
	for steps = 0; sp.Step(100); steps++ {
		if steps > 1000 {
			t.Fatal("thawing does not end")
		}
	}
	if sp.Writing() || sp.DirtyEntries() != 0 || sp.Step(1) {
		t.Error("something is left to do")
	}
}
