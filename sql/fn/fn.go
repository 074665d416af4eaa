// Package fn is the catalogue of functions, operators, casts and aggregates:
// their names, signatures, result types and properties, and PostgreSQL's rules
// for choosing among them (PostgreSQL, chapter 10). The planner resolves
// against it, exec/kernel and exec/agg implement it, pg_proc is shown from it.
package fn

import "github.com/tidemarkdb/tidemark/sql/types"

// Class is what kind of function it is.
type Class uint8

// The classes.
const (
	Scalar    Class = iota
	Aggregate       // usable with GROUP BY, and with OVER
	Window          // row_number, rank, lag ...: only with OVER
	Set             // returns rows: generate_series, unnest ...
	Operator        // infix or prefix operator
	Cast            // conversion between two types; Name is "cast"
)

// Volatility is PostgreSQL's volatility category.
type Volatility uint8

// The categories.
const (
	Immutable Volatility = iota
	Stable
	Volatile
)

// Func is one function, operator, cast or aggregate with one signature. Values are made once, at package
// initialisation, and compared by pointer.
type Func struct {
	Name       string // "lower", "+", "cast", "sum"
	Class      Class
	Args       []types.Type // may hold the pseudo-types Any, AnyElement, AnyArray
	Variadic   bool         // the last argument repeats
	Result     types.Type   // may be a pseudo-type: see ResultType
	Strict     bool         // NULL in, NULL out
	Volatility Volatility
	// OutCols are the columns of a Set function that returns several; nil means one column named Name.
	OutCols []OutCol
	// OrderedSet says that an aggregate takes WITHIN GROUP.
	OrderedSet bool
}

// OutCol is one output column of a set-returning function.
type OutCol struct {
	Name string
	Type types.Type
}
