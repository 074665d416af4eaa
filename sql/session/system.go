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
	// Default shows the default of a column as PostgreSQL does ("'x'::text", "now()").
	Default func(r *catalog.Relation, column int) string
	// Check shows a CHECK constraint's expression in brackets as PostgreSQL does, and tells the columns in it.
	Check func(r *catalog.Relation, i int) (text string, columns []int)
	// IndexDef gives the CREATE INDEX statement of an index or key (KeyOID).
	IndexDef func(oid catalog.OID) string
	// Settings lists the session's run-time parameters.
	Settings func() []Setting
	// Sessions lists the open sessions, for pg_stat_activity.
	Sessions func() []Activity
}

// Setting is one run-time parameter.
type Setting struct {
	Name, Value, Default string
	Reset                string   // the value that RESET gives
	Unit, Type           string   // "ms"; "bool", "enum", "integer" or "string"
	Context              string   // "user", or "internal" where it can't be set
	Values               []string // of an enum
}

// Activity is one open session.
type Activity struct {
	ProcessID                               uint32
	User, Database, Application, ClientAddr string
	StartedMicros                           int64 // microseconds since 1970
}

// PostgreSQL gives keys, constraints and defaults OIDs of their own. Here they follow from the table's: the upper bits tell what it is and
// which one of the table's.
const (
	tableBits             = 24
	tableMask catalog.OID = 1<<tableBits - 1
	keyTag    catalog.OID = 1 << 30
	checkTag  catalog.OID = 2 << 30
	defTag    catalog.OID = 3 << 30
)

// KeyOID is the OID under which pg_class, pg_index and pg_constraint show key i of a table (catalog.Relation.Keys): its primary key or
// a unique constraint.
func KeyOID(table catalog.OID, i int) catalog.OID {
	return keyTag | catalog.OID(i)<<tableBits | table
}

// CheckOID is the OID under which pg_constraint shows CHECK constraint i of a table, of at most 64.
func CheckOID(table catalog.OID, i int) catalog.OID {
	return checkTag | catalog.OID(i)<<tableBits | table
}

// DefaultOID is the OID under which pg_attrdef shows the default of a column.
func DefaultOID(table catalog.OID, column int) catalog.OID {
	return defTag | (table<<11|catalog.OID(column))&(keyTag-1)
}

// KeyOf is the inverse of KeyOID; ok says whether oid is one that it gives.
func KeyOf(oid catalog.OID) (table catalog.OID, i int, ok bool) {
	return oid & tableMask, int(oid&(keyTag-1)) >> tableBits, oid&^(keyTag-1) == keyTag
}

// CheckOf is the inverse of CheckOID.
func CheckOf(oid catalog.OID) (table catalog.OID, i int, ok bool) {
	return oid & tableMask, int(oid&(keyTag-1)) >> tableBits, oid&^(keyTag-1) == checkTag
}
