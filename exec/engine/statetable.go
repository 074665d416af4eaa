package engine

import (
	"context"
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
	Only     int    `json:",omitempty"` // 1 + the one partition that is read; 0: all
	Nested   bool   `json:",omitempty"` // a row has a whole list or map
	// Batch is the epoch after which the state is read; nil: as it is now. With Feed it is the changes of the epochs From to To.
	Batch    *uint64 `json:",omitempty"`
	Feed     bool    `json:",omitempty"`
	From, To uint64  `json:",omitempty"`
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
	v, err := e.viewState(req.View)
	if err != nil {
		return nil, err
	}
	spec := &stateSpec{Function: req.Function, View: req.View.OID, Name: req.View.Name}
	if err := spec.batches(req.Options, v.rel().CreatedEpoch, e.current().epoch, int(v.partitions.Load())); err != nil {
		return nil, err
	}
	var cols []stateColumn
	if req.Function == "state_metadata" {
		cols = metadataColumns
	} else if cols, err = spec.columns(v, req.Options); err != nil {
		return nil, err
	}
	if spec.Feed {
		cols = append(slices.Clone(feedColumns), cols...)
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
		return nil, sqlerr.New(codeNoBatch, "[STDS_COMMITTED_BATCH_UNAVAILABLE] materialized view \"%s\" has no state yet", rel.Name)
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
		whole := func(name string) []stateColumn {
			return []stateColumn{record("key", key), {name: name, typ: types.Of(types.JSONB)}, partitionColumn}
		}
		switch {
		case v.Kind == custom.ListKind && s.Nested:
			return whole("list_value"), nil
		case v.Kind == custom.MapKind && s.Nested:
			return whole("map_value"), nil
		case v.Kind == custom.ListKind:
			return []stateColumn{record("key", key), value("list_element"), partitionColumn}, nil
		case v.Kind == custom.MapKind:
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
		if t.Decl.Operator != s.Operator || t.Decl.Slot != 0 || strings.HasSuffix(t.Decl.Name, table.NullName) {
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

// ranked gives the columns of the rows of which the values of a table are lists; nil if they are not.
func ranked(t table.Info) []table.Column {
	if n := len(t.Decl.Value); n > 0 {
		return t.Decl.Value[n-1].Ranked
	}
	return nil
}

func keyFields(t table.Info) *custom.Schema {
	var fs []custom.Field
	if t.Kind == table.KindWindows {
		ts := types.Of(types.Timestamp)
		fs = append(fs, custom.Field{Name: "window_start", Type: ts}, custom.Field{Name: "window_end", Type: ts})
	}
	for _, c := range append(t.Decl.Key[:len(t.Decl.Key):len(t.Decl.Key)], ranked(t)...) {
		if !rowColumn(c) && !c.Again {
			fs = append(fs, custom.Field{Name: c.Name, Type: c.Type})
		}
	}
	return custom.NewSchema(fs)
}

func valueFields(t table.Info) *custom.Schema {
	var fs []custom.Field
	for _, c := range append(t.Decl.Key[:len(t.Decl.Key):len(t.Decl.Key)], ranked(t)...) {
		if rowColumn(c) {
			fs = append(fs, custom.Field{Name: c.Name, Type: c.Type})
		}
	}
	if t.Kind == table.KindOrdered || t.Kind == table.KindStretches {
		return custom.NewSchema(append(fs, custom.Field{Name: "state", Type: types.Of(types.Bytea)}))
	}
	for i, c := range t.Decl.Value {
		if i < t.Decl.Words {
			fs = append(fs, custom.Field{Name: c.Name, Type: types.Of(types.Int8)})
		} else if i == t.Decl.Words && c.Ranked == nil {
			fs = append(fs, custom.Field{Name: c.Name, Type: types.Of(types.Bytea)})
		}
	}
	return custom.NewSchema(fs)
}

// readState gives the rows of a state table as they are now. It runs on the loop's goroutine, or on that of the view.
func (e *Engine) readState(rel *catalog.Relation) (out *batch.Batch, err error) {
	defer recoverOperator(&err)
	s, ok := specOf(rel)
	if !ok {
		return nil, sqlerr.New(sqlerr.InternalError, "not a state table")
	}
	v, err := e.viewOf(s)
	if err != nil {
		return nil, err
	}
	if s.Function == "state_metadata" {
		out = batch.New(rel.Types(), 0)
		metadataRows(v, out)
		return out, nil
	}
	w := &stateWriter{out: batch.New(rel.Types(), 0), spec: s, rows: s.Rows}
	return w.out, w.read(v)
}

// viewOf finds the view of a state table. It runs on the loop's goroutine.
func (e *Engine) viewOf(s *stateSpec) (*view, error) {
	v := e.viewByOID[s.View]
	if v == nil {
		return nil, sqlerr.New(sqlerr.NotInPrerequisiteState, "materialized view \"%s\", whose state is read, is no longer there", s.Name)
	}
	if st, _ := v.getStatus(); st == viewBackfill || st == viewFailed {
		return nil, sqlerr.New(sqlerr.NotInPrerequisiteState, "materialized view \"%s\" has no state that can be read: it is %s", s.Name, st)
	}
	return v, nil
}

// scanState gives a state table to a session.
func (e *Engine) scanState(ctx context.Context, src *dataflow.Source, f func(*batch.Batch) error) error {
	var b *batch.Batch
	var err error
	s, _ := specOf(src.Rel)
	past := s != nil && s.Function == "statestore" && (s.Feed || s.Batch != nil)
	if past {
		b, err = e.readPast(ctx, src.Rel, s)
	} else if derr := e.do(func() { b, err = e.readState(src.Rel) }); derr != nil {
		return derr
	}
	if err != nil || b.N == 0 {
		return err
	}
	return f(sourceBatch(src, b, 0, 0))
}
