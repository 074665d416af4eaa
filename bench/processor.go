package bench

import (
	"fmt"
	"time"

	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// The processors count rows by key in a value state: in Starlark, and the same in Go. With a million keys nearly every call gets
// one row, with 10,000 keys 6.5.
var processorWorkloads = []*workload{
	counter("processor-starlark-1M", "star_counter", 1_000_000, 0.3),
	counter("processor-starlark-10k", "star_counter", 10_000, 0.3),
	counter("processor-go-1M", "go_counter", 1_000_000, 1),
	counter("processor-go-10k", "go_counter", 10_000, 1),
}

const starCounter = `CREATE PROCESSOR star_counter RETURNS TABLE (k bigint, n bigint) LANGUAGE starlark AS $$
def init(self, handle):
    self.n = handle.getValueState("n", "n bigint")

def handleInputRows(self, key, rows, timerValues):
    n = self.n.get()[0] if self.n.exists() else 0
    for row in rows:
        n += 1
    self.n.update((n,))
    return [(key[0], n)]
$$`

func counter(name, processor string, keys int64, goal float64) *workload {
	w := &workload{name: name, keyType: "bigint", keys: keys, perEpoch: time.Second, epochs: 100, smoke: 3, goal: goal, check: checkCounter,
		view: "CREATE MATERIALIZED VIEW v WITH (output_mode = 'append') AS SELECT * FROM transform_with_state(TABLE events PARTITION BY k, processor => '" +
			processor + "', time_mode => 'none')",
		sums: "SELECT count(*), sum(n)::bigint, max(n) FROM v"}
	if processor == "star_counter" {
		w.before = starCounter
	}
	return w
}

// nativeProcessors offers go_counter.
func nativeProcessors() (*engine.Processors, error) {
	p := &engine.Processors{}
	i8 := types.Of(types.Int8)
	err := p.Register("go_counter", []catalog.Column{{Name: "k", Type: i8}, {Name: "n", Type: i8}},
		func() custom.StatefulProcessor { return &goCounter{} })
	return p, err
}

// goCounter counts a key's rows.
type goCounter struct {
	custom.Base
	h *custom.Handle
	n *custom.ValueState
}

// Init implements custom.StatefulProcessor.
func (c *goCounter) Init(h *custom.Handle) (err error) {
	c.h = h
	c.n, err = h.ValueState("n", "n bigint")
	return err
}

// HandleInputRows implements custom.StatefulProcessor.
func (c *goCounter) HandleInputRows(key custom.Row, rows custom.Rows, _ custom.TimerValues) (custom.Output, error) {
	n := int64(0)
	old, ok, err := c.n.Get()
	if err != nil {
		return nil, err
	}
	if ok {
		n = old.Int("n")
	}
	for i := 0; i < rows.Len(); i++ {
		n++
	}
	if err := c.n.Update(n); err != nil {
		return nil, err
	}
	row, err := c.h.Row(key.Int("k"), n)
	return custom.Output{row}, err
}

// checkCounter expects of each key and epoch the number of its rows so far.
func checkCounter(s *source, rows [][]string) error {
	again := newSource(s.w)
	all, here := map[int64]int64{}, map[int64]struct{}{}
	var calls, sum, most int64
	for again.n < s.n {
		b := again.next()
		clear(here)
		for i := 0; i < b.N; i++ {
			k := b.Cols[0].I64[i]
			all[k]++
			here[k] = struct{}{}
		}
		for k := range here {
			calls, sum, most = calls+1, sum+all[k], max(most, all[k])
		}
	}
	if err := compare(rows, calls, sum, most); err != nil {
		return fmt.Errorf("counter: %w", err)
	}
	return nil
}
