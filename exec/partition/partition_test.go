package partition

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/sql/workers"
	"github.com/tidemarkdb/tidemark/state/table"
)

// lister is an operator that remembers its rows and gives them back: at once, and again, counted, at the epoch's end.
type lister struct {
	rows []seen
	boom any
}

type seen struct {
	key string
	n   int64
}

var two = []types.Type{types.Of(types.Text), types.Of(types.Int8)}

func (l *lister) Push(ep *dataflow.Epoch, port int, b *batch.Batch, out dataflow.Emit) error {
	if l.boom != nil {
		panic(l.boom)
	}
	for i := range b.N {
		l.rows = append(l.rows, seen{string(b.Cols[0].Bytes(i)), b.Cols[1].I64[i]})
		switch b.Cols[1].I64[i] % 100 {
		case 7:
			ep.Sink.Late(ep, b, i, int64(ep.Port), 0, 0)
		case 8:
			if err := ep.Sink.Dead(ep, b, i, sqlerr.New(sqlerr.DivisionByZero, "eight")); err != nil {
				return err
			}
		}
	}
	return out(b)
}

func (l *lister) EndEpoch(_ *dataflow.Epoch, out dataflow.Emit) error {
	b := batch.New(two, 1)
	b.Cols[0].AppendString("rows")
	b.Cols[1].AppendInt(int64(len(l.rows)))
	b.EndRow(1)
	return out(b)
}

// sink lists what it is given.
type sink struct{ got []string }

func (s *sink) Late(ep *dataflow.Epoch, b *batch.Batch, i int, t, _, _ int64) {
	s.got = append(s.got, fmt.Sprintf("late %d %s %d %d", ep.Port, b.Cols[0].Bytes(i), b.Cols[1].I64[i], t))
}

func (s *sink) Dead(ep *dataflow.Epoch, b *batch.Batch, i int, err *sqlerr.Error) error {
	s.got = append(s.got, fmt.Sprintf("dead %d %s %d %s", ep.Port, b.Cols[0].Bytes(i), b.Cols[1].I64[i], err.Message))
	return nil
}

func build(t *testing.T, slots, number int) (dataflow.Operator, []*lister) {
	t.Helper()
	var ops []dataflow.Operator
	var ls []*lister
	for range slots {
		l := &lister{}
		ops, ls = append(ops, l), append(ls, l)
	}
	key := []plan.Expr{&plan.Col{Index: 0, Typ: two[0]}}
	o, err := New(ops, []Port{{Keys: key}, {Keys: key}}, nil, dataflow.InputTypes{two, two}, &kernel.Env{}, workers.Team{Number: func() int { return number }})
	if err != nil {
		t.Fatal(err)
	}
	return o, ls
}

// TestWorkers: whatever the number of workers, each key's rows come to one slot in order, and all that comes out is the same, in the same order.
// Rows come in small batches, or in ones that are copied to the slots side by side.
func TestWorkers(t *testing.T) {
	for _, c := range []struct{ rows, most int }{{1, 3000}, {100, 3000}, {parallelRows + 100, 3000}, {flushRows + 5, 3000}, {flushRows * 3 / 2, 3 * parallelRows}, {flushRows + 5, 2 * flushRows}} {
		rows, seed := c.rows, rand.Uint64()
		var want []string
		for _, workers := range []int{1, 3, 20} {
			r := rand.New(rand.NewPCG(seed, 1))
			o, ls := build(t, 8, workers)
			out := batch.New(two, 0)
			s := &sink{}
			emit := func(b *batch.Batch) error {
				out.AppendBatch(b, nil)
				return nil
			}
			last := map[string]int64{}
			for epoch := range 2 {
				ep := &dataflow.Epoch{N: uint64(epoch), Sink: s}
				for n := 0; n < rows; {
					b := batch.New(two, 0)
					for range min(1+r.IntN(c.most), rows-n) {
						b.Cols[0].AppendString(fmt.Sprint("k", r.IntN(1000)))
						b.Cols[1].AppendInt(int64(n + epoch*rows))
						b.EndRow(int64(1 - 2*r.IntN(2)))
						n++
					}
					ep.Port = r.IntN(2)
					if err := o.Push(ep, ep.Port, b, emit); err != nil {
						t.Fatal(err)
					}
				}
				if err := o.EndEpoch(ep, emit); err != nil {
					t.Fatal(err)
				}
				if d := o.(dataflow.Deferrer).Deferred(); d < 0 || d > 1 {
					t.Fatalf("rows that were kept took %v of the time of the end", d)
				}
			}
			home, total := map[string]int{}, 0
			for slot, l := range ls {
				total += len(l.rows)
				for _, row := range l.rows {
					k, n := row.key, row.n
					if was, ok := home[k]; ok && was != slot {
						t.Fatalf("seed %d: key %s is in slots %d and %d", seed, k, was, slot)
					}
					if was, ok := last[k]; ok && n <= was {
						t.Fatalf("seed %d: key %s: row %d after %d", seed, k, n, was)
					}
					home[k], last[k] = slot, n
				}
			}
			if total != 2*rows {
				t.Fatalf("seed %d: %d rows instead of %d", seed, total, 2*rows)
			}
			all := append([]string{string(batch.Encode(nil, out))}, s.got...)
			if want == nil {
				want = all
			} else if !slices.Equal(all, want) {
				t.Fatalf("seed %d: %d rows, %d workers: not the same as with one", seed, rows, workers)
			}
		}
	}
}

