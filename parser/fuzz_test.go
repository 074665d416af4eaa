package parser

import (
	"os"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// seeds adds the inputs of the golden files and psql's queries.
func seeds(f *testing.F) {
	files, err := os.ReadDir("testdata/golden")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile("testdata/golden/" + file.Name())
		if err != nil {
			f.Fatal(err)
		}
		for _, l := range strings.Split(string(text), "\n") {
			f.Add(l)
		}
	}
	text, err := os.ReadFile("testdata/psql.sql")
	if err != nil {
		f.Fatal(err)
	}
	for _, q := range strings.Split(string(text), ";\n") {
		f.Add(q)
	}
}

// FuzzLex checks that tokens are in order, do not overlap and leave nothing
// out but space and comments.
func FuzzLex(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		l := lexer{text: text}
		l.run()
		end := int32(0)
		for i, tok := range l.toks {
			if tok.pos < end || tok.end < tok.pos || int(tok.end) > len(text) {
				t.Fatalf("token %d at %d to %d behind %d", i, tok.pos, tok.end, end)
			}
			if tok.kind == kindPunct && tok.link > 0 && int(tok.link) >= len(l.toks) {
				t.Fatalf("token %d is linked to %d of %d", i, tok.link, len(l.toks))
			}
			end = tok.end
		}
		if last := l.toks[len(l.toks)-1].kind; (last == kindBad) != (l.bad != nil) || last != kindBad && last != kindEOF {
			t.Fatalf("the last token is %v, the error %v", last, l.bad)
		}
	})
}

// FuzzParse checks that no text makes the parser panic, and that a query it
// accepts is accepted as it prints it.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		stmts, err := Parse(text)
		if err != nil {
			e := sqlerr.From(err)
			if e.Code == sqlerr.InternalError || e.Position > len(text)+1 {
				t.Fatalf("%q: %v at %d", text, err, e.Position)
			}
			return
		}
		for _, s := range stmts {
			q, ok := s.Stmt.(*ast.QueryStmt)
			if !ok {
				continue
			}
			out := FormatQuery(q.Query)
			again, err := ParseQuery(out)
			if err != nil {
				// Brackets may nest deeper in print.
				if sqlerr.CodeOf(err) == sqlerr.StatementTooComplex {
					continue
				}
				t.Fatalf("%q\nprints as %q\nwhich is refused: %v", s.Text, out, err)
			}
			if twice := FormatQuery(again); twice != out {
				t.Fatalf("%q\nprints as   %q\nand then as %q", s.Text, out, twice)
			}
		}
	})
}
