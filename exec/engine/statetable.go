package engine

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// State tables: what statestore and state_metadata give. A call becomes a relation of its own, whose options say what it reads; it is
// read on the loop's goroutine, between two epochs.

// stateOIDs is where the OIDs of such relations lie: they are told apart within a statement only.
const (
	firstStateOID catalog.OID = 15000
	lastStateOID  catalog.OID = 15999
)

// stateSpec is what a state table reads, as its relation's option "state" holds it.
type stateSpec struct {
	Function string
	View     catalog.OID
	Name     string
	Operator int
	Store    string `json:",omitempty"`
	Var      string `json:",omitempty"`
	Timers   bool   `json:",omitempty"`
	Rows     []*plan.RowType
}

func specOf(rel *catalog.Relation) (*stateSpec, bool) {
	text := rel.Options["state"]
	if rel.Kind != catalog.System || text == "" {
		return nil, false
	}
	var s stateSpec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, false
	}
	return &s, true
}

// column is one column of a state table; row names its fields if it is a record.
type stateColumn struct {
	name string
	typ  types.Type
	row  *plan.RowType
}

// stateTable describes a call.
func (e *Engine) stateTable(req planner.StateRequest) (*planner.StateTable, error) {
	for _, o := range []string{"batch_id", "read_change_feed", "change_start_batch_id", "change_end_batch_id", "snapshot_start_batch_id", "snapshot_partition_id"} {
		if v, ok := req.Options[o]; ok && !(o == "read_change_feed" && boolText(v) == "false") {
			return nil, sqlerr.Unsupported("%s => ... of %s is not supported yet: it reads the state as it is", o, req.Function)
		}
	}
	v, err := e.viewState(req.View)
	if err != nil {
		return nil, err
	}
	spec := &stateSpec{Function: req.Function, View: req.View.OID, Name: req.View.Name}
	var cols []stateColumn
	if req.Function == "state_metadata" {
		cols = metadataColumns
	} else if cols, err = spec.columns(v, req.Options); err != nil {
		return nil, err
	}
	for _, c := range cols {
		spec.Rows = append(spec.Rows, c.row)
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	rel := &catalog.Relation{OID: firstStateOID + catalog.OID(e.stateCalls.Add(1))%(lastStateOID-firstStateOID+1), Schema: "tidemark", Name: req.Function,
		Kind: catalog.System, Options: map[string]string{"state": string(text)}, AppendOnly: true}
	for _, c := range cols {
		rel.Columns = append(rel.Columns, catalog.Column{Name: c.name, Type: c.typ})
	}
	return &planner.StateTable{Rel: rel, Rows: spec.Rows}, nil
}

// storedStateTable describes the state tables of a view's query: as they were when it was made, since what they read may be gone.
func (e *Engine) storedStateTable(rel *catalog.Relation) func(planner.StateRequest) (*planner.StateTable, error) {
	if len(rel.StateReads) == 0 {
		return e.stateTable
	}
	next := 0
	return func(planner.StateRequest) (*planner.StateTable, error) {
		r := rel.StateReads[min(next, len(rel.StateReads)-1)]
		next++
		s, ok := specOf(r)
		if !ok {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "view \"%s\" has no description of the state that it began with", rel.Name)
		}
		return &planner.StateTable{Rel: r, Rows: s.Rows}, nil
	}
}

// viewState finds a view that runs.
func (e *Engine) viewState(rel *catalog.Relation) (*view, error) {
	e.viewMu.Lock()
	v := e.viewStat[rel.OID]
	e.viewMu.Unlock()
	if v == nil {
		return nil, sqlerr.New(sqlerr.NotInPrerequisiteState, "[STDS_COMMITTED_BATCH_UNAVAILABLE] materialized view \"%s\" has no state yet", rel.Name)
	}
	switch st, _ := v.getStatus(); st {
	case viewBackfill:
		return nil, sqlerr.New(sqlerr.NotInPrerequisiteState, "materialized view \"%s\" is still being filled", rel.Name).
			WithHint("tidemark.backfills shows how far it is.")
	case viewFailed:
		return nil, v.readable()
	}
	return v, nil
}

func invalidOption(name, format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "[STDS_INVALID_OPTION_VALUE] Invalid value for source option '"+name+"': "+format, args...)
}

func boolText(s string) string {
	switch strings.ToLower(s) {
	case "true", "t", "on", "yes", "1":
		return "true"
	case "false", "f", "off", "no", "0":
		return "false"
	}
	return ""
}

