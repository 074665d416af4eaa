// Package join holds the join of two changing inputs, in all its kinds.
//
// Both sides are kept in state, keyed by the equated columns. A change on one
// side is multiplied with the matching rows of the other: a pair's weight is
// the product of its rows' weights. Rows that must show whether they have a
// match (outer, semi and anti joins) have a match count: either one for each
// row, or, where the condition is nothing but equality, the other side's number
// of rows with the key.
//
// When an unmatched row is shown is the only difference between the two
// regimes. In update mode it is shown at once and taken back when a match
// comes. In append mode, and in a SELECT, it is held back until it is certain
// that no match can come: until its state is evicted, or the input has ended.
//
// Event time bounds the state (reference, section 5): rows of a watermarked key
// are evicted when the watermark reaches the key, rows of a side with a range
// condition when it reaches their time less the range. A row that can never
// match, such as one with a NULL key or one that fails a condition on its own
// side alone, is not stored at all.
//
// Where the inputs have no deletions and a condition bounds the times of both
// sides, rows never change and go by time; near.go keeps them in stretches of
// event time, which is an order of magnitude faster. All else is the general way.
//
// NOT IN and scalar subqueries depend on the whole of the other side or on
// intermediate states that must not be seen, so deferred.go settles them at the
// end of each epoch.
package join
