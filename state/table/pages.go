package table

import (
	"bytes"
	"slices"
)

// pages is a B-tree of three levels whose leaves hold entries in one buffer
// each, so that a million entries are some twenty thousand objects to the
// garbage collector and a scan reads memory in order.
type pages struct {
	top   []*branch // never empty, and neither is a branch
	heads heads     // of the first separators of top[1:]
	bytes int64     // memory of leaves
	n     int       // entries, tombs included
	last  pos       // where seek ended, as far as that is still a place
	spare spare
	// pending says that a Freeze has leaves to copy: they are not joined with others.
	pending bool
}

// branch is a run of leaves. seps[i] is at most the first key of leaves[i] and
// greater than every key before it; seps[0] of the first branch is "".
type branch struct {
	seps   []string
	leaves []*leaf
	heads  heads // of seps[1:]
}

// leaf holds entries in key order. Their bytes lie in data in any order, with
// garbage left by what was removed or replaced by something longer.
type leaf struct {
	ents    []cell
	data    []byte
	garbage int
	heads   heads
	touched bool                  // read or written since the last Evict looked
	gen     uint32                // number of the Freeze that copied it last
	frozen  bool                  // it may hold entries with flagFrozen
	room    [leafCells + 1]uint64 // of the heads
}

func newLeaf() *leaf {
	l := &leaf{}
	l.heads.h = l.room[:0]
	return l
}

// cell locates one entry: its key and right behind it its value.
type cell struct {
	off        uint32
	klen, vlen uint32
	flags      uint8
}

const (
	leafCells   = 64
	leafBytes   = 32 << 10
	branchWidth = 128
	cellBytes   = 16
	leafFixed   = 160 + 8*(leafCells+1)
)

func newPages() *pages {
	l := newLeaf()
	return &pages{top: []*branch{{seps: []string{""}, leaves: []*leaf{l}}}, bytes: leafFixed}
}

func (l *leaf) key(i int) []byte {
	c := &l.ents[i]
	return l.data[c.off : c.off+c.klen : c.off+c.klen]
}

func (l *leaf) val(i int) []byte {
	c := &l.ents[i]
	lo := c.off + c.klen
	return l.data[lo : lo+c.vlen : lo+c.vlen]
}

// pos is a place in the tree: entry i of leaf l of branch b.
type pos struct{ b, l, i int }

func (p *pages) leaf(q pos) *leaf { return p.top[q.b].leaves[q.l] }

// seek finds the first entry with key >= k, or the end of the leaf where k belongs.
func (p *pages) seek(k []byte) (q pos, found bool) {
	q = p.last
	if q.b < len(p.top) && q.l < len(p.top[q.b].leaves) {
		// A key that was read is often written next.
		if l := p.top[q.b].leaves[q.l]; q.i < len(l.ents) && string(l.key(q.i)) == string(k) {
			return q, true
		}
	}
	q, near := p.near(k)
	if !near {
		q = p.descend(k)
	}
	l := p.leaf(q)
	lo, hi := l.heads.near(k)
	end := hi
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if bytes.Compare(l.key(m), k) < 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	q.i = lo
	p.last = q
	return q, lo < end && bytes.Equal(l.key(lo), k)
}

// descend finds the leaf where k belongs.
func (p *pages) descend(k []byte) (q pos) {
	lo, hi := p.heads.near(k)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if p.top[m+1].seps[0] <= string(k) {
			lo = m + 1
		} else {
			hi = m
		}
	}
	q.b = lo
	b := p.top[q.b]
	lo, hi = b.heads.near(k)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if b.seps[m+1] <= string(k) {
			lo = m + 1
		} else {
			hi = m
		}
	}
	q.l = lo
	return q
}

// near finds the leaf where k belongs if it is that of the last seek or the one behind it. Entries may have moved since.
func (p *pages) near(k []byte) (q pos, ok bool) {
	q = p.last
	if q.b >= len(p.top) || q.l >= len(p.top[q.b].seps) || p.top[q.b].seps[q.l] > string(k) {
		return pos{}, false
	}
	seps := p.top[q.b].seps
	for range 2 {
		q.l++
		switch {
		case q.l < len(seps):
			ok = seps[q.l] > string(k)
		case q.b+1 < len(p.top):
			ok = p.top[q.b+1].seps[0] > string(k)
		default:
			ok = true
		}
		if ok {
			q.l--
			return q, true
		}
		if q.l == len(seps) {
			break
		}
		q.i = 0
	}
	return pos{}, false
}

// setHeads makes the heads of the branches anew.
func (p *pages) setHeads() {
	if n := len(p.top); n > 1 {
		begin(&p.heads, p.top[1].seps[0], p.top[n-1].seps[0])
		for _, b := range p.top[1:] {
			appendHead(&p.heads, b.seps[0])
		}
	} else {
		begin(&p.heads, "", "")
	}
}

