package planner

import (
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/planner/plan"
)

// TestTellApart: names stay where they are the only ones; no number makes two alike.
func TestTellApart(t *testing.T) {
	texts := []string{"t.a", "t.a", "t.b", "t.a", "x"}
	var cols []plan.Column
	for _, n := range []string{"a", "a", "t.a_1", "a", "x"} {
		cols = append(cols, plan.Column{Name: n})
	}
	got := tellApart(cols, func(i int) string { return texts[i] })
	if want := []string{"t.a", "t.a_2", "t.a_1", "t.a_3", "x"}; !slices.Equal(got, want) {
		t.Error(got)
	}
	if got := tellApart(cols[1:3], nil); got != nil {
		t.Error(got)
	}
}
