package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// sessionFuncs implements kernel.SessionFuncs: functions that look at the catalog or the session.
type sessionFuncs struct{ s *sess }

// Call implements kernel.SessionFuncs.
func (f *sessionFuncs) Call(name string, args []types.Datum) (types.Datum, error) {
	s := f.s
	switch name {
	case "current_database", "current_catalog":
		return types.StringDatum(s.p.Database), nil
	case "current_user", "session_user", "user", "current_role":
		return types.StringDatum(s.p.User), nil
	case "current_schema":
		for _, p := range s.existingPath() {
			return types.StringDatum(p), nil
		}
		return types.NullDatum, nil
	case "current_schemas":
		return f.currentSchemas(args[0].I != 0), nil
	case "pg_backend_pid":
		return types.IntDatum(int64(s.p.ProcessID)), nil
	case "pg_postmaster_start_time", "pg_conf_load_time":
		return types.IntDatum(s.e.startedAt), nil
	case "current_setting":
		return f.currentSetting(args)
	case "set_config":
		return f.setConfig(args)
	case "inet_client_addr":
		return types.StringDatum(s.p.RemoteAddr), nil
	case "txid_current", "pg_current_xact_id":
		return types.IntDatum(int64(s.e.current().epoch)), nil
	}
	if strings.HasPrefix(name, "has_") || name == "pg_relation_is_publishable" {
		return types.BoolDatum(true), nil
	}
	if strings.HasSuffix(name, "_is_visible") {
		return f.isVisible(name, args[0])
	}
	return f.catalogCall(name, args)
}

// catalogCall answers the functions of pg_catalog that are about an object.
func (f *sessionFuncs) catalogCall(name string, args []types.Datum) (types.Datum, error) {
	switch name {
	case "format_type":
		return formatType(args), nil
	case "pg_get_userbyid":
		if n, ok := f.s.roleName(catalog.OID(args[0].I)); ok {
			return types.StringDatum(n), nil
		}
		return types.StringDatum(fmt.Sprintf("unknown (OID=%d)", args[0].I)), nil
	case "pg_get_expr":
		return types.Datum{B: args[0].B}, nil
	case "pg_get_viewdef":
		return f.viewDef(args[0])
	case "obj_description":
		return f.description(args)
	case "pg_get_constraintdef":
		return f.constraintDef(catalog.OID(args[0].I), len(args) > 1 && args[1].I != 0), nil
	case "pg_get_indexdef":
		return f.indexDef(args), nil
	case "to_regclass", "to_regproc", "to_regtype":
		d, err := types.Parse(regKinds[name], string(args[0].B), f.s.Env())
		if err != nil {
			return types.NullDatum, nil
		}
		return d, nil
	case "pg_relation_size", "pg_table_size", "pg_total_relation_size", "pg_indexes_size", "pg_database_size":
		return f.size(name, args)
	case "pg_relation_is_updatable":
		return types.IntDatum(0), nil
	case "row_security_active", "pg_cancel_backend", "pg_terminate_backend", "pg_column_is_updatable":
		return types.BoolDatum(false), nil
	case "pg_sleep":
		return types.NullDatum, sqlerr.Unsupported("function %s is not supported", name)
	}
	if name == "oidvectortypes" {
		return typeList(args[0]), nil
	}
	if strings.HasPrefix(name, "pg_get_function") {
		return f.s.functionText(name, uint32(args[0].I)), nil
	}
	return types.NullDatum, nil
}

var regKinds = map[string]types.Type{"to_regclass": types.Of(types.Regclass), "to_regproc": types.Of(types.Regproc), "to_regtype": types.Of(types.Regtype)}

// viewDef gives the query of a view as it was written, NULL for another relation.
func (f *sessionFuncs) viewDef(arg types.Datum) (types.Datum, error) {
	oid := catalog.OID(arg.I)
	if arg.B != nil {
		o, err := f.s.regOID(types.Regclass, string(arg.B))
		if err != nil {
			return types.NullDatum, err
		}
		oid = catalog.OID(o)
	}
	r := f.s.catalog().ByOID(oid)
	if r == nil || r.SQL == "" {
		return types.NullDatum, nil
	}
	return types.StringDatum(" " + strings.TrimSuffix(strings.TrimSpace(r.SQL), ";") + ";"), nil
}

