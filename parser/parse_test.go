package parser

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// describe writes an error with its code and byte position.
func describe(err error) string {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("not an sqlerr.Error: %v\n", err)
	}
	out := fmt.Sprintf("%s at %d: %s\n", e.Code, e.Position, e.Message)
	if e.Hint != "" {
		out += "hint: " + e.Hint + "\n"
	}
	return out
}

// TestGolden runs the files in testdata. The commands are: stmt, which dumps
// the trees of statements; expr and query, which print their input, one a
// line, fully bracketed, and check that this parses back to the same; and
// error, which prints the error of each line.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var sb strings.Builder
			lines := strings.Split(d.Input, "\n")
			switch d.Cmd {
			case "stmt":
				stmts, err := Parse(d.Input)
				if err != nil {
					return describe(err)
				}
				for _, s := range stmts {
					sb.WriteString(dump(s.Stmt))
				}
			case "expr":
				for _, l := range lines {
					sb.WriteString(roundTrip(t, l, func(s string) (string, error) {
						e, err := ParseExpr(s)
						if err != nil {
							return "", err
						}
						return Format(e), nil
					}))
				}
			case "query":
				for _, l := range lines {
					sb.WriteString(roundTrip(t, l, func(s string) (string, error) {
						q, err := ParseQuery(s)
						if err != nil {
							return "", err
						}
						if q.Text != s {
							t.Errorf("text of %q is %q", s, q.Text)
						}
						return FormatQuery(q), nil
					}))
				}
			case "error":
				for _, l := range lines {
					_, err := Parse(l)
					if err == nil {
						t.Errorf("%s: no error for %s", d.Pos, l)
						continue
					}
					sb.WriteString(describe(err))
				}
			default:
				t.Fatalf("unknown command %s", d.Cmd)
			}
			return sb.String()
		})
	})
}

// roundTrip prints text through f and checks that the result prints as itself.
func roundTrip(t *testing.T, text string, f func(string) (string, error)) string {
	out, err := f(text)
	if err != nil {
		return describe(err)
	}
	again, err := f(out)
	if err != nil || again != out {
		t.Errorf("%s\nprints as    %s\nand then as  %s (%v)", text, out, again, err)
	}
	return out + "\n"
}

func TestParseSplits(t *testing.T) {
	text := " ;SELECT 1 ; ; -- none; here\n SELECT ';' AS \"a;b\", $2 /* ; */;\nBEGIN"
	stmts, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"SELECT 1", `SELECT ';' AS "a;b", $2`, "BEGIN"}
	if len(stmts) != len(want) {
		t.Fatalf("%d statements, want %d", len(stmts), len(want))
	}
	for i, s := range stmts {
		if s.Text != want[i] || text[s.At:int(s.At)+len(s.Text)] != s.Text {
			t.Errorf("statement %d: %q at %d, want %q", i, s.Text, s.At, want[i])
		}
	}
	if stmts[1].Params != 2 || stmts[0].Params != 0 {
		t.Errorf("params %d and %d, want 0 and 2", stmts[0].Params, stmts[1].Params)
	}
}

