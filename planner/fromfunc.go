package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// function binds a function in FROM.
func (fb *fromBinder) function(t *ast.FuncRef, left *fromPart) *fromPart {
	n := t.Call
	switch n.Name {
	case "tumble", "hop":
		return fb.tumbleHop(t)
	case "transform_with_state":
		return fb.transform(t)
	case "statestore", "state_metadata":
		return fb.stateTable(t)
	case "read_change_feed":
		unsupported(n.At, "%s is not supported yet", n.Name)
	}
	if len(t.Tables) > 0 {
		unsupported(n.At, "function %s takes no relation", n.Name)
	}
	if len(t.ColTypes) > 0 {
		unsupported(n.At, "a column definition list is not supported")
	}
	alias := t.Alias
	if alias == "" {
		alias = n.Name
	}
	lat := fb.lateralFrame(left)
	x := &exprBinder{b: fb.b, f: lat, ctes: fb.ctes, clause: "functions in FROM", subqueries: false}
	if lat == nil {
		x.f = &frame{scope: &scope{}, parent: fb.parent}
	} else {
		// The arguments are bound as if in a query of their own beneath the items to the left.
		x.f = &frame{scope: &scope{}, parent: lat}
	}
	if n.Over != nil {
		failAt(n.At, sqlerr.WindowingError, "window functions are not allowed in functions in FROM")
	}
	if class, ok := classOf(n.Name); ok && class == fn.Aggregate {
		failAt(n.At, sqlerr.GroupingError, "aggregate functions are not allowed in functions in FROM")
	}
	p := fb.functionNode(x, t, alias)
	p.lateral = lat
	return p
}

func (fb *fromBinder) functionNode(x *exprBinder, t *ast.FuncRef, alias string) *fromPart {
	n := t.Call
	if p := fb.userRows(x, t, alias); p != nil {
		return p
	}
	if class, ok := classOf(n.Name); !ok || class != fn.Set {
		e := x.value(n)
		exprs, names := []plan.Expr{e}, []string{n.Name}
		if t.Alias != "" {
			names[0] = t.Alias
		}
		if t.Ordinality {
			exprs, names = append(exprs, &plan.Const{Val: types.IntDatum(1), Typ: int8Type}), append(names, "ordinality")
		}
		p := fb.named(newProject(newOne(), exprs, names), alias, "", t.Columns, nil, n.At)
		p.scope.sources[0].isFunc = !t.Ordinality
		return p
	}
	x.onlyAggregate(n)
	args, _ := x.bindList(n.Args)
	var c *plan.Call
	if n.Name == "unnest" && len(args) > 1 {
		var calls []*plan.Call
		for _, a := range args {
			calls = append(calls, x.b.call(n.Name, []plan.Expr{a}, n.At, fn.Set))
		}
		c = rowsFrom(calls)
	} else {
		c = x.b.call(n.Name, args, n.At, fn.Set)
	}
	name := c.Fn.Name
	if t.Alias != "" && c.Fn.OutCols == nil {
		name = t.Alias
	}
	p := fb.named(newTableFunc(nil, c, name, t.Ordinality), alias, "", t.Columns, nil, n.At)
	p.scope.sources[0].isFunc = c.Fn.OutCols == nil && !t.Ordinality
	return p
}

// tumbleHop is TUMBLE(t, ts, size) or HOP(t, ts, slide, size): the relation's columns, window_start and window_end.
func (fb *fromBinder) tumbleHop(t *ast.FuncRef) *fromPart {
	n := t.Call
	arg := t.Tables[""]
	want := map[string]int{"tumble": 2, "hop": 3}[n.Name]
	if arg == nil || len(n.Args) != want && len(n.Args) != want+1 {
		fail(sqlerr.New(sqlerr.UndefinedFunction, "wrong arguments of %s", n.Name).
			WithHint("It is TUMBLE(relation, time, size) or HOP(relation, time, slide, size).").At(int(n.At)))
	}
	var in *fromPart
	alias := t.Alias
	if arg.Query != nil {
		in = fb.subquery(&ast.SubqueryRef{Query: arg.Query, Alias: alias, At: n.At}, nil)
	} else {
		in = fb.table(&ast.TableRef{Name: arg.Name})
		if alias == "" {
			alias = arg.Name.Name
		}
	}
	f := &frame{scope: in.scope, parent: fb.parent}
	x := &exprBinder{b: fb.b, f: f, ctes: fb.ctes, clause: n.Name, windows: true}
	w := &eventWindow{time: x.eventTime(n.Args[0], n.Name), pos: int(n.At)}
	w.typ = types.WindowOf(w.time.Type().Kind)
	sizes := append([]ast.Expr{}, n.Args[1:]...)
	if n.Name == "hop" {
		sizes[0], sizes[1] = sizes[1], sizes[0]
	} else if len(sizes) == 2 {
		sizes = []ast.Expr{sizes[0], sizes[0], sizes[1]}
	}
	x.windowSizes(w, sizes, n.At)
	win := newWindow(in.node, w, "window")
	k := width(in.node)
	col := colOf(win, k)
	var exprs []plan.Expr
	var names []string
	for i, c := range columns(in.node) {
		if in.scope.sources[0].cols[i].hidden {
			continue
		}
		exprs = append(exprs, colOf(win, i))
		names = append(names, c.Name)
	}
	exprs = append(exprs, &plan.WindowField{X: col}, &plan.WindowField{X: col, End: true})
	names = append(names, "window_start", "window_end")
	return fb.named(newProject(win, exprs, names), alias, "", t.Columns, nil, n.At)
}
