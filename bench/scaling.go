package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/state"
)

// scalingGoal is how much faster two partitions on two cores must be than one.
const scalingGoal = 1.7

// scalingRounds is how often one partition and two take turns, so that other work on the machine meets both alike.
const scalingRounds = 40

// countedEvery is after how many rounds one follows that tells what of the CPU time is spent side by side: to ask for it costs a hundredth of a short epoch, so
// it is not asked for in the rounds that are timed.
const countedEvery = 2

// roundEpochs is the least number of epochs of a round: so many that it matters little how its first begins and its last ends.
const roundEpochs = 8

// scaledDB is the same workload on a number of partitions.
type scaledDB struct {
	d       *database
	src     *source
	elapsed []time.Duration // by round that was timed
	// Of the rounds that were counted: the process's CPU time, and what of it fell into stretches in which the workers of several partitions ran side by side. The
	// engine's loop writes shared, and reads counts, only while Feed waits for it.
	cpu, shared time.Duration
	counts      bool
}

// scaling compares two state partitions with one, on every workload with many keys: what elapses (in all rounds, in those on two whole cores, and in those where
// these have a common cache), and what would on a machine that does nothing else, judged by how much of the CPU time is spent side by side. Checkpoints are left out, and merges of
// changes beside the epochs, but for a second measurement of views that have such.
func scaling(ctx context.Context, o Options) error {
	var all []Figure
	for _, w := range workloads {
		if !w.scales() || !o.wants("scaling-"+w.name) {
			continue
		}
		got, err := w.scaling(ctx, &o, "scaling-"+w.name, true)
		if err == nil && w.mode == "update" {
			var more []Figure
			more, err = w.scaling(ctx, &o, "scaling-"+w.name+", merging", false)
			got = append(got, more...)
		}
		if err != nil {
			return fmt.Errorf("scaling-%s: %w", w.name, err)
		}
		all = append(all, got...)
	}
	table(o.Out, "Two state partitions and one, in turn, without checkpoints and, where not said, merges beside the epochs", all)
	o.figures.add(all...)
	return nil
}

// scales says that there are keys enough to be shared out.
func (w *workload) scales() bool { return w.keys >= 100_000 }

// scaling measures one workload, under a name. alone: changes of the view are not merged beside the epochs. One partition has the other core for that, so with it the
// goal is not what is measured.
func (w *workload) scaling(ctx context.Context, o *Options, name string, alone bool) (_ []Figure, err error) {
	warm, rounds := w.warm, scalingRounds
	n := max(w.epochs/(4*rounds), roundEpochs)
	if o.Epochs > 0 {
		n = max(o.Epochs/rounds, 1)
	}
	if o.Smoke {
		warm, rounds, n = 1, 2, 1
	}
	var dbs [2]scaledDB
	defer func() {
		for i := range dbs {
			if dbs[i].d != nil {
				err = errors.Join(err, dbs[i].d.close())
			}
		}
	}()
	for i := range dbs {
		if err := dbs[i].open(ctx, w, i+1, warm, n, alone); err != nil {
			return nil, err
		}
	}
	var on []cores // the worst around each timed round of both
	for round := range rounds + rounds/countedEvery {
		counts, seen := round%(countedEvery+1) == countedEvery, lookAtCores()
		for k := range dbs {
			s := &dbs[(round+k)%len(dbs)]
			s.counts = counts
			if err := s.round(ctx, n); err != nil {
				return nil, err
			}
			seen = seen.worse(lookAtCores())
		}
		if !counts {
			on = append(on, seen)
		}
	}
	m := w.model()
	w.replay(dbs[0].src.epochs, m)
	for i := range dbs {
		rows, err := query(ctx, dbs[i].d.s, w.sums)
		if err == nil {
			err = compare(rows, m.result()...)
		}
		if err != nil {
			return nil, fmt.Errorf("%d partitions: %w", i+1, err)
		}
	}
	return scaled(name, &dbs[0], &dbs[1], n, on, alone), nil
}

// quick is the mean time of the quickest tenth of the rounds: those that other work on the machine held up least.
func (s *scaledDB) quick() time.Duration {
	slices.Sort(s.elapsed)
	n, sum := max(len(s.elapsed)/10, 1), time.Duration(0)
	for _, d := range s.elapsed[:n] {
		sum += d
	}
	return sum / time.Duration(n)
}

