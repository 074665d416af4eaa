package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/sql/workers"
	"github.com/tidemarkdb/tidemark/state/table"
)

// Rows are the contents of a table or of a view whose rows change: a multiset
// of rows in the order of its key columns. What changed since the last
// checkpoint is a list of small sorted runs in memory, which are merged as they
// become many. One goroutine applies, publishes and freezes; snapshots are
// taken and read by any.
type Rows struct {
	st     *Store
	oid    catalog.OID
	codec  rowCodec
	prefix []byte // of its keys on disk
	behind []byte // the least that is greater than all of them
	idle   idleReaders
	noted  atomic.Bool // among Store.readers

	tail        *run           // changes of this epoch, not sorted yet
	given       []*batch.Batch // and not encoded
	givenRows   int
	parts       int // runs that the last epoch's became
	team        workers.Team
	sealed      []*run // changes of this epoch that are not to be encoded any more
	pendingRows int64
	rowSize     int // bytes of a row of the last epoch
	tailRows    int // changes of the last epoch
	cuts        *cuts

	mu      sync.Mutex // guards what follows, and changes of view
	view    atomic.Pointer[RowsSnapshot]
	frozen  int    // runs of view.runs that a checkpoint is writing
	drops   uint64 // counts DropContents
	wiped   uint64 // value of drops that the last Freeze took in
	merging bool
	mergeOf int64 // bytes of what is being merged beside the epochs, of which there is a copy then
	shrunk  int   // rows that were left when Shrink last merged what the next Freeze takes
	set     atomic.Bool
}

// RowsSnapshot is what a relation held at the end of an epoch. It is
// immutable, valid until Store.Close, and read by any goroutine.
type RowsSnapshot struct {
	r      *Rows
	pin    *pin
	noDisk bool // what is on disk was dropped
	within bool // an epoch, and not at the end of one
	runs   []*run
	rows   int64
	change uint64 // counts what changed the contents
	Epoch  uint64 // that changed it last
}

// Rows opens the contents of a relation as of the last checkpoint. key lists
// the columns by which it is ordered and looked up, NULLs last; the key need
// not be unique, and does not change while the relation lives. A relation is
// opened once.
func (s *Store) Rows(oid catalog.OID, ts []types.Type, key []int) *Rows {
	prefix := relationKey(keyRow, oid)
	r := &Rows{st: s, oid: oid, codec: rowCodec{ts, key}, prefix: prefix, behind: after(prefix), tail: &run{}}
	n := s.countOf(oid)
	r.view.Store(&RowsSnapshot{r: r, pin: s.currentPin(), rows: n.rows})
	return r
}

// SetUnique says that at the end of each epoch no two rows have the same key, and none is there more than once: a checkpoint then need not read how
// often a row was there, and a lookup need not go on behind the row that it found.
func (r *Rows) SetUnique() { r.set.Store(true) }

// SetTeam says who encodes many changes.
func (r *Rows) SetTeam(t workers.Team) { r.team = t }

// Apply adds changes to the epoch that runs: weights add up per row. The batch is copied, or kept where it is a gift.
func (r *Rows) Apply(b *batch.Batch) {
	if b.Gift != nil {
		r.given, r.givenRows = append(r.given, b.Keep()), r.givenRows+b.N
		r.pendingRows += totalWeight(b)
		return
	}
	r.encode(b)
	r.pendingRows += totalWeight(b)
}

// Discard forgets what was applied since the last Publish.
func (r *Rows) Discard() {
	r.tail, r.given, r.givenRows, r.sealed, r.pendingRows = &run{}, nil, 0, nil, 0
}

// Pending gives the contents with what was applied in the epoch that runs. It
// is for the goroutine that applies, and does not change with later changes.
func (r *Rows) Pending() *RowsSnapshot {
	r.sealTail()
	v := *r.view.Load()
	v.within = true
	v.rows += r.pendingRows
	v.runs = append(append(make([]*run, 0, len(v.runs)+len(r.sealed)), v.runs...), r.sealed...)
	return &v
}

func (r *Rows) sealTail() {
	if len(r.given) > 0 {
		r.sealGiven()
	}
	if len(r.tail.recs) == 0 {
		return
	}
	n := len(r.tail.recs)
	r.rowSize = len(r.tail.data)/n + 1
	if r.tailRows = n; n >= r.st.lateFrom {
		r.sealed = compact(append(r.sealed, r.tail.split(r.cutsFor(r.tail))), 0)
	} else if s := r.tail.sorted(); len(s.recs) > 0 {
		r.sealed = compact(append(r.sealed, s), 0)
	}
	r.tail = r.tail.again()
}

