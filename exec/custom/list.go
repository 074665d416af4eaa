package custom

import (
	"bytes"
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// ListState is a list for each key. Its methods work on the key of the call that runs.
//
// State: in lists, what the entry carries of the key and the bounds [first, next) of the elements' numbers (varints); in listElements, the number
// (8 bytes) behind the same key, and values without a key.
type ListState struct{ v *variable }

// Schema describes an element.
func (s *ListState) Schema() *Schema { return s.v.val }

func (v *variable) bounds() (first, next int64, ok bool) {
	val, ok := v.h.st.lists.Get(v.at())
	if !ok {
		return 0, 0, false
	}
	first, next = readBounds(v.h.keys.skip(val))
	return first, next, true
}

func readBounds(val []byte) (first, next int64) {
	first, val = rowenc.Varint(val)
	next, _ = rowenc.Varint(val)
	return first, next
}

func (v *variable) setBounds(first, next int64) {
	val := append([]byte(nil), v.h.key...)
	val = binary.AppendVarint(binary.AppendVarint(val, first), next)
	v.h.st.put(v.h.st.lists, v.at(), val)
}

func (v *variable) elem(n int64) []byte {
	v.at()
	v.key = rowenc.AppendTime(v.key, n)
	return v.key
}

// Exists says whether the list has an element.
func (s *ListState) Exists() (bool, error) {
	if err := s.v.check("exists"); err != nil {
		return false, err
	}
	rows, _ := s.page(-1, 1)
	return len(rows) > 0, nil
}

// Page gives up to n elements behind a cursor, -1 at first, and the cursor behind them, -1 at the end.
func (s *ListState) Page(cursor int64, n int) ([]Row, int64, error) {
	if err := s.v.check("get"); err != nil {
		return nil, -1, err
	}
	rows, next := s.page(cursor, n)
	return rows, next, nil
}

func (s *ListState) page(cursor int64, n int) (out []Row, at int64) {
	v := s.v
	first, next, ok := v.bounds()
	first = max(first, cursor+1)
	if !ok || first >= next {
		return nil, -1
	}
	lo := bytes.Clone(v.elem(first))
	hi := bytes.Clone(v.elem(next))
	full := false
	v.h.st.elems.Scan(lo, hi, func(k, val []byte) bool {
		if full = len(out) == n; full {
			return false
		}
		if v.ttl > 0 {
			if exp, _ := rowenc.Varint(val); exp <= v.h.now {
				return true
			}
		}
		out = append(out, v.decode(val))
		at = rowenc.ReadTime(k[len(k)-8:])
		return true
	})
	if !full {
		return out, -1
	}
	return out, at
}

// AppendDatums appends one element.
func (s *ListState) AppendDatums(vals []types.Datum) error {
	v := s.v
	if err := v.check("appendValue"); err != nil {
		return err
	}
	if err := v.fits("element", v.val, vals); err != nil {
		return err
	}
	first, next, _ := v.bounds()
	v.append(first, next, vals)
	return nil
}

func (v *variable) append(first, next int64, vals []types.Datum) {
	v.write(v.h.st.elems, v.elem(next), v.encode(nil, vals, true), true)
	v.setBounds(first, next+1)
}

// Append appends one element given as Go values (see ValueState.Update).
func (s *ListState) Append(vals ...any) error {
	ds, err := fromGo(s.v.h.datums(len(vals)), s.v.val, vals)
	if err != nil {
		return err
	}
	return s.AppendDatums(ds)
}

// AppendList appends elements; none is an error, as in Spark.
func (s *ListState) AppendList(elems [][]types.Datum) error {
	if err := s.v.check("appendList"); err != nil {
		return err
	}
	return s.appendAll(elems)
}

func (s *ListState) appendAll(elems [][]types.Datum) error {
	if len(elems) == 0 {
		return condition(condEmptyList, "Illegal value provided to the State Store: empty list value provided for state %s.", s.v.name)
	}
	for _, e := range elems {
		if err := s.v.fits("element", s.v.val, e); err != nil {
			return err
		}
	}
	for _, e := range elems {
		first, next, _ := s.v.bounds()
		s.v.append(first, next, e)
	}
	return nil
}

// Put replaces the list; an empty one is an error, as in Spark.
func (s *ListState) Put(elems [][]types.Datum) error {
	if err := s.v.check("put"); err != nil {
		return err
	}
	if len(elems) > 0 {
		s.clear()
	}
	return s.appendAll(elems)
}

// Clear removes all elements.
func (s *ListState) Clear() error {
	if err := s.v.check("clear"); err != nil {
		return err
	}
	s.clear()
	return nil
}

// clear moves the list's beginning to its end; the elements go when the call has succeeded.
func (s *ListState) clear() {
	v := s.v
	first, next, ok := v.bounds()
	if !ok || first == next {
		return
	}
	st := v.h.st
	st.deferred = append(st.deferred, clearing{st.elems, bytes.Clone(v.elem(first)), bytes.Clone(v.elem(next)), v})
	v.setBounds(next, next)
	v.cleared = true
}

// settleList removes the bounds of a list that a call has left empty.
func (v *variable) settleList() {
	if first, next, ok := v.bounds(); ok && first == next {
		v.h.st.delete(v.h.st.lists, v.at())
		v.h.removed++
	}
}
