package equivalence

// overtaken draws an operator over rows that may change and whose watermark another stream's overtakes: they change late.
func (g *slowGen) overtaken() slowNode {
	defer func() { g.rels = nil }()
	g.rels = []string{"s0", "s1", "s0", "s1", "u0"}
	var n slowNode
	for range 8 {
		switch g.c.weighted(4, 2, 1, 1) {
		case 0:
			n = g.join(g.two(1 + g.c.n(2)))
		case 1:
			n = g.agg(g.tree(g.c.n(2)), true)
		case 2:
			n = g.session(g.tree(g.c.n(2)))
		case 3:
			n = g.over(g.tree(g.c.n(2)))
		}
		if n = g.one(n); n.node().mark() >= 0 && !n.node().final {
			break
		}
	}
	g.rels = []string{"s2"}
	other := g.operator(0)
	if g.c.n(2) == 0 {
		return g.join(n, other)
	}
	n = g.union(g.plainTime(n), g.plainTime(other))
	switch g.c.n(7) {
	case 0:
		return g.agg(n, true)
	case 1:
		return g.agg(n, false)
	case 2:
		return g.distinct(n)
	case 3:
		return g.session(n)
	case 4:
		return g.dedup(n, false)
	case 5:
		return g.top(n)
	}
	return g.over(n)
}
