package wire

import (
	"io"
	"sync"
	"time"

	"github.com/jackc/pgproto3/v2"
)

// flushSize is how many bytes are collected before they are written.
const flushSize = 64 << 10

// lingerTime is how long rows may wait for more while the engine works: it
// lets a SUBSCRIBE that has nothing new show what it has, and costs no write
// per batch of a SELECT.
const lingerTime = 2 * time.Millisecond

// out collects outgoing messages. The connection's goroutine holds mu except
// while it is inside the engine (see conn.engine); then notices, which the
// engine may raise, and the lingering flush may take it.
type out struct {
	mu    sync.Mutex
	w     io.Writer
	buf   []byte
	err   error // the first write error; everything after it is dropped
	timer *time.Timer
	shown bool // buf has rows or notices: what a client can make use of before its statement has ended
}

func (o *out) init(w io.Writer) {
	o.w = w
	o.timer = time.AfterFunc(time.Hour, o.linger)
	o.timer.Stop()
	o.mu.Lock()
}

// linger writes what has waited long enough.
func (o *out) linger() {
	o.mu.Lock()
	_ = o.flush() // kept in o.err
	o.mu.Unlock()
}

// release lets others at the buffer while the connection's goroutine is away.
func (o *out) release() {
	if o.shown {
		o.timer.Reset(lingerTime)
	}
	o.mu.Unlock()
}

// acquire takes the buffer back.
func (o *out) acquire() {
	o.timer.Stop()
	o.mu.Lock()
}

// flush writes everything that was collected.
func (o *out) flush() error {
	if o.err == nil && len(o.buf) > 0 {
		_, o.err = o.w.Write(o.buf)
	}
	if cap(o.buf) > 4*flushSize {
		o.buf = nil // one huge row must not stay for the life of the connection
	}
	o.buf, o.shown = o.buf[:0], false
	return o.err
}

// room flushes if enough has been collected.
func (o *out) room() error {
	if len(o.buf) >= flushSize {
		return o.flush()
	}
	return o.err
}

// send appends a message.
func (o *out) send(m pgproto3.BackendMessage) {
	buf, err := m.Encode(o.buf)
	if err != nil {
		if o.err == nil {
			o.err = err
		}
		return
	}
	o.buf = buf
}
