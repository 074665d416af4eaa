package custom

import (
	"go.starlark.net/syntax"
)

// The interpreter has no hook at which memory is allocated. So the syntax tree of a body is rewritten before it is compiled: an operation whose result
// can be much larger than a step should allow (x + y, x * y, slices, "".join, ...) becomes a call of a function of ours, which first charges what the
// result takes to the call's account (memory.go) and then does what the interpreter would. The names of those functions cannot be written in a script.

// guardedOps are the operators that become calls, by the name of the function.
var guardedOps = map[syntax.Token]string{syntax.PLUS: "+", syntax.MINUS: "-", syntax.STAR: "*", syntax.PERCENT: "%", syntax.PIPE: "|", syntax.AMP: "&",
	syntax.CIRCUMFLEX: "^", syntax.LTLT: "<<"}

// augmented are the operators of augmented assignments.
var augmented = map[syntax.Token]syntax.Token{syntax.PLUS_EQ: syntax.PLUS, syntax.MINUS_EQ: syntax.MINUS, syntax.STAR_EQ: syntax.STAR,
	syntax.PERCENT_EQ: syntax.PERCENT, syntax.PIPE_EQ: syntax.PIPE, syntax.AMP_EQ: syntax.AMP, syntax.CIRCUMFLEX_EQ: syntax.CIRCUMFLEX, syntax.LTLT_EQ: syntax.LTLT}

const (
	copiedName = "copied " // of what is spread, or sliced with a step: charges a copy of it
	slicedName = "sliced " // of what is sliced; slices of strings share their bytes
	dotName    = "."       // with the method's name behind: a call of it
	boundName  = ".bound " // with the method's name behind: the method as a value
)

// instrumenter rewrites a syntax tree.
type instrumenter struct{ temps int }

// ident makes a name at a place.
func ident(name string, at syntax.Position) *syntax.Ident {
	return &syntax.Ident{NamePos: at, Name: name}
}

// call makes a call of a function of ours. Errors in it are at the place of the operator.
func call(name string, at syntax.Position, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: ident(name, at), Lparen: at, Args: args, Rparen: at}
}

// stmts rewrites a list of statements.
func (in *instrumenter) stmts(list []syntax.Stmt) []syntax.Stmt {
	var out []syntax.Stmt
	for _, s := range list {
		out = append(out, in.stmt(s)...)
	}
	return out
}

// stmt rewrites one statement, which may become several.
func (in *instrumenter) stmt(s syntax.Stmt) []syntax.Stmt {
	switch x := s.(type) {
	case *syntax.AssignStmt:
		return in.assign(x)
	case *syntax.DefStmt:
		in.params(x.Params)
		x.Body = in.stmts(x.Body)
	case *syntax.ExprStmt:
		x.X = in.expr(x.X)
	case *syntax.IfStmt:
		x.Cond, x.True, x.False = in.expr(x.Cond), in.stmts(x.True), in.stmts(x.False)
	case *syntax.ForStmt:
		x.Vars, x.X, x.Body = in.target(x.Vars), in.expr(x.X), in.stmts(x.Body)
	case *syntax.WhileStmt:
		x.Cond, x.Body = in.expr(x.Cond), in.stmts(x.Body)
	case *syntax.ReturnStmt:
		x.Result = in.expr(x.Result)
	}
	return []syntax.Stmt{s}
}

// assign rewrites an assignment: x op= y is x = op=(x, y), where what x consists of is evaluated once.
func (in *instrumenter) assign(x *syntax.AssignStmt) []syntax.Stmt {
	op, aug := augmented[x.Op]
	if !aug || small(x.RHS) && (op == syntax.PLUS || op == syntax.MINUS) {
		x.LHS, x.RHS = in.target(x.LHS), in.expr(x.RHS)
		return []syntax.Stmt{x}
	}
	var before []syntax.Stmt
	hold := func(e syntax.Expr) syntax.Expr {
		in.temps++
		name := "temp " + itoa(in.temps)
		before = append(before, &syntax.AssignStmt{OpPos: x.OpPos, Op: syntax.EQ, LHS: ident(name, x.OpPos), RHS: in.expr(e)})
		return ident(name, x.OpPos)
	}
	again := func(e syntax.Expr) syntax.Expr { return ident(e.(*syntax.Ident).Name, x.OpPos) }
	var read, write syntax.Expr
	switch l := unparen(x.LHS).(type) {
	case *syntax.IndexExpr:
		a, i := hold(l.X), hold(l.Y)
		read = &syntax.IndexExpr{X: a, Lbrack: l.Lbrack, Y: i, Rbrack: l.Rbrack}
		write = &syntax.IndexExpr{X: again(a), Lbrack: l.Lbrack, Y: again(i), Rbrack: l.Rbrack}
	case *syntax.DotExpr:
		a := hold(l.X)
		read = &syntax.DotExpr{X: a, Dot: l.Dot, NamePos: l.NamePos, Name: l.Name}
		write = &syntax.DotExpr{X: again(a), Dot: l.Dot, NamePos: l.NamePos, Name: ident(l.Name.Name, l.NamePos)}
	case *syntax.Ident:
		read, write = ident(l.Name, l.NamePos), l
	default:
		return []syntax.Stmt{x} // an error, which the resolver finds
	}
	return append(before, &syntax.AssignStmt{OpPos: x.OpPos, Op: syntax.EQ, LHS: write, RHS: call(guardedOps[op]+"=", x.OpPos, read, in.expr(x.RHS))})
}