// columns reads the options of statestore and gives its columns (reference 9.1).
func (s *stateSpec) columns(v *view, o map[string]string) ([]stateColumn, error) {
	if id, ok := o["operator_id"]; ok {
		n, err := strconv.Atoi(id)
		if err != nil || n < 0 {
			return nil, invalidOption("operatorId", "it must be a number that is not negative, not %s.", id)
		}
		s.Operator = n
	}
	ids, ops := v.graph.Stateful()
	at := slices.Index(ids, s.Operator)
	if at < 0 {
		return nil, invalidOption("operatorId", "view \"%s\" has no stateful operator %d; state_metadata lists them.", v.rel.Name, s.Operator)
	}
	store, hasStore := o["store_name"]
	side, hasSide := o["join_side"]
	name, hasVar := o["state_var_name"]
	timers, hasTimers := o["read_registered_timers"]
	if hasTimers {
		b := boolText(timers)
		if b == "" {
			return nil, invalidOption("readRegisteredTimers", "it must be true or false, not %s.", timers)
		}
		s.Timers = b == "true"
	}
	if flat, ok := o["flatten_collection_types"]; ok && boolText(flat) != "true" {
		return nil, sqlerr.Unsupported("flatten_collection_types => false is not supported: lists and maps are shown flattened")
	}
	op, isCustom := ops[at].(*custom.Operator)
	switch {
	case hasStore && store == "":
		return nil, invalidOption("storeName", "it must not be empty.")
	case hasStore && hasSide:
		return nil, sqlerr.New(sqlerr.SyntaxError, "[STDS_CONFLICT_OPTIONS] The options 'joinSide' and 'storeName' cannot be specified together.")
	case hasVar && s.Timers:
		return nil, sqlerr.New(sqlerr.SyntaxError, "[STDS_CONFLICT_OPTIONS] The options 'stateVarName' and 'readRegisteredTimers' cannot be specified together.")
	case !isCustom && (hasVar || s.Timers):
		return nil, invalidOption("stateVarName", "operator %d is not a transform_with_state.", s.Operator)
	case isCustom && !hasVar && !s.Timers:
		return nil, sqlerr.New(sqlerr.SyntaxError, "[STDS_REQUIRED_OPTION_UNSPECIFIED] 'stateVarName' must be specified.").
			WithHint("Give state_var_name => '...' or read_registered_timers => true; state_metadata lists the variables.")
	case isCustom:
		s.Var = name
		return s.customColumns(op)
	}
	if hasSide {
		if side = strings.ToLower(side); side != "left" && side != "right" {
			return nil, invalidOption("joinSide", "it must be left or right, not %s.", side)
		}
		store = side + "-"
	} else if !hasStore {
		store = "default"
	}
	return s.storeColumns(v, store, hasStore)
}

var partitionColumn = stateColumn{name: "partition_id", typ: types.Of(types.Int4)}

func record(name string, s *custom.Schema) stateColumn {
	r := &plan.RowType{}
	for _, f := range s.Fields {
		r.Names, r.Types = append(r.Names, f.Name), append(r.Types, f.Type)
	}
	return stateColumn{name, types.Of(types.Record), r}
}

// customColumns are the columns of a variable of a processor, or of its timers.
func (s *stateSpec) customColumns(op *custom.Operator) ([]stateColumn, error) {
	mode, key := op.Mode()
	if s.Timers {
		if mode == custom.TimeModeNone {
			return nil, invalidOption("readRegisteredTimers", "the processor has time mode none, so there are no timers.")
		}
		return []stateColumn{record("key", key), {name: "expiration_timestamp_ms", typ: types.Of(types.Int8)}, partitionColumn}, nil
	}
	for _, v := range op.Variables() {
		if v.Name != s.Var || !v.Declared {
			continue
		}
		value := func(name string) stateColumn {
			c := record(name, v.Value)
			if v.TTL {
				c.row = &plan.RowType{Names: []string{"value", "ttlExpirationMs"}, Types: []types.Type{types.Of(types.Record), types.Of(types.Int8)}}
			}
			return c
		}
		switch v.Kind {
		case custom.ListKind:
			return []stateColumn{record("key", key), value("list_element"), partitionColumn}, nil
		case custom.MapKind:
			return []stateColumn{record("key", key), record("user_map_key", v.UserKey), value("user_map_value"), partitionColumn}, nil
		}
		return []stateColumn{record("key", key), value("value"), partitionColumn}, nil
	}
	return nil, invalidOption("stateVarName", "there is no state variable \"%s\"; state_metadata lists them.", s.Var)
}

