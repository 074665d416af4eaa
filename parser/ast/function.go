package ast

type (
	// CreateFunction is CREATE [OR REPLACE] FUNCTION name(args) RETURNS type LANGUAGE l AS 'body', of a scalar function.
	CreateFunction struct {
		Name      Name
		OrReplace bool
		Args      []ColumnDef // name, "" for none, and type
		Result    TypeName
		Language  string // folded
		Body      string
		HasBody   bool
		BodyAt    Pos
		Strict    bool
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
