package connector

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"
	"time"
)

// TestOffset adds spans of many parts at random, some of which go on after they had been read, and compares with all that was added.
func TestOffset(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	o, all := &Offset{}, map[string]Position{}
	check := func() {
		t.Helper()
		for name, p := range all {
			if got, ok := o.Part(name); !ok || got != p {
				t.Fatalf("part %s is at %+v, %v, want %+v", name, got, ok, p)
			}
		}
		if p, ok := o.Part("none"); ok {
			t.Fatalf("a part that was never read is at %+v", p)
		}
	}
	for range 20_000 {
		name := fmt.Sprintf("part-%d", rnd.Intn(10_000))
		from := all[name].At
		to := from + rnd.Int63n(1<<rnd.Intn(40)) + 1
		p := Position{At: to, Line: all[name].Line + rnd.Int63n(100), Size: to, ModTime: rnd.Int63n(1 << 50), Done: rnd.Intn(50) > 0, Cut: rnd.Intn(5) == 0}
		all[name] = p
		o.Add(&Extent{Rows: 1, Spans: []Span{{Part: name, From: from, To: to, ToLine: p.Line, Size: p.Size, ModTime: p.ModTime, Done: p.Done, Cut: p.Cut}}})
		if rnd.Intn(1000) == 0 {
			check()
			b, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			o = &Offset{}
			if err := json.Unmarshal(b, o); err != nil {
				t.Fatal(err)
			}
		}
	}
	check()
	if c := o.Clone(); len(c.Old) != len(o.Old) || len(c.Parts) != len(o.Parts) {
		t.Error("a clone is another")
	}
	open := 0
	for _, p := range all {
		if !p.Done {
			open++
		}
	}
	if len(o.Parts) > keepParts+open || len(o.Old) > oldSize*len(all) || o.Rows != 20_000 {
		t.Errorf("%d parts in full of %d, %d bytes of old ones", len(o.Parts), len(all), len(o.Old))
	}
}

// TestOffsetFloor: parts of before the floor are forgotten, so that the offset is bounded.
func TestOffsetFloor(t *testing.T) {
	o := &Offset{}
	for i := range int64(50_000) {
		o.Add(&Extent{Floor: i - 2000, Spans: []Span{{Part: fmt.Sprint(i), To: 1, Size: 1, ModTime: i, Done: true}}})
	}
	if n := len(o.Parts) + len(o.Old)/oldSize; n > 2000+2*keepParts {
		t.Errorf("%d parts are known", n)
	}
	for _, i := range []int{49_999, 48_000} {
		if _, ok := o.Part(fmt.Sprint(i)); !ok {
			t.Errorf("part %d is forgotten", i)
		}
	}
}