// cutsFor gives the cuts of late runs, which are made from the rows of x if there are none.
func (r *Rows) cutsFor(x *run) *cuts {
	if r.cuts == nil {
		r.cuts = newCuts(x)
	}
	return r.cuts
}

// encode appends a batch to the tail.
func (r *Rows) encode(b *batch.Batch) {
	n := b.N
	if cap(r.tail.recs) == 0 && r.tailRows >= r.st.lateFrom {
		r.tail = tails.Get().(*run) // about as many as in the last epoch
	}
	r.tail.grow(n, r.rowSize)
	r.tail.add(&r.codec, b)
}

// mergeNow is the number of rows up to which runs are merged at once; larger
// ones are merged beside the epochs, or by the checkpoint that takes them away.
const (
	mergeNow = 1 << 15
	manyRuns = 24
	tierRuns = 8  // of about one size
	lateTier = 16 // of about one size that nobody has read: to merge them is to sort them, the fewer times the better
	fanIn    = 4

	// unreadPart is which part of the cache's size runs that nobody has read may take before they are merged like others, which may leave less of them.
	unreadPart = 4
)

// compact merges the last runs when fanIn of them are of similar size, so that
// there are few and each row is merged a logarithmic number of times. The first
// keep runs stay, and the list is a new one if anything changes. Runs that nobody
// has read wait until many are sorted together, beside the epochs.
func compact(runs []*run, keep int) []*run {
	n := len(runs)
	size := runs[n-1].rows()
	limit := fanIn * size // what is larger is of another tier
	lo := n - 1
	for lo > keep && !runs[lo].unread() && !runs[lo-1].unread() && runs[lo-1].rows() < limit && size+runs[lo-1].rows() <= mergeNow {
		lo--
		size += runs[lo].rows()
	}
	if n-lo < fanIn {
		return runs
	}
	out := append(make([]*run, 0, lo+8), runs[:lo]...)
	if m := mergeRuns(runs[lo:]); len(m.recs) > 0 {
		m.ends = runs[n-1].ends
		out = append(out, m)
	}
	return out
}

// Publish ends an epoch: snapshots taken from now on have its changes.
func (r *Rows) Publish(epoch uint64) {
	r.sealTail()
	if len(r.sealed) == 0 {
		r.pendingRows = 0
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v := *r.view.Load()
	v.Epoch = epoch
	v.change++
	v.rows += r.pendingRows
	before := len(v.runs)
	v.runs = v.runs[:before:before]
	var sorted []*run
	for _, x := range r.sealed {
		if x.late != nil { // as it came; it has rows
			v.runs = append(v.runs, x)
		} else {
			sorted = append(sorted, x)
		}
	}
	if len(sorted) > 0 {
		if m := mergeRuns(sorted); len(m.recs) > 0 {
			v.runs = append(v.runs, m)
		}
	}
	if len(v.runs) > before {
		v.runs[len(v.runs)-1].ends = true
	}
	if len(v.runs) > r.frozen {
		v.runs = compact(v.runs, r.frozen)
	}
	r.sealed, r.pendingRows = nil, 0
	r.view.Store(&v)
	if !r.merging && !r.st.opts.NoMerging {
		if runs := tooMany(v.runs[r.frozen:], max(r.parts, 1), r.st.opts.CacheBytes/unreadPart); runs != nil {
			r.beginMerge(runs, 1)
		}
	}
}

// tooMany gives the runs at the end that are to be merged, nil if there are none yet. They are of about one size, so that a row
// is merged once for each time that there are tierRuns times as many; those of one epoch are several parts. Up to so many bytes of those that nobody has read
// wait for others.
func tooMany(runs []*run, parts int, unread int64) []*run {
	n := len(runs)
	lo := n - 1
	for lo > 0 && runs[lo-1].rows() <= 2*runs[n-1].rows() {
		lo--
	}
	tier, late := n-lo, 0
	for late < n && runs[n-1-late].unread() {
		unread -= runs[n-1-late].memBytes()
		late++
	}
	if tier > lateTier*parts || tier > tierRuns*parts && (tier > late || unread < 0) {
		return runs[lo:]
	}
	if n-late+min(late, tierRuns*parts) > manyRuns+tierRuns*(parts-1) {
		return lastTier(runs)
	}
	return nil
}

// Shrink begins to merge all that the next Freeze would take, beside the epochs, if that may leave half of it or less: rows that came and went since the last Freeze
// need not be written. It says whether runs are being merged.
func (r *Rows) Shrink() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.merging {
		return true
	}
	runs := r.view.Load().runs[r.frozen:]
	rows, less := 0, 0
	for _, x := range runs {
		rows += x.rows()
		less += x.less
	}
	// What goes is a row that came, and its removal. After a Shrink it pays again when there is twice as much.
	if len(runs) < 2 || rows < r.st.shrinkFrom || 4*less < rows || rows < 2*r.shrunk {
		return false
	}
	if left := float64(rows) - 2*float64(less)*goneIn(runs); left > float64(rows)/2 {
		r.shrunk = rows * 3 / 4 // it is looked at again when there is half as much more
		return false
	}
	r.beginMerge(runs, 2)
	return true
}

