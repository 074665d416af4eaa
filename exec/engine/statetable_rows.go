package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// stateWriter appends rows of a state table, without the columns of a change feed.
type stateWriter struct {
	out  *batch.Batch
	spec *stateSpec
	rows []*plan.RowType // of the columns
	// ids identify the rows among all of the table, where keep is set.
	ids  []string
	keep bool
	// partition is the state partition whose rows are being written.
	partition int
}

// read appends all rows of the table, as the view's state is.
func (w *stateWriter) read(v *view) error {
	ids, ops := v.graph.Stateful()
	at := slices.Index(ids, w.spec.Operator)
	if at < 0 {
		return invalidOption("operatorId", "there is no operator %d any more.", w.spec.Operator)
	}
	for slot, x := range dataflow.Instances(ops[at]) {
		if op, ok := x.(*custom.Operator); ok {
			if w.of(v.partitionOf(slot)) {
				w.custom(op)
			}
		}
	}
	for i, t := range v.space.Tables() {
		if t.Decl.Operator == w.spec.Operator && strings.TrimSuffix(t.Decl.Name, table.NullName) == w.spec.Store && w.of(v.partitionOf(t.Decl.Slot)) {
			v.space.Each(i, func(x *table.Entry) bool {
				w.entry(t, x)
				return true
			})
		}
	}
	return nil
}

// of says whether the rows of a partition are asked for; those that follow are of it.
func (w *stateWriter) of(partition int) bool {
	w.partition = partition
	return w.spec.Only == 0 || w.spec.Only == partition+1
}

