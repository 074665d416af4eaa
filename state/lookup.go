package state

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// idleReaders are readers of a relation that wait for the next lookup, with their memory and their iterators of Pebble: to make these takes longer than
// to look a row up.
type idleReaders struct {
	mu  sync.Mutex
	all []*RowsReader
}

const (
	// maxReaders bounds the readers of a relation that wait: as many as cores that read at a time.
	maxReaders = 8
	// maxIdleBytes is how much memory for rows a reader may have that waits.
	maxIdleBytes = 32 << 10
	// longestIdle is how long iterators wait, about: they keep files alive that are to be deleted, and blocks that are to leave the cache.
	longestIdle = 2 * time.Second
	// maxIdle bounds those of all relations that wait.
	maxIdle = 256
)

// Lookup calls f with the rows whose leading key columns equal the prefix, in
// key order. NULL finds NULL. A batch is valid during the call. For many lookups use one RowsReader and its Seek.
func (v *RowsSnapshot) Lookup(prefix []types.Datum, f func(*batch.Batch) error) error {
	return v.LookupRange(prefix, nil, nil, false, f)
}

// LookupRange is Lookup of the rows of which the next key column lies between lo and hi too, as SeekRange has it, with desc from the greatest key to the least one.
func (v *RowsSnapshot) LookupRange(prefix []types.Datum, lo, hi *Bound, desc bool, f func(*batch.Batch) error) (err error) {
	r, err := v.r.takeReader(v)
	if err != nil {
		return err
	}
	defer func() {
		if e := v.r.putReader(r); err == nil {
			err = e
		}
	}()
	r.desc = desc
	r.SeekRange(prefix, lo, hi)
	return r.each(f)
}

// takeReader gives a reader of a snapshot, until putReader.
func (r *Rows) takeReader(v *RowsSnapshot) (*RowsReader, error) {
	var rd *RowsReader
	r.idle.mu.Lock()
	if n := len(r.idle.all); n > 0 {
		rd, r.idle.all = r.idle.all[n-1], r.idle.all[:n-1]
	}
	r.idle.mu.Unlock()
	if rd == nil {
		return v.Reader(), nil
	}
	rd.v = v
	if rd.disk.it == nil {
		return rd, nil
	}
	r.st.idle.Add(-1)
	if rd.disk.pin != v.pin || rd.disk.gen != r.st.gen.Load() {
		return rd, rd.disk.close()
	}
	return rd, nil
}

// putReader has a reader wait for the next lookup.
func (r *Rows) putReader(rd *RowsReader) error {
	broken := rd.m.err != nil
	rd.rest()
	if broken || rd.disk.it != nil && r.st.idle.Load() >= maxIdle {
		return rd.Close()
	}
	r.idle.mu.Lock()
	keep := len(r.idle.all) < maxReaders
	// A checkpoint counts itself before it closes those that wait.
	if keep = keep && (rd.disk.it == nil || rd.disk.gen == r.st.gen.Load()); keep {
		r.idle.all = append(r.idle.all, rd)
		if rd.disk.it != nil {
			r.st.idle.Add(1)
			r.st.noteReaders(r)
		}
	}
	r.idle.mu.Unlock()
	if !keep {
		return rd.Close()
	}
	return nil
}

// rest lets go of what a reader holds of its snapshot, and of much memory.
func (r *RowsReader) rest() {
	r.v, r.placed, r.desc = nil, false, false
	r.found = dropAll(r.found)
	r.m.all, r.m.src = dropAll(r.m.all), dropAll(r.m.src)
	r.m.key, r.m.disk, r.m.err = nil, nil, nil
	if r.out != nil && r.out.MemBytes() > maxIdleBytes {
		r.out = nil
	}
	if cap(r.m.buf) > maxIdleBytes {
		r.m.buf = nil
	}
}

// dropAll empties a slice and keeps its memory.
func dropAll[T any](s []T) []T {
	s = s[:cap(s)]
	clear(s)
	return s[:0]
}

// release closes the iterators of readers that wait.
func (r *Rows) release() {
	var its []*RowsReader
	r.idle.mu.Lock()
	r.idle.all = slices.DeleteFunc(r.idle.all, func(rd *RowsReader) bool {
		if rd.disk.it != nil {
			its = append(its, rd)
		}
		return rd.disk.it != nil
	})
	r.idle.mu.Unlock()
	r.st.idle.Add(-int64(len(its)))
	for _, rd := range its {
		_ = rd.disk.close() // an error of reading was given to its user
	}
}

// noteReaders has the iterators of a relation's readers closed soon.
func (s *Store) noteReaders(r *Rows) {
	if r.noted.Load() {
		return
	}
	s.readersMu.Lock()
	defer s.readersMu.Unlock()
	if len(s.readers) == 0 {
		time.AfterFunc(longestIdle, s.releaseReaders)
	}
	s.readers = append(s.readers, r)
	r.noted.Store(true)
}

// releaseReaders closes the iterators of readers that wait: after a while, by each checkpoint, and in the end.
func (s *Store) releaseReaders() {
	s.readersMu.Lock()
	all := s.readers
	s.readers = nil
	for _, r := range all {
		r.noted.Store(false)
	}
	s.readersMu.Unlock()
	for _, r := range all {
		r.release()
	}
}

// foundRow is a row that runs have, with its weights so far.
type foundRow struct {
	key    []byte
	klen   uint32
	weight int64
}

// seekOne is Seek for all columns of a unique key, of which there is one row at most. It looks from the latest run back to one that ends an epoch behind which the key's row has
// come or gone: what is before, and on disk, does not matter then.
func (r *RowsReader) seekOne(k []byte) {
	r.placed, r.size = true, firstRows
	r.m.err, r.m.disk = nil, nil
	r.m.all, r.m.src = r.m.all[:0], r.m.src[:0]
	r.found = r.found[:0]
	hi := after(k)
	for i := len(r.v.runs) - 1; i >= 0; i-- {
		if r.v.runs[i].ends && r.told() {
			return
		}
		r.find(r.v.runs[i], k, hi)
	}
	if r.told() {
		return
	}
	r.found = r.found[:0]
	if !r.v.noDisk {
		r.m.err = r.disk.seek(r.v, k, hi, false)
		r.disk.one = true
		r.m.disk = &r.disk
	}
}

// told says whether what was found tells what there is of a unique key.
func (r *RowsReader) told() bool {
	for i := range r.found {
		if r.found[i].weight != 0 {
			return true
		}
	}
	return false
}

// find notes the rows of a run whose keys begin with k. hi is behind all such keys.
func (r *RowsReader) find(x *run, k, hi []byte) {
	var from, to int
	if x.unread() {
		x, from, to = x.between(k, hi)
	} else {
		x = x.inOrder()
		from, to = x.seek(k), len(x.recs)
	}
	for ; from < to; from++ {
		key, klen, weight := x.row(from)
		if !bytes.HasPrefix(key, k) {
			return
		}
		i := slices.IndexFunc(r.found, func(f foundRow) bool { return bytes.Equal(f.key, key) })
		if i < 0 {
			r.found = append(r.found, foundRow{key, klen, weight})
		} else {
			r.found[i].weight += weight
		}
	}
}
