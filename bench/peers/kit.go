package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// line is what one run of one engine measured. The runners of the kit print it too.
type line struct {
	Engine           string  `json:"engine"`
	Version          string  `json:"version,omitempty"`
	Workload         string  `json:"workload"`
	Format           string  `json:"format"`
	Rows             int64   `json:"rows"`
	Seconds          float64 `json:"seconds"`
	CPUSeconds       float64 `json:"cpu_seconds"`
	RowsPerSecond    float64 `json:"rows_per_s"`
	RowsPerCPUSecond float64 `json:"rows_per_cpu_s"`
	RSS              int64   `json:"max_rss_mb"`
	ResultRows       int64   `json:"result_rows"`
	ResultChecksum   string  `json:"result_checksum"`
	Run              int     `json:"run"`
}

// peer is another engine, which a script of the kit runs.
type peer struct {
	engine string // in its lines
	script string
	args   []string
	needs  string // a Python statement that fails where it is not installed
	jars   bool
}

var peers = []peer{
	{"duckdb", "run_duckdb.py", []string{"--runs", "3"}, "import duckdb, numpy, pyarrow", false},
	{"flink-hashmap", "run_flink.py", []string{"--runs", "2", "--slow", "600"}, "import numpy, pyarrow", true},
	{"spark-rocksdb", "run_spark.py", []string{"--runs", "1", "--warm", "WARM"}, "import pyspark, numpy, pyarrow", false},
}

// kit is where the scripts are that run other engines.
type kit struct {
	dir, python, jars string
}

// newKit finds Python and Flink's jars: PEERS_PYTHON and FLINK_JARS, or where the kit's README puts them.
func newKit(dir string) kit {
	k := kit{dir, os.Getenv("PEERS_PYTHON"), os.Getenv("FLINK_JARS")}
	if k.python == "" {
		k.python = filepath.Join(dir, "venv", "bin", "python")
		if _, err := os.Stat(k.python); err != nil {
			k.python = "python3"
		}
	}
	if k.jars == "" {
		k.jars = filepath.Join(dir, "flink", "jars")
	}
	return k
}

// missing says why an engine can't run, "" if it can.
func (k kit) missing(p *peer) string {
	if k.dir == "" {
		return "PEERS_KIT does not name the folder of its runner"
	}
	if out, err := exec.Command(k.python, "-c", p.needs).CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return "it is not installed: " + lines[len(lines)-1]
	}
	if p.jars {
		if _, err := os.Stat(filepath.Join(k.jars, "classes", "Run.class")); err != nil {
			return "its jars and classes are not there: " + err.Error()
		}
	}
	return ""
}

// run runs an engine on a job and gives its lines.
func (k kit) run(ctx context.Context, p *peer, data, warm, scratch string, j job, log io.Writer) ([]line, error) {
	args := []string{filepath.Join(k.dir, p.script), j.name, "--format", j.format}
	for _, a := range p.args {
		if a == "WARM" {
			a = warm
		}
		args = append(args, a)
	}
	cmd := exec.CommandContext(ctx, k.python, args...)
	cmd.Env = append(os.Environ(), "PEERS_DATA="+data, "PEERS_SCRATCH="+scratch, "FLINK_JARS="+k.jars)
	cmd.Stderr = log
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", p.script, j.name, err)
	}
	return parseLines(out)
}

// parseLines reads lines of JSON.
func parseLines(text []byte) ([]line, error) {
	var out []line
	for _, b := range bytes.Split(text, []byte("\n")) {
		if len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(b, &l); err != nil {
			return nil, fmt.Errorf("%q: %w", b, err)
		}
		out = append(out, l)
	}
	return out, nil
}
