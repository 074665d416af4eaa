package table

import (
	"encoding/binary"
	"math/bits"
)

// How the records of a stretch become chunks, on the goroutine that writes the checkpoint.

// chunks puts the records into p, by bucket and number. It reads them twice in the order in which they lie, and never one by one where they
// happen to be: once to see how long the chunk of each bucket becomes, and once to write them there.
func (x *stretch) chunks(p *part) {
	n := 1 << x.bits
	size, first, last := make([]int, n), make([]uint32, n), make([]uint32, n)
	var buckets []uint16
	total, most := 0, 0
	x.each(x.first, func(_ uint32, r packed) bool {
		b := x.bucket(uint32(HashBytes(r.key()) >> 32))
		buckets = append(buckets, b)
		if size[b] == 0 {
			first[b], last[b] = r.num(), r.num()
		}
		l := x.rowLen(r, last[b])
		last[b] = r.num()
		size[b] += l
		total += l
		most = max(most, size[b])
		return most <= chunkBytes
	})
	if most > chunkBytes {
		x.chunksByRef(p) // there is more than one of a bucket
		return
	}
	buf, at := make([]byte, total), make([]int, n)
	for b, sum := 0, 0; b < n; b++ {
		at[b] = sum
		sum += size[b]
	}
	copy(last, first)
	x.each(x.first, func(_ uint32, r packed) bool {
		b := buckets[0]
		buckets = buckets[1:]
		at[b] = len(x.appendRow(buf[:at[b]], r, last[b]))
		last[b] = r.num()
		return true
	})
	var key []byte
	for b, l := range size {
		if l > 0 {
			key = appendChunkKey(key[:0], p.common, uint16(b), first[b])
			p.add(key, buf[at[b]-l:at[b]], false)
		}
	}
}

func appendChunkKey(dst, prefix []byte, bucket uint16, first uint32) []byte {
	dst = binary.BigEndian.AppendUint16(append(append(dst, prefix...), chunkKind), bucket)
	return binary.BigEndian.AppendUint32(dst, first)
}

// appendRow appends a record as a chunk has it, behind the one with the number last.
func (x *stretch) appendRow(dst []byte, r packed, last uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(r.num()-last))
	dst = binary.AppendUvarint(dst, uint64(r.time()-x.start))
	dst = binary.AppendVarint(dst, r.weight())
	k, body := r.key(), r.body()
	dst = append(binary.AppendUvarint(dst, uint64(len(k))), k...)
	return append(binary.AppendUvarint(dst, uint64(len(body))), body...)
}

// rowLen is the length of what appendRow appends.
func (x *stretch) rowLen(r packed, last uint32) int {
	w := r.weight()
	k, body := r.key(), r.body()
	return uvarintLen(uint64(r.num()-last)) + uvarintLen(uint64(r.time()-x.start)) + uvarintLen(uint64(w<<1^w>>63)) +
		uvarintLen(uint64(len(k))) + len(k) + uvarintLen(uint64(len(body))) + len(body)
}

func uvarintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// bucketRef is a record and its bucket.
type bucketRef struct {
	ref    uint32
	bucket uint16
}

// byBucket gives the records by bucket, and then as they came.
func (x *stretch) byBucket() []bucketRef {
	var all []bucketRef
	at := make([]uint32, 1<<x.bits+1)
	x.each(x.first, func(ref uint32, r packed) bool {
		b := x.bucket(uint32(HashBytes(r.key()) >> 32))
		all = append(all, bucketRef{ref, b})
		at[b+1]++
		return true
	})
	for i := 1; i < len(at); i++ {
		at[i] += at[i-1]
	}
	out := make([]bucketRef, len(all))
	for _, r := range all {
		out[at[r.bucket]] = r
		at[r.bucket]++
	}
	return out
}

// chunksByRef puts the records into p, by bucket and number, whatever their size.
func (x *stretch) chunksByRef(p *part) {
	all := x.byBucket()
	var key, val []byte
	for i := 0; i < len(all); {
		first := x.record(all[i].ref).num()
		last, b := first, all[i].bucket
		for val = val[:0]; i < len(all) && all[i].bucket == b && len(val) < chunkBytes; i++ {
			r := x.record(all[i].ref)
			val = x.appendRow(val, r, last)
			last = r.num()
		}
		key = appendChunkKey(key[:0], p.common, b, first)
		p.add(key, val, false)
	}
}
