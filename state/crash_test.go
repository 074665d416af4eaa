package state_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tidemarkdb/tidemark/checkpoint"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state"
	"github.com/tidemarkdb/tidemark/state/table"
)

const (
	streamOID catalog.OID = 20000 + iota
	chunksOID
	rowsOID
	tableOID
	viewOID
)

var rowTypes = []types.Type{types.Of(types.Int8), types.Of(types.Text), types.Of(types.Timestamp)}

// facts are what a tiny engine knows after an epoch, in plain Go values.
type facts struct {
	chunks []string
	rows   map[string]int64
	counts map[int64]int64
	names  map[string]string
	wins   map[int64]map[int64]int64
	held   map[string]int64 // weights of rows with a time
}

func newFacts() *facts {
	return &facts{rows: map[string]int64{}, counts: map[int64]int64{}, names: map[string]string{}, wins: map[int64]map[int64]int64{}, held: map[string]int64{}}
}

func (f *facts) clone() *facts {
	g := &facts{slices.Clone(f.chunks), maps.Clone(f.rows), maps.Clone(f.counts), maps.Clone(f.names), map[int64]map[int64]int64{}, maps.Clone(f.held)}
	for k, v := range f.wins {
		g.wins[k] = maps.Clone(v)
	}
	return g
}

func rowText(b *batch.Batch, i int) string {
	ts := "null"
	if !b.Cols[2].IsNull(i) {
		ts = fmt.Sprint(b.Cols[2].I64[i])
	}
	return fmt.Sprintf("%d|%s|%s", b.Cols[0].I64[i], b.Cols[1].Bytes(i), ts)
}

const winSize = 50

// heldText tells rows of an id and a time apart; it sorts by time.
func heldText(at, id int64) string { return fmt.Sprintf("%012d|%d", at, id) }

// learn is what the records mean.
func (f *facts) learn(rec *state.EpochRecord) {
	for _, c := range rec.Changes {
		_ = c.Each(func(b *batch.Batch) error {
			for i := range b.N {
				if c.OID == tableOID {
					k := rowText(b, i)
					if f.rows[k] += b.Weight(i); f.rows[k] == 0 {
						delete(f.rows, k)
					}
					continue
				}
				id := b.Cols[0].I64[i]
				if id%3 == 0 {
					f.chunks = append(f.chunks, rowText(b, i))
				}
				f.counts[id]++
				if f.counts[id] > 4 {
					delete(f.counts, id)
				}
				f.names[fmt.Sprintf("n%05d", id)] = string(b.Cols[1].Bytes(i))
				if !b.Cols[2].IsNull(i) {
					end := b.Cols[2].I64[i]/winSize*winSize + winSize
					if end > rec.Timestamp {
						if f.wins[end] == nil {
							f.wins[end] = map[int64]int64{}
						}
						f.wins[end][id]++
					}
					if at := b.Cols[2].I64[i]; at > rec.Timestamp {
						f.held[heldText(at, id)]++
					}
				}
			}
			return nil
		})
	}
	maps.DeleteFunc(f.held, func(k string, _ int64) bool { return k < heldText(rec.Timestamp+1, 0) })
	maps.DeleteFunc(f.wins, func(end int64, _ map[int64]int64) bool { return end <= rec.Timestamp })
	if rec.Epoch%17 == 0 {
		maps.DeleteFunc(f.names, func(k, _ string) bool { return k >= "n00100" && k < "n00150" })
	}
}

// mini is a tiny engine over a store.
type mini struct {
	t      *testing.T
	st     *state.Store
	chunks *state.Chunks
	rows   *state.Rows
	sp     *table.Space
	counts *table.Hash
	names  *table.Ordered
	wins   *table.Windows
	held   *table.Stretches
}

