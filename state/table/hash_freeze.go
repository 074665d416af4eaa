package table

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	bucketKeyBytes = 3   // of the tag, in keys on disk: where the bucket begins
	bucketUnits    = 32  // a bucket has half as many entries or more when the table is laid out
	mostUnits      = 128 // so many on average are too many
	unitBytes      = 128 // bytes on disk that count as an entry
	fewBits        = 6   // a table with up to so many bits is not laid out anew because it became smaller
	beforeLarge    = 8   // where a space takes such a part of its budget, tables may become larger than that, and can't be laid out anew then
	whenLarge      = 32  // so many times
	crampedUnits   = 32  // more in a bucket of a partial table are too many, if the table is small
	crampedBits    = 16  // of such a table then: entries have buckets of their own, until it is no longer small
	fewBytes       = 1 << 20
	partOfBudget   = 32      // so large a part of it is little, too
	mostAtOnce     = 8 << 20 // bytes that are read at once so that a table can be laid out anew
	maxBuckets     = 8 * bucketKeyBytes
)

// layOut decides how many buckets the table has on disk, at a Freeze that finds so many entries changed. fresh says that it is written over nothing, again that it
// was written before, and all of it must be.
func (t *Hash) layOut(f *Frozen, dirty int) (fresh, again bool) {
	n, sp, grown, cramped := t.units(t.used-t.tombs), t.inf.sp, 1, t.cramped
	t.cramped = false
	if sp.budget > 0 && sp.mem.Load() > sp.budget/beforeLarge {
		grown = whenLarge
	}
	size := max(n, t.units(t.expect))
	bits := bucketsOf(size * grown)
	if cramped {
		bits = max(bits, crampedBits)
	}
	if !t.laid {
		t.bits, t.laid = bits, true
		return true, false
	}
	most, least := cramped || n>>t.bits > mostUnits, t.bits > fewBits && size < 1<<t.bits/whenLarge
	if !most && !least || t.disk.partial || bits == t.bits || !sp.hasRoomFor(t.copyBytes(t.used-dirty)) {
		return false, false
	}
	t.bits = bits
	f.ranges = append(f.ranges, Range{t.prefix, PrefixEnd(t.prefix)})
	return true, true
}

// uncramp reads back all of a small partial table that changes and has many entries in a bucket, so that the next Freeze finds all of it and lays it out anew. Of
// a table that is still small when something of it is dropped from memory, all that comes later would be in a few buckets for ever.
func (t *Hash) uncramp() {
	n, all := t.units(t.used-t.tombs+int(t.disk.absent)), t.Len()
	size := max(all*t.entryBytes(), (int64(n)-all)*unitBytes)
	if t.dirty > 0 && n>>t.bits > crampedUnits && t.bits < crampedBits && size <= mostAtOnce && t.inf.sp.isLittle(size) {
		t.fetchAll()
		t.cramped = true
	}
}

// copyBytes gives what copies of n entries occupy, about.
func (t *Hash) copyBytes(n int) int64 {
	return max(int64(n)*unitBytes/4, int64(t.units(n)-n)*unitBytes)
}

// isLittle says of bytes that they may come on top of the budget.
func (s *Space) isLittle(n int64) bool { return n <= max(fewBytes, s.budget/partOfBudget) }

func (s *Space) hasRoomFor(n int64) bool { return s.isLittle(n) || s.hasRoom(n) }

// units gives the size of n entries on disk, about: their number, or more if they are long.
func (t *Hash) units(n int) int {
	if t.used == 0 || n == 0 {
		return n
	}
	each := 4 + 3*t.w + (len(t.arena)-t.waste+int(t.blobBytes))/t.used
	return n * max(each, unitBytes) / unitBytes
}

func bucketsOf(units int) uint { return uint(min(bits.Len(uint(units/bucketUnits)), maxBuckets)) }

// bucketOf gives the number of the bucket of a hash.
func bucketOf(tag uint32, bits uint) uint32 { return uint32(uint64(tag) >> (32 - bits)) }

// appendBucketKey appends the key on disk of a bucket.
func appendBucketKey(dst, prefix []byte, bucket uint32, bits uint) []byte {
	at := bucket << (maxBuckets - bits)
	return append(append(dst, prefix...), byte(at>>16), byte(at>>8), byte(at))
}

// hashPart is what the writer has to know of a part of a Hash. Its changes are not those that are written: the keys are the tag 4 and the number of an int key 8,
// big-endian, or the key.
type hashPart struct {
	prefix []byte
	ints   bool
	fresh  bool // there is nothing to merge with
	bits   uint // of buckets
	log    uint // leading bits of the hash that the part is of
}

// fan adds the parts of a Hash of which n entries changed. There are 2^log of them, by the leading bits of the hash, so that the writer has few
// enough in each to find them in its caches when it sorts them.
func (f *Frozen) fan(t *Hash, n int, fresh bool) (parts []*part, log uint) {
	if n > 4*perPart {
		log = min(uint(bits.Len(uint(n/perPart))), maxPartLog, t.bits)
	}
	parts = f.newParts(t.prefix, 1<<log)
	all := &hashPart{t.prefix, t.intKey, fresh, t.bits, log}
	for _, p := range parts {
		p.hash, p.want = all, n>>log
	}
	return parts, log
}

