package wire

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgproto3/v2"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Reasons for cancelling a statement; what the client is told is their message.
var (
	errUserCancel = sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request")
	errTimeout    = sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to statement timeout")
	errShutdown   = &sqlerr.Error{Severity: "FATAL", Code: sqlerr.AdminShutdown, Message: "terminating connection due to administrator command"}
	errClientGone = &sqlerr.Error{Severity: "FATAL", Code: sqlerr.ConnectionException, Message: "connection to client lost"}
)

// errClosed ends the connection's loop without another word to the client.
var errClosed = errors.New("connection closed")

// clientError gives what to tell the client about err, which happened under ctx: of a cancelled statement why it was, with what err has to tell
// of how far the statement got.
func clientError(ctx context.Context, err error) *sqlerr.Error {
	e := sqlerr.From(err)
	if ctx.Err() != nil && (e.Code == sqlerr.QueryCanceled || errors.Is(err, ctx.Err())) {
		if why := (*sqlerr.Error)(nil); errors.As(context.Cause(ctx), &why) {
			told := *why
			told.Detail, told.Where = e.Detail, e.Where
			return &told
		}
	}
	return e
}

// source says which text the position of an error points into.
type source struct {
	text string // of the whole message
	from int    // byte offset of the statement in it
	stmt string // the statement's own text, which byte positions count in
}

// charPosition turns the byte position of an error in the statement into characters of the whole text.
func (s source) charPosition(bytePos int) int {
	if bytePos <= 0 || s.text == "" {
		return 0
	}
	return sqlerr.CharPosition(s.text, min(s.from+bytePos, len(s.text)+1))
}

// errorResponse makes the message for e.
func errorResponse(e *sqlerr.Error, src source) *pgproto3.ErrorResponse {
	severity := e.Severity
	if severity == "" {
		severity = "ERROR"
	}
	code := e.Code
	if code == "" {
		code = sqlerr.InternalError
	}
	return &pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: string(code),
		Message: clean(e.Message), Detail: clean(e.Detail), Hint: clean(e.Hint), Where: clean(e.Where),
		Position:   int32(src.charPosition(e.Position)),
		SchemaName: clean(e.Schema), TableName: clean(e.Table), ColumnName: clean(e.Column), ConstraintName: clean(e.Constraint),
	}
}

// clean makes a string fit for a zero-terminated UTF-8 field.
func clean(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}

// invalidUTF8 is PostgreSQL's error for text that is not in the client encoding, nil where it is.
func invalidUTF8(b []byte) *sqlerr.Error {
	i := 0
	for i < len(b) {
		if b[i] < utf8.RuneSelf {
			if b[i] == 0 {
				return sqlerr.New(sqlerr.CharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8": 0x00`)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return badSequence(b[i:])
		}
		i += n
	}
	return nil
}

// badSequence names as many bytes as the first one announces.
func badSequence(b []byte) *sqlerr.Error {
	n := 1
	switch c := b[0]; {
	case c&0xe0 == 0xc0:
		n = 2
	case c&0xf0 == 0xe0:
		n = 3
	case c&0xf8 == 0xf0:
		n = 4
	}
	const hex = "0123456789abcdef"
	var sb strings.Builder
	for i, c := range b[:min(n, len(b))] {
		if i > 0 {
			sb.WriteByte(' ')
		}
		sb.WriteString("0x")
		sb.WriteByte(hex[c>>4])
		sb.WriteByte(hex[c&15])
	}
	return sqlerr.New(sqlerr.CharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8": %s`, sb.String())
}
