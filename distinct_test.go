package tidemark_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark"
)

// counting has a field that two slots would overwrite.
type counting struct {
	tidemark.ProcessorBase
	h *tidemark.Handle
	n *tidemark.ValueState[int64]
}

func (p *counting) Init(h *tidemark.Handle) (err error) {
	p.h = h
	p.n, err = tidemark.NewValueState[int64](h, "n")
	return err
}

func (p *counting) HandleInputRows(key tidemark.Row, rows tidemark.InputRows, _ tidemark.TimerValues) (tidemark.Output, error) {
	n, _, err := p.n.Get()
	if err != nil {
		return nil, err
	}
	if err := p.n.Update(n + int64(rows.Len())); err != nil {
		return nil, err
	}
	r, err := p.h.Row(key.Int("k"), n+int64(rows.Len()))
	return tidemark.Output{r}, err
}

// TestObjectsOfSlots: each slot of a view has an object of its own; a function that gives one object again is refused, before slots that run
// side by side write into it.
func TestObjectsOfSlots(t *testing.T) {
	ctx := context.Background()
	db, err := tidemark.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	one := &counting{}
	register := func(name string, make func() tidemark.StatefulProcessor) error {
		return db.RegisterProcessor(name, "k bigint, n bigint", make)
	}
	if err := register("shared", func() tidemark.StatefulProcessor { return one }); err == nil || !strings.Contains(err.Error(), "same object again") {
		t.Errorf("a shared object: %v", err)
	}
	if err := register("none", func() tidemark.StatefulProcessor { return nil }); err == nil || !strings.Contains(err.Error(), "gave nil") {
		t.Errorf("no object: %v", err)
	}
	if err := register("good", func() tidemark.StatefulProcessor { return &counting{} }); err != nil {
		t.Fatal(err)
	}
	err = db.Exec(ctx, `CREATE STREAM s (k bigint);
		CREATE MATERIALIZED VIEW v WITH (state_partitions = 4) AS SELECT * FROM transform_with_state(TABLE s PARTITION BY k, processor => 'good')`)
	if err != nil {
		t.Fatal(err)
	}
	// As many rows as run side by side.
	for range 2 {
		if err := db.Exec(ctx, "INSERT INTO s SELECT i % 3000 FROM generate_series(1, 15000) AS g(i)"); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.Query(ctx, "SELECT count(*), min(n), max(n) FROM v")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var keys, lo, hi int64
	if !rows.Next() || rows.Scan(&keys, &lo, &hi) != nil || keys != 3000 || lo != 10 || hi != 10 {
		t.Errorf("%d keys, from %d to %d rows, want 3000 of 10", keys, lo, hi)
	}
}
