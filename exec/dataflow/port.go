package dataflow

// WatermarkPort is implemented by an operator whose input watermark is that of one port alone: the time of the others holds
// nothing back.
type WatermarkPort interface {
	WatermarkPort() int
}

// timed lists the inputs that give a node its watermark.
func (n *node) timed() []*node {
	if p, ok := n.op.(WatermarkPort); ok {
		i := p.WatermarkPort()
		return n.inputs[i : i+1]
	}
	return n.inputs
}

// Metered is implemented by a stateful operator that has Spark's custom metrics. Metrics gives those of the epoch that has ended, by name.
type Metered interface {
	Metrics() map[string]int64
}

// WatermarkHolder is implemented by an operator that may not get through all that a watermark asks of it in one epoch: what it
// gives on is held back until it has. HeldWatermark is asked before the epoch, with the input watermark before it, and again when the
// operator's EndEpoch has returned, with the one after it; it never goes back.
type WatermarkHolder interface {
	HeldWatermark(in Watermark) Watermark
}

// Composite is implemented by an operator that stands for several.
type Composite interface {
	Instances() []Operator
}

// Instances gives the operators that op stands for: op alone, unless it is Composite.
func Instances(op Operator) []Operator {
	if c, ok := op.(Composite); ok {
		return c.Instances()
	}
	return []Operator{op}
}

// Sharer is implemented by an operator that does a bounded amount of work in one epoch. Share says that it is one of n instances, which have that amount
// together.
type Sharer interface {
	Share(n int)
}

// HashTaker is implemented by an operator that looks its keys up by batch.Batch.Hashes where a batch has them. TakesHashes says whether it would: its key is
// one text.
type HashTaker interface {
	TakesHashes() bool
}

// Deferrer is implemented by an operator that keeps rows for later within an epoch, and works them off in EndEpoch. Deferred gives which part of the time that the
// last EndEpoch took they took, from 0 to 1.
type Deferrer interface {
	Deferred() float64
}
