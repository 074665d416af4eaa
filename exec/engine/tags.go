package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

// commandTag gives the command tag of a statement without its count (PostgreSQL, protocol, CommandComplete).
func commandTag(st ast.Stmt) string {
	switch x := st.(type) {
	case *ast.QueryStmt:
		return "SELECT"
	case *ast.CreateSchema:
		return "CREATE SCHEMA"
	case *ast.CreateRelation:
		if x.Stream {
			return "CREATE STREAM"
		}
		return "CREATE TABLE"
	case *ast.CreateView:
		if x.Materialized {
			return "CREATE MATERIALIZED VIEW"
		}
		return "CREATE VIEW"
	case *ast.CreateIndex:
		return "CREATE INDEX"
	case *ast.CreateFunction:
		return "CREATE FUNCTION"
	case *ast.DropFunction:
		return "DROP FUNCTION"
	case *ast.CreateProcessor:
		return "CREATE PROCESSOR"
	case *ast.CreateOther:
		return x.What
	case *ast.Drop:
		return "DROP " + strings.ToUpper(x.Kind)
	case *ast.Alter:
		return "ALTER " + strings.ToUpper(x.Kind)
	case *ast.Insert:
		return "INSERT"
	case *ast.Update:
		return "UPDATE"
	case *ast.Delete:
		return "DELETE"
	case *ast.Truncate:
		return "TRUNCATE TABLE"
	case *ast.Copy:
		return "COPY"
	case *ast.Set:
		if x.Default {
			return "RESET"
		}
		return "SET"
	case *ast.NoOp:
		return x.Tag
	case *ast.Discard:
		return "DISCARD " + strings.ToUpper(x.What)
	}
	return fixedTag(st)
}

func fixedTag(st ast.Stmt) string {
	switch x := st.(type) {
	case *ast.Begin:
		return "BEGIN"
	case *ast.Commit:
		return "COMMIT"
	case *ast.Rollback:
		return "ROLLBACK"
	case *ast.Savepoint:
		return strings.ToUpper(x.Kind)
	case *ast.Show:
		return "SHOW"
	case *ast.Describe:
		return "DESCRIBE"
	case *ast.Explain:
		return "EXPLAIN"
	case *ast.Prepare:
		return "PREPARE"
	case *ast.ExecuteStmt:
		return "EXECUTE"
	case *ast.Deallocate:
		if x.Name == "" {
			return "DEALLOCATE ALL"
		}
		return "DEALLOCATE"
	case *ast.DeclareCursor:
		return "DECLARE CURSOR"
	case *ast.Fetch:
		if x.Move {
			return "MOVE"
		}
		return "FETCH"
	case *ast.CloseCursor:
		if x.Name == "" {
			return "CLOSE CURSOR ALL"
		}
		return "CLOSE CURSOR"
	case *ast.Subscribe:
		return "SUBSCRIBE"
	case *ast.AdvanceWatermark:
		return "ADVANCE WATERMARK"
	case *ast.WaitFor:
		return "WAIT"
	case *ast.Checkpoint:
		return "CHECKPOINT"
	case *ast.Comment:
		return "COMMENT"
	case *ast.Refresh:
		return "REFRESH MATERIALIZED VIEW"
	}
	return fmt.Sprintf("%T", st)
}

// tagRows completes a tag with a count of rows.
func tagRows(verb string, n int64) string {
	if verb == "INSERT" {
		verb = "INSERT 0"
	}
	return verb + " " + strconv.FormatInt(n, 10)
}
