// Package equivalence holds the tests of promise 4: a view is what its query
// says. It has no code but tests.
//
// A case is drawn from a stream of choices (choices_test.go): a schema, views
// over it up to three deep (query_test.go), and statements that change the
// base relations, one epoch each (steps_test.go). After every epoch each view
// must equal its query run afresh in the engine, and in a PostgreSQL 15 that
// got the same statements. A second kind of case (watermark_test.go) has
// watermarks and late rows: a view must hold the same, and have recorded the same late rows,
// whether it was created before, amid or after the data and through any restarts, and single aggregates
// must match a slow model of the rules (model_test.go).
// A third kind (slow_test.go) has chains of operators, up to three deep, over streams with much disorder. A slow model
// that shares nothing with the engine computes each operator's answer anew from all rows that it ever took in
// (slow_*_test.go), and must agree after every epoch on what a view holds, on the number of rows late for each operator, and on
// the number that each has in state. One view in eight has rows that change late (slow_overtaken_test.go).
//
// A fourth kind (pair_query_test.go) composes every pair of operators chained, from templates of which each goes over any rows;
// TestEveryPairPlanned counts operators and pairs in their plans, and fails if one never came up that is not on its list of those that
// cannot be.
//
// A failing case is shrunk by making its choices fewer and smaller, and
// printed as a script. TIDEMARK_EQUIV_SECONDS makes each test run longer,
// TIDEMARK_EQUIV_FIRST is where its seeds begin (else they are new each time),
// TIDEMARK_EQUIV_SEED runs one seed, TIDEMARK_EQUIV_SHRINK is the number of
// seconds to spend on making a case smaller. A fault that was found this way
// and fixed leaves a script in regression_test.go.
package equivalence
