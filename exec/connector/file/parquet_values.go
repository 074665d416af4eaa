package file

import (
	"encoding/binary"
	"io"
	"math/big"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// pageCursor goes through the values of one column of a row group.
type pageCursor struct {
	fast  *columnPages // nil: the library reads them
	chunk parquet.ColumnChunk
	pages parquet.Pages // the library's
	page  parquet.Page
	field *field
	max   byte // definition level of a value that is not NULL

	// What the values are: a SQL type, with the scale of a decimal, and the factor by which integers become microseconds.
	src      types.Type
	decimal  bool
	scale    int
	mul, div int64
	direct   bool // values of src are laid out as the column's

	// The page: rows, levels (nil: no NULL), and the values of rows that are not NULL in one of three forms, which are those of the dictionary where
	// the page has one. They are the page's memory, or in own and ownFloats.
	rows      int
	row       int
	val       int
	levels    []byte
	index     []int32 // of each value its place in the dictionary
	ints      []int64 // before mul and div
	floats    []float64
	isBytes   bool
	data      []byte
	offsets   []uint32 // nil: of fixed size
	size      int
	ascii     bool // data is text that needs no other check
	own       []int64
	ownFloats []float64
	scratch   []byte
}

// newPageCursor goes through a column chunk by own, or as the library reads it if that is nil.
func newPageCursor(c *parquet.Column, chunk parquet.ColumnChunk, own *columnPages, f *field) *pageCursor {
	p := &pageCursor{fast: own, chunk: chunk, field: f, max: byte(c.MaxDefinitionLevel()), mul: 1, div: 1}
	p.describe(c.Type())
	return p
}

// describe decides what the column's values are.
func (p *pageCursor) describe(t parquet.Type) {
	var logical format.LogicalTypeValue
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	switch t.Kind() {
	case parquet.Boolean:
		p.src = types.Of(types.Bool)
	case parquet.Int32, parquet.Int64:
		p.src = types.Of(types.Int8)
	case parquet.Int96:
		p.src = types.Of(types.Timestamp)
	case parquet.Float, parquet.Double:
		p.src = types.Of(types.Float8)
	default:
		p.src = types.Of(types.Text)
	}
	switch l := logical.(type) {
	case *format.DecimalType:
		p.decimal, p.scale = true, int(l.Scale)
	case *format.DateType:
		p.src = types.Of(types.Date)
	case *format.TimestampType:
		p.src = types.Of(types.Timestamp)
		if l.IsAdjustedToUTC {
			p.src = types.Of(types.TimestampTZ)
		}
		p.unit(&l.Unit)
	case *format.TimeType:
		p.src = types.Of(types.Time)
		p.unit(&l.Unit)
	case *format.UUIDType:
		p.src = types.Of(types.UUID)
	}
	to := p.field.typ
	time := func(k types.Kind) bool { return k == types.Timestamp || k == types.TimestampTZ }
	switch {
	case p.decimal:
	case to.Kind == p.src.Kind:
		p.direct = to.Mod == 0
	case p.src.Kind == types.Int8:
		p.direct = p.field.op == opInt
	case time(p.src.Kind):
		p.direct = time(to.Kind) && to.Mod == 0
	case p.src.Kind == types.Text:
		p.direct = to.Kind == types.Bytea
	case t.Kind() == parquet.Float:
		p.direct = to.Kind == types.Float4
	}
}

func (p *pageCursor) unit(u *format.TimeUnit) {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		p.mul = 1000
	case *format.NanoSeconds:
		p.div = 1000
	}
}

// load reads the next page. io.EOF: there is none.
func (p *pageCursor) load() error {
	p.release()
	if p.fast != nil {
		if err := p.loadFast(); err != errOtherPage {
			return err
		}
		if err := p.leaveFast(); err != nil {
			return err
		}
	}
	if p.pages == nil {
		p.pages = p.chunk.Pages()
	}
	page, err := p.pages.ReadPage()
	if err != nil {
		return err
	}
	p.page, p.rows, p.row, p.val, p.index = page, int(page.NumRows()), 0, 0, nil
	p.levels = page.DefinitionLevels()
	if len(p.levels) == 0 || page.NumNulls() == 0 {
		p.levels = nil
	}
	values := page.Data()
	var index []int32
	if d := page.Dictionary(); d != nil {
		index = values.Int32()
		values = d.Page().Data()
	}
	p.values(&values, index)
	n := p.rows
	if p.levels != nil {
		n -= int(page.NumNulls())
	}
	if p.count() < n {
		return errPages
	}
	return nil
}

// loadFast is load of a page that the library need not read.
func (p *pageCursor) loadFast() error {
	rows, levels, v, index, err := p.fast.next()
	if err != nil {
		return err
	}
	p.rows, p.row, p.val, p.levels, p.index = rows, 0, 0, levels, index // levels are nil where there are no NULLs
	p.ints, p.floats, p.data, p.offsets, p.isBytes, p.ascii = v.ints, v.floats, v.data, v.offsets, v.offsets != nil, v.ascii
	if p.count() < rows-nulls(levels) {
		return errPages
	}
	return nil
}

