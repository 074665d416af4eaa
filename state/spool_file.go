package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// A large spool is a file, which is written once, where a chunk in Pebble is copied into a batch, its log and a memtable, and written again as
// a table. The file is synced, and so is its directory, before a record names it, and it is never changed. It is removed after the deletion of
// what names it is durable.

const (
	spoolDir = "spool"
	// spoolWrite is how much is written at once, about.
	spoolWrite = 4 << 20
	// spoolBlock is what writes that bypass the cache of the operating system are aligned to.
	spoolBlock = 4096
	// frameHead is what stands before a chunk, four bytes each, little-endian: its length, its rows, its columns and, in the highest bit, whether it has
	// weights; CRC-32C of the chunk, and of these 16 bytes.
	frameHead = 20
	// frameWeights marks a chunk with weights.
	frameWeights = 1 << 31
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends a batch as files of spools have it.
func appendFrame(dst []byte, b *batch.Batch) []byte {
	at := len(dst)
	dst = batch.Encode(append(dst, make([]byte, frameHead)...), b)
	body := dst[at+frameHead:]
	f := frame{len(body), b.N, uint32(len(b.Cols)), crc32.Checksum(body, castagnoli)}
	if b.Weights != nil {
		f.columns |= frameWeights
	}
	f.put(dst[at:])
	return dst
}

// frame is what is known of a chunk without reading it.
type frame struct {
	size, rows int
	columns    uint32
	sum        uint32
}

func (f *frame) put(b []byte) {
	binary.LittleEndian.PutUint32(b, uint32(f.size))
	binary.LittleEndian.PutUint32(b[4:], uint32(f.rows))
	binary.LittleEndian.PutUint32(b[8:], f.columns)
	binary.LittleEndian.PutUint32(b[12:], f.sum)
	binary.LittleEndian.PutUint32(b[16:], crc32.Checksum(b[:16], castagnoli))
}

// get reads what put wrote; false: it is not that.
func (f *frame) get(b []byte) bool {
	f.size, f.rows = int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
	f.columns, f.sum = binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	return binary.LittleEndian.Uint32(b[16:]) == crc32.Checksum(b[:16], castagnoli)
}

func spoolError(err error) error {
	var known *sqlerr.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, syscall.ENOSPC):
		return sqlerr.New(sqlerr.DiskFull, "could not write to the data directory: no space left on device").WithCause(err)
	}
	return sqlerr.New(sqlerr.IOError, "could not write to the data directory: %v", err).WithCause(err)
}

// spoolFile is a file that is being written.
type spoolFile struct {
	s      *Store
	path   string
	f      syncedFile
	direct bool
	size   int64
}

type syncedFile interface {
	io.WriteCloser
	Sync() error
}

func (s *Store) spoolPath(id uint64) string {
	return s.fs.PathJoin(s.dir, spoolDir, fmt.Sprintf("%016x", id))
}

// createSpoolFile makes a spool's file. One that is cold is written beside the cache of the operating system where that can be done: copying
// pages there costs several times the encoding of what is in them.
func (s *Store) createSpoolFile(id uint64, cold bool) (*spoolFile, error) {
	sf := &spoolFile{s: s, path: s.spoolPath(id)}
	if cold && s.opts.fs == nil {
		if f, err := createDirect(sf.path); err == nil {
			sf.f, sf.direct = f, true
			return sf, nil
		}
	}
	return sf, sf.create()
}

func (sf *spoolFile) create() (err error) {
	sf.direct = false
	sf.f, err = sf.s.fs.Create(sf.path, vfs.WriteCategoryUnspecified)
	return err
}

// write writes what is in b, and gives what is left of it: nothing if it is the last.
func (sf *spoolFile) write(b []byte, last bool) ([]byte, error) {
	n := len(b)
	if sf.direct {
		if last {
			b = append(b, make([]byte, -n&(spoolBlock-1))...)
		}
		n = len(b) &^ (spoolBlock - 1)
		if uintptr(unsafe.Pointer(unsafe.SliceData(b)))&(spoolBlock-1) != 0 {
			aligned := make([]byte, len(b)+spoolBlock)
			at := -int(uintptr(unsafe.Pointer(unsafe.SliceData(aligned)))) & (spoolBlock - 1)
			b = aligned[at : at+copy(aligned[at:], b)]
		}
	}
	if n == 0 {
		return b, nil
	}
	_, err := sf.f.Write(b[:n])
	if sf.direct && sf.size == 0 && errors.Is(err, syscall.EINVAL) { // not on this file system
		if err = errors.Join(sf.f.Close(), sf.create()); err == nil {
			_, err = sf.f.Write(b[:n])
		}
	}
	if err != nil {
		return b, err
	}
	sf.size += int64(n)
	return b[:copy(b, b[n:])], nil
}

