// Package checkpoint writes and restores checkpoints, makes snapshots of a
// database and checks one offline.
//
// A checkpoint at epoch C is everything that is a function of the epochs up to
// C: relation contents, operator state, catalog, watermarks, and how far each
// view has come. It is incremental, and atomic: after a crash the database is
// at the last complete checkpoint, and the engine replays the input log from
// the epoch after it.
//
// The engine makes one so:
//
//	between epochs:    c := &checkpoint.Checkpoint{Epoch: n, ...}; freeze spaces and contents into c.Sections
//	in the background: checkpoint.Write(ctx, store, c), then checkpoint.Trim(store, tables)
//
// Epochs go on meanwhile. One checkpoint is written at a time.
package checkpoint
