package pgcatalog

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// The OIDs of languages in pg_language. PostgreSQL has 12 and 14.
const (
	internalLanguage = 12
	sqlLanguage      = 14
	starlarkLanguage = 9990
)

func languages(_ *session.SystemContext, t *rows) {
	t.add(row{"oid": internalLanguage, "lanname": "internal", "lanowner": ownerOID})
	t.add(row{"oid": sqlLanguage, "lanname": "sql", "lanowner": ownerOID, "lanpltrusted": true})
	t.add(row{"oid": starlarkLanguage, "lanname": "starlark", "lanowner": ownerOID, "lanpltrusted": true})
}

// userRoutines are the functions and processors that users made. Processors, which are not called in expressions, are shown as procedures.
func userRoutines(c *session.SystemContext, t *rows) {
	for _, f := range c.Catalog.Functions() {
		r := row{"proisstrict": f.Strict, "proretset": f.SetOf, "provolatile": f.Volatility[:1], "prosrc": f.Body}
		returned := f.Result
		if f.Columns != nil {
			if returned = types.Of(types.Record); len(f.Columns) == 1 {
				returned = f.Columns[0].Type
			}
		}
		if r["procost"] = 100; f.Language == "starlark" {
			r["prolang"] = starlarkLanguage
		} else {
			r["prolang"] = sqlLanguage
		}
		if f.SetOf {
			r["prorows"] = 1000
		}
		t.addRoutine(c, r, f.OID, f.Schema, f.Name, "f", f.Args, f.Columns, returned)
	}
	for _, p := range c.Catalog.Processors() {
		r := row{"provolatile": "v", "prosrc": p.Body, "prolang": starlarkLanguage, "procost": 100, "proretset": true}
		t.addRoutine(c, r, p.OID, p.Schema, p.Name, "p", nil, p.Columns, types.Of(types.Record))
	}
}

// addRoutine adds what functions and processors have in common.
func (t *rows) addRoutine(c *session.SystemContext, r row, oid catalog.OID, schema, name, kind string, args, table []catalog.Column, returned types.Type) {
	in, names, defaults, named := []int{}, []string{}, []string{}, false
	for _, a := range args {
		in, names, named = append(in, int(a.Type.OID())), append(names, a.Name), named || a.Name != ""
		if a.Default != "" {
			defaults = append(defaults, a.Default)
		}
	}
	if len(table) > 0 {
		all, modes := append([]int{}, in...), []string{}
		for range in {
			modes = append(modes, "i")
		}
		for _, x := range table {
			all, modes, names, named = append(all, int(x.Type.OID())), append(modes, "t"), append(names, x.Name), true
		}
		r["proallargtypes"], r["proargmodes"] = all, modes
	}
	if named {
		r["proargnames"] = names
	}
	if len(defaults) > 0 {
		r["proargdefaults"] = strings.Join(defaults, ", ")
	}
	r["oid"], r["proname"], r["pronamespace"], r["prokind"], r["proowner"], r["proparallel"] = oid, name, namespaceOID(c, schema), kind, ownerOID, "u"
	r["pronargs"], r["pronargdefaults"], r["prorettype"], r["proargtypes"] = len(in), len(defaults), int(returned.OID()), in
	t.add(r)
}
