package pgcatalog

import (
	"sort"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Fixed OIDs: of the roles, the one database, access methods and so on, as in a new PostgreSQL cluster.
const (
	ownerOID       = 10
	databaseOwners = 6171
	databaseOID    = 5
	tablespaceOID  = 1663
	catalogSchema  = 11
	heapAM         = 2
	btreeAM        = 403
	classOID       = 1259 // pg_class, as classoid of descriptions
	typeOID        = 1247 // pg_type, likewise
	defaultColl    = 100
	cColl          = 950
)

// rowsOf has the relations that have rows.
var rowsOf map[string]func(*session.SystemContext, *rows)

func init() {
	rowsOf = map[string]func(*session.SystemContext, *rows){
		"pg_namespace": namespaces, "pg_class": classes, "pg_attribute": attributes, "pg_attrdef": attrdefs, "pg_type": typeRows,
		"pg_index": indexes, "pg_constraint": constraints, "pg_am": accessMethods, "pg_opclass": opclasses, "pg_roles": roles, "pg_authid": roles,
		"pg_user": users, "pg_shadow": users, "pg_database": databases, "pg_settings": settings, "pg_description": descriptions,
		"pg_collation": collations, "pg_proc": procs, "pg_aggregate": aggregates, "pg_operator": operators, "pg_tables": tables, "pg_views": views,
		"pg_matviews": matviews, "pg_rewrite": rewrites,
		"pg_indexes": indexViews, "pg_stat_activity": activity, "pg_tablespace": tablespaces, "pg_language": languages,
		"pg_stat_user_tables": tableStats, "pg_stat_all_tables": tableStats, "pg_stat_database": databaseStats,
		"schemata": schemata, "tables": infoTables, "views": infoViews, "columns": columns, "table_constraints": tableConstraints,
		"key_column_usage": keyColumns, "constraint_column_usage": constraintColumns, "check_constraints": checkConstraints,
		"information_schema_catalog_name": catalogName, "enabled_roles": roleNames, "character_sets": characterSets,
	}
}

func namespaces(c *session.SystemContext, t *rows) {
	for _, s := range c.Catalog.Schemas() {
		owner := ownerOID
		if s.Name == "public" {
			owner = databaseOwners
		}
		t.add(row{"oid": s.OID, "nspname": s.Name, "nspowner": owner})
	}
}

func namespaceOID(c *session.SystemContext, name string) catalog.OID {
	if s := c.Catalog.Schema(name); s != nil {
		return s.OID
	}
	return 0
}

func relkind(r *catalog.Relation) string {
	switch r.Kind {
	case catalog.View:
		return "v"
	case catalog.MatView:
		return "m"
	case catalog.Index:
		return "i"
	case catalog.System:
		if systemViews[r.OID] || r.Schema == "tidemark" {
			return "v"
		}
	}
	return "r"
}

// visible lists a relation's columns with their attribute numbers; hidden ones are left out.
func visible(r *catalog.Relation) (cols []catalog.Column, nums []int) {
	for i, c := range r.Columns {
		if !c.Hidden {
			cols, nums = append(cols, c), append(nums, i+1)
		}
	}
	return cols, nums
}

func classes(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		cols, _ := visible(r)
		kind := relkind(r)
		est, natts := int64(-1), len(cols)
		am, file := 0, catalog.OID(0)
		switch kind {
		case "r", "m":
			am, file = heapAM, r.OID
		case "i":
			am, file, natts = btreeAM, r.OID, len(r.IndexCols)
		}
		if c.RowEstimate != nil && kind != "v" {
			est = c.RowEstimate(r.OID)
		}
		var opts any
		if len(r.Options) > 0 {
			opts = optionList(r)
		}
		t.add(row{"oid": r.OID, "relname": r.Name, "relnamespace": namespaceOID(c, r.Schema), "relowner": ownerOID, "relam": am, "relfilenode": file,
			"reltuples": est, "relhasindex": len(indexesOf(c, r)) > 0, "relpersistence": "p", "relkind": kind, "relnatts": natts,
			"relchecks": len(r.Checks), "relhasrules": kind == "v" || kind == "m", "relispopulated": true, "relreplident": "d", "reloptions": opts})
		for i, k := range r.Keys() {
			oid := session.KeyOID(r.OID, i)
			t.add(row{"oid": oid, "relname": k.Name, "relnamespace": namespaceOID(c, r.Schema), "relowner": ownerOID, "relam": btreeAM,
				"relfilenode": oid, "reltuples": est, "relpersistence": "p", "relkind": "i", "relnatts": len(k.Cols), "relispopulated": true, "relreplident": "n"})
		}
	}
	for _, w := range windowTypes() {
		t.add(row{"oid": windowClass(w), "relname": w.InternalName(), "relnamespace": catalogSchema, "relowner": ownerOID, "reltype": int(w.OID()),
			"relpersistence": "p", "relkind": "c", "relnatts": 2, "relispopulated": true, "relreplident": "n"})
	}
}

