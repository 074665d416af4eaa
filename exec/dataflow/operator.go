// Package dataflow is the contract between operators and what runs them, and
// the graph that runs one view (or one SELECT) for an epoch.
//
// An operator receives change batches on numbered ports and emits change
// batches. Within an epoch the runner pushes every input batch, depth first,
// and then ends the epoch operator by operator in topological order, so that
// when EndEpoch of an operator is called all of its inputs for the epoch have
// been pushed. One goroutine runs a graph; operators need no locks.
//
// The graph also fixes each operator's watermarks for the epoch, from those of
// its sources: the policy of several inputs, inputs that are idle, and that no
// operator's watermark ever goes back (watermarks.go).
package dataflow

import (
	"math"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Watermark is a point in event time, microseconds since 1970 UTC, a whole number of milliseconds.
// NoWatermark means that there is none yet, or none declared: nothing is late, nothing closes.
type Watermark int64

// NoWatermark is the absence of a watermark.
const NoWatermark Watermark = math.MinInt64

// Late says whether an event time (or window end) t is late or closed: t <= w.
func (w Watermark) Late(t int64) bool { return w != NoWatermark && t <= int64(w) }

// Emit takes an operator's output. The batch is valid until Emit returns; the receiver copies what it keeps.
type Emit func(b *batch.Batch) error

// Operator is one node of a running graph. It is used from one goroutine. Whatever must survive the epoch
// lies in tables declared in its state space (package state/table); after EndEpoch it holds nothing else but caches of them.
type Operator interface {
	// Push takes a batch on a port. b is valid only during the call. Rows are judged late by ep.Before.
	Push(ep *Epoch, port int, b *batch.Batch, out Emit) error
	// EndEpoch is called once when all input of the epoch has been pushed, also in an epoch without input in which the
	// watermark or the timestamp moved. State at or below ep.After is closed, emitted and removed. What is emitted comes in an order that data decides.
	EndEpoch(ep *Epoch, out Emit) error
}

// Beginner is implemented by an operator that is told of each epoch before any rows of it come to the graph. ep is that of the calls that follow, but that
// After may yet fall behind (WatermarkHolder) and what is not known before is not set: Fed and Port.
type Beginner interface {
	BeginEpoch(ep *Epoch)
}

// Stateful is implemented by operators that have state, for tidemark.state_operators.
type Stateful interface {
	Operator
	// Stats reports rows in state and counters since the operator was made.
	Stats() Stats
}

// WatermarkMapper is implemented by an operator whose output watermark is not its input watermark
// (time-range joins, reference 1.6). It must be monotone.
type WatermarkMapper interface {
	OutputWatermark(in Watermark) Watermark
}

// Stats are the figures of Spark's StateOperatorProgress that an operator knows; counters are totals, the engine takes differences.
type Stats struct {
	Name            string // "stateStoreSave", "sessionWindowStateStoreSaveExec", "dedupe", "symmetricHashJoin", ...: Spark's operator names
	RowsTotal       int64
	RowsUpdated     int64
	RowsRemoved     int64
	RowsDroppedLate int64
	RowsNullEvent   int64 // rows dropped because their event time is NULL
	RowsDuplicate   int64 // rows that a deduplication dropped (Spark's custom metric numDroppedDuplicateRows)
	MemoryUsedBytes int64
}

// Epoch is what an operator may know of the epoch that runs. It is the runner's and valid during the call.
type Epoch struct {
	N         uint64
	Timestamp int64 // microseconds since 1970: now() inside views
	// Again says that the operators have run an epoch N before: that of their view's history, after which something is left to be made known.
	Again bool
	// Before and After are this operator's input watermark before and after the epoch, less Lag: times by which it judges may be
	// that much behind (planner/plan.Props).
	Before, After Watermark
	Lag           Watermark
	// Final is set for a SELECT, where everything that an epoch would ever emit is emitted at its end: operators
	// in append mode emit all groups as they stand, and no row is late.
	Final bool
	// Sink receives late rows and dead letters; never nil.
	Sink Sink
	// Interrupt gives an error when the epoch is to end early, as when a SELECT is cancelled; nil: never. The graph asks it between
	// operators; one that may work long without emitting asks it through Interrupted.
	Interrupt func() error
	// Delay is EpochInfo's.
	Delay func(stream catalog.OID) int64
	// Fed says, from EndEpoch on, that a source beneath got rows in the epoch, whether or not they reached the operator.
	Fed bool
	// Operator is the stateful operator's id as Spark numbers them: 0 is nearest the root; -1 for a stateless one.
	Operator int
	// Port is the port of the Push that runs.
	Port int
	// Inputs describes what comes in on each port, for late rows and dead letters.
	Inputs []PortInfo
}

// Stamp gives a number above 0 that tells the runs of an operator apart, as N does not (Again). It says nothing of their order.
func (ep *Epoch) Stamp() int64 {
	n := int64(ep.N) + 1
	if ep.Again {
		n |= 1 << 62
	}
	return n
}

// DelayOf gives a delay in this epoch, microseconds.
func (ep *Epoch) DelayOf(d catalog.Delay) int64 {
	if ep.Delay == nil {
		return d.Micros
	}
	return d.In(ep.Delay)
}

// Interrupted gives the error with which the epoch is to end early, nil while it goes on.
func (ep *Epoch) Interrupted() error {
	if ep.Interrupt == nil {
		return nil
	}
	return ep.Interrupt()
}

// PortInfo describes the rows of one port to a person: column names, and the streams that they come from.
type PortInfo struct {
	Columns []string // no two alike, where a view is described
	// Pair names the columns beside those of an operator's other port: no two of both are alike.
	Pair    []string
	Streams string
	// Changes says that rows of negative weight may come.
	Changes bool
}

// Sink takes what does not go on to the next operator. Batches are valid during the call.
type Sink interface {
	// Late records row i of b as late for the operator. windowStart and windowEnd are set where lateness is of a row and
	// a window; window end NoTime otherwise. What an epoch says of one row of a port is summed up: one that came and was taken away
	// was never there.
	Late(ep *Epoch, b *batch.Batch, i int, eventTime int64, windowStart, windowEnd int64)
	// Dead records that row i of b failed with err. In a SELECT the error it returns aborts the statement; in a view it returns nil
	// and the row is left out. A negative weight withdraws the letter.
	Dead(ep *Epoch, b *batch.Batch, i int, err *sqlerr.Error) error
}

// NoTime stands for an absent time in Late.
const NoTime int64 = math.MinInt64

// InputTypes describes the columns of an operator's ports to a constructor.
type InputTypes [][]types.Type

// Timed is implemented by operators whose output changes as the epoch's timestamp moves, without input.
type Timed interface {
	// NextDue gives the timestamp (microseconds) from which on an epoch is wanted; false if there is none.
	NextDue() (int64, bool)
}