// description gives the comment of an object: what pg_description says of it.
func (f *sessionFuncs) description(args []types.Datum) (types.Datum, error) {
	class := int64(0)
	if len(args) > 1 {
		r := f.s.catalog().Relation("pg_catalog", string(args[1].B))
		if r == nil {
			return types.NullDatum, nil
		}
		class = int64(r.OID)
	}
	rel := f.s.catalog().Relation("pg_catalog", "pg_description")
	if rel == nil || f.s.e.system[rel.OID] == nil {
		return types.NullDatum, nil
	}
	b, err := f.s.systemRows(rel.OID)
	if err != nil {
		return types.NullDatum, err
	}
	object, of, text := b.Cols[rel.ColumnIndex("objoid")], b.Cols[rel.ColumnIndex("classoid")], b.Cols[rel.ColumnIndex("description")]
	for i := 0; i < b.N; i++ {
		if object.I64[i] == args[0].I && (class == 0 || of.I64[i] == class) {
			return text.Datum(i).Clone(), nil
		}
	}
	return types.NullDatum, nil
}

// systemRows makes the rows of a system relation.
func (s *sess) systemRows(oid catalog.OID) (*batch.Batch, error) {
	r := &txReader{e: s.e, s: s, snap: s.e.current()}
	return s.e.system[oid].rows(r.systemContext())
}

// typeList shows a vector of types by name.
func typeList(v types.Datum) types.Datum {
	var names []string
	for a := types.DecodeArray(types.Of(types.OID), v.B); a.N > 0; a.N-- {
		name := "???"
		if t, ok := types.FromOID(uint32(a.Next().I)); ok {
			name = t.String()
		}
		names = append(names, name)
	}
	return types.StringDatum(strings.Join(names, ", "))
}

// existingPath is the search path less the schemas that do not exist.
func (s *sess) existingPath() []string {
	var out []string
	cat := s.catalog()
	for _, p := range s.set.searchPath(s.p.User) {
		if cat.Schema(p) != nil {
			out = append(out, p)
		}
	}
	return out
}

func (f *sessionFuncs) currentSchemas(implicit bool) types.Datum {
	path := f.s.existingPath()
	if implicit {
		path = append([]string{"pg_catalog"}, path...)
	}
	quoted := make([]string, len(path))
	for i, p := range path {
		quoted[i] = `"` + strings.ReplaceAll(p, `"`, `\"`) + `"`
	}
	d, err := types.Parse(types.ArrayOf(types.Of(types.Name)), "{"+strings.Join(quoted, ",")+"}", f.s.Env())
	if err != nil {
		return types.NullDatum
	}
	return d
}

func (f *sessionFuncs) currentSetting(args []types.Datum) (types.Datum, error) {
	name := string(args[0].B)
	v, ok := f.s.set.get(name)
	if !ok {
		if len(args) > 1 && args[1].I != 0 {
			return types.NullDatum, nil
		}
		return types.NullDatum, sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", name)
	}
	return types.StringDatum(v), nil
}

func (f *sessionFuncs) setConfig(args []types.Datum) (types.Datum, error) {
	if args[0].Null {
		return types.NullDatum, nil
	}
	d, err := f.s.set.set(string(args[0].B), string(args[1].B))
	if err != nil {
		return types.NullDatum, err
	}
	v, _ := f.s.set.get(string(args[0].B))
	if d != nil && d.report && f.s.p.ParameterStatus != nil {
		f.s.p.ParameterStatus(d.name, v)
	}
	return types.StringDatum(v), nil
}

