package custom

import (
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// StatefulProcessor is user code with state. All methods of one object are called from one goroutine at a time; a view makes an object for each of its
// slots, which have keys of their own and run side by side. It must be a pure function of its arguments
// and its state: no clock, randomness or I/O, or a replay gives something else. What an error, or a panic, leaves behind is undone.
type StatefulProcessor interface {
	// Init declares the state variables with the handle, which may be kept. It is called once, before anything else.
	Init(h *Handle) error
	// HandleInputRows is called for each key that has rows in an epoch, with those rows in order of arrival. Rows are valid during the call.
	HandleInputRows(key Row, rows Rows, t TimerValues) (Output, error)
	// HandleExpiredTimer is called for each timer that has expired, in order of expiry.
	HandleExpiredTimer(key Row, t TimerValues, expired ExpiredTimerInfo) (Output, error)
	// HandleInitialState is called for each row of the initial state, before any other row.
	HandleInitialState(key, initial Row, t TimerValues) error
	// Close is called when the operator ends.
	Close() error
}

// Maker makes the object of a processor in Go, a new one with each call: catalog.Processor.Native. It may be used from any goroutine.
type Maker func() (StatefulProcessor, error)

// Output is what a call emits: rows whose values are those of the processor's result columns. nil emits nothing, and in update mode keeps what
// the key has; an empty Output that is not nil removes it.
type Output [][]types.Datum

// TimerValues are the clocks of a call, in milliseconds since 1970 UTC; -1 where the time mode has none.
type TimerValues struct{ ProcessingTime, Watermark int64 }

// ExpiredTimerInfo is the timer that fires.
type ExpiredTimerInfo struct{ ExpiryTimeInMs int64 }

// TimeMode is what a processor's timers go by.
type TimeMode uint8

// The time modes.
const (
	TimeModeNone TimeMode = iota
	TimeModeProcessingTime
	TimeModeEventTime
)

// String gives the name that state_metadata shows, Spark's.
func (m TimeMode) String() string { return [...]string{"NoTime", "ProcessingTime", "EventTime"}[m] }

// Base gives a processor the methods that it may leave out: timers and initial state are ignored. Embed it.
type Base struct{}

// HandleExpiredTimer implements StatefulProcessor.
func (Base) HandleExpiredTimer(Row, TimerValues, ExpiredTimerInfo) (Output, error) { return nil, nil }

// HandleInitialState implements StatefulProcessor.
func (Base) HandleInitialState(_, _ Row, _ TimerValues) error { return nil }

// Close implements StatefulProcessor.
func (Base) Close() error { return nil }

// UserError is the SQLSTATE of an error in user code (external routine exception).
const UserError sqlerr.Code = "38000"

// condition makes an error with one of Spark's condition names.
func condition(name, format string, args ...any) *sqlerr.Error {
	return sqlerr.New(UserError, "["+name+"] "+format, args...)
}

// Spark's condition names.
const (
	condHandleState = "STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_HANDLE_STATE"
	condTimeMode    = "STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_TIME_MODE"
	condDuplicate   = "STATEFUL_PROCESSOR_DUPLICATE_STATE_VARIABLE_DEFINED"
	condTTLMode     = "STATEFUL_PROCESSOR_INCORRECT_TIME_MODE_TO_ASSIGN_TTL"
	condTTLPositive = "STATEFUL_PROCESSOR_TTL_DURATION_MUST_BE_POSITIVE"
	condBadName     = "STATE_STORE_CANNOT_USE_COLUMN_FAMILY_WITH_INVALID_NAME"
	condReserved    = "STATE_STORE_CANNOT_CREATE_COLUMN_FAMILY_WITH_RESERVED_CHARS"
	condNull        = "ILLEGAL_STATE_STORE_VALUE.NULL_VALUE"
	condEmptyList   = "ILLEGAL_STATE_STORE_VALUE.EMPTY_LIST_VALUE"
	condOldRows     = "EMITTING_ROWS_OLDER_THAN_WATERMARK_NOT_ALLOWED"
	condTypeChange  = "STATE_STORE_INVALID_VARIABLE_TYPE_CHANGE"
	condEvolution   = "STATE_STORE_INVALID_VALUE_SCHEMA_EVOLUTION"
	condKeySchema   = "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"
	condThreshold   = "STATE_STORE_VALUE_SCHEMA_EVOLUTION_THRESHOLD_EXCEEDED"
)
