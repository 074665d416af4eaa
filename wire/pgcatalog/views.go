package pgcatalog

import (
	"fmt"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// tables fills pg_catalog.pg_tables.
func tables(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if relkind(r) == "r" {
			t.add(row{"schemaname": r.Schema, "tablename": r.Name, "tableowner": c.User, "hasindexes": len(indexesOf(c, r)) > 0, "tablespace": nil})
		}
	}
}

// views fills pg_catalog.pg_views.
func views(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if r.Kind == catalog.View {
			t.add(row{"schemaname": r.Schema, "viewname": r.Name, "viewowner": c.User, "definition": definition(r)})
		}
	}
}

// definition gives the query of a view as pg_get_viewdef does.
func definition(r *catalog.Relation) string {
	return " " + strings.TrimSuffix(strings.TrimSpace(r.SQL), ";") + ";"
}

// matviews fills pg_catalog.pg_matviews.
func matviews(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if r.Kind == catalog.MatView {
			t.add(row{"schemaname": r.Schema, "matviewname": r.Name, "matviewowner": c.User, "tablespace": nil, "hasindexes": len(indexesOf(c, r)) > 0,
				"ispopulated": true, "definition": definition(r)})
		}
	}
}

// The information schema (SQL standard, PostgreSQL chapter 37).

func schemata(c *session.SystemContext, t *rows) {
	for _, s := range c.Catalog.Schemas() {
		t.add(row{"catalog_name": c.Database, "schema_name": s.Name, "schema_owner": c.User})
	}
}

// infoTables fills information_schema.tables.
func infoTables(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		kind := "BASE TABLE"
		switch r.Kind {
		case catalog.View:
			kind = "VIEW"
		case catalog.MatView:
			kind = "MATERIALIZED VIEW" // PostgreSQL leaves them out; tools that look here want them
		case catalog.Index:
			continue
		}
		t.add(row{"table_catalog": c.Database, "table_schema": r.Schema, "table_name": r.Name, "table_type": kind,
			"is_insertable_into": yesNo(r.Kind == catalog.Table || r.Kind == catalog.Stream), "is_typed": "NO"})
	}
}

// infoViews fills information_schema.views.
func infoViews(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if r.Kind == catalog.View {
			t.add(row{"table_catalog": c.Database, "table_schema": r.Schema, "table_name": r.Name, "view_definition": definition(r),
				"check_option": "NONE", "is_updatable": "NO", "is_insertable_into": "NO"})
		}
	}
}

func columns(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		cols, nums := visible(r)
		for k, col := range cols {
			i := nums[k] - 1
			x := row{"table_catalog": c.Database, "table_schema": r.Schema, "table_name": r.Name, "column_name": col.Name, "ordinal_position": nums[k],
				"is_nullable": yesNo(!col.NotNull), "data_type": dataType(col.Type), "udt_catalog": c.Database, "udt_schema": "pg_catalog",
				"udt_name": col.Type.InternalName(), "is_identity": "NO", "is_generated": "NEVER", "is_updatable": yesNo(r.Kind == catalog.Table)}
			if col.Default != "" {
				x["column_default"] = c.Default(r, i)
			}
			precision(x, col.Type)
			t.add(x)
		}
	}
}

func dataType(ty types.Type) string {
	switch ty.Kind {
	case types.Array:
		return "ARRAY"
	case types.Window:
		return "USER-DEFINED"
	}
	return ty.NoMod().String()
}

