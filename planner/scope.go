package planner

import (
	"slices"
	"strconv"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// visible is a column that an unqualified name or a star can mean.
type visible struct {
	name   string
	expr   plan.Expr // a *plan.Col; for the merged column of a FULL JOIN USING a Coalesce
	hidden bool      // not shown by a star
}

// source is an item of FROM that has a name.
type source struct {
	alias  string
	schema string // of a relation without alias
	cols   []visible
	rel    *catalog.Relation
	isFunc bool // a function in FROM with a single scalar column: its name also means that column
}

// scope is the set of names that a FROM clause makes visible. Column indexes are those of its node.
type scope struct {
	sources []*source
	vis     []visible // in the order of *
	// within are the items of aliased joins, whose names are hidden.
	within []*source
}

// shift moves all columns by n.
func (s *scope) shift(n int) {
	if n == 0 {
		return
	}
	for _, src := range s.sources {
		for i := range src.cols {
			src.cols[i].expr = shiftPriv(src.cols[i].expr, n)
		}
	}
	for i := range s.vis {
		s.vis[i].expr = shiftPriv(s.vis[i].expr, n)
	}
}

func shiftPriv(e plan.Expr, n int) plan.Expr { return plan.ShiftCols(e, n) }

// join gives the scope of both; r is already shifted.
func (s *scope) join(r *scope) *scope {
	for _, a := range s.sources {
		for _, b := range r.sources {
			if a.alias == b.alias && (a.schema == b.schema || a.schema == "" || b.schema == "") {
				fail(sqlerr.New(sqlerr.DuplicateAlias, "table name %q specified more than once", b.alias))
			}
		}
	}
	return &scope{
		sources: append(append([]*source{}, s.sources...), r.sources...),
		vis:     append(append([]visible{}, s.vis...), r.vis...),
		within:  append(append([]*source{}, s.within...), r.within...),
	}
}

// frame is a level of names: the FROM items of a block, or those to the left of a LATERAL item.
type frame struct {
	scope  *scope
	parent *frame
	// window gives names that window() and session_window() calls of the block have: "window", an alias.
	// They are found after the columns of the scope, and before them in clauses behind GROUP BY.
	window func(name string) plan.Expr
	// block is set for the frame of a block; a lateral frame has none.
	block *block
	// unreachable are FROM items to the left that LATERAL would let the query see.
	unreachable []*source
}

// outward turns an expression over the columns of f into one for a subquery beneath it.
func (f *frame) outward(e plan.Expr, pos ast.Pos) plan.Expr {
	return rewrite(e, func(x plan.Expr) plan.Expr {
		if c, ok := x.(*plan.Col); ok {
			return &outerRef{frame: f, idx: c.Index, typ: c.Typ, name: c.Name, row: c.Row, pos: pos}
		}
		return x
	})
}

// find looks an unqualified name up in one frame.
func (f *frame) find(name string, pos ast.Pos) plan.Expr {
	var found plan.Expr
	for _, v := range f.scope.vis {
		if v.name != name {
			continue
		}
		if found != nil && !equal(found, v.expr) {
			failAt(pos, sqlerr.AmbiguousColumn, "column reference %q is ambiguous", name)
		}
		found = v.expr
	}
	if found == nil {
		for _, s := range f.scope.sources {
			for _, v := range s.cols {
				if v.hidden && v.name == name {
					return v.expr
				}
			}
		}
	}
	return found
}

// catalogRowID is the hidden key column of a table without a primary key.
const catalogRowID = "_rowid"

// findSource looks a table name up in one frame.
func (f *frame) findSource(schema, alias string) *source {
	for _, s := range f.scope.sources {
		if s.alias == alias && (schema == "" || s.schema == schema) {
			return s
		}
	}
	return nil
}

// column resolves a column reference, outwards from f.
func (f *frame) column(parts []string, pos ast.Pos) plan.Expr {
	switch len(parts) {
	case 1:
		if e := f.plain(parts[0], pos); e != nil {
			return e
		}
		if e := f.wholeRow("", parts[0], pos); e != nil {
			return e
		}
		f.noColumn(parts[0], pos)
	case 2:
		if e := f.qualified("", parts[0], parts[1], pos); e != nil {
			return e
		}
		if e := f.plain(parts[0], pos); e != nil {
			return field(e, parts[1], pos)
		}
		f.noTable(parts[0], pos)
	case 3:
		if e := f.qualified(parts[0], parts[1], parts[2], pos); e != nil {
			return e
		}
		if e := f.qualified("", parts[0], parts[1], pos); e != nil {
			return field(e, parts[2], pos)
		}
		f.noTable(parts[0]+"."+parts[1], pos)
	default:
		unsupported(pos, "cross-database references are not implemented")
	}
	return nil
}

// plain resolves an unqualified name.
func (f *frame) plain(name string, pos ast.Pos) plan.Expr {
	for g := f; g != nil; g = g.parent {
		var e plan.Expr
		if g.window != nil && g.block.late {
			e = g.window(name)
		}
		if e == nil {
			e = g.find(name, pos)
		}
		if e == nil && g.window != nil {
			e = g.window(name)
		}
		if e != nil {
			return f.from(g, e, pos)
		}
	}
	return nil
}

// from gives an expression over frame g as f sees it.
func (f *frame) from(g *frame, e plan.Expr, pos ast.Pos) plan.Expr {
	if g == f {
		return e
	}
	return g.outward(e, pos)
}

// qualified resolves table.column; nil when there is no such table.
func (f *frame) qualified(schema, table, col string, pos ast.Pos) plan.Expr {
	for g := f; g != nil; g = g.parent {
		s := g.findSource(schema, table)
		if s == nil {
			continue
		}
		for _, v := range s.cols {
			if v.name == col {
				return f.from(g, v.expr, pos)
			}
		}
		if e := g.find(table, pos); e != nil && e.Type().Kind == types.Window {
			return f.from(g, field(e, col, pos), pos)
		}
		fail(f.hint(sqlerr.New(sqlerr.UndefinedColumn, "column %s.%s does not exist", table, col).At(int(pos)), table, col))
	}
	return nil
}

// wholeRow gives a row of all columns of a table, for a name that is a table's.
func (f *frame) wholeRow(schema, table string, pos ast.Pos) plan.Expr {
	for g := f; g != nil; g = g.parent {
		s := g.findSource(schema, table)
		if s == nil {
			continue
		}
		if s.isFunc && len(s.cols) == 1 {
			return f.from(g, s.cols[0].expr, pos)
		}
		row := &plan.RowCtor{}
		for _, v := range s.cols {
			if !v.hidden {
				row.Args, row.Names = append(row.Args, v.expr), append(row.Names, v.name)
			}
		}
		return f.from(g, row, pos)
	}
	return nil
}

// field gives x.name for a window composite.
func field(x plan.Expr, name string, pos ast.Pos) plan.Expr {
	t := x.Type()
	if t.Kind != types.Window {
		if t.Kind == types.Record {
			if e := rowField(x, name); e != nil {
				return e
			}
			failAt(pos, sqlerr.UndefinedColumn, "could not identify column %q in record data type", name)
		}
		failAt(pos, sqlerr.WrongObjectType, "column notation .%s applied to type %s, which is not a composite type", name, t)
	}
	switch name {
	case "start":
		return &plan.WindowField{X: x}
	case "end":
		return &plan.WindowField{X: x, End: true}
	}
	failAt(pos, sqlerr.UndefinedColumn, "column %q not found in data type %s", name, t)
	return nil
}

// rowField gives a field of a row whose fields have names, nil if there is none of that name.
func rowField(x plan.Expr, name string) plan.Expr {
	if i := slices.Index(fieldNames(x), name); i >= 0 {
		return fieldAt(x, i)
	}
	return nil
}

// fieldNames gives the names of a row's fields, nil where they aren't known. Those of ROW(...) are f1, f2, ...
func fieldNames(x plan.Expr) []string {
	switch x := x.(type) {
	case *plan.RowCtor:
		if x.Names != nil {
			return x.Names
		}
		names := make([]string, len(x.Args))
		for i := range names {
			names[i] = "f" + strconv.Itoa(i+1)
		}
		return names
	case *plan.Col, *outerRef:
		if row := rowOf(x); row != nil {
			return row.Names
		}
	}
	return nil
}

// rowOf describes the rows of a column, nil where nothing is known of them.
func rowOf(x plan.Expr) *plan.RowType {
	switch x := x.(type) {
	case *plan.Col:
		return x.Row
	case *outerRef:
		return x.row
	}
	return nil
}

// fieldAt gives a field of a row with fieldNames.
func fieldAt(x plan.Expr, i int) plan.Expr {
	if r, ok := x.(*plan.RowCtor); ok {
		return r.Args[i]
	}
	return &plan.Subscript{X: x, Index: &plan.Const{Val: types.IntDatum(int64(i + 1)), Typ: types.Of(types.Int4)}, Typ: rowOf(x).Types[i]}
}

func (f *frame) noColumn(name string, pos ast.Pos) {
	fail(f.hint(sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", name).At(int(pos)), "", name))
}

func (f *frame) noTable(name string, pos ast.Pos) {
	for g := f; g != nil; g = g.parent {
		for _, s := range g.scope.sources {
			if s.rel != nil && s.rel.Name == name && s.alias != name {
				fail(sqlerr.New(sqlerr.UndefinedTable, "invalid reference to FROM-clause entry for table %q", name).
					WithHint("Perhaps you meant to reference the table alias %q.", s.alias).At(int(pos)))
			}
		}
		for _, s := range append(append([]*source{}, g.unreachable...), g.scope.within...) {
			if s.alias == name {
				fail(sqlerr.New(sqlerr.UndefinedTable, "invalid reference to FROM-clause entry for table %q", name).
					WithHint("There is an entry for table %q, but it cannot be referenced from this part of the query.", name).At(int(pos)))
			}
		}
	}
	fail(sqlerr.New(sqlerr.UndefinedTable, "missing FROM-clause entry for table %q", name).At(int(pos)))
}

// maxFuzzyDistance is how far a name in a hint may be from the one that was written, as in PostgreSQL.
const maxFuzzyDistance = 3

// hint adds PostgreSQL's hint about similar columns: the nearest one, or two that are equally near.
func (f *frame) hint(err *sqlerr.Error, table, col string) *sqlerr.Error {
	limit := maxFuzzyDistance + 1
	var names []string
	for g := f; g != nil; g = g.parent {
		for _, s := range g.scope.sources {
			if table != "" && s.alias != table {
				continue
			}
			for _, v := range s.cols {
				d := distance(col, v.name)
				if v.hidden || d > len(col)/2 || d > limit || d > maxFuzzyDistance {
					continue
				}
				name := `"` + s.alias + "." + v.name + `"`
				switch {
				case d < limit:
					limit, names = d, []string{name}
				case len(names) < 2:
					names = append(names, name)
				default:
					// Too many at this distance: only nearer ones count from here on.
					limit, names = d-1, nil
				}
			}
		}
	}
	switch len(names) {
	case 1:
		err.WithHint("Perhaps you meant to reference the column %s.", names[0])
	case 2:
		err.WithHint("Perhaps you meant to reference the column %s or the column %s.", names[0], names[1])
	}
	return err
}

// distance is the Levenshtein distance of two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			up := row[j]
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(up+1, row[j-1]+1, diag+cost)
			diag = up
		}
	}
	return row[len(b)]
}
