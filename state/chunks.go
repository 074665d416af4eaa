package state

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Chunks are the contents of an append-only relation: column chunks in the
// order in which they came, in memory since the last checkpoint and on disk
// before it. One goroutine appends, publishes and freezes; snapshots are taken
// and read by any.
type Chunks struct {
	st    *Store
	oid   catalog.OID
	types []types.Type

	pending     []*batch.Batch // of this epoch
	growing     bool           // the last one is not full, and c's own
	pendingRows int64

	mu     sync.Mutex // guards changes of view and frozen
	view   atomic.Pointer[ChunksSnapshot]
	frozen int  // chunks of view.mem that a checkpoint is writing
	wiped  bool // DropContents or Trim since the last Freeze
}

// ChunksSnapshot is what an append-only relation held at the end of an epoch.
// It is immutable, valid until Store.Close, and read by any goroutine.
type ChunksSnapshot struct {
	c     *Chunks
	pin   *pin
	disk  count // chunks [first, next) on disk
	mem   []*batch.Batch
	rows  int64  // disk and mem
	Epoch uint64 // that changed it last
}

// Chunks opens the contents of an append-only relation as of the last
// checkpoint. A relation is opened once.
func (s *Store) Chunks(oid catalog.OID, ts []types.Type) *Chunks {
	c := &Chunks{st: s, oid: oid, types: ts}
	n := s.countOf(oid)
	c.view.Store(&ChunksSnapshot{c: c, pin: s.currentPin(), disk: n, rows: n.rows})
	return c
}

// Append adds the batch's rows to the epoch that runs: a copy, or, where there are many, their memory if it is a gift. Weights must be positive.
func (c *Chunks) Append(b *batch.Batch) {
	c.pendingRows += totalWeight(b)
	if b.Gift != nil && b.N >= batch.Target/4 && (b.N <= 2*batch.Target || !hasBytes(c.types)) {
		c.adopt(b.Keep())
		return
	}
	for lo := 0; lo < b.N; {
		n := len(c.pending)
		if !c.growing {
			c.pending = append(c.pending, batch.New(c.types, min(b.N-lo, batch.Target)))
			n++
		}
		last := c.pending[n-1]
		hi := min(b.N, lo+batch.Target-last.N)
		if lo == 0 && hi == b.N {
			last.AppendBatch(b, nil)
		} else {
			last.AppendBatch(b.Slice(lo, hi), nil)
		}
		lo, c.growing = hi, last.N < batch.Target
	}
}

// adopt makes chunks of a batch that lasts.
func (c *Chunks) adopt(b *batch.Batch) {
	c.growing = false
	for i, v := range b.Cols {
		if v.Type != c.types[i] { // of the same layout
			as := *v
			as.Type = c.types[i]
			b.Cols[i] = &as
		}
	}
	for lo := 0; lo < b.N; {
		hi := lo + batch.Target
		if b.N-lo <= 2*batch.Target {
			hi = b.N
		}
		if lo == 0 && hi == b.N {
			c.pending = append(c.pending, b)
			return
		}
		c.pending = append(c.pending, b.Slice(lo, hi))
		lo = hi
	}
}

// hasBytes says whether values of one of the types lie in a memory that several chunks would share.
func hasBytes(ts []types.Type) bool {
	return slices.ContainsFunc(ts, func(t types.Type) bool { return t.Layout() == types.LayoutBytes })
}

func totalWeight(b *batch.Batch) int64 {
	if b.Weights == nil {
		return int64(b.N)
	}
	n := int64(0)
	for _, w := range b.Weights {
		n += w
	}
	return n
}

// Discard forgets what was appended since the last Publish.
func (c *Chunks) Discard() { c.pending, c.pendingRows, c.growing = nil, 0, false }

// Publish ends an epoch: snapshots taken from now on have its rows.
func (c *Chunks) Publish(epoch uint64) {
	if len(c.pending) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v := *c.view.Load()
	v.Epoch = epoch
	v.rows += c.pendingRows
	v.mem = c.combine(v.mem)
	c.Discard()
	c.view.Store(&v)
}

