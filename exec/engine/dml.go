package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

func (s *sess) planDML(p *prepared, o planner.Options) error { return sqlerr.Unsupported("DML") }

func (s *sess) executeDML(ctx context.Context, p *prepared, params []types.Datum) (session.Result, error) {
	return nil, sqlerr.Unsupported("DML")
}

func (s *sess) truncate(ctx context.Context, x *ast.Truncate) (session.Result, error) {
	return nil, sqlerr.Unsupported("TRUNCATE")
}

func (s *sess) newInserter(rel *catalog.Relation, cols []int) (*inserter, error) {
	checks, err := newConstraints(rel, s.plannerOptions(s.catalog()))
	if err != nil {
		return nil, err
	}
	in := &inserter{s: s, rel: rel, cols: cols, from: make([]int, len(rel.Columns)), checks: checks}
	for i := range in.from {
		in.from[i] = -1
	}
	for k, c := range cols {
		in.from[c] = k
	}
	return in, nil
}

func (in *inserter) fillDefault(v *batch.Vector, c int, n int) error {
	for range n {
		v.AppendNull()
	}
	return nil
}
