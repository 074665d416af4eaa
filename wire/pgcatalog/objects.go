package pgcatalog

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Fixed OIDs: of the one role, the one database, access methods and so on, as in a new PostgreSQL cluster.
const (
	ownerOID    = 10
	databaseOID = 5
	heapAM      = 2
	btreeAM     = 403
	classOID    = 1259 // pg_class, as classoid of descriptions
	defaultColl = 100
)

// rowsOf has the relations that have rows.
var rowsOf map[string]func(*session.SystemContext, *rows)

func init() {
	rowsOf = map[string]func(*session.SystemContext, *rows){
		"pg_namespace": namespaces, "pg_class": classes, "pg_attribute": attributes, "pg_attrdef": attrdefs, "pg_type": typeRows,
		"pg_index": indexes, "pg_constraint": constraints, "pg_am": accessMethods, "pg_roles": roles, "pg_authid": roles,
		"pg_user": users, "pg_database": databases, "pg_settings": settings, "pg_description": descriptions,
		"pg_collation": collations, "pg_proc": procs, "pg_tables": tables, "pg_views": views, "pg_matviews": matviews,
		"pg_indexes": indexViews, "pg_stat_activity": activity, "pg_tablespace": tablespaces, "pg_language": languages,
		"schemata": schemata, "tables": infoTables, "views": infoViews, "columns": columns, "table_constraints": tableConstraints,
		"key_column_usage": keyColumns,
	}
}

func namespaces(c *session.SystemContext, t *rows) {
	for _, s := range c.Catalog.Schemas() {
		t.add(row{"oid": s.OID, "nspname": s.Name, "nspowner": ownerOID})
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
	}
	return "r"
}

// hasKeyIndex says whether pg_index shows a primary key for the relation.
func hasKeyIndex(r *catalog.Relation) bool {
	return r.Kind == catalog.Table && !r.HiddenKey && len(r.PrimaryKey) > 0
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
		am := heapAM
		if r.Kind == catalog.View {
			am = 0
		}
		est := int64(-1)
		if c.RowEstimate != nil {
			est = c.RowEstimate(r.OID)
		}
		var opts any
		if len(r.Options) > 0 {
			var list []string
			for k, v := range r.Options {
				list = append(list, k+"="+v)
			}
			opts = list
		}
		t.add(row{"oid": r.OID, "relname": r.Name, "relnamespace": namespaceOID(c, r.Schema), "relowner": ownerOID, "relam": am, "relfilenode": r.OID,
			"reltuples": est, "relhasindex": hasKeyIndex(r), "relpersistence": "p", "relkind": relkind(r), "relnatts": len(cols),
			"relchecks": len(r.Checks), "relhasrules": r.Kind == catalog.View || r.Kind == catalog.MatView, "relispopulated": true, "relreplident": "d", "reloptions": opts})
		if hasKeyIndex(r) {
			t.add(row{"oid": session.KeyOID(r.OID), "relname": r.Name + "_pkey", "relnamespace": namespaceOID(c, r.Schema), "relowner": ownerOID, "relam": btreeAM,
				"reltuples": est, "relpersistence": "p", "relkind": "i", "relnatts": len(r.PrimaryKey), "relispopulated": true, "relreplident": "n"})
		}
	}
}

func attributes(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		cols, nums := visible(r)
		for i, col := range cols {
			addAttribute(t, r.OID, nums[i], col)
		}
		if hasKeyIndex(r) {
			for k, i := range r.PrimaryKey {
				addAttribute(t, session.KeyOID(r.OID), k+1, catalog.Column{Name: r.Columns[i].Name, Type: r.Columns[i].Type})
			}
		}
	}
}

func addAttribute(t *rows, rel catalog.OID, num int, col catalog.Column) {
	coll := 0
	if col.Type.Kind.IsString() {
		coll = defaultColl
	}
	dims := 0
	if col.Type.Kind == types.Array {
		dims = 1
	}
	t.add(row{"attrelid": rel, "attname": col.Name, "atttypid": int(col.Type.OID()), "attlen": col.Type.Len(), "attnum": num, "attndims": dims,
		"attcacheoff": -1, "atttypmod": int(col.Type.PGMod()), "attnotnull": col.NotNull, "atthasdef": col.Default != "", "attislocal": true,
		"attcollation": coll, "attstattarget": -1, "attstorage": "p", "attalign": "i"})
}

