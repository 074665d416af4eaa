// Package plan is the vocabulary between planner and execution: bound
// expressions and plan nodes with their derived properties. The planner makes
// them, exec builds operators from them, exec/kernel compiles the
// expressions. A finished plan is read-only and may be shared.
package plan

import (
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Expr is a bound expression over the columns of its node's input (for a join condition: left columns, then right).
type Expr interface {
	// Type is the type of its value.
	Type() types.Type
}

type (
	// Col is column Index of the input.
	Col struct {
		Index int
		Typ   types.Type
		Name  string // for EXPLAIN and errors
		Row   *RowType
	}
	// RowType describes the fields of a column of type Record that holds rows with named fields; a column has nil where it does not.
	RowType struct {
		Names []string
		Types []types.Type
	}
	// Const is a literal.
	Const struct {
		Val types.Datum
		Typ types.Type
	}
	// Param is $N (from 1); the engine puts a Const in its place before it compiles a plan (Bind).
	Param struct {
		N   int
		Typ types.Type
	}
	// Call is a scalar function, operator or cast. Args have exactly the types that Fn wants
	// (casts are explicit Calls); Fn.Strict says that a NULL argument gives NULL without a call.
	Call struct {
		Fn   *fn.Func
		Args []Expr
		Typ  types.Type // with modifier, where the planner knows one
		Pos  int        // byte offset in the statement, -1 for none
	}
	// And and Or evaluate left to right and a later operand only for rows not yet decided.
	And struct{ Args []Expr }
	// Or is three-valued OR.
	Or struct{ Args []Expr }
	// Not is three-valued NOT.
	Not struct{ X Expr }
	// IsNull is x IS [NOT] NULL.
	IsNull struct {
		X   Expr
		Not bool
	}
	// IsBool is x IS [NOT] TRUE|FALSE|UNKNOWN. What is 't', 'f' or 'u'.
	IsBool struct {
		X    Expr
		What byte
		Not  bool
	}
	// IsDistinct is l IS [NOT] DISTINCT FROM r, both of one type.
	IsDistinct struct {
		L, R Expr
		Not  bool
	}
	// Case is the searched form; the simple form is turned into it. An arm is evaluated only for rows that reach it.
	Case struct {
		Whens []When
		Else  Expr // never nil
		Typ   types.Type
	}
	// When is one arm.
	When struct{ Cond, Then Expr }
	// Coalesce evaluates a later argument only where the earlier ones are NULL.
	Coalesce struct {
		Args []Expr
		Typ  types.Type
	}
	// InList is x [NOT] IN (constants): all of one type, compared with =. The planner uses it when every item
	// is a Const; otherwise it writes ORs.
	InList struct {
		X    Expr
		List []types.Datum // non-NULL items
		Null bool          // the list has a NULL
		Not  bool
	}
	// Quantified is x op ANY|ALL (array); Cmp is the boolean operator between element types.
	Quantified struct {
		X     Expr
		Array Expr
		Cmp   *fn.Func
		All   bool
	}
	// ArrayCtor is ARRAY[...]; Typ is the array type. Nested arrays of equal dimensions make more dimensions.
	ArrayCtor struct {
		Elems []Expr
		Typ   types.Type
	}
	// Subscript is array[i] (slices are calls of array_slice), or field i of a Record, i a constant from 1.
	Subscript struct {
		X, Index Expr
		Typ      types.Type
	}
	// WindowField is w.start or w.end of a window composite.
	WindowField struct {
		X   Expr
		End bool
	}
	// RowCtor is ROW(...), of type Record; its value encodes each field with its type. Names are those of the fields of a
	// table's row, nil for ROW(...).
	RowCtor struct {
		Args  []Expr
		Names []string
	}
	// Now is the epoch's (or statement's) timestamp: now(), current_timestamp. In views only in conditions of WHERE (docs/sql.md).
	Now struct{ Typ types.Type }
)

// Type implements Expr.
func (e *Col) Type() types.Type         { return e.Typ }
func (e *Const) Type() types.Type       { return e.Typ }
func (e *Param) Type() types.Type       { return e.Typ }
func (e *Call) Type() types.Type        { return e.Typ }
func (e *And) Type() types.Type         { return types.Of(types.Bool) }
func (e *Or) Type() types.Type          { return types.Of(types.Bool) }
func (e *Not) Type() types.Type         { return types.Of(types.Bool) }
func (e *IsNull) Type() types.Type      { return types.Of(types.Bool) }
func (e *IsBool) Type() types.Type      { return types.Of(types.Bool) }
func (e *IsDistinct) Type() types.Type  { return types.Of(types.Bool) }
func (e *Case) Type() types.Type        { return e.Typ }
func (e *Coalesce) Type() types.Type    { return e.Typ }
func (e *InList) Type() types.Type      { return types.Of(types.Bool) }
func (e *Quantified) Type() types.Type  { return types.Of(types.Bool) }
func (e *ArrayCtor) Type() types.Type   { return e.Typ }
func (e *Subscript) Type() types.Type   { return e.Typ }
func (e *WindowField) Type() types.Type { return e.X.Type().ElemType() }
func (e *RowCtor) Type() types.Type     { return types.Of(types.Record) }
func (e *Now) Type() types.Type         { return e.Typ }

// Children lists the direct operands of e.
func Children(e Expr) []Expr {
	switch x := e.(type) {
	case *Call:
		return x.Args
	case *And:
		return x.Args
	case *Or:
		return x.Args
	case *Not:
		return []Expr{x.X}
	case *IsNull:
		return []Expr{x.X}
	case *IsBool:
		return []Expr{x.X}
	case *IsDistinct:
		return []Expr{x.L, x.R}
	case *Case:
		var out []Expr
		for _, w := range x.Whens {
			out = append(out, w.Cond, w.Then)
		}
		return append(out, x.Else)
	case *Coalesce:
		return x.Args
	case *InList:
		return []Expr{x.X}
	case *Quantified:
		return []Expr{x.X, x.Array}
	case *ArrayCtor:
		return x.Elems
	case *Subscript:
		return []Expr{x.X, x.Index}
	case *WindowField:
		return []Expr{x.X}
	case *RowCtor:
		return x.Args
	}
	return nil
}

// Rewrite applies f to every node of e from the leaves up and gives the new tree; nodes are copied where an
// operand changed, never modified.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	all := func(xs []Expr) []Expr {
		out := make([]Expr, len(xs))
		for i, x := range xs {
			out[i] = Rewrite(x, f)
		}
		return out
	}
	switch x := e.(type) {
	case *Call:
		c := *x
		c.Args = all(x.Args)
		e = &c
	case *And:
		e = &And{all(x.Args)}
	case *Or:
		e = &Or{all(x.Args)}
	case *Not:
		e = &Not{Rewrite(x.X, f)}
	case *IsNull:
		e = &IsNull{Rewrite(x.X, f), x.Not}
	case *IsBool:
		e = &IsBool{Rewrite(x.X, f), x.What, x.Not}
	case *IsDistinct:
		e = &IsDistinct{Rewrite(x.L, f), Rewrite(x.R, f), x.Not}
	case *Case:
		c := &Case{Typ: x.Typ, Else: Rewrite(x.Else, f)}
		for _, w := range x.Whens {
			c.Whens = append(c.Whens, When{Rewrite(w.Cond, f), Rewrite(w.Then, f)})
		}
		e = c
	case *Coalesce:
		e = &Coalesce{all(x.Args), x.Typ}
	case *InList:
		c := *x
		c.X = Rewrite(x.X, f)
		e = &c
	case *Quantified:
		c := *x
		c.X, c.Array = Rewrite(x.X, f), Rewrite(x.Array, f)
		e = &c
	case *ArrayCtor:
		e = &ArrayCtor{all(x.Elems), x.Typ}
	case *Subscript:
		e = &Subscript{Rewrite(x.X, f), Rewrite(x.Index, f), x.Typ}
	case *WindowField:
		e = &WindowField{Rewrite(x.X, f), x.End}
	case *RowCtor:
		e = &RowCtor{all(x.Args), x.Names}
	}
	return f(e)
}

// ShiftCols gives e with every column index moved by by.
func ShiftCols(e Expr, by int) Expr {
	return Rewrite(e, func(x Expr) Expr {
		if c, ok := x.(*Col); ok {
			n := *c
			n.Index += by
			return &n
		}
		return x
	})
}

// Walk calls f for e and everything beneath it, parents first.
func Walk(e Expr, f func(Expr)) {
	if e == nil {
		return
	}
	f(e)
	for _, c := range Children(e) {
		Walk(c, f)
	}
}
