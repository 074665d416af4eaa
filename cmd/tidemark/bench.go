package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	"github.com/tidemarkdb/tidemark/bench"
)

// benchMain measures the engine.
func benchMain(args []string) int {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	smoke := fs.Bool("smoke", false, "tiny sizes, for correctness only")
	asJSON := fs.Bool("json", false, "write all figures as one JSON array")
	profiles := fs.String("cpu-profiles", "", "directory for CPU profiles (pprof) of the servers that workloads over the wire start")
	partitions := fs.Int("partitions", 1, "state_partitions of the views of the engine's workloads, for figures a core; 0 leaves it at its default")
	epochs := fs.Int("epochs", 0, "measure so many epochs of the engine's workloads; 0: as many as each says")
	profile := fs.String("cpuprofile", "", "write a CPU profile of this process to this `file`")
	tracing := fs.String("trace", "", "write an execution trace of this process, for go tool trace, to this `file`")
	allocs := fs.String("allocprofile", "", "write a profile of every allocation that the engine's workloads count to this `file`, which makes them slow")
	names, code := parse(fs, args)
	if names == nil {
		return code
	}
	if err := bench.Check(names); err != nil {
		return misuse(fs, "%v", err)
	}
	binary, err := os.Executable()
	if err != nil {
		return fatal(err)
	}
	if *tracing != "" {
		f, err := os.Create(*tracing)
		if err != nil {
			return fatal(err)
		}
		defer f.Close()
		if err := trace.Start(f); err != nil {
			return fatal(err)
		}
		defer trace.Stop()
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return fatal(err)
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return fatal(err)
		}
		defer pprof.StopCPUProfile()
	}
	if *allocs != "" {
		runtime.MemProfileRate = 0 // until a workload measures
	}
	o := bench.Options{Smoke: *smoke, JSON: *asJSON, Names: names, Out: os.Stdout, Binary: binary, Profiles: *profiles, Partitions: *partitions, Epochs: *epochs, ProfileAllocs: *allocs != ""}
	if err := bench.Run(context.Background(), o); err != nil {
		return fatal(err)
	}
	if *allocs != "" {
		if err := writeAllocs(*allocs); err != nil {
			return fatal(err)
		}
	}
	return 0
}

// writeAllocs writes which allocations were recorded. They get into the profile by collections of garbage that end after them.
func writeAllocs(path string) error {
	for range 3 {
		runtime.GC()
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