// windowTypes lists the composite types of windows.
func windowTypes() []types.Type {
	return []types.Type{types.WindowOf(types.Timestamp), types.WindowOf(types.TimestampTZ), types.WindowOf(types.Date)}
}

// windowClass gives the OID under which pg_class shows a composite type of windows.
func windowClass(w types.Type) int { return int(w.OID()) + 10 }

func attributes(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if r.Kind == catalog.Index {
			addIndexAttributes(t, r.OID, c.Catalog.ByOID(r.Of), r.IndexCols)
			continue
		}
		cols, nums := visible(r)
		for i, col := range cols {
			addAttribute(t, r.OID, nums[i], col)
		}
		for i, k := range r.Keys() {
			addIndexAttributes(t, session.KeyOID(r.OID, i), r, k.Cols)
		}
	}
	for _, w := range windowTypes() {
		for i, name := range []string{"start", "end"} {
			addAttribute(t, catalog.OID(windowClass(w)), i+1, catalog.Column{Name: name, Type: w.ElemType()})
		}
	}
}

func addIndexAttributes(t *rows, index catalog.OID, r *catalog.Relation, cols []int) {
	if r == nil {
		return
	}
	for k, i := range cols {
		addAttribute(t, index, k+1, catalog.Column{Name: r.Columns[i].Name, Type: r.Columns[i].Type})
	}
}

func addAttribute(t *rows, rel catalog.OID, num int, col catalog.Column) {
	dims := 0
	if col.Type.Kind == types.Array {
		dims = 1
	}
	info := infoOf(col.Type)
	t.add(row{"attrelid": rel, "attname": col.Name, "atttypid": int(col.Type.OID()), "attlen": col.Type.Len(), "attnum": num, "attndims": dims,
		"attcacheoff": -1, "atttypmod": int(col.Type.PGMod()), "attbyval": info.byval, "attnotnull": col.NotNull, "atthasdef": col.Default != "",
		"attislocal": true, "attcollation": info.collation, "attstattarget": -1, "attstorage": info.storage, "attalign": info.align})
}

func attrdefs(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		for i, col := range r.Columns {
			if col.Default != "" && !col.Hidden {
				t.add(row{"oid": session.DefaultOID(r.OID, i), "adrelid": r.OID, "adnum": i + 1, "adbin": c.Default(r, i)})
			}
		}
	}
}

func descriptions(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if r.Comment != "" {
			t.add(row{"objoid": r.OID, "classoid": classOID, "objsubid": 0, "description": r.Comment})
		}
	}
	for _, info := range typeInfos() {
		if info.description != "" {
			t.add(row{"objoid": int(info.oid), "classoid": typeOID, "objsubid": 0, "description": info.description})
		}
	}
	if s := c.Catalog.Schema("public"); s != nil {
		t.add(row{"objoid": s.OID, "classoid": 2615, "objsubid": 0, "description": "standard public schema"})
	}
}

// rewrites shows the rule that makes a relation a view.
func rewrites(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if r.Kind == catalog.View || r.Kind == catalog.MatView {
			t.add(row{"oid": r.OID, "rulename": "_RETURN", "ev_class": r.OID, "ev_type": "1", "ev_enabled": "O", "is_instead": true,
				"ev_qual": "<>", "ev_action": "<>"})
		}
	}
}

// optionList shows the WITH options of a relation as reloptions does.
func optionList(r *catalog.Relation) []string {
	var list []string
	for k, v := range r.Options {
		list = append(list, k+"="+v)
	}
	sort.Strings(list)
	return list
}
