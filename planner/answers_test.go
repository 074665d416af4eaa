package planner_test

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
	"github.com/tidemarkdb/tidemark/state/table"
)

// TestAnswers runs the plans of testdata/answers.sql, one query a line, over random tables and compares the rows with
// those of a real PostgreSQL: a test of decorrelation and of the rules.
func TestAnswers(t *testing.T) {
	url := pgtest.Start(t)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	text, err := os.ReadFile("testdata/answers.sql")
	if err != nil {
		t.Fatal(err)
	}
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	db := newTestDB()
	data := map[string]*batch.Batch{}
	for _, sql := range randomTables(rnd) {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
		load(t, db, data, sql)
	}
	for n, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		want := answerPostgres(ctx, conn, line)
		got := answerOurs(db, data, line)
		if !strings.Contains(line, "ORDER BY 1") {
			sort.Strings(want)
			sort.Strings(got)
		}
		if testing.Verbose() {
			t.Logf("%d rows: %s", len(got), line)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("line %d: %s\n got %d rows: %s\nwant %d rows: %s", n+1, line, len(got), strings.Join(got, " | "), len(want), strings.Join(want, " | "))
		}
	}
}

// randomTables makes statements that create and fill a(id, k, v), b(k, v, s) and c(k, n), with NULLs and duplicates.
func randomTables(r *rand.Rand) []string {
	cell := func(n int) string {
		if r.Intn(6) == 0 {
			return "NULL"
		}
		return fmt.Sprint(r.Intn(n))
	}
	var a, b, c []string
	for i := 0; i < 12; i++ {
		a = append(a, fmt.Sprintf("(%d, %s, %s)", i, cell(5), cell(8)))
	}
	for i := 0; i < 20; i++ {
		b = append(b, fmt.Sprintf("(%s, %s, '%c')", cell(6), cell(8), 'p'+rune(r.Intn(4))))
	}
	for i := 0; i < 4; i++ {
		c = append(c, fmt.Sprintf("(%d, %s)", i, cell(3)))
	}
	return []string{
		"CREATE TABLE a (id int PRIMARY KEY, k int, v bigint)",
		"CREATE TABLE b (k int, v int, s text)",
		"CREATE TABLE c (k int PRIMARY KEY, n int)",
		"CREATE TABLE e (k int, v int)",
		"INSERT INTO a VALUES " + strings.Join(a, ", "),
		"INSERT INTO b VALUES " + strings.Join(b, ", "),
		"INSERT INTO c VALUES " + strings.Join(c, ", "),
	}
}

// load runs a statement of randomTables here.
func load(t *testing.T, db *testDB, data map[string]*batch.Batch, sql string) {
	t.Helper()
	stmts, err := parser.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	ins, ok := stmts[0].Stmt.(*ast.Insert)
	if !ok {
		if _, err := db.exec(sql, false); err != nil {
			t.Fatal(err)
		}
		return
	}
	p, err := planner.PlanInsert(ins, db.options())
	if err != nil {
		t.Fatal(err)
	}
	data[p.Rel.Name] = p.Rows
	if p.Rel.HiddenKey {
		ids := batch.NewVector(types.Of(types.Int8), p.Rows.N)
		for i := range p.Rows.N {
			ids.AppendInt(int64(i))
		}
		p.Rows.Cols[p.Rel.PrimaryKey[0]] = ids
	}
}

func answerPostgres(ctx context.Context, conn *pgx.Conn, sql string) []string {
	res, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		return []string{err.(interface{ SQLState() string }).SQLState()}
	}
	var out []string
	for _, row := range res[0].Rows {
		var cells []string
		for _, c := range row {
			if c == nil {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, string(c))
			}
		}
		out = append(out, strings.Join(cells, ","))
	}
	return out
}

func answerOurs(db *testDB, data map[string]*batch.Batch, sql string) []string {
	rows, err := runSelect(db, data, sql)
	if err != nil {
		return []string{string(sqlerr.CodeOf(err)), err.Error()}[:1]
	}
	var out []string
	for _, b := range rows {
		for i := 0; i < b.N; i++ {
			var cells []string
			for _, v := range b.Cols {
				if v.IsNull(i) {
					cells = append(cells, "NULL")
				} else {
					cells = append(cells, types.Format(v.Type, v.Datum(i), types.DefaultEnv()))
				}
			}
			for range b.Weight(i) {
				out = append(out, strings.Join(cells, ","))
			}
		}
	}
	return out
}

// abortSink makes a row's error that of the statement.
type abortSink struct{}

func (abortSink) Late(*dataflow.Epoch, *batch.Batch, int, int64, int64, int64) {}
func (abortSink) Dead(_ *dataflow.Epoch, _ *batch.Batch, _ int, err *sqlerr.Error) error {
	return err
}

// runSelect runs one query as the engine does: a plan that lives for one epoch.
func runSelect(db *testDB, data map[string]*batch.Batch, sql string) (out []*batch.Batch, err error) {
	q, err := parser.ParseQuery(sql)
	if err != nil {
		return nil, err
	}
	p, err := planner.PlanQuery(q, db.options())
	if err != nil {
		return nil, err
	}
	env := &kernel.Env{Session: types.DefaultEnv()}
	g, err := exec.NewGraph(p.Root, dataflow.PolicyMin, table.NewTransient(), env, exec.Slots{})
	if err != nil {
		return nil, err
	}
	top := p.Root
	s, sorted := top.(*plan.Sort)
	if sorted {
		top = s.Input
	}
	all := batch.New(plan.Types(top), 0)
	info := &dataflow.EpochInfo{Final: true, Sink: abortSink{}, Watermarks: func(*dataflow.Source) (dataflow.Watermark, dataflow.Watermark) {
		return dataflow.NoWatermark, dataflow.NoWatermark
	}}
	g.Begin(info, func(b *batch.Batch) error {
		all.AppendBatch(b, nil)
		return nil
	})
	for _, src := range g.Sources() {
		if b := data[src.Rel.Name]; b != nil {
			if err := g.Push(src, b.Project(src.Cols)); err != nil {
				return nil, err
			}
		}
	}
	if err := g.End(); err != nil {
		return nil, err
	}
	all = consolidate(all)
	if !sorted {
		return []*batch.Batch{all}, nil
	}
	return sortAll(all, s, env)
}
