package parser

import (
	"fmt"
	"io"
	"strings"
	"sync"

	tidb "github.com/pingcap/tidb/pkg/parser"
	tast "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/charset"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/mysql"
)

// castDigits is the base in which the mark of a cast is written as up to
// three collation names; three digits hold maxMarks.
const castDigits = 256

// The names of the digits, least significant first.
var castNames = [3]string{"pa", "pb", "pc"}

func init() {
	tast.NewValueExpr = func(v any, _, _ string) tast.ValueExpr { return &tidbValue{val: v} }
	tast.NewParamMarkerExpr = func(off int) tast.ParamMarkerExpr { return &tidbMark{off: off} }
	tast.NewDecimal = func(s string) (any, error) { return s, nil }
	tast.NewHexLiteral = func(s string) (any, error) { return s, nil }
	tast.NewBitLiteral = func(s string) (any, error) { return s, nil }
	id := 5000
	for _, family := range castNames {
		for d := range castDigits {
			charset.AddCollation(&charset.Collation{ID: id, CharsetName: "tidemark", Name: fmt.Sprintf("%s%d", family, d)})
			id++
		}
	}
}

// tidbValue is the value expression that TiDB's parser asks its driver for.
// The translator writes no literals, so none is ever read.
type tidbValue struct {
	tast.TexprNode
	val any
	off int
}

func (v *tidbValue) SetValue(x any)                   { v.val = x }
func (v *tidbValue) GetValue() any                    { return v.val }
func (v *tidbValue) GetDatumString() string           { return "" }
func (v *tidbValue) GetString() string                { return "" }
func (v *tidbValue) GetProjectionOffset() int         { return v.off }
func (v *tidbValue) SetProjectionOffset(off int)      { v.off = off }
func (v *tidbValue) Format(io.Writer)                 {}
func (v *tidbValue) Restore(*format.RestoreCtx) error { return nil }
func (v *tidbValue) Accept(w tast.Visitor) (tast.Node, bool) {
	n, _ := w.Enter(v)
	return w.Leave(n)
}

// tidbMark is a `?`.
type tidbMark struct {
	tidbValue
	off int // byte offset in the translated text
}

func (m *tidbMark) SetOrder(int) {}
func (m *tidbMark) Accept(w tast.Visitor) (tast.Node, bool) {
	n, _ := w.Enter(m)
	return w.Leave(n)
}

// tidbParsers pools TiDB's parsers: one may not be shared by goroutines, and
// making one is dear.
var tidbParsers = sync.Pool{New: func() any { return tidb.New() }}

// tidbParse parses one translated SELECT. The error is a syntax error at the
// source of the place that TiDB complains about.
func (u *unit) tidbParse() tast.StmtNode {
	text := string(u.out)
	tp := tidbParsers.Get().(*tidb.Parser)
	tp.SetSQLMode(mysql.ModePipesAsConcat)
	stmts, _, err := tp.ParseSQL(text)
	var stmt tast.StmtNode
	if err == nil && len(stmts) == 1 {
		stmt = stmts[0]
	}
	// Reset drops the references to the last tree, which live in the parser
	// otherwise.
	tp.Reset()
	tidbParsers.Put(tp)
	if stmt == nil {
		u.tidbError(text, err)
	}
	return stmt
}

// tidbError maps an error of TiDB's to our text. Its message ends in
// near "<rest>", cut short with its total length given where it is long.
func (u *unit) tidbError(text string, err error) {
	if err != nil {
		msg := err.Error()
		if k := strings.Index(msg, "near \""); k >= 0 {
			rest := msg[k+len("near \""):]
			q := strings.LastIndexByte(rest, '"')
			left := max(q, 0)
			if x := strings.LastIndex(rest, "total length "); x > q && q >= 0 {
				fmt.Sscanf(rest[x:], "total length %d", &left)
			}
			if left == 0 {
				u.p.syntaxError()
			}
			u.p.syntaxErrorAt(u.tokenAt(len(text) - left))
		}
	}
	u.p.syntaxError()
}
