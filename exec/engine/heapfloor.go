package engine

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

// A server with little state has a heap of a few megabytes, which Go collects each time that it has doubled: under load ten times a
// second, and each time the epoch that runs shares the cores with the collector. heapFloor lets the heap grow by some megabytes first.

// maxHeapFloor bounds what the heap may grow by before it is collected, however large the budget; a larger heap doubles first, as ever.
const maxHeapFloor = 64 << 20

var heapFloor struct {
	once  sync.Once
	bytes atomic.Int64
}

// setHeapFloor makes the heap grow by a thirty-second of the budget at least, or maxHeapFloor, between two collections. GOGC in the
// environment takes precedence.
func setHeapFloor(budget int64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	heapFloor.bytes.Store(min(budget/32, maxHeapFloor))
	heapFloor.once.Do(func() { afterCollection(paceCollector()) })
}

// paceCollector gives the function that sets GOGC, in percent of what is live, by what the last collection found.
func paceCollector() func() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	now := int64(100)
	return func() {
		metrics.Read(live)
		want := collectAt(int64(live[0].Value.Uint64()), heapFloor.bytes.Load())
		if d := want - now; d > now/8 || d < -now/8 || want == 100 && now != 100 { // setting it stops the world for a moment
			debug.SetGCPercent(int(want))
			now = want
		}
	}
}

// collectAt is the growth, in percent of the live bytes, after which the heap is collected.
func collectAt(live, floor int64) int64 {
	return max(100, min(100*floor/max(live, 1<<16), 1<<20))
}

// afterCollection calls f after each collection, now and then not.
func afterCollection(f func()) {
	runtime.AddCleanup(new([]byte), func(f func()) { // something with a pointer, which has memory of its own
		f()
		afterCollection(f)
	}, f)
}
