package engine

import (
	"encoding/json"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

func col(name string, k types.Kind) catalog.Column {
	return catalog.Column{Name: name, Type: types.Of(k)}
}

var stateOperatorColumns = []catalog.Column{
	col("view_name", types.Text), col("operator_id", types.Int4), col("operator_name", types.Text), col("num_rows_total", types.Int8),
	col("num_rows_updated", types.Int8), col("num_rows_removed", types.Int8), col("num_rows_dropped_by_watermark", types.Int8),
	col("num_rows_null_event_time", types.Int8), col("memory_used_bytes", types.Int8), col("all_updates_time_ms", types.Float8),
	col("all_removals_time_ms", types.Float8), col("commit_time_ms", types.Float8), col("num_shuffle_partitions", types.Int8),
	col("num_state_store_instances", types.Int8), col("custom_metrics", types.JSONB),
}

func stateOperatorRows(c *systemContext) (*batch.Batch, error) {
	b := batch.New(columnTypes(stateOperatorColumns), 0)
	for _, v := range c.e.liveViews(c.snap) {
		for _, o := range v.progress.latest().ops {
			b.Cols[0].AppendString(v.rel().Name)
			b.Cols[1].AppendInt(int64(o.id))
			b.Cols[2].AppendString(o.name)
			for i, x := range []int64{o.total, o.updated, o.removed, o.dropped, o.nullTime, o.memory} {
				b.Cols[3+i].AppendInt(x)
			}
			for i, d := range []time.Duration{o.updating, o.removing, o.committing} {
				b.Cols[9+i].AppendFloat(millis(d))
			}
			b.Cols[12].AppendInt(int64(o.partitions))
			b.Cols[13].AppendInt(int64(o.partitions))
			b.Cols[14].AppendBytes(jsonb(o.custom()))
			b.EndRow(1)
		}
	}
	return b, nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

var queryProgressColumns = []catalog.Column{
	col("view_name", types.Text), col("batch_id", types.Int8), col("timestamp", types.TimestampTZ), col("num_input_rows", types.Int8),
	col("processed_rows_per_second", types.Float8), col("duration_ms", types.JSONB), col("event_time", types.JSONB), col("state_operators", types.JSONB),
	col("id", types.UUID), col("run_id", types.UUID), col("name", types.Text), col("batch_duration", types.Int8), col("input_rows_per_second", types.Float8),
	col("sources", types.JSONB), col("sink", types.JSONB), col("progress", types.JSONB),
}

func queryProgressRows(c *systemContext) (*batch.Batch, error) {
	b := batch.New(columnTypes(queryProgressColumns), 0)
	uuid := func(v *batch.Vector, text string) error {
		d, err := types.Parse(types.Of(types.UUID), text, types.DefaultEnv())
		v.AppendDatum(d)
		return err
	}
	for _, v := range c.e.liveViews(c.snap) {
		for _, e := range v.progress.epochs() {
			b.Cols[0].AppendString(v.rel().Name)
			b.Cols[1].AppendInt(int64(e.epoch))
			b.Cols[2].AppendInt(e.timestamp)
			b.Cols[3].AppendInt(e.rows)
			b.Cols[4].AppendFloat(e.processedRate(e.rows))
			b.Cols[5].AppendBytes(jsonb(e.durations(false)))
			b.Cols[6].AppendBytes(jsonb(e.eventTime(true)))
			b.Cols[7].AppendBytes(jsonb(snake(e.operators())))
			if err := uuid(b.Cols[8], v.progress.id); err != nil {
				return nil, err
			}
			if err := uuid(b.Cols[9], v.progress.run); err != nil {
				return nil, err
			}
			b.Cols[10].AppendString(v.rel().Name)
			b.Cols[11].AppendInt(e.took.total.Milliseconds())
			if r, ok := e.inputRate(e.rows); ok {
				b.Cols[12].AppendFloat(r)
			} else {
				b.Cols[12].AppendNull()
			}
			b.Cols[13].AppendBytes(jsonb(snake(e.inputs())))
			b.Cols[14].AppendBytes(jsonb(snake(e.sink(v))))
			b.Cols[15].AppendBytes(jsonb(e.spark(v)))
			b.EndRow(1)
		}
	}
	return b, nil
}

// jsonb brings a value into jsonb's canonical form.
func jsonb(x any) []byte {
	text, err := json.Marshal(x)
	if err == nil {
		var d types.Datum
		if d, err = types.Parse(types.Of(types.JSONB), string(text), types.DefaultEnv()); err == nil {
			return d.B
		}
	}
	return []byte("null")
}

type object = map[string]any

// spark is the whole in Spark's field names (StreamingQueryProgress).
func (e *epochProgress) spark(v *view) object {
	o := object{"id": v.progress.id, "runId": v.progress.run, "name": v.rel().Name, "timestamp": sparkTime(e.timestamp), "batchId": e.epoch,
		"batchDuration": e.took.total.Milliseconds(), "numInputRows": e.rows, "processedRowsPerSecond": oneDecimal(e.processedRate(e.rows)),
		"durationMs": e.durations(true), "stateOperators": e.operators(), "sources": e.inputs(), "sink": e.sink(v)}
	if r, ok := e.inputRate(e.rows); ok {
		o["inputRowsPerSecond"] = oneDecimal(r)
	}
	if t := e.eventTime(false); len(t) > 0 {
		o["eventTime"] = t
	}
	return o
}

// sparkTime shows microseconds since 1970 as Spark does, to the millisecond.
func sparkTime(us int64) string {
	return time.UnixMilli(floorMilli(us) / 1000).UTC().Format("2006-01-02T15:04:05.000Z")
}

func oneDecimal(x float64) float64 { return math.Floor(x*10+0.5) / 10 }

// inputRate is rows per second since the epoch before; false where there is none.
func (e *epochProgress) inputRate(rows int64) (float64, bool) {
	if e.previous == 0 || e.timestamp <= e.previous {
		return 0, false
	}
	return float64(rows) / (float64(e.timestamp-e.previous) / 1e6), true
}

// processedRate is rows per second of work.
func (e *epochProgress) processedRate(rows int64) float64 {
	return float64(rows) / max(e.took.total.Seconds(), 0.001)
}

// repartitionPhase is there in the first epoch after ALTER ... SET (state_partitions = n) only.
const repartitionPhase = "controlBatch.REPARTITION"

// durations are the phases in Spark's names: whole milliseconds, or with fractions.
func (e *epochProgress) durations(whole bool) object {
	o := object{}
	for _, p := range []struct {
		name string
		d    time.Duration
	}{{"latestOffset", e.took.latestOffset}, {"queryPlanning", e.took.planning}, {"walCommit", e.took.walCommit}, {"addBatch", e.took.addBatch},
		{"commitOffsets", e.took.commitOffsets}, {"triggerExecution", e.took.total}, {repartitionPhase, e.took.repartition}} {
		if p.name == repartitionPhase && p.d == 0 {
			continue
		}
		if whole {
			o[p.name] = p.d.Milliseconds()
		} else {
			o[p.name] = millis(p.d)
		}
	}
	return o
}

// eventTime has the figures of the epoch's event times, and the watermark before the epoch, which judged late rows; after also the
// one after it. Empty without a watermark.
func (e *epochProgress) eventTime(after bool) object {
	o := object{}
	if !e.declared {
		return o
	}
	if e.events.n > 0 {
		o["min"], o["max"], o["avg"] = sparkTime(e.events.min), sparkTime(e.events.max), sparkTime(e.events.mean()*1000)
	}
	if e.before != dataflow.NoWatermark {
		o["watermark"] = sparkTime(int64(e.before))
	}
	if after && e.after != dataflow.NoWatermark {
		o["watermark_after"] = sparkTime(int64(e.after))
	}
	return o
}

func (o *opProgress) custom() object {
	if o.name == "dedupe" || o.name == "dedupeWithinWatermark" {
		return object{"numDroppedDuplicateRows": o.duplicate}
	}
	out := object{}
	for name, n := range o.metrics {
		out[name] = n
	}
	return out
}

// operators is Spark's list of StateOperatorProgress, operator 0 first, with numRowsNullEventTime besides.
func (e *epochProgress) operators() []any {
	out := []any{}
	for i := range e.ops {
		p := &e.ops[i]
		o := object{"operatorName": p.name, "numRowsTotal": p.total, "numRowsUpdated": p.updated, "allUpdatesTimeMs": p.updating.Milliseconds(),
			"numRowsRemoved": p.removed, "allRemovalsTimeMs": p.removing.Milliseconds(), "commitTimeMs": p.committing.Milliseconds(),
			"memoryUsedBytes": p.memory, "numRowsDroppedByWatermark": p.dropped, "numShufflePartitions": p.partitions,
			"numStateStoreInstances": p.partitions, "numRowsNullEventTime": p.nullTime}
		if c := p.custom(); len(c) > 0 {
			o["customMetrics"] = c
		}
		out = append(out, o)
	}
	return out
}

// inputs is Spark's list of SourceProgress; lag is the rows of a stream that the view had not got yet.
func (e *epochProgress) inputs() []any {
	out := []any{}
	for _, s := range e.sources {
		o := object{"description": s.name, "startOffset": s.start, "endOffset": s.end, "latestOffset": s.latest, "lag": s.latest - s.end,
			"numInputRows": s.rows, "processedRowsPerSecond": oneDecimal(e.processedRate(s.rows))}
		if r, ok := e.inputRate(s.rows); ok {
			o["inputRowsPerSecond"] = oneDecimal(r)
		}
		out = append(out, o)
	}
	return out
}

func (e *epochProgress) sink(v *view) object {
	return object{"description": "materialized view " + v.rel().Schema + "." + v.rel().Name, "numOutputRows": e.out}
}

// snake turns the names of fields into snake_case.
func snake(x any) any {
	switch x := x.(type) {
	case object:
		o := object{}
		for k, v := range x {
			var s strings.Builder
			for _, r := range k {
				if unicode.IsUpper(r) {
					s.WriteByte('_')
				}
				s.WriteRune(unicode.ToLower(r))
			}
			o[s.String()] = snake(v)
		}
		return o
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = snake(x[i])
		}
		return out
	}
	return x
}
