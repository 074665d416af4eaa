package equivalence

import "slices"

// allOf lists all columns.
func allOf(cols []slowCol) []int {
	out := make([]int, len(cols))
	for i := range out {
		out[i] = i
	}
	return out
}

// slowReads finds for a node, of which the given columns are read, and for all beneath it what the query reads of their inputs: a row that differs from
// another in nothing else is the same row to it.
func slowReads(n slowNode, out []int) {
	b := n.node()
	var in [2][]int
	read := func(port int, cols ...int) {
		for _, c := range cols {
			if c >= 0 && !slices.Contains(in[port], c) {
				in[port] = append(in[port], c)
			}
		}
	}
	calls := func(first int, aggs []slowCall) {
		for i, c := range aggs {
			if c.fn != "count(*)" && (slices.Contains(out, first+i) || i == 0 && slices.Max(append(out, -1)) < first) { // one is always there
				read(0, c.at)
			}
		}
	}
	switch x := n.(type) {
	case *slowFilter:
		read(0, append(slices.Clone(out), x.at)...)
	case *slowProject:
		for _, c := range out {
			if c < len(x.items) {
				read(0, x.items[c].at)
			}
		}
		if x.size > 0 {
			read(0, x.time)
		}
	case *slowUnion:
		read(0, out...)
		read(1, out...)
	case *slowAgg:
		read(0, x.keys...)
		if x.size > 0 {
			read(0, x.time)
		}
		calls(len(x.cols)-len(x.aggs), x.aggs)
	case *slowSession:
		read(0, x.keys...)
		read(0, x.time, x.gapBy)
		calls(len(x.cols)-len(x.aggs), x.aggs)
	case *slowDedup:
		read(0, append(slices.Clone(out), x.keys...)...)
		read(0, x.in(0).mark())
	case *slowOver:
		for _, c := range out {
			if c < len(x.in(0).cols) {
				read(0, c)
			}
		}
		if read(0, x.part); x.number {
			read(0, allOf(x.in(0).cols)...)
		}
	case *slowJoin:
		x.readsOf(out, read)
	default: // all that orders or compares whole rows
		for i := range b.ins {
			read(i, allOf(b.in(i).cols)...)
		}
	}
	for i, c := range b.ins {
		slices.Sort(in[i])
		b.reads[i] = in[i]
		slowReads(c, in[i])
	}
}

// readsOf is slowReads of a join.
func (j *slowJoin) readsOf(out []int, read func(port int, cols ...int)) {
	l := len(j.in(0).cols)
	for _, c := range out {
		if at := j.items[c]; at < l {
			read(0, at)
		} else {
			read(1, at-l)
		}
	}
	read(0, j.lkeys...)
	read(1, j.rkeys...)
	if j.ge || j.le {
		read(0, j.lt)
		read(1, j.rt)
	}
	read(0, j.both[0], j.left, j.in(0).mark())
	read(1, j.both[1], j.right, j.in(1).mark())
}
