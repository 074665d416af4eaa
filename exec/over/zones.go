package over

import (
	"bytes"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/state/table"
)

// change is a changed row of a partition: its key in the state table, the length of partition and sort key, by how much its weight changes.
type change struct {
	key  []byte
	send int
	w    int64
}

func (c change) group() []byte { return c.key[:c.send] }

// manyChanges is the share of a partition's rows, one in so many, from which on it is computed as a whole.
const manyChanges = 8

// zones gives the parts of a partition in which values may change when the changes, in order, are made. They hold the changed
// rows, too. The state is as it was before.
func (o *over) zones(whole span, cs []change) []span {
	if o.whole || o.final {
		return []span{whole}
	}
	zs := &zones{o: o, part: whole.lo, whole: whole, cs: cs}
	if o.sums != nil {
		if o.sums.Top(zs.part) == 0 {
			return []span{whole} // a few rows
		}
		if o.sums.Range(zs.part, nil, nil); int64(len(cs))*manyChanges > o.summary.rows {
			return []span{whole}
		}
	}
	for _, f := range o.funcs {
		if zs.all {
			break
		}
		zs.function(f)
	}
	zs.walks()
	if zs.all {
		return []span{whole}
	}
	zs.near()
	return zs.union()
}

// zones collects zones.
type zones struct {
	o     *over
	part  []byte
	whole span
	cs    []change
	found []span
	all   bool
}

// add adds the keys from lo to hi; nil: the end of the partition.
func (z *zones) add(lo, hi []byte) {
	if lo == nil {
		return // beyond everything
	}
	if hi == nil || z.whole.hi != nil && bytes.Compare(hi, z.whole.hi) > 0 {
		hi = z.whole.hi
	}
	z.found = append(z.found, span{lo, hi})
}

// near adds the changed rows and what is within reach of them.
func (z *zones) near() {
	for _, c := range z.cs {
		if !z.o.reach.any {
			z.add(c.key, append(bytes.Clone(c.key), 0))
			continue
		}
		// A change is seen by later rows that look back, and by earlier ones that look ahead.
		hi := z.o.behind(&z.o.reach.back, c.key, c.send, z.whole.hi)
		z.add(z.o.before(&z.o.reach.ahead, z.part, c.key, c.send), hi)
		if hi == nil || z.whole.hi != nil && bytes.Equal(hi, z.whole.hi) {
			return // whatever else changes lies there too
		}
	}
}

