package pgcatalog

import (
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// index is a key of a table or an index that a statement made.
type index struct {
	oid        catalog.OID
	name       string
	rel        *catalog.Relation // that it is on
	cols       []int
	unique     bool
	primary    bool
	constraint bool
}

// indexesOf lists the indexes of a relation.
func indexesOf(c *session.SystemContext, r *catalog.Relation) []index {
	var out []index
	for i, k := range r.Keys() {
		out = append(out, index{session.KeyOID(r.OID, i), k.Name, r, k.Cols, true, k.Primary, true})
	}
	if r.Kind != catalog.Table && r.Kind != catalog.MatView {
		return out
	}
	for _, x := range c.Catalog.Dependents(r.OID) {
		if x.Kind == catalog.Index {
			out = append(out, index{oid: x.OID, name: x.Name, rel: r, cols: x.IndexCols})
		}
	}
	return out
}

// eachIndex calls f for every index.
func eachIndex(c *session.SystemContext, f func(index)) {
	for _, r := range c.Catalog.Relations() {
		for _, x := range indexesOf(c, r) {
			f(x)
		}
	}
}

// columnNumbers gives attribute numbers.
func columnNumbers(cols []int) []int {
	out := make([]int, len(cols))
	for k, i := range cols {
		out[k] = i + 1
	}
	return out
}

func indexes(c *session.SystemContext, t *rows) {
	eachIndex(c, func(x index) {
		n := len(x.cols)
		classes, colls := make([]int, n), make([]int, n)
		for k, i := range x.cols {
			ty := x.rel.Columns[i].Type
			classes[k], colls[k] = opclassOf(ty), infoOf(ty).collation
		}
		t.add(row{"indexrelid": x.oid, "indrelid": x.rel.OID, "indnatts": n, "indnkeyatts": n, "indisunique": x.unique,
			"indisprimary": x.primary, "indimmediate": true, "indisvalid": true, "indisready": true, "indislive": true, "indkey": columnNumbers(x.cols),
			"indoption": make([]int, n), "indcollation": colls, "indclass": classes})
	})
}

// indexViews fills pg_catalog.pg_indexes.
func indexViews(c *session.SystemContext, t *rows) {
	eachIndex(c, func(x index) {
		t.add(row{"schemaname": x.rel.Schema, "tablename": x.rel.Name, "indexname": x.name, "tablespace": nil, "indexdef": c.IndexDef(x.oid)})
	})
}

func constraints(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		ns := namespaceOID(c, r.Schema)
		base := func(more row) {
			more["connamespace"], more["convalidated"], more["conrelid"], more["conislocal"] = ns, true, r.OID, true
			more["confupdtype"], more["confdeltype"], more["confmatchtype"] = " ", " ", " "
			t.add(more)
		}
		for i, k := range r.Keys() {
			kind := "u"
			if k.Primary {
				kind = "p"
			}
			oid := session.KeyOID(r.OID, i)
			base(row{"oid": oid, "conname": k.Name, "contype": kind, "conindid": oid, "connoinherit": true, "conkey": columnNumbers(k.Cols)})
		}
		for i, ch := range r.Checks {
			text, cols := c.Check(r, i)
			base(row{"oid": session.CheckOID(r.OID, i), "conname": ch.Name, "contype": "c", "conbin": text, "conkey": columnNumbers(cols)})
		}
	}
}

func accessMethods(_ *session.SystemContext, t *rows) {
	t.add(row{"oid": heapAM, "amname": "heap", "amhandler": 3, "amtype": "t"})
	t.add(row{"oid": btreeAM, "amname": "btree", "amhandler": 330, "amtype": "i"})
}

// btreeClasses are PostgreSQL's default operator classes of btree: OID, name and family.
var btreeClasses = map[types.Kind]struct {
	oid    int
	name   string
	family int
}{
	types.Int4: {1978, "int4_ops", 1976}, types.Int2: {1979, "int2_ops", 1976}, types.Int8: {3124, "int8_ops", 1976}, types.OID: {1981, "oid_ops", 1989},
	types.Date: {3122, "date_ops", 434}, types.Timestamp: {3128, "timestamp_ops", 434}, types.TimestampTZ: {3127, "timestamptz_ops", 434},
	types.Float8: {3123, "float8_ops", 1970}, types.Float4: {10012, "float4_ops", 1970}, types.Numeric: {3125, "numeric_ops", 1988},
	types.Text: {3126, "text_ops", 1994}, types.Bool: {10003, "bool_ops", 424}, types.Bpchar: {10004, "bpchar_ops", 426},
	types.Bytea: {10006, "bytea_ops", 428}, types.Char: {10007, "char_ops", 429}, types.Interval: {10022, "interval_ops", 1982},
	types.Name: {10028, "name_ops", 1994}, types.Time: {10038, "time_ops", 1996}, types.UUID: {10065, "uuid_ops", 2968}, types.JSONB: {10088, "jsonb_ops", 4033},
	types.AnyArray: {10000, "array_ops", 397}, types.Record: {10034, "record_ops", 2994},
}

// opclassOf gives the operator class by which a type is indexed.
func opclassOf(t types.Type) int {
	k := t.Kind
	switch {
	case k == types.Array:
		k = types.AnyArray
	case k == types.Varchar:
		k = types.Text
	case k == types.Window:
		k = types.Record
	case k.IsReg():
		k = types.OID
	}
	return btreeClasses[k].oid
}

func opclasses(_ *session.SystemContext, t *rows) {
	for k := types.Kind(0); k < types.NumKinds; k++ {
		if o, ok := btreeClasses[k]; ok {
			t.add(row{"oid": o.oid, "opcmethod": btreeAM, "opcname": o.name, "opcnamespace": catalogSchema, "opcowner": ownerOID, "opcfamily": o.family,
				"opcintype": int(types.Of(k).OID()), "opcdefault": true})
		}
	}
}