// record appends a record to column c.
func (w *stateWriter) record(c int, vals []types.Datum) {
	r := w.rows[c]
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

// end finishes a row with its partition. id tells it from the others of the table.
func (w *stateWriter) end(id []byte) {
	w.out.Cols[len(w.out.Cols)-1].AppendInt(int64(w.partition))
	w.out.EndRow(1)
	if w.keep {
		w.ids = append(w.ids, string(id))
	}
}

// keyID is the identity of the row that is being written, by its first n columns, which are records.
func (w *stateWriter) keyID(n int) []byte {
	var id []byte
	for _, c := range w.out.Cols[:n] {
		k := c.Bytes(w.out.N)
		id = append(binary.AppendUvarint(id, uint64(len(k))), k...)
	}
	return id
}

func (w *stateWriter) custom(op *custom.Operator) {
	if w.spec.Timers {
		op.ReadTimers(func(key []types.Datum, at int64) bool {
			w.record(0, key)
			w.out.Cols[1].AppendInt(at)
			w.end(binary.BigEndian.AppendUint64(w.keyID(1), uint64(at)))
			return true
		})
		return
	}
	for _, v := range op.Variables() {
		switch {
		case v.Name != w.spec.Var:
		case w.spec.Nested && v.Kind != custom.ValueKind:
			w.whole(op, v)
		default:
			op.Read(v.Name, func(f custom.Found) bool {
				w.found(v, f)
				return true
			})
		}
	}
}

// found appends an entry of a variable: of a list, a row for each element.
func (w *stateWriter) found(v custom.Variable, f custom.Found) {
	switch v.Kind {
	case custom.ListKind:
		for i, e := range f.Elements {
			w.record(0, f.Key)
			w.value(1, v.Value, e, v.TTL, f.Expiries[i])
			w.end(binary.BigEndian.AppendUint64(w.keyID(1), uint64(f.Numbers[i])))
		}
	case custom.MapKind:
		w.record(0, f.Key)
		w.record(1, f.UserKey)
		w.value(2, v.Value, f.Value, v.TTL, f.Expires)
		w.end(w.keyID(2))
	default:
		w.record(0, f.Key)
		w.value(1, v.Value, f.Value, v.TTL, f.Expires)
		w.end(w.keyID(1))
	}
}

// whole appends a row for each key, with its list as an array of objects or its map as an array of {key, value}. The entries of a key
// lie together.
func (w *stateWriter) whole(op *custom.Operator, v custom.Variable) {
	var key []types.Datum
	var id, arr []byte
	flush := func() {
		if arr == nil {
			return
		}
		w.record(0, key)
		w.out.Cols[1].AppendDatum(canonicalJSON(append(arr, ']')))
		w.end(w.keyID(1))
		arr = nil
	}
	element := func(text []byte) {
		if arr == nil {
			arr = []byte{'['}
		} else {
			arr = append(arr, ',')
		}
		arr = append(arr, text...)
	}
	op.Read(v.Name, func(f custom.Found) bool {
		now := types.AppendRecord(nil, w.rows[0].Types, f.Key)
		if !bytes.Equal(now, id) {
			flush()
			key, id = f.Key, now
		}
		if v.Kind == custom.MapKind {
			element(joinJSON("key", fieldsJSON(v.UserKey, f.UserKey), "value", valueJSON(v, f.Value, f.Expires)))
		}
		for i, e := range f.Elements {
			element(valueJSON(v, e, f.Expiries[i]))
		}
		return true
	})
	flush()
}

func valueJSON(v custom.Variable, vals []types.Datum, expires int64) []byte {
	text := fieldsJSON(v.Value, vals)
	if v.TTL {
		return joinJSON("value", text, "ttlExpirationMs", strconv.AppendInt(nil, expires, 10))
	}
	return text
}

func joinJSON(a string, x []byte, b string, y []byte) []byte {
	return fmt.Appendf(nil, "{\"%s\":%s,\"%s\":%s}", a, x, b, y)
}

// fieldsJSON shows a row of a variable as a JSON object.
func fieldsJSON(s *custom.Schema, vals []types.Datum) []byte {
	out := []byte{'{'}
	for i, f := range s.Fields {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(types.AppendJSONValue(out, types.Of(types.Text), types.StringDatum(f.Name)), ':')
		if vals[i].Null {
			out = append(out, "null"...)
		} else {
			out = types.AppendJSONValue(out, f.Type, vals[i])
		}
	}
	return append(out, '}')
}

// canonicalJSON gives a text as jsonb.
func canonicalJSON(text []byte) types.Datum {
	d, err := types.Parse(types.Of(types.JSONB), string(text), types.DefaultEnv())
	if err != nil {
		return types.NullDatum
	}
	return d
}

// entry appends an entry of another operator's table: of a list of rows, a row for each. A key of a type whose bytes do not give its value
// back, and what follows it, is shown as NULL.
func (w *stateWriter) entry(t table.Info, x *table.Entry) {
	var f stateFields
	if t.Kind == table.KindWindows {
		f.key = append(f.key, types.IntDatum(x.WindowStart), types.IntDatum(x.WindowEnd))
	}
	id := binary.BigEndian.AppendUint64(nil, uint64(x.WindowEnd))
	if t.Decl.IntKey {
		id = binary.BigEndian.AppendUint64(id, uint64(x.Int))
		f.key = append(f.key, types.IntDatum(x.Int))
	} else if t.Decl.TextKey {
		f.key = append(f.key, types.Datum{B: x.Key})
		id = types.AppendKey(id, types.Of(types.Bytea), types.Datum{B: x.Key}, false, false)
	} else {
		f.read(t.Decl.Key, x.Key)
		id = append(id, x.Key...)
	}
	cols := ranked(t)
	if cols == nil {
		f.words(x.Words)
		if len(f.val) < len(w.rows[1].Types) {
			if x.Value == nil {
				f.val = append(f.val, types.NullDatum)
			} else {
				f.val = append(f.val, types.Datum{B: x.Value})
			}
		}
		w.fields(f, id)
		return
	}
	var last []byte
	same := uint64(0) // rows before this one that are equal to it
	for list, n := x.Value, 0; len(list) > 0; list = list[n:] {
		var e rowenc.Ranked
		e, n = rowenc.NextRanked(list)
		row := append(e.Key[:len(e.Key):len(e.Key)], e.Row...)
		if same++; !bytes.Equal(row, last) {
			last, same = row, 0
		}
		one := stateFields{slices.Clone(f.key), nil}
		one.read(cols, row)
		one.words(x.Words)
		w.fields(one, binary.AppendUvarint(append(id[:len(id):len(id)], row...), same))
	}
}

// fields appends a row.
func (w *stateWriter) fields(f stateFields, id []byte) {
	w.record(0, f.key)
	w.record(1, f.val)
	w.end(id)
}

// stateFields are the values of a row of a state table.
type stateFields struct{ key, val []types.Datum }

func (f *stateFields) words(words []int64) {
	for _, n := range words {
		f.val = append(f.val, types.IntDatum(n))
	}
}

// read takes the bytes of columns apart.
func (f *stateFields) read(cols []table.Column, rest []byte) {
	lost := false
	for _, c := range cols {
		d := types.NullDatum
		switch {
		case lost:
		case c.Time:
			if lost = len(rest) < rowenc.TimeLen; !lost {
				d, rest = types.IntDatum(rowenc.ReadTime(rest)), rest[rowenc.TimeLen:]
			}
		case rowColumn(c):
			var err error
			if d, rest, err = types.ReadValue(c.Type, rest); err != nil {
				d, lost = types.NullDatum, true
			}
		default:
			var err error
			if d, rest, err = readKey(c, rest); err != nil {
				d, lost = types.NullDatum, true
			}
		}
		switch {
		case rowColumn(c):
			f.val = append(f.val, d)
		case !c.Again:
			f.key = append(f.key, d)
		}
	}
}

// readKey reads one value of a key and gives what follows it.
func readKey(c table.Column, b []byte) (types.Datum, []byte, error) {
	if !c.Desc || len(b) == 0 {
		return types.ReadKey(c.Type, b)
	}
	up := slices.Clone(b) // the first byte says whether it is NULL
	for i := range up[1:] {
		up[1+i] = ^up[1+i]
	}
	d, rest, err := types.ReadKey(c.Type, up)
	return d, b[len(b)-len(rest):], err
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
			c[3].AppendInt(int64(v.operatorPartitions(len(dataflow.Instances(ops[i])))))
			c[4].AppendInt(int64(v.rel().CreatedEpoch))
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
		if op, ok := dataflow.Instances(ops[i])[0].(*custom.Operator); ok {
			customMetadata(op, row)
			continue
		}
		for _, t := range v.space.Tables() {
			if t.Decl.Operator == id && t.Decl.Slot == 0 && !strings.HasSuffix(t.Decl.Name, table.NullName) {
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
	if s, ok := specOf(rel); ok && (s.Batch != nil || s.Feed) {
		return nil, sqlerr.Unsupported("batch_id and read_change_feed of statestore are not supported in a materialized view").
			WithHint("Keep what they give in a table: CREATE TABLE ... AS SELECT ... FROM statestore(...).")
	}
	b, err := e.readState(rel)
	if err != nil {
		return nil, sqlerr.From(err)
	}
	return &stateSnapshot{b}, nil
}
