package agg

import (
	"testing"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// op makes l op r over two operands of one type.
func op(name string, l, r plan.Expr) plan.Expr {
	for _, f := range fn.LookupOperator(name) {
		if len(f.Args) == 2 && f.Args[0].Same(l.Type()) && f.Args[1].Same(r.Type()) {
			return &plan.Call{Fn: f, Args: []plan.Expr{l, r}, Typ: f.Result, Pos: -1}
		}
	}
	panic("no operator " + name)
}

// A row that fails in a key, a filter or an argument is a dead letter and counts nowhere; a filter guards its arguments.
func TestRowErrors(t *testing.T) {
	s := newSource(false, tInt8, tInt8)
	quotient := op("/", lit(tInt8, "100"), col(s, 1))
	guarded := call("sum", quotient)
	guarded.Filter = op("<>", col(s, 1), lit(tInt8, "0"))
	h := newHarness(t, aggregate(s, catalog.Update, -1, []plan.Expr{op("%", lit(tInt8, "7"), col(s, 0))}, call("count"), guarded))
	want(t, "guarded", h.epoch(none, false, ins("2", "10"), ins("2", "0"), ins("0", "1"), ins("3", "50")), "+1 1|3|12")
	if len(h.sink.letters) != 1 || h.sink.letters["22012 division by zero: 0|1"] != 1 {
		t.Errorf("letters %v", h.sink.letters)
	}
	want(t, "withdrawn", h.epoch(none, false, del("0", "1"), del("2", "0")), "-1 1|3|12", "+1 1|2|12")
	if len(h.sink.letters) != 0 {
		t.Errorf("letters %v", h.sink.letters)
	}

	h = newHarness(t, aggregate(s, catalog.Update, -1, nil, call("count"), call("sum", quotient)))
	want(t, "argument", h.epoch(none, false, ins("1", "0"), ins("1", "5"), ins("1", "0")), "+1 1|20")
	if h.sink.letters["22012 division by zero: 1|0"] != 2 {
		t.Errorf("letters %v", h.sink.letters)
	}
}

// The forms of equal keys: the first seen is shown, and kept over epochs.
func TestKeyForms(t *testing.T) {
	s := newSource(false, tNumeric, tSpan, types.ArrayOf(tInt4), types.Of(types.UUID), types.Of(types.JSONB))
	h := newHarness(t, aggregate(s, catalog.Update, -1, []plan.Expr{col(s, 0), col(s, 1), col(s, 2), col(s, 3), col(s, 4)}, call("count")))
	id := "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
	want(t, "first", h.epoch(none, false, ins("1.0", "1 mon", "{1,2}", id, `{"a": 1.0}`), ins("1.00", "30 days", "{1,2}", id, `{"a": 1.00}`)),
		`+1 1.0|1 mon|{1,2}|`+id+`|{"a": 1.0}|2`)
	want(t, "second", h.epoch(none, false, del("1.0", "1 mon", "{1,2}", id, `{"a": 1.0}`)),
		`-1 1.0|1 mon|{1,2}|`+id+`|{"a": 1.0}|2`, `+1 1.0|1 mon|{1,2}|`+id+`|{"a": 1.0}|1`)
}

// Composite keys come back from their bytes, zero bytes and empty strings included.
func TestKeyBytes(t *testing.T) {
	bytea := types.Of(types.Bytea)
	s := newSource(true, bytea, tText, tInt8, types.Of(types.UUID), tWindow, tBool)
	var keys []plan.Expr
	for i := range s.P.Columns {
		keys = append(keys, col(s, i))
	}
	h := newHarness(t, aggregate(s, catalog.Update, -1, keys))
	id := "f0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
	w := windowText(-10, 20)
	want(t, "keys", h.epoch(none, false,
		ins(`\x00ff0001`, "", "-5", id, "-10-20", "t"), ins(`\x`, "a", "NULL", "NULL", "NULL", "NULL"), ins("NULL", "NULL", "9", id, "NULL", "f")),
		`+1 \x00ff0001||-5|`+id+"|"+w+"|t", `+1 \x|a|NULL|NULL|NULL|NULL`, "+1 NULL|NULL|9|"+id+"|NULL|f")
}

// Groups of a window come out in the order of their keys, NULL last, windows by their end.
func TestOrderOnClose(t *testing.T) {
	s := newSource(true, tWindow, tInt8)
	h := newHarness(t, aggregate(s, catalog.Append, 0, []plan.Expr{col(s, 0), col(s, 1)}))
	a, b := windowText(0, 10), windowText(10, 20)
	want(t, "ints", h.epoch(20, false, ins("10-20", "3"), ins("0-10", "NULL"), ins("0-10", "5"), ins("10-20", "-3"), ins("0-10", "-70")),
		"+1 "+a+"|-70", "+1 "+a+"|5", "+1 "+a+"|NULL", "+1 "+b+"|-3", "+1 "+b+"|3")
	s = newSource(true, tWindow, tText)
	h = newHarness(t, aggregate(s, catalog.Append, 0, []plan.Expr{col(s, 0), col(s, 1)}))
	want(t, "texts", h.epoch(20, false, ins("0-10", "prefix-b"), ins("0-10", "prefix-"), ins("0-10", "NULL"), ins("0-10", "prefix-aaaaaaaaaaab"), ins("0-10", "prefix-aaaaaaaaaaaa")),
		"+1 "+a+"|prefix-", "+1 "+a+"|prefix-aaaaaaaaaaaa", "+1 "+a+"|prefix-aaaaaaaaaaab", "+1 "+a+"|prefix-b", "+1 "+a+"|NULL")
}

// What is not built says so.
func TestUnsupported(t *testing.T) {
	s := newSource(true, tText)
	f := &fn.Func{Name: "first", Class: fn.Aggregate, Args: []types.Type{tText}, Result: tText}
	n := aggregate(s, catalog.Update, -1, nil, plan.Agg{Fn: f, Args: []plan.Expr{col(s, 0)}, Typ: tText})
	if _, err := NewAggregate(n, plan.Types(s), nil, 0, nil); err == nil || err.Error() != "aggregate first(text) is not supported" {
		t.Errorf("got %v", err)
	}
}
