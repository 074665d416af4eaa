package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

// create parses CREATE of any kind.
func (p *parser) create() ast.Stmt {
	at := p.here()
	p.expectWords("create")
	replace := p.acceptWords("or", "replace")
	w := p.oneOf("stream", "table", "view", "materialized", "schema", "index", "unique", "processor", "function")
	if replace && w != "view" && w != "materialized" && w != "processor" && w != "function" && w != "" {
		p.syntaxError()
	}
	switch w {
	case "stream":
		p.next()
		return p.createRelation(true, at)
	case "table":
		p.next()
		return p.createRelation(false, at)
	case "view":
		p.next()
		return p.createView(&ast.CreateView{OrReplace: replace})
	case "materialized":
		p.next()
		p.expectWords("view")
		return p.createView(&ast.CreateView{OrReplace: replace, Materialized: true})
	case "schema":
		p.next()
		return p.createSchema(at)
	case "index":
		p.next()
		return p.createIndex(false, at)
	case "function":
		p.next()
		return p.createFunction(replace)
	case "processor":
		p.next()
		return p.createProcessor(replace)
	case "unique":
		p.next()
		p.expectWords("index")
		return p.createIndex(true, at)
	}
	return p.createOther(at)
}

// otherKinds are kinds of object that CREATE and DROP recognise and that are
// not built, the longer spelling before the shorter.
var otherKinds = []string{
	"sink", "source", "connection", "secret", "temporary table", "temp table", "temporary view", "temp view",
	"unlogged table", "global temporary table", "local temporary table", "recursive view", "foreign table", "foreign data wrapper", "function", "procedure", "aggregate",
	"trigger", "constraint trigger", "event trigger", "type", "domain", "sequence", "extension", "role", "user mapping", "user",
	"group", "database", "tablespace", "server", "collation", "conversion", "cast", "operator class", "operator family", "operator",
	"language", "trusted language", "policy", "publication", "subscription", "rule", "statistics", "text search", "access method",
	"transform", "routine", "owned",
}

// otherKind reads one of otherKinds in upper case, "" if none is next.
func (p *parser) otherKind() string {
	for _, k := range otherKinds {
		ws := strings.Fields(k)
		if p.words(ws...) {
			p.i += len(ws)
			return strings.ToUpper(k)
		}
	}
	return ""
}

func (p *parser) createOther(at ast.Pos) ast.Stmt {
	kind := p.otherKind()
	if kind == "" {
		p.syntaxError()
	}
	p.skipStatement()
	return &ast.CreateOther{What: "CREATE " + kind, At: at}
}

func (p *parser) createSchema(at ast.Pos) ast.Stmt {
	s := &ast.CreateSchema{At: at}
	s.IfNotExists = p.ifNotExists()
	if !p.isWord(0, "authorization") {
		s.Name = p.name()
	}
	if p.acceptWords("authorization") {
		owner := p.label()
		if s.Name == "" {
			s.Name = owner
		}
	}
	return s
}

// createRelation parses CREATE STREAM and CREATE TABLE behind those words.
func (p *parser) createRelation(stream bool, at ast.Pos) ast.Stmt {
	c := &ast.CreateRelation{Stream: stream}
	c.IfNotExists = p.ifNotExists()
	c.Name = p.qualified()
	if !stream && p.words("partition", "of") {
		p.skipStatement()
		return &ast.CreateOther{What: "CREATE TABLE PARTITION OF", At: at}
	}
	untyped := false // columns without types are for AS only
	if p.is("(") && !stream && p.columnNamesOnly() {
		untyped = true
		for _, n := range p.nameList() {
			c.Columns = append(c.Columns, ast.ColumnDef{Name: n})
		}
	} else if p.is("(") {
		if other := p.relationElements(c); other != "" {
			p.skipStatement()
			return &ast.CreateOther{What: other, At: at}
		}
	} else if !stream && !p.isWord(0, "as") && !p.isWord(0, "with") {
		p.syntaxError()
	}
	for {
		switch {
		case p.isWord(0, "with") && p.isAt(1, "("):
			p.next()
			c.Options = append(c.Options, p.options()...)
			continue
		case p.isWord(0, "format"):
			p.next()
			c.Format = strings.ToLower(p.label())
			p.expectWords("encode")
			c.Encode = strings.ToLower(p.label())
			if p.is("(") {
				c.Options = append(c.Options, p.options()...)
			}
			continue
		case !stream && p.oneOf("inherits", "partition", "using", "on", "tablespace") != "":
			what := "CREATE TABLE " + strings.ToUpper(p.value(p.i))
			p.skipStatement()
			return &ast.CreateOther{What: what, At: at}
		case !stream && p.words("without", "oids"):
			p.i += 2
			continue
		case !stream && p.isWord(0, "as"):
			p.next()
			c.AsQuery = p.query()
			if p.acceptWords("with", "no", "data") {
				return &ast.CreateOther{What: "CREATE TABLE AS WITH NO DATA", At: at}
			}
			p.acceptWords("with", "data")
			return c
		}
		if untyped {
			p.syntaxError()
		}
		return c
	}
}

