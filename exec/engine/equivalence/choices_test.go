package equivalence

import (
	"math/rand/v2"
	"time"
)

// choices is a stream of small decisions from which a part of a case is made. It is random at first and is recorded; a
// recorded one can be made smaller and used again: beyond its end every choice is 0, the simplest.
type choices struct {
	rec []uint32
	pos int
	rng *rand.Rand // nil: replay
}

// n chooses from [0, k).
func (c *choices) n(k int) int {
	var v uint32
	switch {
	case c.pos < len(c.rec):
		v = c.rec[c.pos] % uint32(k)
	case c.rng != nil:
		v = c.rng.Uint32N(uint32(k))
	}
	if c.rng != nil {
		c.rec = append(c.rec[:c.pos], v)
	}
	c.pos++
	return int(v)
}

// oneIn is true in one case of k.
func (c *choices) oneIn(k int) bool { return c.n(k) == k-1 }

// weighted chooses an index with chances in proportion to the weights.
func (c *choices) weighted(w ...int) int {
	sum := 0
	for _, x := range w {
		sum += x
	}
	v := c.n(sum)
	for i, x := range w {
		if v < x {
			return i
		}
		v -= x
	}
	return 0
}

func pick[T any](c *choices, of ...T) T { return of[c.n(len(of))] }

// recipe is all choices of a case. Steps and views have their own streams, so that leaving one out does not change the others.
type recipe struct {
	schema []uint32
	views  [][]uint32
	steps  [][]uint32
	part   int // of all pairs, in a case of pairs
}

// newRecipe draws a case of the given size.
func newRecipe(seed uint64, views, steps int, build func(r *recipe, source func(part, i int) *choices)) *recipe {
	r := &recipe{views: make([][]uint32, views), steps: make([][]uint32, steps)}
	rng := rand.New(rand.NewPCG(seed, 1))
	drawn := map[[2]int]*choices{}
	build(r, func(part, i int) *choices {
		c := &choices{rng: rand.New(rand.NewPCG(rng.Uint64(), seed))}
		drawn[[2]int{part, i}] = c
		return c
	})
	for k, c := range drawn {
		*r.stream(k[0], k[1]) = c.rec
	}
	return r
}

// The parts of a recipe.
const (
	partSchema = iota
	partView
	partStep
)

func (r *recipe) stream(part, i int) *[]uint32 {
	switch part {
	case partView:
		return &r.views[i]
	case partStep:
		return &r.steps[i]
	}
	return &r.schema
}

// replay gives the sources of a recorded case.
func (r *recipe) replay(part, i int) *choices { return &choices{rec: *r.stream(part, i)} }

func (r *recipe) clone() *recipe {
	c := &recipe{schema: append([]uint32(nil), r.schema...), part: r.part}
	for _, v := range r.views {
		c.views = append(c.views, append([]uint32(nil), v...))
	}
	for _, s := range r.steps {
		c.steps = append(c.steps, append([]uint32(nil), s...))
	}
	return c
}

// shrink makes a failing recipe smaller as long as fails says that it still fails, until the deadline.
func shrink(r *recipe, until time.Time, fails func(*recipe) bool) *recipe {
	s := &shrinker{best: r, until: until, fails: fails}
	for again := true; again && time.Now().Before(until); {
		again = s.drop(false)
		again = s.drop(true) || again
		for i := range s.best.steps {
			again = s.smaller(partStep, i) || again
		}
		for i := range s.best.views {
			again = s.smaller(partView, i) || again
		}
		again = s.smaller(partSchema, 0) || again
	}
	return s.best
}

type shrinker struct {
	best  *recipe
	until time.Time
	fails func(*recipe) bool
}

func (s *shrinker) try(r *recipe) bool {
	if time.Now().After(s.until) || !s.fails(r) {
		return false
	}
	s.best = r
	return true
}

// drop leaves out whole steps (or views), runs of them first.
func (s *shrinker) drop(views bool) bool {
	of := func(r *recipe) *[][]uint32 {
		if views {
			return &r.views
		}
		return &r.steps
	}
	any := false
	for size := (len(*of(s.best)) + 1) / 2; size > 0; size /= 2 {
		for at := len(*of(s.best)) - size; at >= 0; at-- {
			if at+size > len(*of(s.best)) {
				continue
			}
			c := s.best.clone()
			l := of(c)
			*l = append((*l)[:at], (*l)[at+size:]...)
			any = s.try(c) || any
		}
	}
	return any
}

// smaller cuts choices out of one stream, zeroes runs of them, and lowers single ones.
func (s *shrinker) smaller(part, i int) bool {
	any := false
	stream := func() []uint32 { return *s.best.stream(part, i) }
	for _, size := range []int{32, 16, 8, 4, 2, 1} {
		for at := 0; at+size <= len(stream()); {
			c := s.best.clone()
			l := c.stream(part, i)
			*l = append((*l)[:at], (*l)[at+size:]...)
			if s.try(c) {
				any = true
				continue
			}
			at += size
		}
	}
	for _, size := range []int{16, 4, 1} {
		for at := 0; at+size <= len(stream()); at += size {
			c := s.best.clone()
			changed := false
			for k := at; k < at+size; k++ {
				changed = changed || (*c.stream(part, i))[k] != 0
				(*c.stream(part, i))[k] = 0
			}
			any = changed && s.try(c) || any
		}
	}
	for at := 0; at < len(stream()); at++ {
		for v := stream()[at]; v > 0; {
			c := s.best.clone()
			(*c.stream(part, i))[at] = v / 2
			if !s.try(c) {
				break
			}
			any = true
			v /= 2
		}
	}
	return any
}
