package ast

import "strings"

// Stmt is a statement.
type Stmt interface{ stmt() }

// Parsed is one statement with its text.
type Parsed struct {
	Stmt Stmt
	Text string // the statement's own text, without the semicolon
	At   Pos    // where Text starts in the text given to the parser; positions in Stmt are relative to Text
	// Params is the greatest $n used.
	Params int
}

// Option is one WITH option; the value is text whatever its form.
type Option struct {
	Name  string // folded, dots kept
	Value string
	At    Pos
}

// CopyOption is one option of COPY. The form of its argument is kept: some options take only a list of columns, others none.
type CopyOption struct {
	Name  string // folded
	Form  CopyForm
	Value string   // of a word, text or number
	List  []string // what stands in brackets
	At    Pos
}

// CopyForm is what stands behind the name of an option of COPY.
type CopyForm uint8

// The forms of the arguments of COPY's options.
const (
	CopyNone CopyForm = iota
	CopyText          // a word or a text
	CopyNumber
	CopyList // names or texts in brackets, or columns of the old syntax
	CopyStar // *
)

// Text gives the argument as PostgreSQL reads it where a text is asked for.
func (o *CopyOption) Text() string {
	switch o.Form {
	case CopyList:
		return strings.Join(o.List, ".")
	case CopyStar:
		return "*"
	}
	return o.Value
}

// WatermarkDef is WATERMARK FOR c AS c - INTERVAL d [IDLE TIMEOUT d [ADVANCE]] or WATERMARK c DELAY OF INTERVAL d.
type WatermarkDef struct {
	Column string
	// Delay is the interval text ("10 minutes"). Other is set, and Delay empty, when the expression is not
	// column - interval (an error for the planner, with position).
	Delay   string
	Other   Expr
	Idle    string // "" for none
	Advance bool
	At      Pos
}

// ColumnDef is a column of CREATE STREAM or CREATE TABLE.
type ColumnDef struct {
	Name       string
	Type       TypeName
	NotNull    bool
	Default    Expr
	DefaultSQL string // the text of Default
	PrimaryKey bool
	Unique     bool
	Check      Expr
	CheckSQL   string
	KeyNames   ColumnConstraintNames
	At         Pos
}

// ColumnConstraintNames are the names that a column gives its constraints by CONSTRAINT name.
type ColumnConstraintNames struct{ Primary, Unique, Check string }

// Constraint is a table constraint.
type Constraint struct {
	Name     string
	Kind     string // "primary key", "unique", "check", "foreign key"
	Columns  []string
	Check    Expr
	CheckSQL string
	At       Pos
}

