package plan

// MapChildren gives e with f applied to each direct operand. e is copied where an operand changed and is
// never modified. Expressions of unknown kinds have no operands.
func MapChildren(e Expr, f func(Expr) Expr) Expr {
	changed := false
	one := func(x Expr) Expr {
		y := f(x)
		if y != x {
			changed = true
		}
		return y
	}
	all := func(xs []Expr) []Expr {
		out := make([]Expr, len(xs))
		for i, x := range xs {
			out[i] = one(x)
		}
		return out
	}
	var n Expr
	switch x := e.(type) {
	case *Call:
		c := *x
		c.Args = all(x.Args)
		n = &c
	case *And:
		n = &And{all(x.Args)}
	case *Or:
		n = &Or{all(x.Args)}
	case *Not:
		n = &Not{one(x.X)}
	case *IsNull:
		n = &IsNull{one(x.X), x.Not}
	case *IsBool:
		n = &IsBool{one(x.X), x.What, x.Not}
	case *IsDistinct:
		n = &IsDistinct{one(x.L), one(x.R), x.Not}
	case *Case:
		c := &Case{Typ: x.Typ}
		for _, w := range x.Whens {
			c.Whens = append(c.Whens, When{one(w.Cond), one(w.Then)})
		}
		c.Else = one(x.Else)
		n = c
	case *Coalesce:
		n = &Coalesce{all(x.Args), x.Typ}
	case *InList:
		c := *x
		c.X = one(x.X)
		n = &c
	case *Quantified:
		c := *x
		c.X, c.Array = one(x.X), one(x.Array)
		n = &c
	case *ArrayCtor:
		n = &ArrayCtor{all(x.Elems), x.Typ}
	case *Subscript:
		n = &Subscript{one(x.X), one(x.Index), x.Typ}
	case *WindowField:
		n = &WindowField{one(x.X), x.End}
	case *RowCtor:
		n = &RowCtor{all(x.Args), x.Names}
	}
	if !changed {
		return e
	}
	return n
}