// settle copies an entry that is pending, before it changes.
func (t *Hash) settle(s int32) {
	t.flags[s] &^= flagPending
	del := t.flags[s]&flagTomb != 0
	if del && t.fz.fresh {
		return
	}
	tag := t.tagOf(s)
	p := t.fz.parts[uint64(tag)>>(32-t.fz.log)]
	if t.intKey {
		b := p.room(12 + t.valueRoom(s))
		off := len(b)
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, tag), number(t.KeyInt(s)))
		p.put(t.appendValue(b, s, del), off, 12, del)
		return
	}
	key := t.Key(s)
	b := p.room(4 + len(key) + t.valueRoom(s))
	off := len(b)
	b = append(binary.BigEndian.AppendUint32(b, tag), key...)
	p.put(t.appendValue(b, s, del), off, 4+len(key), del)
}

// valueRoom is what the value of an entry takes at most.
func (t *Hash) valueRoom(s int32) int {
	return binary.MaxVarintLen64*(t.w+t.nrare) + 2 + len(t.Blob(s))
}

func (t *Hash) appendValue(b []byte, s int32, del bool) []byte {
	if del {
		return b
	}
	return appendWords(b, t.Words(s), t.rareOf(s), t.Blob(s))
}

// changeRef locates a change in a part of a Hash. num is the number of an int key, or how another key goes on behind what those of its bucket have in common.
type changeRef struct {
	num                uint64
	bucket, block, off uint32
}

// bucketSorter makes blocks of the changes in parts of Hash tables, and keeps its memory from one to the next.
type bucketSorter struct {
	a, b []changeRef
	at   []uint32
	w    blockWriter
	key  []byte
	val  []byte
}

// eachBlock calls g for the blocks of a part in the order of their keys; what it is given is valid during the call.
func (s *bucketSorter) eachBlock(p *part, g func(c Change) error) error {
	refs, kind := s.sort(p), bytesBlock
	if p.hash.ints {
		kind = intBlock
	}
	for i := 0; i < len(refs); {
		bucket := refs[i].bucket
		s.w.begin(s.w.b[:0], kind)
		for ; i < len(refs) && refs[i].bucket == bucket; i++ {
			c, _ := p.change(refs[i].block, refs[i].off)
			if p.hash.ints {
				s.w.addInt(refs[i].num, c.Val, c.Delete)
			} else {
				s.w.addBytes(c.Key[4:], c.Val, c.Delete)
			}
		}
		s.key = appendBucketKey(s.key[:0], p.hash.prefix, bucket, p.hash.bits)
		s.val = appendBlock(s.val[:0], s.w.b)
		if err := g(Change{Key: s.key, Val: s.val, Merge: !p.hash.fresh}); err != nil {
			return err
		}
	}
	return nil
}

// sort gives the changes of a part by bucket and key. They are distributed by bucket first: then there are few to compare.
func (s *bucketSorter) sort(p *part) []changeRef {
	h := p.hash
	s.a = slices.Grow(s.a[:0], p.n)
	for i, b := range p.blocks {
		for off := 0; off < len(b); {
			r := b[off:]
			x := changeRef{bucket: bucketOf(binary.BigEndian.Uint32(r[header:]), h.bits), block: uint32(i), off: uint32(off)}
			if h.ints {
				x.num = binary.BigEndian.Uint64(r[header+4:])
			}
			s.a = append(s.a, x)
			off += header + int(binary.LittleEndian.Uint32(r))
			if n := binary.LittleEndian.Uint32(r[4:]); n != deleted {
				off += int(n)
			}
		}
	}
	within := h.bits - h.log
	d := min(within, uint(bits.Len(uint(len(s.a)))))
	shift, mask := within-d, uint32(1)<<d-1
	s.at = append(s.at[:0], make([]uint32, 1<<d+1)...)
	s.b = slices.Grow(s.b[:0], len(s.a))[:len(s.a)]
	at := s.at
	for i := range s.a {
		at[s.a[i].bucket>>shift&mask+1]++
	}
	for i := 1; i < len(at); i++ {
		at[i] += at[i-1]
	}
	for i := range s.a {
		k := s.a[i].bucket >> shift & mask
		s.b[at[k]] = s.a[i]
		at[k]++
	}
	lo := uint32(0)
	for _, hi := range at[:1<<d] { // which begin where the next one began
		if refs := s.b[lo:hi]; len(refs) > 1 {
			if !h.ints {
				p.setHeads(refs)
			}
			p.sortRefs(refs)
		}
		lo = hi
	}
	return s.b
}

// setHeads gives bytes keys a number by which most can be compared.
func (p *part) setHeads(refs []changeRef) {
	key := func(i int) []byte {
		c, _ := p.change(refs[i].block, refs[i].off)
		return c.Key[4:]
	}
	first := key(0)
	n := len(first) // bytes that all have in common
	for i := 1; i < len(refs); i++ {
		k, l := key(i), 0
		for n = min(n, len(k)); l < n && k[l] == first[l]; l++ {
		}
		n = l
	}
	for i := range refs {
		refs[i].num = Head(key(i)[n:])
	}
}

func (p *part) sortRefs(refs []changeRef) {
	if len(refs) > byInsertion {
		slices.SortFunc(refs, p.compare)
		return
	}
	for i := 1; i < len(refs); i++ {
		r := refs[i]
		k := i
		for ; k > 0; k-- {
			if q := &refs[k-1]; q.bucket < r.bucket || q.bucket == r.bucket && (q.num < r.num || q.num == r.num && p.compare(*q, r) < 0) {
				break
			}
			refs[k] = refs[k-1]
		}
		refs[k] = r
	}
}

func (p *part) compare(a, b changeRef) int {
	if c := cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.num, b.num)); c != 0 || p.hash.ints {
		return c
	}
	x, _ := p.change(a.block, a.off)
	y, _ := p.change(b.block, b.off)
	return bytes.Compare(x.Key[4:], y.Key[4:])
}
