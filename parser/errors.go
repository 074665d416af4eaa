package parser

import "github.com/tidemarkdb/tidemark/sql/sqlerr"

// Limits on what a client may send. Reaching one is an error, never a crash.
const (
	maxTextBytes = 64 << 20     // length of one text
	maxTokens    = 16 << 20     // tokens in one text
	maxNesting   = 200          // brackets, subqueries, prefix operators within each other
	maxChain     = 5000         // infix operators or casts in one run, which nest in the tree
	maxChainFlat = 100000       // AND and OR in one run
	maxHeight    = 2 * maxChain // levels of an expression's tree, brackets and chains together
	flatPerLevel = 20           // ANDs and ORs that count as a level, since only TiDB's tree nests them
	maxMoved     = 64 << 20     // bytes moved to put completed tests into brackets
	maxMarks     = 1 << 24      // constructs in one expression or query
)

// bailout carries an error from the depth of the descent to the package's
// border, where recoverTo turns it into a value.
type bailout struct{ err *sqlerr.Error }

// recoverTo is deferred by the exported functions.
func recoverTo(err *error) {
	switch r := recover().(type) {
	case nil:
	case bailout:
		*err = r.err
	default:
		*err = sqlerr.New(sqlerr.InternalError, "internal error in the parser: %v", r)
	}
}

// syntaxAt raises a syntax error in PostgreSQL's words at byte off of the
// text; near is the text of the token there, "" at the end.
func syntaxAt(off int, near string) {
	if near == "" {
		panic(bailout{sqlerr.New(sqlerr.SyntaxError, "syntax error at end of input").At(off)})
	}
	panic(bailout{sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \"%s\"", near).At(off)})
}

func raise(off int, code sqlerr.Code, format string, args ...any) {
	panic(bailout{sqlerr.New(code, format, args...).At(off)})
}

func tooDeep(off int) {
	panic(bailout{sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").
		WithHint("A statement may nest %d levels deep and chain %d operators.", maxNesting, maxChain).At(off)})
}
