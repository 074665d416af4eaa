package planner

import (
	"sort"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// BindRelation makes the relation that CREATE STREAM or CREATE TABLE describes, without OID and schema. Column types,
// defaults, constraints and the watermark are checked. A table without a primary key gets a hidden row id, last.
func BindRelation(c *ast.CreateRelation, o Options) (r *catalog.Relation, err error) {
	defer recoverBind(&err)
	b := newBinder(o)
	r = &catalog.Relation{Schema: c.Name.Schema, Name: c.Name.Name, Kind: catalog.Table, Options: map[string]string{}}
	if c.Stream {
		r.Kind = catalog.Stream
	}
	for _, opt := range c.Options {
		r.Options[opt.Name] = opt.Value
	}
	b.relationColumns(r, c)
	b.constraints(r, c)
	// PostgreSQL tests them by name.
	sort.SliceStable(r.Checks, func(i, j int) bool { return r.Checks[i].Name < r.Checks[j].Name })
	if r.Kind == catalog.Table && r.PrimaryKey == nil {
		r.PrimaryKey, r.HiddenKey = []int{len(r.Columns)}, true
		r.Columns = append(r.Columns, catalog.Column{Name: catalogRowID, Type: int8Type, NotNull: true, Hidden: true})
	}
	if c.Watermark != nil {
		if r.Kind != catalog.Stream {
			unsupported(c.Watermark.At, "a table can't have a watermark: its rows can change")
		}
		r.Watermark = b.watermark(c.Watermark, r.Columns)
	}
	return r, nil
}

func (b *binder) relationColumns(r *catalog.Relation, c *ast.CreateRelation) {
	for _, d := range c.Columns {
		if r.ColumnIndex(d.Name) >= 0 {
			failAt(d.At, sqlerr.DuplicateColumn, "column %q specified more than once", d.Name)
		}
		if systemColumn[d.Name] {
			failAt(d.At, sqlerr.DuplicateColumn, "column name %q conflicts with a system column name", d.Name)
		}
		t := resolveType(d.Type)
		if t.Kind >= types.Record && t.Kind != types.Int2Vector || t.Kind == types.Unknown || t.Kind == types.Window {
			failAt(d.At, sqlerr.InvalidTableDefinition, "column %q has pseudo-type %s", d.Name, t)
		}
		r.Columns = append(r.Columns, catalog.Column{Name: d.Name, Type: t, NotNull: d.NotNull, Default: d.DefaultSQL})
		if d.Default != nil {
			b.defaultExpr(d.Default, d.Name, t)
			if c, ok := d.Default.(*ast.Const); ok && c.Kind == ast.NullConst {
				r.Columns[len(r.Columns)-1].Default = "" // as in PostgreSQL, the same as none
			}
		}
		i := len(r.Columns) - 1
		if d.PrimaryKey {
			b.primaryKey(r, []int{i}, d.KeyNames.Primary, d.At)
		}
		if d.Unique {
			addUnique(r, []int{i}, d.KeyNames.Unique)
		}
	}
	for _, d := range c.Columns {
		if d.Check != nil {
			b.check(r, d.KeyNames.Check, d.Check, d.CheckSQL)
		}
	}
}

// systemColumn are the names that PostgreSQL keeps for itself, and ours.
var systemColumn = map[string]bool{"tableoid": true, "xmin": true, "cmin": true, "xmax": true, "cmax": true, "ctid": true, catalogRowID: true}

// defaultExpr binds the default of a column.
func (b *binder) defaultExpr(e ast.Expr, name string, t types.Type) plan.Expr {
	x := &exprBinder{b: b, clause: "DEFAULT"}
	return x.assign(x.bind(e), t, name, "default expression", e.Position())
}

// assign brings a value to the type of a column, where an assignment allows it.
func (x *exprBinder) assign(e plan.Expr, t types.Type, column, what string, pos ast.Pos) plan.Expr {
	if from := e.Type(); !isUnknown(from) && !fn.CanCast(from, t, fn.Assignment) {
		fail(sqlerr.New(sqlerr.DatatypeMismatch, "column %q is of type %s but %s is of type %s", column, t.NoMod(), what, from.NoMod()).
			WithHint("You will need to rewrite or cast the expression.").At(int(pos)))
	}
	return x.b.cast(e, t, fn.Assignment, pos)
}

func (b *binder) constraints(r *catalog.Relation, c *ast.CreateRelation) {
	for _, k := range c.Constraints {
		cols := make([]int, len(k.Columns))
		for i, name := range k.Columns {
			if cols[i] = r.ColumnIndex(name); cols[i] < 0 {
				failAt(k.At, sqlerr.UndefinedColumn, "column %q named in key does not exist", name)
			}
			for _, other := range cols[:i] {
				if other == cols[i] {
					word := "primary key"
					if k.Kind == "unique" {
						word = "unique"
					}
					failAt(k.At, sqlerr.DuplicateColumn, "column %q appears twice in %s constraint", name, word)
				}
			}
		}
		switch k.Kind {
		case "primary key":
			b.primaryKey(r, cols, k.Name, k.At)
		case "unique":
			addUnique(r, cols, k.Name)
		case "check":
			b.check(r, k.Name, k.Check, k.CheckSQL)
		default:
			unsupported(k.At, "%s constraints are not supported", k.Kind)
		}
	}
	if r.Kind == catalog.Stream && (r.PrimaryKey != nil || len(r.Unique) > 0) {
		fail(sqlerr.Unsupported("primary key and unique constraints are not supported on streams").
			WithHint("A stream keeps every row that arrives; use a table, or DISTINCT ON in a view."))
	}
}

// addUnique adds a unique constraint; name is empty where the statement gives none.
func addUnique(r *catalog.Relation, cols []int, name string) {
	r.Unique = append(r.Unique, cols)
	r.KeyNames.Unique = append(r.KeyNames.Unique, name)
}

func (b *binder) primaryKey(r *catalog.Relation, cols []int, name string, pos ast.Pos) {
	if r.PrimaryKey != nil {
		failAt(pos, sqlerr.InvalidTableDefinition, "multiple primary keys for table %q are not allowed", r.Name)
	}
	r.PrimaryKey, r.KeyNames.Primary = cols, name
	for _, i := range cols {
		r.Columns[i].NotNull = true
		b.groupable(&plan.Col{Typ: r.Columns[i].Type}, pos)
	}
}

// check binds a CHECK constraint and names it as PostgreSQL does.
func (b *binder) check(r *catalog.Relation, name string, e ast.Expr, sql string) {
	used := map[string]bool{}
	walk(b.checkExpr(r, e), func(x plan.Expr) {
		if c, ok := x.(*plan.Col); ok {
			used[c.Name] = true
		}
	})
	if name == "" {
		base := r.Name + "_check"
		if len(used) == 1 {
			for column := range used {
				base = r.Name + "_" + column + "_check"
			}
		}
		name = base
		for i := 1; hasCheck(r, name); i++ {
			name = base + itoa(i)
		}
	} else if hasCheck(r, name) {
		fail(sqlerr.New(sqlerr.DuplicateObject, "constraint %q for relation %q already exists", name, r.Name))
	}
	r.Checks = append(r.Checks, catalog.Check{Name: name, Expr: sql})
}

func hasCheck(r *catalog.Relation, name string) bool {
	for _, c := range r.Checks {
		if c.Name == name {
			return true
		}
	}
	return false
}

// checkExpr binds the condition of a CHECK over the columns of a relation.
func (b *binder) checkExpr(r *catalog.Relation, e ast.Expr) plan.Expr {
	x := &exprBinder{b: b, f: relationFrame(r, r.Name), clause: "check constraints"}
	return x.b.boolean(x.bind(e), "CHECK", e.Position())
}

// relationFrame makes the names of a relation's columns visible; column i is Col i.
func relationFrame(r *catalog.Relation, alias string) *frame {
	s := &source{alias: alias, schema: r.Schema, rel: r}
	sc := &scope{sources: []*source{s}}
	for i, c := range r.Columns {
		v := visible{name: c.Name, expr: &plan.Col{Index: i, Typ: c.Type, Name: c.Name}, hidden: c.Hidden}
		s.cols = append(s.cols, v)
		if !c.Hidden {
			sc.vis = append(sc.vis, v)
		}
	}
	return &frame{scope: sc}
}

// watermark checks WATERMARK FOR c AS c - interval.
func (b *binder) watermark(w *ast.WatermarkDef, cols []catalog.Column) *catalog.Watermark {
	out := &catalog.Watermark{Column: -1, Advance: w.Advance}
	for i, c := range cols {
		if c.Name == w.Column {
			out.Column = i
		}
	}
	if out.Column < 0 {
		failAt(w.At, sqlerr.UndefinedColumn, "column %q of the watermark does not exist", w.Column)
	}
	if t := cols[out.Column].Type; !t.Kind.IsTime() {
		failAt(w.At, sqlerr.DatatypeMismatch, "the column of a watermark must be a timestamp, timestamptz or date, but column %q is of type %s", w.Column, t)
	}
	if w.Other != nil {
		pos := w.Other.Position()
		if pos < 0 {
			pos = w.At
		}
		fail(sqlerr.Unsupported("a watermark must be its column minus an interval").
			WithHint("Write WATERMARK FOR %s AS %s - INTERVAL '10 minutes'.", w.Column, w.Column).At(int(pos)))
	}
	out.DelayMicros = b.micros(w.Delay, "delay of a watermark", w.At)
	if out.DelayMicros < 0 {
		failAt(w.At, sqlerr.InvalidParameterValue, "the delay of a watermark (%s) must not be negative", w.Delay)
	}
	if w.Idle != "" {
		out.IdleMicros = b.micros(w.Idle, "idle timeout of a watermark", w.At)
		if out.IdleMicros <= 0 {
			failAt(w.At, sqlerr.InvalidParameterValue, "the idle timeout of a watermark (%s) must be greater than zero", w.Idle)
		}
	}
	return out
}

// BindScalar binds an expression over the given columns (column i is Col i): a default, a check, the argument of EXECUTE.
// Subqueries and aggregates are refused. An expression of unknown type becomes text.
func BindScalar(e ast.Expr, cols []plan.Column, o Options) (out plan.Expr, err error) {
	defer recoverBind(&err)
	b := newBinder(o)
	sc := &scope{}
	s := &source{}
	for i, c := range cols {
		v := visible{name: c.Name, expr: &plan.Col{Index: i, Typ: c.Type, Name: c.Name}}
		s.cols, sc.vis = append(s.cols, v), append(sc.vis, v)
	}
	sc.sources = []*source{s}
	x := &exprBinder{b: b, f: &frame{scope: sc}, clause: "this expression"}
	out = fold(x.value(e))
	b.paramTypes()
	return out, nil
}
