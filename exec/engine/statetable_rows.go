package engine

import (
	"context"
	"encoding/json"

	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// stateWriter appends rows of a state table.
type stateWriter struct {
	out  *batch.Batch
	spec *stateSpec
}

// record appends a record to column c.
func (w *stateWriter) record(c int, vals []types.Datum) {
	r := w.spec.Rows[c]
	for len(vals) < len(r.Types) {
		vals = append(vals, types.NullDatum)
	}
	w.out.Cols[c].AppendBytes(types.AppendRecordNames(types.AppendRecord(nil, r.Types, vals), r.Names))
}

// value appends the value of a variable, with its expiry where it has one.
func (w *stateWriter) value(c int, s *custom.Schema, vals []types.Datum, ttl bool, expires int64) {
	if !ttl {
		w.record(c, vals)
		return
	}
	ts := make([]types.Type, len(s.Fields))
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		ts[i], names[i] = f.Type, f.Name
	}
	inner := types.AppendRecordNames(types.AppendRecord(nil, ts, vals), names)
	w.record(c, []types.Datum{{B: inner}, types.IntDatum(expires)})
}

// end finishes a row with its partition.
func (w *stateWriter) end() {
	w.out.Cols[len(w.out.Cols)-1].AppendInt(0)
	w.out.EndRow(1)
}

func (w *stateWriter) custom(op *custom.Operator) {
	if w.spec.Timers {
		op.ReadTimers(func(key []types.Datum, at int64) bool {
			w.record(0, key)
			w.out.Cols[1].AppendInt(at)
			w.end()
			return true
		})
		return
	}
	for _, v := range op.Variables() {
		if v.Name != w.spec.Var {
			continue
		}
		op.Read(v.Name, func(f custom.Found) bool {
			switch v.Kind {
			case custom.ListKind:
				for i, e := range f.Elements {
					w.record(0, f.Key)
					w.value(1, v.Value, e, v.TTL, f.Expiries[i])
					w.end()
				}
			case custom.MapKind:
				w.record(0, f.Key)
				w.record(1, f.UserKey)
				w.value(2, v.Value, f.Value, v.TTL, f.Expires)
				w.end()
			default:
				w.record(0, f.Key)
				w.value(1, v.Value, f.Value, v.TTL, f.Expires)
				w.end()
			}
			return true
		})
	}
}

// entry appends an entry of another operator's table. A key of a type whose bytes do not give its value back, and what follows it, is
// shown as NULL.
func (w *stateWriter) entry(t table.Info, x *table.Entry) {
	var key, val []types.Datum
	if t.Kind == table.KindWindows {
		key = append(key, types.IntDatum(x.WindowStart), types.IntDatum(x.WindowEnd))
	}
	rest, lost := x.Key, false
	for _, c := range t.Decl.Key {
		d := types.NullDatum
		switch {
		case t.Decl.IntKey:
			d = types.IntDatum(x.Int)
		case lost:
		case rowColumn(c):
			var err error
			if d, rest, err = types.ReadValue(c.Type, rest); err != nil {
				d, lost = types.NullDatum, true
			}
		default:
			var err error
			if d, rest, err = types.ReadKey(c.Type, rest); err != nil {
				d, lost = types.NullDatum, true
			}
		}
		if rowColumn(c) {
			val = append(val, d)
		} else {
			key = append(key, d)
		}
	}
	for _, n := range x.Words {
		val = append(val, types.IntDatum(n))
	}
	if len(val) < len(w.spec.Rows[1].Types) {
		if x.Value == nil {
			val = append(val, types.NullDatum)
		} else {
			val = append(val, types.Datum{B: x.Value})
		}
	}
	w.record(0, key)
	w.record(1, val)
	w.end()
}

