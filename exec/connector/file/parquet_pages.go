package file

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// oldDictionary is what writers of the first version of the format say of dictionaries and of pages that refer to them.
//
//lint:ignore SA1019 no file should be written so, but many are
const oldDictionary = format.PlainDictionary

// columnPages reads the pages of a column chunk, and decompresses them, into memory that is used again: of columns that are not nested and in the encodings PLAIN and dictionary, which
// is what writers make unless they are told otherwise. All else the library reads, at the price of memory made for each dictionary and some copies.
type columnPages struct {
	in      io.ReaderAt
	at, end int64          // what is not in mem.raw
	codec   compress.Codec // nil: none
	kind    parquet.Kind
	max     byte // greatest definition level, 0 or 1
	mem     *pageMemory
	seen    int64 // rows of the pages before the next
	hasDict bool
}

// pageMemory is what column chunks are read into, one after the other.
type pageMemory struct {
	raw    []byte // of the file
	pos    int    // where the next page begins in it
	page   []byte // decompressed
	paged  []byte // decompressed, of the dictionary
	levels []byte
	index  []int32
	values columnValues
	dict   columnValues
}

var pageMemories = sync.Pool{New: func() any { return new(pageMemory) }}

// columnValues are the values of a page or of a dictionary, in one of three forms: memory that they were decoded in, or their own.
type columnValues struct {
	ints      []int64
	floats    []float64
	data      []byte
	offsets   []uint32
	ascii     bool
	ownInts   []int64
	ownFloats []float64
	ownEnds   []uint32
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

var (
	errOtherPage = errors.New("a page for the library") // that columnPages does not read
	errPageSize  = errors.New("a page is not as long as it says")
)

const (
	readAhead  = 256 << 10
	headerSize = 1 << 10 // of a page, mostly less
	maxHeader  = 16 << 20
)

// newColumnPages gives nil for what only the library can read.
func newColumnPages(in io.ReaderAt, c *parquet.Column, chunk *format.ColumnChunk) *columnPages {
	m := &chunk.MetaData
	if !littleEndian || c.MaxRepetitionLevel() > 0 || c.MaxDefinitionLevel() > 1 || chunk.FilePath != "" || chunk.CryptoMetadata.Value != nil {
		return nil
	}
	p := &columnPages{in: in, at: m.DataPageOffset, kind: c.Type().Kind(), max: byte(c.MaxDefinitionLevel())}
	switch p.kind {
	case parquet.Int32, parquet.Int64, parquet.Float, parquet.Double, parquet.ByteArray:
	default:
		return nil
	}
	if m.DictionaryPageOffset != 0 {
		p.at = m.DictionaryPageOffset
	}
	p.end = p.at + m.TotalCompressedSize
	if m.Codec != format.Uncompressed {
		p.codec = parquet.LookupCompressionCodec(m.Codec)
	}
	p.mem = pageMemories.Get().(*pageMemory)
	p.mem.raw, p.mem.pos = p.mem.raw[:0], 0
	return p
}

func (p *columnPages) close() {
	pageMemories.Put(p.mem)
	p.mem = nil
}

// fill sees to it that the next n bytes of the chunk are in memory, or all that there are.
func (p *columnPages) fill(n int) error {
	m := p.mem
	if len(m.raw)-m.pos >= n || p.at >= p.end {
		return nil
	}
	k := copy(m.raw, m.raw[m.pos:])
	size := int(min(int64(max(n, readAhead)), int64(k)+p.end-p.at))
	m.raw, m.pos = slices.Grow(m.raw[:k], size-k)[:size], 0
	got, err := p.in.ReadAt(m.raw[k:], p.at)
	if got < size-k {
		m.raw = m.raw[:k]
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	p.at += int64(got)
	return nil
}

// header reads the next page's header. io.EOF: there is none.
func (p *columnPages) header(h *format.PageHeader) error {
	for want := headerSize; ; want *= 4 {
		if err := p.fill(want); err != nil {
			return err
		}
		have := p.mem.raw[p.mem.pos:]
		if len(have) == 0 {
			return io.EOF
		}
		*h = format.PageHeader{}
		r := new(thrift.CompactProtocol).NewReaderFromBytes(have)
		err := thrift.NewDecoder(r).Decode(h)
		if err == nil {
			p.mem.pos += r.BytesRead()
			return nil
		}
		if len(have) < want || want > maxHeader {
			return err
		}
	}
}

// body gives the bytes of a page as they are in the file.
func (p *columnPages) body(h *format.PageHeader) ([]byte, error) {
	n := int(h.CompressedPageSize)
	if n < 0 || h.UncompressedPageSize < 0 || int64(n) > int64(len(p.mem.raw)-p.mem.pos)+p.end-p.at {
		return nil, errPageSize
	}
	if err := p.fill(n); err != nil {
		return nil, err
	}
	b := p.mem.raw[p.mem.pos : p.mem.pos+n]
	p.mem.pos += n
	if h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(b) {
		return nil, errors.New("a page has a wrong checksum")
	}
	return b, nil
}

// decompress gives what was compressed in b, in the memory of own.
func (p *columnPages) decompress(b []byte, size int, own *[]byte) ([]byte, error) {
	const most = 64 << 20 // that is made because a file says so
	if cap(*own) < size && size <= most {
		*own = make([]byte, size+size/8)
	}
	out, err := p.codec.Decode((*own)[:cap(*own)], b)
	if err != nil {
		return nil, err
	}
	if len(out) != size {
		return nil, errPageSize
	}
	*own = out
	return out, nil
}

// next reads the next page of data: its rows, the definition levels if there are NULLs, the values of the rows that are not NULL, or of the dictionary of
// which index says which. They are there until the next call. io.EOF: there is none; errOtherPage: the library must go on, at row seen.
func (p *columnPages) next() (rows int, levels []byte, v *columnValues, index []int32, err error) {
	for {
		var h format.PageHeader
		if err := p.header(&h); err != nil {
			return 0, nil, nil, nil, err
		}
		b, err := p.body(&h)
		if err != nil {
			return 0, nil, nil, nil, err
		}
		switch {
		case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
			err = p.dictionary(&h, b)
		case h.Type == format.DataPage && h.DataPageHeader.Valid:
			d := &h.DataPageHeader.V
			rows = int(d.NumValues)
			if b, levels, err = p.levelsV1(&h, b); err == nil {
				v, index, err = p.decode(d.Encoding, b, rows-nulls(levels))
			}
		case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
			d := &h.DataPageHeaderV2.V
			rows = int(d.NumValues)
			if b, levels, err = p.levelsV2(&h, b); err == nil {
				v, index, err = p.decode(d.Encoding, b, rows-nulls(levels))
			}
		default:
			err = errOtherPage
		}
		if err != nil {
			return 0, nil, nil, nil, err
		}
		if v != nil {
			p.seen += int64(rows)
			return rows, levels, v, index, nil
		}
	}
}

// nulls counts the rows whose level, 0 or 1, says that they are NULL.
func nulls(levels []byte) int {
	n := len(levels)
	for ; len(levels) >= 8; levels = levels[8:] {
		n -= bits.OnesCount64(binary.LittleEndian.Uint64(levels))
	}
	for _, l := range levels {
		n -= int(l)
	}
	return n
}

// dictionary decodes a page with a dictionary.
func (p *columnPages) dictionary(h *format.PageHeader, b []byte) (err error) {
	d := &h.DictionaryPageHeader.V
	if p.hasDict || d.Encoding != format.Plain && d.Encoding != oldDictionary {
		return errOtherPage
	}
	if p.codec != nil {
		b, err = p.decompress(b, int(h.UncompressedPageSize), &p.mem.paged)
	} else { // what is read next overwrites it
		p.mem.paged = append(p.mem.paged[:0], b...)
		b = p.mem.paged
	}
	if err != nil {
		return err
	}
	p.hasDict = true
	return p.mem.dict.plain(p.kind, b, int(d.NumValues))
}

// levelsV1 decompresses a page and takes off its levels, which are nil where there are no NULLs.
func (p *columnPages) levelsV1(h *format.PageHeader, b []byte) (_, levels []byte, err error) {
	if p.codec != nil {
		if b, err = p.decompress(b, int(h.UncompressedPageSize), &p.mem.page); err != nil {
			return nil, nil, err
		}
	}
	if p.max == 0 {
		return b, nil, nil
	}
	if h.DataPageHeader.V.DefinitionLevelEncoding != format.RLE {
		return nil, nil, errOtherPage
	}
	if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
		return nil, nil, errPageSize
	}
	n := 4 + int(binary.LittleEndian.Uint32(b))
	levels, err = p.levels(b[4:n], int(h.DataPageHeader.V.NumValues))
	return b[n:], levels, err
}

// levelsV2 is levelsV1 of the second kind of page, whose levels are not compressed.
func (p *columnPages) levelsV2(h *format.PageHeader, b []byte) (_, levels []byte, err error) {
	d := &h.DataPageHeaderV2.V
	skip, n := int(d.RepetitionLevelsByteLength), int(d.DefinitionLevelsByteLength)
	if skip < 0 || n < 0 || skip > len(b) || n > len(b)-skip {
		return nil, nil, errPageSize
	}
	rest := b[skip+n:]
	if p.max > 0 {
		if levels, err = p.levels(b[skip:skip+n], int(d.NumValues)); err != nil {
			return nil, nil, err
		}
	}
	if p.codec != nil && (!d.IsCompressed.Valid || d.IsCompressed.V) {
		rest, err = p.decompress(rest, int(h.UncompressedPageSize)-skip-n, &p.mem.page)
	}
	return rest, levels, err
}

// levels decodes n definition levels; nil: none of the rows is NULL.
func (p *columnPages) levels(b []byte, n int) (_ []byte, err error) {
	if run, k := binary.Uvarint(b); k > 0 && run&1 == 0 && run>>1 >= uint64(n) && k < len(b) && b[k] == 1 {
		return nil, nil // one run of rows that are there
	}
	p.mem.levels, err = (&rle.Encoding{BitWidth: 1}).DecodeLevels(p.mem.levels[:0], b)
	if err == nil && len(p.mem.levels) < n {
		err = errPageSize
	}
	if err != nil || nulls(p.mem.levels[:n]) == 0 {
		return nil, err
	}
	return p.mem.levels[:n], nil
}

// decode decodes the n values of a page.
func (p *columnPages) decode(e format.Encoding, b []byte, n int) (v *columnValues, index []int32, err error) {
	m := p.mem
	switch {
	case e == format.Plain:
		return &m.values, nil, m.values.plain(p.kind, b, n)
	case e != format.RLEDictionary && e != oldDictionary:
		return nil, nil, errOtherPage
	case !p.hasDict:
		return nil, nil, errors.New("a column has no dictionary")
	}
	if m.index, err = (&rle.DictionaryEncoding{}).DecodeInt32(m.index[:0], b); err == nil && len(m.index) < n {
		err = errPageSize
	}
	if err != nil {
		return nil, nil, err
	}
	return &m.dict, m.index[:n], nil
}

// plain decodes n values as they are. Byte arrays are moved together in b.
func (v *columnValues) plain(kind parquet.Kind, b []byte, n int) error {
	v.ints, v.floats, v.data, v.offsets, v.ascii = nil, nil, nil, nil, false
	size := 4
	if kind == parquet.Int64 || kind == parquet.Double {
		size = 8
	}
	if n < 0 || n > len(b)/size {
		return errPageSize
	}
	switch kind {
	case parquet.Int64:
		v.ints = wordsIn(b, n, &v.ownInts)
	case parquet.Double:
		v.floats = wordsIn(b, n, &v.ownFloats)
	case parquet.Int32:
		v.ownInts = slices.Grow(v.ownInts[:0], n)[:n]
		for i := range n {
			v.ownInts[i] = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
		v.ints = v.ownInts
	case parquet.Float:
		v.ownFloats = slices.Grow(v.ownFloats[:0], n)[:n]
		for i := range n {
			v.ownFloats[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
		v.floats = v.ownFloats
	default:
		return v.texts(b, n)
	}
	return nil
}

// wordsIn gives the n words in b: where they lie if that is aligned, else in own.
func wordsIn[T int64 | float64](b []byte, n int, own *[]T) []T {
	if n == 0 {
		return nil
	}
	at := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(at)%unsafe.Alignof(T(0)) == 0 {
		return unsafe.Slice((*T)(at), n)
	}
	*own = slices.Grow((*own)[:0], n)[:n]
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*own))), 8*n), b)
	return *own
}

// texts moves n byte arrays, each behind its length, together.
func (v *columnValues) texts(b []byte, n int) error {
	const short = 16 // copied as if it were so long, without a loop or a call
	v.ownEnds = slices.Grow(v.ownEnds[:0], n+1)[:n+1]
	ends := v.ownEnds
	ends[0] = 0
	at, to := 0, 0
	for i := range n {
		if len(b)-at < 4 {
			return errPageSize
		}
		size := int(binary.LittleEndian.Uint32(b[at:]))
		at += 4
		if size > len(b)-at {
			return errPageSize
		}
		if size <= short && at-to >= short && at+short <= len(b) {
			*(*[short]byte)(b[to:]) = [short]byte(b[at:])
		} else {
			copy(b[to:], b[at:at+size])
		}
		at, to = at+size, to+size
		ends[i+1] = uint32(to)
	}
	v.data, v.offsets, v.ascii = b[:to], ends, isASCII(b[:to])
	return nil
}
