package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// InsertPlan is a bound INSERT. Its rows come from exactly one of Rows, RowExprs and Source, and have all columns of Rel
// in order. A hidden row id is NULL in them: the engine numbers rows.
type InsertPlan struct {
	Rel *catalog.Relation
	// Rows are the rows of a VALUES list of constants. Columns that Fill names are NULL in it and to be computed.
	Rows *batch.Batch
	// Fill are the columns that the statement does not name and whose default is not a constant: Expr, without columns, is
	// to be evaluated for every row.
	Fill []ColumnExpr
	// RowExprs are the rows of a VALUES list that has other expressions, without columns.
	RowExprs [][]plan.Expr
	// Source gives the rows of INSERT ... SELECT.
	Source     *plan.Query
	OnConflict *Conflict
	Returning  *Returning // over the row as it was stored
	Checks     []Check
	Params     []types.Type
	// Reads are the relations that Source reads.
	Reads []*catalog.Relation
}

// ColumnExpr computes a column of the target.
type ColumnExpr struct {
	Col  int
	Expr plan.Expr
}

// Conflict is ON CONFLICT.
type Conflict struct {
	// Columns is the key whose conflicts count: one of the relation's keys; nil for any.
	Columns []int
	// Set are the columns that DO UPDATE changes, over the existing row's columns, then those of the row proposed for
	// insertion; nil for DO NOTHING.
	Set []ColumnExpr
	// Where, over the same columns, if not nil, must hold for the update to be done.
	Where plan.Expr
}

// Returning is a RETURNING list.
type Returning struct {
	Exprs   []plan.Expr
	Columns []plan.Column
}

// Check is a CHECK constraint over the relation's columns. A row breaks it where it is false.
type Check struct {
	Name string
	Expr plan.Expr
}

// UpdatePlan is a bound UPDATE. Query gives a row for each row to be changed, once: the columns of the old row, those of
// the new one, and then the RETURNING list, ReturningCols.
type UpdatePlan struct {
	Rel           *catalog.Relation
	Query         *plan.Query
	ReturningCols []plan.Column // nil for none
	Checks        []Check
	// Changed are the columns that SET names.
	Changed []int
}

// DeletePlan is a bound DELETE. Query gives the columns of each row to be deleted, once, then the RETURNING list.
type DeletePlan struct {
	Rel           *catalog.Relation
	Query         *plan.Query
	ReturningCols []plan.Column
}

// target finds the relation that a statement writes; verb is "insert into", "update" or "delete from".
func (b *binder) target(n ast.Name, verb string) *catalog.Relation {
	r, err := b.o.Catalog.Lookup(n.Schema, n.Name, b.o.SearchPath)
	must(err, n.Pos)
	b.noteDependency(r)
	switch r.Kind {
	case catalog.Table:
		return r
	case catalog.Stream:
		if verb == "insert into" {
			return r
		}
		fail(sqlerr.New(sqlerr.WrongObjectType, "cannot %s stream %q", verb, r.Name).
			WithDetail("A stream is append-only.").WithHint("Use a table for rows that change.").At(int(n.Pos)))
	case catalog.MatView:
		failAt(n.Pos, sqlerr.WrongObjectType, "cannot change materialized view %q", r.Name)
	case catalog.System:
		failAt(n.Pos, sqlerr.InsufficientPrivilege, "permission denied: %q is a system relation", r.Name)
	case catalog.Index:
		failAt(n.Pos, sqlerr.WrongObjectType, "cannot open relation %q", r.Name)
	}
	failAt(n.Pos, sqlerr.FeatureNotSupported, "cannot %s view %q", verb, r.Name)
	return nil
}

// targetColumn finds a column that a statement names as one to be written.
func targetColumn(r *catalog.Relation, name string, pos ast.Pos) int {
	i := r.ColumnIndex(name)
	if i < 0 || r.Columns[i].Hidden {
		failAt(pos, sqlerr.UndefinedColumn, "column %q of relation %q does not exist", name, r.Name)
	}
	return i
}

// defaultOf gives the default of a column as an expression, NULL where there is none.
func (b *binder) defaultOf(r *catalog.Relation, i int) plan.Expr {
	c := r.Columns[i]
	if c.Default == "" {
		return &plan.Const{Val: types.NullDatum, Typ: c.Type}
	}
	e := b.storedExpr(c.Default)
	return fold(b.defaultExpr(e, c.Name, c.Type))
}