// combine adds the pending chunks to mem. Small chunks at its end are copied
// together, each row a logarithmic number of times, so that many small epochs
// do not make many small chunks. Elements that older snapshots share stay.
func (c *Chunks) combine(mem []*batch.Batch) []*batch.Batch {
	p := c.pending
	n := len(mem)
	size := p[0].N
	for n > c.frozen && mem[n-1].N < 2*size && mem[n-1].N+size <= batch.Target {
		n--
		size += mem[n].N
	}
	if n < len(mem) {
		joined := batch.New(c.types, size)
		for _, b := range mem[n:] {
			joined.AppendBatch(b, nil)
		}
		joined.AppendBatch(p[0], nil)
		mem = append(append(make([]*batch.Batch, 0, n+len(p)+16), mem[:n]...), joined)
		p = p[1:]
	}
	return append(mem, p...)
}

// Snapshot gives the contents as of the last published epoch.
func (c *Chunks) Snapshot() *ChunksSnapshot { return c.view.Load() }

// DropContents empties the relation, on disk with the next checkpoint.
func (c *Chunks) DropContents() {
	c.Discard()
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.view.Load()
	// Chunk numbers go on, so that a checkpoint that is being written cannot mix with what comes.
	next := v.disk.next + uint64(c.frozen)
	c.frozen, c.wiped = 0, true
	c.view.Store(&ChunksSnapshot{c: c, pin: v.pin, disk: count{0, next, next}, Epoch: v.Epoch})
}

// MemBytes gives the memory of chunks that are not on disk.
func (c *Chunks) MemBytes() int64 {
	n := int64(0)
	for _, b := range c.view.Load().mem {
		n += int64(b.MemBytes())
	}
	return n
}

// Freeze gives the section with what was published since the last one; nil if
// there is nothing. One checkpoint is written at a time.
func (c *Chunks) Freeze() *Section {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.view.Load()
	mem := v.mem[c.frozen:]
	if len(mem) == 0 && !c.wiped {
		return nil
	}
	first := v.disk.next + uint64(c.frozen)
	s := &Section{prefix: relationKey(keyContent, c.oid), entries: int64(len(mem))}
	if c.wiped {
		s.ranges = append(s.ranges, tableRange(contentKey(c.oid, 0), contentKey(c.oid, v.disk.first)))
		c.wiped = false
	}
	for _, b := range mem {
		s.bytes += int64(b.MemBytes())
	}
	s.each = func(f func(change) error) error {
		var buf []byte
		for i, b := range mem {
			buf = batch.Encode(buf[:0], b)
			if err := f(change{op: opSet, key: contentKey(c.oid, first+uint64(i)), val: buf}); err != nil {
				return err
			}
		}
		return nil
	}
	disk := count{v.rows, v.disk.first, first + uint64(len(mem))}
	s.records = []record{countRecord(c.oid, disk)}
	c.frozen = len(v.mem)
	s.written = func(p *pin) { c.written(p, disk, len(mem)) }
	return s
}

// written moves n frozen chunks to disk.
func (c *Chunks) written(p *pin, disk count, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := *c.view.Load()
	v.pin = p
	// Not so if the contents were dropped meanwhile.
	if c.frozen >= n && v.disk.next+uint64(n) == disk.next {
		mem := v.mem[n:]
		v.mem = append(make([]*batch.Batch, 0, len(mem)+64), mem...)
		v.disk.next = disk.next
		c.frozen -= n
	}
	c.view.Store(&v)
}

// Rows gives the number of rows.
func (v *ChunksSnapshot) Rows() int64 { return v.rows }

// Types lists the column types.
func (v *ChunksSnapshot) Types() []types.Type { return v.c.types }

// Scan calls f with the chunks in the order in which the rows came. A batch is valid during the call.
func (v *ChunksSnapshot) Scan(f func(*batch.Batch) error) error {
	return v.Reader().each(f)
}

