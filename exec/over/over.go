package over

import (
	"bytes"
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// operatorName is what tidemark.state_operators shows.
const operatorName = "window"

// over is the operator of a plan.OverWindow.
//
// State:
//
//	default  partition, sort key, row -> length of the partition, of partition and sort key (uvarints), weight (varint)
//	sums     the nodes of table.Sums over it, a scope for each partition -> see summary
//
// The second one is there only if a function depends on more than what is near a row.
type over struct {
	env       *kernel.Env
	in        []types.Type
	outTypes  []types.Type
	partition *rowenc.Partitions
	sort      *rowenc.SortKeys
	funcs     []*function
	states    []*function // those with a running aggregate
	reach     reaches
	must      reaches // those without wide frames
	wide      bool    // there are wide frames
	local     bool    // every function depends on rows within reach only
	whole     bool    // some function depends on all rows in a way of its own
	rows      *table.Ordered
	sums      *table.Sums // nil if they are not needed
	summary   *summary    // what sums.Range added up
	out       *rowenc.Out
	// What functions want to know of rows beyond those that are computed.
	needsAfter, needsPeers bool

	log     rowenc.Changes // this epoch's changes: key, then trailer
	diff    rowenc.Changes // encoded output rows
	letters rowenc.Changes // SQLSTATE (5 bytes), length of message (2 bytes), message, encoded input row
	final   bool           // the epoch is a SELECT: nothing is there before, and nothing is needed after it
	key     []byte
	pair    pair
	stats   dataflow.Stats
}

// trailerLen is the length of what follows a key in the log: length of the partition, and of partition and sort key, in 4 bytes each.
const trailerLen = 8

// New makes the operator of a plan.OverWindow over an input with columns of the types in[0]. A function that is not built is a 0A000.
func New(n *plan.OverWindow, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	o := &over{env: env, in: in[0], outTypes: append([]types.Type(nil), in[0]...)}
	var err error
	if o.partition, err = rowenc.CompilePartitions(n.PartitionBy, in[0], n.Timed, n.TimeKey); err != nil {
		return nil, err
	}
	if o.sort, err = rowenc.CompileSort(n.Sort, in[0]); err != nil {
		return nil, err
	}
	o.local = true
	names := make([]string, len(n.Funcs))
	for i := range n.Funcs {
		f, err := newFunction(&n.Funcs[i], n.Sort, in[0], env)
		if err != nil {
			return nil, err
		}
		o.funcs, o.outTypes, names[i] = append(o.funcs, f), append(o.outTypes, n.Funcs[i].Typ), n.Funcs[i].Fn.Name
		o.reach.add(f)
		if f.zone == zoneWide {
			o.wide = true
		} else {
			o.must.add(f)
		}
		o.local = o.local && f.zone == zoneNear
		o.whole = o.whole || f.zone == zoneAll
		o.needsAfter = o.needsAfter || f.zone == zoneSuffix
		o.needsPeers = o.needsPeers || f.zone == zoneRank || f.zone == zoneRankShare || f.zone == zoneShare || f.zone == zoneWide
	}
	o.out = rowenc.NewOut(o.outTypes)
	bigint := types.Of(types.Int8)
	part := o.partition.Columns()
	key := append(part[:len(part):len(part)], o.sort.Columns()...)
	o.rows = sp.Ordered(table.Decl{Operator: opID, Name: "default", Key: append(key, rowenc.Columns("c", in[0])...),
		Value: []table.Column{{Name: "partition_length", Type: bigint}, {Name: "sort_end", Type: bigint}, {Name: "weight", Type: bigint}}})
	if o.local || o.whole {
		return o, nil
	}
	if o.summary, err = newSummary(o, names); err != nil {
		return nil, err
	}
	o.sums = table.NewSums(o.rows, declareSums(o, sp, opID, part), o.summary)
	return o, nil
}

// Push implements dataflow.Operator. Arguments are evaluated here so that a row for which one fails never gets into state.
func (o *over) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, _ dataflow.Emit) error {
	good, err := o.partition.OnTime(ep, o.env, b, &o.stats)
	if err != nil {
		return err
	}
	good, err = o.withoutFailures(ep, good)
	if err != nil {
		return err
	}
	part, _, err := o.partition.Eval(ep, o.env, good)
	if err != nil {
		return err
	}
	sort, _, err := o.sort.Eval(ep, o.env, good)
	if err != nil {
		return err
	}
	for i := 0; i < good.N; i++ {
		k := o.partition.Append(o.key[:0], part, i)
		plen := len(k)
		k = o.sort.Append(k, sort, i)
		send := len(k)
		k = rowenc.AppendRow(k, good.Cols, i)
		k = binary.BigEndian.AppendUint32(k, uint32(plen))
		o.key = binary.BigEndian.AppendUint32(k, uint32(send))
		o.log.Add(o.key, good.Weight(i))
	}
	return nil
}

// withoutFailures buries the rows for which an expression fails, each once, and gives the others.
func (o *over) withoutFailures(ep *dataflow.Epoch, b *batch.Batch) (*batch.Batch, error) {
	all := []*rowenc.Exprs{o.partition.Exprs, o.sort.Exprs}
	for _, f := range o.funcs {
		all = append(all, f.args)
	}
	var failed []kernel.RowError
	for _, x := range all {
		_, failed = x.Values(o.env, b, failed)
	}
	sel, err := rowenc.Bury(ep, b, nil, failed)
	if err != nil || sel == nil {
		return b, err
	}
	return b.Select(sel), nil
}

