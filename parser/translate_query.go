package parser

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// selectMark is a block: SELECT, VALUES, TABLE or a bracketed query. Its
// arguments are the DISTINCT ON expressions, the rows or the query.
type selectMark struct {
	form  blockForm
	sel   *ast.Select // of SELECT
	at    ast.Pos
	opAt  ast.Pos    // of the set operator before it
	query *queryMark // of the query whose first block this is
	on    int        // DISTINCT ON expressions
	rows  int        // rows of VALUES
}

type blockForm uint8

const (
	formSelect blockForm = iota
	formValues
	formTable
	formQuery
)

// queryMark is what a query has around its blocks.
type queryMark struct {
	q      *ast.Query
	ctes   int
	orders int
	limit  bool // an ORDER BY item that holds LIMIT and OFFSET follows the others
}

// limitMark is LIMIT and OFFSET, in the order they stand.
type limitMark struct{ args []byte } // 'l' or 'o' for each argument

// havingMark is HAVING and WINDOW; its arguments are the condition and the windows.
type havingMark struct {
	cond    bool
	windows []string
}

// queryAt says whether a query starts at token i: SELECT and the like, behind
// any number of brackets if what follows them belongs to a query as well.
func (p *parser) queryAt(i int) bool {
	n := 0 // brackets
	for p.tokIs(&p.toks[i+n], "(") {
		if n++; n > maxNesting {
			return false
		}
	}
	t := &p.toks[i+n]
	if t.kind != kindWord || t.kw != kwSelect && t.kw != kwValues && t.kw != kwWith && t.kw != kwTable {
		return false
	}
	for n--; n >= 0; n-- {
		if !p.afterQuery(&p.toks[p.toks[i+n].link+1]) {
			return false
		}
	}
	return true
}

// afterQuery says whether t may follow a bracketed query within a query.
func (p *parser) afterQuery(t *token) bool {
	switch t.kind {
	case kindEOF, kindBad:
		return true
	case kindPunct:
		return p.tokIs(t, ")") || p.tokIs(t, ";")
	case kindWord:
		switch t.kw {
		case kwUnion, kwIntersect, kwExcept, kwOrder, kwLimit, kwOffset, kwFetch, kwFor:
			return true
		}
	}
	return false
}

// query translates WITH, a body, ORDER BY, LIMIT and locking clauses.
func (u *unit) query() {
	p := u.p
	p.enter()
	first := p.i
	m := &queryMark{q: &ast.Query{At: p.here()}}
	if p.isWord(0, "with") {
		u.with(m)
	}
	u.block(m, -1)
	for {
		op := p.oneOf("union", "intersect", "except")
		if op == "" {
			break
		}
		u.nest()
		i := p.next()
		u.plain(i, op)
		if p.acceptWords("all") {
			u.plain(i, "ALL")
		} else {
			p.acceptWords("distinct")
		}
		u.block(nil, p.pos(i))
	}
	u.queryTail(m)
	m.q.Text = p.source(first, p.i)
	p.depth--
}

// nest counts what makes the tree deeper without brackets.
func (u *unit) nest() {
	u.joins++
	if u.joins > maxChain {
		tooDeep(int(u.p.peek().pos))
	}
}

func (u *unit) with(m *queryMark) {
	p := u.p
	u.plain(p.next(), "WITH")
	m.q.Recursive = p.acceptWords("recursive")
	for {
		i := p.i
		c := &ast.CTE{At: p.here(), Name: p.name()}
		if p.is("(") {
			c.Columns = p.nameList()
		}
		p.expectWords("as")
		if p.words("not", "materialized") || p.isWord(0, "materialized") {
			yes := !p.acceptWords("not")
			p.next()
			c.Materialized = &yes
		}
		u.named('t', u.newMark(markCTE, i, c), i)
		u.plain(i, "AS (")
		p.expect("(")
		if w := p.oneOf("insert", "update", "delete", "merge"); w != "" {
			p.unsupported(p.i, "data-modifying statements in WITH are not supported")
		}
		u.query()
		p.expect(")")
		u.close()
		m.ctes++
		if p.words("search") || p.words("cycle") {
			p.unsupported(p.i, "SEARCH and CYCLE clauses are not supported")
		}
		if !p.accept(",") {
			return
		}
		u.comma()
	}
}

// block translates one operand of a set operation.
func (u *unit) block(query *queryMark, opAt ast.Pos) {
	p := u.p
	i := p.i
	m := &selectMark{at: p.here(), opAt: opAt, query: query}
	u.plain(i, "SELECT")
	switch {
	case p.is("("):
		m.form = formQuery
		u.open(markSelect, p.next(), m)
		if !p.queryAt(p.i) {
			p.syntaxError()
		}
		u.subquery()
		u.close()
		p.expect(")")
	case p.isWord(0, "select"):
		p.next()
		u.selectBlock(i, m)
	case p.isWord(0, "values"):
		p.next()
		m.form = formValues
		u.open(markSelect, i, m)
		for {
			if m.rows > 0 {
				u.comma()
			}
			u.open(markRow, p.i, nil)
			p.expect("(")
			u.list()
			p.expect(")")
			u.close()
			m.rows++
			if !p.accept(",") {
				break
			}
		}
		u.close()
	case p.isWord(0, "table"):
		p.next()
		m.form = formTable
		u.open(markSelect, i, m)
		u.close()
		u.plain(i, "FROM")
		only := p.acceptWords("only")
		j := p.i
		u.relation(j, &ast.TableRef{Name: p.qualified(), Only: only})
	default:
		p.syntaxError()
	}
}

