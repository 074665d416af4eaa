package custom

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// input collects the rows of a port during an epoch, and gives them back by key.
type input struct {
	keys   *rowenc.Exprs
	schema *Schema
	rows   *batch.Batch // in order of arrival, then by key; one that comes several times is there several times
	keyB   *batch.Batch // the key of each row
	sel    []int32      // buffer: the rows of a batch that are taken in

	// The keys as bytes, by which they are sorted: that of row i is arena[ends[i]:ends[i+1]].
	arena  []byte
	ends   []int
	common int  // length of the prefix that all keys share
	uneven bool // the keys differ in length

	refs, spare  []keyRef
	order        []int32
	rows2, keyB2 *batch.Batch // spare ones, as are arena2 and ends2
	arena2       []byte
	ends2        []int
}

// keyRef is a row and the eight bytes of its key behind the common prefix.
type keyRef struct {
	prefix uint64
	row    int32
}

func (in *input) open(keys []plan.Expr, n plan.Node, ts []types.Type) (err error) {
	fields := make([]Field, len(ts))
	for i, c := range n.Props().Columns[:len(ts)] {
		fields[i] = Field{Name: c.Name, Type: ts[i]}
	}
	in.schema = NewSchema(fields)
	if in.keys, err = rowenc.Compile(keys, ts); err != nil {
		return err
	}
	in.clear(ts)
	return nil
}

// clear begins with no memory.
func (in *input) clear(ts []types.Type) {
	*in = input{keys: in.keys, schema: in.schema, rows: batch.New(ts, 0), keyB: batch.New(in.keys.Types, 0), ends: []int{0},
		rows2: batch.New(ts, 0), keyB2: batch.New(in.keys.Types, 0), ends2: []int{0}}
}

// add keeps the rows sel of b, whose keys stand in vecs.
func (in *input) add(vecs []*batch.Vector, b *batch.Batch, sel []int32) {
	for _, i := range sel {
		in.arena = rowenc.AppendKey(in.arena, vecs, int(i))
		n := len(in.ends)
		in.ends = append(in.ends, len(in.arena))
		if n == 1 {
			in.common = len(in.arena)
			continue
		}
		first, k := in.arena[:in.common], in.key(n-1)
		in.uneven = in.uneven || len(k) != in.ends[1]
		if !bytes.HasPrefix(k, first) {
			j := 0
			for j < len(k) && k[j] == first[j] {
				j++
			}
			in.common = j
		}
	}
	gather(in.rows, b.Cols, sel)
	gather(in.keyB, vecs, sel)
}

// gather appends the rows sel of cols.
func gather(to *batch.Batch, cols []*batch.Vector, sel []int32) {
	for c, v := range to.Cols {
		v.AppendVector(cols[c], sel)
	}
	to.N += len(sel)
}

func (in *input) key(row int) []byte {
	lo, hi := in.ends[row], in.ends[row+1]
	return in.arena[lo:hi:hi]
}

// sort orders the rows by key, those of one key as they arrived.
func (in *input) sort() {
	in.refs = in.refs[:0]
	var diff uint64
	ordered := true
	for i := 0; i < in.rows.N; i++ {
		var p [8]byte
		copy(p[:], in.key(i)[in.common:])
		in.refs = append(in.refs, keyRef{binary.BigEndian.Uint64(p[:]), int32(i)})
		diff |= in.refs[i].prefix ^ in.refs[0].prefix
		ordered = ordered && in.refs[max(0, i-1)].prefix <= in.refs[i].prefix
	}
	decided := !in.uneven && (in.rows.N == 0 || in.ends[1]-in.common <= 8)
	if ordered && decided {
		return
	}
	in.radix(diff)
	if !decided {
		in.settle()
	}
	in.order = in.order[:0]
	for _, r := range in.refs {
		in.order = append(in.order, r.row)
		in.arena2 = append(in.arena2, in.key(int(r.row))...)
		in.ends2 = append(in.ends2, len(in.arena2))
	}
	gather(in.rows2, in.rows.Cols, in.order)
	gather(in.keyB2, in.keyB.Cols, in.order)
	in.rows, in.rows2, in.keyB, in.keyB2 = in.rows2, in.rows, in.keyB2, in.keyB
	in.arena, in.arena2, in.ends, in.ends2 = in.arena2, in.arena, in.ends2, in.ends
}

// settle orders keys between which the prefix does not decide: those that are longer, or that end in zeros.
func (in *input) settle() {
	for lo := 0; lo < len(in.refs); {
		hi := lo + 1
		same := true
		for hi < len(in.refs) && in.refs[hi].prefix == in.refs[lo].prefix {
			same = same && bytes.Equal(in.key(int(in.refs[hi].row)), in.key(int(in.refs[lo].row)))
			hi++
		}
		if !same {
			slices.SortStableFunc(in.refs[lo:hi], func(a, b keyRef) int {
				return bytes.Compare(in.key(int(a.row)), in.key(int(b.row)))
			})
		}
		lo = hi
	}
}

// radix sorts by prefix, stably, a byte at a time; bytes in which no two differ are left out.
func (in *input) radix(diff uint64) {
	if len(in.refs) < 128 {
		slices.SortStableFunc(in.refs, func(a, b keyRef) int {
			switch {
			case a.prefix < b.prefix:
				return -1
			case a.prefix > b.prefix:
				return 1
			}
			return 0
		})
		return
	}
	in.spare = slices.Grow(in.spare[:0], len(in.refs))[:len(in.refs)]
	for shift := 0; shift < 64; shift += 8 {
		if byte(diff>>shift) == 0 {
			continue
		}
		var at [257]int
		for _, r := range in.refs {
			at[1+int(byte(r.prefix>>shift))]++
		}
		for i := 1; i < 256; i++ {
			at[i] += at[i-1]
		}
		for _, r := range in.refs {
			d := byte(r.prefix >> shift)
			in.spare[at[d]] = r
			at[d]++
		}
		in.refs, in.spare = in.spare, in.refs
	}
}

// each calls f for every key, ascending, and empties the input.
func (in *input) each(f func(key Row, gkey []byte, rows Rows) error) error {
	in.sort()
	in.order = in.order[:0]
	for i := 0; i < in.rows.N; i++ {
		in.order = append(in.order, int32(i))
	}
	for lo := 0; lo < in.rows.N; {
		gkey, hi := in.key(lo), lo+1
		for hi < in.rows.N && bytes.Equal(in.key(hi), gkey) {
			hi++
		}
		if err := f(Row{b: in.keyB, i: lo}, gkey, Rows{schema: in.schema, b: in.rows, at: in.order[lo:hi:hi]}); err != nil {
			return err
		}
		lo = hi
	}
	in.reset()
	return nil
}

func (in *input) reset() {
	if in.rows == nil {
		return
	}
	if in.rows.N > 1<<16 {
		in.clear(in.rows.Types())
		return
	}
	for _, b := range []*batch.Batch{in.rows, in.rows2, in.keyB, in.keyB2} {
		b.Reset()
	}
	in.arena, in.ends, in.arena2, in.ends2 = in.arena[:0], in.ends[:1], in.arena2[:0], in.ends2[:1]
	in.common, in.uneven = 0, false
}
