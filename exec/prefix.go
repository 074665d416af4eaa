package exec

import (
	"fmt"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Step is one operator without state of the chain over a source that only that source feeds: a filter, a projection or a window
// expansion. Views over one relation that begin with the same steps can have them evaluated once.
type Step struct {
	Node dataflow.Handle
	// Key describes the step, and all steps below it, by what they compute: equal keys give equal batches and equal dead letters.
	Key string
	// Port describes the step's input to a person, for dead letters.
	Port dataflow.PortInfo

	plan plan.Node
	in   []types.Type
}

// Prefix lists the steps over a source of the graph, from the source up; none where nothing can be shared.
func Prefix(g *dataflow.Graph, s *dataflow.Source, env *kernel.Env) []Step {
	scan, ok := s.Tag.(*plan.Scan)
	if !ok || !sharable(env) {
		return nil
	}
	var key strings.Builder
	fmt.Fprintf(&key, "scan %d %v %v", scan.Rel.OID, scan.Cols, scan.Position >= 0)
	if x := env.Session; x != nil {
		fmt.Fprintf(&key, " %q %q %q %q %d %v", x.TimeZoneName, x.DateOrder, x.DateFormat, x.IntervalStyle, x.ExtraFloatDigits, x.ByteaHex)
	}
	var steps []Step
	below := plan.Node(scan)
	for h := g.Consumer(s.Handle()); ; h = g.Consumer(h) {
		n, ok := g.Tag(h).(plan.Node)
		if !ok || !appendStep(&key, n) {
			return steps
		}
		port := portInfo(below)
		fmt.Fprintf(&key, "%q", port.Columns)
		steps = append(steps, Step{Node: h, Key: key.String(), Port: port, plan: n, in: plan.Types(below)})
		below = n
	}
}

// sharable says that expressions depend on nothing of the session that must be asked for from one goroutine, or differs between views.
func sharable(env *kernel.Env) bool {
	return env.Funcs == nil && (env.Session == nil || env.Session.RegName == nil && env.Session.RegOID == nil)
}

// Operator makes an operator of the step's own, to evaluate it for several views.
func (s *Step) Operator(env *kernel.Env) (dataflow.Operator, error) {
	return Build(s.plan, dataflow.InputTypes{s.in}, nil, -1, env)
}

// Fresh says that what the step's operator emits stays valid: a filter passes on its input, or a selection that is its own.
func (s *Step) Fresh() bool {
	_, ok := s.plan.(*plan.Filter)
	return ok
}

// appendStep appends what the node computes; false if it is not a step.
func appendStep(key *strings.Builder, n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Filter:
		key.WriteString("\nfilter ")
		return appendExpr(key, n.Pred)
	case *plan.Project:
		key.WriteString("\nproject")
		return appendExprs(key, n.Exprs)
	case *plan.Window:
		t := n.P.Columns[len(n.P.Columns)-1].Type
		fmt.Fprintf(key, "\nwindow %v %d %d %d %v ", t, n.Size, n.Slide, n.Start, n.Last)
		return appendExpr(key, n.Time)
	}
	return false
}

func appendExprs(key *strings.Builder, es []plan.Expr) bool {
	for _, e := range es {
		key.WriteByte(' ')
		if !appendExpr(key, e) {
			return false
		}
	}
	return true
}

// appendExpr appends an expression in a form that two expressions have in common only if they compute the same; false for one that
// may not, or whose value is not a function of its row.
func appendExpr(key *strings.Builder, e plan.Expr) bool {
	fmt.Fprintf(key, "(%T %v ", e, e.Type())
	switch x := e.(type) {
	case *plan.Col:
		fmt.Fprintf(key, "%d", x.Index)
	case *plan.Const:
		appendDatum(key, x.Typ, x.Val)
	case *plan.Call:
		// A function is one value for as long as a plan holds it.
		if x.Fn.Volatility == fn.Volatile || x.Fn.Session || x.Fn.Make != nil || x.Fn.MakeSet != nil {
			return false
		}
		fmt.Fprintf(key, "%p %s", x.Fn, x.Fn.Name)
	case *plan.And, *plan.Or, *plan.Not, *plan.Case, *plan.Coalesce, *plan.ArrayCtor, *plan.Subscript:
	case *plan.IsNull:
		fmt.Fprintf(key, "%v", x.Not)
	case *plan.IsBool:
		fmt.Fprintf(key, "%c%v", x.What, x.Not)
	case *plan.IsDistinct:
		fmt.Fprintf(key, "%v", x.Not)
		if !appendExprs(key, []plan.Expr{x.L, x.R}) {
			return false
		}
	case *plan.InList:
		fmt.Fprintf(key, "%v%v", x.Null, x.Not)
		for _, d := range x.List {
			appendDatum(key, x.X.Type(), d)
		}
	case *plan.WindowField:
		fmt.Fprintf(key, "%v", x.End)
	default:
		return false
	}
	if !appendExprs(key, plan.Children(e)) {
		return false
	}
	key.WriteByte(')')
	return true
}

func appendDatum(key *strings.Builder, t types.Type, d types.Datum) {
	fmt.Fprintf(key, "%v:%x ", d.Null, types.AppendValue(nil, t, d))
}
