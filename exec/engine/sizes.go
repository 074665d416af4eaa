package engine

import (
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Sizes as PostgreSQL's functions give them, about: what the files of the last checkpoint and of the log have of a relation, and what is in memory
// and not in them yet. Nothing is read for it but indexes.

// size answers pg_relation_size and its kin; NULL for what is no relation.
func (f *sessionFuncs) size(name string, args []types.Datum) (types.Datum, error) {
	if name == "pg_database_size" {
		return f.databaseSize(args[0])
	}
	oid, e, p, cat := catalog.OID(args[0].I), f.s.e, f.s.e.current(), f.s.catalog()
	if table, i, ok := session.KeyOf(oid); ok && name != "pg_indexes_size" {
		return types.IntDatum(e.keyBytes(p, cat.ByOID(table), i)), nil
	}
	rel := cat.ByOID(oid)
	if rel == nil {
		return types.NullDatum, nil
	}
	n := int64(0)
	if name == "pg_relation_size" && len(args) > 1 {
		switch fork := string(args[1].B); fork {
		case "main":
		case "fsm", "vm", "init":
			return types.IntDatum(0), nil
		default:
			return types.NullDatum, sqlerr.New(sqlerr.InvalidParameterValue, "invalid fork name").WithHint("Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".")
		}
	}
	if name != "pg_indexes_size" {
		n += e.mainBytes(p, rel)
	}
	if name == "pg_table_size" || name == "pg_total_relation_size" {
		n += e.hiddenBytes(p, rel)
	}
	if name == "pg_indexes_size" || name == "pg_total_relation_size" {
		n += e.indexBytes(p, rel)
	}
	return types.IntDatum(n), nil
}

// databaseSize is the size of the data directory. There is one database, whatever its name.
func (f *sessionFuncs) databaseSize(arg types.Datum) (types.Datum, error) {
	if name := string(arg.B); arg.B != nil && name != f.s.p.Database {
		return types.NullDatum, sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", name)
	}
	return types.IntDatum(f.s.e.store.DiskBytes()), nil
}

// mainBytes is the size of a relation's rows: of a stream its history, of a table or materialized view its contents.
func (e *Engine) mainBytes(p *published, rel *catalog.Relation) int64 {
	switch rel.Kind {
	case catalog.Stream:
		return e.store.LogBytes(rel.OID)
	case catalog.Table, catalog.MatView:
		return e.contentBytes(rel.OID, p.contents(rel.OID))
	}
	return 0
}

// hiddenBytes is the size of a relation's late rows and dead letters.
func (e *Engine) hiddenBytes(p *published, rel *catalog.Relation) int64 {
	switch rel.Kind {
	case catalog.Stream:
		return e.contentBytes(rel.OID|deadOID, p.contents(rel.OID|deadOID))
	case catalog.MatView:
		if s, ok := p.contents(rel.OID).(*viewSnapshot); ok {
			return e.contentBytes(rel.OID|lateOID, s.late) + e.contentBytes(rel.OID|deadOID, s.dead)
		}
	}
	return 0
}

// indexBytes is the size of what is kept beside a relation's rows: of a table its rows by unique constraints, of a materialized view the state of its operators.
func (e *Engine) indexBytes(p *published, rel *catalog.Relation) int64 {
	n := int64(0)
	switch rel.Kind {
	case catalog.Table:
		for i := range rel.Keys() {
			n += e.keyBytes(p, rel, i)
		}
	case catalog.MatView:
		e.viewMu.Lock()
		v := e.viewStat[rel.OID]
		e.viewMu.Unlock()
		if v == nil {
			return e.store.SpaceBytes(rel.OID)
		}
		// What is on disk is in memory as well as far as there is room.
		if entries, memory := v.progress.state(); entries > 0 {
			n = max(e.store.SpaceBytes(rel.OID), memory)
		}
	}
	return n
}

// keyBytes is the size of key i of a table's keys: its rows lie by the primary key, and once more by each unique constraint.
func (e *Engine) keyBytes(p *published, rel *catalog.Relation, i int) int64 {
	if rel == nil {
		return 0
	}
	if keys := rel.Keys(); i < len(keys) && keys[0].Primary {
		i--
	}
	if i < 0 || i >= len(rel.Unique) {
		return 0
	}
	if s, ok := p.contents(rel.OID).(*tableSnapshot); ok && i < len(s.uniq) {
		return e.contentBytes(rel.OID+indexStep*catalog.OID(i+1), s.uniq[i])
	}
	return 0
}

// contentBytes is the size of contents, which the store has under an OID. The store tells it to whole blocks, which others may share, so nothing is asked of
// what is empty.
func (e *Engine) contentBytes(oid catalog.OID, c contentSnapshot) int64 {
	if c == nil || c.count() == 0 {
		return 0
	}
	return e.store.ContentBytes(oid) + unwritten(c)
}

// unwritten is what contents have in memory that no checkpoint has written.
func unwritten(c contentSnapshot) int64 {
	switch s := c.(type) {
	case *rowSnapshot:
		return s.of().Unwritten()
	case *chunkSnapshot:
		return s.of().Unwritten()
	case *viewSnapshot:
		return unwritten(s.contentSnapshot)
	case *tableSnapshot:
		return unwritten(s.contentSnapshot)
	}
	return 0
}
