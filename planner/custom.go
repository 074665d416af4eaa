package planner

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// transform_with_state(TABLE s PARTITION BY k, processor => 'p', time_mode => ..., output_mode => ..., initial_state => TABLE t PARTITION BY k,
// event_time_column => 'c') in FROM.

// BindProcessor makes the catalog's description of a processor, without OID.
func BindProcessor(c *ast.CreateProcessor, o Options) (p *catalog.Processor, err error) {
	defer recoverBind(&err)
	p = &catalog.Processor{Schema: c.Name.Schema, Name: c.Name.Name, Language: c.Language, Body: c.Body}
	seen := map[string]bool{}
	for _, d := range c.Columns {
		if seen[d.Name] {
			failAt(d.At, sqlerr.DuplicateColumn, "column %q specified more than once", d.Name)
		}
		seen[d.Name] = true
		t := resolveType(d.Type)
		if t.Kind >= types.Record && t.Kind != types.Int2Vector || t.Kind == types.Unknown {
			failAt(d.At, sqlerr.InvalidTableDefinition, "column %q has pseudo-type %s", d.Name, t)
		}
		p.Columns = append(p.Columns, catalog.Column{Name: d.Name, Type: t})
	}
	return p, nil
}

// transform binds a call of transform_with_state.
func (fb *fromBinder) transform(t *ast.FuncRef) *fromPart {
	n := t.Call
	if t.Ordinality || len(t.ColTypes) > 0 || n.Over != nil || n.Distinct || n.Variadic {
		unsupported(n.At, "transform_with_state takes neither WITH ORDINALITY, column definitions, DISTINCT, VARIADIC nor OVER")
	}
	args := fb.namedArgs(t, []string{"processor", "time_mode", "output_mode", "event_time_column"}, []string{"", "initial_state"})
	if t.Tables[""] == nil {
		fail(sqlerr.New(sqlerr.UndefinedFunction, "transform_with_state needs a relation").
			WithHint("Write transform_with_state(TABLE s PARTITION BY k, processor => 'p', ...).").At(int(n.At)))
	}
	x := &plan.Custom{EventTime: -1, TimeCol: -1}
	x.Processor = fb.processor(args, n.At)
	for _, c := range x.Processor.Columns {
		x.P.Columns = append(x.P.Columns, plan.Column{Name: c.Name, Type: c.Type})
	}
	fb.transformModes(x, args, n.At)
	x.Input, x.Keys, x.KeyNames = fb.partitioned(t.Tables[""], n.At)
	if init := t.Tables["initial_state"]; init != nil {
		var names []string
		x.Initial, x.InitialKeys, names = fb.partitioned(init, n.At)
		checkInitialKeys(x, names, n.At)
	}
	alias := t.Alias
	if alias == "" {
		alias = n.Name
	}
	return fb.named(x, alias, "", t.Columns, nil, n.At)
}

// constArg is a named argument that is a constant text.
type constArg struct {
	text string
	at   ast.Pos
}

// namedArgs reads the arguments of a table function, all of them named constants; tables are the names of relation arguments.
func (fb *fromBinder) namedArgs(t *ast.FuncRef, names, tables []string) map[string]constArg {
	n := t.Call
	out := map[string]constArg{}
	for i, a := range n.Args {
		name := ""
		if i < len(n.ArgNames) {
			name = strings.ToLower(n.ArgNames[i])
		}
		if indexOf(names, name) < 0 {
			if name == "" {
				failAt(a.Position(), sqlerr.SyntaxError, "arguments of %s after the first must be named", n.Name)
			}
			fail(sqlerr.New(sqlerr.UndefinedFunction, "%s has no argument %q", n.Name, name).
				WithHint("Arguments are %s.", strings.Join(names, ", ")).At(int(a.Position())))
		}
		if _, twice := out[name]; twice {
			failAt(a.Position(), sqlerr.SyntaxError, "argument %q is given more than once", name)
		}
		out[name] = constArg{fb.constText(a, n.Name, name), a.Position()}
	}
	for name := range t.Tables {
		if indexOf(tables, strings.ToLower(name)) < 0 {
			failAt(n.At, sqlerr.UndefinedFunction, "%s has no relation argument %q", n.Name, name)
		}
	}
	return out
}

// constText evaluates a constant argument to text.
func (fb *fromBinder) constText(a ast.Expr, fn, name string) string {
	x := &exprBinder{b: fb.b, f: &frame{scope: &scope{}}, ctes: fb.ctes, clause: "arguments of " + fn}
	c, ok := fold(x.value(a)).(*plan.Const)
	if !ok || c.Val.Null {
		failAt(a.Position(), sqlerr.InvalidParameterValue, "argument %q of %s must be a constant", name, fn)
	}
	return types.Format(c.Typ, c.Val, types.DefaultEnv())
}

