package state

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// replaced makes the changes of epochs of which each replaces rows of a view of a million, as a top n does.
type replaced struct {
	rnd  *rand.Rand
	live [][4]int64
}

func newReplaced(keys, each int) *replaced {
	p := &replaced{rnd: rand.New(rand.NewPCG(1, 1))}
	for i := range keys * each {
		p.live = append(p.live, p.row(int64(i/each)))
	}
	return p
}

func (p *replaced) row(key int64) [4]int64 {
	return [4]int64{key, p.rnd.Int64N(1 << 16), p.rnd.Int64N(1000), 1_700_000_000_000_000 + p.rnd.Int64N(1<<40)}
}

var replacedTypes = []types.Type{types.Of(types.Int8), types.Of(types.Int8), types.Of(types.Int8), types.Of(types.Timestamp)}

// epoch gives n replaced rows, 2n changes.
func (p *replaced) epoch(n int) []*batch.Batch {
	var out []*batch.Batch
	b := batch.New(replacedTypes, batch.Target)
	add := func(row [4]int64, w int64) {
		for c, x := range row {
			b.Cols[c].AppendInt(x)
		}
		b.EndRow(w)
	}
	for range n {
		i := p.rnd.IntN(len(p.live))
		add(p.live[i], -1)
		p.live[i] = p.row(p.live[i][0])
		add(p.live[i], 1)
		if b.N >= batch.Target {
			out, b = append(out, b), batch.New(replacedTypes, batch.Target)
		}
	}
	return append(out, b)
}

// all gives the rows as they are.
func (p *replaced) all() []*batch.Batch {
	var out []*batch.Batch
	for lo := 0; lo < len(p.live); lo += batch.Target {
		b := batch.New(replacedTypes, batch.Target)
		for _, row := range p.live[lo:min(lo+batch.Target, len(p.live))] {
			for c, x := range row {
				b.Cols[c].AppendInt(x)
			}
			b.EndRow(1)
		}
		out = append(out, b)
	}
	return out
}

// BenchmarkChanges is the cost of a change of contents that nobody reads: what the loop of epochs has of it, what is done beside it, and at the end
// what a first lookup, a first scan and the writer of a checkpoint find to do.
func BenchmarkChanges(b *testing.B) {
	for _, gift := range []bool{false, true} {
		b.Run(fmt.Sprintf("gift=%t", gift), func(b *testing.B) {
			for range b.N {
				benchChanges(b, gift)
			}
		})
	}
}

func benchChanges(b *testing.B, gift bool) {
	const epochs, replaces = 152, 12_500 // so that as many runs as may be are not in order at the end
	st, err := Open(filepath.Join(b.TempDir(), "db"), Options{ReserveBytes: 1, CacheBytes: 512 << 20})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	rows := st.Rows(1, replacedTypes, []int{0})
	rows.SetUnique()
	p := newReplaced(100_000, 10)
	var loop, beside time.Duration
	most := int64(0)
	for e := -1; e < epochs; e++ {
		changes := p.epoch(replaces)
		if e < 0 {
			changes = p.all()
		}
		start := time.Now()
		for _, x := range changes {
			if gift {
				x.Gift = &batch.Gift{}
			}
			rows.Apply(x)
		}
		rows.Publish(uint64(e + 2))
		if e >= 0 {
			loop += time.Since(start)
		}
		start = time.Now()
		for rows.Merging() {
			time.Sleep(50 * time.Microsecond)
		}
		beside += time.Since(start)
		most = max(most, rows.MemBytes())
	}
	per := func(name string, d time.Duration) {
		b.ReportMetric(float64(d.Nanoseconds())/(epochs*2*replaces), name+"-ns/change")
	}
	per("loop", loop)
	per("beside", beside)
	b.ReportMetric(float64(most)/(1<<20), "MB")
	b.ReportMetric(float64(len(rows.view.Load().runs)), "runs")
	v, n := rows.Snapshot(), 0
	count := func(x *batch.Batch) error { n += x.N; return nil }
	for _, name := range []string{"first-lookup", "lookup"} {
		start := time.Now()
		if err := v.Lookup([]types.Datum{types.IntDatum(77)}, count); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Microseconds())/1000, name+"-ms")
	}
	start := time.Now()
	if err := v.Scan(count); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(start).Milliseconds()), "scan-ms")
	start = time.Now()
	s := rows.Freeze()
	n = 0
	if err := s.each(func(change) error { n++; return nil }); err != nil {
		b.Fatal(err)
	}
	per("write", time.Since(start))
	b.ReportMetric(float64(n), "written")
}
