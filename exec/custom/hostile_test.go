package custom

import (
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// TestHostileScripts: a script that loops, nests without end or wants too much at once fails its own rows only.
func TestHostileScripts(t *testing.T) {
	for _, x := range []struct{ body, want string }{
		{"    while True: pass", "processor_max_steps"},
		{"    for i in range(1 << 40): pass", "processor_max_steps"},
		{"    x = []\n    for i in range(1 << 40): x = [x]", "processor_max_steps"},
		{"    x = []\n    for i in range(100000): x = [x]\n    return [(str(x), 1)]", "nested"},
		{"    x = []\n    for i in range(100000): x = [x]\n    return [(json.encode(x), 1)]", "nested"},
		{"    x = []\n    for i in range(100000): x = [x]\n    return x", "1 values instead of 2"},
		{"    return [('x' * (1 << 40), 1)]", "too large"},
		{"    return [([0] * (1 << 40), 1)]", "too large"},
		{"    return [(handleInputRows(self, key, rows, timerValues), 1)]", "recursively"},
		{"    return [('k', 1 << 100)]", "out of range"},
	} {
		r := newRig(t, "none", catalog.Append, bigint, "k text, n bigint", &funcs{init: func(*Handle) error { return nil }})
		p, err := NewScript("p", "def init(self, handle): pass\ndef handleInputRows(self, key, rows, timerValues):\n"+x.body+"\n", r.op.cols, Bounds{})
		if err == nil {
			err = r.op.start(p, r.op.h.keys)
		}
		if err != nil {
			t.Fatal(err)
		}
		r.epoch(0, 1, [2]any{1, 1})
		if len(r.dead) != 1 || !strings.Contains(r.dead[0], x.want) {
			t.Errorf("%s: %.300q", x.body, r.dead)
		}
		r.dead = nil
		r.epoch(0, 2, [2]any{2, 1}) // the next call has an allowance of its own
		if len(r.dead) != 1 {
			t.Errorf("%s: %.300q", x.body, r.dead)
		}
	}
}
