package equivalence

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestViewEqualsQuery is promise 4b: after every epoch a view equals its query run afresh, and PostgreSQL's answer.
func TestViewEqualsQuery(t *testing.T) {
	pg := startPostgres(t)
	run := &updateRun{pg: pg, refused: map[string]int{}}
	search(t, 12*time.Second, []uint64{1, 3, 4, 5, 6, 7, 8, 9, 10, 11}, func(seed uint64) *recipe {
		return newRecipe(seed, 1+int(seed%4), 8+int(seed%5)*6, func(r *recipe, source func(part, i int) *choices) { drawUpdate(r, source) })
	}, func(r *recipe) *scenario { return drawUpdate(r, r.replay) }, run.run)
	t.Logf("%d epochs, %d comparisons of views; refused queries:", run.epochs, run.compared)
	for m, n := range run.refused {
		t.Logf("%5d %s", n, m)
	}
}

// search runs the cases of fixed seeds, then of seeds by the clock until the time is over, and shrinks and reports what fails.
func search(t *testing.T, budget time.Duration, seeds []uint64, draw func(seed uint64) *recipe, build func(*recipe) *scenario, run func(*scenario) *failure) {
	t.Helper()
	if s, err := strconv.ParseFloat(os.Getenv("TIDEMARK_EQUIV_SECONDS"), 64); err == nil {
		budget = time.Duration(s * float64(time.Second))
	}
	if testing.Short() {
		budget = 5 * time.Second
	}
	end := time.Now().Add(budget)
	first := uint64(time.Now().UnixNano()) % 1_000_000_000
	if s, err := strconv.ParseUint(os.Getenv("TIDEMARK_EQUIV_FIRST"), 10, 64); err == nil {
		first = s // the same cases each time, as CI wants them
	}
	next := func(i int) (uint64, bool) {
		if i < len(seeds) {
			return seeds[i], true
		}
		return first + uint64(i-len(seeds)), time.Now().Before(end)
	}
	if s, err := strconv.ParseUint(os.Getenv("TIDEMARK_EQUIV_SEED"), 10, 64); err == nil {
		next = func(i int) (uint64, bool) { return s, i == 0 }
	}
	seen := map[string]bool{}
	again := map[string][]uint64{}
	done := 0
	var slowest time.Duration
	var slowSeed uint64
	for i := 0; ; i++ {
		seed, ok := next(i)
		if !ok {
			break
		}
		done++
		r := draw(seed)
		began := time.Now()
		f := run(build(r))
		if took := time.Since(began); took > slowest {
			slowest, slowSeed = took, seed
		}
		if f == nil {
			continue
		}
		if seen[f.class] {
			again[f.class] = append(again[f.class], seed)
			continue
		}
		seen[f.class] = true
		small := shrink(r, time.Now().Add(shrinkTime()), func(r *recipe) bool {
			g := run(build(r))
			return g != nil && g.class == f.class
		})
		s := build(small)
		g := run(s)
		if g == nil {
			g, s = f, build(r)
		}
		t.Errorf("seed %d: %s\n%s", seed, g, s.script())
		if len(seen) >= 8 {
			break
		}
	}
	for class, seeds := range again {
		t.Logf("%s: also seeds %v", class, seeds)
	}
	t.Logf("%d cases, the first %d by fixed seeds, then from seed %d; the slowest, seed %d, took %v", done, min(done, len(seeds)), first, slowSeed, slowest)
}

func shrinkTime() time.Duration {
	if s, err := strconv.ParseFloat(os.Getenv("TIDEMARK_EQUIV_SHRINK"), 64); err == nil {
		return time.Duration(s * float64(time.Second))
	}
	return 15 * time.Second
}

// updateRun runs cases without late rows.
type updateRun struct {
	pg               *pgdb
	refused          map[string]int
	epochs, compared int
}

func (u *updateRun) run(s *scenario) *failure {
	return s.on(func(d *db) *failure {
		return (&updateCase{updateRun: u, s: s, d: d, skip: map[string]bool{}, noPG: map[string]bool{}}).all()
	})
}

