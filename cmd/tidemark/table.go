package main

import (
	"bufio"
	"fmt"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5/pgproto3"
	"golang.org/x/text/width"
)

// table is the rows of one result, which are shown as psql shows them: columns as wide as their widest value, numbers to the right.
type table struct {
	cols []column
	rows [][][]string // by row and column, the lines of the value
}

type column struct {
	name  []string
	right bool
	width int
}

// rightTypes are the types that psql shows on the right: oid, xid, cid, money and numbers.
var rightTypes = map[uint32]bool{20: true, 21: true, 23: true, 26: true, 28: true, 29: true, 700: true, 701: true, 790: true, 1700: true, 5069: true}

func newTable(fields []pgproto3.FieldDescription) *table {
	t := &table{}
	for _, f := range fields {
		c := column{name: cellLines(string(f.Name)), right: rightTypes[f.DataTypeOID]}
		for _, l := range c.name {
			c.width = max(c.width, displayWidth(l))
		}
		t.cols = append(t.cols, c)
	}
	return t
}

// add adds a row; nil is NULL, which is shown as nothing.
func (t *table) add(values [][]byte) {
	row := make([][]string, len(values))
	for i, v := range values {
		row[i] = cellLines(string(v))
		for _, l := range row[i] {
			t.cols[i].width = max(t.cols[i].width, displayWidth(l))
		}
	}
	t.rows = append(t.rows, row)
}

// print writes the table; nil is none.
func (t *table) print(out *bufio.Writer) {
	if t == nil {
		return
	}
	names := make([][]string, len(t.cols))
	for i, c := range t.cols {
		names[i] = c.name
	}
	if len(t.cols) > 0 {
		t.line(out, names, true)
	}
	for i, c := range t.cols {
		if i > 0 {
			out.WriteByte('+')
		}
		out.WriteString(strings.Repeat("-", c.width+2))
	}
	if len(t.cols) == 0 {
		out.WriteString("--")
	}
	out.WriteByte('\n')
	for _, r := range t.rows {
		if len(t.cols) > 0 {
			t.line(out, r, false)
		}
	}
	if len(t.rows) == 1 {
		out.WriteString("(1 row)\n\n")
	} else {
		fmt.Fprintf(out, "(%d rows)\n\n", len(t.rows))
	}
}

// line writes one row, in as many lines as its values have. A value that goes on in the next line has a + behind it.
func (t *table) line(out *bufio.Writer, cells [][]string, header bool) {
	n := 1
	for _, c := range cells {
		n = max(n, len(c))
	}
	for k := range n {
		for i, c := range t.cols {
			if i > 0 {
				out.WriteByte('|')
			}
			text, more := "", k+1 < len(cells[i])
			if k < len(cells[i]) {
				text = cells[i][k]
			}
			room := c.width - displayWidth(text)
			left := 0
			switch {
			case k >= len(cells[i]):
			case header:
				left = room / 2
			case c.right:
				left = room
			}
			last := i == len(t.cols)-1 && !header && !more // nothing stands behind it
			out.WriteString(strings.Repeat(" ", left+1) + text)
			if !last {
				out.WriteString(strings.Repeat(" ", room-left))
			}
			switch {
			case more:
				out.WriteByte('+')
			case !last:
				out.WriteByte(' ')
			}
		}
		out.WriteByte('\n')
	}
}

// cellLines gives the lines of a value, with what a terminal would not show written out.
func cellLines(s string) []string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.ContainsFunc(l, unicode.IsControl) {
			lines[i] = plainText(l)
		}
	}
	return lines
}

func plainText(s string) string {
	var out strings.Builder
	at := 0
	for _, r := range s {
		text := string(r)
		switch {
		case r == '\t':
			text = strings.Repeat(" ", 8-at%8)
		case r == '\r':
			text = `\r`
		case r < ' ' || r == 0x7f:
			text = fmt.Sprintf(`\x%02X`, r)
		case unicode.IsControl(r):
			text = fmt.Sprintf(`\u%04X`, r)
		}
		out.WriteString(text)
		at += displayWidth(text)
	}
	return out.String()
}

// displayWidth is how many places a text without control characters takes.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		switch k := width.LookupRune(r).Kind(); {
		case r < 0x7f:
			n++
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case k == width.EastAsianWide || k == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}
