package over

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

var errShort = errors.New("sum of a partition's rows is truncated")

func corrupt(err error) *table.Failure { return &table.Failure{Err: err} }

// summary is what is known of a stretch of a partition without looking at its rows: how many there are, in how many peer groups, and what the
// running aggregates make of them. It is the table.Summary of the operator.
//
// Stored: rows (uvarint); with groups their number (uvarint) and the first and the last sort key, each behind its length; and
// for each running aggregate what it appends, behind its length.
type summary struct {
	o           *over
	accs        []running
	countGroups bool

	rows, groups int64
	first, last  []byte
	b            *batch.Batch // rows that accs have not been given yet
}

func (s *summary) Reset() {
	s.rows, s.groups, s.first, s.last = 0, 0, s.first[:0], s.last[:0]
	for _, a := range s.accs {
		a.reset()
	}
	s.b.Reset()
}

func (s *summary) Entry(key, val []byte) {
	plen, send, w := readRow(val)
	s.rows += w
	if s.countGroups {
		s.group(1, key[plen:send], key[plen:send])
	}
	if len(s.accs) == 0 {
		return
	}
	for ; w > 0; w-- {
		rowenc.ReadRow(key[send:], s.b.Cols)
		s.b.EndRow(1)
	}
	if s.b.N >= batch.Target {
		s.flush()
	}
}

// group adds groups, of which the first may be that which was last.
func (s *summary) group(n int64, first, last []byte) {
	switch {
	case s.groups == 0:
		s.first = append(s.first[:0], first...)
	case bytes.Equal(s.last, first):
		n--
	}
	s.groups += n
	s.last = append(s.last[:0], last...)
}

// flush gives the rows that were put aside to the aggregates.
func (s *summary) flush() {
	if s.b.N == 0 {
		return
	}
	for _, f := range s.o.states {
		vecs, _, err := f.args.Eval(nil, s.o.env, s.b)
		if err != nil {
			panic(corrupt(err)) // it did not fail when the rows came
		}
		arg, passes := f.argument(vecs)
		for i := 0; i < s.b.N; i++ {
			if passes(i) {
				s.accs[f.slot].add(arg, i)
			}
		}
	}
	s.b.Reset()
}

func piece(b []byte) (p, rest []byte) {
	n, b := rowenc.Uvarint(b)
	if uint64(len(b)) < n {
		panic(corrupt(errShort))
	}
	return b[:n:n], b[n:]
}

func appendPiece(dst, p []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(p))), p...)
}

func (s *summary) Node(sum []byte) {
	s.flush()
	n, sum := rowenc.Uvarint(sum)
	s.rows += int64(n)
	if s.countGroups {
		var first, last []byte
		n, sum = rowenc.Uvarint(sum)
		first, sum = piece(sum)
		last, sum = piece(sum)
		if n > 0 {
			s.group(int64(n), first, last)
		}
	}
	var p []byte
	for _, a := range s.accs {
		p, sum = piece(sum)
		a.merge(p)
	}
}

func (s *summary) Append(dst []byte) []byte {
	s.flush()
	dst = binary.AppendUvarint(dst, uint64(s.rows))
	if s.countGroups {
		dst = appendPiece(appendPiece(binary.AppendUvarint(dst, uint64(s.groups)), s.first), s.last)
	}
	for _, a := range s.accs {
		dst = appendPiece(dst, a.append(nil))
	}
	return dst
}

func (s *summary) Rows(sum []byte) int64 {
	n, _ := rowenc.Uvarint(sum)
	return int64(n)
}

func (s *summary) EntryRows(val []byte) int64 {
	_, _, w := readRow(val)
	return w
}

// states gives what the aggregates stand at, each in the form that it merges.
func (s *summary) states() [][]byte {
	s.flush()
	out := make([][]byte, len(s.accs))
	for i, a := range s.accs {
		out[i] = a.append(nil)
	}
	return out
}

// newSummary makes the summary for the operator's functions and numbers their states.
func newSummary(o *over, names []string) (*summary, error) {
	s := &summary{o: o, b: batch.New(o.in, 64)}
	for i, f := range o.funcs {
		s.countGroups = s.countGroups || f.zone == zoneDense
		if f.state == nil {
			continue
		}
		t := types.Of(types.Any)
		if f.nargs > 0 {
			t = f.args.Types[0]
		}
		acc, err := newRunning(names[i], t, false)
		if err != nil {
			return nil, err
		}
		f.slot = len(s.accs)
		s.accs, o.states = append(s.accs, acc), append(o.states, f)
	}
	return s, nil
}

// declareSums declares the table of sums.
func declareSums(o *over, sp *table.Space, opID int, key []table.Column) *table.Ordered {
	part := append(key[:len(key):len(key)], table.Column{Name: "level_and_row", Type: types.Of(types.Bytea)})
	return sp.Ordered(table.Decl{Operator: opID, Name: "sums", Key: part, Value: []table.Column{{Name: "sum", Type: types.Of(types.Bytea)}}})
}