// union makes the zones disjoint, in order.
func (z *zones) union() []span {
	slices.SortFunc(z.found, func(a, b span) int { return bytes.Compare(a.lo, b.lo) })
	out := z.found[:0]
	for _, s := range z.found {
		if n := len(out); n > 0 && (out[n-1].hi == nil || bytes.Compare(s.lo, out[n-1].hi) <= 0) {
			if out[n-1].hi != nil && (s.hi == nil || bytes.Compare(s.hi, out[n-1].hi) > 0) {
				out[n-1].hi = s.hi
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// function adds the zones of a function, those of running aggregates and what is near the changes apart.
func (z *zones) function(f *function) {
	first, last := z.cs[0], z.cs[len(z.cs)-1]
	switch f.zone {
	case zoneCount:
		z.counts(func(c change) []byte { return c.key }, func(c change) []byte { return c.key })
	case zoneRank:
		z.counts(groupEnd, groupEnd)
	case zoneRankShare, zoneShare:
		if net(z.cs) != 0 {
			z.all = true
		} else if f.zone == zoneRankShare {
			z.counts(groupEnd, groupEnd)
		} else {
			z.counts(change.group, groupEnd)
		}
	case zoneDense:
		z.dense()
	case zoneTile:
		z.tile(f.k)
	case zoneFirst:
		z.o.rows.Scan(z.whole.lo, z.whole.hi, func(k, _ []byte) bool {
			z.all = z.all || bytes.Compare(first.key, k) <= 0
			return false
		})
	case zoneLast:
		z.o.rows.ScanDesc(z.whole.lo, z.whole.hi, func(k, _ []byte) bool {
			z.all = z.all || bytes.Compare(last.key, k) >= 0
			return false
		})
	case zoneGap:
		z.gaps()
	case zoneNth:
		z.all = z.all || z.rowsBefore(first.key) < f.k
	}
}

func net(cs []change) (n int64) {
	for _, c := range cs {
		n += c.w
	}
	return n
}

func groupEnd(c change) []byte { return rowenc.PrefixEnd(nil, c.group()) }

// rowsBefore gives the number of rows of the partition before a key.
func (z *zones) rowsBefore(key []byte) int64 {
	z.o.sums.Range(z.part, nil, key)
	return z.o.summary.rows
}

// counts adds what is between a change and the next where the number of rows before is not as it was.
func (z *zones) counts(from, to func(c change) []byte) {
	var by int64
	for i, c := range z.cs {
		if by += c.w; by == 0 {
			continue
		}
		var hi []byte
		if i+1 < len(z.cs) {
			if hi = to(z.cs[i+1]); hi == nil {
				hi = z.whole.hi
			}
		}
		if lo := from(c); lo != nil && (hi == nil || bytes.Compare(lo, hi) < 0) {
			z.add(lo, hi)
		}
	}
}

// gaps adds what is near the rows next to the changed ones.
func (z *zones) gaps() {
	for _, c := range z.cs {
		lo, hi := z.part, z.whole.hi
		var key []byte
		var send int
		take := func(k, v []byte) bool {
			key = bytes.Clone(k)
			_, send, _ = readRow(v)
			return false
		}
		if z.o.rows.ScanDesc(z.part, c.key, take); key != nil {
			lo = z.o.before(&z.o.reach.ahead, z.part, key, send)
		}
		key = nil
		if z.o.rows.Scan(append(bytes.Clone(c.key), 0), hi, take); key != nil {
			hi = z.o.behind(&z.o.reach.back, key, send, hi)
		}
		z.add(lo, hi)
	}
}

// dense adds what is between peer groups that come or go where the number of groups before is not as it was.
func (z *zones) dense() {
	by := int64(0)
	for cs := z.cs; len(cs) > 0; {
		n := 1
		for n < len(cs) && bytes.Equal(cs[n].group(), cs[0].group()) {
			n++
		}
		was, is := z.group(cs[:n])
		if was && !is {
			by--
		} else if is && !was {
			by++
		}
		lo := groupEnd(cs[0])
		if cs = cs[n:]; by == 0 {
			continue
		}
		var hi []byte
		if len(cs) > 0 {
			hi = groupEnd(cs[0])
		}
		z.add(lo, hi)
	}
}

// group says whether the peer group of some changes has rows before them, and after.
func (z *zones) group(cs []change) (was, is bool) {
	lo := cs[0].group()
	z.o.rows.Scan(lo, table.PrefixEnd(lo), func(k, v []byte) bool {
		was = true
		for len(cs) > 0 && bytes.Compare(cs[0].key, k) < 0 {
			is = is || cs[0].w > 0
			cs = cs[1:]
		}
		_, _, w := readRow(v)
		if len(cs) > 0 && bytes.Equal(cs[0].key, k) {
			w += cs[0].w
			cs = cs[1:]
		}
		is = is || w > 0
		return !is
	})
	for _, c := range cs {
		is = is || c.w > 0
	}
	return was, is
}

// tile adds the rows that come into another of n buckets. Between two changes rows move by the same number of places, so these are
// those between where a bucket begins and where it began.
func (z *zones) tile(n int64) {
	z.o.sums.Range(z.part, nil, nil)
	rows := z.o.summary.rows
	if n*int64(len(z.cs)+1) > rows {
		z.all = true
		return
	}
	start := func(rows, bucket int64) int64 { return bucket*(rows/n) + min(bucket, rows%n) }
	after, by := rows+net(z.cs), int64(0)
	from := int64(0) // the place of the first row after the last change
	for i := 0; i <= len(z.cs); i++ {
		to := rows
		if i < len(z.cs) {
			to = z.rowsBefore(z.cs[i].key)
		}
		for b := int64(1); b < n; b++ {
			lo, hi := start(rows, b), start(after, b)-by
			if lo > hi {
				lo, hi = hi, lo
			}
			if lo, hi = max(lo, from), min(hi, to); lo < hi {
				z.places(lo, hi)
			}
		}
		if i < len(z.cs) {
			by += z.cs[i].w
			from = to
			if v, ok := z.o.rows.Get(z.cs[i].key); ok {
				_, _, w := readRow(v)
				from += w
			}
		}
	}
}

// places adds the rows in places [lo, hi) of the partition.
func (z *zones) places(lo, hi int64) {
	a, _, _, ok := z.o.sums.Select(z.part, lo)
	if !ok {
		return
	}
	b, _, _, ok := z.o.sums.Select(z.part, hi-1)
	if ok {
		b = append(b, 0)
	} else {
		b = nil
	}
	z.add(a, b)
}
