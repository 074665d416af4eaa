// Package ast is the PostgreSQL-shaped syntax tree that the parser makes and
// the planner reads. Nodes carry the byte offset of their first token in the
// statement's text; nothing here is resolved against the catalog.
package ast

// Pos is a byte offset into the text given to the parser, -1 for none.
type Pos int

// Name is a possibly qualified object name, already folded: [Schema.]Name.
type Name struct {
	Schema string
	Name   string
	Pos    Pos
}

// TypeName is a type as written: folded words, modifiers, array dimensions.
// "timestamp with time zone" has Name "timestamptz"; "double precision" "float8"; "int" "int4" and so on:
// the parser normalises PostgreSQL's multi-word and SQL-standard spellings to the internal names.
type TypeName struct {
	Schema string
	Name   string
	Mods   []int
	Array  bool
	Fields string // of interval: "day", "hour to minute", ...; else ""
	Pos    Pos
}

// Expr is an expression.
type Expr interface{ Position() Pos }

// P is embedded by every expression and gives its position.
type P struct{ At Pos }

// Position gives the byte offset of the expression's first token, or of its operator for infix ones.
func (p P) Position() Pos { return p.At }

// ConstKind is the kind of a literal.
type ConstKind uint8

// The kinds of literal.
const (
	StringConst ConstKind = iota // 'x', E'x', $$x$$: of unknown type until resolved
	NumberConst                  // digits as written
	BoolConst                    // Text is "true" or "false"
	NullConst
	BitConst // B'..' or X'..'
)