// scaled gives the figures of one partition and two, of rounds of n epochs, under a name; with the goal, or without. on is what the cores were around the rounds.
func scaled(name string, one, two *scaledDB, n int, on []cores, withGoal bool) []Figure {
	var all, whole, near, trips, gains []float64
	for i := range one.elapsed {
		r := one.elapsed[i].Seconds() / two.elapsed[i].Seconds()
		all = append(all, r)
		if on[i].whole() {
			whole = append(whole, r)
			if on[i].near() {
				near = append(near, r)
			}
		}
		trips, gains = append(trips, float64(on[i].trip.Nanoseconds())), append(gains, on[i].gain)
	}
	speed := func(s *scaledDB) float64 { return float64(n) * epochRows / s.quick().Seconds() / 1e6 }
	goal := 0.0
	if withGoal {
		goal = scalingGoal
	}
	serial := two.cpu - two.shared
	figures := []Figure{{name, "elapsed, one to two, median round", median(all), "times", goal, false}}
	if len(whole) > 0 {
		figures = append(figures, Figure{name, "the same, of rounds on two whole cores", median(whole), "times", goal, false})
	}
	if len(near) > 0 {
		figures = append(figures, Figure{name, "the same, of those on cores with a common cache", median(near), "times", goal, false})
	}
	share := func(x []float64) float64 { return 100 * float64(len(x)) / float64(len(all)) }
	return append(figures,
		Figure{name, "rounds on two whole cores", share(whole), "%", 0, false},
		Figure{name, "rounds on two whole cores with a common cache", share(near), "%", 0, false},
		Figure{name, "computing in registers, one core to both, median", median(gains), "times", 0, false},
		Figure{name, "a line of the cache from core to core and back, median", median(trips), "ns", 0, false},
		Figure{name, "speed of one, quick rounds", speed(one), "M events/s", 0, false},
		Figure{name, "speed of two, quick rounds", speed(two), "M events/s", 0, false},
		Figure{name, "CPU time of two side by side", 100 * two.shared.Seconds() / two.cpu.Seconds(), "%", 0, false},
		Figure{name, "CPU time, one to two", one.cpu.Seconds() / two.cpu.Seconds(), "times", 0, false},
		Figure{name, "attainable by CPU time", one.cpu.Seconds() / (serial + two.shared/2).Seconds(), "times", goal, false})
}

// median gives the middle one of some.
func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// open makes the database and gives it the epochs before those that are measured, in rounds of n. The view does not ask for partitions: it has the server's, which are
// the machine's cores unless told.
func (s *scaledDB) open(ctx context.Context, w *workload, partitions, warm, n int, alone bool) (err error) {
	s.src = newSource(w)
	s.src.keep(n)
	store := state.Options{NoMerging: alone}
	s.d, err = openDatabase(ctx, engine.Options{CheckpointInterval: time.Hour, StatePartitions: partitions, Store: store, SideBySide: func(run func()) {
		if !s.counts {
			run()
			return
		}
		start := processCPU()
		run()
		s.shared += processCPU() - start
	}}, w.setup(&Options{})...)
	if err != nil {
		return err
	}
	for ; warm > 0 && err == nil; warm -= n {
		err = s.round(ctx, min(n, warm))
	}
	s.elapsed = nil
	return err
}

// round gives n epochs as a source at full speed does: while one runs, the next ones wait. Their making does not count.
func (s *scaledDB) round(ctx context.Context, n int) error {
	streams, batches, waits := make([]int, n), make([]*batch.Batch, n), make([]func() error, n)
	for i := range batches {
		streams[i], batches[i] = s.src.stream(), s.src.next()
	}
	runtime.GC()
	cpu, start := processCPU(), time.Now()
	for i, b := range batches {
		var err error
		if i >= engine.ChunksAhead {
			err = waits[i-engine.ChunksAhead]()
		}
		if err == nil {
			waits[i], err = s.d.e.FeedAhead(ctx, "public", streamNames[streams[i]], b)
		}
		if err != nil {
			return err
		}
	}
	for _, wait := range waits[max(n-engine.ChunksAhead, 0):] {
		if err := wait(); err != nil {
			return err
		}
	}
	if s.counts {
		s.cpu += processCPU() - cpu
	} else {
		s.elapsed = append(s.elapsed, time.Since(start))
	}
	return nil
}
