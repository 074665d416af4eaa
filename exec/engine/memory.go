package engine

import (
	"math"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/tidemarkdb/tidemark/state/table"
)

// LimitMemory tells Go's runtime that the process is to stay near a budget of memory, as Options.MemoryBytes: without a limit the heap grows to
// twice what is in use before it is collected, whatever the budget. It is for a program that is a database and nothing else; one that embeds
// the engine decides for itself. GOMEMLIMIT in the environment takes precedence. It also keeps a small heap from being collected all the time.
// 0 takes the limit away.
func LimitMemory(budget int64) {
	if os.Getenv("GOMEMLIMIT") != "" || budget < 0 || budget > math.MaxInt64/2 {
		return
	}
	if budget == 0 {
		memoryLimit.Store(0)
		debug.SetMemoryLimit(math.MaxInt64)
		return
	}
	// The program itself is not Go's memory, and a process may take a quarter more than the budget in all; some of that is for what the heap
	// grows by while it is collected.
	memoryLimit.Store(max(min(budget, budget/16*19-programBytes), minMemoryLimit))
	leastHeadroom.Store(headroomOf(budget))
	limitHeap()
	setHeapFloor(budget)
}

const (
	// minMemoryLimit is what the process itself needs, however small the budget.
	minMemoryLimit = 32 << 20
	// What the store's cache, and state and contents, need: that of some epochs.
	minCache = 4 << 20
	minMuch  = 8 << 20
	minMost  = 12 << 20
	// programBytes is what a process has in memory of the program's file, and Go's runtime for itself.
	programBytes = 40 << 20
)

// memoryLimit is that of LimitMemory, 0 if there is none; heapLimit is what of it Go's runtime was told last.
var memoryLimit, heapLimit atomic.Int64

// limitHeap gives Go's heap what tables do not have outside of it, but never less than a quarter more than is live: a heap that can't
// get below its limit is collected all the time. It is paceCollector that keeps the heap smaller than that.
func limitHeap() {
	limit := memoryLimit.Load()
	if limit == 0 {
		return
	}
	m := readHeap()
	heap := max(limit-table.MappedBytes(), m.live/4*5+leastHeadroom.Load()+m.beside, minMemoryLimit)
	if d := heap - heapLimit.Load(); d > limit/64 || d < -limit/64 {
		heapLimit.Store(heap)
		debug.SetMemoryLimit(heap)
	}
	paceCollector()
}

// The parts of the memory budget. What state and contents take between checkpoints is above what is kept of state: entries that
// changed, contents that are not on disk, and copies of both that are being written.

// cacheBytes is the store's: blocks of files, and memtables.
func (o *Options) cacheBytes() int64 { return max(o.MemoryBytes/8, minCache) }

// ownBytes is the budget without the program itself.
func (o *Options) ownBytes() int64 { return o.MemoryBytes - min(programBytes, o.MemoryBytes/4) }

// keptState is what is kept of operator state when it is too much, beside filters of so many bytes, which can't be evicted: eleven to twenty bits for each
// entry that is only on disk, if these are many times more than those in memory, and else up to 17 bytes for each of the latter. The more they take the less
// is kept, or nothing would be left for what is to be written.
func (o *Options) keptState(filters int64) int64 {
	return min(max(o.ownBytes()/16*6-filters, o.ownBytes()/16*3), o.ownBytes()/4)
}

// muchState is when a checkpoint is brought forward, the copies that it makes included. However small the budget, there has to be room for some epochs.
func (o *Options) muchState() int64 { return max(o.ownBytes()/16*7, minMuch) }

// mostState is when epochs wait for it. From muchState to there they go on at the pace at which it is written.
func (o *Options) mostState() int64 { return max(o.ownBytes()/16*9, minMost) }

// memoryUsed gives the bytes of state and contents in memory, about, as of a moment ago: with many views counting takes longer than an epoch that
// concerns few of them. It runs on the loop's goroutine.
func (e *Engine) memoryUsed() int64 {
	now := time.Now()
	if now.Sub(e.memoryAt) < min(memoryEvery, countEvery*e.counting) {
		return e.memory
	}
	e.memory = e.countMemory()
	e.memoryAt = time.Now()
	e.counting = e.memoryAt.Sub(now)
	if now.Sub(e.limitedAt) >= memoryEvery {
		e.limitedAt = now
		limitHeap()
	}
	return e.memory
}