// relation writes tN for a relation or what stands for one.
func (u *unit) relation(tok int, x ast.TableExpr) { u.named('t', u.newMark(markRelation, tok, x), tok) }

// selectBlock translates a SELECT behind its first word.
func (u *unit) selectBlock(i int, m *selectMark) {
	p := u.p
	s := &ast.Select{At: p.pos(i)}
	m.sel = s
	u.open(markSelect, i, m)
	if p.isWord(0, "distinct") {
		p.next()
		if p.isWord(0, "on") && p.isAt(1, "(") {
			p.i += 2
			m.on = u.list()
			p.expect(")")
			s.WithinWatermark = p.acceptWords("within", "watermark")
		} else {
			s.Distinct = true
		}
	} else {
		p.acceptWords("all")
	}
	u.close()
	if s.Items = u.selectItems(true); s.Items == nil && (s.Distinct || m.on > 0) {
		p.syntaxError()
	}
	if p.isWord(0, "into") {
		p.unsupported(p.i, "SELECT INTO is not supported")
	}
	if p.isWord(0, "from") {
		u.plain(p.next(), "FROM")
		u.fromList()
	} else {
		// TiDB wants a FROM before WHERE.
		u.plain(i, "FROM")
		u.relation(i, nil)
	}
	if p.isWord(0, "where") {
		u.plain(p.next(), "WHERE")
		u.sequence(false)
	}
	if p.isWord(0, "group") {
		u.plain(p.next(), "GROUP BY")
		p.expectWords("by")
		if p.acceptWords("distinct") {
			s.GroupDistinct = true
		} else {
			p.acceptWords("all")
		}
		u.groupItems()
	}
	u.having()
}

// selectItems translates a select list; the expressions follow a first field
// if after is set.
func (u *unit) selectItems(after bool) []ast.SelectItem {
	p := u.p
	if !p.itemAhead() {
		return nil
	}
	var items []ast.SelectItem
	for {
		if after {
			u.comma()
		}
		after = true
		item := ast.SelectItem{}
		if p.is("*") {
			i := p.next()
			u.leaf(i, &ast.ColumnRef{P: ast.P{At: p.pos(i)}, Star: true})
		} else {
			u.sequence(false)
			item.Alias = p.columnLabel()
		}
		items = append(items, item)
		if !p.accept(",") {
			return items
		}
	}
}

// itemAhead says whether a select list has an item at all.
func (p *parser) itemAhead() bool {
	t := p.peek()
	switch t.kind {
	case kindEOF:
		return false
	case kindPunct:
		return p.is("(")
	case kindWord:
		switch t.kw {
		case kwFrom, kwWhere, kwGroup, kwHaving, kwOrder, kwLimit, kwOffset, kwFetch, kwFor, kwUnion, kwIntersect,
			kwExcept, kwInto:
			return false
		case kwWindow:
			return !p.windowClause()
		}
	}
	return true
}

// columnLabel reads [AS] label.
func (p *parser) columnLabel() string {
	if p.acceptWords("as") {
		return p.label()
	}
	t := p.peek()
	if t.kind == kindQuoted || t.kind == kindWord && keywords[t.kw].bare && !p.emitClause() {
		return p.value(p.next())
	}
	return ""
}

// emitClause says whether the EMIT of CREATE MATERIALIZED VIEW is next, which
// is no alias.
func (p *parser) emitClause() bool {
	return p.words("emit", "on", "window", "close") || p.words("emit", "on", "update")
}

// windowClause says whether WINDOW name AS is next.
func (p *parser) windowClause() bool {
	return p.isWord(0, "window") && p.isWord(2, "as") && p.isAt(3, "(")
}

// groupItems translates the items of GROUP BY, or those in the brackets of
// ROLLUP, CUBE and GROUPING SETS.
func (u *unit) groupItems() (n int) {
	p := u.p
	for {
		if n > 0 {
			u.comma()
		}
		u.groupItem()
		n++
		if !p.accept(",") {
			return n
		}
	}
}

