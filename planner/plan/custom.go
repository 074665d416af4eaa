package plan

import "github.com/tidemarkdb/tidemark/sql/catalog"

// Custom is transform_with_state: Input (port 0) goes to a user's processor, whose result columns are the output. Initial (port 1, may be nil)
// is the state that it begins with.
type Custom struct {
	Base
	Input, Initial Node
	Processor      *catalog.Processor
	// Keys partition the input, InitialKeys the initial state; their types agree pairwise. KeyNames name them.
	Keys, InitialKeys []Expr
	KeyNames          []string
	// TimeMode is "none", "processing_time" or "event_time".
	TimeMode string
	Mode     catalog.OutputMode // Append or Update
	// EventTime is the output column that carries the watermark on, -1 for none.
	EventTime int
	// TimeCol is the input column by which rows are late, -1 for none.
	TimeCol int
	// Lag is how far behind the watermark the event times of the input, and so of the output, may be (Props.WatermarkLags), in microseconds; at least 0.
	Lag int64
}

// Inputs implements Node.
func (n *Custom) Inputs() []Node {
	if n.Initial == nil {
		return []Node{n.Input}
	}
	return []Node{n.Input, n.Initial}
}
