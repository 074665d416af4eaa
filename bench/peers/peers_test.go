package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestNumpy compares with what numpy 2.4 draws.
func TestNumpy(t *testing.T) {
	equal := func(what string, got []int64, want ...int64) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	g := newNumpy(20260101, 1, 7)
	equal("integers", g.integers(60000, 5), 8749, 29132, 49258, 36432, 38805)
	equal("integers", g.integers(1_000_000, 4), 190513, 878197, 566267, 943469)
	if a, b := g.float(), g.float(); a < 0.00618745 || a > 0.00618747 || b < 0.47424166 || b > 0.47424168 {
		t.Errorf("random: %v, %v", a, b)
	}
	equal("integers after floats", g.integers(1000, 3), 387, 297, 764)
	g = newNumpy(20260101, 4)
	c := g.choice(18000, 2000)
	total := int64(0)
	for _, x := range c {
		total += x
	}
	equal("choice", append(c[:5:5], total), 14745, 168, 8619, 15422, 7764, 18042475)
	equal("after choice", g.integers(10, 3), 4, 9, 6)
	equal("long entropy", newNumpy(1, 2, 3, 4, 5, 6).integers(1<<32-5, 3), 1848005263, 2670631799, 3068873245)
}

// TestAnswers computes workloads from the rows that are written, in the plainest way, and compares with what DuckDB answered over files that a
// script with numpy had made: the rows are the same, and the checksum is.
func TestAnswers(t *testing.T) {
	const n = 20_000
	got := map[string]*sum{}
	for i := range workloads {
		got[workloads[i].name] = &sum{}
	}
	each := func(name string, row func(t *table, i int)) {
		t.Helper()
		if err := makeStream(name, n, func(p *table) error {
			for i := range p.rows() {
				row(p, i)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	type group struct{ w, k int64 }
	groups := map[string]map[group]*[3]int64{"tumble_1k": {}, "tumble_100k": {}, "tumble_1m": {}, "slide": {}}
	each("events", func(p *table, i int) {
		if p.k1[i] < 0 {
			return
		}
		if p.v[i] >= 900 {
			got["filter"].add([]int64{p.ts[i], p.k3[i], p.v[i]*2 + 1})
		}
		put := func(name string, w, k int64) {
			g := groups[name][group{w, k}]
			if g == nil {
				g = &[3]int64{}
				groups[name][group{w, k}] = g
			}
			g[0], g[1], g[2] = g[0]+1, g[1]+p.v[i], max(g[2], p.cents[i])
		}
		w := p.ts[i] - p.ts[i]%60_000
		put("tumble_1k", w, p.k1[i])
		put("tumble_100k", w, p.k2[i])
		put("tumble_1m", w, p.k3[i])
		for back := range int64(10) {
			put("slide", w-back*60_000, p.k1[i])
		}
	})
	for name, gs := range groups {
		for g, a := range gs {
			got[name].add([]int64{g.w, g.k, a[0], a[1], a[2]})
		}
	}
	got["tumble_str_100k"] = got["tumble_100k"]
	its, clicked := map[int64]int64{}, map[int64]bool{}
	each("imp", func(p *table, i int) { its[p.id[i]] = p.ts[i] })
	each("clk", func(p *table, i int) {
		if id := p.id[i]; id >= 0 && p.ts[i] >= its[id] && p.ts[i] <= its[id]+300_000 {
			clicked[id] = true
			got["join"].add([]int64{id, its[id], p.ts[i]})
			got["left_join"].add([]int64{id, its[id], p.ts[i]})
		}
	})
	for id, ts := range its {
		if id >= 0 && !clicked[id] {
			got["left_join"].add([]int64{id, ts, -2})
		}
	}
	seen := map[int64]bool{-1: true}
	each("dup", func(p *table, i int) {
		if !seen[p.id[i]] {
			seen[p.id[i]] = true
			got["dedup"].add([]int64{p.id[i], p.v[i]})
		}
	})
	want, err := parseLines(answerLines)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range want {
		s := got[l.Workload]
		if l.Workload == "session" || s == nil { // sessions are compared by the engines
			continue
		}
		if have := fmtSum(*s); have != fmtWant(l) {
			t.Errorf("%s: %s, want %s", l.Workload, have, fmtWant(l))
		}
	}
}

// TestFiles: the files are there, with the rows that were made, in all formats.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	if err := generate(dir, 12_000, []string{"parquet", "csv", "json"}); err != nil {
		t.Fatal(err)
	}
	for _, s := range streamNames {
		rows, names := int64(0), ""
		files, _ := filepath.Glob(filepath.Join(dir, "parquet", s, "part-*"))
		for _, path := range files {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			st, _ := f.Stat()
			p, err := parquet.OpenFile(f, st.Size())
			if err != nil {
				t.Fatal(err)
			}
			rows += p.NumRows()
			names = ""
			for _, c := range p.Schema().Columns() {
				names += c[0] + " "
			}
			f.Close()
		}
		want := int64(0)
		if err := makeStream(s, 12_000, func(p *table) error { want += int64(p.rows()); return nil }); err != nil {
			t.Fatal(err)
		}
		if len(files) != parts+1 || rows != want {
			t.Errorf("%s: %d files, %d rows, want %d", s, len(files), rows, want)
		}
		if cols := map[string]string{"events": "ts k1 k2 k3 name v price ", "dup": "id ts v "}[s]; cols != "" && names != cols {
			t.Errorf("%s has the columns %s", s, names)
		}
	}
	first := func(format string) string {
		b, err := os.ReadFile(filepath.Join(dir, format, "events", "part-0000."+format))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.SplitAfter(string(b), "\n")[:2], "")
	}
	if got, want := first("csv"), "ts,k1,k2,k3,name,v,price\n2025-12-31 "; !strings.HasPrefix(got, want) {
		t.Errorf("csv: %q", got)
	}
	if got, want := first("json"), `{"ts":"2025-12-31 `; !strings.HasPrefix(got, want) || !strings.Contains(got, `,"name":"name-00`) {
		t.Errorf("json: %q", got)
	}
}

func fmtSum(s sum) string { return fmt.Sprintf("%016x of %d", s.bits, s.rows) }

func fmtWant(l line) string { return fmt.Sprintf("%s of %d", l.ResultChecksum, l.ResultRows) }
