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
// State: partition, sort key, row -> length of the partition, of partition and sort key (uvarints), weight (varint).
type over struct {
	env       *kernel.Env
	in        []types.Type
	outTypes  []types.Type
	partition *rowenc.Exprs
	sort      *rowenc.SortKeys
	funcs     []*function
	local     bool // every function depends on rows within reach only
	reach     int
	rows      *table.Ordered
	out       *rowenc.Out

	log     rowenc.Changes // this epoch's changes: key, then trailer
	diff    rowenc.Changes // encoded output rows
	letters rowenc.Changes // SQLSTATE (5 bytes), length of message (2 bytes), message, encoded input row
	key     []byte
	stats   dataflow.Stats
}

// trailerLen is the length of what follows a key in the log: length of the partition, and of partition and sort key, in 4 bytes each.
const trailerLen = 8

// New makes the operator of a plan.OverWindow over an input with columns of the types in[0]. A function that is not built is a 0A000.
func New(n *plan.OverWindow, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	o := &over{env: env, in: in[0], outTypes: append([]types.Type(nil), in[0]...)}
	var err error
	if o.partition, err = rowenc.Compile(n.PartitionBy, in[0]); err != nil {
		return nil, err
	}
	if o.sort, err = rowenc.CompileSort(n.Sort, in[0]); err != nil {
		return nil, err
	}
	o.local = true
	for i := range n.Funcs {
		f, err := newFunction(&n.Funcs[i], n.Sort, in[0], env)
		if err != nil {
			return nil, err
		}
		o.funcs, o.outTypes = append(o.funcs, f), append(o.outTypes, n.Funcs[i].Typ)
		r, ok := f.reach(&n.Funcs[i])
		o.local, o.reach = o.local && ok, max(o.reach, r)
	}
	o.out = rowenc.NewOut(o.outTypes)
	bigint := types.Of(types.Int8)
	key := append(rowenc.Columns("partition", o.partition.Types), rowenc.Columns("sort", o.sort.Types)...)
	o.rows = sp.Ordered(table.Decl{Operator: opID, Name: "default", Key: append(key, rowenc.Columns("c", in[0])...),
		Value: []table.Column{{Name: "partition_length", Type: bigint}, {Name: "sort_end", Type: bigint}, {Name: "weight", Type: bigint}}})
	return o, nil
}

// Push implements dataflow.Operator. Arguments are evaluated here so that a row for which one fails never gets into state.
func (o *over) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, _ dataflow.Emit) error {
	good, err := o.withoutFailures(ep, b)
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
		k := rowenc.AppendKey(o.key[:0], part, i)
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
	all := []*rowenc.Exprs{o.partition, o.sort.Exprs}
	for _, f := range o.funcs {
		all = append(all, f.args)
	}
	for _, x := range all {
		_, sel, err := x.Eval(ep, o.env, b)
		if err != nil {
			return nil, err
		}
		if sel != nil {
			b = b.Select(sel)
		}
	}
	return b, nil
}

// EndEpoch implements dataflow.Operator.
func (o *over) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	var part []byte
	var group [][]byte // log keys of the partition at hand
	var by []int64
	finish := func() error {
		if part == nil {
			return nil
		}
		return o.change(part, group, by)
	}
	err := o.log.Each(false, func(key []byte, w int64) error {
		plen := int(binary.BigEndian.Uint32(key[len(key)-trailerLen:]))
		if part == nil || !bytes.Equal(key[:plen], part) {
			if err := finish(); err != nil {
				return err
			}
			part, group, by = key[:plen:plen], group[:0], by[:0]
		}
		group, by = append(group, key), append(by, w)
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
	return o.out.Flush(out)
}

// change applies the changes of a partition and puts the difference that they make into diff.
func (o *over) change(part []byte, group [][]byte, by []int64) error {
	whole := span{part, rowenc.PrefixEnd(nil, part)}
	for len(group) > 0 {
		at, n := whole, len(group)
		if o.local {
			at, n = o.around(whole, group)
		}
		if err := o.recompute(at, part, group[:n], by[:n]); err != nil {
			return err
		}
		group, by = group[n:], by[n:]
	}
	return nil
}

// recompute applies changes of rows that lie in a span of a partition and computes the span before and after.
func (o *over) recompute(at span, part []byte, group [][]byte, by []int64) error {
	if err := o.contribute(at, -1); err != nil {
		return err
	}
	for i, key := range group {
		n := len(key) - trailerLen
		w := by[i]
		if old, ok := o.rows.Get(key[:n]); ok {
			_, _, have := readRow(old)
			w += have
		}
		if w == 0 {
			o.rows.Delete(key[:n])
			o.stats.RowsRemoved++
			continue
		}
		v := binary.AppendUvarint(nil, uint64(len(part)))
		v = binary.AppendUvarint(v, uint64(binary.BigEndian.Uint32(key[n+4:])))
		o.rows.Put(key[:n], binary.AppendVarint(v, w))
		o.stats.RowsUpdated++
	}
	return o.contribute(at, 1)
}

func readRow(val []byte) (plen, send int, w int64) {
	p, val := rowenc.Uvarint(val)
	s, val := rowenc.Uvarint(val)
	w, _ = rowenc.Varint(val)
	return int(p), int(s), w
}

// contribute computes a span of a partition as it is in state and adds its output rows to diff with a weight.
func (o *over) contribute(at span, w int64) error {
	p := o.load(at)
	if p.b.N == 0 {
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
	for i := 0; i < p.b.N; i++ {
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

// partition is the rows of one partition, or of a span of it, in order, each as often as its weight says.
type partition struct {
	b *batch.Batch
	// Rows that sort alike are peers: start[i] and end[i] bound the peers of row i, group[i] numbers their group; groups[g] is
	// the first row of group g, and the last entry the number of rows.
	start, end, group, groups []int
	failed                    []*sqlerr.Error // of a function, by row
}

func (o *over) load(at span) *partition {
	p := &partition{b: batch.New(o.in, 64)}
	var last []byte
	o.rows.Scan(at.lo, at.hi, func(key, val []byte) bool {
		_, send, w := readRow(val)
		if len(p.groups) == 0 || !bytes.Equal(key[:send], last) {
			last = append(last[:0], key[:send]...)
			p.groups = append(p.groups, p.b.N)
		}
		for ; w > 0; w-- {
			rowenc.ReadRow(key[send:], p.b.Cols)
			p.b.EndRow(1)
			p.start, p.group = append(p.start, p.groups[len(p.groups)-1]), append(p.group, len(p.groups)-1)
		}
		return true
	})
	p.groups = append(p.groups, p.b.N)
	p.end = make([]int, p.b.N)
	for i, g := range p.group {
		p.end[i] = p.groups[g+1]
	}
	return p
}

// Stats implements dataflow.Stateful.
func (o *over) Stats() dataflow.Stats {
	s := o.stats
	s.Name = operatorName
	s.RowsTotal, s.MemoryUsedBytes = o.rows.Len(), o.rows.MemBytes()
	return s
}
