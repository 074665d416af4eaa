package parser

import "github.com/tidemarkdb/tidemark/parser/ast"

// valueReader reads the rows of INSERT ... VALUES straight from the tokens.
// Cells that are no literals are collected and parsed together, as one
// translation, when the list is complete. Literals come from slabs, since a
// list may have millions.
type valueReader struct {
	p      *parser
	consts []ast.Const
	cells  []ast.Expr // of the row being read, then of all rows in a slab
	u      *unit      // of the cells that need TiDB; nil until there is one
	fill   []cellRef
}

type cellRef struct{ row, col int }

// Slabs grow from the size of a small INSERT to that of a large one.
const firstSlab, slabSize = 8, 512

func nextSlab(last int) int { return min(max(2*last, firstSlab), slabSize) }

// valueRows reads (a, b), (c, d), ... behind VALUES.
func (p *parser) valueRows() [][]ast.Expr {
	r := valueReader{p: p}
	var rows [][]ast.Expr
	for {
		width := 0
		if len(rows) > 0 {
			width = len(rows[len(rows)-1])
		}
		rows = append(rows, r.row(len(rows), width))
		if !p.accept(",") {
			break
		}
	}
	r.finish(rows)
	return rows
}

// row reads one row, which will probably have width cells.
func (r *valueReader) row(n, width int) []ast.Expr {
	p := r.p
	p.expect("(")
	if cap(r.cells)-len(r.cells) < width {
		r.cells = make([]ast.Expr, 0, max(nextSlab(cap(r.cells)), width))
	}
	start := len(r.cells)
	for col := 0; ; col++ {
		r.cells = append(r.cells, r.cell(cellRef{n, col}))
		if p.toks[p.i].kind != kindPunct {
			p.syntaxError()
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	row := r.cells[start:len(r.cells):len(r.cells)]
	return row
}

// cell reads a cell; nil if it is put off.
func (r *valueReader) cell(at cellRef) ast.Expr {
	p := r.p
	i := p.i
	t := &p.toks[i]
	if i+1 < len(p.toks) && p.cellEnd(i+1) {
		switch t.kind {
		case kindNumber, kindString:
			p.i++
			k := ast.StringConst
			if t.kind == kindNumber {
				k = ast.NumberConst
			}
			return r.constant(i, k, p.value(i))
		case kindWord:
			switch t.kw {
			case kwNull:
				p.i++
				return r.constant(i, ast.NullConst, "")
			case kwTrue, kwFalse:
				p.i++
				return r.constant(i, ast.BoolConst, p.value(i))
			case kwDefault:
				p.i++
				return &ast.Default{P: ast.P{At: p.pos(i)}}
			}
		case kindParam, kindBits:
			return p.literal(p.next())
		}
	}
	if i+2 < len(p.toks) && p.cellEnd(i+2) {
		second := &p.toks[i+1]
		switch {
		case t.kind == kindOp && second.kind == kindNumber && p.text[t.pos] == '-' && t.end == t.pos+1:
			p.i += 2
			if second.pos == t.end {
				return r.constant(i, ast.NumberConst, p.text[t.pos:second.end])
			}
			return r.constant(i, ast.NumberConst, "-"+p.value(i+1))
		case t.kind == kindWord && second.kind == kindString && t.kw != kwInterval && t.kw.category() != reserved:
			c := &ast.Cast{P: ast.P{At: p.pos(i)}, Type: p.typeName()}
			c.X = r.constant(i+1, ast.StringConst, p.value(i+1))
			p.i = i + 2
			return c
		}
	}
	r.putOff(at)
	return nil
}

// cellEnd says whether token i is a comma or closing bracket.
func (p *parser) cellEnd(i int) bool {
	t := &p.toks[i]
	return t.kind == kindPunct && (p.text[t.pos] == ',' || p.text[t.pos] == ')')
}

func (r *valueReader) constant(i int, k ast.ConstKind, text string) ast.Expr {
	if len(r.consts) == cap(r.consts) {
		r.consts = make([]ast.Const, 0, nextSlab(cap(r.consts)))
	}
	r.consts = append(r.consts, ast.Const{P: ast.P{At: r.p.pos(i)}, Kind: k, Text: text})
	return &r.consts[len(r.consts)-1]
}

// putOff translates the cell at the cursor, to be parsed with the others.
func (r *valueReader) putOff(at cellRef) {
	if r.u == nil {
		r.u = newUnit(r.p)
		r.u.plain(r.p.i, "SELECT")
	} else {
		r.u.comma()
	}
	r.u.sequence(false)
	r.fill = append(r.fill, at)
}

// finish parses the cells that were put off.
func (r *valueReader) finish(rows [][]ast.Expr) {
	if r.u == nil {
		return
	}
	d := decoder{r.u}
	for i, e := range d.list(r.u.tidbParse(), len(r.fill)) {
		at := r.fill[i]
		rows[at.row][at.col] = e
	}
	d.finish()
}
