package file

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// blockBytes is how much of a file is read at once; maxRecord bounds one row's text.
const (
	blockBytes = 1 << 18
	maxRecord  = 16 << 20
)

// lineReader gives a text file piece by piece. What lies in window() begins with a row; take moves on.
type lineReader struct {
	f     *os.File
	r     io.Reader
	stop  func() // ends decompression
	buf   []byte
	lo    int
	hi    int
	at    int64 // position of lo in the decompressed file
	line  int64 // lines before it
	limit int64 // where the file is said to end; -1: where it does
	eof   bool
}

// compression gives what a file is compressed with: "gzip", "zstd" or "".
func (o *options) compressionOf(name string) string {
	switch o.compression {
	case "none":
		return ""
	case "auto":
		switch {
		case strings.HasSuffix(name, ".gz"), strings.HasSuffix(name, ".gzip"):
			return "gzip"
		case strings.HasSuffix(name, ".zst"), strings.HasSuffix(name, ".zstd"):
			return "zstd"
		}
		return ""
	}
	return o.compression
}

// openLines opens a text file at its beginning.
func openLines(path, compression string, limit int64) (*lineReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	size := int64(blockBytes)
	if limit >= 0 { // many files are small
		size = min(size, limit+512)
	}
	l := &lineReader{f: f, r: f, limit: limit, buf: make([]byte, size)}
	switch compression {
	case "gzip":
		z, err := gzip.NewReader(f)
		if err != nil {
			f.Close()
			return nil, damaged(err)
		}
		l.r = z
	case "zstd":
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
		if err != nil {
			f.Close()
			return nil, damaged(err)
		}
		l.r, l.stop = z, z.Close
	}
	return l, nil
}

// errDamaged marks what is wrong with a file's content, which no other attempt would change.
var errDamaged = errors.New("damaged file")

func damaged(err error) error {
	return sqlerr.New(sqlerr.BadCopyFileFormat, "the file is damaged: %v", err).WithCause(errDamaged)
}

// seek moves to a position that was recorded, with as many lines before it.
func (l *lineReader) seek(at, line int64) error {
	if l.r == l.f {
		if _, err := l.f.Seek(at, io.SeekStart); err != nil {
			return err
		}
		l.lo, l.hi, l.eof = 0, 0, false
		l.at, l.line = at, line
		return nil
	}
	for l.at < at {
		if l.lo == l.hi {
			if l.eof {
				return errShort
			}
			if err := l.fill(); err != nil {
				return err
			}
		}
		n := min(at-l.at, int64(l.hi-l.lo))
		l.lo, l.at = l.lo+int(n), l.at+n
	}
	l.line = line
	return nil
}

// errShort says that a file is shorter than it was.
var errShort = errors.New("the file is shorter than it was")

// window is what was read and not taken.
func (l *lineReader) window() []byte { return l.buf[l.lo:l.hi] }

// take moves over n bytes with so many line ends.
func (l *lineReader) take(n int, lines int64) {
	l.lo, l.at, l.line = l.lo+n, l.at+int64(n), l.line+lines
}

// fill reads more behind what is in the window. It sets eof at the end.
func (l *lineReader) fill() error {
	if l.lo > 0 {
		l.hi = copy(l.buf, l.buf[l.lo:l.hi])
		l.lo = 0
	}
	if l.hi == len(l.buf) {
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	room := l.buf[l.hi:]
	if l.limit >= 0 {
		left := l.limit - l.at - int64(l.hi)
		if left <= 0 {
			l.eof = true
			return nil
		}
		room = room[:min(int64(len(room)), left)]
	}
	n, err := l.r.Read(room)
	l.hi += n
	if err == io.EOF {
		l.eof = true
		return nil
	}
	if err != nil && l.r != l.f {
		return damaged(err)
	}
	return err
}

// next gives the next line without its end, and the bytes up to behind that. more is false where the window holds no whole line;
// at the end of the file, with last set, what is left is one.
func (l *lineReader) next(last bool) (line []byte, n int, more bool) {
	w := l.window()
	i := bytes.IndexByte(w, '\n')
	if i < 0 {
		if l.eof && last && len(w) > 0 {
			return trimCR(w), len(w), true
		}
		return nil, 0, false
	}
	return trimCR(w[:i]), i + 1, true
}

func trimCR(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return b[:n-1]
	}
	return b
}

// skipLong moves over a row that is longer than the bound, up to behind its first line end, and gives its beginning.
func (l *lineReader) skipLong() ([]byte, error) {
	raw := bytes.Clone(l.window()[:maxRaw])
	for {
		w := l.window()
		if i := bytes.IndexByte(w, '\n'); i >= 0 {
			l.take(i+1, 1)
			return raw, nil
		}
		l.take(len(w), 0)
		if l.eof {
			return raw, nil
		}
		if err := l.fill(); err != nil {
			return raw, err
		}
	}
}

func errTooLong() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "a row is longer than %d bytes", maxRecord)
}

func (l *lineReader) close() {
	if l.stop != nil {
		l.stop()
	}
	l.f.Close()
}
