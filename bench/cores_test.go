package bench

import (
	"runtime"
	"testing"
	"time"
)

// TestCores: two cores are looked at without waiting for ever, and what is seen is possible; of two looks the worse counts in each respect.
func TestCores(t *testing.T) {
	c := lookAtCores()
	if runtime.GOMAXPROCS(0) > 1 && (c.trip <= 0 || c.gain <= 0) {
		t.Errorf("saw %+v", c)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if c := lookAtCores(); c.trip != 0 || c.whole() {
		t.Errorf("saw %+v on one core", c)
	}
	a, b := cores{60 * time.Nanosecond, 1.2}, cores{400 * time.Nanosecond, 2}
	if w := a.worse(b); w != (cores{b.trip, a.gain}) || !a.near() || b.near() || a.whole() || !b.whole() {
		t.Errorf("the worse of %+v and %+v is %+v", a, b, w)
	}
}
