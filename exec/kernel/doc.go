// Package kernel compiles bound expressions (planner/plan) into kernels that
// compute a vector for the selected rows of a batch.
//
// Compile makes a tree of nodes, each with its own output vector that it
// reuses, so that evaluation allocates nothing in a steady state. A node is
// given a selection and touches only those rows: that is how CASE, COALESCE,
// AND and OR keep their later operands from rows that are already decided. An
// error belongs to its row and is reported with it; the row's value is then
// unspecified, and NULL for the operators above it.
//
// Functions come in two forms. A vector function (vec) is a loop over slices
// of one layout: arithmetic, comparisons, time. A row function (row, or text
// for one that appends its result) is called once a row with Datums that
// alias the input. Both are found by the signature of the fn.Func in the
// tables of the files fn_*.go; a strict function never sees a NULL.
//
// Constant operands are vectors of one value (operand.con), not copies.
package kernel