type updateCase struct {
	*updateRun
	s    *scenario
	d    *db
	live []*view
	skip map[string]bool // views that could not be made, or whose query fails
	noPG map[string]bool // views that PostgreSQL can't have
	// queued are changes that PostgreSQL has yet to get: it is asked only now and then, since it takes most of the time.
	queued []string
	// large says that a view has become too large to compare it after every epoch: the case ends.
	large bool
}

// maxRows is how many rows a view may have before the case ends.
const maxRows = 1000

// postgresEvery is after how many steps views are compared with PostgreSQL, besides after the last.
const postgresEvery = 5

func (x *updateCase) all() *failure {
	if x.pg != nil {
		if err := x.pg.reset(); err != nil {
			return failed("reset", "%v", err)
		}
	}
	for _, r := range x.s.base {
		if f := x.d.create(r); f != nil {
			return f
		}
		if x.pg != nil {
			if _, err := x.pg.run(postgres(r.ddl())); err != nil {
				return failed("generator", "%s: %v", postgres(r.ddl()), err)
			}
		}
	}
	for i := 0; i <= len(x.s.steps) && !x.large; i++ {
		if f := x.step(i); f != nil {
			f.step = i
			return f
		}
	}
	return nil
}

// step makes the views that are due before step i, runs it, and compares.
func (x *updateCase) step(i int) *failure {
	fresh := false
	for _, v := range x.s.views {
		if v.at == i {
			fresh = true
			if f := x.create(v); f != nil {
				return f
			}
		}
	}
	if fresh || i == len(x.s.steps) {
		if f := x.compare(true); f != nil {
			return f
		}
	}
	if i == len(x.s.steps) {
		return nil
	}
	x.epochs++
	if f := x.change(x.s.steps[i]); f != nil {
		return f
	}
	return x.compare(i%postgresEvery == postgresEvery-1)
}

func (x *updateCase) change(st *step) *failure {
	var err error
	switch {
	case st.restart:
		if err = x.d.restart(); err != nil {
			return failed("restart: "+firstWords(err), "%v", err)
		}
		return nil
	case st.crash:
		if err = x.d.crash(); err != nil {
			return failed("crash: "+firstWords(err), "%v", err)
		}
		return nil
	}
	sql := st.text()
	if _, err = x.d.run(sql); err != nil && len(st.sql) > 1 {
		if _, err := x.d.run("ROLLBACK"); err != nil {
			return failed("rollback", "%v", err)
		}
	}
	if x.pg == nil {
		return nil
	}
	if err == nil {
		x.queued = append(x.queued, sql)
		return nil
	}
	if f := x.flush(); f != nil {
		return f
	}
	_, perr := x.pg.run(sql)
	if _, err := x.pg.run("ROLLBACK"); err != nil {
		return failed("rollback", "%v", err)
	}
	if sqlState(err) != pgState(perr) {
		return failed("change "+sqlState(err)+" "+pgState(perr), "%s\nTidemark: %v\nPostgreSQL: %v", sql, err, perr)
	}
	return nil
}

// flush hands PostgreSQL the changes that Tidemark has accepted.
func (x *updateCase) flush() *failure {
	if x.pg == nil || len(x.queued) == 0 {
		return nil
	}
	_, err := x.pg.run(strings.Join(x.queued, "\n"))
	x.queued = nil
	if err != nil {
		return failed("PostgreSQL refuses a change: "+firstWords(err), "%v", err)
	}
	return nil
}

func (x *updateCase) create(v *view) *failure {
	_, err := x.d.run(v.create())
	state := sqlState(err)
	if state == "0A000" && v.options != "" {
		v.options = ""
		_, err = x.d.run(v.create())
		state = sqlState(err)
	}
	if err != nil && (state == "0A000" || state == "42P01" && len(x.skip) > 0) {
		x.skip[v.name] = true
		x.refused[firstWords(err)]++
		return nil
	}
	var perr error
	if x.pg != nil {
		if f := x.flush(); f != nil {
			return f
		}
		_, perr = x.pg.run(fmt.Sprintf("CREATE VIEW %s AS %s", v.name, postgres(v.afresh())))
	}
	switch {
	case err != nil && perr != nil && state == pgState(perr):
		x.skip[v.name] = true
		x.refused["both: "+firstWords(err)+" in "+tidemark(v.query)]++
		return nil
	case err != nil:
		return failed("create view: "+firstWords(err), "%s\nTidemark: %v\nPostgreSQL: %v", v.create(), err, perr)
	case pgState(perr) == "0A000" || pgState(perr) == "42P01" && len(x.noPG) > 0:
		x.noPG[v.name] = true
		x.refused["PostgreSQL: "+firstWords(perr)]++
	case perr != nil:
		return failed("only PostgreSQL refuses: "+firstWords(perr), "%s\n%v", postgres(v.afresh()), perr)
	}
	x.live = append(x.live, v)
	return nil
}