// leaveFast has the library go on behind the pages that were read.
func (p *pageCursor) leaveFast() error {
	seen := p.fast.seen
	p.fast.close()
	p.fast, p.pages = nil, p.chunk.Pages()
	return p.pages.SeekToRow(seen)
}

// values takes the values of a page, or those of a dictionary of which index says which.
func (p *pageCursor) values(v *encoding.Values, index []int32) {
	p.ints, p.floats, p.data, p.offsets, p.isBytes, p.index = nil, nil, nil, nil, false, index
	switch v.Kind() {
	case encoding.Boolean:
		p.own = p.own[:0]
		for i, bits := 0, v.Boolean(); i < 8*len(bits); i++ {
			p.own = append(p.own, int64(bits[i/8]>>(i%8)&1))
		}
		p.ints = p.own
	case encoding.Int32:
		src := v.Int32()
		p.own = slices.Grow(p.own[:0], len(src))[:len(src)]
		for i, x := range src {
			p.own[i] = int64(x)
		}
		p.ints = p.own
	case encoding.Int64:
		p.ints = v.Int64()
	case encoding.Int96:
		p.own = p.own[:0]
		for _, x := range v.Int96() {
			const julianOf1970, day = 2440588, 86_400_000_000
			p.own = append(p.own, (int64(x[2])-julianOf1970)*day+int64(uint64(x[1])<<32|uint64(x[0]))/1000)
		}
		p.ints = p.own
	case encoding.Float:
		p.ownFloats = p.ownFloats[:0]
		for _, x := range v.Float() {
			p.ownFloats = append(p.ownFloats, float64(x))
		}
		p.floats = p.ownFloats
	case encoding.Double:
		p.floats = v.Double()
	case encoding.ByteArray:
		p.data, p.offsets = v.ByteArray()
		p.isBytes = true
	case encoding.FixedLenByteArray:
		p.data, p.size = v.FixedLenByteArray()
		p.isBytes = true
	}
	p.ascii = p.isBytes && isASCII(p.data)
}

// isASCII says whether b has bytes from 1 to 127 only.
func isASCII(b []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	var words uint64
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		words |= w | (w-ones)&^w // a byte that is 0 borrows from its top bit, and is the first to do so
	}
	if words&tops != 0 {
		return false
	}
	var high byte
	for _, c := range b {
		high |= c | (c - 1)
	}
	return high < 0x80
}

// scaled makes microseconds of a time.
func (p *pageCursor) scaled(x int64) int64 {
	if p.div == 1 {
		return x * p.mul
	}
	q := x / p.div
	if x%p.div < 0 {
		q--
	}
	return q
}

// place gives where value k is.
func (p *pageCursor) place(k int) int {
	if p.index != nil {
		return int(p.index[k])
	}
	return k
}

// int and float give value k.
func (p *pageCursor) int(k int) int64 { return p.scaled(p.ints[p.place(k)]) }

func (p *pageCursor) float(k int) float64 { return p.floats[p.place(k)] }

// gather appends values from to to-1 of src, through the index if there is one.
func gather[T int64 | float64](dst, src []T, index []int32, from, to int) []T {
	if index == nil {
		return append(dst, src[from:to]...)
	}
	n := len(dst)
	dst = slices.Grow(dst, to-from)[:n+to-from]
	for k, i := range index[from:to] {
		dst[n+k] = src[i]
	}
	return dst
}

// count gives the number of values of the page that are not NULL.
func (p *pageCursor) count() int {
	switch {
	case p.index != nil:
		return len(p.index)
	case p.offsets != nil:
		return len(p.offsets) - 1
	case p.isBytes:
		return len(p.data) / max(p.size, 1)
	}
	return max(len(p.ints), len(p.floats))
}

// bytes gives value i of a page of byte arrays.
func (p *pageCursor) bytes(i int) []byte {
	i = p.place(i)
	if p.offsets != nil {
		return p.data[p.offsets[i]:p.offsets[i+1]]
	}
	return p.data[i*p.size : (i+1)*p.size]
}

// skip passes over n rows.
func (p *pageCursor) skip(n int64) error {
	for n > 0 {
		if p.row == p.rows {
			if err := p.load(); err != nil {
				return errPages
			}
			continue
		}
		k := int(min(n, int64(p.rows-p.row)))
		if p.levels == nil {
			p.val += k
		} else {
			for _, l := range p.levels[p.row : p.row+k] {
				if l == p.max {
					p.val++
				}
			}
		}
		p.row, n = p.row+k, n-int64(k)
	}
	return nil
}

