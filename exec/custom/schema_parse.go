package custom

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// maxDepth bounds how deeply structs, maps and arrays may lie in one another.
const maxDepth = 32

// ParseSchema reads "name type, name type, ..." with types of PostgreSQL or Spark, struct<name: type, ...>, map<type, type> and array<type> among
// them. Errors: 42601, 42704 for an unknown type, 42701 for a name that comes twice in one list, 0A000 for map keys that cannot be, 54001 for types
// that lie too deeply in one another.
func ParseSchema(text string) (*Schema, error) {
	p := &schemaParser{s: text}
	fields, err := p.fields(0)
	if err != nil {
		return nil, err
	}
	if !p.end() {
		return nil, p.bad()
	}
	return NewSchema(fields), nil
}

type schemaParser struct {
	s string
	i int
}

func (p *schemaParser) bad() error {
	return sqlerr.New(sqlerr.SyntaxError, "syntax error in schema \"%s\" at character %d", p.s, p.i+1).
		WithHint("A schema is a list such as 'n bigint, name text, at struct<x: int, y: int>'.")
}

func (p *schemaParser) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *schemaParser) end() bool {
	p.space()
	return p.i == len(p.s)
}

// accept steps over c, if it is next.
func (p *schemaParser) accept(c byte) bool {
	p.space()
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

// word steps over a word in any case, if it is next.
func (p *schemaParser) word(w string) bool {
	p.space()
	end := p.i + len(w)
	if end > len(p.s) || !strings.EqualFold(p.s[p.i:end], w) || end < len(p.s) && wordByte(p.s[end]) {
		return false
	}
	p.i = end
	return true
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// fields reads a list of fields with names that are unique.
func (p *schemaParser) fields(depth int) ([]Field, error) {
	var fields []Field
	seen := map[string]bool{}
	for {
		f, err := p.field(depth)
		if err != nil {
			return nil, err
		}
		if seen[f.Name] {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "field \"%s\" is given more than once in schema \"%s\"", f.Name, p.s)
		}
		seen[f.Name] = true
		fields = append(fields, f)
		if !p.accept(',') {
			return fields, nil
		}
	}
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
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n,:()<>[]", p.s[p.i]) < 0 {
		p.i++
	}
	if p.i == start {
		return "", p.bad()
	}
	return p.s[start:p.i], nil
}

// field reads one field: name [:] type [NULL].
func (p *schemaParser) field(depth int) (Field, error) {
	name, err := p.name()
	if err != nil {
		return Field{}, err
	}
	p.accept(':')
	return p.typed(name, depth)
}

// typed reads a type and makes a field of it.
func (p *schemaParser) typed(name string, depth int) (Field, error) {
	if depth > maxDepth {
		return Field{}, sqlerr.New(sqlerr.StatementTooComplex, "types of a schema are nested more than %d levels deep", maxDepth)
	}
	f, err := p.baseType(name, depth)
	if err != nil {
		return f, err
	}
	for p.accept('[') {
		for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
			p.i++
		}
		if !p.accept(']') {
			return f, p.bad()
		}
		f = arrayField(name, f)
	}
	if p.word("not") {
		if !p.word("null") {
			return f, p.bad()
		}
		// All fields of a state are nullable, so that fields can be added later.
		return f, sqlerr.Unsupported("[TRANSFORM_WITH_STATE_SCHEMA_MUST_BE_NULLABLE] fields of a state variable must be nullable")
	}
	p.word("null")
	return f, nil
}

// arrayField makes an array of a field: PostgreSQL's where it has one.
func arrayField(name string, elem Field) Field {
	if elem.Nest == nil {
		return Field{Name: name, Type: types.ArrayOf(elem.Type)}
	}
	elem.Name = "element"
	return nestedField(name, ArrayShape, elem)
}

// nestedArray makes array<elem>: an array of arrays is one whose elements have lengths of their own, which PostgreSQL's have not.
func nestedArray(name string, elem Field) Field {
	if elem.Nest == nil && elem.Type.Kind == types.Array {
		elem.Name = "element"
		return nestedField(name, ArrayShape, elem)
	}
	return arrayField(name, elem)
}

// baseType reads a type without [] behind it.
func (p *schemaParser) baseType(name string, depth int) (Field, error) {
	open := func(word string, brackets string) bool {
		at := p.i
		if p.word(word) && (p.accept(brackets[0]) || len(brackets) > 1 && p.accept(brackets[1])) {
			return true
		}
		p.i = at
		return false
	}
	var f Field
	var err error
	switch {
	case open("struct", "<("), open("row", "<("):
		end := map[byte]byte{'<': '>', '(': ')'}[p.s[p.i-1]]
		var fields []Field
		if fields, err = p.fields(depth + 1); err != nil {
			return f, err
		}
		if !p.accept(end) {
			return f, p.bad()
		}
		return nestedField(name, StructShape, fields...), nil
	case open("array", "<"):
		if f, err = p.typed("element", depth+1); err != nil {
			return f, err
		}
		f = nestedArray(name, f)
	case open("map", "<"):
		if f, err = p.mapType(name, depth+1); err != nil {
			return f, err
		}
	default:
		t, err := p.scalar()
		return Field{Name: name, Type: t}, err
	}
	if !p.accept('>') {
		return f, p.bad()
	}
	return f, nil
}

// mapType reads what stands between the brackets of map<key, value>.
func (p *schemaParser) mapType(name string, depth int) (Field, error) {
	k, err := p.typed("key", depth)
	if err != nil {
		return k, err
	}
	if !p.accept(',') {
		return k, p.bad()
	}
	if err := checkMapKey(k); err != nil {
		return k, err
	}
	v, err := p.typed("value", depth)
	return nestedField(name, MapShape, k, v), err
}

// scalar reads a type of SQL: words, with a modifier in brackets behind or between them.
func (p *schemaParser) scalar() (types.Type, error) {
	p.space()
	var words []string
	var mods []int
	for {
		p.space()
		at := p.i
		if p.accept('(') && len(words) > 0 && mods == nil {
			for {
				p.space()
				start := p.i
				for p.i < len(p.s) && (wordByte(p.s[p.i]) || p.s[p.i] == '-') {
					p.i++
				}
				n, err := strconv.Atoi(p.s[start:p.i])
				if err != nil {
					return types.Type{}, p.bad()
				}
				mods = append(mods, n)
				if !p.accept(',') {
					break
				}
			}
			if !p.accept(')') {
				return types.Type{}, p.bad()
			}
			continue
		}
		p.i = at
		for p.i < len(p.s) && (wordByte(p.s[p.i]) || p.s[p.i] == '"') {
			p.i++
		}
		if p.i == at {
			break
		}
		w := strings.ToLower(p.s[at:p.i])
		if w == "not" || w == "null" {
			p.i = at
			break
		}
		words = append(words, w)
	}
	if len(words) == 0 {
		return types.Type{}, p.bad()
	}
	return types.Modded(strings.Join(words, " "), mods)
}
