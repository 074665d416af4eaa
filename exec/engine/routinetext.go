package engine

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// How functions are shown and found by the functions of pg_catalog: pg_get_functiondef and its like, regproc, regprocedure.

func argTypes(f *catalog.Function) []string {
	out := make([]string, len(f.Args))
	for i, a := range f.Args {
		out[i] = a.Type.NoMod().String()
	}
	return out
}

// functionText shows the parts of a function's declaration.
func (s *sess) functionText(name string, oid uint32) types.Datum {
	if f := s.catalog().FunctionByOID(catalog.OID(oid)); f != nil {
		return s.userFunctionText(name, f)
	}
	if p := s.catalog().ProcessorByOID(catalog.OID(oid)); p != nil {
		switch name {
		case "pg_get_function_arguments", "pg_get_function_identity_arguments":
			return types.StringDatum("")
		case "pg_get_function_result":
			return types.StringDatum(tableText(p.Columns))
		case "pg_get_functiondef":
			return types.StringDatum("CREATE OR REPLACE PROCESSOR " + parser.QuoteIdent(p.Schema) + "." + parser.QuoteIdent(p.Name) + "\n RETURNS " +
				tableText(p.Columns) + "\n LANGUAGE " + p.Language + "\nAS " + dollarQuoted("processor", p.Body) + "\n")
		}
		return types.NullDatum
	}
	x := fn.ByOID(oid)
	if x == nil {
		return types.NullDatum
	}
	switch name {
	case "pg_get_function_arguments", "pg_get_function_identity_arguments":
		return types.StringDatum(x.Arguments())
	case "pg_get_function_result":
		if x.Class == fn.Set {
			return types.StringDatum("SETOF " + x.Result.String())
		}
		return types.StringDatum(x.Result.String())
	}
	return types.NullDatum
}

// userFunctionText is functionText of a function that a user made, as PostgreSQL writes it.
func (s *sess) userFunctionText(name string, f *catalog.Function) types.Datum {
	switch name {
	case "pg_get_function_arguments":
		return types.StringDatum(s.argumentsText(f, true))
	case "pg_get_function_identity_arguments":
		return types.StringDatum(s.argumentsText(f, false))
	case "pg_get_function_result":
		return types.StringDatum(functionResult(f))
	case "pg_get_functiondef":
		var options []string
		if f.Volatility != "volatile" {
			options = append(options, strings.ToUpper(f.Volatility))
		}
		if f.Strict {
			options = append(options, "STRICT")
		}
		text := "CREATE OR REPLACE FUNCTION " + parser.QuoteIdent(f.Schema) + "." + parser.QuoteIdent(f.Name) + "(" + s.argumentsText(f, true) + ")\n RETURNS " +
			functionResult(f) + "\n LANGUAGE " + f.Language + "\n"
		if len(options) > 0 {
			text += " " + strings.Join(options, " ") + "\n"
		}
		return types.StringDatum(text + "AS " + dollarQuoted("function", f.Body) + "\n")
	}
	return types.NullDatum
}

func (s *sess) argumentsText(f *catalog.Function, defaults bool) string {
	out := argTypes(f)
	for i, a := range f.Args {
		if a.Name != "" {
			out[i] = parser.QuoteIdent(a.Name) + " " + out[i]
		}
		if defaults && a.Default != "" {
			out[i] += " DEFAULT " + s.defaultText(&catalog.Relation{Columns: f.Args}, i, false)
		}
	}
	return strings.Join(out, ", ")
}

func functionResult(f *catalog.Function) string {
	switch {
	case f.Columns != nil:
		return tableText(f.Columns)
	case f.SetOf:
		return "SETOF " + f.Result.NoMod().String()
	}
	return f.Result.NoMod().String()
}

func tableText(cols []catalog.Column) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		parts[i] = parser.QuoteIdent(c.Name) + " " + c.Type.NoMod().String()
	}
	return "TABLE(" + strings.Join(parts, ", ") + ")"
}

