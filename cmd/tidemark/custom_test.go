package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestCustomState runs Spark's answers for transform_with_state, the suites of processors, and the examples, also with restarts.
func TestCustomState(t *testing.T) {
	for _, run := range []struct {
		main func([]string) int
		dir  string
	}{{sltMain, "../../sqllogictest/suites/spark/custom_state"}, {sltMain, "../../sqllogictest/suites/streaming/custom"}, {testMain, "../../examples/custom"}, {testMain, "../../sqllogictest/clocked"}} {
		if code := run.main([]string{"-mode", "asis,restart", run.dir}); code != 0 {
			t.Errorf("%s: exit code %d", run.dir, code)
		}
	}
}

// failures is what examples/custom/machine_failures.sql computes, over the whole file at once.
func failures(t *testing.T, file string) (out []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	const layout = "2006-01-02 15:04:05"
	var last time.Time
	var outside []time.Time
	alarm := false
	for i, l := range lines[1:] {
		ts, err := time.Parse(layout, l[0])
		if err != nil {
			t.Fatal(err)
		}
		temp, err := strconv.ParseFloat(l[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && ts.Sub(last) > 30*time.Minute {
			out = append(out, last.Add(30*time.Minute).Format(layout)+" no data")
		}
		last = ts
		if temp >= 60 && temp <= 105 {
			outside = nil
			if alarm {
				out = append(out, l[0]+" all clear")
			}
			alarm = false
			continue
		}
		near := 1
		for _, x := range outside {
			if ts.Sub(x) <= 20*time.Minute {
				near++
			}
		}
		outside = append(outside, ts)
		if near >= 3 && !alarm {
			alarm = true
			out = append(out, l[0]+" alarm")
		}
	}
	return out
}

func TestMachineFailures(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	if err := runFile(context.Background(), url, "../../examples/custom/machine_failures.sql", io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	c := connect(t, url)
	rows, err := c.Query(context.Background(), "SELECT at::text, what FROM failure_events ORDER BY at, what")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rows.Next() {
		var at, what string
		if err := rows.Scan(&at, &what); err != nil {
			t.Fatal(err)
		}
		got = append(got, at+" "+what)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	want := failures(t, "../../examples/machine/machine_temperature.csv")
	if len(want) < 10 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %d events\n%v\nwant %d\n%v", len(got), got, len(want), want)
	}
}
