package engine

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/state/table"
)

// A server with little state has a heap of a few megabytes, which Go collects each time that it has doubled: under load ten times a
// second, and each time the epoch that runs shares the cores with the collector. heapFloor lets the heap grow by some megabytes first.

// maxHeapFloor bounds what the heap may grow by before it is collected, however large the budget; a larger heap doubles first, as ever.
const maxHeapFloor = 64 << 20

// leastHeadroom is what the heap may grow by before it is collected where the budget has no room for that.
var leastHeadroom atomic.Int64

// headroomOf is leastHeadroom with a budget: an eighth of it within bounds. Below, collections, which take some milliseconds mostly for what the program itself has,
// would come too often; what is above is not worth its memory.
func headroomOf(budget int64) int64 { return min(max(budget/8, 6<<20), maxHeadroom) }

const maxHeadroom = 16 << 20

var heapFloor struct {
	once  sync.Once
	bytes atomic.Int64

	mu  sync.Mutex
	now int64 // GOGC as it was set last, 0: it was not
}

// setHeapFloor makes the heap grow by a thirty-second of the budget at least, or maxHeapFloor, between two collections. GOGC in the
// environment takes precedence.
func setHeapFloor(budget int64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	heapFloor.bytes.Store(min(budget/32, maxHeapFloor))
	heapFloor.once.Do(func() { afterCollection(paceCollector) })
}

// heapNow is Go's memory: the heap's objects as of the last collection, and what there is beside objects and free memory.
type heapNow struct{ live, beside int64 }

func readHeap() heapNow {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	is := func(i int) int64 { return int64(s[i].Value.Uint64()) }
	return heapNow{is(0), is(1) - is(2) - is(3) - is(4)}
}

// paceCollector sets GOGC, in percent of what is live, by what the last collection found, once there is a floor. It may be called from any goroutine.
func paceCollector() {
	floor := heapFloor.bytes.Load()
	if floor == 0 {
		return
	}
	m := readHeap()
	room := int64(math.MaxInt64)
	if limit := memoryLimit.Load(); limit != 0 {
		room = limit - table.MappedBytes() - m.beside - m.live
	}
	want := collectAt(m.live, floor, room, leastHeadroom.Load())
	heapFloor.mu.Lock()
	defer heapFloor.mu.Unlock()
	now := heapFloor.now
	if d := want - now; d > now/8 || d < -now/8 || want == 100 && now != 100 { // setting it stops the world for a moment
		debug.SetGCPercent(int(want))
		heapFloor.now = want
	}
}

// collectShort collects the heap if there is more of it than the budget has room for: for who let go of much of it, which otherwise counts as live until
// the heap has grown.
func collectShort() {
	if limit := memoryLimit.Load(); limit != 0 {
		if m := readHeap(); table.MappedBytes()+m.live+m.beside > limit {
			runtime.GC()
		}
	}
}

// collectAt is the growth, in percent of the live bytes, after which the heap is collected: when it has doubled, or sooner where the budget
// has less room. A collection costs what has pointers, of which large state has little; but the heap grows by an eighth at least, and by least.
func collectAt(live, floor, room, least int64) int64 {
	live = max(live, 1<<16)
	percent := func(n int64) int64 { return min(n, 1<<40) * 100 / live }
	return min(max(min(percent(room), 100), 12, min(percent(least), 100), percent(floor)), 1<<20)
}

// afterCollection calls f after each collection, now and then not.
func afterCollection(f func()) {
	runtime.AddCleanup(new([]byte), func(f func()) { // something with a pointer, which has memory of its own
		f()
		afterCollection(f)
	}, f)
}
