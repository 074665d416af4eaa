package parser

import "github.com/tidemarkdb/tidemark/parser/ast"

// insert parses INSERT.
func (p *parser) insert() ast.Stmt {
	p.expectWords("insert", "into")
	s := &ast.Insert{Table: p.qualified()}
	if p.acceptWords("as") {
		s.Alias = p.name()
	}
	if p.is("(") && !p.queryAt(p.i) {
		p.insertColumns(s)
	}
	if p.isWord(0, "overriding") {
		p.unsupported(p.i, "OVERRIDING is not supported")
	}
	switch {
	case p.acceptWords("default", "values"):
	case p.isWord(0, "values") && p.isAt(1, "("):
		p.insertRows(s)
	default:
		s.Query = p.query()
	}
	if p.isWord(0, "on") {
		s.OnConflict = p.onConflict()
	}
	s.Returning = p.returning()
	return s
}

func (p *parser) insertColumns(s *ast.Insert) {
	p.expect("(")
	for {
		s.ColumnPos = append(s.ColumnPos, p.here())
		s.Columns = append(s.Columns, p.name())
		if p.is(".") || p.is("[") {
			p.unsupported(p.i, "assignment to a field or element is not supported")
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
}

// insertRows reads the rows of INSERT ... VALUES into s.Rows. If what follows
// shows that the list is only part of a query, it is read again as one.
func (p *parser) insertRows(s *ast.Insert) {
	start := p.i
	p.next()
	s.Rows = p.valueRows()
	switch p.peek().kw {
	case kwUnion, kwIntersect, kwExcept, kwOrder, kwLimit, kwOffset, kwFetch, kwFor:
		p.i = start
		s.Rows, s.Query = nil, p.query()
	}
}

// onConflict parses ON CONFLICT.
func (p *parser) onConflict() *ast.OnConflict {
	c := &ast.OnConflict{At: p.here()}
	p.expectWords("on", "conflict")
	if p.words("on", "constraint") {
		p.i += 2
		c.Constraint = p.name()
	} else if p.is("(") {
		i := p.i
		if !p.isName(1, colName) || !p.isAt(2, ",") && !p.isAt(2, ")") {
			p.unsupported(i+1, "ON CONFLICT with an expression is not supported")
		}
		c.Columns = p.nameList()
		if p.isWord(0, "where") {
			p.unsupported(p.i, "ON CONFLICT with an index predicate is not supported")
		}
	}
	p.expectWords("do")
	if p.acceptWords("nothing") {
		return c
	}
	p.expectWords("update", "set")
	c.Set = p.setItems()
	if p.acceptWords("where") {
		c.Where = p.expr()
	}
	return c
}

// setItems reads the assignments of UPDATE.
func (p *parser) setItems() []ast.SetItem {
	var out []ast.SetItem
	for {
		item := ast.SetItem{At: p.here()}
		if p.is("(") {
			item.Cols = p.nameList()
		} else {
			item.Cols = []string{p.name()}
			if p.is(".") || p.is("[") {
				p.unsupported(p.i, "assignment to a field or element is not supported")
			}
		}
		p.expect("=")
		item.X = p.assigned(len(item.Cols))
		out = append(out, item)
		if !p.accept(",") {
			return out
		}
	}
}

// assigned reads the right side of an assignment to n columns, in which a
// value may be DEFAULT.
func (p *parser) assigned(n int) ast.Expr {
	if p.isWord(0, "default") {
		return &ast.Default{P: ast.P{At: p.pos(p.next())}}
	}
	open := p.i
	if p.isWord(0, "row") {
		open++
	}
	if n < 2 || !p.tokIs(&p.toks[open], "(") || p.queryAt(open+1) || !p.defaultIn(open) {
		return p.expr()
	}
	row := &ast.Row{P: ast.P{At: p.here()}}
	p.i = open + 1
	for {
		row.Args = append(row.Args, p.assigned(1))
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return row
}

// defaultIn says whether the word DEFAULT is directly in the bracket at token i.
func (p *parser) defaultIn(i int) bool {
	end := int(p.toks[i].link)
	for i++; i < end; i++ {
		t := &p.toks[i]
		if t.kind == kindWord && t.kw == kwDefault {
			return true
		}
		if t.kind == kindPunct && int(t.link) > i {
			i = int(t.link)
		}
	}
	return false
}

// returning reads RETURNING.
func (p *parser) returning() []ast.SelectItem {
	if !p.acceptWords("returning") {
		return nil
	}
	u := newUnit(p)
	u.plain(p.i, "SELECT")
	items := u.selectItems(false)
	if items == nil {
		p.syntaxError()
	}
	d := decoder{u}
	d.items(u.tidbParse(), items)
	d.finish()
	return items
}

// target reads the table of UPDATE or DELETE with its alias.
func (p *parser) target(stop string) (ast.Name, string) {
	p.acceptWords("only")
	name := p.qualified()
	p.accept("*")
	switch {
	case p.acceptWords("as"):
		return name, p.name()
	case p.isName(0, colName) && !p.isWord(0, stop):
		return name, p.name()
	}
	return name, ""
}

// fromItems parses the items behind FROM or USING.
func (p *parser) fromItems() []ast.TableExpr {
	u := newUnit(p)
	i := p.i
	u.plain(i, "SELECT")
	u.open(markSelect, i, &selectMark{})
	u.close()
	u.plain(i, "FROM")
	u.fromList()
	d := decoder{u}
	out := d.fromOf(u.tidbParse())
	d.finish()
	return out
}

func (p *parser) noCurrentOf() {
	if p.words("current", "of") {
		p.unsupported(p.i, "WHERE CURRENT OF is not supported")
	}
}

// update parses UPDATE.
func (p *parser) update() ast.Stmt {
	p.expectWords("update")
	s := &ast.Update{}
	s.Table, s.Alias = p.target("set")
	p.expectWords("set")
	s.Set = p.setItems()
	if p.acceptWords("from") {
		s.From = p.fromItems()
	}
	if p.acceptWords("where") {
		p.noCurrentOf()
		s.Where = p.expr()
	}
	s.Returning = p.returning()
	return s
}

// deleteStmt parses DELETE.
func (p *parser) deleteStmt() ast.Stmt {
	p.expectWords("delete", "from")
	s := &ast.Delete{}
	s.Table, s.Alias = p.target("using")
	if p.acceptWords("using") {
		s.Using = p.fromItems()
	}
	if p.acceptWords("where") {
		p.noCurrentOf()
		s.Where = p.expr()
	}
	s.Returning = p.returning()
	return s
}

// truncate parses TRUNCATE.
func (p *parser) truncate() ast.Stmt {
	p.expectWords("truncate")
	p.acceptWords("table")
	s := &ast.Truncate{}
	for {
		p.acceptWords("only")
		s.Tables = append(s.Tables, p.qualified())
		p.accept("*")
		if !p.accept(",") {
			break
		}
	}
	if !p.acceptWords("restart", "identity") {
		p.acceptWords("continue", "identity")
	}
	if !p.acceptWords("cascade") {
		p.acceptWords("restrict")
	}
	return s
}