func attrdefs(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		for i, col := range r.Columns {
			if col.Default != "" && !col.Hidden {
				t.add(row{"oid": r.OID, "adrelid": r.OID, "adnum": i + 1, "adbin": col.Default})
			}
		}
	}
}

func indexes(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if !hasKeyIndex(r) {
			continue
		}
		var key []int
		for _, i := range r.PrimaryKey {
			key = append(key, i+1)
		}
		zero := make([]int, len(key))
		t.add(row{"indexrelid": session.KeyOID(r.OID), "indrelid": r.OID, "indnatts": len(key), "indnkeyatts": len(key), "indisunique": true,
			"indisprimary": true, "indimmediate": true, "indisvalid": true, "indisready": true, "indislive": true, "indkey": key,
			"indoption": zero, "indcollation": zero, "indclass": zero})
	}
}

func constraints(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		ns := namespaceOID(c, r.Schema)
		if hasKeyIndex(r) {
			var key []int
			for _, i := range r.PrimaryKey {
				key = append(key, i+1)
			}
			t.add(row{"oid": session.KeyOID(r.OID), "conname": r.Name + "_pkey", "connamespace": ns, "contype": "p", "convalidated": true,
				"conrelid": r.OID, "conindid": session.KeyOID(r.OID), "confupdtype": " ", "confdeltype": " ", "confmatchtype": " ", "conislocal": true, "conkey": key})
		}
		for k, ch := range r.Checks {
			t.add(row{"oid": int(r.OID)<<8 | k, "conname": ch.Name, "connamespace": ns, "contype": "c", "convalidated": true, "conrelid": r.OID,
				"confupdtype": " ", "confdeltype": " ", "confmatchtype": " ", "conislocal": true, "conbin": ch.Expr})
		}
	}
}

func accessMethods(_ *session.SystemContext, t *rows) {
	t.add(row{"oid": heapAM, "amname": "heap", "amtype": "t"})
	t.add(row{"oid": btreeAM, "amname": "btree", "amtype": "i"})
}

func roles(c *session.SystemContext, t *rows) {
	r := row{"oid": ownerOID, "rolname": c.User, "rolsuper": true, "rolinherit": true, "rolcreaterole": true, "rolcreatedb": true,
		"rolcanlogin": true, "rolreplication": true, "rolbypassrls": true, "rolconnlimit": -1}
	t.add(r)
}

func users(c *session.SystemContext, t *rows) {
	t.add(row{"usename": c.User, "usesysid": ownerOID, "usecreatedb": true, "usesuper": true, "userepl": true, "usebypassrls": true})
}

func databases(c *session.SystemContext, t *rows) {
	t.add(row{"oid": databaseOID, "datname": c.Database, "datdba": ownerOID, "encoding": 6, "datlocprovider": "c", "datallowconn": true,
		"datconnlimit": -1, "dattablespace": 1663, "datcollate": "C", "datctype": "C"})
}

func tablespaces(_ *session.SystemContext, t *rows) {
	t.add(row{"oid": 1663, "spcname": "pg_default", "spcowner": ownerOID})
}

func languages(_ *session.SystemContext, t *rows) {
	t.add(row{"oid": 12, "lanname": "internal", "lanowner": ownerOID})
	t.add(row{"oid": 14, "lanname": "sql", "lanowner": ownerOID, "lanpltrusted": true})
}

func collations(_ *session.SystemContext, t *rows) {
	t.add(row{"oid": defaultColl, "collname": "default", "collnamespace": 11, "collowner": ownerOID, "collprovider": "d", "collisdeterministic": true, "collencoding": -1})
	t.add(row{"oid": 950, "collname": "C", "collnamespace": 11, "collowner": ownerOID, "collprovider": "c", "collisdeterministic": true, "collencoding": -1, "collcollate": "C", "collctype": "C"})
}

func descriptions(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if r.Comment != "" {
			t.add(row{"objoid": r.OID, "classoid": classOID, "objsubid": 0, "description": r.Comment})
		}
	}
}