// ScanColumns is Scan with only the columns that want names by index (nil: all); the others may be nil. The memory of one batch is used
// for the next.
func (v *ChunksSnapshot) ScanColumns(want []bool, f func(*batch.Batch) error) error {
	r := v.Reader()
	r.dec = &batch.Decoder{Want: want}
	return r.each(f)
}

// each reads to the end, and closes the reader.
func (r *ChunksReader) each(f func(*batch.Batch) error) error {
	defer r.Close()
	for {
		b, err := r.Next()
		if b == nil || err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
}

// Reader reads the snapshot by pulling.
func (v *ChunksSnapshot) Reader() *ChunksReader { return &ChunksReader{v: v} }

// ChunksReader gives a snapshot batch by batch. One goroutine uses it, and closes it.
type ChunksReader struct {
	v    *ChunksSnapshot
	it   *pebble.Iterator
	mem  int
	disk bool           // the chunks on disk are done
	dec  *batch.Decoder // nil: each batch has memory of its own
}

// Next gives the next batch, valid until the following call; nil at the end.
func (r *ChunksReader) Next() (*batch.Batch, error) {
	if !r.disk {
		if b, err := r.nextOnDisk(); b != nil || err != nil {
			return b, err
		}
		r.disk = true
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	if r.mem < len(r.v.mem) {
		r.mem++
		return r.v.mem[r.mem-1], nil
	}
	return nil, nil
}

func (r *ChunksReader) nextOnDisk() (*batch.Batch, error) {
	ok := false
	if r.it == nil {
		d := r.v.disk
		if d.first == d.next {
			return nil, nil
		}
		it, err := r.v.pin.snap.NewIter(&pebble.IterOptions{
			LowerBound: contentKey(r.v.c.oid, d.first), UpperBound: contentKey(r.v.c.oid, d.next)})
		if err != nil {
			return nil, err
		}
		r.it = it
		ok = it.First()
	} else {
		ok = r.it.Next()
	}
	if !ok {
		return nil, r.it.Error()
	}
	v, err := r.it.ValueAndErr()
	if err != nil {
		return nil, err
	}
	b, err := decode(r.dec, v)
	if err != nil {
		return nil, corrupt("chunk %x: %v", r.it.Key(), err)
	}
	return b, nil
}

// Close ends the reading early or late; it may be called twice.
func (r *ChunksReader) Close() error {
	if r.it == nil {
		return nil
	}
	it := r.it
	r.it, r.disk = nil, true
	return r.v.c.st.close(it)
}

// TrimRows drops the oldest chunks while at least keep rows remain, for
// relations that are logs with a cap. Readers see it at once, in new snapshots;
// on disk it happens with the next checkpoint.
func (c *Chunks) TrimRows(keep int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := *c.view.Load()
	if v.rows <= keep {
		return nil
	}
	if err := v.trimDisk(keep); err != nil {
		return err
	}
	if v.disk.first == v.disk.next && c.frozen == 0 {
		n := 0
		for n < len(v.mem) && v.rows-totalWeight(v.mem[n]) >= keep {
			v.rows -= totalWeight(v.mem[n])
			n++
		}
		v.mem = v.mem[n:]
	}
	c.wiped = c.wiped || v.disk.first != c.view.Load().disk.first
	c.view.Store(&v)
	return nil
}

// trimDisk moves the start of the chunks on disk.
func (v *ChunksSnapshot) trimDisk(keep int64) error {
	if v.disk.first == v.disk.next {
		return nil
	}
	r := v.Reader()
	defer r.Close()
	for v.disk.first < v.disk.next {
		b, err := r.nextOnDisk()
		if err != nil {
			return err
		}
		if b == nil {
			return corrupt("chunks of relation %d end at %d instead of %d", v.c.oid, v.disk.first, v.disk.next)
		}
		if v.rows-totalWeight(b) < keep {
			return nil
		}
		v.rows -= totalWeight(b)
		v.disk.first++
	}
	return nil
}
