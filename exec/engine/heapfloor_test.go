package engine

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// TestCollectAt: a small heap grows by the floor, a large one doubles, but not where the budget has no room for it.
func TestCollectAt(t *testing.T) {
	const all = math.MaxInt64
	for _, c := range []struct{ live, floor, room, want int64 }{
		{8 << 20, 64 << 20, all, 800}, {64 << 20, 64 << 20, all, 100}, {1 << 30, 64 << 20, all, 100}, {4 << 20, 1, all, 100}, {0, 64 << 20, all, 102400},
		{300 << 20, 16 << 20, 150 << 20, 50}, {300 << 20, 16 << 20, 10 << 20, 12}, {300 << 20, 16 << 20, -1 << 30, 12}, {32 << 20, 3 << 20, 0, 50}, {4 << 20, 1 << 20, 0, 100},
	} {
		if got := collectAt(c.live, c.floor, c.room, maxHeadroom); got != c.want {
			t.Errorf("%d bytes live, floor %d, room %d: %d %%, want %d", c.live, c.floor, c.room, got, c.want)
		}
	}
	// With a small budget there is less that the heap may grow by all the same.
	for _, c := range []struct{ budget, live, want int64 }{{4 << 30, 64 << 20, 25}, {96 << 20, 64 << 20, 18}, {32 << 20, 32 << 20, 18}, {96 << 20, 256 << 20, 12}} {
		if got := collectAt(c.live, 1<<20, 0, headroomOf(c.budget)); got != c.want {
			t.Errorf("budget %d, %d bytes live: %d %%, want %d", c.budget, c.live, got, c.want)
		}
	}
}

// TestHeapFloor: a small heap may grow by the floor before it is collected, not only until it has doubled.
func TestHeapFloor(t *testing.T) {
	// Other tests may have set a floor or a limit, by which the collector is paced after each collection.
	defer heapFloor.bytes.Store(heapFloor.bytes.Swap(0))
	defer memoryLimit.Store(memoryLimit.Swap(0))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 50))
	heapFloor.mu.Lock() // no pacing is on its way
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	heapFloor.now = 0
	heapFloor.mu.Unlock()
	// goal collects, and tells the bytes that were live then, of other tests, too, and those at which the heap is collected next.
	goal := func() (live, goal int64) {
		runtime.GC()
		s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64()), int64(s[1].Value.Uint64())
	}
	live, doubled := goal()
	setHeapFloor(64 << 30)
	if heapFloor.bytes.Load() == 0 {
		t.Skip("GOGC is set")
	}
	floor := 8*live + 64<<20
	heapFloor.bytes.Store(floor)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // what paces the collector runs beside
		live, next := goal()
		if next > live+floor/8*7 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d bytes are live, the heap is collected at %d with a floor of %d, at %d without", live, next, floor, doubled)
		}
	}
}
