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