type (
	// ColumnRef is a.b.c as written, parts folded. Star is set for t.* and *. Field access on the result of a
	// column (w.start) looks the same; the binder decides.
	ColumnRef struct {
		P
		Parts []string
		Star  bool
	}
	// Const is a literal.
	Const struct {
		P
		Kind ConstKind
		Text string
	}
	// Param is $n.
	Param struct {
		P
		N int
	}
	// Cast is CAST(x AS t), x::t or the literal t 'x'.
	Cast struct {
		P
		X    Expr
		Type TypeName
	}
	// Unary is a prefix operator: "-", "+", "~", "@", "|/", ...; "not" is Not.
	Unary struct {
		P
		Op string
		X  Expr
	}
	// Binary is an infix operator other than AND and OR. OpSchema is set for OPERATOR(s.op). LIKE is "~~", NOT LIKE "!~~",
	// ILIKE "~~*" and "!~~*", as in PostgreSQL's parser.
	Binary struct {
		P
		Op       string
		OpSchema string
		L, R     Expr
	}
	// BoolOp is AND or OR over two or more operands.
	BoolOp struct {
		P
		And  bool
		Args []Expr
	}
	// Not is NOT x.
	Not struct {
		P
		X Expr
	}
	// Like is LIKE/ILIKE/SIMILAR TO with an ESCAPE; without one it is a Binary, except SIMILAR TO, which is always this.
	Like struct {
		P
		Op     string // "like", "ilike", "similar"
		Not    bool
		X, Pat Expr
		Escape Expr // nil: default
	}
	// Between is x [NOT] BETWEEN [SYMMETRIC] lo AND hi.
	Between struct {
		P
		Not, Symmetric bool
		X, Lo, Hi      Expr
	}
	// In is x [NOT] IN (list) or (subquery).
	In struct {
		P
		Not   bool
		X     Expr
		List  []Expr
		Query *Query // nil when List is used
	}
	// IsTest is x IS [NOT] NULL|TRUE|FALSE|UNKNOWN.
	IsTest struct {
		P
		X    Expr
		Not  bool
		What string // "null", "true", "false", "unknown"
	}
	// IsDistinct is x IS [NOT] DISTINCT FROM y.
	IsDistinct struct {
		P
		Not  bool
		L, R Expr
	}
	// Quantified is x op ANY|ALL (array or subquery).
	Quantified struct {
		P
		Op    string
		All   bool
		X     Expr
		Array Expr   // or
		Query *Query // one of the two
	}
	// Case is CASE [x] WHEN ... THEN ... ELSE ... END.
	Case struct {
		P
		X     Expr // nil for the searched form
		Whens []When
		Else  Expr // nil: NULL
	}
	// When is one arm of a Case.
	When struct{ Cond, Then Expr }
	// Call is a function, aggregate or window function call. Special forms are calls with PostgreSQL's internal
	// names: EXTRACT(f FROM x) is extract('f', x); SUBSTRING(x FROM a FOR b) substring(x, a, b); POSITION(a IN b) position(b, a) [strpos order];
	// TRIM(LEADING c FROM x) ltrim(x, c), TRAILING rtrim, BOTH btrim; OVERLAY(x PLACING y FROM a FOR b) overlay(x, y, a, b);
	// COALESCE, NULLIF, GREATEST, LEAST are calls of those names; x AT TIME ZONE z is timezone(z, x); current_timestamp, current_date ... are calls without arguments.
	Call struct {
		P
		Schema      string
		Name        string
		Args        []Expr
		ArgNames    []string // of named arguments (n => v); nil if none, "" for positional
		Star        bool     // count(*)
		Distinct    bool
		Variadic    bool
		OrderBy     []OrderItem // inside the parentheses, or of WITHIN GROUP
		Within      bool        // WITHIN GROUP (ORDER BY ...)
		Filter      Expr
		Over        *WindowSpec
		IgnoreNulls bool
	}
	// WindowSpec is OVER (...) or OVER name.
	WindowSpec struct {
		Ref         string // existing window name, or ""
		PartitionBy []Expr
		OrderBy     []OrderItem
		Frame       *Frame
		At          Pos
	}
	// Frame is ROWS|RANGE|GROUPS BETWEEN ... AND ... [EXCLUDE ...].
	Frame struct {
		Mode       string // "rows", "range", "groups"
		Start, End Bound
		Exclude    string // "", "current row", "group", "ties", "no others"
	}
	// Bound is a frame bound: "unbounded preceding", "preceding", "current row", "following", "unbounded following".
	Bound struct {
		Kind   string
		Offset Expr
	}
	// Subquery is a scalar subquery.
	Subquery struct {
		P
		Query *Query
	}
	// Exists is EXISTS (query).
	Exists struct {
		P
		Query *Query
	}
	// ArrayExpr is ARRAY[...]; nested for ARRAY[[..],[..]].
	ArrayExpr struct {
		P
		Elems []Expr
	}
	// ArrayQuery is ARRAY(query).
	ArrayQuery struct {
		P
		Query *Query
	}
	// Subscript is x[i] or x[lo:hi].
	Subscript struct {
		P
		X      Expr
		Lo, Hi Expr // either may be nil in a slice
		Slice  bool
	}
	// Field is (x).name, or (x).* with Name "*".
	Field struct {
		P
		X    Expr
		Name string
	}
	// Row is ROW(a, b) or (a, b).
	Row struct {
		P
		Args []Expr
	}
	// Collate is x COLLATE name.
	Collate struct {
		P
		X    Expr
		Name Name
	}
	// IntervalLit is INTERVAL 'text' [fields], or Spark's INTERVAL 5 MINUTES (Text "5 minutes").
	IntervalLit struct {
		P
		Text   string
		Fields string
		Prec   int // -1: none
	}
)

// OrderItem is one item of ORDER BY.
type OrderItem struct {
	X          Expr
	Desc       bool
	NullsFirst *bool  // nil: default (last for ASC, first for DESC)
	Using      string // USING op
}

// Query is a whole query: WITH, body, ORDER BY, LIMIT.
type Query struct {
	With      []CTE
	Recursive bool
	Body      Body
	OrderBy   []OrderItem
	Limit     Expr // nil: none (LIMIT ALL)
	Offset    Expr
	WithTies  bool
	Locking   bool // FOR UPDATE and the like
	At        Pos
	// Text is the query's own source text, for storing views.
	Text string
}

