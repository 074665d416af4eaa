package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgproto3/v2"
)

// Sizes of the input buffer: what a connection starts with, and what COPY raises it to.
const (
	readBufferSize = 8 << 10
	copyBufferSize = 1 << 20
)

// The longest start-up packet, and the longest message of a kind that carries
// neither SQL nor data, as in PostgreSQL.
const (
	maxStartupPacket = 10000
	maxSmallMessage  = 10000
)

// errProtocol is a violation after which the byte stream cannot be trusted.
type errProtocol struct{ msg string }

// Error implements error.
func (e *errProtocol) Error() string { return e.msg }

func protocolErrorf(format string, args ...any) error {
	return &errProtocol{fmt.Sprintf(format, args...)}
}

// framer cuts a byte stream into protocol messages. A body that it returns is
// valid until the next call. It reads into one buffer as much as the socket
// gives, so that small messages cost no system call each; the buffer grows for
// a long message only as its bytes arrive, so that a false length costs nothing.
type framer struct {
	r      io.Reader
	buf    []byte
	lo, hi int // unread bytes are buf[lo:hi]
	max    int // longest body
}

func newFramer(r io.Reader, maxBody int) *framer {
	return &framer{r: r, buf: make([]byte, readBufferSize), max: maxBody}
}

// buffered gives the number of bytes that were read but not taken.
func (f *framer) buffered() int { return f.hi - f.lo }

// need makes at least n bytes available at lo.
func (f *framer) need(n int) error {
	for f.hi-f.lo < n {
		if f.lo == f.hi {
			f.lo, f.hi = 0, 0
		}
		if len(f.buf)-f.lo < n {
			f.makeRoom(n)
		}
		m, err := f.r.Read(f.buf[f.hi:])
		f.hi += m
		if err != nil && f.hi-f.lo < n {
			if errors.Is(err, io.EOF) && f.hi > f.lo {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// makeRoom moves the unread bytes to the front and doubles the buffer if it is full of them.
func (f *framer) makeRoom(n int) {
	dst := f.buf
	if have := f.hi - f.lo; have*2 > len(f.buf) && len(f.buf) < n {
		dst = make([]byte, min(max(n, readBufferSize), 2*len(f.buf)))
	}
	f.hi = copy(dst, f.buf[f.lo:f.hi])
	f.lo, f.buf = 0, dst
}

// resize gives the buffer the size n if it holds no more than that.
func (f *framer) resize(n int) {
	if len(f.buf) == n || f.hi-f.lo > n {
		return
	}
	dst := make([]byte, n)
	f.hi = copy(dst, f.buf[f.lo:f.hi])
	f.lo, f.buf = 0, dst
}

// startup reads a packet without a type byte: the first ones of a connection.
func (f *framer) startup() ([]byte, error) {
	if err := f.need(4); err != nil {
		return nil, err
	}
	n := int(int32(binary.BigEndian.Uint32(f.buf[f.lo:]))) - 4
	if n < 4 || n > maxStartupPacket {
		return nil, protocolErrorf("invalid length of startup packet")
	}
	if err := f.need(4 + n); err != nil {
		return nil, err
	}
	body := f.buf[f.lo+4 : f.lo+4+n]
	f.lo += 4 + n
	return body, nil
}

// next reads a message.
func (f *framer) next() (typ byte, body []byte, err error) {
	if err := f.need(5); err != nil {
		return 0, nil, err
	}
	typ = f.buf[f.lo]
	n := int(int32(binary.BigEndian.Uint32(f.buf[f.lo+1:]))) - 4
	limit := maxSmallMessage
	switch typ {
	case 'Q', 'P', 'B', 'd', 'F':
		limit = f.max
	case 'C', 'D', 'E', 'H', 'S', 'X', 'c', 'f', 'p':
	default:
		return 0, nil, protocolErrorf("invalid frontend message type %d", typ)
	}
	if n < 0 || n > limit {
		return 0, nil, protocolErrorf("invalid message length")
	}
	if err := f.need(5 + n); err != nil {
		return 0, nil, err
	}
	body = f.buf[f.lo+5 : f.lo+5+n : f.lo+5+n]
	f.lo += 5 + n
	return typ, body, nil
}

// decode fills msg from a message's body. pgproto3 indexes some bodies without
// looking at their length first, so a panic there means a malformed message.
func decode(msg pgproto3.FrontendMessage, body []byte) (err error) {
	defer func() {
		if recover() != nil {
			err = protocolErrorf("invalid message format")
		}
	}()
	if msg.Decode(body) != nil {
		return protocolErrorf("invalid message format")
	}
	return nil
}
