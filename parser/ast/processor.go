package ast

// CreateProcessor is CREATE [OR REPLACE] PROCESSOR name RETURNS TABLE (...) LANGUAGE l AS 'body'.
type CreateProcessor struct {
	Name        Name
	OrReplace   bool
	IfNotExists bool
	Columns     []ColumnDef // names and types
	Language    string      // folded
	Body        string
	HasBody     bool
	BodyAt      Pos // of the string that is the body
}

func (*CreateProcessor) stmt() {}