// processor finds the processor that a call names.
func (fb *fromBinder) processor(args map[string]constArg, at ast.Pos) *catalog.Processor {
	a, ok := args["processor"]
	if !ok {
		failAt(at, sqlerr.UndefinedFunction, "transform_with_state needs the argument \"processor\"")
	}
	parts := splitName(a.text)
	schema, name := "", parts[len(parts)-1]
	if len(parts) == 2 {
		schema = parts[0]
	}
	p := fb.b.o.Catalog.FindProcessor(schema, name, fb.b.o.SearchPath)
	if p == nil && schema == "" && fb.b.o.NativeProcessor != nil {
		p = fb.b.o.NativeProcessor(name)
	}
	if p == nil {
		fail(sqlerr.New(sqlerr.UndefinedObject, "processor %q does not exist", a.text).
			WithHint("SHOW PROCESSORS lists them; CREATE PROCESSOR makes one.").At(int(a.at)))
	}
	if p.OID != 0 && len(fb.b.expanding) == 0 && indexOfOID(fb.b.processors, p.OID) < 0 {
		fb.b.processors = append(fb.b.processors, p.OID)
	}
	return p
}

func indexOfOID(oids []catalog.OID, o catalog.OID) int {
	for i, x := range oids {
		if x == o {
			return i
		}
	}
	return -1
}

// timeModeNames maps spellings, Spark's too, to time modes.
var timeModeNames = map[string]string{"none": "none", "notime": "none", "processing_time": "processing_time", "processingtime": "processing_time",
	"event_time": "event_time", "eventtime": "event_time"}

// transformModes reads time mode, output mode and the event time column.
func (fb *fromBinder) transformModes(x *plan.Custom, args map[string]constArg, at ast.Pos) {
	x.TimeMode = "none"
	mode, given := args["time_mode"]
	if given {
		m, ok := timeModeNames[strings.ToLower(mode.text)]
		if !ok {
			fail(sqlerr.New(sqlerr.InvalidParameterValue, "[STATEFUL_PROCESSOR_UNKNOWN_TIME_MODE] Unknown time mode %s.", mode.text).
				WithHint("Available values: none, processing_time, event_time.").At(int(mode.at)))
		}
		x.TimeMode = m
	}
	if c, ok := args["event_time_column"]; ok {
		if given && x.TimeMode != "event_time" {
			failAt(mode.at, sqlerr.InvalidParameterValue, "event_time_column implies time_mode => 'event_time'")
		}
		x.TimeMode = "event_time"
		for i, col := range x.P.Columns {
			if col.Name == c.text {
				x.EventTime = i
			}
		}
		if x.EventTime < 0 {
			fail(sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", c.text).
				WithHint("event_time_column names a column of the processor's result.").At(int(c.at)))
		}
		if t := x.P.Columns[x.EventTime].Type; !t.Kind.IsTime() {
			failAt(c.at, sqlerr.DatatypeMismatch, "event_time_column %q must be a timestamp or date, not %s", c.text, t)
		}
	}
	x.Mode = catalog.Append
	if v := fb.b.o.View; v != nil {
		if v.Mode == catalog.Complete {
			unsupported(at, "complete output mode is not supported for transform_with_state")
		}
		x.Mode = v.Mode
	}
	a, ok := args["output_mode"]
	if !ok {
		return
	}
	m, known := map[string]catalog.OutputMode{"append": catalog.Append, "update": catalog.Update}[strings.ToLower(a.text)]
	if !known {
		fail(sqlerr.New(sqlerr.InvalidParameterValue, "invalid output_mode %q of transform_with_state", a.text).
			WithHint("Available values: append, update.").At(int(a.at)))
	}
	if v := fb.b.o.View; v != nil && m != v.Mode {
		fail(sqlerr.New(sqlerr.InvalidParameterValue, "output_mode '%s' of transform_with_state contradicts the view's '%s'", m, v.Mode).
			WithHint("Leave it out: it is then the view's. A view takes WITH (output_mode = '%s').", m).At(int(a.at)))
	}
	x.Mode = m
}

// partitioned binds TABLE x PARTITION BY keys: its visible columns, and the keys over them with their names.
func (fb *fromBinder) partitioned(arg *ast.TableArg, at ast.Pos) (plan.Node, []plan.Expr, []string) {
	var in *fromPart
	if arg.Query != nil {
		in = fb.subquery(&ast.SubqueryRef{Query: arg.Query, Alias: "input", At: at}, nil)
	} else {
		in = fb.table(&ast.TableRef{Name: arg.Name})
	}
	x := &exprBinder{b: fb.b, f: &frame{scope: in.scope, parent: fb.parent}, ctes: fb.ctes, clause: "PARTITION BY"}
	var keys []plan.Expr
	var names []string
	if len(arg.PartitionBy) == 0 {
		failAt(at, sqlerr.SyntaxError, "a relation of transform_with_state needs PARTITION BY")
	}
	for i, e := range arg.PartitionBy {
		k := fold(x.value(e))
		name := "key" + itoa(i)
		if c, ok := e.(*ast.ColumnRef); ok {
			name = c.Parts[len(c.Parts)-1]
		}
		keys, names = append(keys, k), append(names, name)
	}
	hidden := false
	for _, c := range in.scope.sources[0].cols {
		hidden = hidden || c.hidden
	}
	if !hidden {
		return in.node, keys, names
	}
	// The processor sees what * shows; keys are computed beside.
	var exprs []plan.Expr
	var cols []string
	at2 := map[int]int{}
	for i, c := range in.scope.sources[0].cols {
		if !c.hidden {
			at2[i] = len(exprs)
			exprs, cols = append(exprs, colOf(in.node, i)), append(cols, c.name)
		}
	}
	for i, k := range keys {
		keys[i] = substituteCols(k, at2, at)
	}
	return newProject(in.node, exprs, cols), keys, names
}