// EndEpoch implements dataflow.Operator.
func (o *over) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	o.final = ep.Final
	var part []byte
	var cs []change // of the partition at hand
	finish := func() error {
		if part == nil {
			return nil
		}
		return o.change(part, cs)
	}
	err := o.log.Each(false, func(key []byte, w int64) error {
		n := len(key) - trailerLen
		plen := int(binary.BigEndian.Uint32(key[n:]))
		if part == nil || !bytes.Equal(key[:plen], part) {
			if err := finish(); err != nil {
				return err
			}
			part, cs = key[:plen:plen], cs[:0]
		}
		cs = append(cs, change{key[:n:n], int(binary.BigEndian.Uint32(key[n+4:])), w})
		return nil
	})
	if err == nil {
		err = finish()
	}
	o.log.Reset()
	if err == nil {
		err = o.diff.Each(false, func(row []byte, w int64) error { return o.out.Row(row, w, out) })
	}
	o.diff.Reset()
	if err == nil {
		err = o.sendLetters(ep)
	}
	if err != nil {
		return err
	}
	o.close(ep)
	return o.out.Flush(out)
}

// close forgets the partitions that the watermark closes; their rows stay in the output.
func (o *over) close(ep *dataflow.Epoch) {
	lo, hi, ok := o.partition.Closed(ep)
	if !ok {
		return
	}
	n := o.rows.Len()
	o.rows.DeleteRange(lo, hi)
	o.stats.RowsRemoved += n - o.rows.Len()
	if o.sums != nil {
		o.sums.DropRange(lo, hi)
	}
}

// change applies the changes of a partition and puts the difference that they make into diff.
func (o *over) change(part []byte, cs []change) error {
	whole := span{part, rowenc.PrefixEnd(nil, part)}
	zones := o.zones(whole, cs)
	for _, z := range zones {
		if err := o.contribute(z, whole, -1); err != nil {
			return err
		}
	}
	keys := make([][]byte, len(cs))
	for i, c := range cs {
		keys[i] = c.key
		o.apply(part, c)
	}
	if o.sums != nil && !o.final {
		o.sums.Update(part, keys)
	}
	for _, z := range zones {
		if err := o.contribute(z, whole, 1); err != nil {
			return err
		}
	}
	return nil
}

// apply changes the weight of a row.
func (o *over) apply(part []byte, c change) {
	w := c.w
	if old, ok := o.rows.Get(c.key); ok {
		_, _, have := readRow(old)
		w += have
	}
	if w == 0 {
		o.rows.Delete(c.key)
		o.stats.RowsRemoved++
		return
	}
	v := binary.AppendUvarint(nil, uint64(len(part)))
	v = binary.AppendUvarint(v, uint64(c.send))
	o.rows.Put(c.key, binary.AppendVarint(v, w))
	o.stats.RowsUpdated++
}

func readRow(val []byte) (plen, send int, w int64) {
	p, val := rowenc.Uvarint(val)
	s, val := rowenc.Uvarint(val)
	w, _ = rowenc.Varint(val)
	return int(p), int(s), w
}

// contribute computes a zone of a partition as it is in state and adds its output rows to diff with a weight.
func (o *over) contribute(zone, whole span, w int64) error {
	p := o.load(zone, whole)
	if p == nil {
		return nil
	}
	cols := append([]*batch.Vector(nil), p.b.Cols...)
	p.failed = make([]*sqlerr.Error, p.b.N)
	for k, f := range o.funcs {
		v := batch.NewVector(o.outTypes[len(o.in)+k], p.b.N)
		if err := f.compute(p, o.env, v); err != nil {
			return err
		}
		cols = append(cols, v)
	}
	for i := p.lo; i < p.hi; i++ {
		if e := p.failed[i]; e != nil {
			l := append(o.key[:0], e.Code...)
			l = binary.BigEndian.AppendUint16(l, uint16(len(e.Message)))
			o.key = rowenc.AppendRow(append(l, e.Message...), p.b.Cols, i)
			o.letters.Add(o.key, w)
			continue
		}
		o.key = rowenc.AppendRow(o.key[:0], cols, i)
		o.diff.Add(o.key, w)
	}
	return nil
}

// sendLetters sends dead letters for rows of which a function failed, and withdraws old ones.
func (o *over) sendLetters(ep *dataflow.Epoch) error {
	err := o.letters.Each(false, func(l []byte, w int64) error {
		n := 7 + int(binary.BigEndian.Uint16(l[5:]))
		b := batch.New(o.in, 1)
		rowenc.ReadRow(l[n:], b.Cols)
		b.EndRow(w)
		return ep.Sink.Dead(ep, b, 0, sqlerr.New(sqlerr.Code(l[:5]), "%s", l[7:n]))
	})
	o.letters.Reset()
	return err
}

// Stats implements dataflow.Stateful.
func (o *over) Stats() dataflow.Stats {
	s := o.stats
	s.Name = operatorName
	s.RowsTotal, s.MemoryUsedBytes = o.rows.Len(), o.rows.MemBytes()
	if o.sums != nil {
		s.MemoryUsedBytes += o.sums.MemBytes()
	}
	return s
}