// storedExpr parses an expression that the catalog keeps as text. Positions in it mean nothing to the statement.
func (b *binder) storedExpr(sql string) ast.Expr {
	e, err := parseScalar(sql)
	if err != nil {
		fail(sqlerr.New(sqlerr.InternalError, "stored expression can't be parsed: %s", sql).WithCause(err))
	}
	return e
}

// checks binds the CHECK constraints of a relation.
func (b *binder) checks(r *catalog.Relation) []Check {
	var out []Check
	for _, c := range r.Checks {
		out = append(out, Check{Name: c.Name, Expr: fold(b.checkExpr(r, b.storedExpr(c.Expr)))})
	}
	return out
}

// PlanInsert binds an INSERT.
func PlanInsert(s *ast.Insert, o Options) (p *InsertPlan, err error) {
	defer recoverBind(&err)
	b := newBinder(o)
	unused := b.statementWith(s.With)
	r := b.target(s.Table, "insert into")
	p = &InsertPlan{Rel: r, Checks: b.checks(r)}
	cols := insertColumns(r, s)
	switch {
	case s.Rows != nil:
		b.insertRows(p, s, cols)
	case s.Query != nil:
		b.insertQuery(p, s, cols)
	default:
		b.insertRows(p, &ast.Insert{Rows: [][]ast.Expr{{}}}, nil)
	}
	if s.OnConflict != nil {
		p.OnConflict = b.conflict(r, s)
	}
	alias := s.Alias
	if alias == "" {
		alias = r.Name
	}
	p.Returning = b.returning(s.Returning, relationFrame(r, alias))
	p.Params = b.paramTypes()
	p.Reads = b.reads
	if p.Source != nil {
		p.Source.Params = p.Params
	}
	unused()
	return p, nil
}

// insertColumns gives the target columns, in the order of the values.
func insertColumns(r *catalog.Relation, s *ast.Insert) []int {
	var out []int
	if s.Columns == nil {
		for i, c := range r.Columns {
			if !c.Hidden {
				out = append(out, i)
			}
		}
		return out
	}
	seen := make([]bool, len(r.Columns))
	for k, name := range s.Columns {
		pos := ast.Pos(-1)
		if k < len(s.ColumnPos) {
			pos = s.ColumnPos[k]
		}
		i := targetColumn(r, name, pos)
		if seen[i] {
			failAt(pos, sqlerr.DuplicateColumn, "column %q specified more than once", name)
		}
		seen[i] = true
		out = append(out, i)
	}
	return out
}

// checkCount compares the number of values with that of the target columns. Without a column list there may be fewer.
func checkCount(values, targets int, listed bool, pos ast.Pos) {
	switch {
	case values > targets:
		failAt(pos, sqlerr.SyntaxError, "INSERT has more expressions than target columns")
	case values < targets && listed:
		failAt(pos, sqlerr.SyntaxError, "INSERT has more target columns than expressions")
	}
}

// insertQuery plans INSERT ... SELECT: the query's columns are put in their places among the relation's.
func (b *binder) insertQuery(p *InsertPlan, s *ast.Insert, cols []int) {
	r := p.Rel
	q := b.query(s.Query, nil, b.ctes)
	k := q.visible
	pos := firstPos(q.pos, s.Query.At)
	checkCount(k, len(cols), s.Columns != nil, pos)
	cols = cols[:k]
	x := &exprBinder{b: b}
	n := truncate(q.node, k)
	ts := plan.Types(n)
	for i, c := range cols {
		if isUnknown(ts[i]) {
			// Literals of the select list are read as the column's type.
			ts[i] = r.Columns[c].Type
		}
	}
	n = b.castColumns(n, ts, fn.Assignment, q.pos)
	exprs := make([]plan.Expr, len(r.Columns))
	names := make([]string, len(r.Columns))
	for i, c := range cols {
		col := r.Columns[c]
		exprs[c] = x.assign(colOf(n, i), col.Type, col.Name, "expression", posAt(q.pos, i))
	}
	for i := range exprs {
		names[i] = r.Columns[i].Name
		if exprs[i] == nil {
			exprs[i] = b.defaultOf(r, i)
		}
	}
	p.Source = b.finishQuery(newProject(n, exprs, names))
}

