// Command peers compares Tidemark with other engines on the same files: it makes the data, runs each engine that is installed, then Tidemark, checks
// that their answers are equal, and prints a table, which it writes to docs/benchmarks.md too. `make bench-peers` runs it.
//
//	PEERS_KIT   folder of the scripts that run DuckDB, Flink and Spark; without it they are skipped and their recorded figures shown
//	PEERS_DATA  where the data goes (default: below the folder for temporary files); it is made once
//
// Tidemark runs as a user has it: a server with an empty directory, a file source with its watermark, late rows recorded, the result a durable view,
// checkpoints on; with the source's retention at its default and at '0'.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settings are the command's flags.
type settings struct {
	binary, data, out string
	rows, runs        int
	workloads         []string
	formats           []string
	engines           []string
	fresh             bool
}

func main() {
	var s settings
	var names, formats, engines string
	flag.StringVar(&s.binary, "tidemark", "bin/tidemark", "the binary to measure")
	flag.StringVar(&s.data, "data", os.Getenv("PEERS_DATA"), "folder of the data")
	flag.StringVar(&s.out, "out", "", "file that the report is written to, besides the output")
	flag.IntVar(&s.rows, "rows", 2_000_000, "rows of each stream")
	flag.IntVar(&s.runs, "runs", 3, "runs of Tidemark, of which the median counts")
	flag.StringVar(&names, "workloads", "", "workloads, by comma (default: all)")
	flag.StringVar(&formats, "formats", "parquet,csv,json", "formats of the files, by comma")
	flag.StringVar(&engines, "engines", "duckdb,flink-hashmap,spark-rocksdb", "other engines, by comma")
	flag.BoolVar(&s.fresh, "fresh", false, "run the other engines although their lines are there from a run before")
	flag.Parse()
	s.formats, s.engines = strings.Split(formats, ","), strings.Split(engines, ",")
	if names != "" {
		s.workloads = strings.Split(names, ",")
	}
	if s.data == "" {
		s.data = filepath.Join(os.TempDir(), "tidemark-peers")
	}
	if err := run(context.Background(), s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// warmRows is the size of the data by which a JVM is warmed.
const warmRows = 200_000

// run does all of it.
func run(ctx context.Context, s settings, w io.Writer) error {
	data, warm, scratch := filepath.Join(s.data, fmt.Sprint(s.rows)), filepath.Join(s.data, "warm"), filepath.Join(s.data, "scratch")
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return err
	}
	fmt.Fprintf(w, "data: %d rows a stream in %s\n", s.rows, data)
	if err := generate(data, s.rows, s.formats); err != nil {
		return err
	}
	todo := jobs(s.workloads, s.formats)
	rep := &report{settings: s}
	k := newKit(os.Getenv("PEERS_KIT"))
	for i := range peers {
		p := &peers[i]
		why := "it was not asked for"
		if contains(s.engines, p.engine) {
			why = k.missing(p)
		}
		if why != "" {
			fmt.Fprintf(w, "%s is skipped: %s\n", p.engine, why)
		} else if err := generate(warm, warmRows, s.formats); err != nil {
			return err
		}
		for _, j := range todo {
			lines, err := keptLines(s, data, p, j)
			if err == nil && len(lines) == 0 && why == "" {
				lines, err = measurePeer(ctx, k, p, data, warm, scratch, j, w)
			}
			if err != nil {
				return err
			}
			rep.lines = append(rep.lines, lines...)
		}
	}
	for _, j := range todo {
		for _, retention := range []string{"all", "0"} {
			for i := range s.runs {
				l, err := runTidemark(ctx, s.binary, data, scratch, j, retention)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", j.name, j.format, err)
				}
				l.Run = i
				rep.lines = append(rep.lines, l)
				show(w, l)
			}
		}
	}
	text, err := rep.text()
	if err != nil {
		return err
	}
	fmt.Fprint(w, "\n", text)
	if s.out == "" {
		return nil
	}
	return os.WriteFile(s.out, []byte(text), 0o644)
}

// keptFile has the lines of the other engines.
const keptFile = "peers.jsonl"

// keptLines gives an engine's lines of a job from a run before.
func keptLines(s settings, data string, p *peer, j job) ([]line, error) {
	text, err := os.ReadFile(filepath.Join(data, keptFile))
	if err != nil || s.fresh {
		return nil, nil // there was none
	}
	all, err := parseLines(text)
	return slices.DeleteFunc(all, func(l line) bool { return l.Engine != p.engine || l.Workload != j.name || l.Format != j.format }), err
}

// measurePeer runs an engine on a job, and keeps its lines.
func measurePeer(ctx context.Context, k kit, p *peer, data, warm, scratch string, j job, w io.Writer) ([]line, error) {
	lines, err := k.run(ctx, p, data, warm, scratch, j, w)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(data, keptFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for _, l := range lines {
		show(w, l)
		b, err := json.Marshal(l)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(append(b, '\n')); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

func show(w io.Writer, l line) {
	fmt.Fprintf(w, "%-18s %-16s %-8s %9d rows %7.2f s %7.2f CPU s %8.0f k rows/CPU s %6d MB, %d rows %s\n",
		l.Engine, l.Workload, l.Format, l.Rows, l.Seconds, l.CPUSeconds, l.RowsPerCPUSecond/1e3, l.RSS, l.ResultRows, l.ResultChecksum)
}
