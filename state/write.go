package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tidemarkdb/tidemark/state/table"
)

// smallWrite is the size up to which a checkpoint is one synced batch: making
// and ingesting tables costs some milliseconds whatever they hold.
const smallWrite int64 = 1 << 20

// tableSize is where a table to ingest is cut.
const tableSize = 64 << 20

// scannedBlock is the size of blocks of a section that is scanned: several chunks. What is read and decompressed for one of them hardly matters, and each block costs
// its writer an allocation, an entry in the index and a call for writing.
const scannedBlock = 128 << 10

// ownTable is the size from which on a section that is scanned has tables of its own. These have large blocks, and since their keys are mostly above all that there are
// they go to the last level at once, where no compaction writes them again.
const ownTable = 4 << 20

// Write makes sections and the named records of a checkpoint durable in one
// atomic step, and then moves what they hold from memory to disk for new
// snapshots. A record with a nil value is deleted. One Write runs at a time,
// beside the epochs. After an error nothing has changed and it can be called
// again with the same sections, unless the store has become read-only.
func (s *Store) Write(ctx context.Context, sections []*Section, named map[string][]byte) error {
	sections = slices.Clone(sections)
	sections = slices.DeleteFunc(sections, func(x *Section) bool { return x == nil })
	slices.SortFunc(sections, compareSections)
	size := int64(0)
	for i, x := range sections {
		if i > 0 && compareSections(sections[i-1], x) == 0 {
			return fmt.Errorf("two sections of one checkpoint have the keys %x", x.prefix)
		}
		if x.sorted != nil {
			x.sorted()
		}
		// What was dropped before any of it was written has a range that ends where it begins. Pebble would write it, and its compactions lose their place there.
		x.ranges = slices.DeleteFunc(x.ranges, func(r table.Range) bool { return bytes.Compare(r.Lo, r.Hi) >= 0 })
		size += x.bytes
	}
	s.wrote.Store(0)
	s.toWrite.Store(size)
	// A checkpoint may use half of the reserve: after it, the log and what was dropped can be deleted.
	if err := s.checkSpace(int(size), s.opts.ReserveBytes/2); err != nil {
		return err
	}
	// What the log may lose must not be in a checkpoint.
	if err := s.SyncLog(); err != nil {
		return err
	}
	all := append(slices.Clone(sections), recordSections(sections, named)...)
	write := s.ingest
	if size <= s.smallWrite {
		write = s.apply
	}
	var p *pin
	err := s.guard(func() error {
		err := write(ctx, all)
		if err == nil {
			p = s.renewPin()
		}
		return err
	})
	if err != nil {
		return err
	}
	s.wrote.Store(size)
	for _, x := range sections {
		s.noteCounts(x.records)
		x.written(p)
	}
	return nil
}

// WriteProgress gives the part of the Write that runs, or ran last, that is done, about: from 0 to 1. It may be called from any goroutine.
func (s *Store) WriteProgress() float64 {
	return min(float64(s.wrote.Load())/float64(max(s.toWrite.Load(), 1)), 1)
}

// recordSections gives the sections of small records, whose keys come last.
func recordSections(sections []*Section, named map[string][]byte) []*Section {
	counts := &Section{prefix: []byte{keyCount}}
	var changes []change
	for _, x := range sections {
		for _, r := range x.records {
			changes = append(changes, setOrDelete(r.key, r.val))
		}
	}
	counts.each = eachOf(changes)
	var marks []change
	for name, val := range named {
		marks = append(marks, setOrDelete(namedKey(keyMark, name), val))
	}
	return []*Section{counts, {prefix: []byte{keyMark}, each: eachOf(marks)}}
}

func setOrDelete(key, val []byte) change {
	if val == nil {
		return change{op: opDelete, key: key}
	}
	return change{opSet, key, val}
}

func eachOf(changes []change) func(func(change) error) error {
	slices.SortFunc(changes, func(a, b change) int { return bytes.Compare(a.key, b.key) })
	return func(f func(change) error) error {
		for _, c := range changes {
			if err := f(c); err != nil {
				return err
			}
		}
		return nil
	}
}

