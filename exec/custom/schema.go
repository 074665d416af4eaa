package custom

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Field is one field of a schema.
type Field struct {
	Name string
	Type types.Type
}

// Schema is an ordered list of fields with names that are unique. It is immutable.
type Schema struct {
	Fields []Field
	index  map[string]int
	list   []string // names, made when they are asked for
}

// NewSchema makes a schema. Of several fields with one name, a name finds the first.
func NewSchema(fields []Field) *Schema {
	s := &Schema{Fields: fields, index: make(map[string]int, len(fields))}
	for i, f := range fields {
		if _, ok := s.index[f.Name]; !ok {
			s.index[f.Name] = i
		}
	}
	return s
}

// Index finds a field by name, -1 if there is none.
func (s *Schema) Index(name string) int {
	if i, ok := s.index[name]; ok {
		return i
	}
	return -1
}

// String gives the schema as ParseSchema reads it.
func (s *Schema) String() string {
	parts := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		parts[i] = quoteName(f.Name) + " " + f.Type.String()
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
		if !s.Fields[i].Type.Same(t.Fields[i].Type) {
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

// ParseSchema reads "name type, name type, ..." with types of PostgreSQL or Spark. Errors: 42601, 42704 for an unknown type, 42701
// for a name that comes twice, 0A000 for structs and maps.
func ParseSchema(text string) (*Schema, error) {
	p := &schemaParser{s: text}
	var fields []Field
	seen := map[string]bool{}
	for {
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		if seen[f.Name] {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "field \"%s\" is given more than once in schema \"%s\"", f.Name, text)
		}
		seen[f.Name] = true
		fields = append(fields, f)
		if p.end() {
			return NewSchema(fields), nil
		}
		if p.s[p.i] != ',' {
			return nil, p.bad()
		}
		p.i++
	}
}

type schemaParser struct {
	s string
	i int
}

func (p *schemaParser) bad() error {
	return sqlerr.New(sqlerr.SyntaxError, "syntax error in schema \"%s\" at character %d", p.s, p.i+1).
		WithHint("A schema is a list such as 'n bigint, name text'.")
}

func (p *schemaParser) space() {
	for p.i < len(p.s) && strings.ContainsRune(" \t\r\n", rune(p.s[p.i])) {
		p.i++
	}
}

func (p *schemaParser) end() bool {
	p.space()
	return p.i == len(p.s)
}

func (p *schemaParser) name() (string, error) {
	p.space()
	if p.i < len(p.s) && (p.s[p.i] == '"' || p.s[p.i] == '`') {
		q := p.s[p.i]
		var b strings.Builder
		for p.i++; p.i < len(p.s); p.i++ {
			if p.s[p.i] != q {
				b.WriteByte(p.s[p.i])
				continue
			}
			if p.i+1 < len(p.s) && p.s[p.i+1] == q {
				p.i++
				b.WriteByte(q)
				continue
			}
			p.i++
			return b.String(), nil
		}
		return "", p.bad()
	}
	start := p.i
	for p.i < len(p.s) && !strings.ContainsRune(" \t\r\n,:()<>", rune(p.s[p.i])) {
		p.i++
	}
	if p.i == start {
		return "", p.bad()
	}
	return p.s[start:p.i], nil
}

// field reads one field: name [:] type [NOT NULL] [NULL].
func (p *schemaParser) field() (Field, error) {
	name, err := p.name()
	if err != nil {
		return Field{}, err
	}
	p.space()
	if p.i < len(p.s) && p.s[p.i] == ':' {
		p.i++
	}
	start, depth := p.i, 0
	for ; p.i < len(p.s); p.i++ {
		c := p.s[p.i]
		if c == '(' || c == '<' {
			depth++
		}
		if c == ')' || c == '>' {
			depth--
		}
		if c == ',' && depth <= 0 {
			break
		}
	}
	t, err := p.typ(strings.TrimSpace(p.s[start:p.i]))
	return Field{name, t}, err
}

func (p *schemaParser) typ(text string) (types.Type, error) {
	lower := strings.ToLower(text)
	if strings.HasSuffix(lower, " not null") {
		// All fields of a state are nullable, so that fields can be added later.
		return types.Type{}, sqlerr.Unsupported("[TRANSFORM_WITH_STATE_SCHEMA_MUST_BE_NULLABLE] fields of a state variable must be nullable")
	}
	lower = strings.TrimSpace(strings.TrimSuffix(lower, " null"))
	if rest, ok := strings.CutPrefix(lower, "array<"); ok && strings.HasSuffix(rest, ">") {
		e, err := p.typ(strings.TrimSuffix(rest, ">"))
		if err != nil {
			return e, err
		}
		return types.ArrayOf(e), nil
	}
	if strings.HasPrefix(lower, "struct<") || strings.HasPrefix(lower, "map<") {
		return types.Type{}, sqlerr.Unsupported("fields of type %s are not supported", text).
			WithHint("Use several fields, a map state, or jsonb.")
	}
	name, mods, suffix := lower, []int(nil), ""
	if k := strings.IndexByte(lower, '('); k >= 0 {
		end := strings.IndexByte(lower, ')')
		if end < k {
			return types.Type{}, p.bad()
		}
		for _, m := range strings.Split(lower[k+1:end], ",") {
			n, err := strconv.Atoi(strings.TrimSpace(m))
			if err != nil {
				return types.Type{}, p.bad()
			}
			mods = append(mods, n)
		}
		name, suffix = strings.TrimSpace(lower[:k]), lower[end+1:]
	}
	if name == "" {
		return types.Type{}, p.bad()
	}
	return types.Modded(name+suffix, mods)
}
