package pgcatalog

import (
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// tables fills pg_catalog.pg_tables.
func tables(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if r.Kind == catalog.Table || r.Kind == catalog.Stream || r.Kind == catalog.System {
			t.add(row{"schemaname": r.Schema, "tablename": r.Name, "tableowner": c.User, "hasindexes": hasKeyIndex(r)})
		}
	}
}

// views fills pg_catalog.pg_views.
func views(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if r.Kind == catalog.View {
			t.add(row{"schemaname": r.Schema, "viewname": r.Name, "viewowner": c.User, "definition": r.SQL})
		}
	}
}

// matviews fills pg_catalog.pg_matviews.
func matviews(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if r.Kind == catalog.MatView {
			t.add(row{"schemaname": r.Schema, "matviewname": r.Name, "matviewowner": c.User, "ispopulated": true, "definition": r.SQL})
		}
	}
}

// indexViews fills pg_catalog.pg_indexes.
func indexViews(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if hasKeyIndex(r) {
			t.add(row{"schemaname": r.Schema, "tablename": r.Name, "indexname": r.Name + "_pkey",
				"indexdef": "CREATE UNIQUE INDEX " + r.Name + "_pkey ON " + r.Schema + "." + r.Name + " USING btree (" + keyNames(r) + ")"})
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
			t.add(row{"table_catalog": c.Database, "table_schema": r.Schema, "table_name": r.Name, "view_definition": r.SQL,
				"check_option": "NONE", "is_updatable": "NO", "is_insertable_into": "NO"})
		}
	}
}

func columns(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		cols, nums := visible(r)
		for i, col := range cols {
			x := row{"table_catalog": c.Database, "table_schema": r.Schema, "table_name": r.Name, "column_name": col.Name, "ordinal_position": nums[i],
				"is_nullable": yesNo(!col.NotNull), "data_type": dataType(col.Type), "udt_catalog": c.Database, "udt_schema": "pg_catalog",
				"udt_name": col.Type.InternalName(), "is_identity": "NO", "is_generated": "NEVER", "is_updatable": yesNo(r.Kind == catalog.Table)}
			if col.Default != "" {
				x["column_default"] = col.Default
			} else {
				x["column_default"] = nil
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

// precision fills in length, precision and scale; what a type does not have is NULL.
func precision(x row, ty types.Type) {
	for _, n := range []string{"character_maximum_length", "character_octet_length", "numeric_precision", "numeric_precision_radix", "numeric_scale", "datetime_precision"} {
		x[n] = nil
	}
	switch ty.Kind {
	case types.Varchar, types.Bpchar:
		if ty.Mod > 4 {
			x["character_maximum_length"] = int(ty.Mod - 4)
		}
		x["character_octet_length"] = 1 << 30
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

func tableConstraints(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		add := func(name, kind string) {
			t.add(row{"constraint_catalog": c.Database, "constraint_schema": r.Schema, "constraint_name": name, "table_catalog": c.Database,
				"table_schema": r.Schema, "table_name": r.Name, "constraint_type": kind, "is_deferrable": "NO", "initially_deferred": "NO", "enforced": "YES"})
		}
		if hasKeyIndex(r) {
			add(r.Name+"_pkey", "PRIMARY KEY")
		}
		for _, ch := range r.Checks {
			add(ch.Name, "CHECK")
		}
	}
}

func keyColumns(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if !hasKeyIndex(r) {
			continue
		}
		for k, i := range r.PrimaryKey {
			t.add(row{"constraint_catalog": c.Database, "constraint_schema": r.Schema, "constraint_name": r.Name + "_pkey", "table_catalog": c.Database,
				"table_schema": r.Schema, "table_name": r.Name, "column_name": r.Columns[i].Name, "ordinal_position": k + 1})
		}
	}
}
