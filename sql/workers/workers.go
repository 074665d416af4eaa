// Package workers runs pieces of work side by side on the cores of the machine,
// for work of a fraction of a millisecond that comes again and again.
//
// To wake a thread that sleeps takes some 50 microseconds, and more in a
// virtual machine; an epoch has several stretches of such work with little
// between them. So a goroutine that has helped waits for more for a moment,
// busily, before it goes; whoever knows that work is about to come calls Ready.
// Who has the work never waits for a helper that has not begun: it does itself
// what nobody has taken.
package workers

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// linger is how long a helper waits for more work, and patience how long the one who waits for helpers does so busily: several times what
// lies between the stretches of an epoch of a millisecond, and little beside what such an epoch costs.
const (
	linger   = 60 * time.Microsecond
	patience = 100 * time.Microsecond
)

// maxHelpers bounds the helpers of the process.
const maxHelpers = 255

// Helpers belong to one Run at a time; another that comes meanwhile takes goroutines of its own.
var (
	helping sync.Mutex
	helpers [maxHelpers]helper
)

// Run calls f for the pieces 0 to n-1, each once, and returns when all have returned. Piece 0 is the caller's; as many others as there are
// cores run beside it, if helpers come in time, and the caller takes what is left. So a piece may not wait for another. The first that panicked, by
// number, panics here: with the value if that is an error, else with a *Panic. Any goroutine may call it, from within a piece too.
func Run(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	j := &job{f: f, pieces: make([]piece, n), done: make(chan struct{}, 1)}
	others := min(n, runtime.GOMAXPROCS(0), maxHelpers+1) - 1
	if helping.TryLock() {
		for i := range others {
			helpers[i].call(j, i+1)
		}
		j.work(0)
		helping.Unlock()
	} else {
		for i := range others {
			go j.work(i + 1)
		}
		j.work(0)
	}
	j.wait()
	for i := range j.pieces {
		if p := j.pieces[i].panicked; p != nil {
			panic(p)
		}
	}
}

// Ready says that a Run of n pieces is about to come: helpers are there when it does. It returns at once.
func Ready(n int) {
	for i := range min(n, runtime.GOMAXPROCS(0), maxHelpers+1) - 1 {
		helpers[i].wake(i + 1)
	}
}

// Team is as many workers as somebody was given.
type Team struct {
	// Number gives how many there are, now: it is asked before each piece of work, on the goroutine that has the work. nil: one.
	Number func() int
	// Around, if set, is called with each stretch of work for several workers, and must run it, for measuring.
	Around func(run func())
}

// Size gives the number of workers that n things to do are worth, if each worker should have some least number of them: at least 1.
func (t *Team) Size(n, least int) int {
	if t.Number == nil || n < 2*least {
		return 1
	}
	return max(min(t.Number(), n/least), 1)
}

// Run is Run with n of the team, by number.
func (t *Team) Run(n int, f func(i int)) {
	if t.Around == nil || n == 1 {
		Run(n, f)
		return
	}
	t.Around(func() { Run(n, f) })
}

// Panic is what a panic on another goroutine becomes on that of Run: it keeps the stack of where it happened. A panic whose value is an
// error, as of a failed read of state, is passed on as it is.
type Panic struct {
	Value any
	Stack []byte
}

// String gives the value and the stack.
func (p *Panic) String() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// job is what one Run has to do.
type job struct {
	f      func(i int)
	pieces []piece
	ended  atomic.Int32 // pieces
	asleep atomic.Bool  // Run waits for done
	done   chan struct{}
}

type piece struct {
	taken    atomic.Bool
	panicked any
}

// work does pieces until all are taken, first the one of the given number: whoever has helped before has what it needs in its core's caches.
func (j *job) work(first int) {
	for k := range j.pieces {
		i := (first + k) % len(j.pieces)
		if p := &j.pieces[i]; !p.taken.Load() && !p.taken.Swap(true) {
			p.panicked = try(j.f, i)
			if int(j.ended.Add(1)) == len(j.pieces) && j.asleep.Load() {
				j.done <- struct{}{}
			}
		}
	}
}

// try calls f and gives what it panicked with.
func try(f func(i int), i int) (panicked any) {
	defer func() {
		if panicked = recover(); panicked == nil {
			return
		}
		if _, ok := panicked.(error); ok {
			return
		}
		if _, ok := panicked.(*Panic); ok {
			return
		}
		panicked = &Panic{panicked, debug.Stack()}
	}()
	f(i)
	return nil
}

// wait returns when all pieces have ended.
func (j *job) wait() {
	all := func() bool { return int(j.ended.Load()) == len(j.pieces) }
	if Await(patience, all) {
		return
	}
	j.asleep.Store(true)
	if !all() {
		<-j.done
	}
}

// helper is a goroutine that comes and goes.
type helper struct {
	next  atomic.Pointer[job]
	alive atomic.Bool // there is a goroutine, which will see what next is
	_     [48]byte    // of another cache line than the next helper
}

func (h *helper) call(j *job, first int) {
	h.next.Store(j)
	h.wake(first)
}

func (h *helper) wake(first int) {
	if !h.alive.Load() && h.alive.CompareAndSwap(false, true) {
		go h.help(first)
	}
}

// help does what it is called for, until nobody calls.
func (h *helper) help(first int) {
	called := func() bool { return h.next.Load() != nil }
	for {
		if Await(linger, called) {
			if j := h.next.Swap(nil); j != nil {
				j.work(first)
			}
			continue
		}
		h.alive.Store(false)
		// Who called before that has seen a goroutine.
		if !called() || !h.alive.CompareAndSwap(false, true) {
			return
		}
	}
}

// Await looks busily for what comes, for so long at most, and says whether it came. Goroutines that are ready to run on this core go before it, and meanwhile it
// does what a Later offers. Any goroutine may call it, from within a piece of work too: it is for some ten microseconds.
func Await(most time.Duration, come func() bool) bool {
	if come() {
		return true
	}
	for start := time.Now(); time.Since(start) < most; runtime.Gosched() {
		meanwhile()
		for range 1000 {
			if come() {
				return true
			}
		}
	}
	return come()
}
