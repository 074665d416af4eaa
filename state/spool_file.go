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
	// frameHead is what a chunk begins with, four bytes each, little-endian: the length of its batch, its rows, its columns and, in the highest bit, whether it has weights; CRC-32C of the
	// list that follows, and of these 16 bytes.
	frameHead = 20
	// frameWeights marks a chunk with weights.
	frameWeights = 1 << 31
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends a batch as files of spools have it: head, list and the batch. The list says of the batch's head and of each column where it ends and its CRC-32C, four bytes each.
func appendFrame(dst []byte, b *batch.Batch) []byte {
	at := len(dst)
	f := frame{rows: b.N, columns: len(b.Cols), weights: b.Weights != nil}
	dst = append(dst, make([]byte, f.body())...)
	body := len(dst)
	dst, ends := batch.EncodeParts(dst, b, make([]int, 0, len(b.Cols)+1))
	f.size = len(dst) - body
	list, from := dst[at+frameHead:body], 0
	for i, end := range ends {
		binary.LittleEndian.PutUint32(list[8*i:], uint32(end))
		binary.LittleEndian.PutUint32(list[8*i+4:], crc32.Checksum(dst[body+from:body+end], castagnoli))
		from = end
	}
	f.sum = crc32.Checksum(list, castagnoli)
	f.put(dst[at:])
	return dst
}

// frame is what the head of a chunk says.
type frame struct {
	size, rows int
	columns    int
	weights    bool
	sum        uint32
}

// body is where the batch begins.
func (f *frame) body() int { return frameHead + 8*(f.columns+1) }

func (f *frame) put(b []byte) {
	columns := uint32(f.columns)
	if f.weights {
		columns |= frameWeights
	}
	binary.LittleEndian.PutUint32(b, uint32(f.size))
	binary.LittleEndian.PutUint32(b[4:], uint32(f.rows))
	binary.LittleEndian.PutUint32(b[8:], columns)
	binary.LittleEndian.PutUint32(b[12:], f.sum)
	binary.LittleEndian.PutUint32(b[16:], crc32.Checksum(b[:16], castagnoli))
}

// get reads what put wrote; false: it is not that.
func (f *frame) get(b []byte) bool {
	columns := binary.LittleEndian.Uint32(b[8:])
	*f = frame{int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:])), int(columns &^ frameWeights), columns&frameWeights != 0, binary.LittleEndian.Uint32(b[12:])}
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
	c := chunkReader{s: s, file: file, size: info.Size(), d: d, buf: keep}
	for c.i = range s.chunks {
		b, err := c.next()
		if err == nil {
			err = f(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chunkReader reads the chunks of a file, one after the other.
type chunkReader struct {
	s        *Spooled
	file     vfs.File
	at, size int64
	i        int // number of the chunk
	d        *batch.Decoder
	buf      *[]byte
	first    [256]byte // head and list of a chunk of some thirty columns
}

// next reads a chunk: all of it, or no more than the columns that are wanted.
func (c *chunkReader) next() (*batch.Batch, error) {
	first := c.first[:min(int64(len(c.first)), max(c.size-c.at, 0))]
	if len(first) < frameHead {
		return nil, corrupt("spool %d ends before chunk %d of %d", c.s.id, c.i, c.s.chunks)
	}
	if _, err := c.file.ReadAt(first, c.at); err != nil {
		return nil, err
	}
	var fr frame
	if !fr.get(first) {
		return nil, c.wrong("head")
	}
	if int64(fr.body())+int64(fr.size) > c.size-c.at {
		return nil, corrupt("spool %d ends in chunk %d of %d", c.s.id, c.i, c.s.chunks)
	}
	at := c.at
	c.at += int64(fr.body()) + int64(fr.size)
	if c.d == nil || c.d.Want == nil || fr.weights || len(first) < fr.body() {
		return c.all(&fr, at)
	}
	list := first[frameHead:fr.body()]
	if crc32.Checksum(list, castagnoli) != fr.sum {
		return nil, c.wrong("list")
	}
	*c.buf = (*c.buf)[:0]
	wanted := 0
	for i := range fr.columns {
		if c.d.Wants(i) {
			from, to := fr.part(list, i+1)
			if from > to || to > fr.size {
				return nil, c.wrong("list")
			}
			wanted += to - from
		}
	}
	*c.buf = slices.Grow(*c.buf, wanted) // not moved any more: columns alias it
	return c.d.Columns(fr.rows, fr.columns, func(i int) ([]byte, error) {
		from, to := fr.part(list, i+1)
		n := len(*c.buf)
		*c.buf = (*c.buf)[:n+to-from]
		b := (*c.buf)[n:]
		if _, err := c.file.ReadAt(b, at+int64(fr.body()+from)); err != nil {
			return nil, err
		}
		if crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(list[8*(i+1)+4:]) {
			return nil, c.wrong("column")
		}
		return b, nil
	})
}

// part says where, in the batch, a part of it lies: its head, or column i-1.
func (f *frame) part(list []byte, i int) (from, to int) {
	if i > 0 {
		from = int(binary.LittleEndian.Uint32(list[8*i-8:]))
	}
	return from, int(binary.LittleEndian.Uint32(list[8*i:]))
}

// all reads a whole chunk.
func (c *chunkReader) all(fr *frame, at int64) (*batch.Batch, error) {
	*c.buf = slices.Grow((*c.buf)[:0], fr.body()-frameHead+fr.size)[:fr.body()-frameHead+fr.size]
	if _, err := c.file.ReadAt(*c.buf, at+frameHead); err != nil {
		return nil, err
	}
	list, body := (*c.buf)[:fr.body()-frameHead], (*c.buf)[fr.body()-frameHead:]
	if crc32.Checksum(list, castagnoli) != fr.sum {
		return nil, c.wrong("list")
	}
	end := 0
	for i := range fr.columns + 1 {
		from, to := fr.part(list, i)
		if from > to || to > len(body) || crc32.Checksum(body[from:to], castagnoli) != binary.LittleEndian.Uint32(list[8*i+4:]) {
			return nil, c.wrong("column")
		}
		end = to
	}
	b, err := decode(c.d, body)
	if err != nil || end != len(body) {
		return nil, corrupt("chunk %d of spool %d: %v", c.i, c.s.id, err)
	}
	return b, nil
}

func (c *chunkReader) wrong(what string) error {
	return corrupt("%s of chunk %d of spool %d has a wrong checksum", what, c.i, c.s.id)
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

// linkSpools makes the files of spools known in the copy of the data directory in dir. The caller has read the spools since before its log was copied, so that
// those that this names are not removed; some of them may have been trimmed meanwhile.
func (s *Store) linkSpools(dir string) error {
	to := s.fs.PathJoin(dir, spoolDir)
	if err := s.fs.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, id := range s.spools.there() {
		path := s.spoolPath(id)
		err := vfs.LinkOrCopy(s.fs, path, s.fs.PathJoin(to, s.fs.PathBase(path)))
		if err != nil && !(errors.Is(err, os.ErrNotExist) && !s.spools.isFile(id)) { // else it was given up or trimmed before
			return err
		}
	}
	return s.syncDir(to)
}
