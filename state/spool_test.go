package state_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/state"
)

// noise makes rows that do not get shorter when they are encoded.
func noise(r *rand.Rand, n int) *batch.Batch {
	b := batch.New(rowTypes, n)
	for range n {
		b.Cols[0].AppendInt(r.Int64())
		b.Cols[1].AppendString(fmt.Sprint(r.Uint64()))
		b.Cols[2].AppendInt(r.Int64())
		b.EndRow(1)
	}
	return b
}

func spooled(t *testing.T, st *state.Store, cold bool, chunks ...*batch.Batch) *state.Spooled {
	t.Helper()
	sp := st.NewSpool(cold)
	for _, b := range chunks {
		if err := sp.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	return finish(t, sp)
}

// streamText gives the rows of a stream, a text each.
func streamText(t *testing.T, st *state.Store) (rows []string) {
	t.Helper()
	err := st.ScanStream(1, 0, state.Newest, func(_ uint64, b *batch.Batch) error {
		for i := range b.N {
			rows = append(rows, rowText(b, i))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func spoolNames(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "spool", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestSpoolFiles writes large spools, whose files are beside Pebble's, on a real file system.
func TestSpoolFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	dir := filepath.Join(t.TempDir(), "db")
	st := openDir(t, dir)
	var want []string
	for _, cold := range []bool{false, true} {
		for _, sizes := range [][]int{{50}, {20_000}, {9_000, 1, 9_000}, {70_000, 70_000, 70_000, 3}} {
			var chunks []*batch.Batch
			for _, n := range sizes {
				b := noise(r, n)
				chunks = append(chunks, b)
				for i := range b.N {
					want = append(want, rowText(b, i))
				}
			}
			appendEpoch(t, st, &state.EpochRecord{Changes: []state.RelChange{{OID: 1, Spooled: spooled(t, st, cold, chunks...)}}})
		}
	}
	lost, aborted := st.NewSpool(true), st.NewSpool(false)
	for _, sp := range []*state.Spool{lost, aborted} {
		if err := sp.Append(noise(r, 20_000)); err != nil {
			t.Fatal(err)
		}
		finish(t, sp)
	}
	if n := len(spoolNames(t, dir)); n != 8 {
		t.Errorf("%d files", n)
	}
	if err := aborted.Abort(); err != nil {
		t.Fatal(err)
	}
	same := func(st *state.Store) {
		t.Helper()
		if got := streamText(t, st); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%d rows, want %d", len(got), len(want))
		}
	}
	same(st)
	copied := filepath.Join(t.TempDir(), "copy")
	if err := st.SnapshotTo(copied); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, copied} {
		st = openDir(t, d)
		same(st)
		if n := len(spoolNames(t, d)); n != 6 || state.SpoolFiles(st) != 6 {
			t.Errorf("%s has %d files, %d known", d, n, state.SpoolFiles(st))
		}
		var rep state.VerifyReport
		if err := st.Verify(&rep); err != nil || len(rep.Problems) > 0 {
			t.Error(err, rep.Problems)
		}
		if err := st.TrimStream(1, 5); err != nil {
			t.Fatal(err)
		}
		if n := len(spoolNames(t, d)); n != 3 {
			t.Errorf("%d files are left after a trim", n)
		}
		if err := st.DropRelation(1); err != nil {
			t.Fatal(err)
		}
		if n := len(spoolNames(t, d)); n != 0 || len(streamText(t, st)) > 0 {
			t.Errorf("%d files are left after a drop", n)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTrimBesideScan trims a stream while it is read: the reader gets what was there when it began, and files go when it is done.
func TestTrimBesideScan(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	dir := filepath.Join(t.TempDir(), "db")
	st := openDir(t, dir)
	for _, n := range []int{100, 20_000, 200, 20_000} {
		appendEpoch(t, st, &state.EpochRecord{Changes: []state.RelChange{{OID: 1, Spooled: spooled(t, st, n > 1000, noise(r, n))}}})
	}
	rows := 0
	err := st.ScanStream(1, 0, state.Newest, func(epoch uint64, b *batch.Batch) error {
		if epoch == 1 {
			if err := st.TrimStream(1, 4); err != nil {
				return err
			}
			if err := st.TrimStream(1, 5); err != nil {
				return err
			}
		}
		if len(streamText(t, st)) > 0 { // who begins now
			t.Error("rows are there that were trimmed")
		}
		rows += b.N
		return nil
	})
	if err != nil || rows != 40_300 {
		t.Errorf("%d rows, %v", rows, err)
	}
	if n := len(spoolNames(t, dir)); n != 0 {
		t.Errorf("%d files are left", n)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSpoilt reads files that are not what was written.
func TestSpoilt(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"missing": os.Remove,
		"ends in": func(path string) error { return os.Truncate(path, 300_000) },
		"checksum": func(path string) error {
			b, err := os.ReadFile(path)
			if err == nil {
				b[200_000] ^= 4
				err = os.WriteFile(path, b, 0o600)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "db")
			st := openDir(t, dir)
			appendEpoch(t, st, &state.EpochRecord{Changes: []state.RelChange{{OID: 1, Spooled: spooled(t, st, true, noise(rand.New(rand.NewPCG(5, 6)), 20_000))}}})
			if err := spoil(spoolNames(t, dir)[0]); err != nil {
				t.Fatal(err)
			}
			err := st.ScanStream(1, 0, state.Newest, func(uint64, *batch.Batch) error { return nil })
			if sqlerr.CodeOf(err) != sqlerr.DataCorrupted || !strings.Contains(err.Error(), name) {
				t.Errorf("read: %v", err)
			}
			var rep state.VerifyReport
			if err := errors.Join(st.Verify(&rep), st.Close()); err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(rep.Problems, "\n"); !strings.Contains(text, name) {
				t.Errorf("check: %q", text)
			}
		})
	}
}

// TestColumnsOfSpools scans some columns, or none: then the rows are counted by what stands before the chunks.
func TestColumnsOfSpools(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	st := openDir(t, filepath.Join(t.TempDir(), "db"))
	weighted := noise(r, 20_000)
	weighted.Weights = make([]int64, weighted.N)
	for i := range weighted.Weights {
		weighted.Weights[i] = -1
	}
	chunks := []*batch.Batch{noise(r, 20_000), noise(r, 3), weighted}
	appendEpoch(t, st, &state.EpochRecord{Changes: []state.RelChange{{OID: 1, Spooled: spooled(t, st, false, chunks...)}, {OID: 1, Batch: noise(r, 5)}}})
	columns := func(b *batch.Batch, want []bool) (s string) {
		for i, w := range want {
			if w && i == 1 {
				s += fmt.Sprint(b.Cols[1].Off, string(b.Cols[1].Data))
			} else if w {
				s += fmt.Sprint(b.Cols[i].I64)
			}
		}
		return s
	}
	for _, want := range [][]bool{{false}, {}, {false, false, true}, {false, true}, {false, true, true}} {
		var got []int
		weight := int64(0)
		k := 0
		err := st.ScanStreamColumns(1, 0, state.Newest, want, func(_ uint64, b *batch.Batch) error {
			got = append(got, b.N)
			for i := range b.N {
				weight += b.Weight(i)
			}
			if len(b.Cols) != 3 || b.Cols[0] != nil || (b.Cols[2] != nil) != (len(want) == 3) {
				t.Errorf("columns %v", b.Cols)
			}
			if k < len(chunks) && columns(b, want) != columns(chunks[k], want) {
				t.Errorf("%v: the columns of chunk %d are others", want, k)
			}
			k++
			return nil
		})
		if err != nil || fmt.Sprint(got) != "[20000 3 20000 5]" || weight != 8 {
			t.Errorf("%v: %v of weight %d, %v", want, got, weight, err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestShapeOfSpools asks for rows and columns only, of a spool with a file and of one without.
func TestShapeOfSpools(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	st := openDir(t, filepath.Join(t.TempDir(), "db"))
	for _, n := range []int{9, 20_000} {
		var got []int
		err := spooled(t, st, false, noise(r, n), ints(1, 2)).EachShape(func(rows, columns int) { got = append(got, rows, columns) })
		if err != nil || fmt.Sprint(got) != fmt.Sprint([]int{n, 3, 2, 1}) {
			t.Errorf("%v, %v", got, err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// betweenFS calls f when the directory of spools in a copy is made: the copy's log is complete then, and the files are not looked for yet.
type betweenFS struct {
	vfs.FS
	in string
	f  func(list bool)
}

func (fs *betweenFS) MkdirAll(dir string, perm os.FileMode) error {
	if dir == filepath.Join(fs.in, "spool") {
		fs.f(false)
	}
	return fs.FS.MkdirAll(dir, perm)
}

func (fs *betweenFS) Link(from, to string) error {
	if strings.HasPrefix(to, filepath.Join(fs.in, "spool")) {
		fs.f(true)
	}
	return fs.FS.Link(from, to)
}

// TestTrimBesideSnapshot trims a stream, and gives up a spool, while a copy of the database is made: the copy has all that its log names.
func TestTrimBesideSnapshot(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	fs := &betweenFS{FS: vfs.Default, in: filepath.Join(t.TempDir(), "copy")}
	o := state.Options{CacheBytes: 1 << 20, MemTableSize: 1 << 20, ReserveBytes: 1}
	o.SetFS(fs)
	dir := filepath.Join(t.TempDir(), "db")
	st, err := state.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for range 4 {
		b := noise(r, 20_000)
		rows += b.N
		appendEpoch(t, st, &state.EpochRecord{Changes: []state.RelChange{{OID: 1, Spooled: spooled(t, st, false, b)}}})
	}
	other := st.NewSpool(false)
	if err := other.Append(noise(r, 20_000)); err != nil {
		t.Fatal(err)
	}
	finish(t, other)
	done := 0
	fs.f = func(list bool) {
		switch {
		case !list:
			if err := st.TrimStream(1, 3); err != nil {
				t.Error(err)
			}
		case done == 0:
			done++
			if err := errors.Join(other.Abort(), st.TrimStream(1, 4)); err != nil {
				t.Error(err)
			}
		}
	}
	if err := st.SnapshotTo(fs.in); err != nil {
		t.Fatal(err)
	}
	if n := len(spoolNames(t, dir)); n != 1 {
		t.Errorf("%d files are left", n)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = openDir(t, fs.in)
	if got := len(streamText(t, st)); got != rows {
		t.Errorf("%d rows in the copy, want %d", got, rows)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}
