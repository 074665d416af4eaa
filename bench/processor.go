package bench

import (
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
	w := &workload{name: name, keyType: "bigint", keys: keys, delay: time.Second, mode: "append", perEpoch: time.Second, warm: 12, epochs: 100, smoke: 4, goal: goal,
		model: func() model { return &counterModel{all: map[int64]int64{}, here: map[int64]struct{}{}} },
		query: "SELECT * FROM transform_with_state(TABLE events PARTITION BY k, processor => '" +
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

// counterModel expects of each key and epoch the number of its rows so far.
type counterModel struct {
	all              map[int64]int64
	here             map[int64]struct{} // the keys of the epoch
	calls, sum, most int64
}

func (m *counterModel) add(_ int, e event) {
	m.all[e.key]++
	m.here[e.key] = struct{}{}
}

func (m *counterModel) endEpoch(int64) {
	for k := range m.here {
		m.calls, m.sum, m.most = m.calls+1, m.sum+m.all[k], max(m.most, m.all[k])
	}
	clear(m.here)
}

func (m *counterModel) result() []int64 { return []int64{m.calls, m.sum, m.most} }
