package exec

import "github.com/tidemarkdb/tidemark/planner/plan"

// EpochDependent says why the meaning of a plan node is a sequence of epochs or a moment in time, so that a view with it need not
// equal its query run afresh (docs/joins.md lists the exceptions); "" if it is not.
func EpochDependent(n plan.Node) string {
	switch x := n.(type) {
	case *plan.Lookup:
		return "it looks rows up at processing time"
	case *plan.TemporalFilter:
		return "it depends on now()"
	case *plan.Dedup:
		if x.Within {
			return "it deduplicates within the watermark"
		}
	case *plan.Aggregate:
		if x.Session != nil && x.Session.TimeWatermarked {
			return "a session may have begun again beside a closed one"
		}
	case *plan.Custom:
		return "it runs a processor"
	}
	return ""
}
