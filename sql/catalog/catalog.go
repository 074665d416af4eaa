// Package catalog describes what exists in a database: schemas, relations,
// their columns, keys, watermarks and options. A Catalog is an immutable
// value; a change makes a new one (copy on write), so that every statement,
// transaction and epoch sees one consistent catalog without locks.
package catalog

import (
	"sort"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// OID identifies an object for as long as the database lives. User objects start at FirstUserOID.
type OID uint32

// FirstUserOID is the first OID given to a user's object, as in PostgreSQL.
const FirstUserOID OID = 16384

// Kind is what a relation is.
type Kind uint8

// The kinds of relation. On disk: append only.
const (
	Stream   Kind = iota + 1 // append-only, in order of arrival
	Table                    // mutable
	MatView                  // maintained view
	View                     // a stored query
	System                   // a system relation (pg_catalog, information_schema, tidemark)
	Index                    // a keyed index over a table or maintained view
	Sequence                 // reserved
)

// String gives the word used in messages: "stream", "table", "materialized view", "view", "index".
func (k Kind) String() string {
	return [...]string{"", "stream", "table", "materialized view", "view", "system view", "index", "sequence"}[k]
}

// Column is one column of a relation.
type Column struct {
	Name    string
	Type    types.Type
	NotNull bool
	Default string // SQL text of the default expression, "" for none
	Hidden  bool   // not shown by *: the row id of a table without a key
	// Missing is the value, in text form, of rows that are older than the column; nil means NULL.
	Missing *string `json:",omitempty"`
}

// Watermark declares event time: WATERMARK FOR Column AS Column - Delay.
type Watermark struct {
	Column      int   // index into Columns
	DelayMicros int64 // 0 or more
	IdleMicros  int64 // IDLE TIMEOUT; 0: none
	Advance     bool  // ... ADVANCE
	// Past are the delays before ALTER ... SET WATERMARK, oldest first, so that epochs can be run again as they were.
	Past []PastDelay `json:",omitempty"`
	// Own says that a query declares it on the stream, whose own description has none.
	Own bool `json:"-"`
}

// OutputMode is a maintained view's output mode (Spark Structured Streaming's).
type OutputMode uint8

// The output modes. On disk: append only.
const (
	Update   OutputMode = iota // the current answer; the default
	Append                     // rows appear once, when final
	Complete                   // the exact answer over all input, nothing evicted
)

// String gives 'update', 'append' or 'complete'.
func (m OutputMode) String() string { return [...]string{"update", "append", "complete"}[m] }

// Check is a CHECK constraint.
type Check struct {
	Name string
	Expr string // SQL text
}

// Relation describes one relation. It is immutable once it is in a Catalog.
type Relation struct {
	OID        OID
	Schema     string
	Name       string
	Kind       Kind
	Columns    []Column
	PrimaryKey []int // column indexes; of a table without a declared key: its hidden row id
	HiddenKey  bool  // the primary key is a hidden row id
	Unique     [][]int
	KeyNames   KeyNames // of PrimaryKey and Unique
	Checks     []Check
	Watermark  *Watermark

	// Of MatView and View:
	SQL        string            // text of the defining query as written
	Settings   map[string]string // TimeZone, DateStyle, search_path at CREATE
	DependsOn  []OID             // relations read by the query
	Processors []OID             `json:",omitempty"` // processors, and functions that users made, that it calls
	// Widths say how many columns the streams among DependsOn had at CREATE: the query has no others, as in PostgreSQL.
	Widths map[OID]int `json:",omitempty"`
	// StateReads describe the state tables that a MatView began with (statestore in an initial state), in the order of the text.
	StateReads []*Relation `json:",omitempty"`
	OutputMode OutputMode
	AppendOnly bool // of MatView and System: rows are never deleted (streams are always so)
	// WatermarkCols are the columns of a MatView that carry its watermark.
	WatermarkCols []int
	// WatermarkLags say for each of them how far behind the watermark its values may still be, in microseconds (planner/plan.Props).
	WatermarkLags []int64 `json:",omitempty"`
	// WatermarkDelays say for each of them by what the watermark is behind the greatest event time (planner/plan.Props).
	WatermarkDelays []Delay `json:",omitempty"`

	Options      map[string]string // WITH options as given, names folded
	CreatedEpoch uint64            // the epoch in whose record the CREATE stands
	Of           OID               // of Index: the relation it is on
	IndexCols    []int             // of Index
	Comment      string
}

// ColumnIndex finds a column by name, -1 if there is none.
func (r *Relation) ColumnIndex(name string) int {
	for i := range r.Columns {
		if r.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Types lists the column types.
func (r *Relation) Types() []types.Type {
	ts := make([]types.Type, len(r.Columns))
	for i, c := range r.Columns {
		ts[i] = c.Type
	}
	return ts
}

// IsAppendOnly says whether rows are only ever added.
func (r *Relation) IsAppendOnly() bool {
	return r.Kind == Stream || (r.Kind == MatView || r.Kind == System) && r.AppendOnly
}

// Schema is a namespace.
type Schema struct {
	OID  OID
	Name string
}

// Catalog is an immutable set of schemas and relations.
type Catalog struct {
	Version   uint64
	NextOID   OID
	schemas   map[string]*Schema
	relations map[string]map[string]*Relation // schema, name
	byOID     map[OID]*Relation

	processors map[OID]*Processor
	functions  map[OID]*Function
}

// New makes a catalog with the schemas that always exist.
func New() *Catalog {
	c := &Catalog{NextOID: FirstUserOID, schemas: map[string]*Schema{}, relations: map[string]map[string]*Relation{}, byOID: map[OID]*Relation{}}
	for _, s := range []Schema{{11, "pg_catalog"}, {13000, "information_schema"}, {2200, "public"}, {13500, "tidemark"}} {
		c.schemas[s.Name] = &Schema{s.OID, s.Name}
		c.relations[s.Name] = map[string]*Relation{}
	}
	return c
}

// SystemSchema says whether a schema belongs to the system.
func SystemSchema(name string) bool {
	return name == "pg_catalog" || name == "information_schema" || name == "tidemark"
}

// Schema finds a schema, nil if there is none.
func (c *Catalog) Schema(name string) *Schema { return c.schemas[name] }

// Schemas lists all schemas by name.
func (c *Catalog) Schemas() []*Schema {
	var out []*Schema
	for _, s := range c.schemas {
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Relation finds a relation in a schema, nil if there is none.
func (c *Catalog) Relation(schema, name string) *Relation { return c.relations[schema][name] }

// ByOID finds a relation, nil if there is none.
func (c *Catalog) ByOID(oid OID) *Relation { return c.byOID[oid] }

// Relations lists all relations by OID.
func (c *Catalog) Relations() []*Relation {
	out := make([]*Relation, 0, len(c.byOID))
	for _, r := range c.byOID {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].OID < out[j].OID })
	return out
}

// Lookup resolves a possibly qualified name along searchPath (pg_catalog comes first implicitly, as in
// PostgreSQL, unless named). It gives 42P01 or 3F000.
func (c *Catalog) Lookup(schema, name string, searchPath []string) (*Relation, error) {
	if schema != "" {
		if c.schemas[schema] == nil {
			return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s.%s\" does not exist", schema, name)
		}
		if r := c.relations[schema][name]; r != nil {
			return r, nil
		}
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s.%s\" does not exist", schema, name)
	}
	if r := c.relations["pg_catalog"][name]; r != nil {
		return r, nil
	}
	for _, s := range searchPath {
		if r := c.relations[s][name]; r != nil {
			return r, nil
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", name)
}

func (c *Catalog) clone() *Catalog {
	n := &Catalog{Version: c.Version + 1, NextOID: c.NextOID, schemas: map[string]*Schema{}, relations: map[string]map[string]*Relation{}, byOID: map[OID]*Relation{}}
	for k, v := range c.schemas {
		n.schemas[k] = v
	}
	for k, v := range c.relations {
		m := make(map[string]*Relation, len(v)+1)
		for kk, vv := range v {
			m[kk] = vv
		}
		n.relations[k] = m
	}
	for k, v := range c.byOID {
		n.byOID[k] = v
	}
	n.processors = make(map[OID]*Processor, len(c.processors)+1)
	for k, v := range c.processors {
		n.processors[k] = v
	}
	n.functions = make(map[OID]*Function, len(c.functions)+1)
	for k, v := range c.functions {
		n.functions[k] = v
	}
	return n
}

// With gives a catalog that also has r (replacing one of the same OID). The schema must exist.
// r.OID of 0 takes the next free one.
func (c *Catalog) With(r *Relation) *Catalog {
	n := c.clone()
	if r.OID == 0 {
		r.OID = n.NextOID
	}
	if r.OID >= n.NextOID {
		n.NextOID = r.OID + 1
	}
	if old := n.byOID[r.OID]; old != nil {
		delete(n.relations[old.Schema], old.Name)
	}
	n.relations[r.Schema][r.Name] = r
	n.byOID[r.OID] = r
	return n
}

// Without gives a catalog that lacks the relation.
func (c *Catalog) Without(oid OID) *Catalog {
	n := c.clone()
	if r := n.byOID[oid]; r != nil {
		delete(n.relations[r.Schema], r.Name)
		delete(n.byOID, oid)
	}
	return n
}

// WithSchema gives a catalog that also has the schema.
func (c *Catalog) WithSchema(s Schema) *Catalog {
	n := c.clone()
	if s.OID == 0 {
		s.OID = n.NextOID
	}
	if s.OID >= n.NextOID {
		n.NextOID = s.OID + 1
	}
	n.schemas[s.Name] = &s
	if n.relations[s.Name] == nil {
		n.relations[s.Name] = map[string]*Relation{}
	}
	return n
}

// WithoutSchema gives a catalog that lacks the schema and what is in it.
func (c *Catalog) WithoutSchema(name string) *Catalog {
	n := c.clone()
	for _, r := range n.relations[name] {
		delete(n.byOID, r.OID)
	}
	delete(n.relations, name)
	delete(n.schemas, name)
	return n
}

// Dependents lists the relations whose query reads oid directly, and indexes on it, by OID.
func (c *Catalog) Dependents(oid OID) []*Relation {
	var out []*Relation
	for _, r := range c.Relations() {
		if r.Of == oid && oid != 0 {
			out = append(out, r)
			continue
		}
		for _, d := range r.DependsOn {
			if d == oid {
				out = append(out, r)
				break
			}
		}
	}
	return out
}
