package types

import (
	"bytes"
	"math"
	"strconv"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// The functions in this file work on canonical jsonb text and give such text,
// appended to dst.

// JSONContains says whether a contains b, PostgreSQL's @>.
func JSONContains(a, b []byte) bool {
	ka, kb := JSONTypeOf(a), JSONTypeOf(b)
	// At the top, an array contains a scalar that is one of its elements.
	if ka == JSONArray && kb < JSONArray {
		return jsonHasElement(a, b)
	}
	return jsonContains(a, b, ka, kb)
}

func jsonContains(a, b []byte, ka, kb JSONKind) bool {
	if ka != kb {
		return false
	}
	switch ka {
	case JSONObject:
		for it := IterJSON(b); it.Next(); {
			v, ok := jsonMemberRaw(a, it.Key)
			if !ok || !jsonContains(v, it.Value, JSONTypeOf(v), JSONTypeOf(it.Value)) {
				return false
			}
		}
		return true
	case JSONArray:
		for it := IterJSON(b); it.Next(); {
			if !jsonHasElement(a, it.Value) {
				return false
			}
		}
		return true
	}
	return jsonScalarEqual(a, b)
}

// jsonHasElement says whether an array has an element that is, or for
// containers contains, v.
func jsonHasElement(array, v []byte) bool {
	k := JSONTypeOf(v)
	for it := IterJSON(array); it.Next(); {
		if jsonContains(it.Value, v, JSONTypeOf(it.Value), k) {
			return true
		}
	}
	return false
}

// jsonMemberRaw finds a member by its canonical key, quotes included.
func jsonMemberRaw(obj, key []byte) ([]byte, bool) {
	for it := IterJSON(obj); it.Next(); {
		if bytes.Equal(it.Key, key) {
			return it.Value, true
		}
	}
	return nil, false
}

func jsonScalarEqual(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if JSONTypeOf(a) != JSONNumber || JSONTypeOf(b) != JSONNumber {
		return false
	}
	x, _, _ := scanNum(string(a))
	y, _, _ := scanNum(string(b))
	return x.Cmp(y) == 0
}

// JSONExists says whether a string is a key of an object, an element of an
// array or the scalar itself, PostgreSQL's ?.
func JSONExists(b []byte, key string) bool {
	switch JSONTypeOf(b) {
	case JSONObject:
		_, ok := JSONGet(b, key)
		return ok
	case JSONArray:
		for it := IterJSON(b); it.Next(); {
			if JSONTypeOf(it.Value) == JSONString && jsonKeyIs(it.Value, key) {
				return true
			}
		}
	case JSONString:
		return jsonKeyIs(b, key)
	}
	return false
}

// jsonWriter writes one container canonically.
type jsonWriter struct {
	dst   []byte
	first bool
}

func newJSONWriter(dst []byte, open byte) jsonWriter {
	return jsonWriter{dst: append(dst, open), first: true}
}

// item writes the separator and, in an object, the canonical key.
func (w *jsonWriter) item(key []byte) {
	if !w.first {
		w.dst = append(w.dst, ", "...)
	}
	w.first = false
	if key != nil {
		w.dst = append(append(w.dst, key...), ": "...)
	}
}

func (w *jsonWriter) put(key, value []byte) {
	w.item(key)
	w.dst = append(w.dst, value...)
}

// AppendJSONConcat appends a || b: objects merged, anything else as arrays.
func AppendJSONConcat(dst, a, b []byte) []byte {
	if JSONTypeOf(a) == JSONObject && JSONTypeOf(b) == JSONObject {
		return mergeObjects(dst, a, b)
	}
	w := newJSONWriter(dst, '[')
	for _, v := range [...][]byte{a, b} {
		if JSONTypeOf(v) != JSONArray {
			w.put(nil, v)
			continue
		}
		for it := IterJSON(v); it.Next(); {
			w.put(nil, it.Value)
		}
	}
	return append(w.dst, ']')
}

// mergeObjects merges members in their order; those of b win.
func mergeObjects(dst, a, b []byte) []byte {
	w := newJSONWriter(dst, '{')
	x, y := IterJSON(a), IterJSON(b)
	okX, okY := x.Next(), y.Next()
	for okX || okY {
		c := -1
		if !okX {
			c = 1
		} else if okY {
			c = compareJSONKeys(JSONUnquote(x.Key), JSONUnquote(y.Key))
		}
		if c < 0 {
			w.put(x.Key, x.Value)
		} else {
			w.put(y.Key, y.Value)
		}
		if c <= 0 {
			okX = x.Next()
		}
		if c >= 0 {
			okY = y.Next()
		}
	}
	return append(w.dst, '}')
}

// AppendJSONDelete appends b without a key, or without the elements that are
// that string: PostgreSQL's - text. Error: 22023 for a scalar.
func AppendJSONDelete(dst, b []byte, keys ...string) ([]byte, error) {
	k := JSONTypeOf(b)
	if k < JSONArray {
		return dst, sqlerr.New(sqlerr.InvalidParameterValue, "cannot delete from scalar")
	}
	w := newJSONWriter(dst, b[0])
	for it := IterJSON(b); it.Next(); {
		drop := false
		for _, key := range keys {
			if k == JSONObject {
				drop = drop || jsonKeyIs(it.Key, key)
			} else {
				drop = drop || JSONTypeOf(it.Value) == JSONString && jsonKeyIs(it.Value, key)
			}
		}
		if !drop {
			w.put(it.Key, it.Value)
		}
	}
	return append(w.dst, b[len(b)-1]), nil
}

// AppendJSONDeleteIndex appends b without the element at an index, negative
// ones from the end. Error: 22023 for anything but an array.
func AppendJSONDeleteIndex(dst, b []byte, index int) ([]byte, error) {
	switch JSONTypeOf(b) {
	case JSONArray:
	case JSONObject:
		return dst, sqlerr.New(sqlerr.InvalidParameterValue, "cannot delete from object using integer index")
	default:
		return dst, sqlerr.New(sqlerr.InvalidParameterValue, "cannot delete from scalar")
	}
	if index < 0 {
		index += JSONLen(b)
	}
	w := newJSONWriter(dst, '[')
	for i, it := 0, IterJSON(b); it.Next(); i++ {
		if i != index {
			w.put(nil, it.Value)
		}
	}
	return append(w.dst, ']'), nil
}

// jsonPathOp says what to do at the end of a path.
type jsonPathOp uint8

const (
	jsonPathSet    jsonPathOp = iota // replace what is there
	jsonPathCreate                   // replace, or add where there is nothing
	jsonPathBefore                   // insert before an element, or a new member
	jsonPathAfter                    // insert after an element, or a new member
	jsonPathDelete
)

// AppendJSONSet appends b with the value at a path replaced, or added if create
// is set: jsonb_set. Errors: 22023 for a scalar, 22P02 for a bad index.
func AppendJSONSet(dst, b []byte, path []string, value []byte, create bool) ([]byte, error) {
	op := jsonPathSet
	if create {
		op = jsonPathCreate
	}
	return appendJSONPathOp(dst, b, path, value, op)
}

// AppendJSONInsert appends b with a value inserted at a path: jsonb_insert.
// Errors: as AppendJSONSet, and 22023 for a member that exists.
func AppendJSONInsert(dst, b []byte, path []string, value []byte, after bool) ([]byte, error) {
	op := jsonPathBefore
	if after {
		op = jsonPathAfter
	}
	return appendJSONPathOp(dst, b, path, value, op)
}

// AppendJSONDeletePath appends b without what is at a path: PostgreSQL's #-.
// Errors: as AppendJSONSet.
func AppendJSONDeletePath(dst, b []byte, path []string) ([]byte, error) {
	return appendJSONPathOp(dst, b, path, nil, jsonPathDelete)
}

func appendJSONPathOp(dst, b []byte, path []string, value []byte, op jsonPathOp) ([]byte, error) {
	if JSONTypeOf(b) < JSONArray {
		verb := "set path in"
		if op == jsonPathDelete {
			verb = "delete path in"
		}
		return dst, sqlerr.New(sqlerr.InvalidParameterValue, "cannot %s scalar", verb)
	}
	if len(path) == 0 {
		return append(dst, b...), nil
	}
	e := jsonEdit{path: path, value: value, op: op}
	return e.apply(dst, b, 0)
}

type jsonEdit struct {
	path  []string
	value []byte
	op    jsonPathOp
}

func (e *jsonEdit) last(level int) bool { return level == len(e.path)-1 }

func (e *jsonEdit) apply(dst, b []byte, level int) ([]byte, error) {
	switch JSONTypeOf(b) {
	case JSONObject:
		return e.object(dst, b, level)
	case JSONArray:
		return e.array(dst, b, level)
	}
	return append(dst, b...), nil
}

func (e *jsonEdit) object(dst, b []byte, level int) (_ []byte, err error) {
	name := []byte(e.path[level])
	key := AppendJSONString(nil, name)
	w := newJSONWriter(dst, '{')
	add := e.last(level) && (e.op == jsonPathCreate || e.op == jsonPathBefore || e.op == jsonPathAfter)
	for it := IterJSON(b); it.Next(); {
		c := compareJSONKeys(JSONUnquote(it.Key), name)
		if c > 0 && add {
			w.put(key, e.value)
			add = false
		}
		switch {
		case c != 0:
			w.put(it.Key, it.Value)
		case !e.last(level):
			w.item(it.Key)
			if w.dst, err = e.apply(w.dst, it.Value, level+1); err != nil {
				return dst, err
			}
		case e.op == jsonPathDelete:
		case e.op == jsonPathBefore || e.op == jsonPathAfter:
			return dst, sqlerr.New(sqlerr.InvalidParameterValue, "cannot replace existing key").
				WithHint("Try using the function jsonb_set to replace key value.")
		default:
			w.put(key, e.value)
			add = false
		}
	}
	if add {
		w.put(key, e.value)
	}
	return append(w.dst, '}'), nil
}

func (e *jsonEdit) array(dst, b []byte, level int) (_ []byte, err error) {
	step := e.path[level]
	index, perr := strconv.ParseInt(step, 10, 32)
	if perr != nil {
		return dst, sqlerr.New(sqlerr.InvalidTextRepresentation, "path element at position %d is not an integer: \"%s\"", level+1, step)
	}
	n := JSONLen(b)
	if index < 0 {
		if -index > int64(n) {
			index = math.MinInt32 // before everything
		} else {
			index += int64(n)
		}
	}
	index = min(index, int64(n))
	add := e.last(level) && e.op != jsonPathDelete && e.op != jsonPathSet
	w := newJSONWriter(dst, '[')
	if add && (index == math.MinInt32 || n == 0) {
		w.put(nil, e.value)
		add = false
	}
	for i, it := 0, IterJSON(b); it.Next(); i++ {
		switch {
		case int64(i) != index:
			w.put(nil, it.Value)
		case !e.last(level):
			w.item(nil)
			if w.dst, err = e.apply(w.dst, it.Value, level+1); err != nil {
				return dst, err
			}
		case e.op == jsonPathDelete:
		case e.op == jsonPathBefore:
			w.put(nil, e.value)
			w.put(nil, it.Value)
			add = false
		case e.op == jsonPathAfter:
			w.put(nil, it.Value)
			w.put(nil, e.value)
			add = false
		default:
			w.put(nil, e.value)
			add = false
		}
	}
	if add {
		w.put(nil, e.value)
	}
	return append(w.dst, ']'), nil
}

// AppendJSONStripNulls appends b without members that are null, at any depth:
// jsonb_strip_nulls, or with compact set json_strip_nulls, which writes no
// spaces and takes any valid JSON.
func AppendJSONStripNulls(dst, b []byte, compact bool) []byte {
	b = bytes.Trim(b, " \t\r\n")
	k := JSONTypeOf(b)
	if k < JSONArray {
		if compact && k == JSONString {
			return AppendJSONString(dst, JSONUnquote(b))
		}
		return append(dst, b...)
	}
	sep, colon := ", ", ": "
	if compact {
		sep, colon = ",", ":"
	}
	dst = append(dst, b[0])
	first := true
	for it := IterJSON(b); it.Next(); {
		if k == JSONObject && JSONTypeOf(it.Value) == JSONNull {
			continue
		}
		if !first {
			dst = append(dst, sep...)
		}
		first = false
		if k == JSONObject {
			dst = append(AppendJSONString(dst, JSONUnquote(it.Key)), colon...)
		}
		dst = AppendJSONStripNulls(dst, it.Value, compact)
	}
	return append(dst, b[len(b)-1])
}

// AppendJSONPretty appends b over several lines with four spaces a level: jsonb_pretty.
func AppendJSONPretty(dst, b []byte) []byte { return appendPretty(dst, b, 0) }

func appendPretty(dst, b []byte, level int) []byte {
	if JSONTypeOf(b) < JSONArray {
		return append(dst, b...)
	}
	line := func(level int) {
		dst = append(dst, '\n')
		for i := 0; i < level; i++ {
			dst = append(dst, "    "...)
		}
	}
	dst = append(dst, b[0])
	first := true
	for it := IterJSON(b); it.Next(); {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		line(level + 1)
		if it.Key != nil {
			dst = append(append(dst, it.Key...), ": "...)
		}
		dst = appendPretty(dst, it.Value, level+1)
	}
	line(level)
	return append(dst, b[len(b)-1])
}