// CTE is one WITH item.
type CTE struct {
	Name         string
	Columns      []string
	Query        *Query
	Materialized *bool
	At           Pos
}

// With is the WITH clause of a statement that changes a table.
type With struct {
	Items     []CTE
	Recursive bool
}

// Body is a Select, Values, SetOp, TableBody or Paren query.
type Body interface{ body() }

type (
	// Select is a SELECT block.
	Select struct {
		At              Pos
		Distinct        bool
		DistinctOn      []Expr // DISTINCT ON (...)
		WithinWatermark bool   // DISTINCT ON (...) WITHIN WATERMARK
		Items           []SelectItem
		From            []TableExpr // joined by comma
		Where           Expr
		GroupBy         []GroupItem
		GroupDistinct   bool
		Having          Expr
		Windows         []NamedWindow
	}
	// Values is VALUES (...), (...).
	Values struct {
		At   Pos
		Rows [][]Expr
	}
	// SetOp is UNION, INTERSECT or EXCEPT, with PostgreSQL's precedence already applied.
	SetOp struct {
		At   Pos
		Op   string // "union", "intersect", "except"
		All  bool
		L, R Body
	}
	// ParenQuery is a parenthesised query with its own WITH/ORDER BY/LIMIT as an operand.
	ParenQuery struct{ Query *Query }
)

func (*Select) body()     {}
func (*Values) body()     {}
func (*SetOp) body()      {}
func (*ParenQuery) body() {}

// NamedWindow is one WINDOW clause item.
type NamedWindow struct {
	Name string
	Spec *WindowSpec
}

// SelectItem is one output column; X may be a ColumnRef with Star.
type SelectItem struct {
	X     Expr
	Alias string // "" if none
}

// GroupItem is an expression or one of ROLLUP, CUBE, GROUPING SETS (and the empty set "()").
type GroupItem struct {
	X    Expr        // plain expression; nil otherwise
	Kind string      // "", "rollup", "cube", "sets", "empty"
	Sets []GroupItem // nested items
	Row  []GroupItem // a parenthesised list inside ROLLUP/CUBE/SETS
	At   Pos
}

// TableExpr is an item of FROM.
type TableExpr interface{ tableExpr() }

type (
	// TableRef is a relation by name, with alias.
	TableRef struct {
		Name      Name
		Only      bool
		Alias     string
		Columns   []string
		AsOf      Expr          // FOR SYSTEM_TIME AS OF expr
		Watermark *WatermarkDef // WATERMARK ... after a FROM item
	}
	// SubqueryRef is (query) alias.
	SubqueryRef struct {
		Query     *Query
		Lateral   bool
		Alias     string
		Columns   []string
		At        Pos
		Watermark *WatermarkDef
	}
	// FuncRef is a function in FROM: generate_series(...), unnest(...), TUMBLE(t, ts, size), HOP(...),
	// transform_with_state(...). A first argument that names a relation (TUMBLE(t, ...), TABLE t PARTITION BY k) comes as TableArg.
	FuncRef struct {
		Call       *Call
		Tables     map[string]*TableArg // by argument name, "" for the first positional one
		Lateral    bool
		Ordinality bool
		Alias      string
		Columns    []string
		ColTypes   []TypeName // of a column definition list
		At         Pos
	}
	// Join is an explicit join.
	Join struct {
		Kind    string // "inner", "left", "right", "full", "cross", "semi", "anti", "asof", "left asof"
		Natural bool
		L, R    TableExpr
		On      Expr
		Using   []string
		Alias   string // of the join in parentheses, which hides the names in it
		Columns []string
		At      Pos
	}
)

// TableArg is TABLE x PARTITION BY ... as an argument, or a plain relation name for TUMBLE and HOP.
type TableArg struct {
	Name        Name
	Query       *Query // TABLE (query)
	PartitionBy []Expr
}

func (*TableRef) tableExpr()    {}
func (*SubqueryRef) tableExpr() {}
func (*FuncRef) tableExpr()     {}
func (*Join) tableExpr()        {}