func (u *unit) groupItem() {
	p := u.p
	p.enter()
	g := &ast.GroupItem{At: p.here()}
	u.open(markGroup, p.i, g)
	words := 1
	switch {
	case p.is("(") && p.isAt(1, ")"):
		g.Kind = "empty"
		p.i += 2
	case p.isWord(0, "rollup") && p.isAt(1, "("):
		g.Kind = "rollup"
	case p.isWord(0, "cube") && p.isAt(1, "("):
		g.Kind = "cube"
	case p.words("grouping", "sets"):
		g.Kind = "sets"
		words = 2
	default:
		u.sequence(false)
	}
	if g.Kind != "" && g.Kind != "empty" {
		p.i += words
		p.expect("(")
		u.groupItems()
		p.expect(")")
	}
	u.close()
	p.depth--
}

// having translates HAVING and WINDOW.
func (u *unit) having() {
	p := u.p
	if !p.isWord(0, "having") && !p.isWord(0, "window") {
		return
	}
	i := p.i
	m := &havingMark{}
	u.plain(i, "HAVING")
	u.open(markHaving, i, m)
	if p.acceptWords("having") {
		m.cond = true
		u.sequence(false)
	}
	if p.acceptWords("window") {
		for {
			if m.cond || len(m.windows) > 0 {
				u.comma()
			}
			j := p.i
			m.windows = append(m.windows, p.name())
			p.expectWords("as")
			if !p.is("(") {
				p.syntaxError()
			}
			u.windowSpec(j)
			if !p.accept(",") {
				break
			}
		}
	}
	u.close()
}

// queryTail translates ORDER BY, LIMIT, OFFSET, FETCH and FOR UPDATE.
func (u *unit) queryTail(m *queryMark) {
	p := u.p
	if p.isWord(0, "order") {
		u.plain(p.i, "ORDER BY")
		m.orders = u.orderItems(false)
	}
	lim := &limitMark{}
	seenLimit := false
	for {
		i := p.i
		switch {
		case p.isWord(0, "limit"), p.isWord(0, "fetch"):
			if seenLimit {
				p.syntaxError()
			}
			seenLimit = true
			p.next()
			if p.toks[i].kw == kwFetch {
				u.fetchFirst(m, lim, i)
			} else {
				u.limit(m, lim, i)
			}
			continue
		case p.isWord(0, "offset"):
			if lim.has('o') {
				p.syntaxError()
			}
			p.next()
			u.limitArg(m, lim, i, 'o')
			u.sequence(false)
			if p.oneOf("row", "rows") != "" {
				p.next()
			}
			continue
		case p.isWord(0, "for"):
			m.q.Locking = true
			p.locking()
			continue
		}
		break
	}
	if m.limit {
		u.close()
	}
	if m.q.WithTies && m.orders == 0 {
		raise(-1, sqlerr.SyntaxError, "WITH TIES cannot be specified without ORDER BY clause")
	}
}

func (m *limitMark) has(c byte) bool { return bytes.IndexByte(m.args, c) >= 0 }

// limitArg begins an argument of the ORDER BY item that holds LIMIT and
// OFFSET, and the item itself with the first.
func (u *unit) limitArg(m *queryMark, lim *limitMark, i int, which byte) {
	lim.args = append(lim.args, which)
	if m.limit {
		u.comma()
		return
	}
	m.limit = true
	if m.orders > 0 {
		u.comma()
	} else {
		u.plain(i, "ORDER BY")
	}
	u.open(markLimit, i, lim)
}

func (u *unit) limit(m *queryMark, lim *limitMark, i int) {
	p := u.p
	if p.acceptWords("all") {
		return
	}
	u.limitArg(m, lim, i, 'l')
	u.sequence(false)
	if p.is(",") {
		panic(bailout{sqlerr.New(sqlerr.SyntaxError, "LIMIT #,# syntax is not supported").
			WithHint("Use separate LIMIT and OFFSET clauses.").At(int(p.toks[i].pos))})
	}
}

// fetchFirst translates FETCH FIRST [n] ROWS ONLY|WITH TIES.
func (u *unit) fetchFirst(m *queryMark, lim *limitMark, i int) {
	p := u.p
	if p.oneOf("first", "next") == "" {
		p.syntaxError()
	}
	p.next()
	u.limitArg(m, lim, i, 'l')
	if p.oneOf("row", "rows") != "" {
		u.leaf(i, &ast.Const{P: ast.P{At: p.pos(i)}, Kind: ast.NumberConst, Text: "1"})
	} else {
		u.primary()
	}
	if p.oneOf("row", "rows") == "" {
		p.syntaxError()
	}
	p.next()
	if p.acceptWords("with", "ties") {
		m.q.WithTies = true
		return
	}
	p.expectWords("only")
}

// locking reads FOR UPDATE and its relatives, which have no effect.
func (p *parser) locking() {
	p.next()
	switch p.oneOf("update", "share", "no", "key") {
	case "":
		p.syntaxError()
	case "no":
		p.expectWords("no", "key", "update")
	case "key":
		p.expectWords("key", "share")
	default:
		p.next()
	}
	if p.acceptWords("of") {
		for {
			p.qualified()
			if !p.accept(",") {
				break
			}
		}
	}
	if !p.acceptWords("nowait") {
		p.acceptWords("skip", "locked")
	}
}
