// Package over holds window functions with OVER: ranks, neighbours, and
// aggregates over frames.
//
// Rows are kept in state by partition and order; among rows that sort alike the
// order is that of their encoding. At the end of an epoch the zones of the
// changed partitions in which values may change are computed twice, as they were and as they
// are, and the difference comes out.
//
// Each function says how its zones are found (zone.go). For those that look at
// near rows (lag, lead, frames of which both ends are near) they are what lies around
// the changes. Numbers of rows differ between one change and the next. A running
// aggregate, over a frame that begins or ends with the partition, is followed from a change on until it is as it was
// (walk.go): a running maximum mostly is at once, a running sum changes up to the end. Only frames without both bounds
// and with EXCLUDE, and arguments of ntile and nth_value that are not constant, take the whole
// partition. What values need of the rows outside of a zone (how many there are,
// what running aggregates stand at before them) comes from table.Sums in logarithmic
// time. So do long frames of a few rows, whose ends are searched for by position (wide.go). Small partitions, and those of which a good part changes, are computed as a whole.
//
// Within a zone, a frame whose ends only move forward is
// computed by adding the rows that enter and removing those that leave, in one
// pass; only frames with EXCLUDE are added up anew for each row.
package over
