package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// binarySignature begins binary COPY data; flags and the length of an extension follow.
const binarySignature = "PGCOPY\n\xff\r\n\x00"

// binaryDecoder reads PostgreSQL's binary COPY format.
type binaryDecoder struct {
	pending
	sink   *copySink
	header bool // the header has been read
	skip   int  // bytes of the header's extension still to come
	ended  bool // the trailer has been read
}

func newBinaryDecoder(s *copySink) *binaryDecoder { return &binaryDecoder{sink: s} }

func (d *binaryDecoder) feed(p []byte) error {
	data := d.join(p)
	lo := 0
	for {
		n, err := d.next(data[lo:])
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		lo += n
	}
	d.keep(data, lo)
	if len(d.rest) > d.sink.maxRow {
		return d.sink.tooLong()
	}
	return nil
}

func (d *binaryDecoder) finish() error {
	switch {
	case d.ended:
		return nil
	case !d.header:
		return d.sink.placeError("COPY file signature not recognized")
	case len(d.rest) > 0:
		d.sink.line++
		return d.sink.placeError("unexpected EOF in COPY data")
	}
	return nil // PostgreSQL takes data without a trailer, too
}

// next handles what p begins with and gives its length, 0 where more is needed.
func (d *binaryDecoder) next(p []byte) (int, error) {
	switch {
	case d.ended && len(p) > 0:
		return 0, d.sink.placeError("received copy data after EOF marker")
	case !d.header:
		return d.readHeader(p)
	case d.skip > 0:
		n := min(d.skip, len(p))
		d.skip -= n
		return n, nil
	}
	return d.row(p)
}

func (d *binaryDecoder) readHeader(p []byte) (int, error) {
	const size = len(binarySignature) + 8
	if n := min(len(p), len(binarySignature)); string(p[:n]) != binarySignature[:n] {
		return 0, d.sink.placeError("COPY file signature not recognized")
	}
	if len(p) < size {
		return 0, nil
	}
	flags := binary.BigEndian.Uint32(p[len(binarySignature):])
	if flags&(1<<16) != 0 {
		return 0, d.sink.placeError("invalid COPY file header (WITH OIDS)")
	}
	if flags>>16 != 0 {
		return 0, d.sink.placeError("unrecognized critical flags in COPY file header")
	}
	ext := int32(binary.BigEndian.Uint32(p[len(binarySignature)+4:]))
	if ext < 0 {
		return 0, d.sink.placeError("invalid COPY file header (missing length)")
	}
	d.header, d.skip = true, int(ext)
	return size, nil
}

// row reads a tuple or the trailer.
func (d *binaryDecoder) row(p []byte) (int, error) {
	if len(p) < 2 {
		return 0, nil
	}
	count := int(int16(binary.BigEndian.Uint16(p)))
	if count == -1 {
		d.ended = true
		return 2, nil
	}
	if count != len(d.sink.cols) {
		d.sink.line++
		return 0, d.sink.placeError("row field count is %d, expected %d", count, len(d.sink.cols))
	}
	n, err := d.rowLen(p)
	if n == 0 || err != nil {
		return 0, err
	}
	d.sink.line++
	at := 2
	for c := range d.sink.cols {
		size := int(int32(binary.BigEndian.Uint32(p[at:])))
		at += 4
		if size < 0 {
			d.sink.null(c)
			continue
		}
		if err := appendBinaryField(d.sink.batch.Cols[c], p[at:at+size]); err != nil {
			e := *sqlerr.From(err)
			e.Where = d.place(c)
			return 0, &e
		}
		at += size
	}
	return n, d.sink.endRow(nil, n)
}

// rowLen gives the length of a tuple, 0 where it is not complete.
func (d *binaryDecoder) rowLen(p []byte) (int, error) {
	at := 2
	for c := range d.sink.cols {
		if len(p)-at < 4 {
			return 0, nil
		}
		size := int(int32(binary.BigEndian.Uint32(p[at:])))
		at += 4
		if size < -1 || size > d.sink.maxRow {
			d.sink.line++
			e := sqlerr.New(sqlerr.BadCopyFileFormat, "invalid field size")
			e.Where = d.place(c)
			return 0, e
		}
		if size > 0 {
			if at += size; at > len(p) {
				return 0, nil
			}
		}
	}
	return at, nil
}

func (d *binaryDecoder) place(c int) string {
	return fmt.Sprintf("COPY %s, line %d, column %s", d.sink.relation, d.sink.line, d.sink.cols[c].Name)
}

// appendBinaryField reads a value in binary form.
func appendBinaryField(v *batch.Vector, raw []byte) error {
	t := v.Type
	switch {
	case t.Kind == types.Int8 && len(raw) == 8:
		v.AppendInt(int64(binary.BigEndian.Uint64(raw)))
		return nil
	case t.Kind == types.Int4 && len(raw) == 4:
		v.AppendInt(int64(int32(binary.BigEndian.Uint32(raw))))
		return nil
	case t.Kind.IsString():
		if !plainText(raw) {
			return invalidUTF8(raw)
		}
		if t.Kind == types.Text {
			v.AppendBytes(raw)
			return nil
		}
	}
	d, err := types.ParseBinary(t, raw)
	if err != nil {
		return err
	}
	v.AppendDatum(d)
	return nil
}
