package ast

type (
	// CreateFunction is CREATE [OR REPLACE] FUNCTION name(args) RETURNS type LANGUAGE l AS 'body'.
	CreateFunction struct {
		Name      Name
		OrReplace bool
		Args      []ColumnDef // name, "" for none, type and default
		Result    TypeName
		SetOf     bool        // RETURNS SETOF Result
		Table     []ColumnDef // RETURNS TABLE, nil for another form
		Language  string      // folded
		Body      string
		HasBody   bool
		Return    bool // the body is that of RETURN expression: SELECT expression
		BodyAt    Pos
		Strict    bool
		// Volatility is "immutable", "stable" or "volatile"; the last is the default.
		Volatility string
	}
	// DropFunction is DROP FUNCTION.
	DropFunction struct {
		Functions []FunctionName
		IfExists  bool
		Cascade   bool
	}
	// FunctionName names a function, by its arguments too if HasArgs.
	FunctionName struct {
		Name    Name
		Args    []TypeName
		HasArgs bool
	}
)

func (*CreateFunction) stmt() {}
func (*DropFunction) stmt()   {}
