package checkpoint_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/checkpoint"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state"
	"github.com/tidemarkdb/tidemark/state/table"
)

var ts = []types.Type{types.Of(types.Int8)}

func open(t *testing.T, dir string) *state.Store {
	t.Helper()
	st, err := state.Open(dir, state.Options{CacheBytes: 1 << 20, MemTableSize: 1 << 20, ReserveBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func ints(n int) *batch.Batch {
	b := batch.New(ts, n)
	for i := range n {
		b.Cols[0].AppendInt(int64(i))
		b.EndRow(1)
	}
	return b
}

// fill runs n epochs of one stream and one table, with a view of all kinds of state.
func fill(t *testing.T, st *state.Store, n int) *checkpoint.Checkpoint {
	t.Helper()
	rows, sp := st.Rows(2, ts, []int{0}), st.Space(3)
	h, o := sp.Hash(table.Decl{Name: "h", IntKey: true, Words: 1}), sp.Ordered(table.Decl{Name: "o"})
	w := sp.Windows(table.Decl{Name: "w", IntKey: true})
	slots := make([]int32, 100)
	for range n {
		b := ints(100)
		wait, err := st.AppendEpoch(&state.EpochRecord{Epoch: st.LastEpoch() + 1, Changes: []state.RelChange{{OID: 1, Batch: b}, {OID: 2, Batch: b}}})
		if err == nil {
			err = wait()
		}
		if err != nil {
			t.Fatal(err)
		}
		rows.Apply(b)
		rows.Publish(st.LastEpoch())
		h.FindOrAddInts(b.Cols[0].I64, nil, slots)
		w.At(0, 10).FindOrAddInts(b.Cols[0].I64, nil, slots)
		o.Put([]byte{byte(st.LastEpoch())}, []byte("v"))
	}
	e := st.LastEpoch()
	return &checkpoint.Checkpoint{Epoch: e, Timestamp: 7, Catalog: []byte("{}"), Marks: []state.StreamMark{{OID: 1, Watermark: 5}},
		Views: map[catalog.OID]uint64{3: e}, Meta: map[string][]byte{"x": []byte("y")},
		Sections: []*state.Section{rows.Freeze(), nil, state.SpaceSection(3, sp.Freeze())}}
}

func TestWriteLoadTrim(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	st := open(t, dir)
	if _, ok, err := checkpoint.Load(st); ok || err != nil {
		t.Fatalf("a new database has a checkpoint: %v", err)
	}
	c := fill(t, st, 5)
	stats, err := checkpoint.Write(context.Background(), st, c)
	if err != nil || stats.Entries < 200 {
		t.Fatalf("%+v, %v", stats, err)
	}
	if err := checkpoint.Trim(st, []catalog.OID{2}); err != nil {
		t.Fatal(err)
	}
	early := *c
	early.Epoch = 3
	if _, err := checkpoint.Write(context.Background(), st, &early); err == nil {
		t.Error("an earlier checkpoint was written over a later one")
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = open(t, dir)
	got, ok, err := checkpoint.Load(st)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	c.Sections = nil
	if !reflect.DeepEqual(got, c) {
		t.Errorf("got %+v, want %+v", got, c)
	}
	if st.LastEpoch() != 5 {
		t.Errorf("last epoch %d", st.LastEpoch())
	}
	count := func(oid catalog.OID) (n int) {
		if err := st.ScanStream(oid, 0, state.Newest, func(_ uint64, b *batch.Batch) error { n += b.N; return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if count(1) != 500 || count(2) != 0 {
		t.Errorf("log has %d and %d rows, want 500 and 0", count(1), count(2))
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWriteCancelledChangesNothing(t *testing.T) {
	st := open(t, filepath.Join(t.TempDir(), "db"))
	c := fill(t, st, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := checkpoint.Write(ctx, st, c); err == nil {
		t.Fatal("no error")
	}
	if _, ok, _ := checkpoint.Load(st); ok {
		t.Fatal("there is a checkpoint")
	}
	if _, err := checkpoint.Write(context.Background(), st, c); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSnapshotAndCheck(t *testing.T) {
	dir := t.TempDir()
	st := open(t, filepath.Join(dir, "db"))
	if _, err := checkpoint.Write(context.Background(), st, fill(t, st, 20)); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = open(t, filepath.Join(dir, "db")) // replays the WAL into a table
	cp := filepath.Join(dir, "copy")
	if err := checkpoint.Snapshot(st, cp); err != nil {
		t.Fatal(err)
	}
	if err := checkpoint.Snapshot(st, cp); err == nil {
		t.Error("a snapshot was made over another")
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"db", "copy"} {
		r, err := checkpoint.Check(filepath.Join(dir, d))
		if err != nil || len(r.Problems) > 0 || r.Checkpoint != 20 || r.FirstEpoch != 1 || r.LastEpoch != 20 || r.Rows[2] != 2000 {
			t.Errorf("%s: %+v, %v", d, r, err)
		}
	}
	damage(t, cp)
	r, err := checkpoint.Check(cp)
	if err == nil && len(r.Problems) == 0 {
		t.Error("damage was not found")
	}
}

// damage flips a byte in the middle of the largest table.
func damage(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var path string
	var size int64
	for _, f := range files {
		if i, err := f.Info(); err == nil && strings.HasSuffix(f.Name(), ".sst") && i.Size() > size {
			path, size = filepath.Join(dir, f.Name()), i.Size()
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 0x10
	if err := os.Remove(path); err != nil { // it is a hard link
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
