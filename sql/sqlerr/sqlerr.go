// Package sqlerr defines the error that reaches a client: an SQLSTATE with
// PostgreSQL's message fields.
//
// An error is raised where its meaning is known (parser, binder, kernel) as an
// *Error. Everything below that returns plain Go errors with context; From
// turns those into XX000 at the one place where a client is answered.
package sqlerr

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// Code is a five-letter SQLSTATE (PostgreSQL, appendix A).
type Code string

// The SQLSTATEs that Tidemark raises.
const (
	SuccessfulCompletion       Code = "00000"
	Warning                    Code = "01000"
	NoData                     Code = "02000"
	ConnectionException        Code = "08000"
	ProtocolViolation          Code = "08P01"
	FeatureNotSupported        Code = "0A000"
	CardinalityViolation       Code = "21000"
	StringDataRightTruncation  Code = "22001"
	NumericValueOutOfRange     Code = "22003"
	NullValueNotAllowed        Code = "22004"
	DatetimeFieldOverflow      Code = "22008"
	IntervalFieldOverflow      Code = "22015"
	DivisionByZero             Code = "22012"
	InvalidArgumentForLog      Code = "2201E"
	InvalidArgumentForPower    Code = "2201F"
	InvalidRowCountInLimit     Code = "2201W"
	InvalidRowCountInOffset    Code = "2201X"
	InvalidParameterValue      Code = "22023"
	SubstringError             Code = "22011"
	InvalidDatetimeFormat      Code = "22007"
	InvalidTimeZone            Code = "22009"
	InvalidEscapeSequence      Code = "22025"
	InvalidRegularExpression   Code = "2201B"
	CharacterNotInRepertoire   Code = "22021"
	ArraySubscriptError        Code = "2202E"
	InvalidTextRepresentation  Code = "22P02"
	InvalidBinaryRepresent     Code = "22P03"
	BadCopyFileFormat          Code = "22P04"
	UntranslatableCharacter    Code = "22P05"
	DuplicateJSONKey           Code = "22030"
	InvalidJSONText            Code = "22032"
	IntegrityViolation         Code = "23000"
	NotNullViolation           Code = "23502"
	ForeignKeyViolation        Code = "23503"
	UniqueViolation            Code = "23505"
	CheckViolation             Code = "23514"
	ActiveTransaction          Code = "25001"
	ReadOnlyTransaction        Code = "25006"
	NoActiveTransaction        Code = "25P01"
	InFailedTransaction        Code = "25P02"
	InvalidStatementName       Code = "26000"
	InvalidAuthorization       Code = "28000"
	InvalidPassword            Code = "28P01"
	DependentObjects           Code = "2BP01"
	InvalidCursorName          Code = "34000"
	InvalidCatalogName         Code = "3D000"
	InvalidSchemaName          Code = "3F000"
	SerializationFailure       Code = "40001"
	SyntaxError                Code = "42601"
	InsufficientPrivilege      Code = "42501"
	CannotCoerce               Code = "42846"
	GroupingError              Code = "42803"
	WindowingError             Code = "42P20"
	InvalidRecursion           Code = "42P19"
	InvalidName                Code = "42602"
	NameTooLong                Code = "42622"
	ReservedName               Code = "42939"
	DatatypeMismatch           Code = "42804"
	IndeterminateDatatype      Code = "42P18"
	CollationMismatch          Code = "42P21"
	WrongObjectType            Code = "42809"
	UndefinedColumn            Code = "42703"
	UndefinedFunction          Code = "42883"
	UndefinedTable             Code = "42P01"
	UndefinedParameter         Code = "42P02"
	UndefinedObject            Code = "42704"
	DuplicateColumn            Code = "42701"
	DuplicateCursor            Code = "42P03"
	DuplicateSchema            Code = "42P06"
	DuplicatePreparedStatement Code = "42P05"
	DuplicateTable             Code = "42P07"
	DuplicateAlias             Code = "42712"
	DuplicateObject            Code = "42710"
	AmbiguousColumn            Code = "42702"
	AmbiguousFunction          Code = "42725"
	InvalidColumnReference     Code = "42P10"
	InvalidTableDefinition     Code = "42P16"
	InvalidObjectDefinition    Code = "42P17"
	DiskFull                   Code = "53100"
	OutOfMemory                Code = "53200"
	TooManyConnections         Code = "53300"
	ConfigurationLimitExceeded Code = "53400"
	ProgramLimitExceeded       Code = "54000"
	StatementTooComplex        Code = "54001"
	TooManyColumns             Code = "54011"
	TooManyArguments           Code = "54023"
	NotInPrerequisiteState     Code = "55000"
	ObjectInUse                Code = "55006"
	CantChangeRuntimeParam     Code = "55P02"
	QueryCanceled              Code = "57014"
	AdminShutdown              Code = "57P01"
	CannotConnectNow           Code = "57P03"
	IOError                    Code = "58030"
	UndefinedFile              Code = "58P01"
	InternalError              Code = "XX000"
	DataCorrupted              Code = "XX001"
)