func openMini(t *testing.T, fs vfs.FS, cfg *rand.Rand) *mini {
	var o state.Options
	o.SetFS(fs)
	o.CacheBytes, o.MemTableSize = 1<<20, 256<<10
	st, err := state.Open("db", o)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.IntN(2) == 0 {
		state.Force(st, cfg.IntN(3) > 0)
		state.SetTableSize(st, 500)
	}
	if cfg.IntN(2) == 0 {
		state.SetSpoolFileMin(st, cfg.IntN(1000))
	}
	m := &mini{t: t, st: st, chunks: st.Chunks(chunksOID, rowTypes), rows: st.Rows(rowsOID, rowTypes, []int{0, 2}), sp: st.Space(viewOID)}
	m.counts = m.sp.Hash(table.Decl{Name: "counts", IntKey: true, Words: 1})
	m.names = m.sp.Ordered(table.Decl{Name: "names"})
	m.wins = m.sp.Windows(table.Decl{Name: "wins", IntKey: true, Words: 1})
	m.held = m.sp.Stretches(table.Decl{Name: "held", Width: winSize})
	if err := m.sp.Verify(); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *mini) run(rec *state.EpochRecord) {
	var slot [1]int32
	for _, c := range rec.Changes {
		err := c.Each(func(b *batch.Batch) error {
			if c.OID == tableOID {
				m.rows.Apply(b)
				return nil
			}
			var third []int32
			for i := range b.N {
				id := b.Cols[0].I64[i]
				if id%3 == 0 {
					third = append(third, int32(i))
				}
				m.counts.FindOrAddInts([]int64{id}, nil, slot[:])
				m.counts.Words(slot[0])[0]++
				m.counts.MarkDirty(slot[:])
				if m.counts.Words(slot[0])[0] > 4 {
					m.counts.Remove(slot[0])
				}
				m.names.Put(fmt.Appendf(nil, "n%05d", id), b.Cols[1].Bytes(i))
				if !b.Cols[2].IsNull(i) {
					end := b.Cols[2].I64[i]/winSize*winSize + winSize
					if end > rec.Timestamp {
						h := m.wins.At(end-winSize, end)
						h.FindOrAddInts([]int64{id}, nil, slot[:])
						h.Words(slot[0])[0]++
						h.MarkDirty(slot[:])
					}
					if at := b.Cols[2].I64[i]; at > rec.Timestamp {
						k := fmt.Append(nil, id)
						m.held.Append(table.HashBytes(k), k, at, 1, b.Cols[1].Bytes(i), false)
					}
				}
			}
			if third != nil {
				m.chunks.Append(b.Select(third))
			}
			return nil
		})
		if err != nil {
			m.t.Fatal(err)
		}
	}
	for _, end := range m.wins.Ends() {
		if end <= rec.Timestamp {
			m.wins.Drop(end)
		}
	}
	if _, err := m.held.Expire(rec.Timestamp, nil); err != nil {
		m.t.Fatal(err)
	}
	if rec.Epoch%17 == 0 {
		m.names.DeleteRange([]byte("n00100"), []byte("n00150"))
	}
	m.chunks.Publish(rec.Epoch)
	m.rows.Publish(rec.Epoch)
}

func (m *mini) check(want *facts) {
	m.t.Helper()
	got := newFacts()
	m.readContents(got, m.chunks.Snapshot(), m.rows.Snapshot())
	m.sp.Each(0, func(e *table.Entry) bool { got.counts[e.Int] = e.Words[0]; return true })
	m.sp.Each(1, func(e *table.Entry) bool { got.names[string(e.Key)] = string(e.Value); return true })
	m.sp.Each(2, func(e *table.Entry) bool {
		if got.wins[e.WindowEnd] == nil {
			got.wins[e.WindowEnd] = map[int64]int64{}
		}
		got.wins[e.WindowEnd][e.Int] = e.Words[0]
		return true
	})
	m.held.Each(func(r table.Row) bool {
		var id int64
		fmt.Sscan(string(r.Key()), &id)
		got.held[heldText(r.Time(), id)] += r.Weight()
		return true
	})
	if !maps.Equal(got.held, want.held) {
		m.t.Fatalf("held: %d, want %d", len(got.held), len(want.held))
	}
	if !slices.Equal(got.chunks, want.chunks) {
		m.t.Fatalf("chunks: %d rows, want %d", len(got.chunks), len(want.chunks))
	}
	if !maps.Equal(got.rows, want.rows) {
		m.t.Fatalf("rows: %d, want %d\n%v\n%v", len(got.rows), len(want.rows), got.rows, want.rows)
	}
	if !maps.Equal(got.counts, want.counts) || m.counts.Len() != int64(len(want.counts)) {
		m.t.Fatalf("counts: %d, len %d, want %d", len(got.counts), m.counts.Len(), len(want.counts))
	}
	if !maps.Equal(got.names, want.names) || m.names.Len() != int64(len(want.names)) {
		m.t.Fatalf("names: %d, len %d, want %d", len(got.names), m.names.Len(), len(want.names))
	}
	if !maps.EqualFunc(got.wins, want.wins, maps.Equal[map[int64]int64, map[int64]int64]) {
		m.t.Fatalf("windows: %v, want %v", got.wins, want.wins)
	}
}

