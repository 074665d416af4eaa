package kernel

import (
	"bytes"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Short forms of impl for the tables.

type (
	rowFunc  = func(f *frame, a []types.Datum) (types.Datum, error)
	textFunc = func(f *frame, dst []byte, a []types.Datum) ([]byte, error)
)

// text lifts a function on byte strings that cannot fail.
func textOf(g func(dst []byte, s []byte) []byte) impl {
	return impl{text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) { return g(dst, a[0].B), nil }}
}

// intOf lifts a function on arguments to an integer that cannot fail.
func intOf(g func(a []types.Datum) int) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) { return types.IntDatum(int64(g(a))), nil }}
}

// boolOf lifts a test.
func boolOf(g func(a []types.Datum) bool) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) { return types.BoolDatum(g(a)), nil }}
}

// sliceOf lifts a function that gives a part of its arguments.
func sliceOf(g func(a []types.Datum) []byte) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) { return types.Datum{B: g(a)}, nil }}
}

// cached gives what make made of key, keeping the last: patterns are nearly always constants.
func cached[T any](f *frame, key []byte, make func(key []byte) (T, error)) (T, error) {
	if f.cache != nil && bytes.Equal(f.cacheKey, key) {
		return f.cache.(T), nil
	}
	v, err := make(key)
	if err == nil {
		f.cache, f.cacheKey = v, append(f.cacheKey[:0], key...)
	}
	return v, err
}

const (
	// maxData bounds the bytes of one result vector, whose offsets have 32 bits.
	maxData = 1 << 31
	// maxText bounds the result of one function, as PostgreSQL's limit of a field does.
	maxText = 1 << 30
)

var errVectorFull = sqlerr.New(sqlerr.ProgramLimitExceeded, "results of an expression exceed 2 GB in one batch")

func errTooLong() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "requested length too large")
}

// runeEnd gives the byte offset after the first n characters of s.
func runeEnd(s []byte, n int) int {
	if n >= len(s) {
		return len(s)
	}
	i := 0
	for ; n > 0 && i < len(s); n-- {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, k := utf8.DecodeRune(s[i:])
		i += k
	}
	return i
}
