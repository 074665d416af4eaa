// Package topn holds the operators that know an order: the first rows of each partition, kept up to date under
// insertions and deletions, and the sort of a SELECT's result.
//
// The rows [Offset, Offset+Limit) are the first Offset+Limit rows without the first Offset ones. For each of these two
// prefixes topN remembers, per partition, the row at which it ends and how many rows come before that. A change beyond
// the end costs one insertion into state; one within moves the end by as many rows as the partition's number of rows before
// it changed. No change costs a pass over a partition.
//
// Where rows only come and few are kept of a partition, first keeps just those, as one short list: most rows are then left
// out by a look at one word.
package topn