// finish makes the file durable.
func (sf *spoolFile) finish() error {
	err := sf.f.Sync()
	if err = errors.Join(err, sf.close()); err != nil {
		return err
	}
	return sf.s.syncDir(sf.s.fs.PathJoin(sf.s.dir, spoolDir))
}

// close closes the file if it is open.
func (sf *spoolFile) close() error {
	f := sf.f
	if sf.f = nil; f == nil {
		return nil
	}
	return f.Close()
}

// syncDir makes the names in a directory durable.
func (s *Store) syncDir(path string) error {
	d, err := s.fs.OpenDir(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// eachInFile is eachWith of a spool with a file.
func (s *Spooled) eachInFile(d *batch.Decoder, f func(*batch.Batch) error) (err error) {
	path := s.st.spoolPath(s.id)
	file, err := s.st.fs.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return corrupt("file of spool %d is missing", s.id)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	keep := encodings.Get().(*[]byte)
	defer encodings.Put(keep)
	nothing, at := d != nil && d.Nothing(), int64(0)
	for i := range s.chunks {
		var head [frameHead]byte
		var fr frame
		if at > info.Size()-frameHead {
			return corrupt("spool %d ends before chunk %d of %d", s.id, i, s.chunks)
		}
		if _, err := file.ReadAt(head[:], at); err != nil {
			return err
		}
		if !fr.get(head[:]) {
			return corrupt("head of chunk %d of spool %d has a wrong checksum", i, s.id)
		}
		at += frameHead
		if int64(fr.size) > info.Size()-at {
			return corrupt("spool %d ends in chunk %d of %d", s.id, i, s.chunks)
		}
		var b *batch.Batch
		if nothing && fr.columns&frameWeights == 0 {
			b = d.Rows(fr.rows, int(fr.columns))
		} else if b, err = s.chunkAt(file, at, i, &fr, d, keep); err != nil {
			return err
		}
		at += int64(fr.size)
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}

// chunkAt reads chunk i of a file into buf and decodes it.
func (s *Spooled) chunkAt(file vfs.File, at int64, i int, fr *frame, d *batch.Decoder, buf *[]byte) (*batch.Batch, error) {
	*buf = slices.Grow((*buf)[:0], fr.size)[:fr.size]
	if _, err := file.ReadAt(*buf, at); err != nil {
		return nil, err
	}
	if crc32.Checksum(*buf, castagnoli) != fr.sum {
		return nil, corrupt("chunk %d of spool %d has a wrong checksum", i, s.id)
	}
	b, err := decode(d, *buf)
	if err != nil {
		return nil, corrupt("chunk %d of spool %d: %v", i, s.id, err)
	}
	return b, nil
}

// loadSpoolFiles finds the files of the spools in used, removes those of others, and gives the greatest number of all.
func (s *Store) loadSpoolFiles(used map[uint64]bool) (last uint64, err error) {
	dir := s.fs.PathJoin(s.dir, spoolDir)
	if !s.opts.ReadOnly {
		if err := errors.Join(s.fs.MkdirAll(dir, 0o700), s.syncDir(s.dir)); err != nil {
			return 0, err
		}
	}
	names, err := s.fs.List(dir)
	if err != nil {
		if s.opts.ReadOnly && errors.Is(err, os.ErrNotExist) {
			return 0, nil
		}
		return 0, err
	}
	for _, name := range names {
		id, err := strconv.ParseUint(name, 16, 64)
		if err != nil || s.fs.PathBase(s.spoolPath(id)) != name {
			continue // not ours
		}
		last = max(last, id)
		if used[id] {
			info, err := s.fs.Stat(s.spoolPath(id))
			if err != nil {
				return 0, err
			}
			s.spools.complete(id, info.Size())
		} else if !s.opts.ReadOnly {
			if err := s.fs.Remove(s.spoolPath(id)); err != nil {
				return 0, err
			}
		}
	}
	return last, nil
}

// linkSpools makes the files of spools known in the copy of the data directory in dir. The caller reads the spools, so that they are not removed.
func (s *Store) linkSpools(dir string) error {
	to := s.fs.PathJoin(dir, spoolDir)
	if err := s.fs.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, id := range s.spools.fileIDs() {
		path := s.spoolPath(id)
		if err := vfs.LinkOrCopy(s.fs, path, s.fs.PathJoin(to, s.fs.PathBase(path))); err != nil {
			return err
		}
	}
	return s.syncDir(to)
}
