package planner

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// statestore('v', ...) and state_metadata('v') in FROM: the live state of a view's operators (reference section 9).

// StateRequest names what a call of statestore or state_metadata reads.
type StateRequest struct {
	Function string // "statestore", "state_metadata"
	View     *catalog.Relation
	// Options are the arguments given, by their names in snake_case.
	Options map[string]string
}

// StateTable describes what such a call gives: a system relation that the reader of relations understands, and the fields of its
// columns of type record.
type StateTable struct {
	Rel  *catalog.Relation
	Rows []*plan.RowType // by column, nil for others
}

// stateOptions are the arguments behind the view, in positional order.
var stateOptions = []string{"operator_id", "store_name", "join_side", "state_var_name", "read_registered_timers", "flatten_collection_types",
	"batch_id", "read_change_feed", "change_start_batch_id", "change_end_batch_id", "snapshot_start_batch_id", "snapshot_partition_id"}

// stateTable binds a call of statestore or state_metadata.
func (fb *fromBinder) stateTable(t *ast.FuncRef) *fromPart {
	n := t.Call
	if t.Ordinality || len(t.ColTypes) > 0 || len(t.Tables) > 0 {
		unsupported(n.At, "%s takes neither relations, column definitions nor WITH ORDINALITY", n.Name)
	}
	req := StateRequest{Function: n.Name, Options: map[string]string{}}
	view, at := "", n.At
	for i, a := range n.Args {
		name := ""
		if i < len(n.ArgNames) {
			name = n.ArgNames[i]
		}
		switch {
		case name == "" && i == 0:
			name = "path"
		case name == "" && i <= len(stateOptions):
			name = stateOptions[i-1]
		}
		known := optionName(name)
		if known == "" || req.Function == "state_metadata" && known != "path" && known != "batch_id" {
			failAt(a.Position(), sqlerr.UndefinedFunction, "%s has no argument %q", n.Name, name)
		}
		text := fb.constText(a, n.Name, name)
		if known == "path" {
			view, at = text, a.Position()
			continue
		}
		req.Options[known] = text
	}
	if view == "" {
		failAt(n.At, sqlerr.SyntaxError, "[STDS_REQUIRED_OPTION_UNSPECIFIED] 'path' must be specified: the name of a materialized view")
	}
	req.View = fb.stateOf(view, at)
	st, err := fb.b.o.stateTable(req)
	must(err, n.At)
	if fb.b.view() {
		fb.b.stateReads = append(fb.b.stateReads, st.Rel)
	}
	node := newScan(st.Rel, true)
	for i := range st.Rows {
		node.P.Columns[i].Row = st.Rows[i]
	}
	alias := t.Alias
	if alias == "" {
		alias = n.Name
	}
	return fb.named(node, alias, "", t.Columns, nil, n.At)
}

// optionName finds an option whatever its spelling: operator_id, operatorId, OPERATORID.
func optionName(name string) string {
	flat := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }
	for _, o := range append([]string{"path"}, stateOptions...) {
		if flat(o) == flat(name) {
			return o
		}
	}
	return ""
}

// stateOf finds the view whose state is read. In the stored query of a view it may be gone: its description then says its name only.
func (fb *fromBinder) stateOf(text string, at ast.Pos) *catalog.Relation {
	parts := splitName(text)
	schema, name := "", parts[len(parts)-1]
	if len(parts) == 2 {
		schema = parts[0]
	}
	r, err := fb.b.o.Catalog.Lookup(schema, name, fb.b.o.SearchPath)
	if err != nil {
		if fb.b.o.StoredView {
			return &catalog.Relation{Schema: schema, Name: name, Kind: catalog.MatView}
		}
		must(err, at)
	}
	if r.Kind != catalog.MatView {
		failAt(at, sqlerr.WrongObjectType, "%q is not a materialized view", r.Name)
	}
	return r
}

func (o *Options) stateTable(req StateRequest) (*StateTable, error) {
	if o.StateTable == nil {
		return nil, sqlerr.Unsupported("%s can't be read here", req.Function)
	}
	return o.StateTable(req)
}

// checkStateReads allows statestore in a maintained view only as what a processor begins with: it is read once.
func checkStateReads(n plan.Node, initial bool) {
	if s, ok := n.(*plan.Scan); ok && s.Rel.Kind == catalog.System && s.Rel.Options["state"] != "" && !initial {
		fail(sqlerr.Unsupported("%s in a materialized view is supported in initial_state => TABLE (...) only", s.Rel.Name).
			WithDetail("State has no changes that a view could follow."))
	}
	for i, in := range n.Inputs() {
		_, custom := n.(*plan.Custom)
		checkStateReads(in, initial || custom && i == 1)
	}
}
