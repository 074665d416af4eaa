package state_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state"
)

func openDir(t *testing.T, dir string) *state.Store {
	t.Helper()
	st, err := state.Open(dir, state.Options{CacheBytes: 1 << 20, MemTableSize: 1 << 20, ReserveBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func ints(vals ...int64) *batch.Batch {
	b := batch.New([]types.Type{types.Of(types.Int8)}, len(vals))
	for _, v := range vals {
		b.Cols[0].AppendInt(v)
		b.EndRow(1)
	}
	return b
}

func appendEpoch(t *testing.T, st *state.Store, rec *state.EpochRecord) {
	t.Helper()
	rec.Epoch = st.LastEpoch() + 1
	wait, err := st.AppendEpoch(rec)
	if err == nil {
		err = wait()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func finish(t *testing.T, sp *state.Spool) *state.Spooled {
	t.Helper()
	done, err := sp.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func scan(t *testing.T, st *state.Store, oid catalog.OID, from, to uint64) string {
	t.Helper()
	var out strings.Builder
	err := st.ScanStream(oid, from, to, func(e uint64, b *batch.Batch) error {
		fmt.Fprintf(&out, "%d:%v ", e, b.Cols[0].I64)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

func TestInputLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	st := openDir(t, dir)
	sp := st.NewSpool(false)
	for _, b := range []*batch.Batch{ints(10, 11), ints(12)} {
		if err := sp.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	lost := st.NewSpool(false)
	if err := lost.Append(ints(99)); err != nil {
		t.Fatal(err)
	}
	appendEpoch(t, st, &state.EpochRecord{Timestamp: 5, Changes: []state.RelChange{{OID: 1, Batch: ints(1, 2)}, {OID: 2, Batch: ints(3)}, {OID: 1, Batch: ints(4)}}})
	appendEpoch(t, st, &state.EpochRecord{Timestamp: 6, Meta: []byte("m"), Watermarks: []state.StreamMark{{1, -5, 7, true}}})
	appendEpoch(t, st, &state.EpochRecord{Timestamp: 7, Changes: []state.RelChange{{OID: 1, Spooled: finish(t, sp)}}})
	if _, err := st.AppendEpoch(&state.EpochRecord{Epoch: 3}); err == nil {
		t.Error("an epoch was accepted twice")
	}
	for range 2 {
		if got, want := scan(t, st, 1, 0, state.Newest), "1:[1 2] 1:[4] 3:[10 11] 3:[12]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := scan(t, st, 1, 0, 0); got != "" { // before the first epoch there is nothing
			t.Errorf("up to epoch 0: %s", got)
		}
		if err := st.ReadEpochs(1, 0, func(r *state.EpochRecord) error { return fmt.Errorf("epoch %d", r.Epoch) }); err != nil {
			t.Errorf("up to epoch 0: %v", err)
		}
		if got, want := scan(t, st, 1, 2, 2), ""; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		var recs []string
		err := st.ReadEpochs(1, state.Newest, func(r *state.EpochRecord) error {
			s := fmt.Sprintf("%d@%d %v %s", r.Epoch, r.Timestamp, r.Watermarks, r.Meta)
			for i := range r.Changes {
				_ = r.Changes[i].Each(func(b *batch.Batch) error { s += fmt.Sprintf("%d%v", r.Changes[i].OID, b.Cols[0].I64); return nil })
			}
			recs = append(recs, s)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := "1@5 [] 1[1 2]2[3]1[4]\n2@6 [{1 -5 7 true}] m\n3@7 [] 1[10 11]1[12]"
		if got := strings.Join(recs, "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if st.LastEpoch() != 3 {
			t.Errorf("last epoch %d", st.LastEpoch())
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		st = openDir(t, dir)
	}
	if err := st.TrimStream(1, 3); err != nil {
		t.Fatal(err)
	}
	if e, err := st.StreamStart(1); e != 3 || err != nil {
		t.Errorf("stream starts at %d, %v", e, err)
	}
	if got, want := scan(t, st, 1, 0, state.Newest), "3:[10 11] 3:[12]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := st.DropRelation(1); err != nil {
		t.Fatal(err)
	}
	if got := scan(t, st, 1, 0, state.Newest) + scan(t, st, 2, 0, state.Newest); got != "1:[3]" {
		t.Errorf("got %s", got)
	}
	if err := st.TrimHeaders(3); err == nil {
		t.Error("headers were trimmed without a checkpoint")
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	st := openDir(t, filepath.Join(dir, "db"))
	if err := st.PutMeta("k", []byte("v")); err != nil {
		t.Fatal(err)
	}
	_, err := state.Open(filepath.Join(dir, "db"), state.Options{})
	if err == nil || err.Error() != fmt.Sprintf("data directory %q is in use by another server", filepath.Join(dir, "db")) || sqlerr.CodeOf(err) != sqlerr.ObjectInUse {
		t.Errorf("second open: %v", err)
	}
	id := st.ID()
	if err := st.SnapshotTo(filepath.Join(dir, "copy")); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = openDir(t, filepath.Join(dir, "copy"))
	if v, ok, err := st.GetMeta("k"); string(v) != "v" || !ok || err != nil || st.ID() != id {
		t.Errorf("copy has %q, %v, %v, id %s, want %s", v, ok, err, st.ID(), id)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "db", "TIDEMARK"), []byte("tidemark 9 abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = state.Open(filepath.Join(dir, "db"), state.Options{}); err == nil || !strings.Contains(err.Error(), `format version "9"`) {
		t.Errorf("unknown version: %v", err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "letter"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = state.Open(other, state.Options{}); err == nil || !strings.Contains(err.Error(), "not a Tidemark data directory") {
		t.Errorf("other directory: %v", err)
	}
}

func TestDiskFull(t *testing.T) {
	fs := vfs.NewMem()
	fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 1 << 31})
	var o state.Options
	o.SetFS(fs)
	st, err := state.Open("db", o)
	if err != nil {
		t.Fatal(err)
	}
	appendEpoch(t, st, &state.EpochRecord{Changes: []state.RelChange{{OID: 1, Batch: ints(1)}}})
	fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 100 << 20, TotalBytes: 1 << 31})
	state.ForgetSpace(st)
	_, err = st.AppendEpoch(&state.EpochRecord{Epoch: 2})
	if sqlerr.CodeOf(err) != sqlerr.DiskFull {
		t.Errorf("got %v", err)
	}
	fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 1 << 31})
	appendEpoch(t, st, &state.EpochRecord{})
	if got := scan(t, st, 1, 0, state.Newest); got != "1:[1]" {
		t.Errorf("got %s", got)
	}
	if err := errors.Join(st.Failure(), st.Close()); err != nil {
		t.Fatal(err)
	}
}
