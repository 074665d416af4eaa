// Package planner turns syntax trees into plans: it resolves names and types
// against the catalog (bind), turns correlated subqueries into joins
// (decorrelate), improves the tree (rules, one a file), derives the properties
// of every node, and decides whether an output mode is legal.
//
// The passes of PlanQuery, in order:
//
//	bind         syntax tree -> plan nodes; subqueries become joins as they are met
//	rules        fold constants, push filters down, extract join keys, prune columns, find key lookups
//	derive       columns, append-only, watermark columns, keys, state bounds
//	legality     refuse what an output mode can never answer; collect notices about unbounded state
//	verify       no expression of the binder is left
//
// While binding, a plan is a tree that its binder owns and changes in place;
// a Query that PlanQuery returned is read-only.
//
// Inside the package an error in the user's statement is raised by fail, a
// panic that the exported functions turn into their error result: binding is a
// deep recursion in which every step may fail and none has anything to undo.
package planner
