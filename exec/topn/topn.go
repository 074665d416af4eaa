package topn

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
const operatorName = "topN"

// topN keeps rows [Offset, Offset+Limit) of each partition.
//
// State:
//
//	rows    partition, sort key, row -> length of the partition, of partition and sort key (uvarints), weight (varint)
//	bounds  which prefix (1 byte), partition -> the boundary, see boundary.append
type topN struct {
	n         *plan.TopN
	env       *kernel.Env
	partition *rowenc.Partitions
	sort      *rowenc.SortKeys
	rows      *table.Ordered
	bounds    *table.Ordered
	prefixes  []prefix
	noLimit   bool
	trim      bool // rows beyond the boundary can't come back
	out       *rowenc.Out

	log   rowenc.Changes // this epoch's changes: key, then trailer
	diff  rowenc.Changes // what they change in the output, in the same form
	group []change       // the changes of one partition
	end   trimEnd        // beyond it no row of the partition at hand is kept
	key   []byte
	val   []byte
	enough
	stats dataflow.Stats
}

// trailerLen is the length of what follows a key in the logs: length of the partition, and of partition and sort key, in 4 bytes each.
const trailerLen = 8

// change is one netted change of a partition.
type change struct {
	key    []byte // without trailer; aliases the log
	logKey []byte
	w      int64 // by how much
	now    int64 // weight after it
}

func (c change) sortEnd() int { return int(binary.BigEndian.Uint32(c.logKey[len(c.key)+4:])) }

// finalChunk is the number of changes after which a SELECT brings its state up to date, so that it holds little more than the result.
const finalChunk = 1 << 16

// New makes the operator of a plan.TopN over an input with columns of the types in[0]. Limit and offset must be resolved.
func New(n *plan.TopN, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	if n.LimitExpr != nil || n.OffsetExpr != nil {
		return nil, sqlerr.New(sqlerr.InternalError, "LIMIT or OFFSET was not resolved")
	}
	if keepsFirst(n) {
		return newFirst(n, in, sp, opID, env)
	}
	return newTopN(n, in, sp, opID, env)
}

func newTopN(n *plan.TopN, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (*topN, error) {
	t := &topN{n: n, env: env, enough: newEnough(n), noLimit: n.Limit < 0, trim: n.Input.Props().AppendOnly, out: rowenc.NewOut(in[0])}
	var err error
	if t.partition, err = rowenc.CompilePartitions(n.PartitionBy, in[0], n.Timed, n.TimeKey); err != nil {
		return nil, err
	}
	if t.sort, err = rowenc.CompileSort(n.Sort, in[0]); err != nil {
		return nil, err
	}
	if n.Offset > 0 {
		t.prefixes = append(t.prefixes, prefix{id: 0, size: n.Offset, sign: -1})
	}
	if !t.noLimit {
		t.prefixes = append(t.prefixes, prefix{id: 1, size: rowenc.AddSat(n.Offset, n.Limit), sign: 1, ties: n.WithTies})
	}
	bigint := types.Of(types.Int8)
	partition := t.partition.Columns()
	key := append(append(partition[:len(partition):len(partition)], t.sort.Columns()...), rowenc.Columns("c", in[0])...)
	t.rows = sp.Ordered(table.Decl{Operator: opID, Name: "default", Key: key,
		Value: []table.Column{{Name: "partition_length", Type: bigint}, {Name: "sort_end", Type: bigint}, {Name: "weight", Type: bigint}}})
	t.bounds = sp.Ordered(table.Decl{Operator: opID, Name: "bounds", Key: append([]table.Column{{Name: "prefix", Type: bigint}}, partition...),
		Value: []table.Column{{Name: "before", Type: bigint}, {Name: "sort_end", Type: bigint}, {Name: "row", Type: types.Of(types.Bytea)}}})
	return t, nil
}

// Push implements dataflow.Operator.
func (t *topN) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, _ dataflow.Emit) error {
	if t.n.Limit == 0 {
		return nil
	}
	b, part, sort, sel, err := evaluate(ep, t.env, b, t.partition, t.sort, &t.stats)
	if err != nil {
		return err
	}
	t.took(b.N, sel, t.sort, sort)
	err = rowenc.EachRow(b.N, sel, func(i int) error {
		k := t.partition.Append(t.key[:0], part, i)
		plen := len(k)
		k = t.sort.Append(k, sort, i)
		send := len(k)
		k = rowenc.AppendRow(k, b.Cols, i)
		k = binary.BigEndian.AppendUint32(k, uint32(plen))
		t.key = binary.BigEndian.AppendUint32(k, uint32(send))
		t.log.Add(t.key, b.Weight(i))
		return nil
	})
	if err == nil && ep.Final && t.log.Len() >= finalChunk {
		err = t.update(true)
		t.diff.Reset()
	}
	return err
}

// evaluate gives the rows of b that are not late, and of those the keys of partitions and of the order, valid for the rows sel (nil: all), as
// others fail and are dead letters.
func evaluate(ep *dataflow.Epoch, env *kernel.Env, b *batch.Batch, partition *rowenc.Partitions, order *rowenc.SortKeys, stats *dataflow.Stats) (on *batch.Batch, part, sort []*batch.Vector, sel []int32, err error) {
	if b, err = partition.OnTime(ep, env, b, stats); err != nil {
		return nil, nil, nil, nil, err
	}
	part, failed := partition.Values(env, b, nil)
	sort, failed = order.Values(env, b, failed)
	sel, err = rowenc.Bury(ep, b, nil, failed)
	return b, part, sort, sel, err
}

