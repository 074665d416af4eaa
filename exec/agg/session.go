package agg

import (
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

func newSession(n *plan.Aggregate, in []types.Type, prog *program, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	return nil, sqlerr.Unsupported("session windows are not supported")
}
