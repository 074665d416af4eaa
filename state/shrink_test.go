package state_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/checkpoint"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/state"
)

// TestShrink: rows that came and went since the last checkpoint are let go of before one is written, others are not merged for nothing.
func TestShrink(t *testing.T) {
	st := openDir(t, filepath.Join(t.TempDir(), "db"))
	state.SetShrinkFrom(st, 100)
	rows := st.Rows(7, pairTypes, []int{0})
	epoch := func(from, to int64, old, now string) {
		b := batch.New(pairTypes, 8)
		for id := from; id < to; id++ {
			if old != "" {
				pairs(b, pair{id, old}, -1)
			}
			pairs(b, pair{id, now}, 1)
		}
		rows.Apply(b)
		appendEpoch(t, st, &state.EpochRecord{})
		rows.Publish(st.LastEpoch())
	}
	settled := func() {
		for rows.Merging() {
			time.Sleep(time.Millisecond)
		}
	}
	for i := range int64(4) { // none goes
		epoch(10_000*i, 10_000*(i+1), "", "x")
	}
	settled()
	if rows.Shrink() {
		t.Error("rows are merged of which none went")
	}
	text := func(i int) string { return fmt.Sprint("text ", i) }
	if _, err := checkpoint.Write(context.Background(), st, &checkpoint.Checkpoint{Epoch: st.LastEpoch(), Sections: []*state.Section{rows.Freeze()}}); err != nil {
		t.Fatal(err)
	}
	if st.WriteProgress() != 1 {
		t.Errorf("a checkpoint that is written is done to %v", st.WriteProgress())
	}
	epoch(0, 20_000, "x", text(0))
	for i := range 5 { // each row of these comes and goes, but the last
		epoch(0, 20_000, text(i), text(i+1))
	}
	settled()
	before := rows.MemBytes()
	if !rows.Shrink() {
		t.Fatal("nothing is merged")
	}
	settled()
	if now := rows.MemBytes(); now > before/3 {
		t.Errorf("%d bytes of %d are left", now, before)
	}
	if rows.Shrink() {
		t.Error("what was merged is merged again")
	}
	rd := rows.Snapshot().Reader()
	for i, p := range expand(t, rd) {
		if want := (pair{int64(i), "x"}); i < 20_000 && p.text != text(5) || i >= 20_000 && p != want {
			t.Fatalf("row %d is %v", i, p)
		}
	}
	if err := errors.Join(rd.Close(), st.Close()); err != nil {
		t.Fatal(err)
	}
}
