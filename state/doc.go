// Package state is the store of one database on Pebble, and the only importer
// of Pebble. It keeps
//
//   - the input log: one synced record per epoch, of large column chunks, which
//     is also the history of the streams (AppendEpoch, ReadEpochs, ScanStream);
//   - relation contents: Chunks, the append-only ones, and Rows, multisets of
//     rows under an ordered key, each with snapshots that any goroutine reads
//     without locks;
//   - operator state, for package table (Space);
//   - small named records (PutMeta).
//
// Only the input log is written in each epoch. What the epochs did to contents
// and operator state stays in memory until a checkpoint: package checkpoint
// freezes them between two epochs and hands the frozen sections to Write, which
// makes them durable in one atomic step with the marker "state is at epoch C".
// After a crash the store opens at the last checkpoint, and the engine replays
// the log after it.
//
// A failing disk: when Pebble cannot write its WAL or MANIFEST it must not go
// on. The store then turns read-only: every write, also one that is waiting,
// returns an error (58030), while reads go on.
//
// docs/storage.md describes the keys.
package state
