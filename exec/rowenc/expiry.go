package rowenc

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/reuse"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// Never is the expiry of a key that is kept for good. It is not entered in the list.
const Never = math.MaxInt64

// chunkKeys is the most keys in one chunk: enough to make an entry of the table cheap per key, few enough to rewrite a
// chunk of which some keys expired.
const chunkKeys = 512

// Expiry lists keys by the time at which they expire, so that forgetting them costs in proportion to what is forgotten. The new keys of an epoch
// are sorted by time and cut into chunks. Its keys are all integers or all bytes.
//
// State: key = first time (8 bytes), epoch (8 bytes; Stamp less one), number of the chunk within it (4 bytes). Value = for each key, by ascending
// time: time since the one before (uvarint; the first is 0), and the key: a varint for integers, else length (uvarint) and bytes.
type Expiry struct {
	chunks   *table.Ordered
	fresh    []freshKey
	spare    []freshKey
	ints     bool   // keys of fresh are integers
	data     []byte // of fresh bytes keys
	key, val []byte

	// What expire is about, and its memory.
	until       int64
	any         bool // there were chunks
	forgetInt   func(at, key int64)
	forgetBytes func(at int64, key []byte)
	visit       func(key, val []byte) bool
	left        []rest
	leftData    []byte
}

// freshKey is a key that was added in this epoch: an integer, or a stretch of data as offset<<32 | length.
type freshKey struct {
	at, x int64
}

// NewExpiry declares the table of a list.
func NewExpiry(sp *table.Space, opID int, name string) *Expiry {
	return &Expiry{chunks: sp.Ordered(table.Decl{Operator: opID, Name: name,
		Key:   []table.Column{{Name: "first", Type: types.Of(types.Int8)}, {Name: "epoch", Type: types.Of(types.Int8)}, {Name: "chunk", Type: types.Of(types.Int4)}},
		Value: []table.Column{{Name: "keys", Type: types.Of(types.Bytea)}}})}
}

// AddInt enters an integer key that expires at a time; Write puts it into the table.
func (e *Expiry) AddInt(at, key int64) {
	if at != Never {
		e.fresh, e.ints = append(e.fresh, freshKey{at, key}), true
	}
}

// AddBytes enters a copy of a bytes key.
func (e *Expiry) AddBytes(at int64, key []byte) {
	if at != Never {
		e.fresh, e.ints = append(e.fresh, freshKey{at, int64(len(e.data))<<32 | int64(len(key))}), false
		e.data = append(e.data, key...)
	}
}

// Write puts the keys that were added into the table. It is called once a run of an epoch at most, since chunks are named by these.
func (e *Expiry) Write(ep *dataflow.Epoch) {
	e.sort()
	for n := 0; n*chunkKeys < len(e.fresh); n++ {
		part := e.fresh[n*chunkKeys : min((n+1)*chunkKeys, len(e.fresh))]
		e.val = e.val[:0]
		last := part[0].at
		for _, k := range part {
			e.val = binary.AppendUvarint(e.val, uint64(k.at-last))
			last = k.at
			if e.ints {
				e.val = binary.AppendVarint(e.val, k.x)
				continue
			}
			key := e.data[k.x>>32:][:k.x&math.MaxUint32]
			e.val = append(binary.AppendUvarint(e.val, uint64(len(key))), key...)
		}
		e.key = binary.BigEndian.AppendUint64(AppendTime(e.key[:0], part[0].at), uint64(ep.Stamp()-1))
		e.key = binary.BigEndian.AppendUint32(e.key, uint32(n))
		e.chunks.Put(e.key, e.val)
	}
	e.fresh, e.data = e.fresh[:0], e.data[:0]
}

// radixBits are the bits of a time that one pass of sort looks at, and radixFrom is from how many keys on they pay.
const (
	radixBits = 11
	radixFrom = 1 << 9
)

// sort orders the fresh keys by time; those of one time stay in the order in which they came.
func (e *Expiry) sort() {
	if len(e.fresh) < radixFrom {
		slices.SortStableFunc(e.fresh, func(a, b freshKey) int { return cmp.Compare(a.at, b.at) })
		return
	}
	first, last, sorted := e.fresh[0].at, e.fresh[0].at, true
	for i, k := range e.fresh[1:] {
		first, last = min(first, k.at), max(last, k.at)
		sorted = sorted && e.fresh[i].at <= k.at
	}
	if sorted {
		return
	}
	if cap(e.spare) < len(e.fresh) {
		e.spare = make([]freshKey, cap(e.fresh))
	}
	from, to := e.fresh, e.spare[:len(e.fresh)]
	for shift := 0; shift < 64 && uint64(last-first)>>shift > 0; shift += radixBits {
		var at [1 << radixBits]int32
		for i := range from {
			at[uint64(from[i].at-first)>>shift&(1<<radixBits-1)]++
		}
		sum := int32(0)
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, k := range from {
			d := uint64(k.at-first) >> shift & (1<<radixBits - 1)
			to[at[d]] = k
			at[d]++
		}
		from, to = to, from
	}
	e.fresh, e.spare = from, to
}

// ExpireInts calls forget for every integer key that expires at or before until, with its time, and takes it off the list. forget may add keys.
func (e *Expiry) ExpireInts(until int64, forget func(at, key int64)) {
	e.forgetInt = forget
	e.expire(until)
	e.forgetInt = nil
}

// ExpireBytes is ExpireInts for bytes keys, which are valid during the call.
func (e *Expiry) ExpireBytes(until int64, forget func(at int64, key []byte)) {
	e.forgetBytes = forget
	e.expire(until)
	e.forgetBytes = nil
}

// rest is what is left of a chunk: the places in leftData where its key and its value end.
type rest struct{ key, val int }

// expire walks the chunks that begin at or before until.
func (e *Expiry) expire(until int64) {
	if e.visit == nil {
		e.visit = e.visitChunk
	}
	reuse.Bytes(e.leftData)
	e.until, e.any, e.left, e.leftData = until, false, e.left[:0], e.leftData[:0]
	e.key = AfterTime(e.key[:0], until)
	e.chunks.Scan(nil, e.key, e.visit)
	if !e.any {
		return
	}
	e.chunks.DeleteRange(nil, e.key)
	from := 0
	for _, r := range e.left {
		e.chunks.Put(e.leftData[from:r.key], e.leftData[r.key:r.val])
		from = r.val
	}
}

// visitChunk forgets the keys of a chunk that expire, and notes the rest of it.
func (e *Expiry) visitChunk(key, val []byte) bool {
	e.any = true
	at := ReadTime(key)
	for len(val) > 0 {
		delta, b := Uvarint(val)
		at += int64(delta)
		if at > e.until {
			e.leftData = append(AppendTime(e.leftData, at), key[TimeLen:]...)
			k := len(e.leftData)
			e.leftData = append(append(e.leftData, 0), b...)
			e.left = append(e.left, rest{k, len(e.leftData)})
			return true
		}
		if e.forgetInt != nil {
			var k int64
			k, val = Varint(b)
			e.forgetInt(at, k)
			continue
		}
		n, b := Uvarint(b)
		e.forgetBytes(at, b[:n])
		val = b[n:]
	}
	return true
}

// MemBytes gives the memory that the list occupies, about.
func (e *Expiry) MemBytes() int64 { return e.chunks.MemBytes() }
