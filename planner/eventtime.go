package planner

import (
	"math"
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

func (e *eventWindow) name() string {
	if e.session {
		return "session_window"
	}
	return "window"
}

// windowNamed gives the block's window for a name that means it.
func (blk *block) windowNamed(name string) plan.Expr {
	if blk.win != nil && blk.winNames[name] {
		return blk.win
	}
	return nil
}

// findWindow looks for the block's window() or session_window() call in GROUP BY and the select list, before either is
// bound, so that its names can be used in both.
func (blk *block) findWindow() {
	blk.winNames = map[string]bool{}
	for _, it := range blk.sel.GroupBy {
		eachGroupExpr(it, func(e ast.Expr) { blk.windowIn(e, "") })
	}
	for _, it := range blk.sel.Items {
		blk.windowIn(it.X, it.Alias)
	}
}

func eachGroupExpr(it ast.GroupItem, f func(ast.Expr)) {
	if it.X != nil {
		f(it.X)
	}
	for _, s := range it.Sets {
		eachGroupExpr(s, f)
	}
	for _, s := range it.Row {
		eachGroupExpr(s, f)
	}
}

func (blk *block) windowIn(e ast.Expr, alias string) {
	walkAST(e, func(n ast.Expr) bool {
		c, ok := n.(*ast.Call)
		if !ok || !isWindowCall(c) {
			return true
		}
		if blk.win == nil {
			x := blk.binder("window")
			x.windows = true
			blk.win = x.bind(c).(*eventWindow)
		}
		blk.winNames[c.Name] = true
		if n == e && alias != "" {
			blk.winNames[alias] = true
		}
		return false
	})
}

func isWindowCall(c *ast.Call) bool {
	return c.Over == nil && c.Schema == "" && (c.Name == "window" || c.Name == "session_window")
}

// windowInGroupBy says whether GROUP BY itself makes the block's window.
func (blk *block) windowInGroupBy() bool {
	found := false
	for _, it := range blk.sel.GroupBy {
		eachGroupExpr(it, func(e ast.Expr) {
			walkAST(e, func(n ast.Expr) bool {
				if c, ok := n.(*ast.Call); ok && isWindowCall(c) {
					found = true
				}
				return true
			})
		})
	}
	return found
}

// sameWindow checks that a block has one window only; the same expression used twice is one.
func (x *exprBinder) sameWindow(w *eventWindow) plan.Expr {
	if !x.windows || x.block == nil {
		failAt(ast.Pos(w.pos), sqlerr.WindowingError, "%s is not allowed in %s", w.name(), x.clause)
	}
	if x.block.win != nil && !equal(x.block.win, w) {
		fail(sqlerr.New(sqlerr.FeatureNotSupported, "Multiple time/session window expressions would result in a cartesian product of rows, therefore they are currently not supported.").
			WithHint("Use one window or session_window in a SELECT; a second one can stand in a query around it.").At(w.pos))
	}
	return w
}

// windowCall is window(time, size[, slide[, start]]).
func (x *exprBinder) windowCall(n *ast.Call) plan.Expr {
	if len(n.Args) < 2 || len(n.Args) > 4 {
		fail(sqlerr.New(sqlerr.UndefinedFunction, "function window with %d arguments does not exist", len(n.Args)).
			WithHint("It is window(time, size [, slide [, start]]).").At(int(n.At)))
	}
	w := &eventWindow{time: x.eventTime(n.Args[0], "window"), pos: int(n.At)}
	x.windowSizes(w, n.Args[1:], n.At)
	w.typ = types.WindowOf(w.time.Type().Kind)
	return x.sameWindow(w)
}

// maxWindows bounds the windows that a row lies in: it is counted in each of them.
const maxWindows = 1 << 16

// windowSizes reads and checks size, slide and start.
func (x *exprBinder) windowSizes(w *eventWindow, args []ast.Expr, pos ast.Pos) {
	w.size = x.duration(args[0], "size of a window")
	w.slide = w.size
	at := pos
	if len(args) > 1 {
		w.slide = x.duration(args[1], "slide of a window")
		at = loc(args[1])
	}
	if len(args) > 2 {
		w.start = x.duration(args[2], "start of a window")
	}
	switch {
	case w.size <= 0:
		failAt(loc(args[0]), sqlerr.InvalidParameterValue, "the size of a window must be greater than zero")
	case w.slide <= 0:
		failAt(at, sqlerr.InvalidParameterValue, "the slide of a window must be greater than zero")
	case w.slide > w.size:
		failAt(at, sqlerr.InvalidParameterValue, "the slide of a window must not be greater than its size")
	case (w.size-1)/w.slide >= maxWindows:
		failAt(at, sqlerr.ProgramLimitExceeded, "each row would lie in more than %d windows", maxWindows)
	case w.start >= w.slide || -w.start >= w.slide:
		failAt(loc(args[2]), sqlerr.InvalidParameterValue, "the start of a window must be less than its slide, in either direction")
	}
}

// eventTime binds the time argument of a window; a window stands for its window_time.
func (x *exprBinder) eventTime(a ast.Expr, what string) plan.Expr {
	e := x.bind(a)
	if isUnknown(e.Type()) {
		e = x.b.cast(e, types.Of(types.Timestamp), fn.Implicit, loc(a))
	}
	if e.Type().Kind == types.Window {
		e = x.b.call("window_time", []plan.Expr{e}, loc(a), fn.Scalar)
	}
	if !e.Type().Kind.IsTime() {
		failAt(loc(a), sqlerr.DatatypeMismatch, "the time of %s must be a timestamp, timestamptz or date, not %s", what, e.Type())
	}
	return e
}

// duration reads a constant interval, text or number of microseconds.
func (x *exprBinder) duration(a ast.Expr, what string) int64 {
	e := fold(x.bind(a))
	c, ok := e.(*plan.Const)
	if !ok || c.Val.Null {
		failAt(loc(a), sqlerr.InvalidParameterValue, "the %s must be a constant interval", what)
	}
	switch {
	case c.Typ.Kind.IsInt():
		return intervalMicros(types.Datum{I: c.Val.I}, what, loc(a))
	case c.Typ.Kind.IsString():
		return x.b.micros(string(c.Val.B), what, loc(a))
	case c.Typ.Kind == types.Interval:
		return intervalMicros(c.Val, what, loc(a))
	}
	failAt(loc(a), sqlerr.DatatypeMismatch, "the %s must be an interval, not %s", what, c.Typ)
	return 0
}

// micros reads interval text, with Spark's optional leading word.
func (b *binder) micros(text, what string, pos ast.Pos) int64 {
	return intervalMicros(b.parseInterval(text, pos), what, pos)
}

func (b *binder) parseInterval(text string, pos ast.Pos) types.Datum {
	s := strings.TrimSpace(text)
	if len(s) > 9 && strings.EqualFold(s[:9], "interval ") {
		s = s[9:]
	}
	d, err := types.Parse(types.Of(types.Interval), s, b.o.env())
	must(err, pos)
	return d
}

const dayMicros = 24 * 3600 * 1000000

// intervalMicros gives an interval without months as microseconds, a day being 24 hours.
func intervalMicros(d types.Datum, what string, pos ast.Pos) int64 {
	months, days, us := types.IntervalParts(d.I, d.J)
	if months != 0 {
		fail(sqlerr.New(sqlerr.InvalidParameterValue, "the %s must not have months or years, because they differ in length", what).
			WithHint("Use days, hours or smaller units.").At(int(pos)))
	}
	out, ok := daysMicros(days, us)
	if !ok {
		failAt(pos, sqlerr.IntervalFieldOverflow, "interval out of range")
	}
	return out
}

// daysMicros gives days of 24 hours and microseconds as microseconds; false where they are some 36,000 years or more, so that
// sums of a few are in range.
func daysMicros(days int32, us int64) (int64, bool) {
	const most = math.MaxInt64 / 8
	d := int64(days)
	if d > most/dayMicros || d < -most/dayMicros || us > most || us < -most {
		return 0, false
	}
	return d*dayMicros + us, true
}

// sessionWindow is session_window(time, gap).
func (x *exprBinder) sessionWindow(n *ast.Call) plan.Expr {
	if len(n.Args) != 2 {
		fail(sqlerr.New(sqlerr.UndefinedFunction, "function session_window with %d arguments does not exist", len(n.Args)).
			WithHint("It is session_window(time, gap).").At(int(n.At)))
	}
	w := &eventWindow{session: true, time: x.eventTime(n.Args[0], "session_window"), pos: int(n.At)}
	gap := x.bind(n.Args[1])
	at := loc(n.Args[1])
	if c, ok := fold(gap).(*plan.Const); ok && !c.Val.Null && c.Typ.Kind.IsString() {
		gap = &plan.Const{Val: x.b.parseInterval(string(c.Val.B), at), Typ: types.Of(types.Interval)}
	}
	if k := gap.Type().Kind; k != types.Interval {
		if !k.IsString() {
			failAt(at, sqlerr.DatatypeMismatch, "the gap of session_window must be an interval, not %s", gap.Type())
		}
		gap = x.b.cast(gap, types.Of(types.Interval), fn.Explicit, at)
	}
	w.gap = fold(gap)
	if c, ok := w.gap.(*plan.Const); ok {
		months, days, us := types.IntervalParts(c.Val.I, c.Val.J)
		if c.Val.Null || int64(months)*30*dayMicros+int64(days)*dayMicros+us <= 0 {
			failAt(at, sqlerr.InvalidParameterValue, "the gap of session_window must be greater than zero")
		}
	}
	w.typ = types.WindowOf(w.time.Type().Kind)
	return x.sameWindow(w)
}

// placeWindow adds the block's window() as a column of its node, where there is no grouping.
func (blk *block) placeWindow(on *onClause) {
	w := blk.win
	if w == nil {
		return
	}
	if w.session {
		blk.placeSession(on)
		return
	}
	put := blk.windowColumn()
	blk.eachOutput(on, put)
}

// placeSession gives each row its own session, where there is no grouping that would merge them. A row without a time has none and is dropped, as
// for windows; one whose gap is NULL, zero or less fails.
func (blk *block) placeSession(on *onClause) {
	w := blk.win
	if w.time.Type().Kind == types.Date {
		fail(sqlerr.Unsupported("session_window of a date is supported in GROUP BY only").At(w.pos))
	}
	none := &plan.Const{Val: blk.b.parseInterval("0", ast.Pos(w.pos)), Typ: types.Of(types.Interval)}
	gap := &plan.Coalesce{Args: []plan.Expr{w.gap, none}, Typ: types.Of(types.Interval)}
	end := blk.b.operator("+", w.time, gap, ast.Pos(w.pos))
	own := blk.b.call("session_of", []plan.Expr{w.time, end}, ast.Pos(w.pos), fn.Scalar)
	blk.node = newFilter(blk.node, &plan.IsNull{X: w.time, Not: true})
	blk.eachOutput(on, func(e plan.Expr) plan.Expr { return rewriteSession(e, own) })
}

func rewriteSession(e, own plan.Expr) plan.Expr {
	if e == nil {
		return nil
	}
	if x, ok := e.(*eventWindow); ok && x.session {
		return own
	}
	return mapChildren(e, func(c plan.Expr) plan.Expr { return rewriteSession(c, own) })
}

// windowColumn adds the Window node and gives the rewriting that puts its column for the call.
func (blk *block) windowColumn() func(plan.Expr) plan.Expr {
	w := blk.win
	if _, isCol := w.time.(*plan.Col); !isCol {
		var t plan.Expr
		blk.node, t = blk.b.attach(blk.node, blk.f, w.time)
		c := *w
		c.time = t
		w = &c
	}
	blk.node = newWindow(blk.node, w, "window")
	col := colOf(blk.node, width(blk.node)-1)
	return func(e plan.Expr) plan.Expr { return rewriteWindow(e, col) }
}

func rewriteWindow(e plan.Expr, col *plan.Col) plan.Expr {
	if e == nil {
		return nil
	}
	if x, ok := e.(*eventWindow); ok && !x.session {
		return col
	}
	return mapChildren(e, func(c plan.Expr) plan.Expr { return rewriteWindow(c, col) })
}

// placeGroupWindow puts the block's window beneath its aggregation: window() as a column, session_window as the session
// that it gives.
func (blk *block) placeGroupWindow(g *grouping, on *onClause) *plan.Session {
	w := blk.win
	if w == nil {
		return nil
	}
	if w.session {
		i := findExpr(g.keys, w)
		if i < 0 {
			failAt(ast.Pos(w.pos), sqlerr.GroupingError, "session_window must appear in the GROUP BY clause")
		}
		g.keys = append(g.keys[:i:i], g.keys[i+1:]...)
		for s := range g.sets {
			var set []int
			for _, k := range g.sets[s] {
				switch {
				case k < i:
					set = append(set, k)
				case k > i:
					set = append(set, k-1)
				}
			}
			g.sets[s] = set
		}
		return &plan.Session{Time: w.time, Gap: w.gap}
	}
	put := blk.windowColumn()
	for i := range g.keys {
		g.keys[i] = put(g.keys[i])
	}
	for i := range blk.aggs {
		mapAgg(&blk.aggs[i], put)
	}
	blk.eachOutput(on, put)
	return nil
}
