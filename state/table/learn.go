package table

// What of a segment is only on disk gets into the filter as it is dropped. That is not so of a segment that was on disk when the table was opened, and
// the filter keeps what is not there any more. So a segment that is not known is read through once it was often missed in, and a filter
// that is mostly of what is gone is given up: its segments are not known then.

const (
	segMisses  = 2 // lowest of the bits of a segment's flags that count misses while it is not known
	missLimit  = 1<<6 - 1
	perMiss    = 512 // entries that are about as long to scan as one is to look for
	staleTimes = 4   // how many times more than there are entries a filter may have
)

// renewFilter gives the filter up if it is mostly of entries that are gone.
func (t *Hash) renewFilter() {
	d := &t.disk
	if int64(d.filter.n) <= staleTimes*(d.absent+int64(t.used))+filterMin {
		return
	}
	d.filter = filter{}
	for i, seg := range d.segs {
		if seg&segComplete == 0 {
			d.segs[i] = 0
		}
	}
}

// learn reads through the segments that are not known and often missed in, and gives the misses, which are in the order of tags, that are not
// answered by what it found. Of bytes keys, miss i is data[off[i]:off[i+1]].
func (t *Hash) learn(misses []miss, off []uint32, data []byte) []miss {
	d := &t.disk
	limit := int(min(max(d.absent/int64(len(d.segs))/perMiss, 4), missLimit))
	rest := misses[:0]
	for lo := 0; lo < len(misses); {
		seg := t.segment(misses[lo].tag)
		hi := lo + 1
		for hi < len(misses) && t.segment(misses[hi].tag) == seg {
			hi++
		}
		group := misses[lo:hi]
		lo = hi
		flags := &d.segs[seg]
		if *flags&segKnown != 0 {
			rest = append(rest, group...)
			continue
		}
		n := int(*flags>>segMisses) + len(group)
		if n < limit {
			*flags = *flags&(1<<segMisses-1) | uint8(n)<<segMisses
			rest = append(rest, group...)
			continue
		}
		t.readHashes(seg)
		*flags = *flags&(1<<segMisses-1) | segKnown
		for _, m := range group {
			hash := hashInt(m.key)
			if !t.intKey {
				hash = HashBytes(data[off[m.i]:off[m.i+1]])
			}
			if d.filter.has(hash) {
				rest = append(rest, m)
			}
		}
	}
	return rest
}

// readHashes puts what is on disk of a segment into the filter.
func (t *Hash) readHashes(seg uint32) {
	d := &t.disk
	lo, hi := t.segmentRange(seg)
	t.eachOnDisk(lo, hi, func(r *blockReader) bool {
		hash := hashInt(numbered(r.num))
		if !t.intKey {
			hash = HashBytes(r.key)
		}
		d.filter.add(hash, int(d.absent), false)
		return true
	})
}

// segmentRange gives the range of the keys on disk of a segment.
func (t *Hash) segmentRange(seg uint32) (lo, hi []byte) {
	n := t.disk.segBits
	lo, hi = appendBucketKey(nil, t.prefix, seg, n), PrefixEnd(t.prefix)
	if seg+1 < 1<<n {
		hi = appendBucketKey(nil, t.prefix, seg+1, n)
	}
	return lo, hi
}
