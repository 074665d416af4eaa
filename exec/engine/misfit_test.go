package engine

import (
	"testing"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/state/table"
)

// TestStateOfAnotherPlan opens a database in which a view's stored state is not that of its plan, as after a change of the binary: the view
// is rebuilt from history, and a view built on it goes on.
func TestStateOfAnotherPlan(t *testing.T) {
	o := Options{Dir: t.TempDir(), Log: zerolog.Nop()}
	s, closeDB := openTest(t, o)
	expect(t, s, "CREATE STREAM s (k int)", "", "CREATE MATERIALIZED VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k", "",
		"CREATE MATERIALIZED VIEW w AS SELECT sum(n) AS s, count(*) AS c FROM v", "", "INSERT INTO s VALUES (1), (1), (2)", "")
	e := s.(*sess).e
	err := e.do(func() {
		for _, v := range e.views {
			if v.rel().Name == "v" { // a table more than the plan declares
				v.space.Ordered(table.Decl{Operator: 9, Name: "gone"}).Put([]byte("k"), []byte("v"))
			}
		}
		e.dirty = true
	})
	if err != nil {
		t.Fatal(err)
	}
	closeDB()
	s, _ = openTest(t, o)
	expect(t, s, "SELECT string_agg(k || ':' || n, ' ' ORDER BY k) FROM v", "1:2 2:1", "SELECT * FROM w", "3,2",
		"INSERT INTO s VALUES (2), (3)", "", "SELECT string_agg(k || ':' || n, ' ' ORDER BY k) FROM v", "1:2 2:2 3:1", "SELECT * FROM w", "5,3")
}
