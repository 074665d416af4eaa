package engine

import (
	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Views over one relation share what has no state. A view's steps over a source (exec.Prefix) are compared with those of all other
// views, and the last one that another view has too is where it joins: up to there the epoch's rows are filtered, computed and
// expanded into windows once, and each view is handed the batches. Rows that fail become a dead letter of each view.

// sharing knows which steps are evaluated once, and who reads whom, so that an epoch costs a view little that it does not concern. It is of
// the loop's goroutine, and made anew when views come or go.
type sharing struct {
	readers map[catalog.OID][]*view
	joins   map[*dataflow.Source]*join
	steps   []*sharedStep
}

// join is where a view's source takes part.
type join struct {
	last *sharedStep
	own  []exec.Step // the view's own steps up to there, from the source
}

// sharedStep is a step that several views begin with, in the state of the running epoch.
type sharedStep struct {
	below *sharedStep // nil: the source
	src   *dataflow.Source
	fresh bool
	op    dataflow.Operator
	env   *kernel.Env
	ep    dataflow.Epoch

	ran       uint64 // the epoch that out, letters and nullTimes are of
	out       []*batch.Batch
	letters   *batch.Batch
	nullTimes int64 // rows without a time, counted by op
	counted   int64 // before the epoch
	counter   dataflow.Stateful
}

// prefixes lists the steps of a view by source. They are the same for as long as the view lives.
func (v *view) prefixes() [][]exec.Step {
	if v.steps == nil {
		v.steps = make([][]exec.Step, len(v.graph.Sources()))
		for i, s := range v.graph.Sources() {
			if v.own[i] == nil && !isLetters(s.Rel.OID) { // letters are a matter of who reads them
				v.steps[i] = exec.Prefix(v.graph, s, v.env)
			}
		}
	}
	return v.steps
}

// shares gives what the views share, as they are now.
func (e *Engine) shares() *sharing {
	if e.shared != nil {
		return e.shared
	}
	s := &sharing{joins: map[*dataflow.Source]*join{}, readers: map[catalog.OID][]*view{}}
	e.shared = s
	workers := int32(1)
	for _, v := range e.views {
		if v.nslots > 1 {
			workers = max(workers, v.partitions.Load())
		}
		for _, src := range v.graph.Sources() {
			s.readers[src.Rel.OID] = append(s.readers[src.Rel.OID], v)
		}
	}
	e.workers.Store(workers)
	if len(e.views) < 2 {
		return s
	}
	users := map[string]int{}
	for _, v := range e.views {
		if st, _ := v.getStatus(); st != viewRunning {
			continue
		}
		seen := map[string]bool{} // a view that reads a relation twice counts once
		for _, steps := range v.prefixes() {
			for _, st := range steps {
				if !seen[st.Key] {
					seen[st.Key] = true
					users[st.Key]++
				}
			}
		}
	}
	made := map[string]*sharedStep{}
	for _, v := range e.views {
		if st, _ := v.getStatus(); st != viewRunning { // its graph may be at work elsewhere
			continue
		}
		for i, steps := range v.prefixes() {
			n := 0
			for n < len(steps) && users[steps[n].Key] > 1 {
				n++
			}
			if n > 0 {
				if last := s.make(made, v, v.graph.Sources()[i], steps[:n]); last != nil {
					s.joins[v.graph.Sources()[i]] = &join{last, steps[:n]}
				}
			}
		}
	}
	return s
}

// make gives the shared form of a chain of steps, nil if it can't be made.
func (s *sharing) make(made map[string]*sharedStep, v *view, src *dataflow.Source, steps []exec.Step) *sharedStep {
	var below *sharedStep
	for i := range steps {
		st := &steps[i]
		x := made[st.Key]
		if x == nil {
			env := viewEnv(v.rel())
			op, err := st.Operator(env)
			if err != nil {
				return nil // each view built the same once
			}
			x = &sharedStep{below: below, src: src, fresh: st.Fresh(), op: op, env: env}
			x.ep.Operator, x.ep.Inputs = -1, []dataflow.PortInfo{st.Port}
			x.counter, _ = op.(dataflow.Stateful)
			made[st.Key] = x
			s.steps = append(s.steps, x)
		}
		below = x
	}
	return below
}

// push gives a view the rows that the epoch has for a source, if it shares steps over it. rows is their number.
func (s *sharing) push(v *view, src *dataflow.Source, in *epochInput) (rows int64, ok bool, err error) {
	j := s.joins[src]
	if j == nil {
		return 0, false, nil
	}
	parts := in.changes(src.Rel.OID)
	for _, p := range parts {
		if p.b == nil {
			return 0, false, nil // what is read back from the log does not stay in memory
		}
		rows += int64(p.b.N)
	}
	if rows == 0 {
		return 0, true, nil
	}
	if err := j.last.run(in, parts); err != nil {
		return 0, true, err
	}
	v.graph.Fed(src)
	x := j.last
	for i := len(j.own) - 1; i >= 0; i, x = i-1, x.below {
		if x.letters != nil {
			v.sink.bury(x.letters)
		}
		v.graph.NullTimes(j.own[i].Node, x.nullTimes)
	}
	top := j.own[len(j.own)-1].Node
	for _, b := range j.last.out {
		if err := v.graph.PushFrom(top, b); err != nil {
			return rows, true, err
		}
	}
	return rows, true, nil
}

// run evaluates the step for the epoch, unless that is done.
func (x *sharedStep) run(in *epochInput, parts []part) error {
	if x.ran == in.n {
		return nil
	}
	x.out, x.letters, x.nullTimes = nil, nil, 0
	x.env.Now = in.ts
	x.ep.N, x.ep.Timestamp, x.ep.Sink = in.n, in.ts, x
	x.ep.Before, x.ep.After = dataflow.NoWatermark, dataflow.NoWatermark
	if x.counter != nil {
		x.counted = x.counter.Stats().RowsNullEvent
	}
	var given *batch.Batch
	keep := func(b *batch.Batch) error {
		x.out = append(x.out, x.lasting(given, b))
		return nil
	}
	push := func(b *batch.Batch) error {
		given = b
		return x.op.Push(&x.ep, 0, b, keep)
	}
	if x.below != nil {
		if err := x.below.run(in, parts); err != nil {
			return err
		}
		for _, b := range x.below.out {
			if err := push(b); err != nil {
				return err
			}
		}
	} else {
		index := 0
		for _, p := range parts {
			if err := push(sourceBatch(x.src, p.b, in.n, index)); err != nil {
				return err
			}
			index += p.b.N
		}
	}
	if x.counter != nil {
		x.nullTimes = x.counter.Stats().RowsNullEvent - x.counted
	}
	x.ran = in.n
	return nil
}

// lasting gives a batch that stays valid as long as what was pushed: the columns that the operator made are copied.
func (x *sharedStep) lasting(given, b *batch.Batch) *batch.Batch {
	if x.fresh {
		return b
	}
	old := make(map[*batch.Vector]bool, len(given.Cols))
	for _, c := range given.Cols {
		old[c] = true
	}
	out := &batch.Batch{N: b.N, Cols: make([]*batch.Vector, len(b.Cols))}
	var all []int32
	for i, c := range b.Cols {
		if old[c] {
			out.Cols[i] = c
			continue
		}
		if all == nil {
			all = allRows(b.N)
		}
		out.Cols[i] = batch.NewVector(c.Type, b.N)
		out.Cols[i].AppendVector(c, all)
	}
	if b.Weights != nil {
		out.Weights = append([]int64(nil), b.Weights[:b.N]...)
	}
	return out
}

// Late implements dataflow.Sink; an operator without state has no late rows.
func (x *sharedStep) Late(*dataflow.Epoch, *batch.Batch, int, int64, int64, int64) {}

// Dead implements dataflow.Sink.
func (x *sharedStep) Dead(ep *dataflow.Epoch, b *batch.Batch, i int, err *sqlerr.Error) error {
	if x.letters == nil {
		x.letters = batch.New(columnTypes(deadColumns), 16)
	}
	appendDead(x.letters, ep, b, i, err, ep.N)
	return nil
}

// wake marks the views that read a relation: epoch n may concern them.
func (s *sharing) wake(oid catalog.OID, n uint64) {
	for _, v := range s.readers[oid] {
		v.wanted = n
	}
}

// end lets go of the epoch's rows.
func (s *sharing) end() {
	for _, x := range s.steps {
		x.out, x.letters = nil, nil
	}
}

// viewsChanged says that a view came, went, stopped or goes on: what is shared and who reads whom is found anew.
func (e *Engine) viewsChanged() { e.shared = nil }
