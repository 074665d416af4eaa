package state

import (
	"encoding/binary"
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
	cutter      *batch.Cutter  // of chunks that are copies
	growing     *batch.Batch   // that grows behind the pending ones; nil: none
	full        int            // rows that it may have
	pendingRows int64
	room        int // rows of this epoch that were copied
	lastRoom    int // and of the last epoch with any
	part        batch.Batch
	spare       atomic.Int64 // bytes of the cutter's memory that no chunk has

	mu     sync.Mutex // guards changes of view and frozen
	view   atomic.Pointer[ChunksSnapshot]
	frozen int  // chunks of view.mem that a checkpoint is writing
	wiped  bool // DropContents or Trim since the last Freeze
}

// ChunksSnapshot is what an append-only relation held at the end of an epoch.
// It is immutable, valid until Store.Close, and read by any goroutine.
type ChunksSnapshot struct {
	c      *Chunks
	pin    *pin
	disk   count // chunks [first, next) on disk
	mem    []*batch.Batch
	bytes  int64  // of mem
	rows   int64  // disk and mem
	change uint64 // counts what changed the contents
	Epoch  uint64 // that changed it last
}

// Chunks opens the contents of an append-only relation as of the last
// checkpoint. A relation is opened once.
func (s *Store) Chunks(oid catalog.OID, ts []types.Type) *Chunks {
	c := &Chunks{st: s, oid: oid, types: ts, cutter: batch.NewCutter(ts)}
	n := s.countOf(oid)
	c.view.Store(&ChunksSnapshot{c: c, pin: s.currentPin(), disk: n, rows: n.rows})
	return c
}

// Append adds the batch's rows to the epoch that runs: a copy, or, where there are many, their memory if it is a gift. Weights must be positive.
func (c *Chunks) Append(b *batch.Batch) {
	c.pendingRows += totalWeight(b)
	if b.Gift != nil && b.N >= batch.Target/4 && (b.N <= 2*batch.Target || !hasBytes(c.types)) {
		c.adopt(b)
		return
	}
	for lo := 0; lo < b.N; {
		if c.growing == nil {
			soon := max(b.N-lo, c.lastRoom-c.room)
			c.full = batch.Target
			if soon >= 2*batch.Target { // many rows have large chunks
				c.full *= 2
			}
			c.growing = c.cutter.Next(min(soon, c.full), 2*soon, -1) // the next epoch will need as much
		}
		hi := min(b.N, lo+c.full-c.growing.N)
		if lo == 0 && hi == b.N {
			c.growing.AppendBatch(b, nil)
		} else {
			b.SliceTo(&c.part, lo, hi)
			c.growing.AppendBatch(&c.part, nil)
			for _, v := range c.part.Cols {
				*v = batch.Vector{} // its memory is others'
			}
		}
		c.room += hi - lo
		if lo = hi; c.growing.N == c.full {
			c.grown()
		}
	}
}

// grown makes a chunk of what has grown.
func (c *Chunks) grown() {
	if c.growing != nil {
		c.pending = append(c.pending, c.growing.Slice(0, c.growing.N))
		c.cutter.Kept()
		c.growing = nil
	}
}

