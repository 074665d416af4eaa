package planner_test

import (
	"fmt"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
)

func dmlText(s ast.Stmt, o planner.Options) (string, error) {
	return "", fmt.Errorf("unexpected statement %T", s)
}