// compare compares every view with its query and, if it is time, with PostgreSQL.
func (x *updateCase) compare(postgres bool) *failure {
	if postgres {
		if f := x.flush(); f != nil {
			return f
		}
	}
	for _, v := range x.live {
		if x.skip[v.name] {
			continue
		}
		if f := x.compareView(v, postgres && x.pg != nil && !x.noPG[v.name]); f != nil {
			return f
		}
	}
	return nil
}

func (x *updateCase) compareView(v *view, postgres bool) *failure {
	afresh, qerr := x.d.run(tidemark(v.afresh()))
	if qerr != nil {
		// Rows that fail are dead letters of the view and abort the SELECT: from here on there is nothing to compare with.
		x.skip[v.name] = true
		x.refused["fails: "+firstWords(qerr)]++
		if f := x.flush(); f != nil || x.pg == nil || x.noPG[v.name] {
			return f
		}
		if _, err := x.pg.run("SELECT * FROM " + v.name); pgState(err) != sqlState(qerr) {
			return failed("SELECT fails: "+firstWords(qerr)+" / "+firstWords(err), "%s\nTidemark: %v\nPostgreSQL: %v", tidemark(v.query), qerr, err)
		}
		return nil
	}
	got, err := x.d.run("SELECT * FROM " + v.name)
	if err != nil {
		return failed("SELECT from view: "+firstWords(err), "%v", err)
	}
	x.compared++
	x.large = x.large || len(got.rows) > maxRows
	if d := diff(got, afresh, "view", "query", 0); d != "" {
		return failed("view differs from its query", "%s: %s", v.name, d)
	}
	if v.letters != "" {
		l, err := x.d.run(fmt.Sprintf("SELECT count(*) FROM tidemark.dead_letters WHERE relation = '%s'", v.name))
		if err != nil {
			return failed("dead letters: "+firstWords(err), "%v", err)
		}
		want, err := x.d.run(v.letters)
		if err != nil {
			return failed("dead letters: "+firstWords(err), "%v", err)
		}
		if l.rows[0][0] != want.rows[0][0] {
			return failed("dead letters", "%s has %s dead letters, not %s: %s", v.name, l.rows[0][0], want.rows[0][0], v.letters)
		}
	}
	if !postgres {
		return nil
	}
	pg, err := x.pg.run("SELECT * FROM " + v.name)
	if err != nil && len(got.rows) == 0 && strings.Contains(err.Error(), "division by zero") {
		// PostgreSQL, whose views are plain ones here, has put a constant of a view beneath in its place, and computed with it
		// although there is no row.
		return nil
	}
	if err != nil {
		return failed("only PostgreSQL fails: "+firstWords(err), "%s\n%v", v.query, err)
	}
	for i := range min(len(got.cols), len(pg.cols)) {
		if got.cols[i] != pg.cols[i] {
			return failed("columns differ", "%s: %v, PostgreSQL has %v", v.name, got.cols, pg.cols)
		}
	}
	if d := diff(got, pg, "Tidemark", "PostgreSQL", 1e-12); d != "" {
		return failed("differs from PostgreSQL", "%s: %s", v.name, d)
	}
	return nil
}

// firstWords is an error's class: its state and message without what is quoted.
func firstWords(err error) string {
	if err == nil {
		return "no error"
	}
	s := sqlState(err) + pgState(err) + " " + err.Error()
	parts := strings.Split(s, `"`)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = ""
	}
	s = strings.Join(parts, `"`)
	if len(s) > 120 {
		s = s[:120]
	}
	return s
}