// setHeads makes the heads of the separators anew.
func (b *branch) setHeads() {
	if n := len(b.seps); n > 1 {
		begin(&b.heads, b.seps[1], b.seps[n-1])
		for _, s := range b.seps[1:] {
			appendHead(&b.heads, s)
		}
	} else {
		begin(&b.heads, "", "")
	}
}

// setHeads makes the heads of the keys anew.
func (l *leaf) setHeads() {
	n := len(l.ents)
	if n == 0 {
		begin(&l.heads, "", "")
		return
	}
	begin(&l.heads, l.key(0), l.key(n-1))
	for i := range l.ents {
		appendHead(&l.heads, l.key(i))
	}
}

// insert puts a new entry at q, as seek gave it.
func (p *pages) insert(q pos, k, v []byte, flags uint8) {
	l := p.leaf(q)
	l.touched, l.frozen = true, l.frozen || flags&flagFrozen != 0
	before := l.mem()
	off := uint32(len(l.data))
	p.append(l, k, v)
	l.ents = slices.Insert(l.ents, q.i, cell{off, uint32(len(k)), uint32(len(v)), flags})
	// What keys have in common is known better as they grow more.
	if n := len(l.ents); n&(n-1) == 0 || !l.heads.insert(q.i, k) {
		l.setHeads()
	}
	p.bytes += l.mem() - before
	p.n++
	if len(l.ents) > leafCells || len(l.data) > leafBytes && len(l.ents) > 1 {
		p.split(q)
	}
}

// append appends a key and its value, which may lie in the leaf, to the data of a leaf.
func (p *pages) append(l *leaf, k, v []byte) {
	if need := len(l.data) + len(k) + len(v); need > cap(l.data) {
		old := l.data
		l.data = append(append(append(p.spare.take(max(need, min(2*cap(old), cap(old)+cap(old)/4+192))), old...), k...), v...)
		p.spare.give(old, p.bytes)
		return
	}
	l.data = append(append(l.data, k...), v...)
}

func (l *leaf) mem() int64 {
	return int64(leafFixed + cap(l.data) + cellBytes*cap(l.ents) + 8*cap(l.heads.h))
}

// replace changes the value of entry q.
func (p *pages) replace(q pos, v []byte) {
	l := p.leaf(q)
	l.touched = true
	c := &l.ents[q.i]
	if len(v) <= int(c.vlen) {
		l.garbage += int(c.vlen) - len(v)
		copy(l.data[c.off+c.klen:], v)
		c.vlen = uint32(len(v))
		return
	}
	before := l.mem()
	l.garbage += int(c.klen + c.vlen)
	off := uint32(len(l.data))
	p.append(l, l.key(q.i), v)
	c.off, c.vlen = off, uint32(len(v))
	if l.garbage > 512 && l.garbage > len(l.data)/2 {
		p.pack(l)
	}
	p.bytes += l.mem() - before
	if len(l.data)-l.garbage > leafBytes && len(l.ents) > 1 {
		p.split(q)
	}
}

// pack rewrites the leaf's bytes in key order, without garbage.
func (p *pages) pack(l *leaf) {
	old := l.data
	p.packFrom(l, old)
	p.spare.give(old, p.bytes)
}

// packFrom makes the leaf's bytes of those that its entries have in data.
func (p *pages) packFrom(l *leaf, data []byte) {
	n := 0
	for i := range l.ents {
		n += int(l.ents[i].klen + l.ents[i].vlen)
	}
	l.data, l.garbage = p.spare.take(n+64), 0
	for i := range l.ents {
		c := &l.ents[i]
		off := uint32(len(l.data))
		l.data = append(l.data, data[c.off:c.off+c.klen+c.vlen]...)
		c.off = off
	}
}

// split halves the leaf at q; of a leaf that grew at its end, only the last
// entries go, so that ascending keys fill leaves.
func (p *pages) split(q pos) {
	l, b := p.leaf(q), p.top[q.b]
	before := l.mem()
	cut := len(l.ents) / 2
	if q.i == len(l.ents)-1 && cut > 1 {
		cut = len(l.ents) - 1
	}
	data := l.data
	r := p.spare.takeLeaf()
	r.ents = append(r.ents, l.ents[cut:]...)
	r.touched, r.gen, r.frozen = true, l.gen, l.frozen
	p.packFrom(r, data)
	l.ents = l.ents[:cut]
	if cut < leafCells && cap(l.ents) > leafCells+1 {
		l.ents = append(make([]cell, 0, leafCells+1), l.ents...)
	}
	p.packFrom(l, data)
	p.spare.give(data, p.bytes)
	l.setHeads()
	r.setHeads()
	p.bytes += l.mem() + r.mem() - before
	b.leaves = slices.Insert(b.leaves, q.l+1, r)
	b.seps = slices.Insert(b.seps, q.l+1, string(r.key(0)))
	if len(b.leaves) <= branchWidth {
		b.setHeads()
		return
	}
	h := len(b.leaves) / 2
	if q.l+1 == len(b.leaves)-1 {
		h = len(b.leaves) - 1
	}
	nb := &branch{
		seps:   append(make([]string, 0, branchWidth+1), b.seps[h:]...),
		leaves: append(make([]*leaf, 0, branchWidth+1), b.leaves[h:]...),
	}
	clear(b.leaves[h:])
	b.seps, b.leaves = b.seps[:h], b.leaves[:h]
	p.top = slices.Insert(p.top, q.b+1, nb)
	b.setHeads()
	nb.setHeads()
	p.setHeads()
}

