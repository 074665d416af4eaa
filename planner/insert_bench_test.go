package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
)

// BenchmarkInsertRows binds a VALUES list of constants; the time is for one row of four cells, parsing not included.
func BenchmarkInsertRows(b *testing.B) {
	const rows = 2000
	db := newTestDB()
	if _, err := db.exec("CREATE STREAM s (k text, ts timestamp, v bigint, f double precision)", false); err != nil {
		b.Fatal(err)
	}
	var list []string
	for i := range rows {
		list = append(list, fmt.Sprintf("('key-%d', '2024-03-01 10:%02d:%02d', %d, %d.5)", i%100, i/60%60, i%60, i, i))
	}
	stmts, err := parser.Parse("INSERT INTO s VALUES " + strings.Join(list, ", "))
	if err != nil {
		b.Fatal(err)
	}
	ins := stmts[0].Stmt.(*ast.Insert)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += rows {
		if _, err := planner.PlanInsert(ins, db.options()); err != nil {
			b.Fatal(err)
		}
	}
}
