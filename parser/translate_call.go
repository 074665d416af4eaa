package parser

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// callMark is a function call. Its arguments in the translation are the
// call's own, then the ORDER BY items, the filter and the window.
type callMark struct {
	call   *ast.Call
	args   int // with those that are tables
	plain  int // without
	orders int
	filter bool
	over   bool
	swap   bool // the first two arguments change places
}

// tableArgMark is TABLE x PARTITION BY ... in a call in FROM. Its arguments
// are the query, if any, and the partition expressions.
type tableArgMark struct {
	name  string // of the argument; "" for a positional one
	arg   *ast.TableArg
	query bool
	parts int
}

// call translates a function call at its name. In FROM, tables takes the
// arguments that are relations.
func (u *unit) call(tables map[string]*ast.TableArg) {
	p := u.p
	i := p.i
	m := &callMark{call: &ast.Call{P: ast.P{At: p.pos(i)}}}
	c := m.call
	c.Name = p.value(p.next())
	for n := 0; p.accept("."); n++ {
		if n == 2 {
			raise(int(p.toks[i].pos), sqlerr.SyntaxError, "improper qualified name (too many dotted names)")
		}
		c.Schema, c.Name = c.Name, p.label()
	}
	u.open(markCall, i, m)
	p.expect("(")
	u.arguments(m, tables)
	p.expect(")")
	u.callSuffix(m)
	u.close()
}

// separate writes the comma before any argument but the first.
func (m *callMark) separate(u *unit) {
	if m.args+m.orders > 0 || m.filter {
		u.comma()
	}
}

// arguments translates what stands in the brackets of a call.
func (u *unit) arguments(m *callMark, tables map[string]*ast.TableArg) {
	p, c := u.p, m.call
	if p.accept("*") {
		c.Star = true
		return
	}
	if p.is(")") {
		return
	}
	if p.isWord(0, "distinct") {
		p.next()
		c.Distinct = true
	} else if p.isWord(0, "all") {
		p.next()
	}
	relations := tables != nil && c.Schema == "" && (c.Name == "tumble" || c.Name == "hop")
	for n := 0; ; n++ {
		if p.acceptWords("variadic") {
			c.Variadic = true
		}
		name := p.argumentName()
		switch {
		case tables != nil && p.isWord(0, "table"):
			m.separate(u)
			u.tableArg(name, tables)
			m.args++
		case relations && n == 0 && (p.peek().kind == kindWord || p.peek().kind == kindQuoted):
			if name != "" {
				p.syntaxError()
			}
			tables[""] = &ast.TableArg{Name: p.qualified()}
		default:
			m.separate(u)
			u.sequence(false)
			m.args++
			m.plain++
			m.argName(name)
		}
		if c.Variadic || !p.accept(",") {
			break
		}
	}
	if p.words("order", "by") {
		m.orders = u.orderItems(m.args > 0)
	}
}

// argName notes the name of the argument just written.
func (m *callMark) argName(name string) {
	c := m.call
	if name == "" && c.ArgNames == nil {
		return
	}
	for len(c.ArgNames) < m.plain-1 {
		c.ArgNames = append(c.ArgNames, "")
	}
	c.ArgNames = append(c.ArgNames, name)
}

// argumentName reads `name =>` or `name :=`.
func (p *parser) argumentName() string {
	if k := p.peek().kind; (k == kindWord || k == kindQuoted) && (p.isAt(1, "=>") || p.isAt(1, ":=")) {
		name := p.value(p.next())
		p.next()
		return name
	}
	return ""
}

// tableArg translates TABLE name|(query) [PARTITION BY ...].
func (u *unit) tableArg(name string, tables map[string]*ast.TableArg) {
	p := u.p
	i := p.next()
	if _, ok := tables[name]; ok {
		p.syntaxErrorAt(i)
	}
	m := &tableArgMark{name: name, arg: &ast.TableArg{}}
	tables[name] = m.arg
	u.open(markTableArg, i, m)
	if p.is("(") {
		p.next()
		if !p.queryAt(p.i) {
			m.arg.Name = p.qualified()
		} else {
			m.query = true
			u.subquery()
		}
		p.expect(")")
	} else {
		m.arg.Name = p.qualified()
	}
	if p.acceptWords("partition") {
		p.expectWords("by")
		if m.query {
			u.comma()
		}
		// A comma may also begin the next argument of the call; brackets tell.
		if p.is("(") && p.bracketEndsArgument() {
			p.next()
			m.parts = u.list()
			p.expect(")")
		} else {
			u.sequence(false)
			m.parts = 1
			for p.is(",") && !p.argumentAfterComma() {
				p.next()
				u.comma()
				u.sequence(false)
				m.parts++
			}
		}
	}
	u.close()
}

// bracketEndsArgument says whether nothing of the same argument follows the
// bracket at the cursor.
func (p *parser) bracketEndsArgument() bool {
	after := &p.toks[p.peek().link+1]
	return p.tokIs(after, ",") || p.tokIs(after, ")")
}

