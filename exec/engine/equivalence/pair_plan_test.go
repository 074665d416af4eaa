package equivalence

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// operatorKind names a plan node as the pairs do; "" for one that only carries rows on.
func operatorKind(n plan.Node) string {
	switch x := n.(type) {
	case *plan.Scan:
		return map[catalog.Kind]string{catalog.Stream: "stream", catalog.Table: "table", catalog.MatView: "view"}[x.Rel.Kind]
	case *plan.Window:
		return "window"
	case *plan.TableFunc:
		return "unnest"
	case *plan.Aggregate:
		return aggregateKind(x)
	case *plan.Join:
		switch {
		case x.NullAware:
			return "join.notin"
		case x.Single:
			return "join.scalar"
		}
		return "join." + strings.ToLower(x.Kind.String())
	case *plan.AsofJoin:
		return "asof"
	case *plan.Lookup:
		return "lookup"
	case *plan.Union:
		return "union"
	case *plan.SetOp:
		name := "intersect"
		if x.Except {
			name = "except"
		}
		if x.All {
			name += " all"
		}
		return name
	case *plan.Dedup:
		if x.Within {
			return "dedup.within"
		}
		if slices.ContainsFunc(x.Keys, func(k plan.Expr) bool { return k.Type().Kind.IsTime() || k.Type().Kind == types.Window }) {
			return "dedup.time"
		}
		return "dedup"
	case *plan.TopN:
		if len(x.PartitionBy) > 0 {
			return "topn.part"
		}
		return "topn"
	case *plan.OverWindow:
		return "over"
	case *plan.TemporalFilter:
		return "temporal"
	case *plan.Custom:
		return "custom"
	case *plan.AppendFinal:
		return "final"
	}
	return ""
}

func aggregateKind(x *plan.Aggregate) string {
	has := func(f func(k plan.Expr) bool) bool { return slices.ContainsFunc(x.Keys, f) }
	switch {
	case x.Session != nil:
		return "agg.session"
	case x.Distinct:
		return "distinct"
	case len(x.Keys) == 0:
		return "agg.global"
	case has(func(k plan.Expr) bool { return k.Type().Kind == types.Window }):
		return "agg.window"
	case has(func(k plan.Expr) bool { return k.Type().Kind.IsTime() }):
		return "agg.time"
	}
	return "agg.key"
}

// planned counts what came up in plans.
type planned struct {
	cat     *catalog.Catalog
	kinds   map[string]int
	pairs   map[pair]int
	refused map[string]int
}

// count counts a plan's operators and pairs. What only carries rows on does not stand between two operators.
func (p *planned) count(n plan.Node, parent string) {
	k := operatorKind(n)
	if k != "" {
		p.kinds[k]++
		if parent != "" {
			p.pairs[pair{parent, k}]++
		}
		if parent != "agg.window" || k != "window" { // which are one operator where GROUP BY makes the window
			parent = k
		} else {
			p.count(n.Inputs()[0], k)
		}
	}
	for _, in := range n.Inputs() {
		p.count(in, parent)
	}
}

func (p *planned) options() planner.Options {
	return planner.Options{Catalog: p.cat, SearchPath: []string{"public"}, Env: types.DefaultEnv(), ParseView: parser.ParseQuery,
		NativeProcessor: func(string) *catalog.Processor {
			return &catalog.Processor{Schema: "public", Name: "running", Language: "go", Columns: []catalog.Column{
				{Name: "k", Type: types.Of(types.Int4)}, {Name: "x", Type: types.Of(types.Int4)}, {Name: "ts", Type: types.Of(types.Timestamp)}}}
		}}
}

// scenario plans all views of a case, in order.
func (p *planned) scenario(s *scenario) error {
	p.cat = catalog.New()
	for _, r := range s.base {
		if err := p.statement(tidemark(r.ddl())); err != nil {
			return err
		}
	}
	for _, v := range s.views {
		err := p.statement(v.create())
		if sqlState(err) == "0A000" && v.options != "" {
			p.refused[firstWords(err)]++
			err = p.statement(fmt.Sprintf("CREATE MATERIALIZED VIEW %s AS %s", v.name, tidemark(v.query)))
		}
		switch sqlState(err) {
		case "":
		case "0A000", "42P01": // refused, or over one that was
			p.refused[firstWords(err)]++
		default:
			if err != nil {
				p.refused[firstWords(err)]++
			}
		}
	}
	return nil
}