// precision fills in length, precision and scale.
func precision(x row, ty types.Type) {
	switch ty.Kind {
	case types.Varchar, types.Bpchar:
		x["character_octet_length"] = 1 << 30
		if ty.Mod > 4 {
			x["character_maximum_length"], x["character_octet_length"] = int(ty.Mod-4), 4*int(ty.Mod-4)
		}
	case types.Text:
		x["character_octet_length"] = 1 << 30
	case types.Int2, types.Int4, types.Int8:
		x["numeric_precision"], x["numeric_precision_radix"], x["numeric_scale"] = map[types.Kind]int{types.Int2: 16, types.Int4: 32, types.Int8: 64}[ty.Kind], 2, 0
	case types.Float4, types.Float8:
		x["numeric_precision"], x["numeric_precision_radix"] = map[types.Kind]int{types.Float4: 24, types.Float8: 53}[ty.Kind], 2
	case types.Numeric:
		x["numeric_precision_radix"] = 10
		if ty.Mod > 4 {
			x["numeric_precision"], x["numeric_scale"] = int(ty.Mod-4)>>16, int(ty.Mod-4)&0x7ff
		}
	case types.Timestamp, types.TimestampTZ, types.Time, types.Interval:
		x["datetime_precision"] = 6
		if ty.Mod > 0 {
			x["datetime_precision"] = int(ty.Mod - 1)
		}
	case types.Date:
		x["datetime_precision"] = 0
	}
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// notNull lists the NOT NULL constraints of a table, which the information schema shows as CHECK constraints.
func notNull(c *session.SystemContext, r *catalog.Relation, f func(name, column string)) {
	if r.Kind != catalog.Table && r.Kind != catalog.Stream {
		return
	}
	cols, nums := visible(r)
	for i, col := range cols {
		if col.NotNull {
			f(fmt.Sprintf("%d_%d_%d_not_null", namespaceOID(c, r.Schema), r.OID, nums[i]), col.Name)
		}
	}
}

func tableConstraints(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		add := func(name, kind string) {
			t.add(row{"constraint_catalog": c.Database, "constraint_schema": r.Schema, "constraint_name": name, "table_catalog": c.Database,
				"table_schema": r.Schema, "table_name": r.Name, "constraint_type": kind, "is_deferrable": "NO", "initially_deferred": "NO", "enforced": "YES"})
		}
		for _, k := range r.Keys() {
			if k.Primary {
				add(k.Name, "PRIMARY KEY")
			} else {
				add(k.Name, "UNIQUE")
			}
		}
		for _, ch := range r.Checks {
			add(ch.Name, "CHECK")
		}
		notNull(c, r, func(name, _ string) { add(name, "CHECK") })
	}
}

func checkConstraints(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		add := func(name, clause string) {
			t.add(row{"constraint_catalog": c.Database, "constraint_schema": r.Schema, "constraint_name": name, "check_clause": clause})
		}
		for i, ch := range r.Checks {
			text, _ := c.Check(r, i)
			add(ch.Name, text)
		}
		notNull(c, r, func(name, column string) { add(name, column+" IS NOT NULL") })
	}
}

func keyColumns(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		for _, key := range r.Keys() {
			for k, i := range key.Cols {
				t.add(row{"constraint_catalog": c.Database, "constraint_schema": r.Schema, "constraint_name": key.Name, "table_catalog": c.Database,
					"table_schema": r.Schema, "table_name": r.Name, "column_name": r.Columns[i].Name, "ordinal_position": k + 1})
			}
		}
	}
}

func constraintColumns(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		for _, key := range r.Keys() {
			for _, i := range key.Cols {
				t.add(row{"constraint_catalog": c.Database, "constraint_schema": r.Schema, "constraint_name": key.Name, "table_catalog": c.Database,
					"table_schema": r.Schema, "table_name": r.Name, "column_name": r.Columns[i].Name})
			}
		}
	}
}

func catalogName(c *session.SystemContext, t *rows) { t.add(row{"catalog_name": c.Database}) }

func roleNames(c *session.SystemContext, t *rows) { t.add(row{"role_name": c.User}) }

func characterSets(c *session.SystemContext, t *rows) {
	t.add(row{"character_set_name": "UTF8", "character_repertoire": "UCS", "form_of_use": "UTF8", "default_collate_catalog": c.Database,
		"default_collate_schema": "pg_catalog", "default_collate_name": "C"})
}
