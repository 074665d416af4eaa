// Package custom is the operator of transform_with_state: user code with named,
// typed, durable state for each key (Spark's transformWithState; reference
// section 7).
//
// A StatefulProcessor is the user's code. It declares its variables when it is
// initialised, and is then called with the rows of one key at a time, with
// timers that have expired, and with the rows of an initial state. It keeps
// nothing else: what a call changes is undone if the call fails, and its rows
// go to the dead letters. There is one interface for processors in Go and for
// those written in Starlark (NewScript), whose methods have Spark's names.
//
// An epoch has these rounds: first the rows, key by key in
// order of the key; then the timers at or below the watermark before the epoch,
// if the stream got rows; then, if the watermark moved, those at or below the
// new one. Timers that are registered while timers fire fire in a later round.
//
// Fields of a variable may hold other fields (Nested): structs, maps and arrays
// of those. A call of a script is bounded in steps, which the interpreter
// counts, and in memory, for which its body is rewritten (instrument.go) so that
// large results are charged to an account (memory.go) before they are made. Go
// values become rows through a Codec.
//
// State is kept in ordered tables:
//
//	values        key, variable [, user key]  -> value variables and map entries
//	lists         key, variable               -> bounds of a list
//	listElements  key, variable, number       -> its elements
//	timers        expiry, key                 -> the round in which it was registered
//	keyTimers     key, expiry                 -> nothing
//	ttl           expiry, table, key there    -> nothing
//	emitted       key                         -> rows that an update-mode key has now
//	schemas       name                        -> kind, TTL and the schemas of a variable so far
//
// so that appending to a list, or reading one entry of a map, does not touch
// the rest, and that the tables do not depend on which variables there are: a
// processor can be exchanged for another (Operator.Replace) with its state kept.
package custom