// apply writes one synced batch.
func (s *Store) apply(ctx context.Context, sections []*Section) error {
	b := s.db.NewBatch()
	for _, x := range sections {
		for _, r := range x.ranges {
			if err := b.DeleteRange(r.Lo, r.Hi, nil); err != nil {
				return errors.Join(err, b.Close())
			}
		}
		err := x.each(func(c change) error {
			switch c.op {
			case opDelete:
				return b.Delete(c.key, nil)
			case opMerge:
				return b.Merge(c.key, c.val, nil)
			}
			return b.Set(c.key, c.val, nil)
		})
		if err := errors.Join(err, ctx.Err()); err != nil {
			return errors.Join(err, b.Close())
		}
	}
	return errors.Join(s.db.Apply(b, pebble.Sync), b.Close())
}

// ingest writes sorted tables and has Pebble take them in, all in one step.
func (s *Store) ingest(ctx context.Context, sections []*Section) error {
	w := &tableWriter{s: s, ctx: ctx}
	err := w.write(sections)
	if err == nil {
		err = w.finish(nil)
	}
	if err == nil && len(w.paths) > 0 {
		err = s.db.Ingest(ctx, w.paths)
	}
	for _, p := range w.paths {
		// Pebble removes what it took in; after an error the rest is ours.
		if _, statErr := s.fs.Stat(p); statErr == nil {
			err = errors.Join(err, s.fs.Remove(p))
		}
	}
	return err
}

// tableWriter writes sections to tables that do not overlap.
type tableWriter struct {
	s     *Store
	ctx   context.Context
	paths []string

	w      *sstable.Writer
	own    bool // w is of one section that is scanned
	size   int
	ranges []table.Range // to delete, not yet written, ascending
}

func (t *tableWriter) write(sections []*Section) error {
	for _, x := range sections {
		if own := x.scanned && x.bytes >= ownTable; own || t.own {
			if err := t.finish(x.prefix); err != nil {
				return err
			}
			t.own = own
		}
		t.ranges = append(t.ranges, x.ranges...)
		if len(x.ranges) > 0 {
			if err := t.open(); err != nil {
				return err
			}
		}
		n := 0
		err := x.each(func(c change) error {
			if n++; n%4096 == 0 && t.ctx.Err() != nil {
				return t.ctx.Err()
			}
			return t.add(c)
		})
		if err != nil {
			if t.w != nil {
				err = errors.Join(err, t.w.Close())
			}
			return err
		}
	}
	return nil
}

func (t *tableWriter) add(c change) error {
	if t.size > t.s.tableSize {
		if err := t.finish(c.key); err != nil {
			return err
		}
	}
	if err := t.open(); err != nil {
		return err
	}
	n := len(c.key) + len(c.val)
	t.size += n
	t.s.wrote.Add(int64(n))
	switch c.op {
	case opDelete:
		return t.w.Delete(c.key)
	case opMerge:
		return t.w.Merge(c.key, c.val)
	}
	return t.w.Set(c.key, c.val)
}

func (t *tableWriter) open() error {
	if t.w != nil {
		return nil
	}
	fs := t.s.fs
	path := fs.PathJoin(t.s.dir, ingestDir, fmt.Sprintf("%06d.sst", t.s.nextFile.Add(1)))
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	t.paths = append(t.paths, path)
	// As for level 0: in a table made for the last level deletions count as
	// obsolete, since there is nothing below for them to delete.
	opts := t.s.po.MakeWriterOptions(0, t.s.db.TableFormat())
	opts.Compression = compressed()
	if t.own {
		opts.BlockSize = scannedBlock
	}
	t.w = sstable.NewWriter(objstorageprovider.NewFileWritable(f), opts)
	t.size = 0
	return nil
}

// finish completes the current table with the range deletions before next (nil: all).
func (t *tableWriter) finish(next []byte) error {
	if t.w == nil {
		return nil
	}
	var rest []table.Range
	for _, r := range t.ranges {
		if next != nil && bytes.Compare(r.Lo, next) >= 0 {
			rest = append(rest, r)
			continue
		}
		if next != nil && bytes.Compare(r.Hi, next) > 0 {
			rest = append(rest, table.Range{Lo: next, Hi: r.Hi})
			r.Hi = slices.Clone(next)
		}
		if err := t.w.DeleteRange(r.Lo, r.Hi); err != nil {
			return errors.Join(err, t.w.Close())
		}
	}
	for i := range rest {
		rest[i].Lo = slices.Clone(rest[i].Lo)
	}
	t.ranges = rest
	err := t.w.Close()
	t.w = nil
	return err
}
