package planner

import (
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
)

// fold computes the constant parts of an expression. Errors stay where they are, to be raised for a row that gets there.
func fold(e plan.Expr) plan.Expr {
	switch e.(type) {
	case *plan.Const, *plan.Col, *plan.Param, *outerRef, *subquery:
		return e
	}
	if has(e, private) {
		return e
	}
	return kernel.Fold(e)
}

// private says whether an expression is one of the binder's own.
func private(e plan.Expr) bool {
	switch e.(type) {
	case *outerRef, *aggRef, *groupingRef, *overRef, *setRef, *eventWindow, *subquery:
		return true
	}
	return false
}

// foldAll folds every expression of a plan.
func foldAll(n plan.Node) {
	eachNode(n, func(m plan.Node) { mapExprs(m, fold) })
}