// isVisible answers pg_table_is_visible and its like; only relations and functions may lie in a schema that is not searched.
func (f *sessionFuncs) isVisible(name string, arg types.Datum) (types.Datum, error) {
	if r, ok := routineByOID(f.s.catalog(), catalog.OID(arg.I)); ok && name == "pg_function_is_visible" {
		return types.BoolDatum(slices.Contains(f.s.existingPath(), r.schema)), nil
	}
	if name != "pg_table_is_visible" {
		return types.BoolDatum(true), nil
	}
	oid := catalog.OID(arg.I)
	if r := f.s.catalog().ByOID(oid); r != nil {
		return types.BoolDatum(f.s.visible(r.Schema, r.Name, oid)), nil
	}
	if r, k := f.s.key(oid); r != nil {
		return types.BoolDatum(f.s.visible(r.Schema, k.Name, oid)), nil
	}
	return types.NullDatum, nil
}

func formatType(args []types.Datum) types.Datum {
	if args[0].Null {
		return types.NullDatum
	}
	t, ok := types.FromOID(uint32(args[0].I))
	if !ok {
		return types.StringDatum("???")
	}
	if !args[1].Null && args[1].I >= 0 {
		t.Mod = int32(args[1].I)
	}
	return types.StringDatum(t.String())
}

// constraintDef shows a constraint as ALTER TABLE ADD would have it.
func (f *sessionFuncs) constraintDef(oid catalog.OID, pretty bool) types.Datum {
	if r, k := f.s.key(oid); r != nil {
		if k.Primary {
			return types.StringDatum("PRIMARY KEY (" + columnNames(r, k.Cols) + ")")
		}
		return types.StringDatum("UNIQUE (" + columnNames(r, k.Cols) + ")")
	}
	if table, i, ok := session.CheckOf(oid); ok {
		if r := f.s.catalog().ByOID(table); r != nil && i < len(r.Checks) {
			text, _ := f.s.checkText(r, i, pretty)
			return types.StringDatum("CHECK " + text)
		}
	}
	return types.NullDatum
}

// indexDef shows an index as CREATE INDEX, or one of its columns.
func (f *sessionFuncs) indexDef(args []types.Datum) types.Datum {
	oid := catalog.OID(args[0].I)
	if len(args) == 1 || args[1].I <= 0 {
		if s := f.s.indexText(oid); s != "" {
			return types.StringDatum(s)
		}
		return types.NullDatum
	}
	r, cols := f.s.indexColumns(oid)
	if r == nil || int(args[1].I) > len(cols) {
		return types.NullDatum
	}
	return types.StringDatum(columnNames(r, cols[args[1].I-1:args[1].I]))
}

// indexColumns gives the relation and the columns of an index or key.
func (s *sess) indexColumns(oid catalog.OID) (*catalog.Relation, []int) {
	if r, k := s.key(oid); r != nil {
		return r, k.Cols
	}
	if x := s.catalog().ByOID(oid); x != nil && x.Kind == catalog.Index {
		return s.catalog().ByOID(x.Of), x.IndexCols
	}
	return nil, nil
}

// indexText shows an index or key as CREATE INDEX, "" if there is none of that OID.
func (s *sess) indexText(oid catalog.OID) string {
	r, cols := s.indexColumns(oid)
	if r == nil {
		return ""
	}
	unique, name := "", ""
	if x := s.catalog().ByOID(oid); x != nil {
		name = x.Name
	} else {
		_, k := s.key(oid)
		unique, name = "UNIQUE ", k.Name
	}
	return "CREATE " + unique + "INDEX " + parser.QuoteIdent(name) + " ON " + parser.QuoteIdent(r.Schema) + "." + parser.QuoteIdent(r.Name) +
		" USING btree (" + columnNames(r, cols) + ")"
}

// columnNames lists columns, quoted where they must be.
func columnNames(r *catalog.Relation, cols []int) string {
	out := make([]string, len(cols))
	for k, i := range cols {
		out[k] = parser.QuoteIdent(r.Columns[i].Name)
	}
	return strings.Join(out, ", ")
}

// showObjects fills in what a system relation may ask about expressions and indexes.
func (s *sess) showObjects(c *session.SystemContext) {
	c.Default = func(r *catalog.Relation, i int) string { return s.defaultText(r, i, true) }
	c.Check = func(r *catalog.Relation, i int) (string, []int) { return s.checkText(r, i, false) }
	c.IndexDef = s.indexText
}
