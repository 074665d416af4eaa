package parser

import (
	"slices"
	"sort"
	"strconv"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// markKind says what a mark stands for, and so where it may be decoded.
type markKind uint8

const (
	// Written as `?`.
	markLeaf     markKind = iota // node: ast.Expr, complete
	markInfix                    // node: *ast.Binary without operands
	markPrefix                   // node: *ast.Unary without operand
	markEscape                   // ESCAPE between pattern and escape
	markIsTest                   // node: *ast.IsTest without operand
	markDistinct                 // node: *ast.IsDistinct without operands
	markLike                     // node: *likeMark
	markBetween                  // node: *ast.Between without operands
	markIn                       // node: *ast.In without operands
	markAtZone                   // AT TIME ZONE
	markCollate                  // node: *ast.Collate without operand
	markOverlaps                 // OVERLAPS

	// Written as a collation.
	markCast // node: *ast.Cast without operand

	// Written as fN(...).
	markCall        // node: *callMark
	markSubquery    // scalar subquery
	markExists      // EXISTS (query)
	markArrayQuery  // ARRAY (query)
	markArray       // ARRAY[...]
	markRow         // ROW(...)
	markCase        // node: *caseMark
	markQuantified  // ANY or ALL; node: *ast.Quantified without operands
	markCastCall    // CAST(x AS t); node: *ast.Cast
	markIndirection // node: *indirectionMark
	markList        // right side of IN (list)
	markListQuery   // right side of IN (query), array of ANY/ALL as a query
	markOrder       // ORDER BY item; node: *ast.OrderItem
	markOver        // node: *overMark
	markTableArg    // TABLE x in a call; node: *tableArgMark
	markSelect      // first field of a block; node: *selectMark
	markLimit       // LIMIT and OFFSET; node: *limitMark
	markGroup       // GROUP BY item; node: *ast.GroupItem
	markHaving      // node: *havingMark
	markJoin        // condition of a join; node: *ast.Join

	// Written as a relation tN.
	markRelation // node: ast.TableExpr
	markCTE      // node: *ast.CTE
)

// mark is one construct on its way through TiDB's parser.
type mark struct {
	kind markKind
	used bool
	tok  int32 // token at which it is reported
	node any
}

// emission says where a token's translation begins in the output. The table
// of them is ascending and maps offsets back to tokens and marks.
type emission struct{ out, tok, mark int32 }

// unit is one expression or query on its way through TiDB's parser.
type unit struct {
	p     *parser
	out   []byte
	ems   []emission
	marks []mark
	moved int // bytes that wrap had to move
	joins int // joins and set operations, which nest in the tree
}

func newUnit(p *parser) *unit { return &unit{p: p, out: make([]byte, 0, 256)} }

// expr parses an expression at the cursor.
func (p *parser) expr() ast.Expr { return p.exprOf(false) }

// restricted parses what PostgreSQL calls b_expr: no AND, OR, NOT, LIKE, IN,
// BETWEEN or IS outside parentheses, so that a word NOT may follow.
func (p *parser) restricted() ast.Expr { return p.exprOf(true) }

func (p *parser) exprOf(restricted bool) ast.Expr {
	if e := p.literalAlone(); e != nil {
		return e
	}
	u := newUnit(p)
	u.plain(p.i, "SELECT")
	u.sequence(restricted)
	d := decoder{u}
	e := d.single(u.tidbParse())
	d.finish()
	return e
}

// query parses a whole query at the cursor.
func (p *parser) query() *ast.Query {
	u := newUnit(p)
	u.query()
	d := decoder{u}
	q := d.query(u.tidbParse())
	d.finish()
	return q
}

// withClause translates a WITH clause alone, as that of a query that selects nothing.
func (p *parser) withClause() ast.With {
	u := newUnit(p)
	i := p.i
	m := &queryMark{q: &ast.Query{At: p.here()}}
	u.with(m)
	u.plain(i, "SELECT")
	u.open(markSelect, i, &selectMark{at: p.pos(i), opAt: -1, query: m, sel: &ast.Select{At: p.pos(i)}})
	u.close()
	u.plain(i, "FROM")
	u.relation(i, nil)
	d := decoder{u}
	q := d.query(u.tidbParse())
	d.finish()
	return ast.With{Items: q.With, Recursive: q.Recursive}
}

// plain writes text that carries no mark, as the translation of token tok.
func (u *unit) plain(tok int, s string) {
	u.out = append(u.out, ' ')
	u.ems = append(u.ems, emission{int32(len(u.out)), int32(tok), -1})
	u.out = append(u.out, s...)
}

func (u *unit) newMark(k markKind, tok int, node any) int {
	if len(u.marks) >= maxMarks {
		raise(int(u.p.toks[tok].pos), sqlerr.ProgramLimitExceeded, "query has more than %d elements", maxMarks)
	}
	u.marks = append(u.marks, mark{kind: k, tok: int32(tok), node: node})
	return len(u.marks) - 1
}

// hole writes a `?` with a mark.
func (u *unit) hole(k markKind, tok int, node any) {
	m := u.newMark(k, tok, node)
	u.out = append(u.out, ' ')
	u.ems = append(u.ems, emission{int32(len(u.out)), int32(tok), int32(m)})
	u.out = append(u.out, '?')
}

// open writes fN( with a mark; the caller writes arguments and the bracket.
func (u *unit) open(k markKind, tok int, node any) {
	m := u.newMark(k, tok, node)
	u.named('f', m, tok)
	u.out = append(u.out, '(')
}

func (u *unit) close() { u.out = append(u.out, ')') }

func (u *unit) comma() { u.out = append(u.out, ',') }

// named writes the letter and number of a mark, as the name of a function or relation.
func (u *unit) named(letter byte, m, tok int) {
	u.out = append(u.out, ' ')
	u.ems = append(u.ems, emission{int32(len(u.out)), int32(tok), int32(m)})
	u.out = append(u.out, letter)
	u.out = strconv.AppendInt(u.out, int64(m), 10)
}

// wrap puts what was written since output offset from into brackets.
func (u *unit) wrap(from int) {
	u.moved += len(u.out) - from
	if u.moved > maxMoved {
		tooDeep(int(u.p.peek().pos))
	}
	k := sort.Search(len(u.ems), func(k int) bool { return int(u.ems[k].out) > from })
	u.ems = slices.Insert(u.ems, k, emission{int32(from + 1), u.ems[k].tok, -1})
	for i := k + 1; i < len(u.ems); i++ {
		u.ems[i].out += 2
	}
	u.out = slices.Insert(u.out, from, ' ', '(')
	u.close()
}

// cast writes the mark of a cast as a postfix.
func (u *unit) cast(tok int, c *ast.Cast) {
	m := u.newMark(markCast, tok, c)
	for d := 2; d >= 0; d-- {
		digit, rest := m, m
		for range d {
			digit, rest = digit/castDigits, rest/castDigits
		}
		if rest == 0 && d > 0 {
			continue
		}
		u.plain(tok, "COLLATE "+castNames[d])
		u.out = strconv.AppendInt(u.out, int64(digit%castDigits), 10)
	}
}

// emissionAt gives the index of the emission that holds output offset off.
func (u *unit) emissionAt(off int) int {
	return max(sort.Search(len(u.ems), func(k int) bool { return int(u.ems[k].out) > off })-1, 0)
}

// tokenAt gives the token whose translation holds output offset off.
func (u *unit) tokenAt(off int) int { return int(u.ems[u.emissionAt(off)].tok) }
