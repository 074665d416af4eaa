package over

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/planner/plan"
)

// farthest is the greatest reach with which a partition is still computed around its changes only.
const farthest = 1 << 20

// reach gives the number of rows before and after a row within which all lies that the function's value for it depends on; false
// if there is no such number, or it is not known.
func (f *function) reach(n *plan.OverFunc) (int, bool) {
	if n.Fn.Name == "lag" || n.Fn.Name == "lead" {
		if len(n.Args) < 2 {
			return 1, true
		}
		c, ok := n.Args[1].(*plan.Const)
		if !ok || c.Val.I < -farthest || c.Val.I > farthest {
			return 0, false
		}
		return int(max(c.Val.I, -c.Val.I)), true
	}
	if f.frame == nil || f.frame.mode != "rows" || f.frame.exclude != "" {
		return 0, false
	}
	start, ok1 := f.frame.start.reach()
	end, ok2 := f.frame.end.reach()
	return max(start, end), ok1 && ok2
}

// reach gives the distance of the bound in rows.
func (b bound) reach() (int, bool) {
	switch b.kind {
	case "current row":
		return 0, true
	case "preceding", "following":
		return int(min(b.n, farthest)), b.n <= farthest
	}
	return 0, false
}

// span is a range of keys of the state table; hi nil: no bound.
type span struct{ lo, hi []byte }

// around takes the first changes of group (log keys, ascending) that are near each other and gives their number and the rows of the
// partition to compute for them. Values depend on rows within reach, so those of rows within reach of a change may change, and they are
// right if the rows within twice the reach are there. Values of rows farther off may be wrong at the edge of the span,
// but equally wrong before and after the change, so they cancel out.
func (o *over) around(whole span, group [][]byte) (span, int) {
	at := span{lo: o.before(whole.lo, rowKey(group[0]))}
	for n := 1; ; {
		end := o.after(rowKey(group[n-1]), whole.hi)
		if end == nil {
			return span{at.lo, whole.hi}, len(group) // whatever else changes lies there too
		}
		at.hi = append(end, 0)
		from := n
		for n < len(group) && bytes.Compare(rowKey(group[n]), at.hi) < 0 {
			n++
		}
		if n == from {
			return at, n
		}
	}
}

// rowKey is the key of a row in the state table, from the log.
func rowKey(logged []byte) []byte { return logged[:len(logged)-trailerLen] }

// before gives the key of the entry that is twice the reach before key, or of the partition's first, which may be key itself.
func (o *over) before(lo, key []byte) []byte {
	found, left := key, max(1, 2*o.reach)
	o.rows.ScanDesc(lo, key, func(k, _ []byte) bool {
		found = bytes.Clone(k)
		left--
		return left > 0
	})
	return found
}

// after gives the key of the entry that is twice the reach after key, nil if there are not so many before hi.
func (o *over) after(key, hi []byte) (found []byte) {
	left := max(1, 2*o.reach)
	o.rows.Scan(append(bytes.Clone(key), 0), hi, func(k, _ []byte) bool {
		if left--; left == 0 {
			found = bytes.Clone(k)
		}
		return left > 0
	})
	return found
}
