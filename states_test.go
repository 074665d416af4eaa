package tidemark_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark"
	"github.com/tidemarkdb/tidemark/exec/connector/file"
)

type point struct{ X, Y int32 }

// everything has a field of each kind.
type everything struct {
	Flag     bool
	Small    int16
	Mid      int32 `tidemark:"m"`
	Big      int64
	Real     float32
	Double   float64
	Text     string
	Amount   string `tidemark:"amount,numeric(10,2)"`
	Raw      []byte
	SeenAt   time.Time
	Day      time.Time `tidemark:",date"`
	Wait     time.Duration
	At       point
	Path     []point
	Tags     []string
	Counts   map[string]int
	Grid     [][]int32
	Opt      *int
	Nested   *point
	ByPoint  map[point][]string
	Skipped  chan int `tidemark:"-"`
	internal int      //lint:ignore U1000 a field that is not exported is left alone
}

// kinds writes a value of each kind on the first row of a key, and says what it reads on the next.
type kinds struct {
	tidemark.ProcessorBase
	h *tidemark.Handle
	v *tidemark.ValueState[everything]
	l *tidemark.ListState[point]
	m *tidemark.MapState[point, string]
	n *tidemark.MapState[string, *int64]
}

func (p *kinds) Init(h *tidemark.Handle) (err error) {
	p.h = h
	if p.v, err = tidemark.NewValueState[everything](h, "v"); err != nil {
		return err
	}
	if p.l, err = tidemark.NewListState[point](h, "l", tidemark.TTL(time.Hour)); err != nil {
		return err
	}
	if p.m, err = tidemark.NewMapState[point, string](h, "m"); err != nil {
		return err
	}
	p.n, err = tidemark.NewMapState[string, *int64](h, "n")
	return err
}

func sample() everything {
	seven := 7
	return everything{Flag: true, Small: -3, Mid: 4, Big: 1 << 40, Real: 0.5, Double: 0.1, Text: "O'Brien", Amount: "12.30", Raw: []byte{0, 255},
		SeenAt: time.Date(2024, 2, 29, 12, 34, 56, 789000, time.UTC), Day: time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), Wait: 36 * time.Hour,
		At: point{1, 2}, Path: []point{{3, 4}, {5, 6}}, Tags: []string{"a", "b"}, Counts: map[string]int{"z": 1, "a": 2}, Grid: [][]int32{{1}, {2, 3}, nil}, Opt: &seven,
		ByPoint: map[point][]string{{1, 1}: {"x"}, {0, 9}: nil}}
}

func (p *kinds) HandleInputRows(key tidemark.Row, rows tidemark.InputRows, _ tidemark.TimerValues) (tidemark.Output, error) {
	s, known, err := p.v.Get()
	if err != nil {
		return nil, err
	}
	text := "nothing"
	if known {
		list, err := p.l.Get()
		if err != nil {
			return nil, err
		}
		text = show(s) + fmt.Sprint(list)
		_ = p.m.Each(func(k point, v string) error {
			text += fmt.Sprint(k, v)
			return nil
		})
		_ = p.n.Each(func(k string, v *int64) error {
			text += fmt.Sprint(k, v == nil)
			return nil
		})
		got, ok, err := p.m.Get(point{2, 1})
		text += fmt.Sprint(got, ok, err)
	}
	one := int64(1)
	for _, err := range []error{p.v.Update(sample()), p.l.Append(point{7, 8}, point{9, 10}), p.m.Update(point{2, 1}, "b"), p.m.Update(point{1, 2}, "a"), p.m.Update(point{0, 0}, "gone"),
		p.m.Remove(point{0, 0}), p.n.Update("none", nil), p.n.Update("one", &one)} {
		if err != nil {
			return nil, err
		}
	}
	row, err := p.h.Row(key.Text("k"), text)
	return tidemark.Output{row}, err
}

// show writes a value with what its pointers point to.
func show(e everything) string {
	opt := "nil"
	if e.Opt != nil {
		opt = fmt.Sprint(*e.Opt)
	}
	e.Opt = nil
	return fmt.Sprintf("%+v %s", e, opt)
}

