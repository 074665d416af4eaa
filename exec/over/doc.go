// Package over holds window functions with OVER: ranks, neighbours, and
// aggregates over frames.
//
// Rows are kept in state by partition and order; among rows that sort alike the
// order is that of their encoding. At the end of an epoch the partitions that
// changed are computed twice, as they were and as they are, and the difference
// comes out. If no function looks farther than a number of rows (lag, lead, frames
// of ROWS with both ends bounded), only the rows around the changed ones are
// computed, whatever the size of the partition. Within a partition, a frame whose ends only move forward is
// computed by adding the rows that enter and removing those that leave, in one
// pass; only frames with EXCLUDE are added up anew for each row.
package over