// conflict binds ON CONFLICT.
func (b *binder) conflict(r *catalog.Relation, s *ast.Insert) *Conflict {
	a := s.OnConflict
	if r.Kind == catalog.Stream {
		unsupported(a.At, "ON CONFLICT is not supported on streams: they have no keys")
	}
	c := &Conflict{Columns: b.arbiter(r, a)}
	if a.Set == nil {
		return c
	}
	if c.Columns == nil {
		fail(sqlerr.New(sqlerr.SyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name").
			WithHint("For example, ON CONFLICT (column_name).").At(int(a.At)))
	}
	alias := s.Alias
	if alias == "" {
		alias = r.Name
	}
	old := relationFrame(r, alias).scope
	excluded := relationFrame(r, "excluded").scope
	excluded.shift(len(r.Columns))
	f := &frame{scope: old.join(excluded)}
	x := &exprBinder{b: b, f: f, clause: "ON CONFLICT"}
	c.Set = x.setList(r, a.Set)
	if a.Where != nil {
		x.clause = "WHERE"
		c.Where = fold(x.condition(a.Where))
	}
	return c
}

// arbiter finds the key that ON CONFLICT names.
func (b *binder) arbiter(r *catalog.Relation, a *ast.OnConflict) []int {
	if a.Constraint != "" {
		for _, k := range r.Keys() {
			if a.Constraint == k.Name {
				return k.Cols
			}
		}
		failAt(-1, sqlerr.UndefinedObject, "constraint %q for table %q does not exist", a.Constraint, r.Name)
	}
	if a.Columns == nil {
		return nil
	}
	var cols []int
	for _, name := range a.Columns {
		i := r.ColumnIndex(name)
		if i < 0 || r.Columns[i].Hidden {
			relationFrame(r, r.Name).noColumn(name, a.At)
		}
		cols = append(cols, i)
	}
	keys := append([][]int{}, r.Unique...)
	if !r.HiddenKey {
		keys = append(keys, r.PrimaryKey)
	}
	for _, k := range keys {
		if len(union(k, cols)) == len(k) && len(union(cols, k)) == len(k) && len(k) > 0 {
			return k
		}
	}
	failAt(-1, sqlerr.InvalidColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	return nil
}

// setList binds the assignments of UPDATE or DO UPDATE.
func (x *exprBinder) setList(r *catalog.Relation, items []ast.SetItem) []ColumnExpr {
	var out []ColumnExpr
	set := func(name string, e ast.Expr, pos ast.Pos) {
		i := targetColumn(r, name, pos)
		if _, isDefault := e.(*ast.Default); isDefault {
			out = appendSet(r, out, ColumnExpr{i, x.b.defaultOf(r, i)})
			return
		}
		col := r.Columns[i]
		out = appendSet(r, out, ColumnExpr{i, x.assign(x.bind(e), col.Type, col.Name, "expression", e.Position())})
	}
	for _, it := range items {
		if len(it.Cols) == 1 {
			set(it.Cols[0], it.X, it.At)
			continue
		}
		row, ok := it.X.(*ast.Row)
		if !ok {
			for _, c := range x.setFromQuery(r, it) {
				out = appendSet(r, out, c)
			}
			continue
		}
		if len(row.Args) != len(it.Cols) {
			failAt(it.X.Position(), sqlerr.SyntaxError, "number of columns does not match number of values")
		}
		for i, name := range it.Cols {
			set(name, row.Args[i], it.At)
		}
	}
	return out
}

// appendSet adds an assignment to a column that has none yet.
func appendSet(r *catalog.Relation, out []ColumnExpr, c ColumnExpr) []ColumnExpr {
	for _, o := range out {
		if o.Col == c.Col {
			failAt(-1, sqlerr.SyntaxError, "multiple assignments to same column %q", r.Columns[c.Col].Name)
		}
	}
	return append(out, c)
}

// setFromQuery binds (a, b) = (SELECT x, y ...): a scalar subquery for each column.
func (x *exprBinder) setFromQuery(r *catalog.Relation, it ast.SetItem) []ColumnExpr {
	q, ok := it.X.(*ast.Subquery)
	if !ok {
		failAt(it.X.Position(), sqlerr.FeatureNotSupported, "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
	}
	root := x.bindSub(q.Query, q.At)
	if width(root) != len(it.Cols) {
		failAt(it.X.Position(), sqlerr.SyntaxError, "number of columns does not match number of values")
	}
	var out []ColumnExpr
	for i, name := range it.Cols {
		c := targetColumn(r, name, it.At)
		own := clone(root)
		one := newProject(own, []plan.Expr{colOf(own, i)}, nil)
		s := &subquery{kind: subqScalar, root: one, typ: columns(one)[0].Type, pos: int(q.At)}
		col := r.Columns[c]
		out = append(out, ColumnExpr{c, x.assign(s, col.Type, col.Name, "expression", q.At)})
	}
	return out
}

// returning binds a RETURNING list over a frame without aggregates; nil for none.
func (b *binder) returning(items []ast.SelectItem, f *frame) *Returning {
	if len(items) == 0 {
		return nil
	}
	blk := &block{b: b, f: f, sel: &ast.Select{}}
	f.block = blk
	x := &exprBinder{b: b, f: f, clause: "RETURNING"}
	for _, it := range items {
		if blk.addStar(x, it.X) {
			continue
		}
		name := it.Alias
		if name == "" {
			name = columnName(it.X)
		}
		blk.addItem(x.value(it.X), name, it.X)
	}
	out := &Returning{}
	for i, e := range blk.items {
		e = fold(e)
		out.Exprs = append(out.Exprs, e)
		out.Columns = append(out.Columns, plan.Column{Name: blk.names[i], Type: e.Type()})
	}
	return out
}

// PlanUpdate binds an UPDATE.
func PlanUpdate(s *ast.Update, o Options) (p *UpdatePlan, err error) {
	defer recoverBind(&err)
	b := newBinder(o)
	unused := b.statementWith(s.With)
	r := b.target(s.Table, "update")
	p = &UpdatePlan{Rel: r, Checks: b.checks(r)}
	blk := b.targetBlock(r, s.Table, s.Alias, s.From)
	blk.sel.Where = s.Where
	blk.where()
	x := blk.binder("UPDATE")
	k := len(r.Columns)
	exprs := append(firstCols(blk.node, k), firstCols(blk.node, k)...)
	for _, c := range x.setList(r, s.Set) {
		exprs[k+c.Col] = c.Expr
		p.Changed = append(p.Changed, c.Col)
	}
	for i := range exprs {
		blk.node, exprs[i] = b.attach(blk.node, blk.f, exprs[i])
	}
	ret := b.returning(s.Returning, blk.f)
	if ret != nil {
		p.ReturningCols = ret.Columns
		// RETURNING sees the new values of the target's columns.
		see := firstCols(blk.node, width(blk.node))
		copy(see, exprs[k:2*k])
		for _, e := range ret.Exprs {
			exprs = append(exprs, substitute(e, see))
		}
	}
	p.Query = b.targetQuery(blk, r, exprs, len(s.From) > 0)
	unused()
	return p, nil
}

// PlanDelete binds a DELETE.
func PlanDelete(s *ast.Delete, o Options) (p *DeletePlan, err error) {
	defer recoverBind(&err)
	b := newBinder(o)
	unused := b.statementWith(s.With)
	r := b.target(s.Table, "delete from")
	p = &DeletePlan{Rel: r}
	blk := b.targetBlock(r, s.Table, s.Alias, s.Using)
	blk.sel.Where = s.Where
	blk.where()
	exprs := firstCols(blk.node, len(r.Columns))
	if ret := b.returning(s.Returning, blk.f); ret != nil {
		p.ReturningCols = ret.Columns
		exprs = append(exprs, ret.Exprs...)
	}
	p.Query = b.targetQuery(blk, r, exprs, len(s.Using) > 0)
	unused()
	return p, nil
}

// statementWith makes the WITH items of a statement known; the function it gives binds those that nothing used.
func (b *binder) statementWith(w ast.With) func() {
	var unused func()
	b.ctes, unused = b.with(&ast.Query{With: w.Items, Recursive: w.Recursive}, nil, nil)
	return unused
}

// targetBlock reads the target of UPDATE or DELETE, all its columns first, joined with the further FROM items.
func (b *binder) targetBlock(r *catalog.Relation, name ast.Name, alias string, from []ast.TableExpr) *block {
	blk := &block{b: b, sel: &ast.Select{}, ctes: b.ctes}
	blk.f = &frame{block: blk}
	fb := &fromBinder{b: b, ctes: b.ctes}
	part := fb.table(&ast.TableRef{Name: name, Alias: alias})
	for _, it := range from {
		part = fb.combine(plan.Inner, part, fb.item(it, part), nil)
	}
	blk.node, blk.f.scope = part.node, part.scope
	return blk
}

// targetQuery makes the plan; with further FROM items a target row that matches several of their rows counts once.
func (b *binder) targetQuery(blk *block, r *catalog.Relation, exprs []plan.Expr, joined bool) *plan.Query {
	var n plan.Node = newProject(blk.node, exprs, nil)
	if joined {
		var key []plan.Expr
		for _, c := range r.PrimaryKey {
			key = append(key, colOf(n, c))
		}
		n = newTopN(n, key, nil, 1, 0)
	}
	return b.finishQuery(n)
}