// EndEpoch implements dataflow.Operator.
func (t *topN) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	if err := t.update(ep.Final || t.trim); err != nil {
		return err
	}
	if ep.Final {
		t.diff.Reset()
		if err := t.contents(); err != nil {
			return err
		}
	}
	err := t.diff.Each(false, func(key []byte, w int64) error {
		n := len(key) - trailerLen
		return t.out.Row(key[binary.BigEndian.Uint32(key[n+4:]):n], w, out)
	})
	t.diff.Reset()
	if err != nil {
		return err
	}
	t.close(ep)
	return t.out.Flush(out)
}

// close forgets the partitions that the watermark closes; their rows stay in the output.
func (t *topN) close(ep *dataflow.Epoch) {
	lo, hi, ok := t.partition.Closed(ep)
	if !ok {
		return
	}
	n := t.rows.Len()
	t.rows.DeleteRange(lo, hi)
	t.stats.RowsRemoved += n - t.rows.Len()
	for i := range t.prefixes {
		id := &t.prefixes[i]
		t.bounds.DeleteRange(t.boundKey(id, lo), t.boundKey(id, hi))
	}
}

// update applies the log to the state, partition by partition, and puts the changes of the output into diff.
func (t *topN) update(trim bool) error {
	t.group = t.group[:0]
	var part []byte
	err := t.log.Each(false, func(key []byte, w int64) error {
		n := len(key) - trailerLen
		plen := int(binary.BigEndian.Uint32(key[n:]))
		if !bytes.Equal(key[:plen], part) || part == nil {
			if len(t.group) > 0 {
				t.updatePartition(part, trim)
			}
			part, t.group = key[:plen:plen], t.group[:0]
			if t.trim {
				t.end = t.keepUpTo(part)
			}
		}
		c := change{key: key[:n:n], logKey: key, w: w}
		if t.trim && w > 0 && t.end.before(c.key) {
			return nil // it would be trimmed again
		}
		c.now = t.apply(c, plen)
		t.group = append(t.group, c)
		return nil
	})
	if len(t.group) > 0 {
		t.updatePartition(part, trim)
	}
	t.log.Reset()
	return err
}

// apply changes a row's weight in state and gives the new one.
func (t *topN) apply(c change, plen int) int64 {
	now := c.w
	if old, ok := t.rows.Get(c.key); ok {
		now += weight(old)
	}
	if now == 0 {
		t.rows.Delete(c.key)
		t.stats.RowsRemoved++
		return 0
	}
	v := binary.AppendUvarint(t.val[:0], uint64(plen))
	v = binary.AppendUvarint(v, uint64(c.sortEnd()))
	t.val = binary.AppendVarint(v, now)
	t.rows.Put(c.key, t.val)
	t.stats.RowsUpdated++
	return now
}

// readRow takes a value of rows apart.
func readRow(val []byte) (plen, send int, w int64) {
	p, val := rowenc.Uvarint(val)
	s, val := rowenc.Uvarint(val)
	w, _ = rowenc.Varint(val)
	return int(p), int(s), w
}

func weight(val []byte) int64 {
	_, _, w := readRow(val)
	return w
}

func (t *topN) updatePartition(part []byte, trim bool) {
	if t.noLimit {
		for _, c := range t.group {
			t.diff.Add(c.logKey, c.w)
		}
	}
	for i := range t.prefixes {
		t.movePrefix(&t.prefixes[i], part, trim)
	}
}

// contents puts what the output is as a whole into diff.
func (t *topN) contents() error {
	var part []byte
	var bounds [2]boundary
	t.rows.Scan(nil, nil, func(key, val []byte) bool {
		plen, send, w := readRow(val)
		if part == nil || !bytes.Equal(key[:plen], part) {
			part = append(make([]byte, 0, plen), key[:plen]...)
			for i := range t.prefixes {
				bounds[i] = t.load(&t.prefixes[i], part)
			}
		}
		shown := int64(0)
		if t.noLimit {
			shown = w
		}
		for i := range t.prefixes {
			p := &t.prefixes[i]
			shown += p.sign * p.included(bounds[i], key, w)
		}
		if shown != 0 {
			t.diff.Add(t.logKey(key, plen, send), shown)
		}
		return true
	})
	return nil
}

func (t *topN) logKey(key []byte, plen, send int) []byte {
	k := append(t.key[:0], key...)
	k = binary.BigEndian.AppendUint32(k, uint32(plen))
	t.key = binary.BigEndian.AppendUint32(k, uint32(send))
	return t.key
}

// Stats implements dataflow.Stateful.
func (t *topN) Stats() dataflow.Stats {
	s := t.stats
	s.Name = operatorName
	s.RowsTotal, s.MemoryUsedBytes = t.rows.Len(), t.rows.MemBytes()+t.bounds.MemBytes()
	return s
}
