package parser

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// internalTypes maps the spellings of the SQL standard to PostgreSQL's
// internal names. They are key words, so a quoted or qualified name is not
// mapped.
var internalTypes = map[keyword]string{
	kwInt: "int4", kwInteger: "int4", kwSmallint: "int2", kwBigint: "int8", kwReal: "float4",
	kwDecimal: "numeric", kwDec: "numeric", kwNumeric: "numeric", kwBoolean: "bool", kwBit: "bit",
	kwFloat: "float8", kwDouble: "float8", kwVarchar: "varchar", kwCharacter: "bpchar", kwChar: "bpchar",
	kwNchar: "bpchar", kwNational: "bpchar", kwTimestamp: "timestamp", kwTime: "time", kwInterval: "interval",
}

// typeName reads a type.
func (p *parser) typeName() ast.TypeName {
	t := ast.TypeName{Pos: p.here()}
	tok := p.peek()
	if name, ok := internalTypes[tok.kw]; ok && tok.kind == kindWord && !p.isAt(1, ".") {
		t.Name = name
		p.standardType(&t, tok.kw)
	} else {
		p.plainType(&t)
	}
	for p.is("[") {
		p.next()
		if !p.is("]") {
			p.integer()
		}
		p.expect("]")
		t.Array = true
	}
	if !t.Array && p.acceptWords("array") {
		t.Array = true
		if p.accept("[") {
			p.integer()
			p.expect("]")
		}
	}
	return t
}

// standardType reads what follows the key word of a SQL-standard type.
func (p *parser) standardType(t *ast.TypeName, kw keyword) {
	p.next()
	switch kw {
	case kwDouble:
		p.expectWords("precision")
	case kwFloat:
		at := int(p.at(1).pos)
		p.mods(t)
		if len(t.Mods) > 0 {
			switch n := t.Mods[0]; {
			case n < 1:
				raise(at, sqlerr.InvalidParameterValue, "precision for type float must be at least 1 bit")
			case n > 53:
				raise(at, sqlerr.InvalidParameterValue, "precision for type float must be less than 54 bits")
			case n < 25:
				t.Name = "float4"
			}
			t.Mods = nil
		}
	case kwNational:
		if p.oneOf("character", "char") == "" {
			p.syntaxError()
		}
		p.next()
		p.character(t)
	case kwCharacter, kwChar, kwNchar:
		p.character(t)
	case kwBit:
		if p.acceptWords("varying") {
			t.Name = "varbit"
		}
		p.mods(t)
	case kwTimestamp, kwTime:
		p.mods(t)
		switch {
		case p.words("with", "time"):
			p.expectWords("with", "time", "zone")
			t.Name += "tz"
		case p.words("without", "time"):
			p.expectWords("without", "time", "zone")
		}
	case kwInterval:
		if p.is("(") {
			p.mods(t)
			return
		}
		var prec int
		if t.Fields, prec = p.intervalFields(); prec >= 0 {
			t.Mods = []int{prec}
		}
	case kwVarchar, kwDecimal, kwDec, kwNumeric:
		p.mods(t)
	}
}

// character reads [VARYING] [(n)]; without a length, CHARACTER is of one.
func (p *parser) character(t *ast.TypeName) {
	if p.acceptWords("varying") {
		t.Name = "varchar"
		p.mods(t)
		return
	}
	p.mods(t)
	if t.Mods == nil {
		t.Mods = []int{1}
	}
}

// plainType reads [schema.]name[(mods)].
func (p *parser) plainType(t *ast.TypeName) {
	if !p.isName(0, typeFunc) {
		p.syntaxError()
	}
	t.Name = p.value(p.next())
	for n := 0; p.is("."); n++ {
		if n == 2 {
			p.syntaxError()
		}
		p.next()
		t.Schema, t.Name = t.Name, p.label()
	}
	p.mods(t)
}

// mods reads (n, ...), if there.
func (p *parser) mods(t *ast.TypeName) {
	if !p.accept("(") {
		return
	}
	for {
		neg := p.accept("-")
		n := p.integer()
		if neg {
			n = -n
		}
		t.Mods = append(t.Mods, n)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
}

// intervalFields reads DAY, HOUR TO MINUTE, SECOND (3) and the like; the
// precision of seconds is -1 where not given.
func (p *parser) intervalFields() (fields string, prec int) {
	order := []string{"year", "month", "day", "hour", "minute", "second"}
	at := func() int {
		for k, w := range order {
			if p.isWord(0, w) {
				return k
			}
		}
		return -1
	}
	from := at()
	if from < 0 {
		return "", -1
	}
	p.next()
	fields = order[from]
	last := from
	if p.isWord(0, "to") && from != 5 && from != 1 {
		p.next()
		last = at()
		if last <= from || from == 0 && last != 1 || from > 1 && last < 3 {
			p.syntaxError()
		}
		p.next()
		fields += " to " + order[last]
	}
	prec = -1
	if last == 5 && p.accept("(") {
		prec = p.integer()
		p.expect(")")
	}
	return fields, prec
}

// typedLiteral says whether a type followed by a string literal is next. It
// only looks; what it takes for a type may still be malformed.
func (p *parser) typedLiteral() bool {
	t := p.peek()
	if t.kind == kindWord && t.kw.category() == reserved {
		return false
	}
	n := 1
	for p.isAt(n, ".") {
		n += 2
	}
	if p.at(n).kind == kindWord {
		switch {
		case t.kw == kwDouble && p.isWord(n, "precision"),
			(t.kw == kwCharacter || t.kw == kwChar || t.kw == kwBit || t.kw == kwNchar) && p.isWord(n, "varying"):
			n++
		case t.kw == kwNational && (p.isWord(n, "character") || p.isWord(n, "char")):
			n++
			if p.isWord(n, "varying") {
				n++
			}
		}
	}
	if p.isAt(n, "(") {
		n = int(p.at(n).link) - p.i + 1
	}
	if (t.kw == kwTimestamp || t.kw == kwTime) && p.isWord(n+1, "time") && p.isWord(n+2, "zone") {
		n += 3
	}
	return p.at(n).kind == kindString
}