const (
	// memoryEvery is how old a count of the memory in use may be.
	memoryEvery = 50 * time.Millisecond
	// countEvery is how many times longer than it took a count holds, if that is less: quick epochs make much of a small budget in memoryEvery.
	countEvery = 64
)

// countMemory counts the bytes of state and contents, and those of copies that a checkpoint would make of state.
func (e *Engine) countMemory() int64 {
	n := int64(0)
	e.toCopy, e.unwritten = 0, 0
	for _, v := range e.views {
		st, _ := v.getStatus()
		if st == viewBackfill {
			continue
		}
		mem := v.space.MemBytes()
		contents := v.out.memBytes() + v.late.memBytes() + v.dead.memBytes()
		n += mem + v.space.FrozenBytes() + contents
		if st == viewRunning { // of others a checkpoint writes nothing
			dirty := v.space.DirtyBytes()
			e.toCopy += dirty / 2 // without an index, numbers as short as they are
			e.unwritten += dirty + contents
		}
	}
	for _, t := range e.tables {
		t.each(func(c *rowContents) {
			n += c.memBytes()
			e.unwritten += c.memBytes()
		})
	}
	return n
}

// dropClean begins to drop operator state if enough of it is on disk that no checkpoint has to be written before.
func (e *Engine) dropClean() bool {
	clean := int64(0)
	for _, v := range e.views {
		if st, _ := v.getStatus(); st == viewRunning {
			clean += v.space.CleanBytes()
		}
	}
	if clean < e.opts.ownBytes()/8 || e.memory+e.toCopy > e.opts.mostState() {
		return false
	}
	if !e.thawing {
		e.evict()
	}
	return e.thawing
}

// dropSome goes on at once with what evict began to drop, until it is enough: epochs make state faster than that would come about
// between them.
func (e *Engine) dropSome() {
	most := e.opts.mostState()
	for _, v := range e.views {
		if st, _ := v.getStatus(); st == viewBackfill || st == viewFailed {
			continue
		}
		for v.space.Step(1 << 14) {
			if e.memory = e.countMemory(); e.memory <= most {
				return
			}
		}
	}
	e.thawing = false
	e.memory = e.countMemory()
}

// shrinkContents has contents merged of which rows came and went since the last checkpoint. It says whether that goes on and there is time to wait for it.
func (e *Engine) shrinkContents() bool {
	if e.memory+e.toCopy > e.opts.mostState() {
		return false
	}
	going := false
	for _, v := range e.views {
		if st, _ := v.getStatus(); st == viewRunning && v.out.shrink() {
			going = true
		}
	}
	for _, t := range e.tables {
		t.each(func(c *rowContents) { going = c.shrink() || going })
	}
	return going
}

// evict begins to drop what is too much of operator state and on disk: it is dropped between the next epochs (stepState).
func (e *Engine) evict() {
	total, filters := int64(0), int64(0)
	for _, v := range e.views {
		if st, _ := v.getStatus(); st == viewRunning {
			f := v.space.FilterBytes()
			total, filters = total+v.space.MemBytes()-f, filters+f
		}
	}
	budget := e.opts.keptState(filters)
	if total <= budget {
		return
	}
	for _, v := range e.views {
		if st, _ := v.getStatus(); st == viewRunning {
			share := int64(float64(v.space.MemBytes()-v.space.FilterBytes()) * float64(budget) / float64(total))
			v.space.BeginEvict(share)
		}
	}
	e.thawing = true
}

// shareBudget tells every view how much of the state's part of the memory budget it may read back from disk.
func (e *Engine) shareBudget() {
	for _, v := range e.views {
		if v.fill == nil {
			v.space.SetBudget(max(e.opts.keptState(0)/int64(len(e.views)), 1<<20))
		}
	}
}
