package catalog

import (
	"sort"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// Function is a function that a user made. It is immutable once it is in a Catalog.
type Function struct {
	OID     OID
	Schema  string
	Name    string
	Args    []Column   // names ("" for none), types and defaults
	Result  types.Type // of a function that returns one value a row; Void for RETURNS TABLE
	SetOf   bool       // it returns rows: RETURNS TABLE, or RETURNS SETOF Result
	Columns []Column   // of RETURNS TABLE
	// Volatility is "immutable", "stable" or "volatile", as it was declared. Nothing depends on it: functions in Starlark are pure, and
	// those in SQL are as volatile as their bodies.
	Volatility string
	Strict     bool   // NULL in, NULL out
	Language   string // "sql", whose body is put in place of the call, or "starlark"
	Body       string
	MaxSteps   int64 // of one call
	MaxMemory  int64 // that one call may allocate, in bytes
}

// Rows gives the columns of a function that returns rows.
func (f *Function) Rows() []Column {
	if f.Columns == nil {
		return []Column{{Name: f.Name, Type: f.Result}}
	}
	return f.Columns
}

// SameArgs says whether a function takes arguments of those types.
func (f *Function) SameArgs(ts []types.Type) bool {
	if len(ts) != len(f.Args) {
		return false
	}
	for i, a := range f.Args {
		if !a.Type.Same(ts[i]) {
			return false
		}
	}
	return true
}

// FunctionsNamed lists the functions of a name that a call can mean: in a schema, or along searchPath, by OID.
func (c *Catalog) FunctionsNamed(schema, name string, searchPath []string) []*Function {
	if schema != "" {
		searchPath = []string{schema}
	}
	var out []*Function
	for _, s := range searchPath {
		for _, f := range c.Functions() {
			if f.Schema == s && f.Name == name {
				out = append(out, f)
			}
		}
	}
	return out
}

// FunctionByOID finds a function, nil if there is none.
func (c *Catalog) FunctionByOID(oid OID) *Function { return c.functions[oid] }

// Functions lists all functions that users made, by OID.
func (c *Catalog) Functions() []*Function {
	out := make([]*Function, 0, len(c.functions))
	for _, f := range c.functions {
		out = append(out, f)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].OID < out[j].OID })
	return out
}

// WithFunction gives a catalog that also has f (replacing one of the same OID).
func (c *Catalog) WithFunction(f *Function) *Catalog {
	n := c.clone()
	n.NextOID = max(n.NextOID, f.OID+1)
	n.functions[f.OID] = f
	return n
}

// WithoutFunction gives a catalog that lacks the function.
func (c *Catalog) WithoutFunction(oid OID) *Catalog {
	n := c.clone()
	delete(n.functions, oid)
	return n
}
