package table

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// The keys of an Expiring lie on disk as the rows of a Stretches do, with weight 1 and without a body; an int key has eight bytes, little-endian.
// Where they lie, and what is known of those that are on disk only, is by HashBytes of these bytes.

// coldKeys is what is known of the keys of a stretch that are on disk only.
type coldKeys struct {
	known  bool // filter has them all
	filter filter
}

// coldSearch is a search for keys that are on disk only.
type coldSearch struct {
	found  []bool // by row of the batch
	missed []coldKey
	sought []coldKey // in one stretch
	parts  []*stretch
}

// coldKey is the key of a row of the batch, which memory does not have.
type coldKey struct {
	hash uint64
	row  int32
}

// leaving is an eviction: what of the first stretch has been entered into its filter.
type leaving struct {
	list   []*stretch // of which keys are to be dropped; some are perhaps dropped
	begun  bool       // with the first
	at, to int        // places of it
	moves  int        // as the stretch had them when it was begun
	sweep  bool       // the index is yet to be swept
}

func (t *Expiring) info() *tableInfo             { return t.rows.inf }
func (t *Expiring) dirtyEntries() int64          { return t.rows.dirty }
func (t *Expiring) heldEntries() int64           { return t.rows.heldEntries() }
func (t *Expiring) freeze(f *Frozen, meta *part) { t.rows.freeze(f, meta) }
func (t *Expiring) freezing() bool               { return false }
func (t *Expiring) copyFrozen(n int) int         { return n }
func (t *Expiring) beginThaw()                   { t.rows.beginThaw() }
func (t *Expiring) thaw(n int) int               { return max(n, 1) }
func (t *Expiring) load(max int64) bool          { return t.rows.load(max) }

func (t *Expiring) clear() { *t = *newExpiring(t.rows.inf) }

// reopen finds the keys on disk.
func (t *Expiring) reopen() {
	t.rows.reopen()
	for _, x := range t.rows.list {
		t.live += x.live
	}
}

// each gives the time of a key as its word.
func (t *Expiring) each(f func(e *Entry) bool) bool {
	e, going := Entry{Words: make([]int64, 1)}, true
	t.Each(func(ik int64, key []byte, time int64) bool {
		e.Int, e.Key, e.Words[0] = ik, key, time
		going = f(&e)
		return going
	})
	return going
}

// partial gives the stretches of which something stays on disk only: what there is room for comes into memory.
func (t *Expiring) partial() []*stretch {
	z := &t.cold
	z.parts = z.parts[:0]
	for _, x := range t.rows.list {
		if x.base == 0 {
			continue
		}
		if t.rows.inf.sp.hasRoom(x.base * stretchRow) {
			t.rows.loadStretch(x)
			continue
		}
		if !x.cold.known {
			t.learn(x)
		}
		z.parts = append(z.parts, x)
	}
	return z.parts
}

// learn makes the filter of a stretch after a restart.
func (t *Expiring) learn(x *stretch) {
	x.cold = coldKeys{known: true}
	t.rows.recount(x)
	t.rows.scanChunks(x, 0, 1<<16, func(d diskRow) bool {
		if !x.expired(d.time) {
			x.cold.filter.add(HashBytes(d.key), int(x.base), false)
		}
		return true
	})
}

// coldInts says of the int keys of rows which are there, but on disk only; nil: none is.
func (t *Expiring) coldInts(keys []int64, sel []int32) []bool {
	parts := t.partial()
	if len(parts) == 0 {
		return nil
	}
	t.beginCold(len(keys))
	var b [8]byte
	look := func(k int) {
		if _, _, found := t.findInt(uint64(keys[k]), hashInt(keys[k])); !found {
			binary.LittleEndian.PutUint64(b[:], uint64(keys[k]))
			t.cold.missed = append(t.cold.missed, coldKey{HashBytes(b[:]), int32(k)})
		}
	}
	if sel != nil {
		for _, k := range sel {
			look(int(k))
		}
	} else {
		for k := range keys {
			look(k)
		}
	}
	return t.search(parts, func(row int32, key []byte) bool { return int64(binary.LittleEndian.Uint64(key)) == keys[row] })
}

