package custom

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// Field is one field of a schema.
type Field struct {
	Name string
	Type types.Type
	Nest *Nested // of a struct, a map or an array of those, whose Type is jsonb; nil for others
}

// Schema is an ordered list of fields with names that are unique. It is immutable.
type Schema struct {
	Fields []Field
	index  map[string]int // nil where there are few fields
	list   []string       // names, made when they are asked for
}

// NewSchema makes a schema. Of several fields with one name, a name finds the first.
func NewSchema(fields []Field) *Schema {
	s := &Schema{Fields: fields}
	if len(fields) <= 8 {
		return s
	}
	s.index = make(map[string]int, len(fields))
	for i, f := range fields {
		if _, ok := s.index[f.Name]; !ok {
			s.index[f.Name] = i
		}
	}
	return s
}

// Index finds a field by name, -1 if there is none.
func (s *Schema) Index(name string) int {
	if s.index == nil {
		for i := range s.Fields {
			if s.Fields[i].Name == name {
				return i
			}
		}
		return -1
	}
	if i, ok := s.index[name]; ok {
		return i
	}
	return -1
}

// String gives the schema as ParseSchema reads it.
func (s *Schema) String() string {
	parts := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		parts[i] = quoteName(f.Name) + " " + f.typeText()
	}
	return strings.Join(parts, ", ")
}

func quoteName(n string) string {
	plain := n != ""
	for i, c := range n {
		plain = plain && (c == '_' || c >= 'a' && c <= 'z' || i > 0 && c >= '0' && c <= '9')
	}
	if plain {
		return n
	}
	return "\"" + strings.ReplaceAll(n, "\"", "\"\"") + "\""
}

// sameTypes says whether two schemas have equal types in one order.
func (s *Schema) sameTypes(t *Schema) bool {
	if len(s.Fields) != len(t.Fields) {
		return false
	}
	for i := range s.Fields {
		if !s.Fields[i].sameType(t.Fields[i]) {
			return false
		}
	}
	return true
}

func (s *Schema) equal(t *Schema) bool {
	if !s.sameTypes(t) {
		return false
	}
	for i := range s.Fields {
		if s.Fields[i].Name != t.Fields[i].Name {
			return false
		}
	}
	return true
}
