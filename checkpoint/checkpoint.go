package checkpoint

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/state"
)

// Checkpoint is a database at an epoch.
type Checkpoint struct {
	Epoch     uint64                 // everything up to and with this epoch is in it
	Timestamp int64                  // of the epoch, microseconds since 1970 UTC
	Catalog   []byte                 // opaque here
	Marks     []state.StreamMark     // all streams that have one
	Views     map[catalog.OID]uint64 // epoch up to which each view has run; a paused view may be behind Epoch
	Meta      map[string][]byte      // whatever else is a function of the epochs, opaque here
	Sections  []*state.Section       `json:"-"` // what changed since the last checkpoint; not given by Load
}

// Stats are the figures of one checkpoint.
type Stats struct {
	Entries  int64 // keys written
	Bytes    int64
	Duration time.Duration
}

const version = 1

// Write makes the checkpoint durable, all of it or nothing. It runs in the
// background, beside epochs; all epochs up to c.Epoch must be durable. After an
// error call it again with the same value before any other checkpoint, unless
// the store has become read-only: the sections were frozen once and for all.
func Write(ctx context.Context, st *state.Store, c *Checkpoint) (Stats, error) {
	start := time.Now()
	old, ok, err := Load(st)
	if err != nil {
		return Stats{}, err
	}
	if ok && c.Epoch < old.Epoch {
		return Stats{}, fmt.Errorf("checkpoint at epoch %d comes after one at epoch %d", c.Epoch, old.Epoch)
	}
	if c.Epoch > st.LastEpoch() {
		return Stats{}, fmt.Errorf("checkpoint at epoch %d is ahead of the log, which ends at %d", c.Epoch, st.LastEpoch())
	}
	js, err := json.Marshal(c)
	if err != nil {
		return Stats{}, err
	}
	// State: epoch 8, big-endian | version 1 | JSON.
	marker := append(binary.BigEndian.AppendUint64(nil, c.Epoch), version)
	if err := st.Write(ctx, c.Sections, map[string][]byte{state.MarkerName: append(marker, js...)}); err != nil {
		return Stats{}, fmt.Errorf("write checkpoint at epoch %d: %w", c.Epoch, err)
	}
	s := Stats{Duration: time.Since(start), Bytes: int64(len(js))}
	for _, x := range c.Sections {
		if x != nil {
			s.Entries += x.Entries()
			s.Bytes += x.Bytes()
		}
	}
	return s, nil
}

// Load gives the last checkpoint, without sections: contents and operator
// state are opened through the store. ok is false for a database that has none,
// which starts before epoch 1.
func Load(st *state.Store) (c *Checkpoint, ok bool, err error) {
	v, ok, err := st.Named(state.MarkerName)
	if err != nil || !ok {
		return nil, false, err
	}
	if len(v) < 9 || v[8] != version {
		return nil, false, sqlerr.New(sqlerr.DataCorrupted, "marker of the checkpoint is malformed or of an unknown version")
	}
	c = &Checkpoint{}
	if err := json.Unmarshal(v[9:], c); err != nil {
		return nil, false, sqlerr.New(sqlerr.DataCorrupted, "marker of the checkpoint is malformed").WithCause(err)
	}
	if c.Epoch != binary.BigEndian.Uint64(v) {
		return nil, false, sqlerr.New(sqlerr.DataCorrupted, "marker of the checkpoint contradicts itself")
	}
	return c, true, nil
}

// Trim deletes from the input log what only recovery needed and the last
// checkpoint replaces: epoch headers, and the changes of the relations named,
// which are those whose history nobody reads: tables, and streams with
// retention '0'. Views that lag behind hold the log back.
func Trim(st *state.Store, relations []catalog.OID) error {
	c, ok, err := Load(st)
	if err != nil || !ok {
		return err
	}
	before := c.Epoch + 1
	for _, e := range c.Views {
		before = min(before, e+1)
	}
	// Headers first: a record whose chunks are gone could not be read.
	if err := st.TrimHeaders(before); err != nil {
		return err
	}
	for _, oid := range relations {
		if err := st.TrimStream(oid, before); err != nil {
			return err
		}
	}
	return nil
}

// Snapshot makes a copy of the database in dir, which must not exist, by hard
// links where it can. It may run beside epochs and checkpoints; the copy opens
// at the last epoch that was durable when it was made.
func Snapshot(st *state.Store, dir string) error { return st.SnapshotTo(dir) }
