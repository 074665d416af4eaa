// Package asof is the operator of ASOF JOIN: each left row meets the one right row with equal keys that is nearest to it in time, at or
// before it (>=, >) or at or after it (<=, <).
//
// Both sides lie in ordered tables under (key, time, row), so that the match of a left row is the neighbour of its time on the
// right, and the left rows that a right row concerns are a range on the left: those up to the next right row.
//
// The changes of an epoch are netted and applied at its end: first those of the right side, moving the stored left rows
// from one match to another, then those of the left. Right deletions run away from the left rows that they concern and insertions
// towards them, so that no left row is moved more than once by each.
//
// Where both times carry a watermark, rows at or below it are final. They come out then, in append mode, and leave the state. Of the
// right side, each key keeps the newest row at or below the watermark if matches are in the past, for the left rows to come.
package asof
