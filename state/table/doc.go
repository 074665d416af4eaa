// Package table holds the state of operators: tables in memory that know what
// changed since the last checkpoint and, when attached to a store, where to
// find what is not in memory.
//
// A Space is the set of tables of one running view. An operator declares its
// tables when it is made, in an order that depends only on the plan, and keeps
// nothing else between epochs:
//
//	sp := table.NewTransient()
//	h := sp.Hash(table.Decl{Name: "default", Words: 2, IntKey: true})
//	h.FindOrAddInts(keys, nil, slots)
//	for i, s := range slots {
//		h.Words(s)[0] += amounts[i]
//	}
//	h.MarkDirty(slots)
//
// There are five kinds. Hash is an open-addressing table with inline int64
// words, for aggregates. Windows is one Hash per window end, dropped whole when
// the window closes. Stretches holds rows by key and event time, for joins
// bounded by time. Expiring is a set of keys that expire, on the same
// stretches, for deduplication. Ordered is a byte-ordered map, for other
// joins, sessions, timers and user state.
//
// Between two epochs the engine may call Freeze, which copies what changed
// into runs for a checkpoint and clears the dirty marks, and Evict, which drops
// entries that are safely on disk. A table of which something is only on disk
// is partial: it looks misses up through the space's Backing. Entries that are
// frozen but whose checkpoint is not written yet stay in memory, so a miss can
// always be answered from disk as it is.
//
// A Space and its tables are used by one goroutine at a time. The runs that
// Freeze returns belong to whoever writes them, on any goroutine. A read from
// disk that fails panics with *Failure, which the runner of the view recovers.
package table
