package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"time"
)

// The input: four streams, each in parts that are in order of arrival, and a last one with a single row an hour later (key -1), so that every
// engine closes its last windows.
//
//	events  ts, k1 (1,000 keys), k2 (100,000), k3 (1,000,000), name ("name-" and k2 in 7 digits), v 0..999, price 0.00..999.99
//	imp     id, ts          impressions, 10 of every 13 rows asked for
//	clk     id, ts          a click 0..5 min after 30% of the impressions
//	dup     id, ts, v       10% of the rows repeat an earlier id 0..2 min later in event time, with the same v
//
// A row arrives 0 to 60 s after its event time; arrival goes on by 1 s every 1,000 events, impressions or rows of dup.
const (
	parts    = 40
	baseTime = 1_767_225_600_000 // 2026-01-01, milliseconds
	disorder = 60_000
	flush    = 3_600_000
	seed     = 20260101
)

// table is a part of a stream, by column; only those that the stream has are set.
type table struct {
	ts, k1, k2, k3, v, id []int64 // ts in milliseconds
	cents                 []int64 // of price
}

func (t *table) rows() int { return len(t.ts) }

// streamNames are the streams.
var streamNames = []string{"events", "imp", "clk", "dup"}

// makeStream gives the parts of a stream of n rows, one after the other.
func makeStream(name string, n int, each func(*table) error) error {
	switch name {
	case "events":
		return makeEvents(n, each)
	case "imp":
		return makeImp(n, each)
	case "clk":
		return makeClk(n, each)
	}
	return makeDup(n, each)
}

// cut gives where part p of n rows begins.
func cut(n, p int) int { return n * p / parts }

func makeEvents(n int, each func(*table) error) error {
	for p := range parts {
		lo, m := cut(n, p), cut(n, p+1)-cut(n, p)
		g := newNumpy(seed, 1, uint32(p))
		t := &table{ts: g.integers(disorder, m)}
		for i := range t.ts {
			t.ts[i] = baseTime + int64(lo+i) - t.ts[i]
		}
		t.k1, t.k2, t.k3 = g.integers(1_000, m), g.integers(100_000, m), g.integers(1_000_000, m)
		t.v, t.cents = g.integers(1_000, m), g.integers(100_000, m)
		if err := each(t); err != nil {
			return err
		}
	}
	one := []int64{-1}
	return each(&table{ts: []int64{baseTime + int64(n) + flush}, k1: one, k2: one, k3: one, v: one, cents: []int64{0}})
}

// impTimes gives the event times of the impressions.
func impTimes(n int) []int64 {
	ts := newNumpy(seed, 2).integers(disorder, n*10/13)
	for i := range ts {
		ts[i] = baseTime + int64(i) - ts[i]
	}
	return ts
}

func makeImp(n int, each func(*table) error) error {
	ts := impTimes(n)
	for p := range parts {
		lo, hi := cut(len(ts), p), cut(len(ts), p+1)
		t := &table{ts: ts[lo:hi]}
		for i := lo; i < hi; i++ {
			t.id = append(t.id, int64(i))
		}
		if err := each(t); err != nil {
			return err
		}
	}
	return each(&table{id: []int64{-1}, ts: []int64{baseTime + int64(len(ts)) + flush}})
}

func makeClk(n int, each func(*table) error) error {
	its, g := impTimes(n), newNumpy(seed, 3)
	var ids []int64
	for i := range its {
		if g.float() < 0.3 {
			ids = append(ids, int64(i))
		}
	}
	ts := g.integers(300_000, len(ids))
	for i, id := range ids {
		ts[i] += its[id]
	}
	arrival := g.integers(disorder, len(ids))
	for i := range arrival {
		arrival[i] += ts[i]
	}
	order := stable(arrival)
	// A part covers the same span of arrival as the part of imp.
	at := func(i int) int {
		return sort.Search(len(order), func(k int) bool { return arrival[order[k]] >= baseTime+int64(i) })
	}
	for p := range parts {
		lo, hi := 0, at(cut(len(its), p+1))
		if p > 0 {
			lo = at(cut(len(its), p))
		}
		if err := each(&table{id: pick(ids, order[lo:hi]), ts: pick(ts, order[lo:hi])}); err != nil {
			return err
		}
	}
	return each(&table{id: []int64{-1}, ts: []int64{baseTime + int64(len(its)) + flush}})
}

func makeDup(n int, each func(*table) error) error {
	g, first := newNumpy(seed, 4), n-n/10
	ts := g.integers(disorder, first)
	ids := make([]int64, first, n)
	for i := range ts {
		ids[i] = int64(i)
		ts[i] = baseTime + int64(i*n/first) - ts[i]
	}
	again := g.choice(first, n-first)
	for i, d := range g.integers(120_000, len(again)) {
		ids, ts = append(ids, again[i]), append(ts, ts[again[i]]+d)
	}
	arrival := g.integers(disorder, n)
	for i := range arrival {
		arrival[i] += ts[i]
	}
	order := stable(arrival)
	for p := range parts {
		o := order[cut(n, p):cut(n, p+1)]
		t := &table{id: pick(ids, o), ts: pick(ts, o)}
		for _, id := range t.id {
			t.v = append(t.v, id*7919%1000)
		}
		if err := each(t); err != nil {
			return err
		}
	}
	return each(&table{id: []int64{-1}, ts: []int64{slices.Max(ts) + flush}, v: []int64{-1}})
}

// stable gives the order of the values; equal ones stay in theirs.
func stable(v []int64) []int32 {
	order := make([]int32, len(v))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if v[a] < v[b] {
			return -1
		} else if v[a] > v[b] {
			return 1
		}
		return 0
	})
	return order
}

func pick(v []int64, order []int32) []int64 {
	out := make([]int64, len(order))
	for i, o := range order {
		out[i] = v[o]
	}
	return out
}

// generate writes the streams in the formats, unless they are there: events in all, the others as Parquet.
func generate(dir string, rows int, formats []string) error {
	mark := filepath.Join(dir, "rows")
	want := fmt.Sprint(rows, formats)
	if have, err := os.ReadFile(mark); err == nil && string(have) == want {
		return nil
	}
	for _, f := range formats {
		for _, s := range streamNames {
			if s != "events" && f != "parquet" {
				continue
			}
			d := filepath.Join(dir, f, s)
			if err := os.MkdirAll(d, 0o755); err != nil {
				return err
			}
			p := 0
			err := makeStream(s, rows, func(t *table) error {
				path := filepath.Join(d, fmt.Sprintf("part-%04d.%s", p, f))
				if err := writePart(path, f, t); err != nil {
					return err
				}
				when := time.UnixMilli(baseTime).Add(time.Duration(p) * time.Second) // order of modification is order of arrival
				p++
				return os.Chtimes(path, when, when)
			})
			if err != nil {
				return err
			}
		}
	}
	return os.WriteFile(mark, []byte(want), 0o644)
}

// nameOf is the string key of a number.
func nameOf(dst []byte, k2 int64) []byte {
	dst = append(dst, "name-"...)
	digits := strconv.FormatInt(k2, 10)
	for range 7 - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
