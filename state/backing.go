package state

import (
	"bytes"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/state/table"
)

// Space opens the operator state of a view, as of the last checkpoint. The
// view's goroutine owns it, and declares its tables next; see package table.
// It panics with *table.Failure when the disk cannot be read.
func (s *Store) Space(view catalog.OID) *table.Space {
	b := &backing{st: s, prefix: relationKey(keySpace, view)}
	s.mu.Lock()
	s.backings[b] = struct{}{}
	s.mu.Unlock()
	return table.Open(b)
}

// backing reads one space. It reads Pebble as it is now: only checkpoints write
// there, and what a table has in memory hides what one changes.
type backing struct {
	st     *Store
	prefix []byte

	mu     sync.Mutex // the end of a checkpoint closes what is cached
	idle   *spaceIter
	points []*spaceIter // for Get
}

// maxPoints bounds the iterators that wait for the next Get: as many as partitions of a view that read at a time.
const maxPoints = 8

// spaceIter is an iterator over a space, as of a number of checkpoints.
type spaceIter struct {
	*pebble.Iterator
	gen uint64
	key []byte // memory for Get
}

// full appends the key in the store to dst.
func (b *backing) full(dst, k []byte) []byte { return append(append(dst, b.prefix...), k...) }

// Get reads through an iterator, because Pebble's own Get does not look at the filters of the last level, where nearly everything is:
// each key that is not there would cost the reading of a block.
func (b *backing) Get(k []byte, f func(val []byte)) error {
	it, err := b.point()
	if err != nil {
		return err
	}
	it.key = b.full(it.key[:0], k)
	if it.SeekPrefixGE(it.key) && bytes.Equal(it.Key(), it.key) {
		v, err := it.ValueAndErr()
		if err != nil {
			return errors.Join(err, b.putPoint(it))
		}
		f(v)
	}
	return errors.Join(it.Error(), b.putPoint(it))
}

// point takes an iterator for Get, or makes one. putPoint gives it back.
func (b *backing) point() (*spaceIter, error) {
	gen := b.st.gen.Load()
	b.mu.Lock()
	var it *spaceIter
	if n := len(b.points); n > 0 {
		it, b.points = b.points[n-1], b.points[:n-1]
	}
	b.mu.Unlock()
	if it != nil {
		if it.gen == gen {
			return it, nil
		}
		if err := b.st.close(it); err != nil {
			return nil, err
		}
	}
	n, err := b.st.db.NewIter(&pebble.IterOptions{LowerBound: b.prefix, UpperBound: after(b.prefix), UseL6Filters: true})
	return &spaceIter{Iterator: n, gen: gen}, err
}

func (b *backing) putPoint(it *spaceIter) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.points) == maxPoints || it.Error() != nil || it.gen != b.st.gen.Load() {
		return b.st.close(it)
	}
	b.points = append(b.points, it)
	return nil
}

// denseGets is the number of steps that a batch of gets goes through the next
// keys rather than seek: a step costs a small part of a seek. Where none of the
// first sparseAfter keys was reached so, the others are sought one by one:
// that asks the filters of the tables first, so keys that are new cost little.
const (
	denseGets   = 4
	sparseAfter = 16
)

// GetMany reads in the order of keys. Nearly all of them are there, so the filters of the last level, which are as large as the index of what is there
// many times over, are left out.
func (b *backing) GetMany(keys [][]byte, f func(i int, val []byte)) error {
	if len(keys) < 8 {
		// Point reads use the filters.
		for i, k := range keys {
			if err := b.Get(k, func(v []byte) { f(i, v) }); err != nil {
				return err
			}
		}
		return nil
	}
	it, err := b.iter(b.prefix, after(b.prefix))
	if err != nil {
		return err
	}
	valid, near := false, 0
	var full []byte
	for i, k := range keys {
		full = b.full(full[:0], k)
		for n := 0; valid && n < denseGets && bytes.Compare(it.Key(), full) < 0; n++ {
			if valid = it.Next(); valid && bytes.Compare(it.Key(), full) >= 0 {
				near++
			}
		}
		if i >= sparseAfter && near == 0 {
			if valid = it.SeekPrefixGE(full); !valid && it.Error() != nil {
				break
			}
		} else if !valid || bytes.Compare(it.Key(), full) < 0 {
			if valid = it.SeekGE(full); !valid && it.Error() == nil {
				break
			}
		}
		if valid && bytes.Equal(it.Key(), full) {
			v, err := it.ValueAndErr()
			if err != nil {
				return errors.Join(err, b.put(it))
			}
			f(i, v)
		}
	}
	return errors.Join(it.Error(), b.put(it))
}

func (b *backing) Scan(lo, hi []byte, desc bool, f func(k, v []byte) bool) error {
	upper := after(b.prefix)
	if hi != nil {
		upper = append(append([]byte(nil), b.prefix...), hi...)
	}
	it, err := b.iter(append(append([]byte(nil), b.prefix...), lo...), upper)
	if err != nil {
		return err
	}
	first, next := it.First, it.Next
	if desc {
		first, next = it.Last, it.Prev
	}
	for ok := first(); ok; ok = next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return errors.Join(err, b.put(it))
		}
		if !f(it.Key()[len(b.prefix):], v) {
			break
		}
	}
	return errors.Join(it.Error(), b.put(it))
}

// iter takes the cached iterator, or makes one when it is in use or older than
// the last checkpoint. put gives it back. Only SeekPrefixGE uses filters, but
// not those of the last level.
func (b *backing) iter(lo, hi []byte) (*spaceIter, error) {
	b.mu.Lock()
	it := b.idle
	b.idle = nil
	b.mu.Unlock()
	gen := b.st.gen.Load()
	if it != nil && it.gen == gen {
		it.SetBounds(lo, hi)
		return it, nil
	}
	if it != nil {
		if err := b.st.close(it); err != nil {
			return nil, err
		}
	}
	n, err := b.st.db.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: hi})
	return &spaceIter{Iterator: n, gen: gen}, err
}

func (b *backing) put(it *spaceIter) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.idle != nil || it.Error() != nil || it.gen != b.st.gen.Load() {
		return b.st.close(it)
	}
	b.idle = it
	return nil
}

// release closes the cached iterators, which keep files and memtables alive.
func (b *backing) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.idle != nil {
		_ = b.st.close(b.idle) // an error of reading was given to its user
		b.idle = nil
	}
	for _, it := range b.points {
		_ = b.st.close(it)
	}
	b.points = nil
}