// TestSplit: pieces end behind the semicolons that end statements, whatever is in them.
func TestSplit(t *testing.T) {
	for _, want := range [][]string{
		{},
		{"SELECT 1"},
		{" ;", "SELECT 1 ;", " ;", " -- none; here\n SELECT ';' AS \"a;b\", $2 /* ; */;", "\nBEGIN"},
		{"CREATE FUNCTION f() RETURNS int AS $x$ SELECT ';'; $x$;", " SELECT nonsense (1;2) FROM;", "\n-- end\n"},
		{"CREATE RULE r AS (a; b);", ") ;", "(((;;"},
		{"SELECT 1;", " SELECT 'open; "},
		{"SELECT 1;", " SELECT \x01;"},
	} {
		if got := Split(strings.Join(want, "")); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestEnding: a text is whole where another statement may begin, and open where a new line is not SQL of its own.
func TestEnding(t *testing.T) {
	for _, x := range []struct {
		text        string
		whole, open bool
	}{
		{"", true, false},
		{" ; -- SELECT\n/* ' */ ", true, false},
		{"SELECT 1", false, false},
		{"SELECT 1;\nSELECT ';", false, true},
		{"SELECT 1;\nSELECT 2\n", false, false},
		{"SELECT 1; /* SELECT 2;\n", false, true},
		{"SELECT \"a;\n", false, true},
		{"DO $x$ SELECT 1;\n", false, true},
		{"DO $x$ SELECT 1; $x$;\n", true, false},
		{"CREATE RULE r AS (a;\n", false, false},
	} {
		if whole, open := Ending(x.text); whole != x.whole || open != x.open {
			t.Errorf("%q: %v, %v", x.text, whole, open)
		}
	}
}

// TestPositions checks that expressions are where their first token or
// operator is, relative to their own statement.
func TestPositions(t *testing.T) {
	stmts, err := Parse("SELECT 1; SELECT (a.b + 2) * -x, f(y) || 'z', k IS NOT NULL, q IN (1), v::int, NOT w FROM t, LATERAL g(1) AS h")
	if err != nil {
		t.Fatal(err)
	}
	s := stmts[1]
	sel := s.Stmt.(*ast.QueryStmt).Query.Body.(*ast.Select)
	for i, want := range []string{"* -x", "|| 'z'", "IS NOT NULL", "IN (1)", "::int", "NOT w"} {
		at := int(sel.Items[i].X.Position())
		if !strings.HasPrefix(s.Text[at:], want) {
			t.Errorf("item %d is at %q, want %q", i, s.Text[at:], want)
		}
	}
	mul := sel.Items[0].X.(*ast.Binary)
	for _, c := range []struct {
		e    ast.Expr
		want string
	}{{mul.L, "+ 2"}, {mul.R, "-x"}, {mul.L.(*ast.Binary).L, "a.b"}, {sel.From[1].(*ast.FuncRef).Call, "g(1)"}} {
		if at := int(c.e.Position()); !strings.HasPrefix(s.Text[at:], c.want) {
			t.Errorf("%T is at %q, want %q", c.e, s.Text[at:], c.want)
		}
	}
}

func TestInsertRows(t *testing.T) {
	stmts, err := Parse("INSERT INTO t VALUES (1, -2, 'a''b'), (NULL, DEFAULT, $1), (1 + 2, (SELECT 3), DATE '2024-01-01'), (- 4, TRUE, f(x, y))")
	if err != nil {
		t.Fatal(err)
	}
	rows := stmts[0].Stmt.(*ast.Insert).Rows
	var got []string
	for _, r := range rows {
		var cells []string
		for _, c := range r {
			cells = append(cells, Format(c))
		}
		got = append(got, strings.Join(cells, " | "))
	}
	want := []string{"1 | (-2) | 'a''b'", "NULL | DEFAULT | $1", "(1 + 2) | (SELECT 3) | ('2024-01-01')::date", "(-4) | true | f(x, y)"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if at := rows[2][1].Position(); !strings.HasPrefix(stmts[0].Text[at:], "(SELECT 3)") {
		t.Errorf("subquery is at %d", at)
	}
}

// TestInsertValuesQuery checks that a VALUES list with more behind it is a query.
func TestInsertValuesQuery(t *testing.T) {
	stmts, err := Parse("INSERT INTO t VALUES (1), (2) UNION SELECT 3; INSERT INTO t (VALUES (1)); INSERT INTO t (a) SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range stmts {
		if in := s.Stmt.(*ast.Insert); in.Query == nil || in.Rows != nil {
			t.Errorf("statement %d has rows %v, query %v", i, in.Rows, in.Query)
		}
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("é", 40) // 80 bytes
	e, err := ParseExpr(`FooBar."FooBar"."a""b".U&"d\0061t"."` + long + `"`)
	if err != nil {
		t.Fatal(err)
	}
	parts := e.(*ast.ColumnRef).Parts
	want := []string{"foobar", "FooBar", `a"b`, "dat", strings.Repeat("é", 31)}
	if fmt.Sprint(parts) != fmt.Sprint(want) {
		t.Errorf("parts %q, want %q", parts, want)
	}
	for name, want := range map[string]string{"a": "a", "A": `"A"`, "select": `"select"`, "é": `"é"`, `a"b`: `"a""b"`, "": `""`,
		"1a": `"1a"`, "a1_": "a1_", "value": "value", "left": `"left"`} {
		if got := QuoteIdent(name); got != want {
			t.Errorf("QuoteIdent(%q) = %s, want %s", name, got, want)
		}
	}
	if got := Fold("ÀBc" + strings.Repeat("X", 70)); got != "Àbc"+strings.Repeat("x", 59) {
		t.Errorf("Fold gives %q", got)
	}
}

// TestLimits checks that what is too deep or too long is refused and what is
// merely large is not.
func TestLimits(t *testing.T) {
	rep := strings.Repeat
	for name, c := range map[string]struct {
		text string
		code sqlerr.Code
	}{
		"brackets":        {"SELECT " + rep("(", 100000) + "1" + rep(")", 100000), sqlerr.StatementTooComplex},
		"open":            {"SELECT " + rep("(", 100000), sqlerr.StatementTooComplex},
		"subqueries":      {"SELECT " + rep("(SELECT ", 1000) + "1" + rep(")", 1000), sqlerr.StatementTooComplex},
		"joins":           {"SELECT * FROM " + rep("(a JOIN ", 1000) + "b" + rep(" ON true)", 1000), sqlerr.StatementTooComplex},
		"nots":            {"SELECT " + rep("NOT ", 100000) + "a", sqlerr.StatementTooComplex},
		"signs":           {"SELECT " + rep("- ", 100000) + "a", sqlerr.StatementTooComplex},
		"prefixes":        {"SELECT " + rep("@ ", 100000) + "a", sqlerr.StatementTooComplex},
		"casts":           {"SELECT a" + rep("::int", 100000), sqlerr.StatementTooComplex},
		"sums":            {"SELECT 1" + rep(" + 1", 1000000), sqlerr.StatementTooComplex},
		"concatenations":  {"SELECT 1" + rep(" || 1", 1000000), sqlerr.StatementTooComplex},
		"unions":          {"SELECT 1" + rep(" UNION SELECT 1", 10000), sqlerr.StatementTooComplex},
		"cases":           {"SELECT " + rep("CASE WHEN ", 1000) + "a", sqlerr.StatementTooComplex},
		"arrays":          {"SELECT ARRAY" + rep("[", 1000) + rep("]", 1000), sqlerr.StatementTooComplex},
		"sets":            {"SELECT 1 GROUP BY " + rep("ROLLUP(", 1000) + "a" + rep(")", 1000), sqlerr.StatementTooComplex},
		"tall":            {"SELECT " + rep("(", 100) + "1" + rep(rep(" + 1", 200)+")", 100), sqlerr.StatementTooComplex},
		"tall casts":      {"SELECT " + rep("(", 100) + "1" + rep(rep("::int", 200)+")", 100), sqlerr.StatementTooComplex},
		"tall ands":       {"SELECT " + rep("(", 100) + "a" + rep(rep(" AND a", 5000)+")", 100), sqlerr.StatementTooComplex},
		"explains":        {rep("EXPLAIN ", 10000) + "SELECT 1", sqlerr.SyntaxError},
		"prepares":        {rep("EXPLAIN CREATE TABLE t AS ", 10) + "SELECT 1", sqlerr.SyntaxError},
		"as of":           {"SELECT * FROM t" + rep(" FOR SYSTEM_TIME AS OF (SELECT a FROM t", 1000) + rep(")", 1000), sqlerr.StatementTooComplex},
		"text":            {rep(" ", maxTextBytes+1), sqlerr.ProgramLimitExceeded},
		"many ands":       {"SELECT a" + rep(" AND a", 50000), ""},
		"many ors":        {"SELECT a" + rep(" = 1 OR a", 50000), ""},
		"long in":         {"SELECT a IN (1" + rep(", 1", 100000) + ")", ""},
		"long list":       {"SELECT a" + rep(", a", 100000), ""},
		"many casts":      {"SELECT a::int" + rep(", a::int", 100000), ""},
		"nested":          {"SELECT " + rep("(", 150) + "1" + rep(")", 150), ""},
		"many statements": {rep("SELECT 1;", 1000), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(c.text)
			if code := sqlerr.CodeOf(err); code != c.code {
				t.Errorf("code %q, want %q (%.100v)", code, c.code, err)
			}
		})
	}
}

// TestConcurrent parses in many goroutines; it is for the race detector.
func TestConcurrent(t *testing.T) {
	done := make(chan error)
	for range 8 {
		go func() {
			var err error
			for range 50 {
				if _, e := Parse("SELECT a::int, b || c, count(*) OVER (ORDER BY d) FROM t JOIN u USING (x) WHERE NOT a LIKE 'b' LIMIT 3"); e != nil {
					err = e
				}
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// posOf gives the byte position of an error, 0 for none.
func posOf(err error) int {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return e.Position
	}
	return 0
}