func (p *planned) statement(sql string) error {
	sts, err := parser.Parse(sql)
	if err != nil {
		return err
	}
	switch x := sts[0].Stmt.(type) {
	case *ast.CreateRelation:
		r, err := planner.BindRelation(x, p.options())
		if err != nil {
			return err
		}
		r.Schema = "public"
		p.cat = p.cat.With(r)
		return nil
	case *ast.CreateView:
		return p.view(x)
	}
	return sqlerr.Unsupported("no plan for %T", sts[0].Stmt)
}

func (p *planned) view(x *ast.CreateView) error {
	o := p.options()
	o.View = &planner.ViewOptions{Policy: "min"}
	for _, opt := range x.Options {
		if opt.Name == "output_mode" {
			o.View.ModeGiven = true
			o.View.Mode = map[string]catalog.OutputMode{"append": catalog.Append, "update": catalog.Update, "complete": catalog.Complete}[opt.Value]
		}
	}
	q, err := planner.PlanQuery(x.Query, o)
	if err != nil {
		return err
	}
	p.count(q.Root, "")
	props := q.Root.Props()
	r := &catalog.Relation{Schema: "public", Name: x.Name.Name, Kind: catalog.MatView, SQL: x.Query.Text, AppendOnly: props.AppendOnly,
		WatermarkCols: props.WatermarkCols, WatermarkLags: props.WatermarkLags, WatermarkDelays: props.WatermarkDelays, OutputMode: q.Mode, DependsOn: q.DependsOn}
	for _, c := range props.Columns {
		r.Columns = append(r.Columns, catalog.Column{Name: c.Name, Type: c.Type})
	}
	p.cat = p.cat.With(r)
	return nil
}

// TestEveryPairPlanned says that every operator stands over every other in the cases of TestPairsEqualQuery, as the planner makes them of
// their queries, but for pairs that cannot be. The other random cases add to the count.
func TestEveryPairPlanned(t *testing.T) {
	if testing.Short() {
		t.Skip("it plans some ten thousand queries")
	}
	p := &planned{kinds: map[string]int{}, pairs: map[pair]int{}, refused: map[string]int{}}
	for seed := range uint64(pairRounds * pairParts()) {
		r := newRecipe(seed, pairsPerCase, 0, func(r *recipe, source func(part, i int) *choices) { drawPairs(r, source, int(seed)) })
		must(t, p.scenario(drawPairs(r, r.replay, int(seed))))
	}
	var missing, needless []string
	for _, x := range allPairs() {
		why := impossible(x)
		switch n := p.pairs[x]; {
		case n == 0 && why == "":
			missing = append(missing, x.String())
		case n > 0 && why != "":
			needless = append(needless, fmt.Sprintf("%s, %d times (%s)", x, n, why))
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("%d pairs never came up:\n%s", len(missing), strings.Join(missing, "\n"))
	}
	if len(needless) > 0 {
		t.Errorf("these pairs do come up:\n%s", strings.Join(needless, "\n"))
	}
	t.Logf("%d pairs of %d operators: %v", len(p.pairs), len(p.kinds), p.kinds)
	for m, n := range p.refused {
		t.Logf("%5d %s", n, m)
	}
}

// pairRounds is how often every pair is drawn, with other details each time.
const pairRounds = 10

func pairParts() int { return (len(allPairs()) + pairsPerCase - 1) / pairsPerCase }

// impossible says why a pair cannot be, "" if it can.
func impossible(x pair) string {
	// What these give can change in every output mode, or they are refused in append mode, or what holds it back stands above them.
	changing := []string{"agg.global", "agg.key", "except", "except all", "join.notin", "join.scalar", "over", "topn", "topn.part"}
	switch x.parent {
	case "dedup", "dedup.time", "dedup.within":
		if x.child == "table" || slices.Contains(changing, x.child) {
			return "DISTINCT ON without ORDER BY over rows that can change is a topn.part, and WITHIN WATERMARK is refused"
		}
	case "custom", "lookup":
		if slices.Contains(changing, x.child) {
			return "it is refused over rows that can change"
		}
	}
	if x.parent == "dedup.within" && slices.Contains([]string{"intersect", "intersect all", "temporal"}, x.child) {
		return "WITHIN WATERMARK needs a column with a watermark, which the child loses"
	}
	if x.child == "final" && slices.Contains(changing, x.parent) && x.parent != "over" && x.parent != "topn.part" {
		return "rows are held back in append mode only, which the parent can't have"
	}
	return ""
}
