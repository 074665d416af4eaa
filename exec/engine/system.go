package engine

import (
	"context"
	"sort"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// firstSystemOID is where the OIDs of the relations of the schema tidemark begin.
const firstSystemOID catalog.OID = 14000

// tidemarkRelations are the relations of the schema tidemark. Their order gives their OIDs: append only.
var tidemarkRelations = []struct {
	name string
	cols []catalog.Column
	rows func(*systemContext) (*batch.Batch, error)
}{
	{"state_operators", stateOperatorColumns, stateOperatorRows},
	{"query_progress", queryProgressColumns, queryProgressRows},
	{"late_rows", lateRowColumns, lateRows},
	{"dead_letters", deadLetterColumns, deadLetterRows},
	{"watermarks", watermarkColumns, watermarkRows},
	{"streams", []catalog.Column{col("schema_name", types.Text), col("stream_name", types.Text), col("watermark_column", types.Text), col("delay", types.Interval), col("created_epoch", types.Int8), col("idle_timeout", types.Interval), col("advance", types.Bool), col("max_watermark_step", types.Interval)}, streamRows},
	{"views", []catalog.Column{col("schema_name", types.Text), col("view_name", types.Text), col("output_mode", types.Text), col("append_only", types.Bool), col("status", types.Text), col("error", types.Text), col("epoch", types.Int8), col("watermark", types.TimestampTZ), col("definition", types.Text), col("held_back_by", types.Text), col("late_rows_total", types.Int8), col("dead_letters_total", types.Int8), col("state_partitions", types.Int4), col("state_partitions_from", types.Text)}, viewRows},
	{"epochs", []catalog.Column{col("epoch", types.Int8), col("timestamp", types.TimestampTZ), col("checkpoint_epoch", types.Int8)}, epochRows},
	{"backfills", []catalog.Column{col("view_name", types.Text), col("epoch", types.Int8), col("target_epoch", types.Int8), col("rows", types.Int8)}, backfillRows},
	{"sessions", []catalog.Column{col("session_id", types.Int8), col("user_name", types.Text), col("database", types.Text), col("application", types.Text), col("client", types.Text), col("started", types.TimestampTZ)}, sessionRows},
	{"view_inputs", viewInputColumns, viewInputRows},
	{"sources", sourceColumns, sourceStatusRows},
}

// systemRelation is a system relation with what makes its rows.
type systemRelation struct {
	rel  *catalog.Relation
	rows func(*systemContext) (*batch.Batch, error)
}

// systemContext is what the engine's own system relations may look at.
type systemContext struct {
	session.SystemContext
	snap *published
	e    *Engine
}

// baseCatalog is the catalog of an empty database: schemas and system relations.
func (e *Engine) baseCatalog() *catalog.Catalog {
	c := catalog.New()
	add := func(s *systemRelation) {
		e.system[s.rel.OID] = s
		c = c.With(s.rel)
	}
	for _, r := range e.opts.System {
		add(&systemRelation{r.Rel, func(c *systemContext) (*batch.Batch, error) { return r.Rows(&c.SystemContext) }})
	}
	for i, r := range tidemarkRelations {
		add(&systemRelation{&catalog.Relation{OID: firstSystemOID + catalog.OID(i), Schema: "tidemark", Name: r.name,
			Kind: catalog.System, Columns: r.cols, AppendOnly: r.name == "late_rows"}, r.rows})
	}
	return c
}

// systemContext is what system relations look at, as the session sees it.
func (r *txReader) systemContext() *systemContext {
	c := &systemContext{SystemContext: session.SystemContext{Catalog: r.s.catalog(), User: r.s.p.User, Database: r.s.p.Database,
		SearchPath: r.s.set.searchPath(r.s.p.User), Settings: r.s.listSettings, Sessions: r.e.activity}, snap: r.snap, e: r.e}
	r.s.showObjects(&c.SystemContext)
	c.RowEstimate = func(oid catalog.OID) int64 {
		if snap := r.snap.contents(oid); snap != nil {
			return snap.count()
		}
		return -1
	}
	return c
}

// scanSystem gives a system relation's rows as the session sees them.
func (r *txReader) scanSystem(ctx context.Context, src *dataflow.Source, f func(*batch.Batch) error) error {
	if _, ok := specOf(src.Rel); ok {
		return r.e.scanState(ctx, src, f)
	}
	b, err := r.e.system[src.Rel.OID].rows(r.systemContext())
	if err != nil || b.N == 0 {
		return err
	}
	return f(sourceBatch(src, b, 0, 0))
}

func (s *sess) listSettings() []session.Setting {
	var out []session.Setting
	for _, n := range s.set.names() {
		st := session.Setting{Name: n, Type: "string", Context: "user", Reset: s.set.start[canonical(n)]}
		st.Value, _ = s.set.get(n)
		if d := settingsByName[canonical(n)]; d != nil {
			d.describe(&st)
		}
		out = append(out, st)
	}
	return out
}

// activity lists the open sessions by id.
func (e *Engine) activity() []session.Activity {
	e.sessMu.Lock()
	defer e.sessMu.Unlock()
	var out []session.Activity
	for _, s := range e.sessions {
		out = append(out, session.Activity{ProcessID: s.p.ProcessID, User: s.p.User, Database: s.p.Database,
			Application: s.p.Application, ClientAddr: s.p.RemoteAddr, StartedMicros: s.started.UnixMicro()})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ProcessID < out[j].ProcessID })
	return out
}

