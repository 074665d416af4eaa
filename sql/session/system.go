package session

import (
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// SystemRelation is a relation of the system (pg_catalog, information_schema) whose rows are made from the catalog when a
// statement reads it.
type SystemRelation struct {
	// Rel describes it; its Kind is catalog.System and its OID below catalog.FirstUserOID.
	Rel *catalog.Relation
	// Rows makes the rows as a session sees them, with all of Rel's columns. The caller owns the batch. It may be called
	// from several goroutines at once.
	Rows func(c *SystemContext) (*batch.Batch, error)
}

// SystemContext is what a system relation may look at. It is valid during the call.
type SystemContext struct {
	Catalog    *catalog.Catalog
	User       string
	Database   string
	SearchPath []string
	// RowEstimate gives the number of rows of a relation, -1 if it is not known.
	RowEstimate func(catalog.OID) int64
	// Settings lists the session's run-time parameters.
	Settings func() []Setting
	// Sessions lists the open sessions, for pg_stat_activity.
	Sessions func() []Activity
}

// Setting is one run-time parameter.
type Setting struct{ Name, Value, Default string }

// Activity is one open session.
type Activity struct {
	ProcessID                               uint32
	User, Database, Application, ClientAddr string
	StartedMicros                           int64 // microseconds since 1970
}

// KeyOID is the OID under which pg_index and pg_constraint show a table's primary key: PostgreSQL has an index of its own
// for each, Tidemark keeps the table itself in key order.
func KeyOID(table catalog.OID) catalog.OID { return table | 1<<30 }

// KeyTable is the inverse of KeyOID.
func KeyTable(key catalog.OID) catalog.OID { return key &^ (1 << 30) }
