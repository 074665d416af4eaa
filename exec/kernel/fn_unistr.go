package kernel

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// unistr replaces Unicode escapes: \XXXX, \+XXXXXX, \uXXXX, \UXXXXXXXX, and \\.
func unistr(_ *frame, dst []byte, a []types.Datum) ([]byte, error) {
	s := a[0].B
	high := rune(0) // the first half of a surrogate pair
	for len(s) > 0 {
		if s[0] != '\\' || len(s) > 1 && s[1] == '\\' {
			if high != 0 {
				return dst, errSurrogates()
			}
			dst = append(dst, s[0])
			if s[0] == '\\' {
				s = s[1:]
			}
			s = s[1:]
			continue
		}
		r, n := escape(s[1:])
		if n == 0 {
			return dst, sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape").
				WithHint(`Unicode escapes must be \XXXX, \+XXXXXX, \uXXXX, or \UXXXXXXXX.`)
		}
		s = s[1+n:]
		switch {
		case r <= 0 || r > utf8.MaxRune:
			return dst, sqlerr.New(sqlerr.InvalidParameterValue, "invalid Unicode code point: %04X", uint32(r))
		case high != 0:
			if r = utf16.DecodeRune(high, r); r == utf8.RuneError {
				return dst, errSurrogates()
			}
			high = 0
		case r >= 0xD800 && r < 0xDC00:
			high = r
			continue
		case r >= 0xDC00 && r < 0xE000:
			return dst, errSurrogates()
		}
		dst = utf8.AppendRune(dst, r)
	}
	if high != 0 {
		return dst, errSurrogates()
	}
	return dst, nil
}

func errSurrogates() error { return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode surrogate pair") }

// escape reads what follows a backslash: the code point and the number of bytes, 0 if it is no escape.
func escape(s []byte) (rune, int) {
	skip, digits := 0, 4
	if len(s) > 0 {
		switch s[0] {
		case '+':
			skip, digits = 1, 6
		case 'u':
			skip = 1
		case 'U':
			skip, digits = 1, 8
		}
	}
	if len(s) < skip+digits {
		return 0, 0
	}
	for _, c := range s[skip : skip+digits] {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return 0, 0
		}
	}
	n, err := strconv.ParseUint(string(s[skip:skip+digits]), 16, 32)
	if err != nil || n > 0x7fffffff {
		return -1, skip + digits
	}
	return rune(n), skip + digits
}
