package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

// statement parses one statement up to, not including, its semicolon.
func (p *parser) statement() ast.Stmt {
	p.enter()
	defer func() { p.depth-- }()
	t := p.peek()
	if p.is("(") {
		return &ast.QueryStmt{Query: p.query()}
	}
	if t.kind != kindWord {
		p.syntaxError()
	}
	w := p.value(p.i)
	switch w {
	case "select", "values", "table":
		return &ast.QueryStmt{Query: p.query()}
	case "with":
		return p.withStmt()
	case "insert":
		return p.insert()
	case "update":
		return p.update()
	case "delete":
		return p.deleteStmt()
	case "create":
		return p.create()
	case "drop":
		return p.drop()
	case "alter":
		return p.alter()
	case "truncate":
		return p.truncate()
	case "copy":
		return p.copyStmt()
	case "explain":
		return p.explain()
	case "begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release":
		return p.transaction(w)
	case "set", "reset", "show", "describe", "desc", "discard":
		return p.setting(w)
	case "prepare", "execute", "deallocate", "declare", "fetch", "move", "close":
		return p.prepared(w)
	case "subscribe", "advance", "wait", "checkpoint", "refresh", "comment":
		return p.streaming(w)
	}
	return p.other(w)
}

// withStmt parses what begins with WITH: a query, or a statement that changes a table.
func (p *parser) withStmt() ast.Stmt {
	n := 1
	if p.isWord(n, "recursive") {
		n++
	}
	// Look past the WITH items for the main statement.
	for n < len(p.toks)-p.i {
		t := p.at(n)
		switch {
		case t.kind == kindEOF || p.tokIs(t, ";"):
			return &ast.QueryStmt{Query: p.query()}
		case t.kind == kindPunct && t.link > 0 && int(t.link) > p.i+n:
			n = int(t.link) - p.i
			after := p.at(n + 1)
			if after.kind == kindWord && (after.kw == kwInsert || after.kw == kwUpdate || after.kw == kwDelete) {
				return p.changeWith(after.kw)
			}
			if after.kind == kindWord && after.kw == kwSelect {
				return &ast.QueryStmt{Query: p.query()}
			}
		}
		n++
	}
	return &ast.QueryStmt{Query: p.query()}
}

// changeWith parses WITH before INSERT, UPDATE or DELETE.
func (p *parser) changeWith(verb keyword) ast.Stmt {
	with := p.withClause()
	switch verb {
	case kwInsert:
		s := p.insert().(*ast.Insert)
		s.With = with
		return s
	case kwUpdate:
		s := p.update().(*ast.Update)
		s.With = with
		return s
	}
	s := p.deleteStmt().(*ast.Delete)
	s.With = with
	return s
}

// noOps are statements that are accepted and do nothing, with their tags.
var noOps = map[string]string{
	"listen": "LISTEN", "unlisten": "UNLISTEN", "notify": "NOTIFY", "grant": "GRANT", "revoke": "REVOKE",
	"analyze": "ANALYZE", "analyse": "ANALYZE", "vacuum": "VACUUM", "lock": "LOCK TABLE", "cluster": "CLUSTER", "reindex": "REINDEX",
}

// unbuilt are statements of PostgreSQL's that are recognised and not built.
var unbuilt = map[string]string{
	"call": "CALL", "do": "DO", "load": "LOAD", "merge": "MERGE", "security": "SECURITY LABEL", "import": "IMPORT FOREIGN SCHEMA",
	"reassign": "REASSIGN OWNED", "backup": "BACKUP",
}

// other parses the statements that are only recognised.
func (p *parser) other(w string) ast.Stmt {
	if tag, ok := noOps[w]; ok {
		p.next()
		p.skipStatement()
		return &ast.NoOp{Tag: tag}
	}
	if what, ok := unbuilt[w]; ok {
		at := p.here()
		p.next()
		p.skipStatement()
		return &ast.CreateOther{What: what, At: at}
	}
	p.syntaxError()
	return nil
}

// skipStatement moves to the end of the statement.
func (p *parser) skipStatement() {
	for p.peek().kind != kindEOF && !p.is(";") {
		if p.peek().kind == kindBad {
			p.syntaxError()
		}
		p.next()
	}
}

// ifNotExists reads IF NOT EXISTS.
func (p *parser) ifNotExists() bool {
	if !p.isWord(0, "if") {
		return false
	}
	p.expectWords("if", "not", "exists")
	return true
}

// ifExists reads IF EXISTS.
func (p *parser) ifExists() bool {
	if !p.words("if", "exists") {
		return false
	}
	p.i += 2
	return true
}

// options reads WITH (k = v, 'quoted.key' = 'v', a.b = v); the cursor is at
// the bracket.
func (p *parser) options() []ast.Option {
	p.expect("(")
	var out []ast.Option
	for !p.is(")") || len(out) > 0 {
		o := ast.Option{At: p.here()}
		if p.peek().kind == kindString {
			o.Name = p.str()
		} else {
			o.Name = p.label()
			for p.accept(".") {
				o.Name += "." + p.label()
			}
		}
		if p.accept("=") {
			o.Value = p.optionValue()
		} else {
			o.Value = "true"
		}
		out = append(out, o)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return out
}

// optionValue reads the value of an option as text, whatever its form.
func (p *parser) optionValue() string {
	t := p.peek()
	switch {
	case t.kind == kindOp && (p.is("-") || p.is("+")):
		sign := strings.TrimPrefix(p.value(p.next()), "+")
		if p.peek().kind != kindNumber {
			p.syntaxError()
		}
		return sign + p.value(p.next())
	case t.kind == kindWord && t.kw == kwInterval:
		if p.at(1).kind == kindString || p.unquotedInterval(1) {
			return p.duration()
		}
	}
	switch t.kind {
	case kindString, kindNumber, kindQuoted:
		return p.value(p.next())
	case kindWord:
		v := p.value(p.next())
		for p.accept(".") {
			v += "." + p.label()
		}
		return v
	}
	p.syntaxError()
	return ""
}
