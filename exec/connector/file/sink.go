package file

import (
	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// maxRaw is how much of a bad row's text is kept.
const maxRaw = 1024

// sink takes the rows of a chunk.
type sink struct {
	fields []field
	rows   *batch.Batch
	bad    []connector.BadRow
	part   string // the file that is being read
	bytes  int    // of text that was taken
}

// types are those of the columns.
func (s *sink) types() []types.Type {
	ts := make([]types.Type, len(s.fields))
	for i := range ts {
		ts[i] = s.fields[i].typ
	}
	return ts
}

// full says whether the chunk has enough: max rows, bad ones counted, or much text.
func (s *sink) full(max int) bool {
	return s.rows.N+len(s.bad) >= max || s.bytes >= chunkBytes
}

// undo drops the values of a row that was not finished.
func (s *sink) undo() {
	for _, v := range s.rows.Cols {
		truncate(v, s.rows.N)
	}
}

// reject drops the row and notes why.
func (s *sink) reject(line int64, raw []byte, err error) {
	s.undo()
	if len(raw) > maxRaw {
		raw = raw[:maxRaw]
	}
	e := *sqlerr.From(err)
	e.Message = types.ValidText(e.Message)
	s.bad = append(s.bad, connector.BadRow{Part: s.part, Line: line, Err: &e, Raw: types.ValidText(string(raw))})
}

// fill gives NULL to the columns that the row has not set, and ends it.
func (s *sink) fill() error {
	for i, v := range s.rows.Cols {
		if v.N == s.rows.N {
			if err := s.fields[i].null(v); err != nil {
				return err
			}
		}
	}
	s.rows.EndRow(1)
	return nil
}

// truncate drops the values from n on.
func truncate(v *batch.Vector, n int) {
	if v.N <= n {
		return
	}
	v.N = n
	if v.Off != nil {
		v.Off = v.Off[:n+1]
		v.Data = v.Data[:v.Off[n]]
	}
	if v.I64 != nil {
		v.I64 = v.I64[:n]
	}
	if v.J64 != nil {
		v.J64 = v.J64[:n]
	}
	if v.F64 != nil {
		v.F64 = v.F64[:n]
	}
}
