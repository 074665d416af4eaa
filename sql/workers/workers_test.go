package workers

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestRun: each piece runs once and has ended when Run returns, whatever their number, one Run after the other, from many goroutines and within one another.
func TestRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	once := func(n int) {
		counts := make([]int, n)
		Run(n, func(i int) { counts[i]++ })
		for i, c := range counts {
			if c != 1 {
				t.Errorf("piece %d of %d ran %d times", i, n, c)
			}
		}
	}
	for n := 1; n < 300; n++ {
		once(n)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := range 200 {
				once(n%7 + 1)
			}
		})
	}
	wg.Wait()
	var sum atomic.Int64
	Run(5, func(int) { Run(5, func(i int) { sum.Add(int64(i)) }) })
	if sum.Load() != 50 {
		t.Errorf("the pieces of pieces gave %d", sum.Load())
	}
}

// TestLongPieces: who waits long for a piece that another does is woken.
func TestLongPieces(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for range 20 {
		Ready(3)
		time.Sleep(patience / 2)
		var ended atomic.Int32
		Run(3, func(i int) {
			if i > 0 {
				time.Sleep(5 * patience)
			}
			ended.Add(1)
		})
		if ended.Load() != 3 {
			t.Fatal("Run returned before its pieces")
		}
	}
}

// TestNoHelpers: the helpers go when nobody calls, and come again.
func TestNoHelpers(t *testing.T) {
	Run(4, func(int) {})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(linger) {
		left := 0
		for i := range helpers {
			if helpers[i].alive.Load() {
				left++
			}
		}
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d helpers wait for work", left)
		}
	}
	var n atomic.Int32
	Run(4, func(int) { n.Add(1) })
	if n.Load() != 4 {
		t.Errorf("%d pieces", n.Load())
	}
}

// TestPanics: Run panics with what the first piece panicked with, after all have ended.
func TestPanics(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	cause := errors.New("disk")
	for _, boom := range []any{cause, "no error", &Panic{"of another", nil}} {
		var ended atomic.Int32
		func() {
			defer func() {
				switch p := recover().(type) {
				case error, *Panic:
					if x, ok := p.(*Panic); p != boom && (!ok || x.Value != boom || !strings.Contains(x.String(), "workers_test")) {
						t.Errorf("panic with %v", p)
					}
				default:
					t.Errorf("panic with %v", p)
				}
			}()
			Run(6, func(i int) {
				ended.Add(1)
				if i >= 2 {
					panic(boom)
				}
			})
		}()
		if ended.Load() != 6 {
			t.Errorf("%d pieces of 6 have run", ended.Load())
		}
	}
}

// TestLater: what is left for later is done once each, by those who wait or by who finishes it, while other work goes on, and panics reach who finishes.
func TestLater(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var wg sync.WaitGroup
	for g := range 4 {
		team := Team{Number: func() int { return 1 + g }}
		wg.Go(func() {
			var l Later
			l.Finish()
			for n := range 300 {
				counts := make([]int, n%20)
				team.Start(&l, len(counts), func(i int) { counts[i]++ })
				Run(3, func(int) {})
				l.Finish()
				for i, c := range counts {
					if c != 1 {
						t.Errorf("piece %d of %d ran %d times", i, len(counts), c)
					}
				}
			}
			boom := errors.New("boom")
			team.Start(&l, 3, func(i int) {
				if i == 1 {
					panic(boom)
				}
			})
			func() {
				defer func() {
					if p := recover(); p != boom {
						t.Errorf("Finish panicked with %v", p)
					}
				}()
				l.Finish()
			}()
		})
	}
	wg.Wait()
}