// goneIn gives the part of the removals in runs that are of rows that came in an earlier one of them, by looking for some in those that are in order.
func goneIn(runs []*run) float64 {
	const looks = 16 // in each run
	if runs = ordered(runs); len(runs) < 2 {
		return 1 // to merge the others is to sort them, which is to be done anyway
	}
	tried, found := 0, 0
	for i := len(runs) - 1; i > 0; i-- {
		x := runs[i]
		for j, step := 0, len(x.recs)/looks+1; j < len(x.recs) && x.less > 0; j += step {
			k, _, weight := x.row(j)
			for ; weight > 0 && j+1 < len(x.recs); k, _, weight = x.row(j) { // the next removal
				j++
			}
			if weight > 0 {
				break
			}
			tried++
			for _, y := range runs[:i] {
				if at := y.seek(k); at < len(y.recs) {
					if key, _, weight := y.row(at); weight > 0 && bytes.Equal(key, k) {
						found++
						break
					}
				}
			}
		}
	}
	return float64(found) / float64(max(tried, 1))
}

// beginMerge begins to merge runs that stand together, of which about one row in so many will be left.
func (r *Rows) beginMerge(runs []*run, part int) {
	r.merging, r.mergeOf = true, 0
	for _, x := range runs {
		r.mergeOf += int64(len(x.data)+recBytes*x.rows()) / int64(part)
	}
	go r.mergeBehind(runs, part)
}

// lastTier gives the runs at the end that are to be merged where sizes are mixed: a run joins if those after it hold at least half as many rows together, so that
// each row is merged a logarithmic number of times.
func lastTier(runs []*run) []*run {
	lo := len(runs) - 1
	for size := runs[lo].rows(); lo > 0 && runs[lo-1].rows() <= 2*size; {
		lo--
		size += runs[lo].rows()
	}
	// Those before are each larger than all that follow: there are few.
	return runs[min(lo, len(runs)-fanIn):]
}

// mergeBehind merges runs beside the epochs, and puts the result in their place if they still stand together.
func (r *Rows) mergeBehind(runs []*run, part int) {
	m := mergeTo(runs, part)
	m.ends = runs[len(runs)-1].ends
	r.mu.Lock()
	defer r.mu.Unlock()
	r.merging, r.mergeOf = false, 0
	v := *r.view.Load()
	for i := r.frozen; i+len(runs) <= len(v.runs); i++ {
		if v.runs[i] != runs[0] {
			continue
		}
		for j := range runs {
			if v.runs[i+j] != runs[j] {
				return
			}
		}
		if i == r.frozen {
			r.shrunk = len(m.recs)
		}
		out := append(make([]*run, 0, len(v.runs)-len(runs)+8), v.runs[:i]...)
		if len(m.recs) > 0 {
			out = append(out, m)
		}
		v.runs = append(out, v.runs[i+len(runs):]...)
		r.view.Store(&v)
		return
	}
}

// Snapshot gives the contents as of the last published epoch.
func (r *Rows) Snapshot() *RowsSnapshot { return r.view.Load() }

// Now gives the same contents as they lie now: who keeps a snapshot of what has not changed lets go of what was merged or written since.
func (v *RowsSnapshot) Now() *RowsSnapshot {
	if now := v.r.view.Load(); now.change == v.change && !v.within {
		return now
	}
	return v
}

// DropContents empties the relation at once for new snapshots, on disk with the next checkpoint.
func (r *Rows) DropContents() {
	r.Discard()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frozen = 0
	r.drops++
	v := r.view.Load()
	r.view.Store(&RowsSnapshot{r: r, pin: v.pin, noDisk: true, change: v.change + 1, Epoch: v.Epoch})
}

