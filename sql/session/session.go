// Package session is the contract between wire, which speaks PostgreSQL's
// protocol, and the engine, which runs statements. wire knows the engine only
// through the interfaces here.
package session

import (
	"context"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Engine makes sessions. It may be called from any goroutine.
type Engine interface {
	// NewSession starts a session. It fails with 53300 when there are too many.
	NewSession(p Params) (Session, error)
}

// Params are what the client sent at start-up, and how to reach it.
type Params struct {
	User, Database, Application string
	RemoteAddr                  string
	ProcessID                   uint32            // the backend id told to the client
	Settings                    map[string]string // run-time parameters of the start-up packet
	// Notice is called, on the goroutine that runs the statement, for each notice or warning.
	Notice func(*sqlerr.Error)
	// ParameterStatus is called when a reported parameter (TimeZone, DateStyle, ...) gets a value.
	ParameterStatus func(name, value string)
	// Deallocate is called by DEALLOCATE and DISCARD for a statement prepared by the protocol's Parse message, whose
	// names SQL shares: it forgets that statement (name "": all of them) and says whether there was one.
	Deallocate func(name string) bool
}

// Failer is implemented by sessions that can be told that their transaction block has failed, by an error that the
// engine did not see: a malformed parameter value, an unknown portal, a broken message. Fail does nothing outside a block.
type Failer interface{ Fail() }

// Cursors is implemented by sessions that have SQL cursors, whose names are names of portals in the protocol.
type Cursors interface {
	// CursorColumns describes the rows of an open cursor; ok is false if there is none of that name.
	CursorColumns(name string) (cols []Column, ok bool)
}

// TxStatus is the transaction status that ReadyForQuery reports.
type TxStatus byte

// The transaction statuses.
const (
	TxIdle   TxStatus = 'I'
	TxOpen   TxStatus = 'T'
	TxFailed TxStatus = 'E'
)

// Session runs the statements of one client, one at a time: its methods may
// not be called concurrently. Cancel the context passed to a call to cancel
// the statement.
type Session interface {
	// Parse splits text into statements. An error has a position in text. A statement that is empty
	// is left out; text with none gives an empty list.
	Parse(text string) ([]Statement, error)
	// Prepare binds and plans a statement. paramTypes gives types of parameters, Unknown (or too few) meaning: infer.
	Prepare(ctx context.Context, s Statement, paramTypes []types.Type) (Prepared, error)
	// Execute starts a prepared statement with parameter values (of the types that Params told) and gives its result.
	// Outside a transaction block, a statement that writes is durable and visible when its Result has ended without error.
	Execute(ctx context.Context, p Prepared, params []types.Datum) (Result, error)
	// BeginImplicit is called before the statements of a simple query that has several, and before the first
	// Execute after a Sync of the extended protocol: they form one transaction unless they say otherwise.
	BeginImplicit()
	// EndImplicit commits what BeginImplicit began, if it is still open; failed says that a statement in it failed.
	EndImplicit(ctx context.Context, failed bool) error
	// TxStatus tells the state of the transaction block.
	TxStatus() TxStatus
	// Env tells how values are shown: time zone, date style and so on.
	Env() *types.Env
	// Setting reads a run-time parameter; ok is false where there is none of that name.
	Setting(name string) (value string, ok bool)
	// Close ends the session and rolls back an open transaction.
	Close()
}

// Statement is a parsed statement; its dynamic type is the engine's own.
type Statement interface {
	// Text is the statement's own text.
	Text() string
	// Tag gives the first word of its command tag ("SELECT", "CREATE STREAM"), for logging.
	Tag() string
	// EndsTransaction says that it is COMMIT or ROLLBACK, allowed in a failed block.
	EndsTransaction() bool
}

// Prepared is a bound and planned statement. It belongs to its session and is replanned by Execute when the
// catalog has changed since.
type Prepared interface {
	Statement() Statement
	// Params gives the parameter types, in order.
	Params() []types.Type
	// Columns describes the rows it returns; nil if it returns none.
	Columns() []Column
}

// Column describes a result column for RowDescription.
type Column struct {
	Name     string
	Type     types.Type
	TableOID uint32 // 0 if it is not a plain column
	Attr     int16  // column number within the table, from 1
}

// Result is a running statement. Exactly one of three kinds:
// rows (Columns non-nil), COPY IN (CopyIn non-nil), or neither.
type Result interface {
	// Columns describes the rows; nil if there are none.
	Columns() []Column
	// Next gives the next rows, at most max of them (0: any number), nil at the end. Every weight is positive and
	// a row with weight n counts n times. The batch is valid until the next call.
	Next(ctx context.Context, max int) (*batch.Batch, error)
	// CopyIn is non-nil for COPY FROM STDIN: feed it, then finish it.
	CopyIn() CopyIn
	// CopyOut is non-nil for COPY TO STDOUT: rows are read with Next and written in that format.
	CopyOut() *CopyFormat
	// Tag is the command tag, complete once Next has returned nil or an error-free end was reached ("INSERT 0 3").
	Tag() string
	// Close releases it; it may be called at any time, more than once.
	Close()
}

// Ender is implemented by results that know when they have no more rows than Next has given, which saves the call that says so.
type Ender interface {
	// Ended says that Next would give nil.
	Ended() bool
}

// CopyFormat is how COPY data is written (PostgreSQL, COPY).
type CopyFormat struct {
	Format       string // "text", "csv", "binary"
	Delimiter    byte
	Null         string
	Header       bool
	HeaderMatch  bool // in: the header must have the columns' names
	Quote        byte
	Escape       byte
	ForceQuote   []bool // CSV out, per column
	ForceNull    []bool // CSV in, per column
	ForceNotNull []bool // CSV in, per column
}

// CopyIn takes the rows of a COPY FROM STDIN.
type CopyIn interface {
	// Format tells how the data is written.
	Format() *CopyFormat
	// Columns are the target columns in the order of the data, with their types.
	Columns() []Column
	// Relation is the target's name, for the context of errors ("COPY t, line 3, column a").
	Relation() string
	// Rules tell how the rows are to be given.
	Rules() CopyRules
	// Write takes rows with exactly the columns of Columns; the batch is valid only during the call. An error of one row is a *RowError.
	Write(ctx context.Context, b *batch.Batch) error
	// Commit makes all rows durable and visible and gives their number; nothing was visible before, but whole units. An error of one row
	// is a *RowError.
	Commit(ctx context.Context) (rows int64, err error)
	// Kept gives the number of rows, the first ones, that stay whatever comes: those of whole units outside a block.
	Kept() int64
	// Abort drops all rows but those that are kept.
	Abort()
}

// CopyRules tell how CopyIn wants the rows and which of them it may refuse, which decides what the reader of the data remembers of its lines.
type CopyRules struct {
	// UnitRows is the number of rows after which they become durable and visible; 0 if only Commit does it. A batch does not reach over the
	// end of a unit, and one that ends there is to be given before more is read.
	UnitRows int
	// NotNull tells of the columns whether NULL is refused.
	NotNull []bool
	// Rows says that Write may refuse a row for other reasons than NULL in such a column.
	Rows bool
	// Keys says that Write and Commit may refuse any row of the unit for its key.
	Keys bool
}

// RowError is what one row of those given to a CopyIn was refused for.
type RowError struct {
	Row   int64 // counted from 0, from the begin of the COPY
	Shown bool  // PostgreSQL shows the line: it tests such a row as it reads it
	Err   error
}

// Error implements error.
func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap gives the error without the row.
func (e *RowError) Unwrap() error { return e.Err }
