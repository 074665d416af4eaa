package engine

import (
	"strings"

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
	case "current_user", "session_user", "user", "current_role", "pg_get_userbyid":
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
		return f.visible(name, args[0])
	}
	return f.catalogCall(name, args)
}

// catalogCall answers the functions of pg_catalog that are about an object.
func (f *sessionFuncs) catalogCall(name string, args []types.Datum) (types.Datum, error) {
	cat := f.s.catalog()
	switch name {
	case "format_type":
		return formatType(args), nil
	case "pg_get_expr":
		return types.Datum{B: args[0].B}, nil
	case "pg_get_viewdef":
		r := f.relation(args[0])
		if r == nil || r.SQL == "" {
			return types.NullDatum, nil
		}
		return types.StringDatum(" " + strings.TrimSpace(r.SQL) + ";"), nil
	case "obj_description":
		if r := cat.ByOID(catalog.OID(args[0].I)); r != nil && r.Comment != "" {
			return types.StringDatum(r.Comment), nil
		}
		return types.NullDatum, nil
	case "pg_get_constraintdef":
		return f.constraintDef(catalog.OID(args[0].I)), nil
	case "pg_get_indexdef":
		return f.indexDef(args), nil
	case "regclassin", "to_regclass":
		return f.regclassIn(name, string(args[0].B))
	case "regclassout":
		r := cat.ByOID(catalog.OID(args[0].I))
		if r == nil {
			return types.NullDatum, nil
		}
		return types.StringDatum(f.s.shown(r)), nil
	case "pg_relation_size", "pg_table_size", "pg_total_relation_size", "pg_indexes_size", "pg_database_size":
		return types.IntDatum(0), nil
	case "pg_relation_is_updatable":
		return types.IntDatum(0), nil
	case "row_security_active", "pg_cancel_backend", "pg_terminate_backend", "pg_column_is_updatable":
		return types.BoolDatum(false), nil
	case "pg_sleep":
		return types.NullDatum, sqlerr.Unsupported("function %s is not supported", name)
	}
	return types.NullDatum, nil
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

func (f *sessionFuncs) visible(name string, oid types.Datum) (types.Datum, error) {
	if name != "pg_table_is_visible" {
		return types.BoolDatum(true), nil
	}
	r := f.s.catalog().ByOID(catalog.OID(oid.I))
	if r == nil {
		return types.NullDatum, nil
	}
	found, err := f.s.catalog().Lookup("", r.Name, f.s.set.searchPath(f.s.p.User))
	return types.BoolDatum(err == nil && found.OID == r.OID), nil
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

// relation finds a relation by OID, or by name where the argument is text.
func (f *sessionFuncs) relation(d types.Datum) *catalog.Relation {
	if d.B == nil {
		return f.s.catalog().ByOID(catalog.OID(d.I))
	}
	oid, err := f.regclassIn("regclassin", string(d.B))
	if err != nil {
		return nil
	}
	return f.s.catalog().ByOID(catalog.OID(oid.I))
}

// regclassIn reads a relation's name, or a number.
func (f *sessionFuncs) regclassIn(name, text string) (types.Datum, error) {
	if d, err := types.Parse(types.Of(types.OID), text, f.s.Env()); err == nil {
		return d, nil
	}
	schema, rel := splitName(text)
	r, err := f.s.catalog().Lookup(schema, rel, f.s.set.searchPath(f.s.p.User))
	if err != nil {
		if name == "to_regclass" {
			return types.NullDatum, nil
		}
		return types.NullDatum, err
	}
	return types.IntDatum(int64(r.OID)), nil
}

// splitName reads a possibly qualified, possibly quoted name.
func splitName(text string) (schema, name string) {
	var parts []string
	for text != "" {
		if text[0] == '"' {
			end := strings.Index(text[1:], `"`)
			if end < 0 {
				return "", text
			}
			parts = append(parts, text[1:end+1])
			text = strings.TrimPrefix(text[end+2:], ".")
			continue
		}
		head, rest, _ := strings.Cut(text, ".")
		parts = append(parts, strings.ToLower(strings.TrimSpace(head)))
		text = rest
	}
	switch len(parts) {
	case 0:
		return "", ""
	case 1:
		return "", parts[0]
	}
	return parts[len(parts)-2], parts[len(parts)-1]
}

// shown gives a relation's name, qualified unless it is found along the search path.
func (s *sess) shown(r *catalog.Relation) string {
	if found, err := s.catalog().Lookup("", r.Name, s.set.searchPath(s.p.User)); err == nil && found.OID == r.OID {
		return r.Name
	}
	return r.Schema + "." + r.Name
}

func (f *sessionFuncs) constraintDef(oid catalog.OID) types.Datum {
	r := f.s.catalog().ByOID(session.KeyTable(oid))
	if r == nil || r.HiddenKey {
		return types.NullDatum
	}
	return types.StringDatum("PRIMARY KEY (" + strings.Join(keyNames(r), ", ") + ")")
}

func (f *sessionFuncs) indexDef(args []types.Datum) types.Datum {
	r := f.s.catalog().ByOID(session.KeyTable(catalog.OID(args[0].I)))
	if r == nil || r.HiddenKey {
		return types.NullDatum
	}
	names := keyNames(r)
	if len(args) > 1 && args[1].I > 0 {
		if int(args[1].I) <= len(names) {
			return types.StringDatum(names[args[1].I-1])
		}
		return types.NullDatum
	}
	return types.StringDatum("CREATE UNIQUE INDEX " + r.Name + "_pkey ON " + r.Schema + "." + r.Name + " USING btree (" + strings.Join(names, ", ") + ")")
}

func keyNames(r *catalog.Relation) []string {
	var out []string
	for _, c := range r.PrimaryKey {
		out = append(out, r.Columns[c].Name)
	}
	return out
}
