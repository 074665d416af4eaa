package state

import (
	"errors"
	"slices"
	"sync"

	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// spoolRef says in which epoch a spool entered the log.
type spoolRef struct {
	id    uint64
	epoch uint64
}

// spoolIndex knows the spools of the log. A file of one that was trimmed stays while somebody reads who began before.
type spoolIndex struct {
	s     *Store
	mu    sync.Mutex
	of    map[catalog.OID][]spoolRef // ascending
	files map[uint64]int64           // sizes of complete files
	gone  []goneSpool                // whose files are to be removed
	turn  uint64                     // counts trims
	reads map[uint64]int             // readers by the turn in which they began
}

type goneSpool struct {
	id   uint64
	turn uint64
}

func newSpoolIndex(s *Store) *spoolIndex {
	return &spoolIndex{s: s, of: map[catalog.OID][]spoolRef{}, files: map[uint64]int64{}, reads: map[uint64]int{}}
}

// enter notes that a spool entered the log.
func (x *spoolIndex) enter(oid catalog.OID, r spoolRef) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.of[oid] = append(x.of[oid], r)
}

// complete notes a file that is durable.
func (x *spoolIndex) complete(id uint64, size int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.files[id] = size
}

func (x *spoolIndex) isFile(id uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, ok := x.files[id]
	return ok
}

func (x *spoolIndex) fileIDs() []uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	ids := make([]uint64, 0, len(x.files))
	for id := range x.files {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// there gives the spools whose files may be there: those of the log, and those that are to be removed.
func (x *spoolIndex) there() []uint64 {
	ids := x.fileIDs()
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, g := range x.gone {
		ids = append(ids, g.id)
	}
	return ids
}

// bytes is the size of all files.
func (x *spoolIndex) bytes() (n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, size := range x.files {
		n += size
	}
	return n
}

// before gives the spools that entered a relation before an epoch, and whether there are files among them.
func (x *spoolIndex) before(oid catalog.OID, epoch uint64) (refs []spoolRef, files bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range x.of[oid] {
		if r.epoch >= epoch {
			continue
		}
		refs = append(refs, r)
		_, ok := x.files[r.id]
		files = files || ok
	}
	return refs, files
}

// forget removes spools that are not in the log any more.
func (x *spoolIndex) forget(oid catalog.OID, refs []spoolRef) error {
	if len(refs) == 0 {
		return nil
	}
	x.mu.Lock()
	x.turn++
	drop := make(map[uint64]bool, len(refs))
	for _, r := range refs {
		drop[r.id] = true
	}
	x.of[oid] = slices.DeleteFunc(x.of[oid], func(r spoolRef) bool { return drop[r.id] })
	if len(x.of[oid]) == 0 {
		delete(x.of, oid)
	}
	for _, r := range refs {
		if _, ok := x.files[r.id]; ok {
			delete(x.files, r.id)
			x.gone = append(x.gone, goneSpool{r.id, x.turn})
		}
	}
	x.mu.Unlock()
	return x.sweep()
}

// remove removes the file of a spool that never entered the log.
func (x *spoolIndex) remove(id uint64) error {
	x.mu.Lock()
	delete(x.files, id)
	x.mu.Unlock()
	return x.s.fs.Remove(x.s.spoolPath(id))
}

// read begins the reading of spools of the log. Until done is called none of those that are in it now is removed.
func (x *spoolIndex) read() (done func() error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	turn := x.turn
	x.reads[turn]++
	return func() error {
		x.mu.Lock()
		if x.reads[turn]--; x.reads[turn] == 0 {
			delete(x.reads, turn)
		}
		x.mu.Unlock()
		return x.sweep()
	}
}

// sweep removes the files that nobody can be reading.
func (x *spoolIndex) sweep() error {
	x.mu.Lock()
	free := func(g goneSpool) bool {
		for turn := range x.reads {
			if turn < g.turn {
				return false
			}
		}
		return true
	}
	var ids []uint64
	x.gone = slices.DeleteFunc(x.gone, func(g goneSpool) bool {
		if !free(g) {
			return false
		}
		ids = append(ids, g.id)
		return true
	})
	x.mu.Unlock()
	var err error
	for _, id := range ids {
		err = errors.Join(err, x.s.fs.Remove(x.s.spoolPath(id)))
	}
	return err
}