// target rewrites what is assigned to.
func (in *instrumenter) target(e syntax.Expr) syntax.Expr {
	switch x := e.(type) {
	case *syntax.IndexExpr:
		x.X, x.Y = in.expr(x.X), in.expr(x.Y)
	case *syntax.DotExpr:
		x.X = in.expr(x.X)
	case *syntax.ParenExpr:
		x.X = in.target(x.X)
	case *syntax.TupleExpr:
		for i := range x.List {
			x.List[i] = in.target(x.List[i])
		}
	case *syntax.ListExpr:
		for i := range x.List {
			x.List[i] = in.target(x.List[i])
		}
	}
	return e
}

// params rewrites the defaults of parameters.
func (in *instrumenter) params(ps []syntax.Expr) {
	for _, p := range ps {
		if b, ok := p.(*syntax.BinaryExpr); ok {
			b.Y = in.expr(b.Y)
		}
	}
}

func (in *instrumenter) exprs(es []syntax.Expr) {
	for i := range es {
		es[i] = in.expr(es[i])
	}
}

// expr rewrites an expression; nil stays nil.
func (in *instrumenter) expr(e syntax.Expr) syntax.Expr {
	switch x := e.(type) {
	case *syntax.BinaryExpr:
		return in.binary(x)
	case *syntax.CallExpr:
		return in.call(x)
	case *syntax.DotExpr:
		x.X = in.expr(x.X)
		if methodCosts[x.Name.Name] != nil {
			return call(boundName+x.Name.Name, x.NamePos, x.X)
		}
	case *syntax.SliceExpr:
		name := slicedName
		if x.Step != nil {
			name = copiedName
		}
		x.X, x.Lo, x.Hi, x.Step = call(name, x.Lbrack, in.expr(x.X)), in.expr(x.Lo), in.expr(x.Hi), in.expr(x.Step)
	case *syntax.ParenExpr:
		x.X = in.expr(x.X)
	case *syntax.UnaryExpr:
		x.X = in.expr(x.X)
	case *syntax.CondExpr:
		x.Cond, x.True, x.False = in.expr(x.Cond), in.expr(x.True), in.expr(x.False)
	case *syntax.IndexExpr:
		x.X, x.Y = in.expr(x.X), in.expr(x.Y)
	case *syntax.ListExpr:
		in.exprs(x.List)
	case *syntax.TupleExpr:
		in.exprs(x.List)
	case *syntax.DictExpr:
		in.exprs(x.List)
	case *syntax.DictEntry:
		x.Key, x.Value = in.expr(x.Key), in.expr(x.Value)
	case *syntax.LambdaExpr:
		in.params(x.Params)
		x.Body = in.expr(x.Body)
	case *syntax.Comprehension:
		x.Body = in.expr(x.Body)
		for _, c := range x.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				c.Vars, c.X = in.target(c.Vars), in.expr(c.X)
			case *syntax.IfClause:
				c.Cond = in.expr(c.Cond)
			}
		}
	}
	return e
}

func (in *instrumenter) binary(x *syntax.BinaryExpr) syntax.Expr {
	constant := small(x)
	x.X, x.Y = in.expr(x.X), in.expr(x.Y)
	name := guardedOps[x.Op]
	switch {
	case name == "" || constant:
		return x
	case (x.Op == syntax.PLUS || x.Op == syntax.MINUS) && (small(x.X) || small(x.Y)), x.Op == syntax.PERCENT && small(x.Y):
		return x // an integer that grows by a bit, or fewer bytes than its format has
	}
	return call(name, x.OpPos, x.X, x.Y)
}

// small says whether an expression is a small integer, written down.
func small(e syntax.Expr) bool {
	switch x := unparen(e).(type) {
	case *syntax.Literal:
		n, ok := x.Value.(int64)
		return ok && n < 1<<31
	case *syntax.UnaryExpr:
		return x.Op == syntax.MINUS && small(x.X)
	case *syntax.BinaryExpr:
		return (x.Op == syntax.STAR || x.Op == syntax.PLUS || x.Op == syntax.MINUS) && small(x.X) && small(x.Y)
	}
	return false
}

func unparen(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

func (in *instrumenter) call(x *syntax.CallExpr) syntax.Expr {
	for i, a := range x.Args {
		switch a := a.(type) {
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				a.X = call(copiedName, a.OpPos, in.expr(a.X))
				continue
			}
			x.Args[i] = in.expr(a)
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				a.Y = in.expr(a.Y)
				continue
			}
			x.Args[i] = in.expr(a)
		default:
			x.Args[i] = in.expr(a)
		}
	}
	d, ok := x.Fn.(*syntax.DotExpr)
	if !ok || methodCosts[d.Name.Name] == nil {
		if ok {
			d.X = in.expr(d.X)
		} else {
			x.Fn = in.expr(x.Fn)
		}
		return x
	}
	x.Fn = ident(dotName+d.Name.Name, d.NamePos)
	x.Args = append([]syntax.Expr{in.expr(d.X)}, x.Args...)
	return x
}