// TestPanics: a panic of an instance is one of the operator, an error as it is, another value with its stack.
func TestPanics(t *testing.T) {
	cause := errors.New("disk")
	for _, boom := range []any{cause, "no error"} {
		o, ls := build(t, 4, 2)
		for _, l := range ls {
			l.boom = boom
		}
		b := batch.New(two, 0)
		for i := range parallelRows {
			b.Cols[0].AppendString(fmt.Sprint(i))
			b.Cols[1].AppendInt(0)
			b.EndRow(1)
		}
		func() {
			defer func() {
				switch p := recover().(type) {
				case error:
					if p != boom {
						t.Errorf("panic with %v", p)
					}
				case *workers.Panic:
					if p.Value != boom || !strings.Contains(p.String(), "lister") {
						t.Errorf("panic with %v", p)
					}
				default:
					t.Errorf("panic with %v", p)
				}
			}()
			ep := &dataflow.Epoch{Sink: &sink{}}
			drop := func(*batch.Batch) error { return nil }
			_ = o.Push(ep, 0, b, drop)
			_ = o.EndEpoch(ep, drop)
			t.Error("no panic")
		}()
	}
}

// TestHashes pins the hash of keys, on which what is stored depends, and that equal keys of unlike form have one.
func TestHashes(t *testing.T) {
	var h hasher
	one := func(k types.Kind, text string) uint64 {
		v := batch.NewVector(types.Of(k), 1)
		if d, err := types.Parse(types.Of(k), text, types.DefaultEnv()); err != nil {
			t.Fatal(err)
		} else {
			v.AppendDatum(d)
		}
		return h.hash([]*batch.Vector{v}, 0, 1)[0]
	}
	for _, c := range []struct {
		k    types.Kind
		text string
		want uint64
	}{{types.Int8, "42", 0x573cb458b60ef624}, {types.Text, "abc", 0xdeb68990024cc42d}, {types.Text, "key-00000042", 0xc037d70a9e30c0f4}, {types.Numeric, "1.50", 0x7d69c8e25910c13}} {
		if got := one(c.k, c.text); got != c.want {
			t.Errorf("%v %s: %#x", c.k, c.text, got)
		}
	}
	for _, c := range []struct {
		k, l types.Kind
		a, b string
	}{{types.Int2, types.Int8, "7", "7"}, {types.Text, types.Varchar, "x", "x"}, {types.Numeric, types.Numeric, "1.5", "1.500"},
		{types.Float8, types.Float8, "0", "-0"}, {types.Interval, types.Interval, "1 month", "30 days"}, {types.Bpchar, types.Bpchar, "a", "a  "}} {
		if one(c.k, c.a) != one(c.l, c.b) {
			t.Errorf("%v %s and %v %s do not hash alike", c.k, c.a, c.l, c.b)
		}
	}
}

// hashUser is an operator that looks its keys up by their hashes.
type hashUser struct {
	lister
	t      *testing.T
	hashed int
	nulls  bool // among the keys of the batch that this one is a part of
	slot   int
	high   [16]int // rows by the leading bits of their hashes
}

func (u *hashUser) TakesHashes() bool { return true }

func (u *hashUser) Push(ep *dataflow.Epoch, port int, b *batch.Batch, out dataflow.Emit) error {
	if len(b.Cols) != len(two) {
		u.t.Errorf("%d columns", len(b.Cols))
	}
	if b.Hashes != nil && (u.nulls || len(b.Hashes) != b.N) {
		u.t.Errorf("there are %d hashes of %d rows, with NULLs: %v", len(b.Hashes), b.N, u.nulls)
	}
	var each hasher
	slots := each.hash(b.Cols[:1], 0, b.N)
	for i := range b.N {
		if slotOf(slots[i], 8) != u.slot {
			u.t.Errorf("row %d is not of slot %d", i, u.slot)
		}
		if b.Hashes == nil {
			continue
		}
		u.hashed++
		if want := table.HashBytes(b.Cols[0].Bytes(i)); b.Hashes[i] != want {
			u.t.Errorf("row %d has the hash %#x, not %#x", i, b.Hashes[i], want)
		}
		u.high[b.Hashes[i]>>60]++
	}
	b = &batch.Batch{N: b.N, Cols: b.Cols, Weights: b.Weights}
	return u.lister.Push(ep, port, b, out)
}

