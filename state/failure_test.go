package state_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/tidemarkdb/tidemark/checkpoint"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/state"
)

// faulty fails writes to files with a suffix once it is on.
type faulty struct {
	on     atomic.Bool
	suffix string
}

func (f *faulty) String() string { return "faulty" }

func (f *faulty) MaybeError(op errorfs.Op) error {
	if f.on.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && strings.Contains(op.Path, f.suffix) {
		return errorfs.ErrInjected
	}
	return nil
}

// TestFailingDisk has writes of each kind of file fail: the store must not hang
// or exit, writes end with an error, reads go on, and after a restart nothing
// acknowledged is lost.
func TestFailingDisk(t *testing.T) {
	for _, suffix := range []string{".log", "MANIFEST", ".sst", ""} {
		t.Run("files "+suffix, func(t *testing.T) {
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 1))
			mem := vfs.NewCrashableMem()
			f := &faulty{suffix: suffix}
			m := openMini(t, errorfs.Wrap(mem, f), r)
			state.Force(m.st, true)
			now := newFacts()
			history := map[uint64]*facts{0: now}
			var acked, published uint64
			failed := false
			for i := range 60 {
				if i == 20 {
					f.on.Store(true)
				}
				rec := randomRecordNoSpool(r, m.st, now, t)
				next := now.clone()
				next.learn(rec)
				history[rec.Epoch] = next // even a failed epoch may survive the crash
				wait, err := m.st.AppendEpoch(rec)
				if err == nil {
					err = wait()
					if err == nil {
						now, acked = next, rec.Epoch
						m.run(rec)
						published = rec.Epoch
					}
				}
				if err == nil && i%5 == 4 {
					_, err = checkpoint.Write(context.Background(), m.st, m.freeze())
				}
				if err != nil {
					failed = true
					if m.st.Failure() != nil && sqlerr.CodeOf(err) != sqlerr.IOError {
						t.Errorf("a read-only store says %v", err)
					}
					break
				}
			}
			if !failed {
				t.Fatal("nothing failed")
			}
			m.check(history[published])
			if m.st.Failure() != nil {
				select {
				case <-m.st.Failed():
				default:
					t.Error("Failed is not closed")
				}
				if err := m.st.PutMeta("k", nil); sqlerr.CodeOf(err) != sqlerr.IOError {
					t.Errorf("write to a read-only store: %v", err)
				}
			}
			crashed := mem.CrashClone(vfs.CrashCloneCfg{})
			_ = m.st.Close()
			m = recoverMini(t, crashed, r, acked, history)
			if err := m.st.Close(); err != nil {
				t.Fatal(err)
			}
			verify(t, crashed)
		})
	}
}

func randomRecordNoSpool(r *rand.Rand, st *state.Store, f *facts, t *testing.T) *state.EpochRecord {
	for {
		rec := randomRecordOf(r, st, f, t, false)
		if len(rec.Changes) > 0 {
			return rec
		}
	}
}