// decode adds n rows to v, column i of the stream.
func (p *pageCursor) decode(r *parquetReader, i int, v *batch.Vector, n int) error {
	for n > 0 {
		if p.row == p.rows {
			if err := p.load(); err == io.EOF {
				return errPages
			} else if err != nil {
				return err
			}
			continue
		}
		k := min(n, p.rows-p.row)
		if p.levels == nil {
			p.plain(r, i, v, k)
		} else {
			for _, l := range p.levels[p.row : p.row+k] {
				if l == p.max {
					p.plain(r, i, v, 1)
				} else {
					r.null(i, v)
				}
			}
		}
		p.row, n = p.row+k, n-k
	}
	return nil
}

// plain adds the next n values, none of them NULL.
func (p *pageCursor) plain(r *parquetReader, i int, v *batch.Vector, n int) {
	from, to := p.val, p.val+n
	p.val = to
	f := p.field
	switch {
	case !p.direct:
		for k := from; k < to; k++ {
			r.value(i, v, p.text(k))
		}
	case p.src.Kind == types.Float8:
		if v.Valid == nil {
			v.F64 = gather(v.F64, p.floats, p.index, from, to)
			v.N += n
			return
		}
		for k := from; k < to; k++ {
			v.AppendFloat(p.float(k))
		}
	case p.src.Kind == types.UUID:
		for k := from; k < to; k++ {
			b := p.bytes(k)
			v.AppendPair(int64(beUint64(b)), int64(beUint64(b[8:])))
		}
	case p.src.Kind == types.Text && v.Valid == nil && (p.ascii || f.op != opText):
		p.texts(v, from, to)
	case p.src.Kind == types.Text:
		for k := from; k < to; k++ {
			b := p.bytes(k)
			if f.op == opText && !validText(b) {
				r.value(i, v, b)
				continue
			}
			v.AppendBytes(b)
		}
	case v.Valid == nil && (f.op != opInt || f.typ.Kind == types.Int8):
		size := len(v.I64)
		v.I64 = gather(v.I64, p.ints, p.index, from, to)
		if p.mul != 1 || p.div != 1 {
			for i, x := range v.I64[size:] {
				v.I64[size+i] = p.scaled(x)
			}
		}
		v.N += n
	default:
		for k := from; k < to; k++ {
			x := p.int(k)
			if f.op == opInt && (x < f.lo || x > f.hi) {
				r.value(i, v, strconv.AppendInt(p.scratch[:0], x, 10))
				continue
			}
			v.AppendInt(x)
		}
	}
}

// texts adds values from to to-1 as they are, to a column without NULLs.
func (p *pageCursor) texts(v *batch.Vector, from, to int) {
	if p.offsets != nil && p.index != nil {
		v.AppendPicked(p.data, p.offsets, p.index[from:to])
		return
	}
	for k := from; k < to; k++ {
		v.AppendBytes(p.bytes(k))
	}
}

func beUint64(b []byte) uint64 {
	x := uint64(0)
	for _, c := range b[:8] {
		x = x<<8 | uint64(c)
	}
	return x
}

// text gives value k as text, as its SQL type is shown.
func (p *pageCursor) text(k int) []byte {
	b := p.scratch[:0]
	switch {
	case p.decimal:
		b = p.decimalText(b, k)
	case p.isBytes && p.src.Kind == types.UUID:
		u := p.bytes(k)
		b = types.Append(b, p.src, types.Datum{I: int64(beUint64(u)), J: int64(beUint64(u[8:]))}, parseEnv)
	case p.isBytes:
		b = append(b, p.bytes(k)...)
	case p.src.Kind == types.Float8:
		b = types.Append(b, p.src, types.FloatDatum(p.float(k)), parseEnv)
	default:
		b = types.Append(b, p.src, types.IntDatum(p.int(k)), parseEnv)
	}
	p.scratch = b
	return b
}

// decimalText writes an unscaled integer, of a byte array big-endian in two's complement, with its decimal point.
func (p *pageCursor) decimalText(dst []byte, k int) []byte {
	var x big.Int
	if !p.isBytes {
		x.SetInt64(p.int(k))
	} else if b := p.bytes(k); len(b) > 0 {
		x.SetBytes(b)
		if b[0]&0x80 != 0 {
			x.Sub(&x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
	}
	if x.Sign() < 0 {
		dst = append(dst, '-')
	}
	digits := x.Abs(&x).String()
	for len(digits) <= p.scale {
		digits = "0" + digits
	}
	dst = append(dst, digits[:len(digits)-p.scale]...)
	if p.scale > 0 {
		dst = append(append(dst, '.'), digits[len(digits)-p.scale:]...)
	}
	return dst
}

func (p *pageCursor) release() {
	if p.page != nil {
		parquet.Release(p.page)
		p.page = nil
	}
}

func (p *pageCursor) close() {
	p.release()
	if p.fast != nil {
		p.fast.close()
	}
	if p.pages != nil {
		_ = p.pages.Close()
	}
}