// TestHashesGoAlong: with rows come the hashes of their text keys, for whom uses them, whether one lane took the rows or several and whatever came before; and
// the keys of a slot are anywhere in its tables.
func TestHashesGoAlong(t *testing.T) {
	key := []plan.Expr{&plan.Col{Index: 0, Typ: two[0]}}
	var ops []dataflow.Operator
	for i := range 8 {
		ops = append(ops, &hashUser{t: t, slot: i})
	}
	o, err := New(ops, []Port{{Keys: key}}, nil, dataflow.InputTypes{two}, &kernel.Env{}, workers.Team{Number: func() int { return 2 }})
	if err != nil {
		t.Fatal(err)
	}
	ep, rows := &dataflow.Epoch{Sink: &sink{}}, 0
	drop := func(*batch.Batch) error { return nil }
	for round, n := range []int{10, parallelRows + 77, 300, 3 * parallelRows} {
		b := batch.New(two, n)
		for i := range n {
			b.Cols[0].AppendString(strings.Repeat("x", i%30) + fmt.Sprint(i*7))
			b.Cols[1].AppendInt(100)
			b.EndRow(int64(1 + i%2))
		}
		if round == 2 {
			b.Cols[0].SetNull(5)
		} else {
			rows += n
		}
		for _, op := range ops {
			op.(*hashUser).nulls = round == 2
		}
		if err := o.Push(ep, 0, b, drop); err != nil {
			t.Fatal(err)
		}
		if err := o.EndEpoch(ep, drop); err != nil {
			t.Fatal(err)
		}
	}
	hashed := 0
	for _, op := range ops {
		u := op.(*hashUser)
		hashed += u.hashed
		for _, k := range u.high {
			if k < u.hashed/32 || k > u.hashed/8 {
				t.Errorf("of %d rows of slot %d the leading bits of hashes are %v", u.hashed, u.slot, u.high)
				break
			}
		}
	}
	if hashed != rows {
		t.Errorf("%d of %d rows came with hashes", hashed, rows)
	}
}

// TestChoose: rows go to the slots of their hashes, whichever way is taken.
func TestChoose(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	keys := [2]*batch.Vector{batch.NewVector(types.Of(types.Int8), 0), batch.NewVector(types.Of(types.Int4), 0)}
	var every []int32
	for i := range 1000 {
		every = append(every, int32(i))
		keys[0].AppendInt(r.Int64() - r.Int64())
		if keys[1].AppendInt(int64(r.IntN(50))); i%9 == 3 {
			keys[1].SetNull(i)
		}
	}
	for _, ks := range [][]*batch.Vector{keys[:1], keys[1:], keys[:]} {
		for _, rows := range [][]int32{nil, every[100:], every[:0], {100, 190, 511, 512, 999}} {
			l := &lane{fillers: make([]filler, 8)}
			l.choose(ks, nil, 0, 64) // a smaller block before
			rest := l.choose(ks, rows, 100, 600)
			want, n := make([][]int32, 8), 0
			var h hasher
			for i, x := range h.hash(ks, 0, 1000) {
				if i >= 600 && rows != nil && slices.Contains(rows, int32(i)) {
					n++
				}
				if i >= 100 && i < 600 && (rows == nil || slices.Contains(rows, int32(i))) {
					want[slotOf(x, 8)] = append(want[slotOf(x, 8)], int32(i))
				}
			}
			if len(rest) != n {
				t.Errorf("%d rows are left, not %d", len(rest), n)
			}
			for slot := range want {
				if got := l.chosen.of(slot); !slices.Equal(got, want[slot]) {
					t.Errorf("slot %d of %d keys got %v, not %v", slot, len(ks), got, want[slot])
				}
			}
		}
	}
}

// TestOf: every slot is of the partition whose range it is in.
func TestOf(t *testing.T) {
	for _, slots := range []int{1, 2, 8, 16, 256} {
		for n := 1; n <= slots+3; n++ {
			for w := range min(n, slots) {
				lo, hi := Range(w, min(n, slots), slots)
				if lo >= hi {
					t.Fatalf("%d slots, %d partitions: %d has none", slots, n, w)
				}
				for s := lo; s < hi; s++ {
					if got := Of(s, n, slots); got != w {
						t.Fatalf("%d slots, %d partitions: slot %d is in %d instead of %d", slots, n, s, got, w)
					}
				}
			}
		}
	}
}
