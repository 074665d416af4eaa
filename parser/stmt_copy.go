package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

// copyStmt parses COPY, with its options in brackets or as the old syntax has
// them, which psql's \copy may send.
func (p *parser) copyStmt() ast.Stmt {
	s := &ast.Copy{At: p.here()}
	p.expectWords("copy")
	p.acceptWords("binary")
	if p.toks[p.i-1].kw == kwBinary {
		s.Options = append(s.Options, ast.Option{Name: "format", Value: "binary", At: p.pos(p.i - 1)})
	}
	if p.is("(") {
		p.next()
		if w := p.oneOf("insert", "update", "delete"); w != "" {
			p.unsupported(p.i, "COPY from %s is not supported", strings.ToUpper(w))
		}
		s.Query = p.query()
		p.expect(")")
	} else {
		s.Table = p.qualified()
		if p.is("(") {
			s.Columns = p.nameList()
		}
	}
	switch {
	case s.Query == nil && p.acceptWords("from"):
		s.From = true
	default:
		p.expectWords("to")
	}
	program := p.acceptWords("program")
	switch {
	case p.peek().kind == kindString:
		s.File = p.str()
	case program:
		p.syntaxError()
	case p.oneOf("stdin", "stdout") != "":
		p.next()
	default:
		p.syntaxError()
	}
	p.copyOptions(s)
	if s.From && p.isWord(0, "where") {
		p.unsupported(p.i, "COPY FROM with WHERE is not supported")
	}
	return s
}

// copyOptions reads the options of either syntax; names are those of the new one.
func (p *parser) copyOptions(s *ast.Copy) {
	if p.isAt(0, "(") || p.isWord(0, "with") && p.isAt(1, "(") {
		p.acceptWords("with")
		s.Options = append(s.Options, p.copyOptionList()...)
		return
	}
	if p.isWord(0, "using") || p.isWord(0, "delimiters") {
		p.acceptWords("using")
		i := p.i
		p.expectWords("delimiters")
		s.Options = append(s.Options, ast.Option{Name: "delimiter", Value: p.str(), At: p.pos(i)})
	}
	p.acceptWords("with")
	for {
		o := ast.Option{At: p.here()}
		switch w := p.oneOf("binary", "csv", "text", "freeze", "header", "delimiter", "null", "quote", "escape", "encoding", "force", "batch_rows"); w {
		case "":
			return
		case "binary", "csv", "text":
			p.next()
			o.Name, o.Value = "format", w
		case "freeze", "header":
			p.next()
			o.Name, o.Value = w, "true"
		case "force":
			p.next()
			o = p.forceOption(o)
		case "batch_rows":
			p.next()
			o.Name, o.Value = w, p.optionValue()
		default:
			p.next()
			p.acceptWords("as")
			o.Name, o.Value = w, p.str()
		}
		s.Options = append(s.Options, o)
	}
}

func (p *parser) forceOption(o ast.Option) ast.Option {
	switch {
	case p.acceptWords("not", "null"):
		o.Name = "force_not_null"
	case p.acceptWords("null"):
		o.Name = "force_null"
	default:
		p.expectWords("quote")
		o.Name = "force_quote"
	}
	o.Value = p.columnsOrStar()
	return o
}

// columnsOrStar reads a list of columns, with or without brackets, or *; as
// text with commas.
func (p *parser) columnsOrStar() string {
	if p.accept("*") {
		return "*"
	}
	if p.is("(") {
		return strings.Join(p.nameList(), ",")
	}
	v := p.name()
	for p.accept(",") {
		v += "," + p.name()
	}
	return v
}

// copyOptionList reads (FORMAT csv, HEADER, FORCE_NULL (a, b), ...).
func (p *parser) copyOptionList() []ast.Option {
	p.expect("(")
	var out []ast.Option
	for {
		o := ast.Option{At: p.here(), Name: strings.ToLower(p.label()), Value: "true"}
		switch {
		case p.is("(") || p.is("*"):
			o.Value = p.columnsOrStar()
		case p.is("="):
			p.next()
			o.Value = p.optionValue()
		case !p.is(",") && !p.is(")"):
			o.Value = p.optionValue()
		}
		out = append(out, o)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return out
}