// TestTypedStates: Go values of every kind come back as they were written, over a restart, and SQL sees them as columns.
func TestTypedStates(t *testing.T) {
	dir := t.TempDir()
	has := tidemark.WithProcessor("kinds", "k text, what text", func() tidemark.StatefulProcessor { return &kinds{} })
	db := openDB(t, dir, has)
	run(t, db, "CREATE STREAM s (k text)")
	run(t, db, "CREATE MATERIALIZED VIEW p WITH (output_mode = 'append') AS SELECT * FROM transform_with_state(TABLE s PARTITION BY k, processor => 'kinds', time_mode => 'processing_time')")
	run(t, db, "INSERT INTO s VALUES ('a')")
	db.Close()
	db = openDB(t, dir, has)
	run(t, db, "INSERT INTO s VALUES ('a')")
	want := show(sample()) + "[{7 8} {9 10}]{1 2}a{2 1}bnonetrueonefalsebtrue <nil>"
	if got := rowsOf(t, db, "SELECT what FROM p WHERE what <> 'nothing'"); got != "[["+want+"]]" {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for sql, want := range map[string]string{
		"SELECT value.flag, value.small, value.m, value.big, value.amount, value.seen_at::text, value.day::text, value.wait::text, value.opt FROM statestore('p', state_var_name => 'v')": "[[true -3 4 1099511627776 12.30 2024-02-29 12:34:56.000789 2024-02-29 36:00:00 7]]",
		"SELECT value.at, value.path, value.tags::text, value.counts, value.grid, value.nested, value.by_point FROM statestore('p', state_var_name => 'v')":                               `[[{"x": 1, "y": 2} [{"x": 3, "y": 4}, {"x": 5, "y": 6}] {a,b} {"a": 2, "z": 1} [[1], [2, 3], null] <nil> {"{\"x\":0,\"y\":9}": null, "{\"x\":1,\"y\":1}": ["x"]}]]`,
		"SELECT user_map_key.x, user_map_value.value FROM statestore('p', state_var_name => 'm') ORDER BY 1":                                                                              "[[1 a] [2 b]]",
		"SELECT user_map_key.value, user_map_value.value FROM statestore('p', state_var_name => 'n') ORDER BY 1":                                                                          "[[none <nil>] [one 1]]",
	} {
		if got := rowsOf(t, db, sql); got != want {
			t.Errorf("%s: got %s, want %s", sql, got, want)
		}
	}
}

// declares is a processor that declares one variable.
type declares struct {
	tidemark.ProcessorBase
	init func(h *tidemark.Handle) error
}

func (p *declares) Init(h *tidemark.Handle) error { return p.init(h) }
func (p *declares) HandleInputRows(tidemark.Row, tidemark.InputRows, tidemark.TimerValues) (tidemark.Output, error) {
	return nil, nil
}

// TestTypesThatDoNotFit: a Go type that SQL cannot hold is refused where the variable is declared, with the place.
func TestTypesThatDoNotFit(t *testing.T) {
	for want, init := range map[string]func(h *tidemark.Handle) error{
		"uint": func(h *tidemark.Handle) error { _, err := tidemark.NewValueState[uint](h, "v"); return err },
		"field C of struct": func(h *tidemark.Handle) error {
			_, err := tidemark.NewValueState[struct{ C chan int }](h, "v")
			return err
		},
		"no exported fields": func(h *tidemark.Handle) error { _, err := tidemark.NewListState[struct{ x int }](h, "v"); return err },
		"more than one field": func(h *tidemark.Handle) error {
			_, err := tidemark.NewValueState[struct {
				A, B int `tidemark:"a"`
			}](h, "v")
			return err
		},
		"cannot be kept as text": func(h *tidemark.Handle) error {
			_, err := tidemark.NewValueState[struct {
				A int `tidemark:",text"`
			}](h, "v")
			return err
		},
		"cannot be kept as bigint": func(h *tidemark.Handle) error {
			_, err := tidemark.NewValueState[struct {
				A int32 `tidemark:",bigint"`
			}](h, "v")
			return err
		},
		"of the user key": func(h *tidemark.Handle) error {
			_, err := tidemark.NewMapState[struct{ P point }, int](h, "v")
			return err
		},
		"cannot be kept as a value of SQL": func(h *tidemark.Handle) error { _, err := tidemark.NewValueState[map[[1]int]int](h, "v"); return err },
	} {
		db := openDB(t, t.TempDir(), tidemark.WithProcessor("p", "k text", func() tidemark.StatefulProcessor { return &declares{init: init} }))
		run(t, db, "CREATE STREAM s (k text)")
		err := db.Exec(context.Background(), "CREATE MATERIALIZED VIEW v WITH (output_mode = 'append') AS SELECT * FROM transform_with_state(TABLE s PARTITION BY k, processor => 'p')")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		db.Close()
	}
}

// TestConnector: a program that embeds the database can let streams read files.
func TestConnector(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "a.csv"), []byte("1,x\n2,y\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := tidemark.Open(dir, tidemark.WithConnector("file", file.Connector{}), tidemark.WithConnector("file", file.Connector{})); err == nil {
		t.Error("a connector can be given twice")
	}
	db := openDB(t, dir, tidemark.WithConnector("file", file.Connector{}))
	run(t, db, "CREATE STREAM s (a int, b text) WITH (connector = 'file', path = '"+data+"', format = 'csv')")
	run(t, db, "CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n, string_agg(b, ',' ORDER BY b) AS bs FROM s")
	got := ""
	for try := 0; try < 300 && got != "[[2 x,y]]"; try++ {
		time.Sleep(10 * time.Millisecond)
		got = rowsOf(t, db, "SELECT * FROM v")
	}
	if got != "[[2 x,y]]" {
		t.Fatalf("%s; sources: %s; letters: %s", got, rowsOf(t, db, "SELECT * FROM tidemark.sources"), rowsOf(t, db, "SELECT * FROM tidemark.dead_letters"))
	}
	db.Close()

	// without it what was read stays, and the database opens
	db = openDB(t, dir)
	if got := rowsOf(t, db, "SELECT * FROM v"); got != "[[2 x,y]]" {
		t.Error(got)
	}
}
