package types

import (
	"bytes"
	"strconv"
)

// The functions in this file read JSON text that is known to be valid, json or
// jsonb alike, without building a tree. Results alias their argument unless
// said otherwise.

// JSONIter steps through the elements of an array or members of an object.
type JSONIter struct {
	Key   []byte // the member's key with its quotes, as written; nil in an array
	Value []byte // the element's or member's text
	b     []byte
	pos   int
	obj   bool
}

// IterJSON starts before the first element of a container; a scalar has none.
func IterJSON(b []byte) JSONIter {
	i := jsonSpace(b, 0)
	it := JSONIter{b: b, pos: len(b)}
	if i < len(b) && (b[i] == '[' || b[i] == '{') {
		it.obj, it.pos = b[i] == '{', i+1
	}
	return it
}

// Next moves to the next element and says whether there is one.
func (it *JSONIter) Next() bool {
	i := jsonSpace(it.b, it.pos)
	if i < len(it.b) && it.b[i] == ',' {
		i = jsonSpace(it.b, i+1)
	}
	if i >= len(it.b) || it.b[i] == ']' || it.b[i] == '}' {
		it.pos = len(it.b)
		return false
	}
	if it.obj {
		end := jsonSkip(it.b, i)
		it.Key = it.b[i:end]
		i = jsonSpace(it.b, end)
		i = jsonSpace(it.b, min(i+1, len(it.b))) // the colon
	}
	end := jsonSkip(it.b, i)
	it.Value = it.b[i:end:end]
	it.pos = end
	return end > i
}

func jsonSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// jsonSkip gives the end of the value that starts at i.
func jsonSkip(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = jsonSkipString(b, i)
		case '[', '{':
			depth++
			i++
			continue
		case ']', '}':
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i < len(b) && bytes.IndexByte([]byte(",:]} \n\t\r"), b[i]) < 0 {
				i++
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return i
}

func jsonSkipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// JSONUnquote gives what a JSON string, with its quotes, means. It copies only
// where the string has escapes; an escape without meaning stays as it is.
func JSONUnquote(s []byte) []byte {
	if len(s) < 2 {
		return s
	}
	body := s[1 : len(s)-1]
	if bytes.IndexByte(body, '\\') < 0 {
		return body
	}
	p := jsonParser{b: s}
	if p.str() != nil {
		return body
	}
	return p.text
}

// JSONKind is the type of a JSON value.
type JSONKind uint8

// The JSON types.
const (
	JSONNull JSONKind = iota
	JSONString
	JSONNumber
	JSONBoolean
	JSONArray
	JSONObject
)

// String gives the name as jsonb_typeof does.
func (k JSONKind) String() string {
	return [...]string{"null", "string", "number", "boolean", "array", "object"}[k]
}

// JSONTypeOf gives the type of a JSON value.
func JSONTypeOf(b []byte) JSONKind {
	i := jsonSpace(b, 0)
	if i == len(b) {
		return JSONNull
	}
	switch b[i] {
	case '"':
		return JSONString
	case '[':
		return JSONArray
	case '{':
		return JSONObject
	case 't', 'f':
		return JSONBoolean
	case 'n':
		return JSONNull
	}
	return JSONNumber
}

func jsonKeyIs(key []byte, field string) bool {
	body := key[1 : len(key)-1]
	if bytes.IndexByte(body, '\\') < 0 {
		return string(body) == field
	}
	return string(JSONUnquote(key)) == field
}

// JSONGet gives the member of an object, PostgreSQL's -> text; the last one
// where json has several. false: not an object, or no such member.
func JSONGet(b []byte, field string) (v []byte, ok bool) {
	if JSONTypeOf(b) != JSONObject {
		return nil, false
	}
	for it := IterJSON(b); it.Next(); {
		if jsonKeyIs(it.Key, field) {
			v, ok = it.Value, true
		}
	}
	return v, ok
}

// JSONIndex gives the element of an array, PostgreSQL's -> integer; negative
// indexes count from the end. false: not an array, or no such element.
func JSONIndex(b []byte, i int) ([]byte, bool) {
	if JSONTypeOf(b) != JSONArray {
		return nil, false
	}
	if i < 0 {
		if i += JSONLen(b); i < 0 {
			return nil, false
		}
	}
	for it := IterJSON(b); it.Next(); i-- {
		if i == 0 {
			return it.Value, true
		}
	}
	return nil, false
}

// JSONPath follows keys and indexes, PostgreSQL's #>.
func JSONPath(b []byte, path []string) ([]byte, bool) {
	b = bytes.Trim(b, " \t\r\n")
	for _, step := range path {
		var ok bool
		switch JSONTypeOf(b) {
		case JSONObject:
			b, ok = JSONGet(b, step)
		case JSONArray:
			i, err := strconv.ParseInt(trimSpace(step), 10, 32)
			if err != nil {
				return nil, false
			}
			b, ok = JSONIndex(b, int(i))
		}
		if !ok {
			return nil, false
		}
	}
	return b, true
}

// JSONText gives a value as text, PostgreSQL's ->>: strings without quotes and
// escapes, everything else as written. null says that it is the JSON null,
// which is SQL NULL. It allocates only for strings with escapes.
func JSONText(b []byte) (text []byte, null bool) {
	b = bytes.Trim(b, " \t\r\n")
	switch JSONTypeOf(b) {
	case JSONNull:
		return nil, true
	case JSONString:
		return JSONUnquote(b), false
	}
	return b, false
}

// JSONLen counts the elements of an array or members of an object; 0 for a scalar.
func JSONLen(b []byte) int {
	n := 0
	for it := IterJSON(b); it.Next(); {
		n++
	}
	return n
}

// JSONKeys gives the keys of an object, decoded, in stored order.
func JSONKeys(b []byte) [][]byte {
	var keys [][]byte
	if JSONTypeOf(b) == JSONObject {
		for it := IterJSON(b); it.Next(); {
			keys = append(keys, JSONUnquote(it.Key))
		}
	}
	return keys
}