// argumentAfterComma says whether the comma at the cursor ends a PARTITION BY
// list: it does before a named argument or another table.
func (p *parser) argumentAfterComma() bool {
	return p.isAt(2, "=>") || p.isAt(2, ":=") || p.isWord(1, "table")
}

// callSuffix translates WITHIN GROUP, FILTER, IGNORE NULLS and OVER.
func (u *unit) callSuffix(m *callMark) {
	p, c := u.p, m.call
	if p.words("within", "group") && p.isAt(2, "(") {
		i := p.i
		if m.orders > 0 {
			raise(int(p.toks[i].pos), sqlerr.SyntaxError, "cannot use multiple ORDER BY clauses with WITHIN GROUP")
		}
		if c.Distinct {
			raise(int(p.toks[i].pos), sqlerr.SyntaxError, "cannot use DISTINCT with WITHIN GROUP")
		}
		if c.Variadic {
			raise(int(p.toks[i].pos), sqlerr.SyntaxError, "cannot use VARIADIC with WITHIN GROUP")
		}
		p.i += 3
		if !p.words("order", "by") {
			p.syntaxError()
		}
		m.orders = u.orderItems(m.args > 0)
		c.Within = true
		p.expect(")")
	}
	if p.isWord(0, "filter") && p.isAt(1, "(") {
		p.i += 2
		p.expectWords("where")
		m.separate(u)
		u.sequence(false)
		m.filter = true
		p.expect(")")
	}
	if p.words("ignore", "nulls") || p.words("respect", "nulls") {
		c.IgnoreNulls = p.isWord(0, "ignore")
		p.i += 2
	}
	if p.isWord(0, "over") && (p.isAt(1, "(") || p.isName(1, colName) || p.at(1).kind == kindEOF) {
		i := p.next()
		m.separate(u)
		m.over = true
		if p.is("(") {
			u.windowSpec(i)
		} else {
			u.open(markOver, i, &overMark{spec: &ast.WindowSpec{Ref: p.name(), At: p.pos(i)}})
			u.close()
		}
	}
}

// orderItems translates ORDER BY a, b ... as fN(x) each; comma says that one
// is due before the first.
func (u *unit) orderItems(comma bool) (n int) {
	p := u.p
	p.expectWords("order", "by")
	for {
		if comma {
			u.comma()
		}
		comma = true
		item := &ast.OrderItem{}
		u.open(markOrder, p.i, item)
		u.sequence(false)
		u.close()
		p.orderSuffix(item)
		n++
		if !p.accept(",") {
			return n
		}
	}
}

// orderSuffix reads ASC, DESC, USING and NULLS FIRST or LAST.
func (p *parser) orderSuffix(item *ast.OrderItem) {
	switch p.oneOf("asc", "desc", "using") {
	case "asc":
		p.next()
	case "desc":
		p.next()
		item.Desc = true
	case "using":
		p.next()
		switch {
		case p.isWord(0, "operator"):
			_, item.Using = p.operatorName()
		case p.peek().kind == kindOp:
			item.Using = p.raw(p.next())
		default:
			p.syntaxError()
		}
	}
	if p.isWord(0, "nulls") && (p.isWord(1, "first") || p.isWord(1, "last")) {
		first := p.isWord(1, "first")
		p.i += 2
		item.NullsFirst = &first
	}
}

// overMark is a window; its arguments are the partition expressions, the
// ORDER BY items and the offsets of the frame's bounds.
type overMark struct {
	spec          *ast.WindowSpec
	parts, orders int
}

// windowSpec translates a bracketed window; i is the token it is reported at.
func (u *unit) windowSpec(i int) {
	p := u.p
	p.enter()
	m := &overMark{spec: &ast.WindowSpec{At: p.pos(i)}}
	u.open(markOver, i, m)
	p.expect("(")
	if p.isName(0, colName) && p.oneOf("partition", "rows", "range", "groups") == "" {
		m.spec.Ref = p.name()
	}
	if p.words("partition") {
		p.expectWords("partition", "by")
		m.parts = u.list()
	}
	if p.words("order") {
		m.orders = u.orderItems(m.parts > 0)
	}
	if mode := p.oneOf("rows", "range", "groups"); mode != "" {
		p.next()
		m.spec.Frame = &ast.Frame{Mode: mode}
		u.frame(m)
	}
	p.expect(")")
	u.close()
	p.depth--
}

// frame translates the bounds of a window frame.
func (u *unit) frame(m *overMark) {
	p, f := u.p, m.spec.Frame
	written := m.parts+m.orders > 0
	between := p.acceptWords("between")
	start := int(p.peek().pos)
	end := start
	f.Start = u.bound(&written)
	f.End = ast.Bound{Kind: "current row"}
	if between {
		p.expectWords("and")
		end = int(p.peek().pos)
		f.End = u.bound(&written)
	}
	checkFrame(f, start, end)
	if !p.acceptWords("exclude") {
		return
	}
	switch p.oneOf("current", "group", "ties", "no") {
	case "current":
		p.expectWords("current", "row")
		f.Exclude = "current row"
	case "group":
		p.next()
		f.Exclude = "group"
	case "ties":
		p.next()
		f.Exclude = "ties"
	case "no":
		p.expectWords("no", "others")
		f.Exclude = "no others"
	default:
		p.syntaxError()
	}
}

