package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// paramInfo is one parameter and its uses. Its type is unknown until a use decides it.
type paramInfo struct {
	typ  types.Type
	uses []*plan.Param
	pos  ast.Pos
}

// param gives the expression for $n.
func (b *binder) param(n int, pos ast.Pos) plan.Expr {
	if n < 1 || n > 65535 {
		failAt(pos, sqlerr.UndefinedParameter, "there is no parameter $%d", n)
	}
	for len(b.params) < n {
		p := &paramInfo{pos: pos}
		if i := len(b.params); i < len(b.o.ParamTypes) {
			p.typ = b.o.ParamTypes[i]
		}
		b.params = append(b.params, p)
	}
	p := b.params[n-1]
	e := &plan.Param{N: n, Typ: p.typ}
	p.uses = append(p.uses, e)
	return e
}

// setParam gives a parameter of unknown type its type, in all its uses.
func (b *binder) setParam(n int, t types.Type) {
	p := b.params[n-1]
	p.typ = t.NoMod()
	for _, u := range p.uses {
		u.Typ = p.typ
	}
}

// paramTypes gives the types of all parameters; those that nothing decided are text.
func (b *binder) paramTypes() []types.Type {
	out := make([]types.Type, max(len(b.params), len(b.o.ParamTypes)))
	for i := range out {
		switch {
		case i < len(b.params):
			if b.params[i].typ.Kind == types.Unknown {
				if len(b.params[i].uses) == 0 {
					fail(sqlerr.New(sqlerr.IndeterminateDatatype, "could not determine data type of parameter $%d", i+1))
				}
				b.setParam(i+1, types.Of(types.Text))
			}
			out[i] = b.params[i].typ
		case b.o.ParamTypes[i].Kind == types.Unknown:
			out[i] = types.Of(types.Text)
		default:
			out[i] = b.o.ParamTypes[i]
		}
	}
	return out
}
