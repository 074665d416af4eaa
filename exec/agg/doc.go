// Package agg is the aggregates: GROUP BY with its groups in hash tables, and
// session windows.
//
// NewAggregate compiles the aggregates of a plan node into a program:
//
//   - inputs, the argument lists under a FILTER, evaluated once a batch and
//     shared by all aggregates over the same arguments;
//   - cells, the accumulators: words of a hash entry that a loop over a
//     batch's entries updates, a field of its blob, or a range of an ordered
//     table; avg(x) and sum(x) share a cell;
//   - outputs, which make an aggregate's result from cells.
//
// Every cell takes weights, so that rows can be taken back; the cells that
// cannot undo (a scalar maximum, HyperLogLog) are chosen only over append-only
// input, else an ordered multiset takes their place. Sums of floats are exact
// (fixed.go), as are those of integers and numerics, so a result depends only
// on what a group holds, never on order or on cuts into batches and epochs.
//
// A target is one hash table that rows are accumulated into: the table of
// groups without event time, or that of one window. A batch is divided by
// target first and then probed and accumulated a target at a time.
//
// Rows of sliding windows may come once each, with the last of their windows.
// They are then accumulated by slide and the sums merged into the windows at
// the end of the epoch, where the cells allow it (panes.go).
//
// What was emitted before is not stored: when a group is touched first in an
// epoch its row is rendered as it stands, and again at the end of the epoch.
package agg
