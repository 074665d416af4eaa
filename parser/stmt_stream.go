package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

// streaming parses the statements about streams and views that PostgreSQL
// does not have, and those it has that mean little here.
func (p *parser) streaming(w string) ast.Stmt {
	p.next()
	switch w {
	case "subscribe":
		return p.subscribe()
	case "advance":
		p.expectWords("watermark")
		if !p.acceptWords("of") {
			p.expectWords("for")
		}
		s := &ast.AdvanceWatermark{Stream: p.qualified()}
		p.expectWords("to")
		s.To = p.expr()
		return s
	case "wait":
		p.expectWords("for")
		return &ast.WaitFor{Name: p.qualified()}
	case "checkpoint":
		return &ast.Checkpoint{}
	case "refresh":
		p.expectWords("materialized", "view")
		p.acceptWords("concurrently")
		s := &ast.Refresh{Name: p.qualified()}
		if p.words("with", "no", "data") {
			p.unsupported(p.i, "WITH NO DATA is not supported")
		}
		p.acceptWords("with", "data")
		return s
	}
	return p.comment()
}

// subscribe parses SUBSCRIBE [TO] relation | query | (query) [WITH (...)].
func (p *parser) subscribe() ast.Stmt {
	s := &ast.Subscribe{}
	p.acceptWords("to")
	if p.queryAt(p.i) || p.is("(") {
		s.Query = p.query()
	} else {
		s.Name = p.qualified()
	}
	if p.isWord(0, "with") && p.isAt(1, "(") {
		p.next()
		s.Options = p.options()
	}
	return s
}

// comment parses COMMENT ON kind name IS text.
func (p *parser) comment() ast.Stmt {
	p.expectWords("on")
	c := &ast.Comment{}
	switch {
	case p.acceptWords("column"):
		c.Kind = "column"
		parts := []string{p.name()}
		for p.accept(".") {
			parts = append(parts, p.label())
		}
		n := len(parts)
		if n < 2 || n > 4 {
			p.syntaxError()
		}
		c.Column, c.Name.Name = parts[n-1], parts[n-2]
		if n > 2 {
			c.Name.Schema = parts[n-3]
		}
	default:
		if c.Kind = p.relationKind(); c.Kind != "" {
			c.Name = p.qualified()
			break
		}
		kind := p.otherKind()
		if kind == "" && !p.acceptWords("constraint") && !p.acceptWords("large", "object") {
			p.syntaxError()
		}
		p.skipStatement()
		return &ast.CreateOther{What: strings.TrimSpace("COMMENT ON " + kind)}
	}
	p.expectWords("is")
	if p.acceptWords("null") {
		return c
	}
	text := p.str()
	c.Text = &text
	return c
}