// offsetPending stands for a bound's offset until it is decoded.
var offsetPending ast.Expr = &ast.Const{}

func (u *unit) bound(written *bool) ast.Bound {
	p := u.p
	switch {
	case p.words("unbounded", "preceding"), p.words("unbounded", "following"):
		kind := "unbounded " + p.value(p.i+1)
		p.i += 2
		return ast.Bound{Kind: kind}
	case p.words("current", "row"):
		p.i += 2
		return ast.Bound{Kind: "current row"}
	}
	if *written {
		u.comma()
	}
	*written = true
	u.sequence(false)
	kind := p.oneOf("preceding", "following")
	if kind == "" {
		p.syntaxError()
	}
	p.next()
	return ast.Bound{Kind: kind, Offset: offsetPending}
}

// checkFrame refuses frames that PostgreSQL's grammar refuses; start and end
// are where the bounds are.
func checkFrame(f *ast.Frame, start, end int) {
	s, e := f.Start.Kind, f.End.Kind
	refuse := func(at int, msg string) { raise(at, sqlerr.WindowingError, "%s", msg) }
	switch {
	case s == "unbounded following":
		refuse(start, "frame start cannot be UNBOUNDED FOLLOWING")
	case e == "unbounded preceding":
		refuse(end, "frame end cannot be UNBOUNDED PRECEDING")
	case s == "current row" && e == "preceding":
		refuse(end, "frame starting from current row cannot have preceding rows")
	case s == "following" && (e == "preceding" || e == "current row"):
		refuse(end, "frame starting from following row cannot have preceding rows")
	}
}

// special translates the calls with key words between their arguments.
func (u *unit) special(kw keyword) {
	p := u.p
	i := p.next()
	c := &ast.Call{P: ast.P{At: p.pos(i)}, Name: p.value(i)}
	m := &callMark{call: c}
	u.open(markCall, i, m)
	p.expect("(")
	arg := func() {
		m.separate(u)
		u.sequence(false)
		m.args++
	}
	switch kw {
	case kwExtract:
		j := p.i
		if k := p.peek().kind; k != kindWord && k != kindString && k != kindQuoted {
			p.syntaxError()
		}
		u.leaf(j, &ast.Const{P: ast.P{At: p.pos(j)}, Kind: ast.StringConst, Text: p.value(p.next())})
		m.args = 1
		if !p.accept(",") {
			p.expectWords("from")
		}
		arg()
	case kwPosition:
		u.sequence(true)
		m.args = 1
		p.expectWords("in")
		m.separate(u)
		u.sequence(true)
		m.args, m.swap = 2, true
	case kwSubstring:
		u.substring(m, arg)
	case kwOverlay:
		arg()
		if p.acceptWords("placing") {
			arg()
			p.expectWords("from")
			arg()
			if p.acceptWords("for") {
				arg()
			}
			break
		}
		for p.accept(",") {
			arg()
		}
	case kwTrim:
		u.trim(m, arg)
	}
	p.expect(")")
	u.callSuffix(m)
	u.close()
}

func (u *unit) substring(m *callMark, arg func()) {
	p := u.p
	arg()
	switch {
	case p.acceptWords("from"):
		arg()
		if p.acceptWords("for") {
			arg()
		}
	case p.isWord(0, "for"):
		i := p.next()
		m.separate(u)
		u.leaf(i, &ast.Const{P: ast.P{At: p.pos(i)}, Kind: ast.NumberConst, Text: "1"})
		m.args++
		arg()
		if p.acceptWords("from") {
			raise(int(p.toks[i].pos), sqlerr.FeatureNotSupported, "SUBSTRING with FOR before FROM is not supported")
		}
	case p.isWord(0, "similar"):
		p.next()
		arg()
		p.expectWords("escape")
		arg()
	default:
		for p.accept(",") {
			arg()
		}
	}
}

// trim translates TRIM([BOTH|LEADING|TRAILING] [c] [FROM] x).
func (u *unit) trim(m *callMark, arg func()) {
	p := u.p
	m.call.Name = "btrim"
	switch p.oneOf("both", "leading", "trailing") {
	case "leading":
		p.next()
		m.call.Name = "ltrim"
	case "trailing":
		p.next()
		m.call.Name = "rtrim"
	case "both":
		p.next()
	}
	if p.acceptWords("from") {
		arg()
	} else {
		arg()
		if p.acceptWords("from") {
			arg()
			m.swap = true
		}
	}
	for p.accept(",") {
		arg()
	}
}
