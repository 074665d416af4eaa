package planner_test

import (
	"fmt"
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// dmlText plans a statement that writes and shows the plan.
func dmlText(s ast.Stmt, o planner.Options) (string, error) {
	var sb strings.Builder
	switch x := s.(type) {
	case *ast.Insert:
		p, err := planner.PlanInsert(x, o)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&sb, "Insert into %s\n", p.Rel.Name)
		insertText(&sb, p)
	case *ast.Update:
		p, err := planner.PlanUpdate(x, o)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&sb, "Update %s, columns %v, returning %d\n%s\n", p.Rel.Name, p.Changed, len(p.ReturningCols), planner.Explain(p.Query, false))
	case *ast.Delete:
		p, err := planner.PlanDelete(x, o)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&sb, "Delete from %s, returning %d\n%s\n", p.Rel.Name, len(p.ReturningCols), planner.Explain(p.Query, false))
	default:
		return "", fmt.Errorf("unexpected statement %T", s)
	}
	return sb.String(), nil
}

func insertText(sb *strings.Builder, p *planner.InsertPlan) {
	var cols []plan.Column
	for _, c := range p.Rel.Columns {
		cols = append(cols, plan.Column{Name: c.Name, Type: c.Type})
	}
	if p.Rows != nil {
		for i := 0; i < p.Rows.N; i++ {
			var cells []string
			for _, v := range p.Rows.Cols {
				if v.IsNull(i) {
					cells = append(cells, "NULL")
				} else {
					cells = append(cells, types.Format(v.Type, v.Datum(i), types.DefaultEnv()))
				}
			}
			fmt.Fprintf(sb, "  row (%s)\n", strings.Join(cells, ", "))
		}
	}
	for _, f := range p.Fill {
		fmt.Fprintf(sb, "  fill %s = %s\n", p.Rel.Columns[f.Col].Name, planner.ExprText(f.Expr, nil))
	}
	for _, row := range p.RowExprs {
		var cells []string
		for _, e := range row {
			cells = append(cells, planner.ExprText(e, nil))
		}
		fmt.Fprintf(sb, "  row of expressions (%s)\n", strings.Join(cells, ", "))
	}
	if p.Source != nil {
		fmt.Fprintf(sb, "%s\n", planner.Explain(p.Source, false))
	}
	if c := p.OnConflict; c != nil {
		fmt.Fprintf(sb, "  on conflict %v\n", c.Columns)
		both := append([]plan.Column{}, cols...)
		for _, x := range cols {
			both = append(both, plan.Column{Name: "excluded." + x.Name, Type: x.Type})
		}
		for _, s := range c.Set {
			fmt.Fprintf(sb, "    set %s = %s\n", p.Rel.Columns[s.Col].Name, planner.ExprText(s.Expr, both))
		}
		if c.Where != nil {
			fmt.Fprintf(sb, "    where %s\n", planner.ExprText(c.Where, both))
		}
	}
	for _, c := range p.Checks {
		fmt.Fprintf(sb, "  check %s: %s\n", c.Name, planner.ExprText(c.Expr, cols))
	}
	if p.Returning != nil {
		for i, e := range p.Returning.Exprs {
			fmt.Fprintf(sb, "  returning %s AS %s\n", planner.ExprText(e, cols), p.Returning.Columns[i].Name)
		}
	}
}