// MemBytes gives the memory of changes that are not on disk.
func (r *Rows) MemBytes() int64 {
	r.mu.Lock()
	n := r.mergeOf
	r.mu.Unlock()
	n += r.tail.memBytes()
	for _, b := range r.given {
		n += int64(b.MemBytes())
	}
	for _, x := range r.view.Load().runs {
		n += x.memBytes()
	}
	return n
}

// Freeze gives the section with what was published since the last one; nil if
// there is nothing. One checkpoint is written at a time.
func (r *Rows) Freeze() *Section {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.view.Load()
	runs := v.runs[r.frozen:]
	wipe := r.drops != r.wiped
	if len(runs) == 0 && !wipe {
		return nil
	}
	s := &Section{prefix: relationKey(keyRow, r.oid)}
	if wipe {
		s.ranges = append(s.ranges, tableRange(s.prefix, after(s.prefix)))
		r.wiped = r.drops
	}
	for _, x := range runs {
		s.bytes += int64(len(x.data)) + 4*int64(x.rows())
		s.entries += int64(x.rows())
	}
	s.each = func(f func(change) error) error { return r.writeRuns(s.prefix, runs, wipe, f) }
	s.records = []record{countRecord(r.oid, count{rows: v.rows})}
	r.frozen, r.shrunk = len(v.runs), 0
	drops := r.drops
	s.written = func(p *pin) { r.written(p, len(runs), drops) }
	return s
}

// writeRuns turns differences into what the rows' multiplicities become. It
// reads those that are on disk, unless the relation is a set.
//
// A merge operator of Pebble would do without reading. But compactions of
// Pebble 2.1 bring a value back that a deleting merge was to remove
// (compact.Iter.Next goes on at the same key), and without deletion the rows
// that went away would stay for ever.
func (r *Rows) writeRuns(prefix []byte, runs []*run, wipe bool, f func(change) error) error {
	var old oldRows
	if !wipe && !r.set.Load() {
		it, err := r.st.currentPin().snap.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
		if err != nil {
			return err
		}
		defer r.st.close(it)
		old.it = it
	}
	var key, val []byte
	return eachMerged(runs, func(row []byte, klen uint32, weight int64) error {
		key = append(append(key[:0], prefix...), row...)
		w, err := old.weight(key)
		if err != nil {
			return err
		}
		c := change{op: opDelete, key: key}
		// Of a set, one less is none.
		if w += weight; w != 0 && (w > 0 || old.it != nil || wipe) {
			val = appendWeight(val[:0], w, uint64(klen))
			c.op, c.val = opSet, val
		}
		return f(c)
	})
}

// oldRows looks up the multiplicities of rows on disk, in ascending order of keys.
type oldRows struct {
	it    *pebble.Iterator // nil: there are none, or they do not matter
	begun bool
	valid bool
}

func (o *oldRows) weight(key []byte) (int64, error) {
	if o.it == nil {
		return 0, nil
	}
	for n := 0; o.valid && n < denseGets && bytes.Compare(o.it.Key(), key) < 0; n++ {
		o.valid = o.it.Next()
	}
	if !o.begun || o.valid && bytes.Compare(o.it.Key(), key) < 0 {
		o.begun = true
		o.valid = o.it.SeekGE(key)
	}
	if !o.valid || !bytes.Equal(o.it.Key(), key) {
		return 0, o.it.Error()
	}
	v, err := o.it.ValueAndErr()
	if err != nil {
		return 0, err
	}
	w, _, err := readWeight(v)
	return w, err
}

// Contents that change are multisets (State: on disk): the value of a row is
// its multiplicity, a varint, and the length of its key part, a uvarint.

func appendWeight(dst []byte, weight int64, keyLen uint64) []byte {
	return binary.AppendUvarint(binary.AppendVarint(dst, weight), keyLen)
}

func readWeight(v []byte) (weight int64, keyLen uint64, err error) {
	weight, n := binary.Varint(v)
	if n > 0 {
		var m int
		if keyLen, m = binary.Uvarint(v[n:]); m > 0 && n+m == len(v) {
			return weight, keyLen, nil
		}
	}
	return 0, 0, fmt.Errorf("weight of a row is malformed: %x", v)
}

func tableRange(lo, hi []byte) table.Range { return table.Range{Lo: lo, Hi: hi} }

// written takes n runs away that are on disk now.
func (r *Rows) written(p *pin, n int, drops uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := *r.view.Load()
	v.pin = p
	if r.drops == drops {
		v.noDisk = false
		v.runs = append([]*run(nil), v.runs[n:]...)
		r.frozen -= n
	}
	r.view.Store(&v)
}
