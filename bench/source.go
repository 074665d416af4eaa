package bench

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// workloads are those that have goals: windows hold at least 20 rows a key at 1k and 100k keys, 3 at 1M.
var workloads = []*workload{
	{name: "filter", keyType: "bigint", keys: 1000, perEpoch: time.Second, epochs: 400, smoke: 3, goal: 80, check: checkFilter,
		view: "CREATE MATERIALIZED VIEW v WITH (output_mode = 'append') AS SELECT k, v, ts FROM events WHERE x < 100",
		sums: "SELECT count(*), sum(v)::bigint FROM v"},
	tumbling("tumbling-1k", "bigint", 1000, time.Second, 300, 40),
	tumbling("tumbling-100k", "bigint", 100_000, 300*time.Millisecond, 200, 15),
	tumbling("tumbling-1M", "bigint", 1_000_000, 200*time.Millisecond, 200, 7),
	tumbling("tumbling-100k-strings", "text", 100_000, 300*time.Millisecond, 120, 6),
}

// tumbling is the count, sum and max of a ten-second window by key.
func tumbling(name, keyType string, keys int64, perEpoch time.Duration, epochs int, goal float64) *workload {
	return &workload{name: name, keyType: keyType, keys: keys, perEpoch: perEpoch, epochs: epochs, smoke: 4, goal: goal, check: checkTumbling,
		sums: "SELECT count(*), sum(n)::bigint, sum(s)::bigint, max(m) FROM v",
		view: "CREATE MATERIALIZED VIEW v WITH (output_mode = 'append') AS SELECT window.end AS we, k, count(*) AS n, sum(v) AS s, max(x) AS m FROM events GROUP BY window(ts, '10 seconds'), k"}
}

const windowMicros = 10_000_000

// source makes the same events for the same workload, epoch after epoch. One epoch's batch is valid until the second call of next after it.
type source struct {
	w       *workload
	bufs    [2]*batch.Batch
	turn    int
	n       int64 // events so far
	rnd     uint64
	names   [][]byte
	windows map[int64]*windowSum
	passed  int64
	sumV    int64
	maxTS   int64
}

// windowSum is what a tumbling view must hold of one window, over all keys.
type windowSum struct {
	keys map[int64]struct{}
	n, s int64
	m    int64
}

func newSource(w *workload) *source {
	s := &source{w: w, rnd: 88172645463325252, windows: map[int64]*windowSum{}}
	kt := types.Of(types.Int8)
	if w.keyType == "text" {
		kt = types.Of(types.Text)
		for i := int64(0); i < w.keys; i++ {
			s.names = append(s.names, fmt.Appendf(nil, "key-%08d", i))
		}
	}
	for i := range s.bufs {
		s.bufs[i] = batch.New([]types.Type{kt, types.Of(types.Int8), types.Of(types.Int8), types.Of(types.Timestamp)}, epochRows)
	}
	return s
}

func (s *source) random() uint64 {
	s.rnd ^= s.rnd << 13
	s.rnd ^= s.rnd >> 7
	s.rnd ^= s.rnd << 17
	return s.rnd
}

// next gives the next epoch. Its cost is part of what is measured: some 5 ns an event.
func (s *source) next() *batch.Batch {
	b := s.bufs[s.turn]
	s.turn = 1 - s.turn
	b.Reset()
	step := s.w.perEpoch.Microseconds() * 1000 / epochRows // nanoseconds an event
	base := int64(1_700_000_000_000_000)
	for range epochRows {
		r := s.random()
		k, v, x := int64(r>>32)%s.w.keys, int64(r&0xffff), int64(r>>16&0xffff)%1000
		ts := base + s.n*step/1000
		s.n++
		if s.names != nil {
			b.Cols[0].AppendBytes(s.names[k])
		} else {
			b.Cols[0].AppendInt(k)
		}
		b.Cols[1].AppendInt(v)
		b.Cols[2].AppendInt(x)
		b.Cols[3].AppendInt(ts)
	}
	b.N = epochRows
	s.maxTS = base + (s.n-1)*step/1000
	return b
}

// expect runs the generator again and sums up what the views must hold.
func (s *source) expect() {
	again := newSource(s.w)
	for again.n < s.n {
		b := again.next()
		for i := 0; i < b.N; i++ {
			v, x, ts := b.Cols[1].I64[i], b.Cols[2].I64[i], b.Cols[3].I64[i]
			if x < 100 {
				s.passed++
				s.sumV += v
			}
			end := ts - ts%windowMicros + windowMicros
			w := s.windows[end]
			if w == nil {
				w = &windowSum{keys: map[int64]struct{}{}}
				s.windows[end] = w
			}
			var k int64
			if again.names != nil {
				k, _ = strconv.ParseInt(string(b.Cols[0].Bytes(i)[4:]), 10, 64)
			} else {
				k = b.Cols[0].I64[i]
			}
			w.keys[k] = struct{}{}
			w.n++
			w.s += v
			w.m = max(w.m, x)
		}
	}
}

func checkFilter(s *source, rows [][]string) error {
	s.expect()
	return compare(rows, s.passed, s.sumV)
}

// checkTumbling expects every window that is closed: its end is at or below the greatest time less the delay of a second.
func checkTumbling(s *source, rows [][]string) error {
	s.expect()
	var groups, n, sum, most int64
	for end, w := range s.windows {
		if end <= (s.maxTS-1_000_000)/1000*1000 {
			groups, n, sum, most = groups+int64(len(w.keys)), n+w.n, sum+w.s, max(most, w.m)
		}
	}
	return compare(rows, groups, n, sum, most)
}

func compare(rows [][]string, want ...int64) error {
	if len(rows) != 1 {
		return fmt.Errorf("%d rows", len(rows))
	}
	for i, w := range want {
		got := rows[0][i]
		if got == "" && w == 0 {
			continue
		}
		if got != strconv.FormatInt(w, 10) {
			return fmt.Errorf("the view is wrong: %v, want %v", rows[0], want)
		}
	}
	return nil
}

// texts shows rows as text; NULL is the empty string.
func texts(s session.Session, b *batch.Batch) [][]string {
	out := make([][]string, b.N)
	env := s.Env()
	for i := range out {
		for _, c := range b.Cols {
			if c.IsNull(i) {
				out[i] = append(out[i], "")
				continue
			}
			out[i] = append(out[i], string(types.Append(nil, c.Type, c.Datum(i), env)))
		}
	}
	return out
}
