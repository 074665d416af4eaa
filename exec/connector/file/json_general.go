package file

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// general decodes any line.
func (r *jsonReader) general(line []byte, s *sink) error {
	if !utf8.Valid(line) {
		return sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\"")
	}
	var obj map[string]json.RawMessage
	if err := json.Unmarshal(line, &obj); err != nil {
		return sqlerr.New(sqlerr.InvalidJSONText, "invalid JSON: %v", err)
	}
	if obj == nil {
		return sqlerr.New(sqlerr.InvalidJSONText, "the line is null, not a JSON object")
	}
	for i := range s.fields {
		raw, ok := obj[s.fields[i].name]
		if !ok {
			continue // fill gives NULL
		}
		r.known = true
		if err := s.fields[i].fromJSON(s.rows.Cols[i], raw); err != nil {
			return err
		}
	}
	return nil
}

// fromJSON adds a JSON value to a column: strings as their content, arrays to array columns element by element, anything else as its
// text.
func (f *field) fromJSON(v *batch.Vector, raw json.RawMessage) error {
	if string(raw) == "null" {
		return f.null(v)
	}
	if f.isJSON {
		return f.append(v, raw)
	}
	switch raw[0] {
	case '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return sqlerr.New(sqlerr.InvalidJSONText, "invalid JSON: %v", err)
		}
		return f.append(v, []byte(text))
	case '[':
		if f.typ.Kind == types.Array {
			b, err := arrayText(raw, nil)
			if err != nil {
				return err
			}
			return f.append(v, b)
		}
	}
	return f.append(v, raw)
}

// arrayText writes a JSON array as PostgreSQL's text of an array.
func arrayText(raw json.RawMessage, dst []byte) ([]byte, error) {
	var elems []json.RawMessage
	if err := json.Unmarshal(raw, &elems); err != nil {
		return nil, sqlerr.New(sqlerr.InvalidJSONText, "invalid JSON: %v", err)
	}
	dst = append(dst, '{')
	for i, e := range elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		switch {
		case string(e) == "null":
			dst = append(dst, "NULL"...)
		case e[0] == '[':
			dst, err = arrayText(e, dst)
		case e[0] == '"':
			var text string
			err = json.Unmarshal(e, &text)
			dst = quoteElement(dst, text)
		default:
			dst = quoteElement(dst, string(e))
		}
		if err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func quoteElement(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		if s[i] == '"' || s[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}