// coldBytes is coldInts for bytes keys, given as to AddBytes.
func (t *Expiring) coldBytes(hashes []uint64, off []uint32, data []byte) []bool {
	parts := t.partial()
	if len(parts) == 0 {
		return nil
	}
	t.beginCold(len(hashes))
	for k, h := range hashes {
		if _, _, found := t.findBytes(data[off[k]:off[k+1]], h); !found {
			t.cold.missed = append(t.cold.missed, coldKey{h, int32(k)})
		}
	}
	return t.search(parts, func(row int32, key []byte) bool { return string(key) == string(data[off[row]:off[row+1]]) })
}

func (t *Expiring) beginCold(rows int) {
	z := &t.cold
	z.found = slices.Grow(z.found[:0], rows)[:rows]
	clear(z.found)
	z.missed = z.missed[:0]
}

// search looks for the keys that were missed in stretches on disk. is says whether a row has a key.
func (t *Expiring) search(parts []*stretch, is func(row int32, key []byte) bool) []bool {
	z := &t.cold
	for _, x := range parts {
		z.sought = z.sought[:0]
		for _, m := range z.missed {
			if x.cold.filter.has(m.hash) && !z.found[m.row] {
				z.sought = append(z.sought, m)
			}
		}
		slices.SortFunc(z.sought, func(a, b coldKey) int { return cmp.Compare(a.hash, b.hash) })
		bucket := func(k coldKey) uint16 { return x.bucket(uint32(k.hash >> 32)) }
		for i := 0; i < len(z.sought); {
			lo := bucket(z.sought[i])
			hi, j := lo, i+1
			for ; j < len(z.sought) && int(bucket(z.sought[j])) <= int(hi)+nearBuckets; j++ {
				hi = bucket(z.sought[j])
			}
			keys := z.sought[i:j]
			t.rows.scanChunks(x, int(lo), int(hi)+1, func(d diskRow) bool {
				hash := HashBytes(d.key)
				k, _ := slices.BinarySearchFunc(keys, hash, func(k coldKey, hash uint64) int { return cmp.Compare(k.hash, hash) })
				for ; k < len(keys) && keys[k].hash == hash; k++ {
					if !x.expired(d.time) && is(keys[k].row, d.key) {
						z.found[keys[k].row] = true
					}
				}
				return true
			})
			i = j
		}
	}
	return z.found
}

// beginEvict has evictSome drop what is on disk of stretches, older ones first; those that got keys since the last eviction only with the most use.
func (t *Expiring) beginEvict(used uint8, want int64) {
	want -= t.spareBytes()
	t.rows.pool.blocks = nil
	z := &t.leaving
	*z = leaving{list: z.list[:0], sweep: true}
	if used > 0 && used < mostUsed {
		return // there are no degrees of it
	}
	for _, x := range t.rows.list {
		switch {
		case want <= 0:
			return
		case used == 0 && x.touched:
			x.touched = false
		case x.forgettable() > x.first:
			want -= x.memBytes() + int64(x.entered)*idBytes
			z.list = append(z.list, x)
		}
	}
}

// idBytes is about what a key takes in the index.
const idBytes = 32

// evictSome enters keys into the filter of their stretch, a part at a time, and lets go of them when all are; then it clears the index of them.
func (t *Expiring) evictSome(n int) int {
	z := &t.leaving
	for len(z.list) > 0 {
		x := z.list[0]
		switch {
		case n <= 0:
			return n
		case x.pool == nil: // it has expired
			z.list, z.begun = z.list[1:], false
			continue
		case !z.begun || z.moves != x.moves:
			z.begun, z.moves, z.at, z.to = true, x.moves, x.next(x.first), x.forgettable()
			x.cold.known = x.cold.known || x.base == 0
		}
		if n = t.remember(x, n); z.at < z.to {
			continue
		}
		to := z.to
		if to != x.end() {
			to = max(to&^(rowBlock-1), x.first) // others came
		}
		n -= int(x.rows - x.cleanRows)
		t.rows.forget(x, to)
		z.list, z.begun = z.list[1:], false
	}
	for z.sweep {
		if n <= 0 {
			return n
		}
		z.sweep = t.idx.step(true)
		n -= passCells / 16
	}
	return max(n, 1)
}

// remember enters about n keys of the stretch that is to go into its filter, and gives what is left of n.
func (t *Expiring) remember(x *stretch, n int) int {
	z := &t.leaving
	for z.at < z.to && n > 0 {
		r := x.look(z.at)
		if x.cold.known && !x.expired(r.time()) {
			x.cold.filter.add(HashBytes(r.key()), int(x.rows), false)
		}
		z.at = x.next(after(z.at, r))
		n--
	}
	t.rows.recount(x)
	return n
}
