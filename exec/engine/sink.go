package engine

import (
	"strconv"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// lateColumns are the columns of a view's late rows, as kept; tidemark.late_rows puts the view's name before them.
var lateColumns = []catalog.Column{
	{Name: "operator_id", Type: types.Of(types.Int4)},
	{Name: "stream", Type: types.Of(types.Text)},
	{Name: "event_time", Type: types.Of(types.TimestampTZ)},
	{Name: "window_start", Type: types.Of(types.TimestampTZ)},
	{Name: "window_end", Type: types.Of(types.TimestampTZ)},
	{Name: "watermark", Type: types.Of(types.TimestampTZ)},
	{Name: "epoch", Type: types.Of(types.Int8)},
	{Name: "row", Type: types.Of(types.JSONB)},
}

// deadColumns are the columns of a view's dead letters, as kept. The first deadKey of them say which letter a deletion withdraws.
var deadColumns = []catalog.Column{
	{Name: "sqlstate", Type: types.Of(types.Text)},
	{Name: "message", Type: types.Of(types.Text)},
	{Name: "row", Type: types.Of(types.JSONB)},
	{Name: "epoch", Type: types.Of(types.Int8)},
}

const deadKey = 3

func columnTypes(cols []catalog.Column) []types.Type {
	return (&catalog.Relation{Columns: cols}).Types()
}

// viewSink keeps the late rows and dead letters of one view.
type viewSink struct {
	v         *view
	epoch     uint64
	lateB     *batch.Batch // until the epoch ends, with the weights that came
	late      lateSums
	deadB     *batch.Batch
	lateTotal int64
	deadTotal int64
	book      letterBook
	// What the last epoch added to the hidden relations.
	flushedLate, flushedDead []*batch.Batch
}

func (s *viewSink) reset(epoch uint64) {
	s.epoch, s.flushedLate, s.flushedDead = epoch, nil, nil
}

// Late implements dataflow.Sink.
func (s *viewSink) Late(ep *dataflow.Epoch, b *batch.Batch, i int, eventTime int64, windowStart, windowEnd int64) {
	if s.lateB == nil {
		s.lateB = batch.New(columnTypes(lateColumns), 16)
	}
	port := portOf(ep)
	if port.Changes && s.late.again(s.lateB, ep, b, i, eventTime, windowEnd) {
		return
	}
	c := s.lateB.Cols
	c[0].AppendInt(int64(ep.Operator))
	c[1].AppendString(port.Streams)
	appendTime(c[2], eventTime)
	appendTime(c[3], windowStart)
	appendTime(c[4], windowEnd)
	appendTime(c[5], int64(ep.Before+ep.Lag))
	c[6].AppendInt(int64(s.epoch))
	c[7].AppendBytes(rowJSON(port.Columns, b, i, true))
	s.lateB.EndRow(b.Weight(i))
}

func appendTime(v *batch.Vector, t int64) {
	if t == dataflow.NoTime {
		v.AppendNull()
		return
	}
	v.AppendInt(t)
}

// Dead implements dataflow.Sink.
func (s *viewSink) Dead(ep *dataflow.Epoch, b *batch.Batch, i int, err *sqlerr.Error) error {
	if s.deadB == nil {
		s.deadB = batch.New(columnTypes(deadColumns), 16)
	}
	appendDead(s.deadB, ep, b, i, err, s.epoch)
	s.deadTotal += b.Weight(i)
	return nil
}

// appendDead adds the letter of row i of b, which failed with err.
func appendDead(to *batch.Batch, ep *dataflow.Epoch, b *batch.Batch, i int, err *sqlerr.Error, epoch uint64) {
	c := to.Cols
	c[0].AppendString(string(err.Code))
	c[1].AppendString(types.ValidText(err.Message))
	c[2].AppendBytes(rowJSON(portOf(ep).Columns, b, i, false))
	c[3].AppendInt(int64(epoch))
	to.EndRow(b.Weight(i))
}

// bury adds letters that were written once for several views.
func (s *viewSink) bury(letters *batch.Batch) {
	if s.deadB == nil {
		s.deadB = batch.New(columnTypes(deadColumns), letters.N)
	}
	s.deadB.AppendBatch(letters, nil)
	for i := range letters.N {
		s.deadTotal += letters.Weight(i)
	}
}

// flush hands the epoch's late rows and letters to the view's hidden relations.
func (s *viewSink) flush() error {
	if s.lateB != nil || s.deadB != nil {
		defer func() { s.v.progress.setLetters(s.lateTotal, s.deadTotal) }()
	}
	if s.lateB != nil {
		s.lateB = s.late.settle(s.lateB)
	}
	if s.lateB != nil {
		for i := range s.lateB.N {
			s.lateTotal += s.lateB.Weight(i)
		}
		if err := s.v.late.add(s.lateB); err != nil {
			return err
		}
		s.book.LateBytes += int64(s.lateB.MemBytes())
		s.flushedLate, s.lateB = append(s.flushedLate, s.lateB), nil
	}
	if s.deadB != nil {
		if err := s.v.withdraw(s.deadB); err != nil {
			return err
		}
		s.deadB = nil
	}
	return nil
}

// withdraw applies letters to the kept ones: a negative one takes away a letter of the same cause, whatever its epoch. Those that come are
// added first, all at once, and what is taken is noted, so that the kept ones are put in order once and not for each letter.
func (v *view) withdraw(letters *batch.Batch) error {
	come, gone := batch.New(letters.Types(), letters.N), batch.New(letters.Types(), 0)
	for i := 0; i < letters.N; i++ {
		if w := letters.Weight(i); w > 0 {
			come.AppendRow(letters, i, w)
		}
	}
	if err := v.addLetters(come); err != nil {
		return err
	}
	taken := map[string]int64{}
	key := make([]types.Datum, deadKey)
	for i := 0; i < letters.N; i++ {
		w := letters.Weight(i)
		if w > 0 {
			continue
		}
		for k := range key {
			key[k] = letters.Cols[k].Datum(i)
		}
		err := v.dead.lookup(key, func(b *batch.Batch) error {
			for r := 0; r < b.N && w < 0; r++ {
				id := letterID(b, r)
				take := min(-w, b.Weight(r)-taken[id])
				if take <= 0 {
					continue
				}
				gone.AppendRow(b, r, -take)
				taken[id] += take
				w += take
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return v.addLetters(gone)
}

// letterID tells the kept letters apart.
func letterID(b *batch.Batch, i int) string {
	id := strconv.AppendInt(nil, b.Cols[deadKey].I64[i], 10)
	for _, c := range b.Cols[:deadKey] {
		id = append(append(id, 0), c.Bytes(i)...) // neither text nor jsonb has a zero byte
	}
	return string(id)
}

// addLetters adds letters, or takes away those of negative weight, and books their bytes.
func (v *view) addLetters(b *batch.Batch) error {
	if b.N == 0 {
		return nil
	}
	for i := 0; i < b.N; i++ {
		n := letterBytes(b, i)
		if b.Weight(i) < 0 {
			n = -n
		}
		v.sink.book.DeadBytes += n
	}
	v.sink.flushedDead = append(v.sink.flushedDead, b)
	return v.dead.add(b)
}

func portOf(ep *dataflow.Epoch) dataflow.PortInfo {
	if ep.Port < len(ep.Inputs) {
		return ep.Inputs[ep.Port]
	}
	return dataflow.PortInfo{}
}

// rowJSON shows a row as a JSON object, without its windows where they have columns of their own.
func rowJSON(names []string, b *batch.Batch, i int, noWindows bool) []byte {
	out := []byte{'{'}
	for c, v := range b.Cols {
		if noWindows && v.Type.Kind == types.Window {
			continue
		}
		name := "?column?"
		if c < len(names) {
			name = names[c]
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = types.AppendJSONValue(out, types.Of(types.Text), types.StringDatum(name))
		out = append(out, ':')
		if d := v.Datum(i); d.Null {
			out = append(out, "null"...)
		} else {
			out = types.AppendJSONValue(out, v.Type, d)
		}
	}
	out = append(out, '}')
	if d, err := types.Parse(types.Of(types.JSONB), string(out), types.DefaultEnv()); err == nil {
		return d.B
	}
	return out
}
