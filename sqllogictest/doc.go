// Package sqllogictest runs sqllogictest files against a server that speaks
// PostgreSQL's protocol: Tidemark, or a real PostgreSQL that fills in the
// expected rows. It is a client over the wire and knows nothing of the engine.
//
// The dialect is that of sqllogictest-rs. A file is a list of records,
// separated by blank lines:
//
//	statement ok | error [regex] | count n
//	query TYPES [nosort|rowsort|valuesort] [label]
//	query error [regex]
//	halt, include GLOB, sleep 10ms, restart, connection NAME (for the next record),
//	skipif LABEL, onlyif LABEL, control sortmode MODE, hash-threshold N,
//	loop VAR FROM TO ... endloop, foreach VAR VALUE... ... endloop
//
// The values of a row are joined by one space and whole lines are compared,
// so values may contain spaces. NULL is NULL, the empty string (empty), a line
// break inside a value \n. Results come in text format over the simple
// protocol. An error is "SQLSTATE: message"; a regex is looked for in it, and
// the text under ---- must equal it.
//
// A label of skipif and onlyif is postgres or tidemark, whichever the server
// is, or a mode. The modes say in which ways each file is run, see Mode.
package sqllogictest
