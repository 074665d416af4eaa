package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Figure is one number that a workload measured.
type Figure struct {
	Workload string  `json:"workload"`
	Name     string  `json:"name"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`
	// Goal is what Value must reach, or stay below where Most is set; 0: there is none.
	Goal float64 `json:"goal,omitempty"`
	Most bool    `json:"goal_is_most,omitempty"`
}

// figures collects what a run measures.
type figures struct{ all []Figure }

// add adds figures; a nil f does not want them.
func (f *figures) add(x ...Figure) {
	if f != nil {
		f.all = append(f.all, x...)
	}
}

// table prints figures, a line each.
func table(w io.Writer, title string, all []Figure) {
	fmt.Fprintf(w, "\n%s\n\n%-26s %-38s %12s %-16s %12s\n", title, "workload", "figure", "value", "unit", "goal")
	for _, f := range all {
		goal := ""
		if f.Goal != 0 {
			goal = ">= " + number(f.Goal)
			if f.Most {
				goal = "<= " + number(f.Goal)
			}
		}
		fmt.Fprintf(w, "%-26s %-38s %12s %-16s %12s\n", f.Workload, f.Name, number(f.Value), f.Unit, goal)
	}
}

// number shows three digits or so.
func number(v float64) string {
	switch {
	case v == 0 || v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.4f", v)
}

// writeJSON writes all figures as one array.
func (f *figures) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(f.all)
}

// figures gives a result as figures.
func (r *result) figures() []Figure {
	return []Figure{
		{r.name, "rate", r.rate(), "M events/s/core", r.goal, false},
		{r.name, "speed, elapsed time of the epochs", r.speed(), "M events/s", 0, false},
		{r.name, "CPU time", r.perEvent(r.cpu), "ns per event", 0, false},
		{r.name, "CPU time of the last checkpoint", r.perEvent(r.checkpoint), "ns per event", 0, false},
		{r.name, "allocations", float64(r.allocs) / float64(r.events), "per event", 0, false},
		{r.name, "state", float64(r.stateRows), "rows", 0, false},
		{r.name, "result stored", float64(r.newRows), "rows", 0, false},
		{r.name, "result", float64(r.viewRows), "rows", 0, false},
		{r.name, "memory", float64(r.rssBytes >> 20), "MB", 0, false},
	}
}

// millis gives a duration in milliseconds.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
