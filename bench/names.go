package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// tables are the workloads with tables of their own.
var tables = []struct {
	name string
	run  func(context.Context, Options) error
}{{"incremental", incremental}, {"timers", timers}, {"soak", soak}, {"scaling", scaling}, {"pauses", pauses}, {"views", views}, {"large", largeState}}

// wireWorkloads run over the wire, besides ingestWorkloads.
var wireWorkloads = []struct {
	name string
	run  func(context.Context, *Options) ([]Figure, error)
}{{"wire-group-commit", groupCommit}, {"latency", latency}, {"read-points", pointReads}, {"read-scan", scans}, {"read-beside-writes", interference}, {"recovery", recovery}}

// parts name the workloads of those tables that have several.
var parts = map[string]func() []string{
	"scaling": func() (names []string) {
		for _, w := range workloads {
			if w.scales() {
				names = append(names, "scaling-"+w.name)
			}
		}
		return names
	},
	"pauses": func() (names []string) {
		for i := range pauseCases {
			names = append(names, "pauses-"+pauseCases[i].name)
		}
		return append(names, "pauses-growing", "pauses-closing")
	},
	"large": func() (names []string) {
		for _, s := range largeSizes {
			names = append(names, largeName(s.keys))
		}
		return names
	},
}

// Names lists the workloads in the order in which they run.
func Names() (names []string) {
	for _, w := range slices.Concat(workloads, processorWorkloads) {
		names = append(names, w.name)
	}
	for i := range fileWorkloads {
		names = append(names, fileWorkloads[i].name)
	}
	for i := range nexmarkQueries {
		names = append(names, "nexmark-"+nexmarkQueries[i].name)
	}
	for _, w := range tables {
		if of := parts[w.name]; of != nil {
			names = append(names, of()...)
		} else {
			names = append(names, w.name)
		}
	}
	for i := range ingestWorkloads {
		names = append(names, ingestWorkloads[i].name)
	}
	for _, w := range wireWorkloads {
		names = append(names, w.name)
	}
	return names
}

// Check says which of the names is neither a workload's nor how one's begins, and what there is.
func Check(names []string) error {
	all := Names()
	for _, n := range names {
		o := Options{Names: []string{n}}
		if !slices.ContainsFunc(all, o.matches) {
			return fmt.Errorf("no workload %q; there are:\n  %s", n, strings.Join(all, "\n  "))
		}
	}
	return nil
}

// wants says whether a workload is to run, or, of a table that has several, any of its own.
func (o *Options) wants(name string) bool {
	of := parts[name]
	return len(o.Names) == 0 || o.matches(name) || of != nil && slices.ContainsFunc(of(), o.matches)
}

// matches says whether one of the names is a workload's, or how its name begins.
func (o *Options) matches(name string) bool {
	return slices.ContainsFunc(o.Names, func(n string) bool {
		whole := slices.ContainsFunc(workloads, func(w *workload) bool { return w.name == n })
		return n == name || !whole && strings.HasPrefix(name, n+"-")
	})
}