// adopt makes chunks, of up to twice the usual size, of a batch that is a gift.
func (c *Chunks) adopt(b *batch.Batch) {
	c.grown()
	parts := (b.N + 2*batch.Target - 1) / (2 * batch.Target)
	for i := range parts {
		k := b.KeepPart(i*b.N/parts, (i+1)*b.N/parts)
		for i, v := range k.Cols {
			v.Type = c.types[i] // of the same layout
		}
		c.pending = append(c.pending, k)
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
func (c *Chunks) Discard() {
	clear(c.pending)
	c.pending, c.pendingRows, c.growing, c.room = c.pending[:0], 0, nil, 0
}

// Publish ends an epoch: snapshots taken from now on have its rows.
func (c *Chunks) Publish(epoch uint64) {
	c.grown()
	if len(c.pending) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v := *c.view.Load()
	v.Epoch = epoch
	v.change++
	v.rows += c.pendingRows
	v.mem, v.bytes = c.combine(v.mem, v.bytes)
	if c.room > 0 {
		c.lastRoom = c.room
	}
	c.Discard()
	c.spare.Store(int64(c.cutter.MemBytes()))
	c.view.Store(&v)
}

// combine adds the pending chunks to mem. Small chunks at its end are copied
// together, each row a logarithmic number of times, so that many small epochs
// do not make many small chunks. Elements that older snapshots share stay. size is
// the memory of them all, before and then.
func (c *Chunks) combine(mem []*batch.Batch, size int64) ([]*batch.Batch, int64) {
	p := c.pending
	n := len(mem)
	rows := p[0].N
	for n > c.frozen && mem[n-1].N < 2*rows && mem[n-1].N+rows <= batch.Target {
		n--
		rows += mem[n].N
	}
	if n < len(mem) {
		size -= memBytes(mem[n:])
		joined := batch.New(c.types, rows)
		for _, b := range mem[n:] {
			joined.AppendBatch(b, nil)
		}
		joined.AppendBatch(p[0], nil)
		mem = append(append(make([]*batch.Batch, 0, n+len(p)+16), mem[:n]...), joined)
		p = p[1:]
		size += int64(joined.MemBytes())
	}
	return append(mem, p...), size + memBytes(p)
}

// memBytes gives the memory of chunks.
func memBytes(mem []*batch.Batch) (n int64) {
	for _, b := range mem {
		n += int64(b.MemBytes())
	}
	return n
}

// Snapshot gives the contents as of the last published epoch.
func (c *Chunks) Snapshot() *ChunksSnapshot { return c.view.Load() }

// Now gives the same contents as they lie now: who keeps a snapshot of what has not changed lets go of what was written since.
func (v *ChunksSnapshot) Now() *ChunksSnapshot {
	if now := v.c.view.Load(); now.change == v.change {
		return now
	}
	return v
}

// DropContents empties the relation, on disk with the next checkpoint.
func (c *Chunks) DropContents() {
	c.Discard()
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.view.Load()
	// Chunk numbers go on, so that a checkpoint that is being written cannot mix with what comes.
	next := v.disk.next + uint64(c.frozen)
	c.frozen, c.wiped = 0, true
	c.view.Store(&ChunksSnapshot{c: c, pin: v.pin, disk: count{0, next, next}, change: v.change + 1, Epoch: v.Epoch})
}

// MemBytes gives the memory of chunks that are not on disk, without looking at them: it is asked after every few epochs.
func (c *Chunks) MemBytes() int64 { return c.spare.Load() + c.view.Load().bytes }

// Freeze gives the section with what was published since the last one; nil if
// there is nothing. One checkpoint is written at a time.
func (c *Chunks) Freeze() *Section {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutter.Drop() // those who have chunks of its memory soon let go of them
	c.spare.Store(0)
	v := c.view.Load()
	mem := v.mem[c.frozen:]
	if len(mem) == 0 && !c.wiped {
		return nil
	}
	first := v.disk.next + uint64(c.frozen)
	s := &Section{prefix: relationKey(keyContent, c.oid), entries: int64(len(mem)), bytes: memBytes(mem), scanned: true}
	if c.wiped {
		s.ranges = append(s.ranges, tableRange(contentKey(c.oid, 0), contentKey(c.oid, v.disk.first)))
		c.wiped = false
	}
	s.each = func(f func(change) error) error {
		var key, buf []byte
		for i, b := range mem {
			key, buf = binary.BigEndian.AppendUint64(append(key[:0], s.prefix...), first+uint64(i)), batch.Encode(buf[:0], b)
			if err := f(change{op: opSet, key: key, val: buf}); err != nil {
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
		v.bytes -= memBytes(v.mem[:n])
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
	v.change++
	if err := v.trimDisk(keep); err != nil {
		return err
	}
	if v.disk.first == v.disk.next && c.frozen == 0 {
		n := 0
		for n < len(v.mem) && v.rows-totalWeight(v.mem[n]) >= keep {
			v.rows -= totalWeight(v.mem[n])
			n++
		}
		v.bytes -= memBytes(v.mem[:n])
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
