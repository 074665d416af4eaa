package main

import (
	_ "embed"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// recordedLines are figures that were taken on another machine, on recordedDate, with 2 cores of an Intel Xeon.
//
//go:embed recorded-2026-11-29.jsonl
var recordedLines []byte

const recordedDate = "2026-11-29"

// answerLines are DuckDB's answers over 20,000 rows, with which a run at that size compares where no other engine is installed.
//
//go:embed answers-20000.jsonl
var answerLines []byte

// report is what was measured, and makes text of it.
type report struct {
	settings settings
	lines    []line
}

// figure is the median of an engine's runs of one job.
type figure struct {
	rate     float64 // thousand rows a CPU second
	rss      int64
	rows     int64
	sums     []string // the answers, alike if all is well
	recorded bool
	cold     bool // the only run of a JVM
}

// median gives the figure of an engine's lines; the first run of a JVM is not counted where there are others.
func median(lines []line, engine, workload, format string, rows int64) (f figure, ok bool) {
	var use []line
	for _, l := range lines {
		if l.Engine == engine && l.Workload == workload && l.Format == format && (rows == 0 || l.Rows == rows) {
			use = append(use, l)
			f.sums = append(f.sums, fmt.Sprintf("%d %s", l.ResultRows, l.ResultChecksum))
		}
	}
	if len(use) == 0 {
		return f, false
	}
	if strings.HasPrefix(engine, "flink") || strings.HasPrefix(engine, "spark") {
		warm := slices.DeleteFunc(slices.Clone(use), func(l line) bool { return l.Run == 0 })
		if f.cold = len(warm) == 0; !f.cold {
			use = warm
		}
	}
	slices.SortFunc(use, func(a, b line) int { return int(a.RowsPerCPUSecond - b.RowsPerCPUSecond) })
	m := use[len(use)/2]
	f.rate, f.rows = m.RowsPerCPUSecond/1e3, m.Rows
	for _, l := range use {
		f.rss = max(f.rss, l.RSS)
	}
	return f, true
}

// other gives another engine's figure: as measured now, or as recorded, on the same number of rows if there is one.
func (r *report) other(recorded []line, engine string, j job, rows int64) (figure, bool) {
	if f, ok := median(r.lines, engine, j.name, j.format, 0); ok {
		return f, true
	}
	f, ok := median(recorded, engine, j.name, j.format, rows)
	if !ok {
		if f, ok = median(recorded, engine, j.name, j.format, 0); ok {
			f.sums = nil // of other data
		}
	}
	f.recorded = true
	return f, ok
}

// text is the report, in Markdown. It is an error if answers differ.
func (r *report) text() (string, error) {
	recorded, err := parseLines(recordedLines)
	if err != nil {
		return "", err
	}
	answers, err := parseLines(answerLines)
	if err != nil {
		return "", err
	}
	var sb strings.Builder
	r.head(&sb)
	fmt.Fprintln(&sb, "| workload | format | Tidemark | `retention = '0'` | Flink | ratio | Spark | ratio | DuckDB | ratio | RSS MB | goals |")
	fmt.Fprintln(&sb, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|")
	var wrong []string
	for _, j := range jobs(r.settings.workloads, r.settings.formats) {
		own, ok := median(r.lines, "tidemark", j.name, j.format, 0)
		if !ok {
			continue
		}
		offsets, _ := median(r.lines, "tidemark-offsets", j.name, j.format, 0)
		known, _ := median(answers, "duckdb", j.name, j.format, own.rows)
		sums := slices.Concat(own.sums, offsets.sums, known.sums)
		cells, goals := "", []string{}
		for _, e := range []string{"flink-hashmap", "spark-rocksdb", "duckdb"} {
			f, ok := r.other(recorded, e, j, own.rows)
			if !ok {
				cells += " - | - |"
				continue
			}
			sums = append(sums, f.sums...)
			mark := ""
			if f.recorded {
				mark = "†"
			} else if f.cold {
				mark = "‡"
			}
			ratio := own.rate / f.rate
			cells += fmt.Sprintf(" %.0f%s | %s |", f.rate, mark, short(ratio))
			goals = append(goals, goalOf(e, j.name, ratio)...)
		}
		if slices.ContainsFunc(sums, func(s string) bool { return s != sums[0] }) {
			wrong = append(wrong, fmt.Sprintf("%s, %s: %v", j.name, j.format, sums))
		}
		fmt.Fprintf(&sb, "| %s | %s | %.0f | %.0f |%s %d | %s |\n", j.name, j.format, own.rate, offsets.rate, cells, own.rss, strings.Join(goals, ", "))
	}
	if len(wrong) > 0 {
		return sb.String(), fmt.Errorf("answers differ:\n%s", strings.Join(wrong, "\n"))
	}
	return sb.String(), nil
}

// goalOf says whether a ratio is what it is to be.
func goalOf(engine, workload string, ratio float64) []string {
	goal, name := goalSpark, "Spark"
	switch {
	case engine == "duckdb" && ratio >= goalDuckDB:
		return []string{"half of DuckDB"}
	case engine == "duckdb":
		return nil
	case engine == "flink-hashmap" && workload == "filter":
		goal, name = goalFlinkFilter, "Flink"
	case engine == "flink-hashmap":
		goal, name = goalFlink, "Flink"
	case workload == "filter":
		return nil
	}
	if ratio >= goal {
		return []string{fmt.Sprintf("%gx %s", goal, name)}
	}
	return []string{fmt.Sprintf("**not** %gx %s", goal, name)}
}

func short(ratio float64) string {
	if ratio < 10 {
		return fmt.Sprintf("%.2f", ratio)
	}
	return fmt.Sprintf("%.0f", ratio)
}

// head says what was measured, where and how.
func (r *report) head(sb *strings.Builder) {
	fmt.Fprintf(sb, `# Compared with other engines

Written by `+"`make bench-peers`"+` on %s: %s, %d cores, %s, %d rows of input. Thousand rows a CPU second (user and system, the whole process), the
median of the runs (Tidemark: %d, DuckDB: 3, a JVM: the warm one); a ratio is Tidemark's, at the default retention, to the other's.

`, time.Now().Format(time.DateOnly), cpuModel(), runtime.NumCPU(), runtime.Version(), r.settings.rows, r.settings.runs)
	fmt.Fprintf(sb, `All engines read the same files, which [bench/peers](../bench/peers) makes, and their answers are equal by a checksum over all rows, or this page is not written. Tidemark runs as a user has it: a server, a `+"`file`"+`
source with its watermark, late rows recorded, a checkpoint every 10 s, the result a durable view that is kept up to date; `+"`retention = '0'`"+` is the source whose rows are read again from the files when they are needed, instead of being
kept in the log. Flink (heap state) and Spark (RocksDB state) checkpoint and write Parquet files exactly once; DuckDB answers once over all files and keeps nothing. A JVM is warmed first, Flink by a whole run, Spark by 200,000 rows.

`)
	fmt.Fprintf(sb, "† not run here, but recorded on %s on another machine (2 cores of an Intel Xeon), some on 10 million rows: for the order of magnitude only. ‡ a run of a JVM that was not warm.\n\n", recordedDate)
}

func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for l := range strings.Lines(string(b)) {
		if name, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return runtime.GOARCH
}