// columnNamesOnly says whether the bracket at the cursor holds nothing but
// names, as in CREATE TABLE t (a, b) AS SELECT.
func (p *parser) columnNamesOnly() bool {
	return p.isName(1, colName) && (p.isAt(2, ",") || p.isAt(2, ")"))
}

// relationElements reads columns, constraints and the watermark in brackets.
// It gives what makes the statement one that is not built, or "".
func (p *parser) relationElements(c *ast.CreateRelation) string {
	p.expect("(")
	if p.accept(")") {
		return ""
	}
	for {
		switch {
		case p.watermarkClause():
			if c.Watermark != nil {
				p.syntaxError()
			}
			c.Watermark = p.watermark()
		case p.oneOf("constraint", "primary", "unique", "check", "foreign", "exclude") != "":
			if p.isWord(0, "exclude") {
				return "CREATE TABLE with EXCLUDE"
			}
			c.Constraints = append(c.Constraints, p.constraint())
		case p.isWord(0, "like"):
			return "CREATE TABLE with LIKE"
		default:
			col, other := p.columnDef()
			if other != "" {
				return other
			}
			c.Columns = append(c.Columns, col)
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return ""
}

// constraint reads a table constraint.
func (p *parser) constraint() ast.Constraint {
	c := ast.Constraint{At: p.here()}
	if p.acceptWords("constraint") {
		c.Name = p.name()
	}
	switch p.oneOf("primary", "unique", "check", "foreign") {
	case "primary":
		p.expectWords("primary", "key")
		c.Kind = "primary key"
		c.Columns = p.nameList()
	case "unique":
		p.next()
		p.acceptWords("nulls", "distinct")
		c.Kind = "unique"
		c.Columns = p.nameList()
	case "check":
		p.next()
		c.Kind = "check"
		c.Check, c.CheckSQL = p.bracketed()
		p.acceptWords("no", "inherit")
	case "foreign":
		p.expectWords("foreign", "key")
		c.Kind = "foreign key"
		c.Columns = p.nameList()
		p.references()
	default:
		p.syntaxError()
	}
	p.constraintSuffix()
	return c
}

// constraintSuffix reads DEFERRABLE and the like, which have no effect.
func (p *parser) constraintSuffix() {
	for p.acceptWords("not", "deferrable") || p.acceptWords("deferrable") || p.acceptWords("initially", "immediate") ||
		p.acceptWords("initially", "deferred") {
	}
}

// references reads REFERENCES t (cols) with its actions.
func (p *parser) references() {
	p.expectWords("references")
	p.qualified()
	if p.is("(") {
		p.nameList()
	}
	if p.acceptWords("match") {
		p.label()
	}
	for p.acceptWords("on") {
		if p.oneOf("delete", "update") == "" {
			p.syntaxError()
		}
		p.next()
		switch p.oneOf("no", "set", "cascade", "restrict") {
		case "":
			p.syntaxError()
		case "no", "set":
			p.next()
		}
		p.next()
	}
}

// bracketed reads (expression) and its text.
func (p *parser) bracketed() (ast.Expr, string) {
	p.expect("(")
	i := p.i
	e := p.expr()
	text := p.source(i, p.i)
	p.expect(")")
	return e, text
}

// columnDef reads a column with its constraints.
func (p *parser) columnDef() (col ast.ColumnDef, other string) {
	col = ast.ColumnDef{At: p.here(), Name: p.name()}
	if p.oneOf("serial", "bigserial", "smallserial", "serial4", "serial8", "serial2") != "" && !p.isAt(1, ".") {
		return col, "CREATE TABLE with SERIAL"
	}
	col.Type = p.typeName()
	name := "" // of the constraint that follows
	for {
		given := name
		name = ""
		switch {
		case p.acceptWords("constraint"):
			name = p.name()
		case p.words("not", "deferrable"), p.oneOf("deferrable", "initially") != "":
			p.constraintSuffix()
		case p.isWord(0, "not"):
			p.expectWords("not", "null")
			col.NotNull = true
		case p.acceptWords("null"):
		case p.isWord(0, "primary"):
			p.expectWords("primary", "key")
			col.PrimaryKey, col.KeyNames.Primary = true, given
		case p.acceptWords("unique"):
			col.Unique, col.KeyNames.Unique = true, given
		case p.acceptWords("default"):
			i := p.i
			col.Default = p.restricted()
			col.DefaultSQL = p.source(i, p.i)
		case p.acceptWords("check"):
			e, text := p.bracketed()
			addCheck(&col, e, text)
			if given != "" {
				col.KeyNames.Check = given
			}
			p.acceptWords("no", "inherit")
		case p.acceptWords("collate"):
			p.qualified()
		case p.isWord(0, "generated"):
			return col, "CREATE TABLE with GENERATED"
		case p.isWord(0, "references"):
			return col, "CREATE TABLE with REFERENCES"
		default:
			return col, ""
		}
	}
}

// addCheck adds a check to a column; several must all hold.
func addCheck(col *ast.ColumnDef, e ast.Expr, text string) {
	if col.Check == nil {
		col.Check, col.CheckSQL = e, text
		return
	}
	col.Check = &ast.BoolOp{P: ast.P{At: e.Position()}, And: true, Args: []ast.Expr{col.Check, e}}
	col.CheckSQL = "(" + col.CheckSQL + ") AND (" + text + ")"
}

// createView parses CREATE VIEW and CREATE MATERIALIZED VIEW behind those words.
func (p *parser) createView(c *ast.CreateView) ast.Stmt {
	c.IfNotExists = p.ifNotExists()
	c.Name = p.qualified()
	if p.is("(") {
		c.Columns = p.nameList()
	}
	for p.isWord(0, "with") && p.isAt(1, "(") {
		p.next()
		c.Options = append(c.Options, p.options()...)
	}
	p.expectWords("as")
	c.Query = p.query()
	switch {
	case p.acceptWords("emit", "on", "window", "close"):
		c.Emit = "on window close"
	case p.acceptWords("emit", "on", "update"):
		c.Emit = "on update"
	}
	if c.Materialized {
		if p.words("with", "no", "data") {
			p.unsupported(p.i, "WITH NO DATA is not supported")
		}
		p.acceptWords("with", "data")
		return c
	}
	if p.words("with", "check") || p.words("with", "local") || p.words("with", "cascaded") {
		p.unsupported(p.i, "WITH CHECK OPTION is not supported")
	}
	return c
}

// createIndex parses CREATE INDEX behind those words.
func (p *parser) createIndex(unique bool, at ast.Pos) ast.Stmt {
	c := &ast.CreateIndex{Unique: unique, At: at}
	p.acceptWords("concurrently")
	if c.IfNotExists = p.ifNotExists(); c.IfNotExists || !p.isWord(0, "on") {
		c.Name = p.name()
	}
	p.expectWords("on")
	p.acceptWords("only")
	c.Table = p.qualified()
	if p.acceptWords("using") {
		p.name()
	}
	p.expect("(")
	for {
		if !p.is("(") && !p.isName(0, typeFunc) {
			p.syntaxError()
		}
		if !p.isName(0, colName) || p.isAt(1, "(") {
			p.skipStatement()
			return &ast.CreateOther{What: "CREATE INDEX on an expression", At: at}
		}
		c.Columns = append(c.Columns, p.name())
		var item ast.OrderItem
		p.orderSuffix(&item)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	if p.oneOf("where", "include", "with", "tablespace") != "" {
		what := "CREATE INDEX " + strings.ToUpper(p.value(p.i))
		p.skipStatement()
		return &ast.CreateOther{What: what, At: at}
	}
	return c
}