func (m *mini) readContents(got *facts, cs *state.ChunksSnapshot, rs *state.RowsSnapshot) {
	m.t.Helper()
	n := int64(0)
	if err := cs.Scan(func(b *batch.Batch) error {
		for i := range b.N {
			got.chunks = append(got.chunks, rowText(b, i))
		}
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
	last := int64(-1 << 62)
	if err := rs.Scan(func(b *batch.Batch) error {
		for i := range b.N {
			if b.Cols[0].I64[i] < last {
				m.t.Fatalf("rows are not in order: %d after %d", b.Cols[0].I64[i], last)
			}
			last = b.Cols[0].I64[i]
			got.rows[rowText(b, i)] += b.Weight(i)
			n += b.Weight(i)
		}
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
	if cs.Rows() != int64(len(got.chunks)) || rs.Rows() != n {
		m.t.Fatalf("%d and %d rows counted, want %d and %d", cs.Rows(), rs.Rows(), len(got.chunks), n)
	}
}

func randomRows(r *rand.Rand, n int, now int64) *batch.Batch {
	b := batch.New(rowTypes, n)
	for range n {
		b.Cols[0].AppendInt(int64(r.IntN(400)))
		b.Cols[1].AppendString(strings.Repeat("x", r.IntN(9)))
		if r.IntN(10) == 0 {
			b.Cols[2].AppendNull()
		} else {
			b.Cols[2].AppendInt(now + int64(r.IntN(200)) - 50)
		}
		b.EndRow(1)
	}
	return b
}

// randomRecord makes the next epoch; changes of the table remove rows that are there.
func randomRecord(r *rand.Rand, st *state.Store, f *facts, t *testing.T) *state.EpochRecord {
	return randomRecordOf(r, st, f, t, true)
}

func randomRecordOf(r *rand.Rand, st *state.Store, f *facts, t *testing.T, spools bool) *state.EpochRecord {
	e := st.LastEpoch() + 1
	rec := &state.EpochRecord{Epoch: e, Timestamp: int64(e) * 7, Events: []byte("ev"), Meta: binary.AppendUvarint(nil, e)}
	for range r.IntN(3) {
		rec.Changes = append(rec.Changes, state.RelChange{OID: streamOID, Batch: randomRows(r, 1+r.IntN(60), rec.Timestamp)})
	}
	if r.IntN(2) == 0 {
		b := randomRows(r, r.IntN(20), rec.Timestamp)
		keys := slices.Sorted(maps.Keys(f.rows))
		for range min(len(keys), r.IntN(10)) {
			i := r.IntN(len(keys))
			var id int64
			p := strings.Split(keys[i], "|")
			fmt.Sscan(p[0], &id)
			b.Cols[0].AppendInt(id)
			b.Cols[1].AppendString(p[1])
			if p[2] == "null" {
				b.Cols[2].AppendNull()
			} else {
				var ts int64
				fmt.Sscan(p[2], &ts)
				b.Cols[2].AppendInt(ts)
			}
			b.EndRow(-1)
			keys = slices.Delete(keys, i, i+1)
		}
		rec.Changes = append(rec.Changes, state.RelChange{OID: tableOID, Batch: b})
	}
	if spools && r.IntN(8) == 0 {
		sp := st.NewSpool(r.IntN(2) == 0)
		for range 1 + r.IntN(4) {
			if err := sp.Append(randomRows(r, 1+r.IntN(50), rec.Timestamp)); err != nil {
				t.Fatal(err)
			}
		}
		if r.IntN(3) == 0 {
			if r.IntN(2) == 0 {
				if _, err := sp.Finish(); err != nil {
					t.Fatal(err)
				}
			}
			if r.IntN(2) == 0 {
				if err := sp.Abort(); err != nil {
					t.Fatal(err)
				}
			} // else it is lost
		} else {
			done, err := sp.Finish()
			if err != nil {
				t.Fatal(err)
			}
			rec.Changes = append(rec.Changes, state.RelChange{OID: streamOID, Spooled: done})
		}
	}
	if r.IntN(2) == 0 {
		rec.Watermarks = []state.StreamMark{{OID: streamOID, Watermark: rec.Timestamp, MaxEventTime: rec.Timestamp + 5, Idle: e%2 == 0}}
	}
	return rec
}

func (m *mini) freeze() *checkpoint.Checkpoint {
	e := m.st.LastEpoch()
	f := m.sp.Freeze()
	f.Complete() // it is written on another goroutine
	return &checkpoint.Checkpoint{Epoch: e, Timestamp: int64(e) * 7, Catalog: []byte("catalog"), Views: map[catalog.OID]uint64{viewOID: e},
		Sections: []*state.Section{m.chunks.Freeze(), state.SpaceSection(viewOID, f), m.rows.Freeze()}}
}

// recoverMini opens a store after a crash, replays the log, and checks that all acknowledged epochs are there.
func recoverMini(t *testing.T, fs vfs.FS, r *rand.Rand, acked uint64, history map[uint64]*facts) *mini {
	t.Helper()
	m := openMini(t, fs, r)
	last := m.st.LastEpoch()
	if last < acked {
		t.Fatalf("epoch %d was acknowledged, the log ends at %d", acked, last)
	}
	c, ok, err := checkpoint.Load(m.st)
	if err != nil {
		t.Fatal(err)
	}
	from := uint64(1)
	if ok {
		from = c.Epoch + 1
		m.check(history[c.Epoch])
	}
	err = m.st.ReadEpochs(from, state.Newest, func(rec *state.EpochRecord) error {
		if rec.Timestamp != int64(rec.Epoch)*7 || string(rec.Events) != "ev" {
			t.Fatalf("record of epoch %d is wrong: %+v", rec.Epoch, rec)
		}
		m.run(rec)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if last > 0 {
		m.check(history[last])
	}
	return m
}

// TestCrashes kills the store at random moments, also in the middle of
// checkpoints and of epochs that are not acknowledged, and recovers from what a
// crash leaves of the file system.
func TestCrashes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for round := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, round))
		fs := vfs.NewCrashableMem()
		m := openMini(t, fs, r)
		now := newFacts()
		history := map[uint64]*facts{}
		for range 10 {
			fs, now, m = crashOnce(t, r, fs, m, now, history)
		}
		if err := m.st.Close(); err != nil {
			t.Fatal(err)
		}
		verify(t, fs)
	}
}

func crashOnce(t *testing.T, r *rand.Rand, fs *vfs.MemFS, m *mini, now *facts, history map[uint64]*facts) (*vfs.MemFS, *facts, *mini) {
	var writing chan error
	var acked uint64
	join := func() {
		if writing != nil {
			if err := <-writing; err != nil {
				t.Fatal(err)
			}
			writing = nil
			if r.IntN(2) == 0 {
				if err := checkpoint.Trim(m.st, []catalog.OID{tableOID, streamOID}[:1+r.IntN(2)]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	budget := []int64{0, 1, 20_000}[r.IntN(3)]
	m.sp.SetBudget(budget)
	for range 5 + r.IntN(40) {
		rec := randomRecord(r, m.st, now, t)
		rec.Lazy = r.IntN(3) == 0
		wait, err := m.st.AppendEpoch(rec)
		if err != nil {
			t.Fatal(err)
		}
		now = now.clone()
		now.learn(rec)
		history[rec.Epoch] = now
		m.run(rec)
		if err := wait(); err != nil {
			t.Fatal(err)
		}
		if rec.Lazy && r.IntN(3) == 0 {
			if err := m.st.SyncLog(); err != nil {
				t.Fatal(err)
			}
			rec.Lazy = false
		}
		if !rec.Lazy {
			acked = rec.Epoch
		}
		switch r.IntN(6) {
		case 0:
			join()
			c := m.freeze()
			st := m.st
			writing = make(chan error, 1)
			go func(done chan error) {
				_, err := checkpoint.Write(context.Background(), st, c)
				done <- err
			}(writing)
		case 1:
			join()
		case 2:
			m.sp.Evict(budget)
		case 3:
			m.check(now)
		case 4:
			m.sp.Load(10_000)
		}
	}
	if r.IntN(2) == 0 {
		rec := randomRecord(r, m.st, now, t)
		if _, err := m.st.AppendEpoch(rec); err != nil { // and never wait
			t.Fatal(err)
		}
		now = now.clone()
		now.learn(rec)
		history[rec.Epoch] = now
	}
	if r.IntN(2) == 0 {
		time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(101), RNG: rand.New(rand.NewPCG(r.Uint64(), 1))})
	join()
	_ = m.st.Close()
	m = recoverMini(t, crashed, r, acked, history)
	return crashed, history0(history, m.st.LastEpoch()), m
}

func history0(h map[uint64]*facts, e uint64) *facts {
	if f := h[e]; f != nil {
		return f
	}
	return newFacts()
}

func verify(t *testing.T, fs vfs.FS) {
	t.Helper()
	var o state.Options
	o.SetFS(fs)
	o.ReadOnly = true
	st, err := state.Open("db", o)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var rep state.VerifyReport
	if err := st.Verify(&rep); err != nil {
		t.Fatal(err)
	}
	for _, p := range rep.Problems {
		t.Error(p)
	}
	if rep.Keys == 0 {
		t.Error("no keys")
	}
}
