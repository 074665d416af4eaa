package bench

import (
	"runtime"
	"sync/atomic"
	"time"
)

// lineTrips is how often lineTrip sends a line of the cache there and back.
const lineTrips = 20_000

// lineTrip is how long a line of the cache takes from one core to another and back: some 50 ns where two cores share a cache, several times as much where they
// do not. What several workers reach together depends on it, and a virtual machine's cores may be moved at any time. 0 on a machine of one core.
func lineTrip() time.Duration {
	if runtime.GOMAXPROCS(0) < 2 {
		return 0
	}
	var line [16]atomic.Int64 // the first word; the others keep what is around it away
	done := make(chan struct{})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		for i := int64(1); i < 2*lineTrips; i += 2 {
			for line[0].Load() != i {
			}
			line[0].Store(i + 1)
		}
	}()
	var start time.Time
	for i := int64(1); i < 2*lineTrips; i += 2 {
		line[0].Store(i)
		for line[0].Load() != i+1 {
		}
		if i == 1 {
			start = time.Now() // the other has begun
		}
	}
	d := time.Since(start)
	<-done
	return d / (lineTrips - 1)
}
