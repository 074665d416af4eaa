package exec

import (
	"github.com/tidemarkdb/tidemark/exec/agg"
	"github.com/tidemarkdb/tidemark/exec/asof"
	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/dedup"
	"github.com/tidemarkdb/tidemark/exec/join"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/lookup"
	"github.com/tidemarkdb/tidemark/exec/over"
	"github.com/tidemarkdb/tidemark/exec/setop"
	"github.com/tidemarkdb/tidemark/exec/simple"
	"github.com/tidemarkdb/tidemark/exec/topn"
	"github.com/tidemarkdb/tidemark/exec/window"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/state/table"
)

// Build makes the operator of one plan node whose inputs have columns of the types in, with its state in sp under the operator
// number opID. Not built here: plan.Scan, which is a source, and plan.Sort, which is for the root of a SELECT (topn.SortBatches). A node or
// an expression that is not supported is a 0A000.
func Build(n plan.Node, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	switch n := n.(type) {
	case *plan.Values:
		return simple.NewValues(n, in, sp, opID, env)
	case *plan.TableFunc:
		return simple.NewTableFunc(n, in, sp, opID, env)
	case *plan.Filter:
		return simple.NewFilter(n, in, sp, opID, env)
	case *plan.Project:
		return simple.NewProject(n, in, sp, opID, env)
	case *plan.Union:
		return simple.NewUnion(n, in, sp, opID, env)
	case *plan.AppendFinal:
		return simple.NewAppendFinal(n, in, sp, opID, env)
	case *plan.TemporalFilter:
		return simple.NewTemporalFilter(n, in, sp, opID, env)
	case *plan.Window:
		return window.New(n, in[0], env)
	case *plan.Aggregate:
		return agg.NewAggregate(n, in[0], sp, opID, env)
	case *plan.Join:
		return join.New(n, in, sp, opID, env)
	case *plan.AsofJoin:
		return asof.New(n, in, sp, opID, env)
	case *plan.Recursive:
		return newRecursive(n, in, env), nil
	case *plan.Lookup:
		return lookup.New(n, in, sp, opID, env)
	case *plan.Custom:
		return custom.New(n, in, sp, opID, env)
	case *plan.SetOp:
		return setop.New(n, in, sp, opID, env)
	case *plan.TopN:
		return topn.New(n, in, sp, opID, env)
	case *plan.Dedup:
		return dedup.New(n, in, sp, opID, env)
	case *plan.OverWindow:
		return over.New(n, in, sp, opID, env)
	case *plan.Sort:
		return nil, sqlerr.Unsupported("ORDER BY is supported at the end of a SELECT only")
	}
	return nil, sqlerr.New(sqlerr.InternalError, "no operator for a plan node of type %T", n)
}
