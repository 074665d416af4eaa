package bench

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// cores is what two of the machine's cores are to each other, which decides what two workers can reach together. A virtual machine's cores may be moved at any
// time: to where they share a cache and to where they do not, and even to the two threads of one core.
type cores struct {
	// trip is how long a line of the cache takes from one to the other and back: 50 to 120 ns where they share a cache, several times as much where they do not.
	trip time.Duration
	// gain is how much more both compute, in registers, than one while the other sleeps: 2, or 1 if they are threads of one core.
	gain float64
}

// Where cores are called near, and where whole.
const (
	nearTrip  = 150 * time.Nanosecond
	wholeGain = 1.7
)

// near says that the cores have a cache in common.
func (c cores) near() bool { return c.trip < nearTrip }

// whole says that each is a core of its own.
func (c cores) whole() bool { return c.gain >= wholeGain }

// worse gives the worse of both, in each respect.
func (c cores) worse(d cores) cores { return cores{max(c.trip, d.trip), min(c.gain, d.gain)} }

// Sizes of the measurement: some milliseconds.
const (
	lineTrips  = 10_000
	gainRounds = 8
	gainSteps  = 50_000
)

// lookAtCores measures two cores, as they are now. On a machine of one the gain is 1.
func lookAtCores() cores {
	if runtime.GOMAXPROCS(0) < 2 {
		return cores{gain: 1}
	}
	var line [16]atomic.Int64 // the first word; the others keep what is around it away
	var alone, both, theirs [gainRounds]time.Duration
	done := make(chan struct{})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for k := range alone { // nobody waits beside it, as that would be work
		alone[k] = compute(k)
	}
	// meet waits for the other, who answers the number before.
	meet := func(i int64) {
		for line[0].Load() != i {
		}
		line[0].Store(i + 1)
	}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		for i := range int64(lineTrips) {
			meet(2*i + 1)
		}
		for k := range theirs {
			meet(2*(lineTrips+int64(k)) + 1)
			theirs[k] = compute(k)
		}
	}()
	ask := func(i int64) {
		line[0].Store(2*i + 1)
		for line[0].Load() != 2*i+2 {
		}
	}
	ask(0) // the other has begun
	start := time.Now()
	for i := int64(1); i < lineTrips; i++ {
		ask(i)
	}
	c := cores{trip: time.Since(start) / (lineTrips - 1)}
	for k := range both {
		ask(lineTrips + int64(k))
		both[k] = compute(k)
	}
	<-done
	for k := range both {
		both[k] = max(both[k], theirs[k])
	}
	c.gain = 2 * slices.Min(alone[:]).Seconds() / slices.Min(both[:]).Seconds()
	return c
}

// lastComputed is there so that compute is not left out.
var lastComputed atomic.Uint64

// compute gives how long a loop takes that keeps a core's units busy, and reads no memory.
func compute(seed int) time.Duration {
	const factor = 6364136223846793005
	start := time.Now()
	a, b, c, d := uint64(seed)+1, uint64(seed)+2, uint64(seed)+3, uint64(seed)+4
	for range gainSteps {
		a, b, c, d = a*factor, b*factor, c*factor, d*factor
	}
	lastComputed.Store(a ^ b ^ c ^ d)
	return time.Since(start)
}