// Error is what a client is told. The zero Position means "no position";
// otherwise it is a 1-based character offset into the statement text, as in
// PostgreSQL's ErrorResponse field P.
type Error struct {
	Severity   string // "" means ERROR; NOTICE, WARNING, FATAL otherwise
	Code       Code
	Message    string
	Detail     string
	Hint       string
	Where      string // context, e.g. "COPY t, line 3, column a"
	Position   int
	Schema     string
	Table      string
	Column     string
	Constraint string
	Err        error // cause, for the log; never sent
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause, if any.
func (e *Error) Unwrap() error { return e.Err }

// SQLState gives the five-letter code, as pgconn.PgError does.
func (e *Error) SQLState() string { return string(e.Code) }

// New makes an error with a formatted message.
func New(code Code, format string, args ...any) *Error {
	if len(args) == 0 {
		return &Error{Code: code, Message: format}
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Unsupported makes a 0A000 for a construct that is understood but not built.
func Unsupported(format string, args ...any) *Error {
	return New(FeatureNotSupported, format, args...)
}

// At returns e with the position set to byte offset off (0-based) plus one, unless it has
// one already. Callers that hold the text convert to characters with CharPosition.
func (e *Error) At(off int) *Error {
	if e.Position == 0 && off >= 0 {
		e.Position = off + 1
	}
	return e
}

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithDetail sets the detail and returns e.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// WithCause sets the cause, which is logged but not sent, and returns e.
func (e *Error) WithCause(err error) *Error {
	e.Err = err
	return e
}

// Notice makes a NOTICE-level message.
func Notice(format string, args ...any) *Error {
	e := New(SuccessfulCompletion, format, args...)
	e.Severity = "NOTICE"
	return e
}

// CharPosition turns a 1-based byte position within text into a 1-based
// character position, which is what the protocol sends.
func CharPosition(text string, bytePos int) int {
	if bytePos <= 0 {
		return 0
	}
	n := 1
	for i := range text {
		if i >= bytePos-1 {
			break
		}
		n++
	}
	if bytePos-1 >= len(text) && len(text) > 0 {
		n = 1
		for range text {
			n++
		}
	}
	return n
}

// From turns any error into an *Error: itself where it is one, 57014 for a
// cancelled context, else XX000 with the cause kept for the log.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.Canceled) {
		return &Error{Code: QueryCanceled, Message: "canceling statement due to user request", Err: err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Code: QueryCanceled, Message: "canceling statement due to statement timeout", Err: err}
	}
	return &Error{Code: InternalError, Message: "internal error: " + err.Error(), Err: err}
}

// CodeOf gives the SQLSTATE of err, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return From(err).Code
}

// Recover is deferred at the start of a goroutine or of a border between
// engine and client: it turns a panic into an XX000 in *err.
func Recover(err *error) {
	if r := recover(); r != nil {
		*err = &Error{Code: InternalError, Message: fmt.Sprintf("internal error: %v", r),
			Err: fmt.Errorf("panic: %v\n%s", r, debug.Stack())}
	}
}
