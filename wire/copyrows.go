package wire

import (
	"math"
	"sort"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
)

// rowLines tells the line of the input that a row of a COPY ended on. Nearly every row has the line after that of the row before it, so only
// where that is not so is remembered. Rows are counted from 0.
type rowLines struct{ runs []lineRun }

// lineRun says that rows from row on have the lines from line on.
type lineRun struct{ row, line int64 }

// add notes the line of a row. Rows may be left out that are on the line after that of the row before.
func (l *rowLines) add(row, line int64) {
	if n := len(l.runs); n == 0 || line-row != l.runs[n-1].line-l.runs[n-1].row {
		l.runs = append(l.runs, lineRun{row, line})
	}
}

// of gives the line of a row that was added since the last reset, 0 for another.
func (l *rowLines) of(row int64) int64 {
	i := sort.Search(len(l.runs), func(i int) bool { return l.runs[i].row > row })
	if i == 0 {
		return 0
	}
	r := l.runs[i-1]
	return r.line + row - r.row
}

func (l *rowLines) reset() { l.runs = l.runs[:0] }

// rowTexts holds what errors show of the lines of a batch's rows.
type rowTexts struct {
	buf   []byte
	ends  []int // of each row's text in buf
	first int   // row of the batch that has the first text
}

// add notes the line of a row; those of the rows behind it follow.
func (t *rowTexts) add(row int, line []byte) {
	if len(t.ends) == 0 {
		t.first = row
	}
	t.buf = append(t.buf, line[:min(len(line), copyDisplay+1)]...) // a byte more tells that it has to be cut
	t.ends = append(t.ends, len(t.buf))
}

// of gives a row's line; ok is false if it is not known.
func (t *rowTexts) of(row int64) (line []byte, ok bool) {
	i := row - int64(t.first)
	if i < 0 || i >= int64(len(t.ends)) {
		return nil, false
	}
	lo := 0
	if i > 0 {
		lo = t.ends[i-1]
	}
	return t.buf[lo:t.ends[i]], true
}

func (t *rowTexts) reset() { t.buf, t.ends = t.buf[:0], t.ends[:0] }

// rowMarks follows the rows of a COPY FROM: into batches that end where units end, and back to the lines they came from.
type rowMarks struct {
	rules session.CopyRules
	most  int   // rows of the batch; 0 if the row that is being read ends it, as it has a NULL that will be refused
	ahead int64 // by how much a row's line is ahead of its number, if row has to know nothing about it
	given int64 // rows of earlier batches
	lines rowLines
	texts rowTexts
}

// nowhere is an ahead that no row has.
const nowhere = math.MinInt64

func newRowMarks(rules session.CopyRules) rowMarks {
	m := rowMarks{rules: rules, ahead: nowhere}
	m.most = m.room()
	return m
}

// room gives the number of rows that the next batch can have.
func (m *rowMarks) room() int {
	if m.rules.UnitRows == 0 {
		return batch.Target
	}
	unit := int64(m.rules.UnitRows)
	return int(min(batch.Target, unit-m.given%unit))
}

// null notes that the row has a NULL that will be refused.
func (m *rowMarks) null() { m.most, m.ahead = 0, nowhere }

// row notes the line of a row. line is nil where the data has no lines.
func (m *rowMarks) row(row, number int64, line []byte) {
	m.lines.add(row, number)
	m.ahead = number - row
	if line != nil && (m.rules.Rows || m.most == 0) {
		m.texts.add(int(row-m.given), line)
		m.ahead = nowhere
	}
}

// gave notes that the batch's n rows were taken.
func (m *rowMarks) gave(n int) {
	m.given += int64(n)
	m.most = m.room()
	m.texts.reset()
	if unit := int64(m.rules.UnitRows); !m.rules.Keys || unit > 0 && m.given%unit == 0 {
		m.lines.reset()
		m.ahead = nowhere
	}
}
