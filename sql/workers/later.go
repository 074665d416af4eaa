package workers

import (
	"sync"
	"sync/atomic"
	"time"
)

// Later is work that must be done by some time, and not at once: workers that wait for others, or for more work, do it meanwhile, a piece after the other, and
// whoever needs it does what is left. Start and Finish belong to one goroutine; a Later may be used again once it is finished.
type Later struct {
	f     func(i int)
	n     int32
	left  atomic.Int32 // pieces that nobody has taken are 0 to left-1; below 0 they are counted as none
	ended atomic.Int32

	mu       sync.Mutex
	panicked any // what the first piece that did panicked with
}

// offered is what waiting workers do: one Later at a time, of whoever was first. Others are done by who finishes them.
var offered atomic.Pointer[Later]

// Start offers f for the pieces 0 to n-1, each of which is called once. A piece should take some ten microseconds: others may be waited for meanwhile. With a team
// of one nobody helps.
func (t *Team) Start(l *Later, n int, f func(i int)) {
	l.f, l.n = f, int32(n)
	l.ended.Store(0)
	l.left.Store(int32(n)) // whoever takes a piece has seen this, and so f
	if t.Number != nil && t.Number() > 1 {
		offered.CompareAndSwap(nil, l)
	}
}

// Finish returns when all pieces are done. Panics are those of Run. Without a Start before it, it does nothing.
func (l *Later) Finish() {
	if l.f == nil {
		return
	}
	for l.one() {
	}
	offered.CompareAndSwap(l, nil)
	for !Await(patience, func() bool { return l.ended.Load() == l.n }) {
		time.Sleep(patience) // whoever has the last piece does not run
	}
	l.f = nil
	if p := l.panicked; p != nil {
		l.panicked = nil
		panic(p)
	}
}

// one does a piece, if one is left.
func (l *Later) one() bool {
	if l.left.Load() <= 0 {
		return false
	}
	i := l.left.Add(-1)
	if i < 0 {
		return false
	}
	if p := try(l.f, int(i)); p != nil {
		l.mu.Lock()
		if l.panicked == nil {
			l.panicked = p
		}
		l.mu.Unlock()
	}
	l.ended.Add(1)
	return true
}

// meanwhile does a piece of what is offered, for one who waits.
func meanwhile() {
	if l := offered.Load(); l != nil {
		l.one()
	}
}
