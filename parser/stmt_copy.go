package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// copyStmt parses COPY, with its options in brackets or as the old syntax has
// them, which psql's \copy may send.
func (p *parser) copyStmt() ast.Stmt {
	s := &ast.Copy{At: p.here()}
	p.expectWords("copy")
	if p.isWord(0, "binary") {
		s.Options = append(s.Options, ast.CopyOption{Name: "format", Form: ast.CopyText, Value: "binary", At: p.here()})
		p.next()
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
	if p.isWord(0, "where") {
		if !s.From {
			raise(int(p.toks[p.i].pos), sqlerr.SyntaxError, "WHERE clause not allowed with COPY TO")
		}
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
		o := ast.CopyOption{Name: "delimiter", Form: ast.CopyText, At: p.here()}
		p.expectWords("delimiters")
		o.Value = p.str()
		s.Options = append(s.Options, o)
	}
	p.acceptWords("with")
	for {
		o := ast.CopyOption{Form: ast.CopyText, At: p.here()}
		switch w := p.oneOf("binary", "csv", "freeze", "header", "delimiter", "null", "quote", "escape", "encoding", "force", "batch_rows"); w {
		case "":
			return
		case "binary", "csv":
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
			o.Name = w
			p.copyArgument(&o)
		default:
			p.next()
			if w != "encoding" {
				p.acceptWords("as")
			}
			o.Name, o.Value = w, p.str()
		}
		s.Options = append(s.Options, o)
	}
}

// forceOption reads what follows FORCE in the old syntax.
func (p *parser) forceOption(o ast.CopyOption) ast.CopyOption {
	switch {
	case p.acceptWords("not", "null"):
		o.Name = "force_not_null"
	case p.acceptWords("null"):
		o.Name = "force_null"
	default:
		p.expectWords("quote")
		if o.Name = "force_quote"; p.accept("*") {
			o.Form = ast.CopyStar
			return o
		}
	}
	o.Form, o.List = ast.CopyList, []string{p.name()}
	for p.accept(",") {
		o.List = append(o.List, p.name())
	}
	return o
}

// copyOptionList reads (FORMAT csv, HEADER, FORCE_NULL (a, b), ...).
func (p *parser) copyOptionList() []ast.CopyOption {
	p.expect("(")
	var out []ast.CopyOption
	for {
		o := ast.CopyOption{At: p.here(), Name: p.label()}
		if o.Name == "batch_rows" {
			p.accept("=") // ours, and written as the options of a stream are
		}
		p.copyArgument(&o)
		out = append(out, o)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return out
}

// copyArgument reads what stands behind the name of an option.
func (p *parser) copyArgument(o *ast.CopyOption) {
	switch k := p.peek().kind; {
	case p.accept("*"):
		o.Form = ast.CopyStar
	case p.accept("("):
		o.Form = ast.CopyList
		for {
			o.List = append(o.List, p.copyWord())
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	case p.is("-"), p.is("+"), k == kindNumber:
		o.Form, o.Value = ast.CopyNumber, p.optionValue()
	case !p.is(",") && !p.is(")"):
		o.Form, o.Value = ast.CopyText, p.copyWord()
	}
}

// copyWord reads a word or a text.
func (p *parser) copyWord() string {
	if p.peek().kind == kindString {
		return p.str()
	}
	return p.label()
}