// remove takes entry q out.
func (p *pages) remove(q pos) {
	l := p.leaf(q)
	l.touched = true
	before := l.mem()
	l.garbage += int(l.ents[q.i].klen + l.ents[q.i].vlen)
	l.ents = slices.Delete(l.ents, q.i, q.i+1)
	l.heads.remove(q.i)
	p.n--
	if l.garbage > 512 && l.garbage > len(l.data)/2 {
		p.pack(l)
	}
	p.bytes += l.mem() - before
	p.shrink(q)
}

// shrink removes the leaf at q if it is empty, or joins it with the next one if both together leave room in one: where entries come and go,
// leaves would else become emptier for ever.
func (p *pages) shrink(q pos) {
	b := p.top[q.b]
	l := b.leaves[q.l]
	if len(l.ents) == 0 {
		p.dropLeaf(q)
		return
	}
	if len(l.ents) > leafCells/3 || q.l+1 >= len(b.leaves) {
		return
	}
	r := b.leaves[q.l+1]
	if p.pending && l.gen != r.gen || len(l.ents)+len(r.ents) > leafCells*3/4 || len(l.data)+len(r.data) > leafBytes/2 {
		return
	}
	before := l.mem()
	base := uint32(len(l.data))
	p.append(l, r.data, nil)
	for _, c := range r.ents {
		c.off += base
		l.ents = append(l.ents, c)
	}
	l.garbage += r.garbage
	l.touched, l.frozen = l.touched || r.touched, l.frozen || r.frozen
	l.setHeads()
	p.bytes += l.mem() - before
	p.dropLeaf(pos{q.b, q.l + 1, 0})
}

func (p *pages) dropLeaf(q pos) {
	b := p.top[q.b]
	if len(b.leaves) == 1 && len(p.top) == 1 {
		return
	}
	l := b.leaves[q.l]
	p.bytes -= l.mem()
	p.spare.giveLeaf(l, p.bytes)
	b.leaves = slices.Delete(b.leaves, q.l, q.l+1)
	b.seps = slices.Delete(b.seps, q.l, q.l+1)
	if len(b.leaves) == 0 {
		p.top = slices.Delete(p.top, q.b, q.b+1)
	} else {
		b.setHeads()
	}
	if first := p.top[0]; first.seps[0] != "" {
		first.seps[0] = ""
	}
	if q.l == 0 {
		p.setHeads()
	}
}

// dropWhole takes out all entries of the leaf at q.
func (p *pages) dropWhole(q pos) {
	l := p.leaf(q)
	before := l.mem()
	p.n -= len(l.ents)
	l.ents, l.data, l.garbage, l.touched = l.ents[:0], l.data[:0], 0, true
	l.setHeads()
	p.bytes += l.mem() - before
	p.dropLeaf(q)
}

// norm moves q, which may be at the end of a leaf, to the entry that follows; false at the end.
func (p *pages) norm(q *pos) bool {
	for q.i >= len(p.top[q.b].leaves[q.l].ents) {
		q.i = 0
		if q.l++; q.l == len(p.top[q.b].leaves) {
			q.l = 0
			if q.b++; q.b == len(p.top) {
				*q = pos{len(p.top) - 1, len(p.top[len(p.top)-1].leaves) - 1, 0}
				q.i = len(p.leaf(*q).ents)
				return false
			}
		}
	}
	return true
}

// back moves q to the entry before it; false at the beginning.
func (p *pages) back(q *pos) bool {
	for q.i == 0 {
		if q.l == 0 {
			if q.b == 0 {
				return false
			}
			q.b--
			q.l = len(p.top[q.b].leaves)
		}
		q.l--
		q.i = len(p.leaf(*q).ents)
	}
	q.i--
	return true
}

// end is the place behind the last entry.
func (p *pages) end() pos {
	b := len(p.top) - 1
	l := len(p.top[b].leaves) - 1
	return pos{b, l, len(p.top[b].leaves[l].ents)}
}
