package planner

import (
	"strconv"

	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

func parseScalar(sql string) (ast.Expr, error) { return parser.ParseExpr(sql) }

// insertRows binds a VALUES list. A list of constants goes straight into vectors, without an expression for each cell.
func (b *binder) insertRows(p *InsertPlan, s *ast.Insert, cols []int) {
	k := len(s.Rows[0])
	for _, row := range s.Rows {
		if len(row) != k {
			failAt(rowPos(row), sqlerr.SyntaxError, "VALUES lists must all be the same length")
		}
	}
	at := ast.Pos(-1)
	if k > len(cols) {
		at = loc(s.Rows[0][len(cols)])
	} else if k < len(cols) && s.Columns != nil && k < len(s.ColumnPos) {
		at = s.ColumnPos[k]
	}
	checkCount(k, len(cols), s.Columns != nil, at)
	cols = cols[:k]
	defaults := b.defaults(p, cols)
	if rows, ok := b.constantRows(p, s.Rows, cols, defaults); ok {
		p.Rows = rows
		return
	}
	p.Fill = nil
	x := &exprBinder{b: b, f: &frame{scope: &scope{}}, ctes: b.ctes, clause: "VALUES", subqueries: true}
	v := &plan.Values{}
	for _, c := range p.Rel.Columns {
		v.P.Columns = append(v.P.Columns, plan.Column{Name: c.Name, Type: c.Type})
	}
	for _, row := range s.Rows {
		out := append([]plan.Expr{}, defaults...)
		for i, c := range cols {
			out[c] = x.cell(p, row[i], c)
		}
		v.Rows = append(v.Rows, out)
	}
	if n := b.attachRows(v, x.f); n != plan.Node(v) {
		p.Source = b.finishQuery(n)
		return
	}
	p.RowExprs = v.Rows
}

func rowPos(row []ast.Expr) ast.Pos {
	if len(row) == 0 {
		return -1
	}
	return loc(row[0])
}

// defaults gives the defaults of all columns, and notes as Fill those of unnamed columns that are not constants.
func (b *binder) defaults(p *InsertPlan, cols []int) []plan.Expr {
	named := make([]bool, len(p.Rel.Columns))
	for _, c := range cols {
		named[c] = true
	}
	out := make([]plan.Expr, len(p.Rel.Columns))
	for i := range out {
		if named[i] {
			continue
		}
		out[i] = b.defaultOf(p.Rel, i)
		if _, ok := out[i].(*plan.Const); !ok {
			p.Fill = append(p.Fill, ColumnExpr{i, out[i]})
		}
	}
	return out
}

// cell binds one value for column c.
func (x *exprBinder) cell(p *InsertPlan, e ast.Expr, c int) plan.Expr {
	if _, ok := e.(*ast.Default); ok {
		return x.b.defaultOf(p.Rel, c)
	}
	col := p.Rel.Columns[c]
	return fold(x.assign(x.bind(e), col.Type, col.Name, "expression", loc(e)))
}

// constantRows fills a batch; ok is false when a cell is not a constant.
func (b *binder) constantRows(p *InsertPlan, rows [][]ast.Expr, cols []int, defaults []plan.Expr) (out *batch.Batch, ok bool) {
	out = &batch.Batch{N: len(rows), Cols: make([]*batch.Vector, len(p.Rel.Columns))}
	for i, e := range defaults {
		if e == nil {
			continue
		}
		d := types.NullDatum
		if c, isConst := e.(*plan.Const); isConst {
			d = c.Val
		}
		out.Cols[i] = batch.Constant(p.Rel.Columns[i].Type, d, len(rows))
	}
	x := &exprBinder{b: b, f: &frame{scope: &scope{}}, clause: "VALUES", subqueries: true}
	for i, c := range cols {
		v := batch.NewVector(p.Rel.Columns[c].Type, len(rows))
		for _, row := range rows {
			if !x.appendCell(p, v, row[i], c) {
				return nil, false
			}
		}
		out.Cols[c] = v
	}
	return out, true
}

// appendCell appends one constant cell of column c; false where it is not a constant.
func (x *exprBinder) appendCell(p *InsertPlan, v *batch.Vector, e ast.Expr, c int) bool {
	neg := false
	k, ok := e.(*ast.Const)
	if u, isUnary := e.(*ast.Unary); isUnary && u.Op == "-" {
		if k, ok = u.X.(*ast.Const); ok {
			neg = k.Kind == ast.NumberConst
			ok = neg
		}
	}
	if ok && x.appendConst(v, k, neg) {
		return true
	}
	switch e.(type) {
	case *ast.Param, *ast.Subquery:
		return false
	}
	b := x.cell(p, e, c)
	if d, isConst := b.(*plan.Const); isConst {
		v.AppendDatum(d.Val)
		return true
	}
	return false
}

// appendConst appends a literal of a form that its column reads directly; false sends it the general way.
func (x *exprBinder) appendConst(v *batch.Vector, k *ast.Const, neg bool) bool {
	switch k.Kind {
	case ast.NullConst:
		v.AppendNull()
		return true
	case ast.BoolConst:
		if v.Type.Kind != types.Bool {
			return false
		}
		v.AppendDatum(types.BoolDatum(k.Text == "true"))
		return true
	case ast.NumberConst:
		return x.appendNumber(v, k, neg)
	case ast.StringConst:
		switch t := v.Type; {
		case t.Kind == types.Text || t.Kind == types.Varchar && t.Mod == 0:
			v.AppendString(k.Text)
		case t.Kind == types.Regclass:
			return false
		default:
			d, err := types.Parse(t, k.Text, x.b.o.Env)
			must(err, k.At)
			v.AppendDatum(d)
		}
		return true
	}
	return false
}

// appendNumber reads digits into a numeric column, with the range of the column's type.
func (x *exprBinder) appendNumber(v *batch.Vector, k *ast.Const, neg bool) bool {
	switch v.Type.Kind {
	case types.Int2, types.Int4, types.Int8:
		i, ok := parseInt(k.Text)
		if !ok {
			return false
		}
		if neg {
			i = -i
		}
		if v.Type.Kind == types.Int4 && int64(int32(i)) != i || v.Type.Kind == types.Int2 && int64(int16(i)) != i {
			return false // the general way raises PostgreSQL's error
		}
		v.AppendInt(i)
		return true
	case types.Float8:
		f, err := strconv.ParseFloat(k.Text, 64)
		if err != nil {
			return false
		}
		if neg {
			f = -f
		}
		v.AppendFloat(f)
		return true
	case types.Numeric:
		text := k.Text
		if neg {
			text = "-" + text
		}
		d, err := types.Parse(v.Type, text, x.b.o.Env)
		must(err, k.At)
		v.AppendDatum(d)
		return true
	}
	return false
}