func settings(c *session.SystemContext, t *rows) {
	for _, s := range c.Settings() {
		t.add(row{"name": s.Name, "setting": s.Value, "category": "Tidemark", "context": "user", "vartype": "string", "source": "default",
			"boot_val": s.Default, "reset_val": s.Default, "short_desc": ""})
	}
}

func activity(c *session.SystemContext, t *rows) {
	for _, a := range c.Sessions() {
		t.add(row{"datid": databaseOID, "datname": c.Database, "pid": int(a.ProcessID), "usesysid": ownerOID, "usename": a.User,
			"application_name": a.Application, "backend_start": a.StartedMicros, "state": "active", "backend_type": "client backend"})
	}
}

// typeCategories are PostgreSQL's categories by kind; others are "U".
var typeCategories = map[types.Kind]string{types.Bool: "B", types.Int2: "N", types.Int4: "N", types.Int8: "N", types.Float4: "N", types.Float8: "N",
	types.Numeric: "N", types.OID: "N", types.Text: "S", types.Varchar: "S", types.Bpchar: "S", types.Name: "S", types.Char: "Z",
	types.Date: "D", types.Time: "D", types.Timestamp: "D", types.TimestampTZ: "D", types.Interval: "T", types.Array: "A", types.Window: "C"}

func typeRows(_ *session.SystemContext, t *rows) {
	seen := map[uint32]bool{}
	add := func(ty types.Type) {
		oid := ty.OID()
		if oid == 0 || seen[oid] {
			return
		}
		seen[oid] = true
		cat, kind := typeCategories[ty.Kind], "b"
		if cat == "" {
			cat = "U"
		}
		elem, arr := 0, 0
		switch ty.Kind {
		case types.Array:
			elem = int(ty.ElemType().OID())
		case types.Window:
			kind = "c"
		case types.Record, types.Void, types.Any, types.AnyElement, types.AnyArray, types.Unknown:
			cat, kind = "P", "p"
		default:
			arr = int(types.ArrayOf(ty).OID())
		}
		coll := 0
		if ty.Kind.IsString() {
			coll = defaultColl
		}
		t.add(row{"oid": int(oid), "typname": ty.InternalName(), "typnamespace": 11, "typowner": ownerOID, "typlen": ty.Len(), "typbyval": ty.Len() > 0 && ty.Len() <= 8,
			"typtype": kind, "typcategory": cat, "typispreferred": ty.Kind == types.Text || ty.Kind == types.Float8 || ty.Kind == types.TimestampTZ || ty.Kind == types.Bool,
			"typisdefined": true, "typdelim": ",", "typelem": elem, "typarray": arr, "typalign": "i", "typstorage": "p", "typtypmod": -1, "typcollation": coll})
	}
	for k := types.Unknown; k < types.NumKinds; k++ {
		switch k {
		case types.Array:
			continue
		case types.Window:
			for _, e := range []types.Kind{types.Timestamp, types.TimestampTZ, types.Date} {
				add(types.WindowOf(e))
			}
			continue
		}
		add(types.Of(k))
		if k < types.Record {
			add(types.ArrayOf(types.Of(k)))
		}
	}
}

func procs(_ *session.SystemContext, t *rows) {
	oid := 20000000
	for _, f := range fn.All() {
		oid++
		kind := ""
		switch f.Class {
		case fn.Scalar, fn.Set:
			kind = "f"
		case fn.Aggregate:
			kind = "a"
		case fn.Window:
			kind = "w"
		default:
			continue
		}
		var args []int
		for _, a := range f.Args {
			args = append(args, int(a.OID()))
		}
		if args == nil {
			args = []int{}
		}
		t.add(row{"oid": oid, "proname": f.Name, "pronamespace": 11, "proowner": ownerOID, "prolang": 12, "procost": 1, "prokind": kind,
			"proisstrict": f.Strict, "proretset": f.Class == fn.Set, "provolatile": []string{"i", "s", "v"}[f.Volatility], "proparallel": "s",
			"pronargs": len(f.Args), "prorettype": int(f.Result.OID()), "proargtypes": args, "prosrc": f.Name})
	}
}

func keyNames(r *catalog.Relation) string {
	var out []string
	for _, i := range r.PrimaryKey {
		out = append(out, r.Columns[i].Name)
	}
	return strings.Join(out, ", ")
}