// dollarQuoted quotes a body, with a tag that is not in it.
func dollarQuoted(tag, body string) string {
	for strings.Contains(body, "$"+tag) {
		tag += "x"
	}
	return "$" + tag + "$" + body + "$" + tag + "$"
}

// functionsNamed are the functions that users made of a name, which may be qualified.
func (s *sess) functionsNamed(parts []string) []*catalog.Function {
	schema := ""
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	return s.catalog().FunctionsNamed(schema, parts[len(parts)-1], s.set.searchPath(s.p.User))
}

// functionName shows a function as regproc, or regprocedure, does.
func (s *sess) functionName(kind types.Kind, oid uint32) (string, bool) {
	if f := s.catalog().FunctionByOID(catalog.OID(oid)); f != nil {
		name := parser.QuoteIdent(f.Name)
		if !slices.Contains(s.existingPath(), f.Schema) || kind == types.Regproc && len(s.catalog().FunctionsNamed(f.Schema, f.Name, nil)) > 1 {
			name = parser.QuoteIdent(f.Schema) + "." + name
		}
		if kind == types.Regprocedure {
			name += "(" + strings.Join(argTypes(f), ",") + ")"
		}
		return name, true
	}
	if p := s.catalog().ProcessorByOID(catalog.OID(oid)); p != nil {
		return parser.QuoteIdent(p.Name), true
	}
	if f := fn.ByOID(oid); f != nil {
		name := parser.QuoteIdent(f.Name)
		switch {
		case kind == types.Regprocedure:
			return name + "(" + strings.ReplaceAll(f.Arguments(), ", ", ",") + ")", true
		case len(fn.Lookup(f.Name)) > 1:
			return "pg_catalog." + name, true // the name alone would not be read back
		}
		return name, true
	}
	for _, b := range fn.Builtins() {
		if b.OID == oid {
			return b.Name, true
		}
	}
	return "", false
}

// functionByName finds the function that a regproc means.
func (s *sess) functionByName(parts []string, text string) (uint32, error) {
	name := parts[len(parts)-1]
	switch fs := s.functionsNamed(parts); len(fs) {
	case 0:
	case 1:
		return uint32(fs[0].OID), nil
	default:
		return 0, sqlerr.New(sqlerr.AmbiguousFunction, "more than one function named \"%s\"", text)
	}
	switch fs := fn.Lookup(name); len(fs) {
	case 0:
	case 1:
		return fs[0].OID(), nil
	default:
		return 0, sqlerr.New(sqlerr.AmbiguousFunction, "more than one function named \"%s\"", text)
	}
	for _, b := range fn.Builtins() {
		if b.Name == name {
			return b.OID, nil
		}
	}
	return 0, sqlerr.New(sqlerr.UndefinedFunction, "function \"%s\" does not exist", text)
}

// functionBySignature finds a function by name and argument types: lower(text).
func (s *sess) functionBySignature(text string) (uint32, error) {
	head, list, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(text), ")"), "(")
	if !ok {
		return 0, sqlerr.New(sqlerr.InvalidTextRepresentation, "expected a left parenthesis")
	}
	var args []types.Type
	for _, a := range strings.Split(list, ",") {
		if strings.TrimSpace(list) == "" {
			break
		}
		t, ok := types.ByName(a)
		if !ok {
			return 0, sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist", strings.TrimSpace(a))
		}
		args = append(args, t)
	}
	parts := splitName(head)
	if len(parts) == 0 {
		return 0, sqlerr.New(sqlerr.InvalidName, "invalid name syntax")
	}
	for _, f := range s.functionsNamed(parts) {
		if f.SameArgs(args) {
			return uint32(f.OID), nil
		}
	}
	for _, f := range fn.Lookup(parts[len(parts)-1]) {
		if len(f.Args) != len(args) {
			continue
		}
		same := true
		for i := range args {
			same = same && f.Args[i].Same(args[i])
		}
		if same {
			return f.OID(), nil
		}
	}
	return 0, sqlerr.New(sqlerr.UndefinedFunction, "function \"%s\" does not exist", text)
}
