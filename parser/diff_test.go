package parser

import (
	"context"
	"flag"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

var (
	diffSeed  = flag.Int64("diffseed", 0, "seed of TestDifferential, 0 for a new one")
	diffCount = flag.Int("diffcount", 2000, "expressions of TestDifferential")
)

// diffSetup makes a type z that has every operator and converts to and from
// boolean, so that any grouping of any operators has a meaning, and PostgreSQL
// shows in EXPLAIN VERBOSE which one it chose.
const diffSetup = `create type z as (v int);
create function zb(z) returns bool language plpgsql volatile as 'begin return true; end';
create function bz(bool) returns z language plpgsql volatile as 'begin return null; end';
create cast (z as bool) with function zb(z) as implicit;
create cast (bool as z) with function bz(bool) as implicit;
create function z1(z) returns z language plpgsql volatile as 'begin return null; end';
create function z2(z,z) returns z language plpgsql volatile as 'begin return null; end';
create function z2b(z,z) returns bool language plpgsql volatile as 'begin return null; end';
create function pg_catalog.timezone(z,z) returns z language plpgsql volatile as 'begin return null; end';
create function pg_catalog.like_escape(z,z) returns z language plpgsql volatile as 'begin return null; end';
do $$ declare o text; begin
foreach o in array array['+','-','*','/','%','^','||','->','->>','~','!~*','@>','|','&','#','<<','|+|','~~','!~~','~~*','!~~*'] loop
  execute format('create operator %s (leftarg=z, rightarg=z, function=z2)', o); end loop;
foreach o in array array['=','<','>=','<>','>','<='] loop execute format('create operator %s (leftarg=z, rightarg=z, function=z2b)', o); end loop;
foreach o in array array['-','+','~','@'] loop execute format('create operator %s (rightarg=z, function=z1)', o); end loop;
end $$;
create table zt(a z, b z, c z, d z);`

// exprGen makes random expressions over the columns a to d of type z.
type exprGen struct{ *rand.Rand }

func (g exprGen) pick(s ...string) string { return s[g.Intn(len(s))] }

func (g exprGen) operator() string {
	return g.pick("+", "-", "*", "/", "%", "^", "||", "->", "->>", "~", "!~*", "@>", "|", "&", "#", "<<", "OPERATOR(public.|+|)")
}

// realistic makes an expression of the kind people write.
func (g exprGen) realistic() string {
	s := g.test()
	for g.Intn(2) > 0 {
		s += g.pick(" AND ", " OR ") + g.test()
	}
	return s
}

func (g exprGen) operand() string {
	s := g.pick("a", "b", "c", "d", "(a || b)", "(c -> d)", "z1(a + b)", "CASE WHEN a = b THEN c ELSE d END")
	if g.Intn(8) == 0 {
		s = "- " + s
	}
	if g.Intn(6) == 0 {
		s += "::z"
	}
	if g.Intn(10) == 0 {
		s += " AT TIME ZONE d"
	}
	return s
}

func (g exprGen) chain() string {
	s := g.operand()
	for g.Intn(3) > 0 {
		s += " " + g.operator() + " " + g.operand()
	}
	return s
}

func (g exprGen) test() string {
	s := g.chain()
	switch g.Intn(9) {
	case 0:
		s += " " + g.pick("IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT FALSE", "IS UNKNOWN", "ISNULL")
	case 1:
		s += " " + g.pick("", "NOT ") + "IN (" + g.chain() + ", b)"
	case 2:
		s += " " + g.pick("", "NOT ") + "BETWEEN " + g.pick("", "SYMMETRIC ") + g.chain() + " AND " + g.chain()
	case 3, 4:
		s += " " + g.pick("LIKE ", "NOT LIKE ", "ILIKE ") + g.chain() + g.pick("", "", "", " ESCAPE "+g.chain())
	case 5, 6:
		s += " " + g.pick("= ", "<> ", "< ", ">= ") + g.chain() + g.pick("", "", "", " IS NULL", " IS NOT TRUE")
	case 7:
		s += " " + g.pick("IS DISTINCT FROM ", "IS NOT DISTINCT FROM ") + g.chain()
	}
	if g.Intn(5) == 0 {
		s = "NOT " + s
	}
	return s
}

// wild strings operators and operands together in any order that alternates.
func (g exprGen) wild() string {
	var sb strings.Builder
	for i, n := 0, 2+g.Intn(5); i < n; i++ {
		if i > 0 {
			sb.WriteString(" " + g.pick(g.operator(), g.operator(), "=", "<", ">=", "<>", "AND", "OR", "LIKE", "NOT LIKE", "ILIKE",
				"IS DISTINCT FROM", "IS NOT DISTINCT FROM", "AT TIME ZONE", "LIKE a ESCAPE") + " ")
		}
		sb.WriteString(g.pick("", "", "", "", "", "NOT ", "- ", "~ ", "@ ", "- @ ", "+ "))
		sb.WriteString(g.pick("a", "b", "c", "d", "(a = b)", "(c "+g.operator()+" d)"))
		sb.WriteString(g.pick("", "", "", "", "", "", "", "::z", " IS NULL", " IS NOT TRUE", " IN (a, b)", " NOTNULL",
			" BETWEEN b AND c", " NOT BETWEEN SYMMETRIC b + a AND c"))
	}
	return sb.String()
}

// explain gives what PostgreSQL makes of an expression, and whether it is a
// syntax error to it.
func explain(c *pgconn.PgConn, e string) (out string, syntax bool, ok bool) {
	res, err := c.Exec(context.Background(), "explain (verbose, costs off) select "+e+" from zt").ReadAll()
	if err != nil {
		return err.Error(), string(sqlerr.SyntaxError) == err.(*pgconn.PgError).Code, false
	}
	for _, r := range res[0].Rows {
		out += string(r[0]) + "\n"
	}
	return out, false, true
}

// TestDifferential gives random expressions to PostgreSQL, as they are and as
// we print them fully bracketed: both must be planned as the same, and what
// PostgreSQL refuses as a syntax error we must refuse as well.
func TestDifferential(t *testing.T) {
	c := postgres(t)
	if _, err := c.Exec(context.Background(), diffSetup).ReadAll(); err != nil {
		t.Fatal(err)
	}
	seed := *diffSeed
	if seed == 0 {
		seed = time.Now().UnixNano()
	}
	t.Logf("seed %d", seed)
	g := exprGen{rand.New(rand.NewSource(seed))}
	var same, refused, other int
	for i := range *diffCount {
		text := g.realistic()
		if i%2 == 1 {
			text = g.wild()
		}
		want, syntax, ok := explain(c, text)
		if !ok && !syntax {
			other++ // refused for its types
			continue
		}
		e, err := ParseExpr(text)
		switch {
		case syntax && err != nil:
			refused++
		case syntax:
			t.Errorf("%s\nis %s\nPostgreSQL: %s", text, Format(e), want)
		case err != nil:
			t.Errorf("%s\n%v\nPostgreSQL: %s", text, err, want)
		default:
			if got, _, _ := explain(c, Format(e)); got != want {
				t.Errorf("%s\nis %s\n%s\nPostgreSQL:\n%s", text, Format(e), got, want)
			}
			same++
		}
		if t.Failed() && i > 200 {
			t.FailNow()
		}
	}
	t.Logf("%d the same, %d refused by both, %d not typed", same, refused, other)
	if same < *diffCount/2 {
		t.Errorf("only %d expressions compared", same)
	}
}
