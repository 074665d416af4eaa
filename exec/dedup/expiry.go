package dedup

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// never is the expiry of a key that is kept for good. It is not entered in the list.
const never = math.MaxInt64

// chunkKeys is the most keys in one chunk: enough to make an entry of the table cheap per key, few enough to rewrite a
// chunk of which some keys expired.
const chunkKeys = 512

// expiry lists keys by the time at which they expire. The new keys of an epoch are sorted by time and cut into chunks.
//
// State: key = first time (8 bytes), epoch (8 bytes), number of the chunk within it (4 bytes). Value = for each key, by ascending
// time: time since the one before (uvarint; the first is 0), and the key: a varint for integers, else length (uvarint) and bytes.
type expiry struct {
	chunks *table.Ordered
	fresh  []freshKey
	data   []byte // of fresh bytes keys
	val    []byte
}

// freshKey is a key that was added in this epoch: an integer, or a stretch of data.
type freshKey struct {
	at   int64
	x    int64 // the integer, or offset<<32 | length
	isIn bool  // x is the integer
}

func newExpiry(sp *table.Space, opID int) *expiry {
	return &expiry{chunks: sp.Ordered(table.Decl{Operator: opID, Name: "expiry",
		Key:   []table.Column{{Name: "first", Type: types.Of(types.Int8)}, {Name: "epoch", Type: types.Of(types.Int8)}, {Name: "chunk", Type: types.Of(types.Int4)}},
		Value: []table.Column{{Name: "keys", Type: types.Of(types.Bytea)}}})}
}

func (e *expiry) addInt(at, key int64) {
	if at != never {
		e.fresh = append(e.fresh, freshKey{at, key, true})
	}
}

func (e *expiry) addBytes(at int64, key []byte) {
	if at != never {
		e.fresh = append(e.fresh, freshKey{at, int64(len(e.data))<<32 | int64(len(key)), false})
		e.data = append(e.data, key...)
	}
}

// write puts the epoch's new keys into the table.
func (e *expiry) write(epoch uint64) {
	byTime := func(a, b freshKey) int { return cmp.Compare(a.at, b.at) }
	if !slices.IsSortedFunc(e.fresh, byTime) {
		slices.SortStableFunc(e.fresh, byTime)
	}
	for n := 0; n*chunkKeys < len(e.fresh); n++ {
		part := e.fresh[n*chunkKeys : min((n+1)*chunkKeys, len(e.fresh))]
		e.val = e.val[:0]
		last := part[0].at
		for _, k := range part {
			e.val = binary.AppendUvarint(e.val, uint64(k.at-last))
			last = k.at
			if k.isIn {
				e.val = binary.AppendVarint(e.val, k.x)
				continue
			}
			key := e.data[k.x>>32:][:k.x&math.MaxUint32]
			e.val = append(binary.AppendUvarint(e.val, uint64(len(key))), key...)
		}
		key := binary.BigEndian.AppendUint64(rowenc.AppendTime(nil, part[0].at), epoch)
		e.chunks.Put(binary.BigEndian.AppendUint32(key, uint32(n)), e.val)
	}
	e.fresh, e.data = e.fresh[:0], e.data[:0]
}

// expireInts calls forget for every integer key that expires at or before until, and takes it off the list.
func (e *expiry) expireInts(until int64, forget func(key int64)) {
	e.expire(until, func(b []byte, expired bool) []byte {
		k, b := rowenc.Varint(b)
		if expired {
			forget(k)
		}
		return b
	})
}

// expireBytes is expireInts for bytes keys, which are valid during the call.
func (e *expiry) expireBytes(until int64, forget func(key []byte)) {
	e.expire(until, func(b []byte, expired bool) []byte {
		n, b := rowenc.Uvarint(b)
		if expired {
			forget(b[:n])
		}
		return b[n:]
	})
}

// rest is what is left of a chunk.
type rest struct {
	key, val []byte
}

// expire walks the chunks that begin at or before until. read takes one key off the front and, if told so, forgets it.
func (e *expiry) expire(until int64, read func(b []byte, expired bool) []byte) {
	hi := rowenc.AfterTime(nil, until)
	var left []rest
	any := false
	e.chunks.Scan(nil, hi, func(key, val []byte) bool {
		any = true
		at := rowenc.ReadTime(key)
		for len(val) > 0 {
			delta, b := rowenc.Uvarint(val)
			at += int64(delta)
			if at > until {
				k := append(rowenc.AppendTime(nil, at), key[rowenc.TimeLen:]...)
				left = append(left, rest{k, append([]byte{0}, b...)})
				return true
			}
			val = read(b, true)
		}
		return true
	})
	if !any {
		return
	}
	e.chunks.DeleteRange(nil, hi)
	for _, r := range left {
		e.chunks.Put(r.key, r.val)
	}
}