// metadataColumns are those of state_metadata (reference 9.2), with the schemas beside.
var metadataColumns = []stateColumn{{name: "operator_id", typ: types.Of(types.Int8)}, {name: "operator_name", typ: types.Of(types.Text)},
	{name: "state_store_name", typ: types.Of(types.Text)}, {name: "num_partitions", typ: types.Of(types.Int4)},
	{name: "min_batch_id", typ: types.Of(types.Int8)}, {name: "max_batch_id", typ: types.Of(types.Int8)},
	{name: "operator_properties", typ: types.Of(types.JSONB)}, {name: "key_schema", typ: types.Of(types.Text)}, {name: "value_schema", typ: types.Of(types.Text)}}

// metadataRows lists the stores of a view's operators, and for a processor its variables.
func metadataRows(v *view, out *batch.Batch) {
	ids, ops := v.graph.Stateful()
	for i, id := range ids {
		name := ops[i].Stats().Name
		row := func(store, props, key, value string) {
			c := out.Cols
			c[0].AppendInt(int64(id))
			c[1].AppendString(name)
			c[2].AppendString(store)
			c[3].AppendInt(1)
			c[4].AppendInt(int64(v.rel.CreatedEpoch))
			c[5].AppendInt(int64(v.pos))
			if d, err := types.Parse(types.Of(types.JSONB), props, types.DefaultEnv()); props != "" && err == nil {
				c[6].AppendDatum(d)
			} else {
				c[6].AppendNull()
			}
			c[7].AppendString(key)
			c[8].AppendString(value)
			out.EndRow(1)
		}
		if op, ok := ops[i].(*custom.Operator); ok {
			customMetadata(op, row)
			continue
		}
		for _, t := range v.space.Tables() {
			if t.Decl.Operator == id {
				row(t.Decl.Name, "", keyFields(t).String(), valueFields(t).String())
			}
		}
	}
}

func customMetadata(op *custom.Operator, row func(store, props, key, value string)) {
	mode, key := op.Mode()
	type stateVariable struct {
		Name string `json:"stateName"`
		Kind string `json:"stateVariableType"`
		TTL  bool   `json:"ttlEnabled"`
	}
	props := struct {
		TimeMode   string          `json:"timeMode"`
		OutputMode string          `json:"outputMode"`
		Variables  []stateVariable `json:"stateVariables"`
	}{TimeMode: mode.String(), OutputMode: op.OutputMode()}
	vars := op.Variables()
	for _, v := range vars {
		props.Variables = append(props.Variables, stateVariable{v.Name, string(v.Kind), v.TTL})
	}
	switch mode {
	case custom.TimeModeProcessingTime:
		props.Variables = append(props.Variables, stateVariable{Name: "$procTimers_keyToTimestamp", Kind: "TimerState"})
	case custom.TimeModeEventTime:
		props.Variables = append(props.Variables, stateVariable{Name: "$eventTimers_keyToTimestamp", Kind: "TimerState"})
	}
	text, err := json.Marshal(props)
	if err != nil {
		text = nil
	}
	if len(vars) == 0 {
		row("default", string(text), key.String(), "")
	}
	for _, v := range vars {
		k := key.String()
		if v.UserKey != nil {
			k += "; " + v.UserKey.String()
		}
		row(v.Name, string(text), k, v.Value.String())
	}
}

// stateSnapshot is a state table as a view that is being made reads it.
type stateSnapshot struct{ b *batch.Batch }

func (s *stateSnapshot) scan(_ context.Context, f func(*batch.Batch) error) error {
	if s.b.N == 0 {
		return nil
	}
	return f(s.b)
}

func (s *stateSnapshot) lookup([]types.Datum, func(*batch.Batch) error) (bool, error) {
	return false, nil
}

func (s *stateSnapshot) count() int64 { return int64(s.b.N) }

// stateForView reads a state table that a new view begins with.
func (e *Engine) stateForView(rel *catalog.Relation) (contentSnapshot, error) {
	b, err := e.readState(rel)
	if err != nil {
		return nil, sqlerr.From(err)
	}
	return &stateSnapshot{b}, nil
}