// substituteCols moves the columns of an expression to where they are after a projection.
func substituteCols(e plan.Expr, to map[int]int, at ast.Pos) plan.Expr {
	if c, ok := e.(*plan.Col); ok {
		i, ok := to[c.Index]
		if !ok {
			unsupported(at, "PARTITION BY of a hidden column is not supported")
		}
		d := *c
		d.Index = i
		return &d
	}
	return plan.MapChildren(e, func(x plan.Expr) plan.Expr { return substituteCols(x, to, at) })
}

// checkInitialKeys wants the keys of the initial state to be those of the input.
func checkInitialKeys(x *plan.Custom, names []string, at ast.Pos) {
	if len(x.InitialKeys) != len(x.Keys) {
		failAt(at, sqlerr.DatatypeMismatch, "the initial state is partitioned by %d columns, the input by %d", len(x.InitialKeys), len(x.Keys))
	}
	for i := range x.Keys {
		if a, b := x.Keys[i].Type(), x.InitialKeys[i].Type(); !a.Same(b) {
			failAt(at, sqlerr.DatatypeMismatch, "key %q of the initial state has type %s, key %q of the input %s", names[i], b, x.KeyNames[i], a)
		}
	}
}

// custom derives the properties of transform_with_state. The initial state is read once: no change of it shows.
func (d *deriver) custom(x *plan.Custom) {
	d.derive(x.Input)
	if x.Initial != nil {
		init := *d
		init.mode = catalog.Update
		init.derive(x.Initial)
	}
	in := x.Input.Props()
	x.P.AppendOnly = !d.view || x.Mode == catalog.Append
	x.P.HasWatermark, x.P.WatermarkCols, x.P.Keys = in.HasWatermark, nil, nil
	x.TimeCol = -1
	if x.TimeMode == "event_time" && len(in.WatermarkCols) > 0 {
		x.TimeCol = in.WatermarkCols[0]
	}
	if x.EventTime >= 0 && x.Mode == catalog.Append && in.HasWatermark {
		x.P.WatermarkCols = []int{x.EventTime}
	}
	x.P.State = &plan.Bound{By: "it is kept until processor \"" + x.Processor.Name + "\" clears it"}
}

// checkCustom refuses input that a processor can't take.
func checkCustom(root plan.Node) {
	eachNode(root, func(n plan.Node) {
		x, ok := n.(*plan.Custom)
		if !ok {
			return
		}
		if !x.Input.Props().AppendOnly {
			fail(sqlerr.Unsupported("transform_with_state over rows that can change is not supported: a row that was handled cannot be taken back").
				WithHint("Its input must be a stream, an append-mode view, or a query over those whose rows never change."))
		}
		if x.EventTime >= 0 && !x.Input.Props().HasWatermark {
			fail(sqlerr.Unsupported("[CANNOT_ASSIGN_EVENT_TIME_COLUMN_WITHOUT_WATERMARK] Watermark needs to be defined to reassign event time column. " +
				"Failed to find watermark definition in the streaming query.").WithHint("Declare the stream with WATERMARK FOR column AS column - INTERVAL '...'."))
		}
		if x.Initial == nil {
			return
		}
		eachNode(x.Initial, func(m plan.Node) {
			if s, ok := m.(*plan.Scan); ok && s.Rel.Kind == catalog.Stream {
				fail(sqlerr.Unsupported("stream %q as an initial state is not supported: only what it holds at the beginning would count", s.Rel.Name).
					WithHint("Use a table or a materialized view."))
			}
		})
	})
}

// pruneCustom keeps all columns: the processor may read any, and its result is as it is declared.
func pruneCustom(x *plan.Custom) (plan.Node, []int) {
	x.Input = exactly(x.Input, allNeeded(width(x.Input)))
	if x.Initial != nil {
		x.Initial = exactly(x.Initial, allNeeded(width(x.Initial)))
	}
	return x, identity(width(x))
}

func customDetails(x *plan.Custom, add func(name, text string)) {
	add("Keys", exprList(x.Keys, columns(x.Input)))
	add("Time mode", x.TimeMode)
	if x.EventTime >= 0 {
		add("Event time", x.P.Columns[x.EventTime].Name)
	}
	if x.Initial != nil {
		add("Initial state keys", exprList(x.InitialKeys, columns(x.Initial)))
	}
}
