package custom

// Metrics implements dataflow.Metered: Spark's custom metrics of a transformWithState. As in Spark, registrations and deletions count calls, and a timer
// that has fired is one that was deleted.
func (o *Operator) Metrics() map[string]int64 {
	c := o.h.counts
	m := map[string]int64{"numRegisteredTimers": c.registered, "numDeletedTimers": c.deleted, "numExpiredTimers": c.expired,
		"numValuesRemovedDueToTTLExpiry": c.outlived, "numValueStateVars": 0, "numListStateVars": 0, "numMapStateVars": 0,
		"numValueStateWithTTLVars": 0, "numListStateWithTTLVars": 0, "numMapStateWithTTLVars": 0}
	for _, v := range o.h.vars {
		if v.ttl > 0 {
			m["num"+string(v.kind)+"WithTTLVars"]++
		} else {
			m["num"+string(v.kind)+"Vars"]++
		}
	}
	return m
}
