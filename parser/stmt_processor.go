package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

// createProcessor parses CREATE [OR REPLACE] PROCESSOR behind those words: name RETURNS TABLE (column type, ...) LANGUAGE name AS 'body', the clauses
// in any order.
func (p *parser) createProcessor(replace bool) ast.Stmt {
	c := &ast.CreateProcessor{OrReplace: replace}
	if p.words("if", "not", "exists") {
		c.IfNotExists = p.ifNotExists()
	}
	c.Name = p.qualified()
	for {
		switch {
		case p.isWord(0, "returns") && c.Columns == nil:
			p.next()
			p.expectWords("table")
			c.Columns = p.resultTable()
		case p.isWord(0, "language") && c.Language == "":
			p.next()
			if k := p.peek().kind; k == kindWord || k == kindQuoted {
				c.Language = strings.ToLower(p.label())
			} else {
				c.Language = strings.ToLower(p.str())
			}
		case p.isWord(0, "as") && !c.HasBody:
			p.next()
			c.BodyAt, c.HasBody = p.here(), true
			c.Body = p.str()
		default:
			if c.Columns == nil || c.Language == "" || !c.HasBody {
				p.syntaxError()
			}
			return c
		}
	}
}
