package engine

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestCollectAt: a small heap grows by the floor, a large one doubles, but not where the budget has no room for it.
func TestCollectAt(t *testing.T) {
	const all = math.MaxInt64
	for _, c := range []struct{ live, floor, room, want int64 }{
		{8 << 20, 64 << 20, all, 800}, {64 << 20, 64 << 20, all, 100}, {1 << 30, 64 << 20, all, 100}, {4 << 20, 1, all, 100}, {0, 64 << 20, all, 102400},
		{300 << 20, 16 << 20, 150 << 20, 50}, {300 << 20, 16 << 20, 10 << 20, 12}, {300 << 20, 16 << 20, -1 << 30, 12}, {32 << 20, 3 << 20, 0, 50}, {4 << 20, 1 << 20, 0, 100},
	} {
		if got := collectAt(c.live, c.floor, c.room); got != c.want {
			t.Errorf("%d bytes live, floor %d, room %d: %d %%, want %d", c.live, c.floor, c.room, got, c.want)
		}
	}
}

// TestHeapFloor: a process with a small heap collects it less often than each time that it has doubled.
func TestHeapFloor(t *testing.T) {
	// Other tests may have set a floor or a limit, by which the collector is paced after each collection.
	defer heapFloor.bytes.Store(heapFloor.bytes.Swap(0))
	defer memoryLimit.Store(memoryLimit.Swap(0))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 50))
	heapFloor.mu.Lock() // no pacing is on its way
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	heapFloor.now = 0
	heapFloor.mu.Unlock()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	live := int64(m.HeapAlloc) // of other tests, too
	collections := func() uint32 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 32 * live >> 13 {
			garbage = make([]byte, 8<<10)
		}
		runtime.ReadMemStats(&after)
		return after.NumGC - before.NumGC
	}
	without := collections()
	setHeapFloor(64 << 30)
	if heapFloor.bytes.Load() == 0 {
		t.Skip("GOGC is set")
	}
	heapFloor.bytes.Store(8 * live)
	for range 3 { // cleanups run beside what follows
		runtime.GC()
		runtime.Gosched()
	}
	if with := collections(); with*2 > without {
		t.Errorf("%d collections, %d without", with, without)
	}
}

var garbage []byte
