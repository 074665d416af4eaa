package tidemark

import (
	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// What a processor in Go is made of; see package exec/custom for their methods.
type (
	// StatefulProcessor is user code for transform_with_state.
	StatefulProcessor = custom.StatefulProcessor
	// ProcessorBase gives a processor the methods that it may leave out. Embed it.
	ProcessorBase = custom.Base
	// Handle declares state variables and registers timers.
	Handle = custom.Handle
	// RowValueState is a ValueState whose values are rows of a schema that is given as text (Handle.ValueState).
	RowValueState = custom.ValueState
	// RowListState is a ListState of such rows (Handle.ListState).
	RowListState = custom.ListState
	// RowMapState is a MapState of such rows (Handle.MapState).
	RowMapState = custom.MapState
	// Row is one row of the input, of a key or of a state variable.
	Row = custom.Row
	// InputRows are the rows of one key in an epoch.
	InputRows = custom.Rows
	// Output is what a call emits: rows that Handle.Row makes.
	Output = custom.Output
	// TimerValues are the clocks of a call.
	TimerValues = custom.TimerValues
	// ExpiredTimerInfo is the timer that fires.
	ExpiredTimerInfo = custom.ExpiredTimerInfo
)

// RegisterProcessor offers a processor in Go to SQL under a name, from now on: transform_with_state(..., processor => 'name'). result describes
// its result columns, such as "k text, n bigint". make is called here, for checks of a plan, and for each use in a view and each slot of its
// state partitions, perhaps from several goroutines; one that gives nil, or the same object again, is an error. Each object has its own keys
// and Handle, and its methods are called from one goroutine at a time; what objects share beside (variables of the package) is used by several
// at once. Views that are there when the database is opened need theirs at Open (WithProcessor). A processor of that name in the catalog goes before.
func (db *DB) RegisterProcessor(name, result string, make func() StatefulProcessor) error {
	return register(db.procs, name, result, make)
}

func register(r *engine.Processors, name, result string, make func() StatefulProcessor) error {
	s, err := custom.ParseSchema(result)
	if err != nil {
		return err
	}
	var cols []catalog.Column
	for _, f := range s.Fields {
		cols = append(cols, catalog.Column{Name: f.Name, Type: f.Type})
	}
	return r.Register(name, cols, make)
}
