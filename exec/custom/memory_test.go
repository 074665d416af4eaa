package custom

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// memoryRig runs a body of handleInputRows over state.
func memoryRig(t *testing.T, body string, b Bounds) *rig {
	t.Helper()
	r := newRig(t, "none", catalog.Append, bigint, "k text, n bigint", &funcs{init: func(*Handle) error { return nil }})
	p, err := NewScript("p", `
def init(self, handle):
    self.v = handle.getValueState("v", "s text, j jsonb, a array<struct<t string>>")
    self.l = handle.getListState("l", "s text")
    self.m = handle.getMapState("m", "k text", "s text")
def big(n = 1 << 20): return "x" * n
def dag(n = 100):
    x = [0]
    for i in range(n): x = [x, x]
    return x
def handleInputRows(self, key, rows, timerValues):
    if rows[0].v == 0:
        return [("fine", 1)]
`+body+"\n", r.op.cols, b)
	if err == nil {
		err = r.op.start(p, r.op.h.keys)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMemoryBound: what builds more than a call may ends in a dead letter, without having taken the memory, and the next call goes on.
func TestMemoryBound(t *testing.T) {
	for _, body := range []string{
		"    s = 'x'\n    while True: s = s + s",
		"    s = 'x'\n    while True: s += s",
		"    s = ['x']\n    while True: s = s + s",
		"    s = ['x']\n    while True: s += s",
		"    s = [['x']]\n    while True: s[0] += s[0]",
		"    s = {'x': ['x']}\n    while True: s['x'] += s['x']",
		"    s = ('x',)\n    while True: s = s + s",
		"    return [('x' * (1 << 29), 1)]",
		"    return [([0] * (1 << 29), 1)]",
		"    return [((1 << 29) * [0], 1)]",
		"    x = [big(1 << 20) for i in range(100000)]",
		"    s = big()\n    x = ['%s!' % s for i in range(100000)]",
		"    s = big()\n    x = ['{}{}'.format(s, s) for i in range(100000)]",
		"    s = big()\n    x = [s.upper() for i in range(100000)]",
		"    s = big(1 << 10)\n    x = s.replace('x', s).replace('x', s)",
		"    s = big()\n    x = s.join([s] * 1000)",
		"    s = big()\n    f = s.join\n    x = f([s] * 1000)",
		"    s = big()\n    x = getattr(s, 'join')([s] * 1000)",
		"    s = big()\n    x = ''.join([s] * 1000)",
		"    x = list(range(1 << 30))",
		"    x = sorted(range(1 << 30))",
		"    x = set(range(1 << 30))",
		"    x = []\n    x.extend(range(1 << 30))",
		"    x = []\n    x += range(1 << 30)",
		"    f = lambda *a: a\n    f(*range(1 << 30))",
		"    x = list(range(100000))\n    y = [x[:] for i in range(100000)]",
		"    x = list(range(100000))\n    y = [list(x) for i in range(100000)]",
		"    x = {i: i for i in range(10000)}\n    y = [x.items() for i in range(100000)]",
		"    x = {i: i for i in range(10000)}\n    y = [x | x for i in range(100000)]",
		"    x = {i: i for i in range(10000)}\n    y = [dict(x) for i in range(100000)]",
		"    s = big()\n    x = [s[::-1] for i in range(100000)]",
		"    s = 'x ' * 100000\n    x = [s.split() for i in range(100000)]",
		"    s = 'x ' * 100000\n    x = [s.split(' ') for i in range(100000)]",
		"    x = [str([big()]) for i in range(100000)]",
		"    x = [json.encode(big()) for i in range(100000)]",
		"    s = json.encode([0] * 100000)\n    x = [json.decode(s) for i in range(100000)]",
		"    x = json.indent(json.encode([1, 2] * 1000), indent = big())",
		"    s = big()\n    return [(s, i) for i in range(10000)]",
		"    s = big()\n    for i in range(10000): self.l.appendValue((s,))",
		"    s = big()\n    self.l.put([(s,)] * 10000)",
		"    s = big()\n    for i in range(10000): self.m.updateValue((str(i),), (s,))",
		"    s = big()\n    self.v.update((s, None, None))\n    x = [self.v.get() for i in range(10000)]",
		"    s = big()\n    self.v.update((None, [s] * 1000, None))",
		"    s = big()\n    self.v.update((None, None, [{'t': s}] * 1000))",
		"    s = big()\n    for i in range(40): self.l.appendValue((s,))\n    x = [list(self.l.get()) for i in range(1000)]",
	} {
		r := memoryRig(t, body, Bounds{Memory: 16 << 20})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r.epoch(0, 1, [2]any{1, 1})
		runtime.ReadMemStats(&after)
		if len(r.dead) != 1 || !strings.Contains(r.dead[0], "processor_max_memory") || !strings.Contains(r.dead[0], "in handleInputRows") && !strings.Contains(body, "return [(s") {
			t.Errorf("%s: %.500q", body, r.dead)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 150<<20 {
			t.Errorf("%s: took %d MB", body, took>>20)
		}
		r.dead = nil
		r.epoch(0, 2, [2]any{1, 0})
		if len(r.dead) > 0 {
			t.Errorf("%s: the next call fails: %.300q", body, r.dead)
		}
		r.want(body, "+1 fine 1")
	}
}

// TestTimeOfAStep: what has no end in sight, or takes time in no proportion, is refused.
func TestTimeOfAStep(t *testing.T) {
	for body, want := range map[string]string{
		"    return [(str(dag()), 1)]":                        "the text of the value is too long",
		"    return [('%s' % dag(), 1)]":                      "the text of the value is too long",
		"    return [(json.encode(dag()), 1)]":                "the text of the value is too long",
		"    self.v.update((None, dag(), None))":              "the text of the value is too long",
		"    x = 3\n    while True: x = x * x":                "integers of more than 65536 bits",
		"    x = 3\n    while True: x *= x":                   "integers of more than 65536 bits",
		"    x = 3\n    while True: x = x << 500":             "integers of more than 65536 bits",
		"    return [('k', int('9' * 1000000))]":              "integers of more than 65536 bits",
		"    x = []\n    x += 1":                              "unknown binary op: list + int",
		"    return 'a'.nothing()":                            "string has no .nothing field or method",
		"    return 'a'.items()":                              "string has no .items field or method",
		"    x = 1 + 'a'":                                     "unknown binary op: int + string",
		"    for x in rows:\n        rows += [1]\n    return": "unknown binary op: rows + list",
		"    y += 1":                                    "local variable y referenced before assignment",
		"    y += key":                                  "local variable y referenced before assignment",
		"    x = [1]\n    for i in x: x += [2]":         "cannot apply += to list during iteration|cannot extend list during iteration",
		"    return [([][0:] + [1], 1)]":                "a list cannot be a value of type text",
		"    f = 'a,b'.split\n    return [(f(','), 1)]": "a list cannot be a value of type text",
		"    return [('{} {x}'.format(1, x = 2) * 2 + 5 * 'a', 'text')]": "a string cannot be a value of type bigint",
	} {
		r := memoryRig(t, body, Bounds{})
		r.epoch(0, 1, [2]any{1, 1})
		ok := false
		for _, w := range strings.Split(want, "|") {
			ok = ok || len(r.dead) == 1 && strings.Contains(r.dead[0], w)
		}
		if !ok {
			t.Errorf("%s: %.500q", body, r.dead)
		}
	}
}

// TestInstrumented: a rewritten body computes what the interpreter computes of the body as it is.
func TestInstrumented(t *testing.T) {
	const body = `
calls = []
def note(x):
    calls.append(x)
    return x
def f(a, b = 1 + 2 * 3, *rest, **named):
    return [a, b, rest, sorted(named.items())]
d = {"k": [1], "n": 5}
note(d)["k"] += note([2]) + [3]
d[note("n")] *= note(7)
d["n"] -= 1; d["n"] <<= 2; d["n"] |= 1; d["n"] ^= 8; d["n"] &= 255; d["n"] %= 100; d["n"] //= 2
def loop():
    x, y, s, t = [], {}, set([1, 2]), "a"
    alias = x
    for i in range(5):
        x += [i] * 2
        y |= {i: i}
        s |= set([i])
        t += "b" * i + "%d-%s" % (i, "c")
    x[1] += 10
    x += (9, 8)
    (x)[0] += 1
    return x, alias, y, s - set([1]), s & set([1, 7]), s ^ set([1, 7]), t, t[1:3], t[::-1], x[::2], (1, 2) + (3,), -x[0] + 3 - 2
out = [
    f(*[1, 2, 3, 4], **{"z": 1, "y": 2}), f(1), f(a = 1, b = 2 - 5),
    loop(), calls, d, [a + b for a in [1, 2] for b in [a * 10] if a + b > 11], {k + "x": v * 2 for k, v in {"a": 1}.items()},
    (lambda a, b = 3 * 2: a * b)(7), 3 if 1 + 1 == 2 else 4, ",".join(["a", "b"]), "a-b".split("-"), "abc".replace("b", "xx"), "{}{}".format(1, "a"),
    [x.upper for x in ["a"]][0](), getattr("a b", "split")(), {"a": 1}.keys(), {"a": 1}.values(), list("ab".elems()), "%s %r" % ("a", "b"), 5 % 3, 7 * 6 + 1,
    1 << 10, 6 & 3, 6 | 3, 6 ^ 3, 2 - 3, 10 // 3, [1, 2][-1], zip([1, 2], [3, 4]), enumerate(["a"]), reversed([1, 2]), str([1]), int("12"), bytes("ab"), dict([("a", 1)], b = 2),
    [1, 2, 3][1:], (1, 2, 3)[:2], "héllo"[1:], hasattr("", "join"), set([1]).union([2]),
]
`
	plain, err := starlark.ExecFileOptions(fileOptions, &starlark.Thread{}, "p", body, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := newScript("p", Bounds{}).run(body)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(plain["out"]), fmt.Sprint(got["out"]); a != b {
		t.Errorf("plain:     %s\nrewritten: %s", a, b)
	}
}
