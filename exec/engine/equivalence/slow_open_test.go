package equivalence

// slowOpen says that a condition may turn an outer join beneath it into one that only ever adds rows, outside of append mode. A join above then judges both
// of its sides by a watermark that one of them has, where it would judge neither if the outer join could take rows back: the plan decides what is late.
func slowOpen(n slowNode) bool {
	in := n.node().ins
	switch x := n.(type) {
	case *slowFilter:
		if x.kind != 3 && fillsNull(in[0], x.at) {
			return true
		}
	case *slowJoin:
		left := x.left >= 0 && (x.kind == "" || x.kind == "RIGHT" || x.kind == "SEMI") && fillsNull(in[0], x.left)
		right := x.right >= 0 && x.kind != "RIGHT" && x.kind != "FULL" && fillsNull(in[1], x.right)
		if left || right {
			return true
		}
	}
	for _, c := range in {
		if slowOpen(c) {
			return true
		}
	}
	return false
}

// fillsNull says that column at comes, through nodes that pass conditions on, from the side of an outer join that has NULLs where the other side has
// no match.
func fillsNull(n slowNode, at int) bool {
	in := n.node().ins
	switch x := n.(type) {
	case *slowFilter:
		return fillsNull(in[0], at)
	case *slowProject:
		return at < len(x.items) && fillsNull(in[0], x.items[at].at)
	case *slowOver:
		return at == x.part && fillsNull(in[0], at)
	case *slowUnion, *slowSet:
		return fillsNull(in[0], at) || fillsNull(in[1], at)
	case *slowJoin:
		l := len(x.in(0).cols)
		col := x.items[at]
		if left := col < l; x.kind == "FULL" || left && x.kind == "RIGHT" || !left && x.kind == "LEFT" {
			return true
		}
		if col < l {
			return fillsNull(in[0], col)
		}
		return fillsNull(in[1], col-l)
	}
	return false
}