type (
	// QueryStmt is SELECT, VALUES, TABLE or WITH.
	QueryStmt struct{ Query *Query }
	// CreateSchema is CREATE SCHEMA.
	CreateSchema struct {
		Name        string
		IfNotExists bool
		At          Pos
	}
	// CreateRelation is CREATE STREAM or CREATE TABLE.
	CreateRelation struct {
		Stream      bool
		Name        Name
		IfNotExists bool
		Columns     []ColumnDef
		Constraints []Constraint
		Watermark   *WatermarkDef
		Options     []Option
		Format      string // FORMAT PLAIN ENCODE JSON: "plain"
		Encode      string
		AsQuery     *Query // CREATE TABLE AS
	}
	// CreateView is CREATE [OR REPLACE] [MATERIALIZED] VIEW.
	CreateView struct {
		Materialized bool
		OrReplace    bool
		IfNotExists  bool
		Name         Name
		Columns      []string
		Options      []Option
		Query        *Query // its Text is what is stored
		Emit         string // "", "on window close", "on update"
	}
	// CreateIndex is CREATE [UNIQUE] INDEX.
	CreateIndex struct {
		Name        string
		IfNotExists bool
		Unique      bool
		Table       Name
		Columns     []string
		At          Pos
	}
	// CreateOther is a CREATE (or other statement) that is recognised but not built: the engine answers 0A000.
	CreateOther struct {
		What string // "CREATE SINK", "CREATE FUNCTION", ...
		At   Pos
	}
	// Drop is DROP of any kind.
	Drop struct {
		Kind     string // "schema", "stream", "table", "view", "materialized view", "index", "processor"
		Names    []Name
		IfExists bool
		Cascade  bool
	}
	// Alter is ALTER STREAM|TABLE|VIEW|MATERIALIZED VIEW.
	Alter struct {
		Kind      string
		Name      Name
		IfExists  bool
		Action    string // "add column", "rename to", "rename column", "set watermark", "pause", "resume", "set", ...
		Column    *ColumnDef
		NewName   string
		OldName   string
		Watermark *WatermarkDef
		Options   []Option
		At        Pos
	}
	// Insert is INSERT INTO.
	Insert struct {
		With
		Table     Name
		Alias     string
		Columns   []string
		ColumnPos []Pos
		Query     *Query // VALUES or SELECT; nil for DEFAULT VALUES
		// Rows is set instead of Query for a literal VALUES list, the hot path: every cell a *Const, *Param, *Default,
		// or any other expression.
		Rows       [][]Expr
		OnConflict *OnConflict
		Returning  []SelectItem
	}
	// OnConflict is ON CONFLICT [(cols)] DO NOTHING|UPDATE SET ... [WHERE].
	OnConflict struct {
		Columns    []string
		Constraint string
		Set        []SetItem // nil: DO NOTHING
		Where      Expr
		At         Pos
	}
	// SetItem is col = expr in UPDATE; Cols has several for (a, b) = (...).
	SetItem struct {
		Cols []string
		X    Expr
		At   Pos
	}
	// Update is UPDATE.
	Update struct {
		With
		Table     Name
		Alias     string
		Set       []SetItem
		From      []TableExpr
		Where     Expr
		Returning []SelectItem
	}
	// Delete is DELETE.
	Delete struct {
		With
		Table     Name
		Alias     string
		Using     []TableExpr
		Where     Expr
		Returning []SelectItem
	}
	// Truncate is TRUNCATE.
	Truncate struct{ Tables []Name }
	// Copy is COPY t FROM STDIN, COPY t TO STDOUT or COPY (query) TO STDOUT.
	Copy struct {
		Table   Name
		Columns []string
		Query   *Query
		From    bool
		Options []CopyOption
		File    string // FROM 'file' (refused)
		At      Pos
	}
	// Begin is BEGIN or START TRANSACTION.
	Begin struct{ Isolation, Access string }
	// Commit is COMMIT or END.
	Commit struct{ Chain bool }
	// Rollback is ROLLBACK or ABORT.
	Rollback struct{ Chain bool }
	// Savepoint is SAVEPOINT, RELEASE or ROLLBACK TO.
	Savepoint struct{ Kind, Name string }
	// Set is SET [SESSION|LOCAL] name = value, or RESET.
	Set struct {
		Name    string
		Values  []string
		Local   bool
		Default bool // SET x TO DEFAULT, RESET x
		All     bool // RESET ALL
		At      Pos
	}
	// Show is SHOW name, SHOW ALL, or SHOW STREAMS|TABLES|VIEWS|MATERIALIZED VIEWS|SCHEMAS (Name "streams", ...).
	Show struct {
		Name string
		At   Pos
	}
	// Describe is DESCRIBE name.
	Describe struct{ Name Name }
	// Explain is EXPLAIN.
	Explain struct {
		Analyze bool
		Verbose bool
		Format  string // "text", "json"
		Stmt    Stmt
	}
	// Prepare, ExecuteStmt and Deallocate are SQL-level prepared statements.
	Prepare struct {
		Name   string
		Types  []TypeName
		Stmt   Stmt
		Text   string
		Params int
	}
	// ExecuteStmt is EXECUTE name (args).
	ExecuteStmt struct {
		Name string
		Args []Expr
		At   Pos
	}
	// Deallocate is DEALLOCATE name, "" meaning ALL.
	Deallocate struct{ Name string }
	// DeclareCursor is DECLARE name CURSOR FOR query.
	DeclareCursor struct {
		Name  string
		Hold  bool
		Query *Query
	}
	// Fetch is FETCH [n|ALL] FROM name, or MOVE.
	Fetch struct {
		Name  string
		Count int64 // -1: ALL
		Move  bool
	}
	// CloseCursor is CLOSE name, "" meaning ALL.
	CloseCursor struct{ Name string }
	// Subscribe is SUBSCRIBE TO relation | query.
	Subscribe struct {
		Name    Name
		Query   *Query
		Options []Option
	}
	// AdvanceWatermark is ADVANCE WATERMARK OF s TO timestamp.
	AdvanceWatermark struct {
		Stream Name
		To     Expr
	}
	// WaitFor is WAIT FOR s.
	WaitFor struct{ Name Name }
	// Checkpoint is CHECKPOINT.
	Checkpoint struct{}
	// Discard is DISCARD ALL and the like.
	Discard struct{ What string }
	// Comment is COMMENT ON ... IS ...
	Comment struct {
		Kind   string
		Name   Name
		Column string
		Text   *string
	}
	// Refresh is REFRESH MATERIALIZED VIEW (a no-op with a notice: views are always fresh).
	Refresh struct{ Name Name }
	// NoOp is a statement accepted and ignored (LISTEN, ANALYZE, VACUUM, GRANT ...), with the tag it answers.
	NoOp struct{ Tag string }
)

// Default is the word DEFAULT where a value stands in INSERT or UPDATE.
type Default struct{ P }

func (*QueryStmt) stmt()        {}
func (*CreateSchema) stmt()     {}
func (*CreateRelation) stmt()   {}
func (*CreateView) stmt()       {}
func (*CreateIndex) stmt()      {}
func (*CreateOther) stmt()      {}
func (*Drop) stmt()             {}
func (*Alter) stmt()            {}
func (*Insert) stmt()           {}
func (*Update) stmt()           {}
func (*Delete) stmt()           {}
func (*Truncate) stmt()         {}
func (*Copy) stmt()             {}
func (*Begin) stmt()            {}
func (*Commit) stmt()           {}
func (*Rollback) stmt()         {}
func (*Savepoint) stmt()        {}
func (*Set) stmt()              {}
func (*Show) stmt()             {}
func (*Describe) stmt()         {}
func (*Explain) stmt()          {}
func (*Prepare) stmt()          {}
func (*ExecuteStmt) stmt()      {}
func (*Deallocate) stmt()       {}
func (*DeclareCursor) stmt()    {}
func (*Fetch) stmt()            {}
func (*CloseCursor) stmt()      {}
func (*Subscribe) stmt()        {}
func (*AdvanceWatermark) stmt() {}
func (*WaitFor) stmt()          {}
func (*Checkpoint) stmt()       {}
func (*Discard) stmt()          {}
func (*Comment) stmt()          {}
func (*Refresh) stmt()          {}
func (*NoOp) stmt()             {}
