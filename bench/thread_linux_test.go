package bench

import (
	"runtime"
	"testing"
)

// What a thread has run moves on with whatever it does, not only with the scheduler's ticks: the making of rows takes a fraction of one.
func TestThreadClock(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	id, work := threadID(), uint64(1)
	for i := range 100 {
		before := threadCPU(id)
		for range 1000 {
			work = work*6364136223846793005 + 1
		}
		if after := threadCPU(id); before == 0 || after <= before {
			t.Fatalf("round %d (%d): %v before, %v after", i, work&1, before, after)
		}
	}
}
