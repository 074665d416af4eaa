package plan

import (
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Column is one output column of a node.
type Column struct {
	Name string
	Type types.Type
	// TableOID and Attr tell the client where a plain column comes from; zero otherwise.
	TableOID catalog.OID
	Attr     int16
	Row      *RowType
}

// Bound says what bounds an operator's state.
type Bound struct {
	Bounded bool
	// By says by what ("watermark on window.end of s", "range condition on b.ts", "one row"), or, unbounded, why not.
	By string
}

// Props are the derived properties of a node. They decide the physical operator, the legality of an output
// mode and the NOTICE about state.
type Props struct {
	Columns    []Column
	AppendOnly bool // never emits a negative weight
	// WatermarkCols are output columns that carry a watermark (DESIGN section 4): the operator will never again insert or
	// delete a row whose value in them (its end for a window) is at or below the node's output watermark.
	WatermarkCols []int
	// WatermarkLags say, for each of WatermarkCols, how far behind the watermark w its values may still be: one of t may come as long as
	// t + lag > w. In microseconds: 0 for the time of a stream, 1 for a window_time, which is a microsecond before the end that is compared
	// with w; negative where windows end on whole milliseconds, as watermarks do, so that the next end is a millisecond away.
	WatermarkLags []int64
	// WatermarkDelays say, for each of WatermarkCols, by what its watermark is behind the greatest event time of the stream; of several streams the most.
	WatermarkDelays []catalog.Delay
	// Lag is how far behind its input watermark the operator goes, in microseconds: the greatest lag, above 0, of the times that it judges by.
	Lag int64
	// HasWatermark says that a declared watermark reaches this node at all, whether or not a column still carries it.
	HasWatermark bool
	// Keys are sets of columns that are unique in the node's contents. An empty set means at most one row.
	Keys [][]int
	// NeedsOrder says that a parent depends on the order of arrival.
	NeedsOrder bool
	// State is nil for a node without state.
	State *Bound
	// Labels name the columns for letters: as Columns do, but no two alike. nil where the names of Columns are such, or nobody asked.
	Labels []string
	// PairLabels are, of a join, Labels of the pairs of its inputs' rows.
	PairLabels []string
}

// MarkLag gives the lag of a column that carries a watermark (WatermarkLags), 0 for any other.
func (p *Props) MarkLag(col int) int64 { return ofMark(p, p.WatermarkLags, col) }

// MarkDelay gives the delay of the watermark that a column carries (WatermarkDelays), 0 for any other.
func (p *Props) MarkDelay(col int) catalog.Delay { return ofMark(p, p.WatermarkDelays, col) }

func ofMark[T any](p *Props, of []T, col int) (none T) {
	for i, c := range p.WatermarkCols {
		if c == col && i < len(of) {
			return of[i]
		}
	}
	return none
}

// Node is a plan node.
type Node interface {
	// Inputs are the nodes it reads, in port order.
	Inputs() []Node
	// Props are its derived properties; the same pointer each time, filled by the planner.
	Props() *Props
}

// Base is embedded by every node.
type Base struct{ P Props }

// Props implements Node.
func (b *Base) Props() *Props { return &b.P }

type (
	// Scan reads a stream, table, materialized view or system relation: its contents in a SELECT, its changes in a view.
	Scan struct {
		Base
		Rel *catalog.Relation
		// Cols are the relation's columns that are read, in output order.
		Cols []int
		// Position, if >= 0, is the output index of an appended bigint column that gives the order of arrival (streams and append-only views).
		Position int
		// Eq are equalities column = expression (without columns) on leading key columns that a SELECT may use for a point
		// lookup; the Filter above still tests them.
		Eq []KeyEq
		// Bounds are comparisons of key columns with expressions (without columns) that a SELECT may use to read a part of a relation;
		// the Filter above still tests them.
		Bounds []KeyBound
		// Desc says that a SELECT wants the rows from the greatest key to the least one: a TopN above is Presorted so.
		Desc bool
		// Any are key columns that have one of some values.
		Any []KeyAny
	}
	// KeyEq is one equality on a relation's column.
	KeyEq struct {
		Col int // relation column
		Val Expr
	}
	// KeyBound is one comparison of a relation's column with Val, which is right of Op: "<", "<=", ">" or ">=".
	KeyBound struct {
		KeyEq
		Op string
	}
	// KeyAny says that a relation's column is equal to one of the elements of Array.
	KeyAny struct {
		Col   int // relation column
		Array Expr
	}
	// Values gives literal rows, once. No rows and no columns stands for "no FROM": it then has one row (see One).
	Values struct {
		Base
		Rows [][]Expr
	}
	// TableFunc is a set-returning function whose arguments have no columns (generate_series in FROM), or, with Input,
	// one that is called for each input row (LATERAL, or in the select list): output is input columns, then the function's, then the ordinality if asked.
	TableFunc struct {
		Base
		Input      Node // nil for none
		Fn         *fn.Func
		Args       []Expr
		Ordinality bool
		// Outer keeps an input row for which the function gives none, with NULLs.
		Outer bool
	}
	// Filter keeps rows for which Pred is true.
	Filter struct {
		Base
		Input Node
		Pred  Expr
	}
	// Project computes columns.
	Project struct {
		Base
		Input Node
		Exprs []Expr
	}
	// Window appends one column of window type: window(Time, Size, Slide, Start); a row becomes one row for each window
	// that it lies in, none where Time is NULL. All in microseconds. Time is of kind Timestamp, TimestampTZ or Date.
	Window struct {
		Base
		Input              Node
		Time               Expr
		Size, Slide, Start int64
		// Last says that the operator gives a row once only, with the last of its windows: the Aggregate above, its only consumer, gives it to
		// the others. Slide then divides Size.
		Last bool
	}
	// Aggregate groups by Keys (expressions over the input, usually columns) and gives keys, then aggregates. Without Keys it is global and always
	// has one row, unless it is a Distinct (no Aggs). Session, if set, is a further key that comes *first* in the output.
	Aggregate struct {
		Base
		Input   Node
		Keys    []Expr
		Aggs    []Agg
		Session *Session
		// EventKey is the index in Keys of the key that carries the watermark (a window, or a time column), -1 for none. With Session it is -1: the
		// session itself is the event key, if TimeWatermarked.
		EventKey int
		Mode     catalog.OutputMode
		// Distinct says that it is a DISTINCT, which has no Aggs: in append mode a row appears at first sight, as it can't change.
		Distinct bool
		// Sketch says that approximate aggregates may be sketches that can't forget.
		Sketch bool
		// Emit decides when groups appear: in append mode only once final.
		Having Expr // unused by exec: planned as a Filter; kept nil
	}
	// Session is session_window(Time, Gap); Gap is an interval expression over the input.
	Session struct {
		Time            Expr
		Gap             Expr
		TimeWatermarked bool // Time carries a watermark
	}
	// Agg is one aggregate call.
	Agg struct {
		Fn       *fn.Func
		Args     []Expr // none for count(*)
		Distinct bool
		OrderBy  []SortKey // inside the call, over the input's columns
		Filter   Expr      // nil: none
		Typ      types.Type
		// Direct are constant arguments of an ordered-set aggregate (the fraction of percentile_cont); OrderBy then gives the aggregated value.
		Direct []Expr
	}
	// SortKey is one ORDER BY key.
	SortKey struct {
		X          Expr
		Desc       bool
		NullsFirst bool
	}
	// Join combines Left (port 0) and Right (port 1). Output columns: left's then right's; only left's for semi and anti.
	Join struct {
		Base
		Left, Right Node
		Kind        JoinKind
		// LeftKeys and RightKeys are equated pairwise, each over its own input. NullSafe[i] says that NULLs are equal (IS NOT DISTINCT FROM).
		LeftKeys, RightKeys []Expr
		NullSafe            []bool
		// Residual is the rest of the condition, over left columns then right columns; nil for none.
		Residual Expr
		// NullAware, for Anti only: NOT IN. A left row with a NULL key, or any left row when the right side has a NULL key, is
		// not returned (unless the right side is empty).
		NullAware bool
		// Single makes a left join raise 21000 where a left row has more than one match (scalar subquery).
		Single bool
		// KeyTime is the index of a key pair that carries a watermark, -1 for none (reference 5.3, case A).
		KeyTime int
		// LeftTime and RightTime are the columns of each input that carry its watermark, -1 for none.
		LeftTime, RightTime int
		// LeftLead and RightLead say by how many microseconds the rows of a side are judged late earlier than the operator's watermark, which
		// lags (Props.Lag) by what the times of either side need.
		LeftLead, RightLead int64
		// LeftState and RightState bound the state of each side (case B); nil for none.
		LeftState, RightState *StateBound
		// NeverMatches says that the conditions on the event times of both sides exclude each other.
		NeverMatches bool
		Mode         catalog.OutputMode
	}
	// StateBound says that rows of a side whose time is at or below watermark + OffsetMicros can't match any more.
	StateBound struct{ OffsetMicros int64 }
	// Union is UNION ALL of inputs with equal types.
	Union struct {
		Base
		Ins []Node
	}
	// SetOp is INTERSECT [ALL] or EXCEPT [ALL] over whole rows (NULLs are equal). UNION is an Aggregate without Aggs over a Union.
	SetOp struct {
		Base
		Left, Right Node
		Except      bool // else intersect
		All         bool
	}
	// TopN keeps the rows [Offset, Offset+Limit) of each partition by Sort order; ties are broken by the whole encoded row, or by arrival
	// when the input gives a Position. Limit -1: no limit. WithTies as in FETCH FIRST.
	TopN struct {
		Base
		Input         Node
		PartitionBy   []Expr
		Sort          []SortKey
		Limit, Offset int64
		WithTies      bool
		// Presorted says that in a SELECT rows come in the order of Sort where a relation is read in the order of its key, or of arrival, so that no
		// more need be read than are kept.
		Presorted bool
		// Ties says of rows that are Presorted that some may be alike by Sort. Which of them are kept does not depend on how they lie, so all that
		// are like the last one that is kept are to be read.
		Ties bool
		// Timed says that PartitionBy[TimeKey] carries the watermark, which closes partitions.
		Timed   bool
		TimeKey int
		// LimitExpr and OffsetExpr are set instead when they hold parameters; the engine resolves them before building.
		LimitExpr, OffsetExpr Expr
	}
	// Sort orders the final rows of a SELECT; exec applies it only at the root of a SELECT.
	Sort struct {
		Base
		Input Node
		Keys  []SortKey
		// Visible, if > 0, is the number of leading columns of Input that are the result's; the others are there for Keys
		// alone and are dropped after sorting. Props.Columns lists the visible ones only.
		Visible int
	}
	// Dedup keeps the first row to arrive of each key (DISTINCT ON without ORDER BY). Within is WITHIN WATERMARK.
	Dedup struct {
		Base
		Input   Node
		Keys    []Expr
		TimeKey int // index in Keys of the key that carries the watermark, -1 for none
		TimeCol int // input column that carries the watermark, -1 for none
		Within  bool
		Mode    catalog.OutputMode
		// Delay is that of the watermark that TimeCol carries (Props.WatermarkDelays), for Within.
		Delay catalog.Delay
		// SpanMicros is about how long a key stays, which is good for the layout of state only: the delay at the time of planning.
		SpanMicros int64
	}
	// OverWindow computes window functions: output is the input's columns, then one for each Func.
	OverWindow struct {
		Base
		Input       Node
		PartitionBy []Expr
		Sort        []SortKey
		Funcs       []OverFunc
		Timed       bool // as in TopN
		TimeKey     int
	}
	// OverFunc is one window function over a frame.
	OverFunc struct {
		Fn     *fn.Func
		Args   []Expr
		Filter Expr
		Frame  Frame
		Typ    types.Type
	}
	// Frame is a window frame; offsets are constants of the ORDER BY column's offset type.
	Frame struct {
		Mode       string // "rows", "range", "groups"
		Start, End FrameBound
		Exclude    string
	}
	// FrameBound is one bound of a frame.
	FrameBound struct {
		Kind   string // "unbounded preceding", "preceding", "current row", "following", "unbounded following"
		Offset Expr
	}
	// TemporalFilter keeps rows while Time OP now() + Offset holds; rows come and go as the epoch's timestamp moves.
	TemporalFilter struct {
		Base
		Input  Node
		Time   Expr
		Op     string // "<", "<=", ">", ">="
		Offset types.Datum
	}
	// AppendFinal holds back the changes of an update-mode input until they are final by the watermark (an append view over an update view).
	AppendFinal struct {
		Base
		Input   Node
		TimeCol int
	}
)

// JoinKind is the kind of a join.
type JoinKind uint8

// The kinds of join. A cross join is Inner without keys.
const (
	Inner JoinKind = iota
	Left
	Right
	Full
	Semi
	Anti
)

// String gives "Inner", "Left", ...
func (k JoinKind) String() string {
	return [...]string{"Inner", "Left", "Right", "Full", "Semi", "Anti"}[k]
}

// Inputs implements Node.
func (n *Scan) Inputs() []Node   { return nil }
func (n *Values) Inputs() []Node { return nil }
func (n *TableFunc) Inputs() []Node {
	if n.Input == nil {
		return nil
	}
	return []Node{n.Input}
}
func (n *Filter) Inputs() []Node         { return []Node{n.Input} }
func (n *Project) Inputs() []Node        { return []Node{n.Input} }
func (n *Window) Inputs() []Node         { return []Node{n.Input} }
func (n *Aggregate) Inputs() []Node      { return []Node{n.Input} }
func (n *Join) Inputs() []Node           { return []Node{n.Left, n.Right} }
func (n *Union) Inputs() []Node          { return n.Ins }
func (n *SetOp) Inputs() []Node          { return []Node{n.Left, n.Right} }
func (n *TopN) Inputs() []Node           { return []Node{n.Input} }
func (n *Sort) Inputs() []Node           { return []Node{n.Input} }
func (n *Dedup) Inputs() []Node          { return []Node{n.Input} }
func (n *OverWindow) Inputs() []Node     { return []Node{n.Input} }
func (n *TemporalFilter) Inputs() []Node { return []Node{n.Input} }
func (n *AppendFinal) Inputs() []Node    { return []Node{n.Input} }

// Types lists the column types of a node.
func Types(n Node) []types.Type {
	cols := n.Props().Columns
	ts := make([]types.Type, len(cols))
	for i, c := range cols {
		ts[i] = c.Type
	}
	return ts
}

// Query is a planned query.
type Query struct {
	Root   Node
	Params []types.Type
	// Maintained: the plan keeps a view up to date; else it runs once, over relations as they are, which has no changes.
	Maintained bool
	// Mode is the output mode that a view of this plan has.
	Mode catalog.OutputMode
	// Reads are the relations that the plan scans, views expanded; DependsOn those named in the text.
	Reads     []*catalog.Relation
	DependsOn []catalog.OID
	// Processors are the processors called in the text.
	Processors []catalog.OID
	// StateReads are the state tables that a maintained view begins with (statestore in an initial state).
	StateReads []*catalog.Relation
	// Notices are about unbounded state and the like.
	Notices []string
}