// liveViews lists the views of a snapshot's catalog by OID.
func (e *Engine) liveViews(p *published) []*view {
	e.viewMu.Lock()
	defer e.viewMu.Unlock()
	var out []*view
	for _, r := range p.cat.Relations() {
		if v := e.viewStat[r.OID]; v != nil {
			out = append(out, v)
		}
	}
	return out
}

func streamRows(c *systemContext) (*batch.Batch, error) {
	b := batch.New([]types.Type{types.Of(types.Text), types.Of(types.Text), types.Of(types.Text), types.Of(types.Interval), types.Of(types.Int8), types.Of(types.Interval), types.Of(types.Bool), types.Of(types.Interval)}, 0)
	for _, r := range c.Catalog.Relations() {
		if r.Kind != catalog.Stream {
			continue
		}
		b.Cols[0].AppendString(r.Schema)
		b.Cols[1].AppendString(r.Name)
		if w := r.Watermark; w != nil {
			b.Cols[2].AppendString(r.Columns[w.Column].Name)
			b.Cols[3].AppendDatum(types.IntervalDatum(0, 0, w.DelayMicros))
		} else {
			b.Cols[2].AppendNull()
			b.Cols[3].AppendNull()
		}
		b.Cols[4].AppendInt(int64(r.CreatedEpoch))
		span := func(c int, micros int64) {
			if micros == 0 {
				b.Cols[c].AppendNull()
			} else {
				b.Cols[c].AppendDatum(types.IntervalDatum(0, 0, micros))
			}
		}
		if w := r.Watermark; w != nil {
			span(5, w.IdleMicros)
			b.Cols[6].AppendDatum(types.BoolDatum(w.Advance))
		} else {
			b.Cols[5].AppendNull()
			b.Cols[6].AppendNull()
		}
		step, _ := watermarkStep(r) // it was checked
		span(7, step)
		b.EndRow(1)
	}
	return b, nil
}

func viewRows(c *systemContext) (*batch.Batch, error) {
	t, i8 := types.Of(types.Text), types.Of(types.Int8)
	b := batch.New([]types.Type{t, t, t, types.Of(types.Bool), t, t, i8, types.Of(types.TimestampTZ), t, t, i8, i8, types.Of(types.Int4), t}, 0)
	for _, v := range c.e.liveViews(c.snap) {
		st, err := v.getStatus()
		b.Cols[0].AppendString(v.rel().Schema)
		b.Cols[1].AppendString(v.rel().Name)
		b.Cols[2].AppendString(v.rel().OutputMode.String())
		b.Cols[3].AppendDatum(types.BoolDatum(v.rel().AppendOnly))
		b.Cols[4].AppendString(st.String())
		if err != nil {
			b.Cols[5].AppendString(err.Error())
		} else {
			b.Cols[5].AppendNull()
		}
		b.Cols[6].AppendInt(int64(c.snap.epoch))
		appendTime(b.Cols[7], int64(c.snap.watermark(v.rel().OID)))
		b.Cols[8].AppendString(v.rel().SQL)
		if h := c.snap.heldBackBy(v); h != "" {
			b.Cols[9].AppendString(h)
		} else {
			b.Cols[9].AppendNull()
		}
		late, dead := v.progress.letters()
		b.Cols[10].AppendInt(late)
		b.Cols[11].AppendInt(dead)
		n, from := c.e.partitionsOf(v.rel())
		b.Cols[12].AppendInt(int64(n))
		b.Cols[13].AppendString(from)
		b.EndRow(1)
	}
	return b, nil
}

func epochRows(c *systemContext) (*batch.Batch, error) {
	b := batch.New([]types.Type{types.Of(types.Int8), types.Of(types.TimestampTZ), types.Of(types.Int8)}, 1)
	b.Cols[0].AppendInt(int64(c.snap.epoch))
	b.Cols[1].AppendInt(c.snap.ts)
	b.Cols[2].AppendInt(int64(c.e.checkpointEpoch.Load()))
	b.EndRow(1)
	return b, nil
}

func backfillRows(c *systemContext) (*batch.Batch, error) {
	i8 := types.Of(types.Int8)
	b := batch.New([]types.Type{types.Of(types.Text), i8, i8, i8}, 0)
	for _, v := range c.e.liveViews(c.snap) {
		if st, _ := v.getStatus(); st != viewBackfill {
			continue
		}
		pos, rows := v.filled()
		b.Cols[0].AppendString(v.rel().Name)
		b.Cols[1].AppendInt(int64(pos))
		b.Cols[2].AppendInt(int64(c.snap.epoch))
		b.Cols[3].AppendInt(rows)
		b.EndRow(1)
	}
	return b, nil
}

func sessionRows(c *systemContext) (*batch.Batch, error) {
	t := types.Of(types.Text)
	b := batch.New([]types.Type{types.Of(types.Int8), t, t, t, t, types.Of(types.TimestampTZ)}, 0)
	for _, a := range c.e.activity() {
		b.Cols[0].AppendInt(int64(a.ProcessID))
		for i, x := range []string{a.User, a.Database, a.Application, a.ClientAddr} {
			b.Cols[i+1].AppendString(x)
		}
		b.Cols[5].AppendInt(a.StartedMicros)
		b.EndRow(1)
	}
	return b, nil
}
