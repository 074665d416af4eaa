package batch

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/s2"
)

// Bytes are packed only where that halves them: packing costs some nanoseconds a byte, which writing half of it to the log and to a table saves.
// Others are found out by a sample.
const (
	packSample = 4 << 10
	packWorth  = 2
	packMost   = 100 // times that an S2 block may be shorter
)

// packScratch are S2 blocks that are being made.
var packScratch = sync.Pool{New: func() any { return new([]byte) }}

func appendBytes(dst, b []byte) []byte {
	if len(b) >= packSample {
		scratch := packScratch.Get().(*[]byte)
		defer packScratch.Put(scratch)
		pack := func(b []byte) []byte {
			*scratch = s2.Encode((*scratch)[:cap(*scratch)], b)
			return *scratch
		}
		if len(pack(b[:packSample])) <= packSample/packWorth {
			if p := pack(b); len(p) <= len(b)/packWorth && len(p) > len(b)/packMost {
				dst = binary.AppendUvarint(append(dst, 1), uint64(len(p)))
				return append(dst, p...)
			}
		}
	}
	return append(append(dst, 0), b...)
}

// bytes reads n bytes, which alias the encoding or lie in own, which grows as it must.
func (r *reader) bytes(own *[]byte, n int) []byte {
	switch r.byte() {
	case 0:
		return r.take(n)
	case 1:
		p := r.take(r.uvarint(uint64(len(r.b))))
		if got, err := s2.DecodedLen(p); r.bad || err != nil || got != n || n > packMost*len(p) {
			r.bad = true
			return nil
		}
		*own = resize(*own, n)
		b, err := s2.Decode(*own, p)
		if err != nil {
			r.bad = true
			return nil
		}
		return b
	}
	r.bad = true
	return nil
}

// skipBytes passes over n bytes.
func (r *reader) skipBytes(n int) {
	switch r.byte() {
	case 0:
		r.take(n)
	case 1:
		r.take(r.uvarint(uint64(len(r.b))))
	default:
		r.bad = true
	}
}
