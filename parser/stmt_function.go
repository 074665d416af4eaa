package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

// createFunction parses CREATE [OR REPLACE] FUNCTION behind those words. The options may come in any order; those that only tell PostgreSQL's
// planner something are read and mean nothing. Forms that are not built are errors.
func (p *parser) createFunction(replace bool) *ast.CreateFunction {
	c := &ast.CreateFunction{OrReplace: replace, Name: p.qualified(), Volatility: "volatile"}
	p.expect("(")
	for !p.is(")") {
		if w := p.oneOf("out", "inout", "variadic"); w != "" {
			p.unsupported(p.i, "%s parameters of functions are not supported", strings.ToUpper(w))
		}
		p.acceptWords("in")
		d := p.functionArg()
		if p.acceptWords("default") || p.accept("=") {
			i := p.i
			d.Default = p.restricted()
			d.DefaultSQL = p.source(i, p.i)
		}
		c.Args = append(c.Args, d)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	p.expectWords("returns")
	if w := p.oneOf("trigger", "void"); w != "" {
		p.unsupported(p.i, "functions that return %s are not supported", w)
	}
	if p.acceptWords("table") {
		c.Table = p.resultTable()
	} else {
		c.SetOf = p.acceptWords("setof")
		c.Result = p.typeName()
	}
	for p.functionOption(c) {
	}
	if p.words("begin", "atomic") {
		p.unsupported(p.i, "BEGIN ATOMIC is not supported")
	}
	if c.Language == "" && c.Return {
		c.Language = "sql"
	}
	if c.Language == "" || !c.HasBody {
		p.syntaxError()
	}
	return c
}

// resultTable reads the columns behind RETURNS TABLE.
func (p *parser) resultTable() []ast.ColumnDef {
	var cols []ast.ColumnDef
	p.expect("(")
	for {
		d := ast.ColumnDef{At: p.here(), Name: p.name()}
		d.Type = p.typeName()
		cols = append(cols, d)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return cols
}

// functionOption reads one option; false at the end.
func (p *parser) functionOption(c *ast.CreateFunction) bool {
	switch {
	case p.isWord(0, "language"):
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
	case p.isWord(0, "return") && !c.HasBody:
		p.next()
		c.BodyAt, c.HasBody, c.Return = p.here(), true, true
		i := p.i
		p.expr()
		c.Body = "SELECT " + p.source(i, p.i)
	case p.acceptWords("strict"), p.acceptWords("returns", "null", "on", "null", "input"):
		c.Strict = true
	case p.acceptWords("immutable"):
		c.Volatility = "immutable"
	case p.acceptWords("stable"):
		c.Volatility = "stable"
	case p.acceptWords("volatile"):
		c.Volatility = "volatile"
	case p.acceptWords("cost"), p.acceptWords("rows"):
		if p.peek().kind != kindNumber {
			p.syntaxError()
		}
		p.next()
	case p.acceptWords("called", "on", "null", "input"), p.acceptWords("leakproof"), p.acceptWords("not", "leakproof"), p.acceptWords("security", "invoker"),
		p.acceptWords("parallel", "safe"), p.acceptWords("parallel", "restricted"), p.acceptWords("parallel", "unsafe"):
	default:
		return false
	}
	return true
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
