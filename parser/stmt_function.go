package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

// createFunction parses CREATE [OR REPLACE] FUNCTION behind those words. The options may come in any order; those that only tell PostgreSQL's
// planner something are read and mean nothing. nil: a form that is not built.
func (p *parser) createFunction(replace bool) *ast.CreateFunction {
	c := &ast.CreateFunction{OrReplace: replace, Name: p.qualified()}
	p.expect("(")
	for !p.is(")") {
		if p.oneOf("out", "inout", "variadic") != "" {
			return nil
		}
		p.acceptWords("in")
		c.Args = append(c.Args, p.functionArg())
		if p.isWord(0, "default") || p.is("=") {
			return nil
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	p.expectWords("returns")
	if p.oneOf("table", "setof", "trigger", "void") != "" {
		return nil
	}
	c.Result = p.typeName()
	for {
		switch {
		case p.isWord(0, "language"):
			p.next()
			if k := p.peek().kind; k == kindWord || k == kindQuoted {
				c.Language = strings.ToLower(p.label())
			} else {
				c.Language = strings.ToLower(p.str())
			}
		case p.isWord(0, "as"):
			p.next()
			c.BodyAt, c.HasBody = p.here(), true
			c.Body = p.str()
		case p.acceptWords("strict"), p.acceptWords("returns", "null", "on", "null", "input"):
			c.Strict = true
		case p.acceptWords("called", "on", "null", "input"), p.acceptWords("immutable"), p.acceptWords("stable"), p.acceptWords("leakproof"),
			p.acceptWords("parallel", "safe"), p.acceptWords("parallel", "restricted"), p.acceptWords("parallel", "unsafe"):
		case p.acceptWords("volatile"):
			return nil
		default:
			if c.Language == "" || !c.HasBody {
				p.syntaxError()
			}
			return c
		}
	}
}

// functionArg reads [name] type.
func (p *parser) functionArg() ast.ColumnDef {
	d := ast.ColumnDef{At: p.here()}
	start := p.i
	if p.isName(0, colName) && !p.isAt(1, ",") && !p.isAt(1, ")") && !p.isAt(1, "(") && !p.isAt(1, "[") && !p.words("double", "precision") &&
		!p.words("character", "varying") && !p.words("timestamp", "with") && !p.words("timestamp", "without") && !p.words("time", "with") && !p.words("time", "without") {
		d.Name = p.name()
	} else {
		p.i = start
	}
	d.Type = p.typeName()
	return d
}

// dropFunction parses DROP FUNCTION behind those words.
func (p *parser) dropFunction() ast.Stmt {
	s := &ast.DropFunction{}
	s.IfExists = p.ifExists()
	for {
		f := ast.FunctionName{Name: p.qualified()}
		if p.accept("(") {
			f.HasArgs = true
			for !p.is(")") {
				f.Args = append(f.Args, p.functionArg().Type)
				if !p.accept(",") {
					break
				}
			}
			p.expect(")")
		}
		s.Functions = append(s.Functions, f)
		if !p.accept(",") {
			break
		}
	}
	s.Cascade = p.cascade()
	return s
}