// storeColumns are the columns of a state table of another operator: the fields that its declaration gives.
func (s *stateSpec) storeColumns(v *view, store string, exact bool) ([]stateColumn, error) {
	var names []string
	for _, t := range v.space.Decls() {
		if t.Decl.Operator != s.Operator {
			continue
		}
		names = append(names, t.Decl.Name)
		if t.Decl.Name != store && (exact || !strings.HasPrefix(t.Decl.Name, store)) {
			continue
		}
		s.Store = t.Decl.Name
		if strings.HasSuffix(t.Decl.Name, "-keyToNumValues") && !exact {
			continue // the rows of a side are in the other one
		}
		key, value := keyFields(t), valueFields(t)
		return []stateColumn{record("key", key), record("value", value), partitionColumn}, nil
	}
	if len(names) == 0 {
		return nil, invalidOption("operatorId", "operator %d has no store.", s.Operator)
	}
	return nil, invalidOption("storeName", "operator %d has no store \"%s\"; it has %s.", s.Operator, strings.TrimSuffix(store, "-"), strings.Join(names, ", "))
}

// rowColumn says whether a key column of a declaration is part of a stored row: those are named c0, c1, ...
func rowColumn(c table.Column) bool {
	_, err := strconv.Atoi(strings.TrimPrefix(c.Name, "c"))
	return strings.HasPrefix(c.Name, "c") && err == nil
}

func keyFields(t table.Info) *custom.Schema {
	var fs []custom.Field
	if t.Kind == table.KindWindows {
		ts := types.Of(types.Timestamp)
		fs = append(fs, custom.Field{Name: "window_start", Type: ts}, custom.Field{Name: "window_end", Type: ts})
	}
	for _, c := range t.Decl.Key {
		if !rowColumn(c) {
			fs = append(fs, custom.Field{Name: c.Name, Type: c.Type})
		}
	}
	return custom.NewSchema(fs)
}

func valueFields(t table.Info) *custom.Schema {
	var fs []custom.Field
	for _, c := range t.Decl.Key {
		if rowColumn(c) {
			fs = append(fs, custom.Field{Name: c.Name, Type: c.Type})
		}
	}
	if t.Kind == table.KindOrdered {
		return custom.NewSchema(append(fs, custom.Field{Name: "state", Type: types.Of(types.Bytea)}))
	}
	for i, c := range t.Decl.Value {
		if i < t.Decl.Words {
			fs = append(fs, custom.Field{Name: c.Name, Type: types.Of(types.Int8)})
		} else if i == t.Decl.Words {
			fs = append(fs, custom.Field{Name: c.Name, Type: types.Of(types.Bytea)})
		}
	}
	return custom.NewSchema(fs)
}

// readState gives the rows of a state table. It runs on the loop's goroutine, or on that of the view.
func (e *Engine) readState(rel *catalog.Relation) (out *batch.Batch, err error) {
	defer recoverOperator(&err)
	s, ok := specOf(rel)
	if !ok {
		return nil, sqlerr.New(sqlerr.InternalError, "not a state table")
	}
	out = batch.New(rel.Types(), 0)
	v := e.viewByOID[s.View]
	if v == nil {
		return nil, sqlerr.New(sqlerr.NotInPrerequisiteState, "materialized view \"%s\", whose state is read, is no longer there", s.Name)
	}
	if st, _ := v.getStatus(); st == viewBackfill || st == viewFailed {
		return nil, sqlerr.New(sqlerr.NotInPrerequisiteState, "materialized view \"%s\" has no state that can be read: it is %s", s.Name, st)
	}
	if s.Function == "state_metadata" {
		metadataRows(v, out)
		return out, nil
	}
	ids, ops := v.graph.Stateful()
	at := slices.Index(ids, s.Operator)
	if at < 0 {
		return nil, invalidOption("operatorId", "there is no operator %d any more.", s.Operator)
	}
	w := &stateWriter{out: out, spec: s}
	if op, ok := ops[at].(*custom.Operator); ok {
		w.custom(op)
		return out, nil
	}
	for i, t := range v.space.Tables() {
		if t.Decl.Operator == s.Operator && t.Decl.Name == s.Store {
			v.space.Each(i, func(x *table.Entry) bool {
				w.entry(t, x)
				return true
			})
			break
		}
	}
	return out, nil
}

// scanState gives a state table to a session.
func (e *Engine) scanState(src *dataflow.Source, f func(*batch.Batch) error) error {
	var b *batch.Batch
	var err error
	if derr := e.do(func() { b, err = e.readState(src.Rel) }); derr != nil {
		return derr
	}
	if err != nil || b.N == 0 {
		return err
	}
	return f(sourceBatch(src, b, 0, 0))
}
