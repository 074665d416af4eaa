package kernel

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

var textImpls = map[string]impl{
	"length(text)":           intOf(func(a []types.Datum) int { return utf8.RuneCount(a[0].B) }),
	"char_length(text)":      intOf(func(a []types.Datum) int { return utf8.RuneCount(a[0].B) }),
	"character_length(text)": intOf(func(a []types.Datum) int { return utf8.RuneCount(a[0].B) }),
	"length(bpchar)":         intOf(func(a []types.Datum) int { return utf8.RuneCount(trimRight(a[0].B, ' ')) }),
	"char_length(bpchar)":    intOf(func(a []types.Datum) int { return utf8.RuneCount(trimRight(a[0].B, ' ')) }),
	"length(bytea)":          intOf(func(a []types.Datum) int { return len(a[0].B) }),
	"octet_length(bytea)":    intOf(func(a []types.Datum) int { return len(a[0].B) }),
	"octet_length(text)":     intOf(func(a []types.Datum) int { return len(a[0].B) }),
	"octet_length(bpchar)":   intOf(func(a []types.Datum) int { return len(a[0].B) }),
	"bit_length(bytea)":      intOf(func(a []types.Datum) int { return 8 * len(a[0].B) }),
	"bit_length(text)":       intOf(func(a []types.Datum) int { return 8 * len(a[0].B) }),

	"lower(text)":   textOf(appendLower),
	"upper(text)":   textOf(appendUpper),
	"initcap(text)": textOf(appendInitcap),
	"reverse(text)": textOf(func(dst, s []byte) []byte {
		for len(s) > 0 {
			_, n := utf8.DecodeLastRune(s)
			dst = append(dst, s[len(s)-n:]...)
			s = s[:len(s)-n]
		}
		return dst
	}),

	"left(text,int4)":  sliceOf(func(a []types.Datum) []byte { return leftOf(a[0].B, a[1].I) }),
	"right(text,int4)": sliceOf(func(a []types.Datum) []byte { return rightOf(a[0].B, a[1].I) }),

	"substr(text,int4)":              {row: substringFrom},
	"substr(text,int4,int4)":         {row: substringFor},
	"substring(text,int4)":           {row: substringFrom},
	"substring(text,int4,int4)":      {row: substringFor},
	"substr(bytea,int4)":             {row: bytesFrom},
	"substr(bytea,int4,int4)":        {row: bytesFor},
	"substring(bytea,int4)":          {row: bytesFrom},
	"substring(bytea,int4,int4)":     {row: bytesFor},
	"overlay(text,text,int4)":        {text: overlayText},
	"overlay(text,text,int4,int4)":   {text: overlayText},
	"overlay(bytea,bytea,int4)":      {text: overlayBytes},
	"overlay(bytea,bytea,int4,int4)": {text: overlayBytes},

	"ltrim(text)":        sliceOf(func(a []types.Datum) []byte { return bytes.TrimLeft(a[0].B, " ") }),
	"rtrim(text)":        sliceOf(func(a []types.Datum) []byte { return bytes.TrimRight(a[0].B, " ") }),
	"btrim(text)":        sliceOf(func(a []types.Datum) []byte { return bytes.Trim(a[0].B, " ") }),
	"ltrim(text,text)":   trim(true, false),
	"rtrim(text,text)":   trim(false, true),
	"btrim(text,text)":   trim(true, true),
	"ltrim(bytea,bytea)": trimBytes(true, false),
	"rtrim(bytea,bytea)": trimBytes(false, true),
	"btrim(bytea,bytea)": trimBytes(true, true),

	"lpad(text,int4)":      {text: pad(true)},
	"lpad(text,int4,text)": {text: pad(true)},
	"rpad(text,int4)":      {text: pad(false)},
	"rpad(text,int4,text)": {text: pad(false)},
	"repeat(text,int4)":    {text: repeatText},

	"replace(text,text,text)":    {text: replaceText},
	"translate(text,text,text)":  {text: translate},
	"strpos(text,text)":          intOf(strpos),
	"position(text,text)":        intOf(strpos),
	"position(bytea,bytea)":      intOf(func(a []types.Datum) int { return bytes.Index(a[0].B, a[1].B) + 1 }),
	"split_part(text,text,int4)": {row: splitPart},
	"starts_with(text,text)":     boolOf(func(a []types.Datum) bool { return bytes.HasPrefix(a[0].B, a[1].B) }),
	"text ^@ text":               boolOf(func(a []types.Datum) bool { return bytes.HasPrefix(a[0].B, a[1].B) }),

	"ascii(text)": intOf(func(a []types.Datum) int {
		if len(a[0].B) == 0 {
			return 0
		}
		r, _ := utf8.DecodeRune(a[0].B)
		return int(r)
	}),
	"chr(int4)":     {text: chr},
	"unistr(text)":  {text: unistr},
	"md5(text)":     textOf(appendMD5),
	"md5(bytea)":    textOf(appendMD5),
	"sha224(bytea)": textOf(func(dst, s []byte) []byte { h := sha256.Sum224(s); return append(dst, h[:]...) }),
	"sha256(bytea)": textOf(func(dst, s []byte) []byte { h := sha256.Sum256(s); return append(dst, h[:]...) }),
	"sha384(bytea)": textOf(func(dst, s []byte) []byte { h := sha512.Sum384(s); return append(dst, h[:]...) }),
	"sha512(bytea)": textOf(func(dst, s []byte) []byte { h := sha512.Sum512(s); return append(dst, h[:]...) }),

	"text || text":   {text: concat2},
	"bytea || bytea": {text: concat2},
	"text || anyelement": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		return appendText(f, append(dst, a[0].B...), f.argTypes[1], a[1])
	}},
	"anyelement || text": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		dst, err := appendText(f, dst, f.argTypes[0], a[0])
		return append(dst, a[1].B...), err
	}},
	"concat(any)":         {text: concatAll},
	"concat_ws(text,any)": {text: concatSep},

	"text ~<~ text":      boolOf(func(a []types.Datum) bool { return bytes.Compare(a[0].B, a[1].B) < 0 }),
	"text ~<=~ text":     boolOf(func(a []types.Datum) bool { return bytes.Compare(a[0].B, a[1].B) <= 0 }),
	"text ~>~ text":      boolOf(func(a []types.Datum) bool { return bytes.Compare(a[0].B, a[1].B) > 0 }),
	"text ~>=~ text":     boolOf(func(a []types.Datum) bool { return bytes.Compare(a[0].B, a[1].B) >= 0 }),
	"bpchar ~<~ bpchar":  boolOf(func(a []types.Datum) bool { return compareBlank(a) < 0 }),
	"bpchar ~<=~ bpchar": boolOf(func(a []types.Datum) bool { return compareBlank(a) <= 0 }),
	"bpchar ~>~ bpchar":  boolOf(func(a []types.Datum) bool { return compareBlank(a) > 0 }),
	"bpchar ~>=~ bpchar": boolOf(func(a []types.Datum) bool { return compareBlank(a) >= 0 }),
}

func compareBlank(a []types.Datum) int { return types.Compare(types.Of(types.Bpchar), a[0], a[1]) }

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func appendMapped(dst, s []byte, f func(rune) rune) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		dst = utf8.AppendRune(dst, f(r))
		s = s[n:]
	}
	return dst
}

func appendLower(dst, s []byte) []byte {
	if !isASCII(s) {
		return appendMapped(dst, s, unicode.ToLower)
	}
	for _, c := range s {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func appendUpper(dst, s []byte) []byte {
	if !isASCII(s) {
		return appendMapped(dst, s, unicode.ToUpper)
	}
	for _, c := range s {
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func appendInitcap(dst, s []byte) []byte {
	inWord := false
	return appendMapped(dst, s, func(r rune) rune {
		word := unicode.IsLetter(r) || unicode.IsDigit(r)
		first := word && !inWord
		inWord = word
		if first {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	})
}

func appendMD5(dst, s []byte) []byte {
	h := md5.Sum(s)
	return hex.AppendEncode(dst, h[:])
}

func leftOf(s []byte, n int64) []byte {
	if n < 0 {
		n = max(0, int64(utf8.RuneCount(s))+n)
	}
	return s[:runeEnd(s, int(n))]
}

func rightOf(s []byte, n int64) []byte {
	if n < 0 {
		return s[runeEnd(s, int(-n)):]
	}
	return s[runeEnd(s, max(0, utf8.RuneCount(s)-int(n))):]
}

// span turns a start from 1 and a length into a range from 0 with an open end.
func span(start, length int64) (lo, hi int, err error) {
	if length < 0 {
		return 0, 0, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
	}
	end := max(start+length, 1)
	return int(max(start, 1)) - 1, int(end) - 1, nil
}

func substringFrom(f *frame, a []types.Datum) (types.Datum, error) {
	s := a[0].B
	return types.Datum{B: s[runeEnd(s, int(max(a[1].I, 1))-1):]}, nil
}

func substringFor(f *frame, a []types.Datum) (types.Datum, error) {
	lo, hi, err := span(a[1].I, a[2].I)
	if err != nil {
		return types.Datum{}, err
	}
	s := a[0].B
	s = s[runeEnd(s, lo):]
	return types.Datum{B: s[:runeEnd(s, max(hi-lo, 0))]}, nil
}

func bytesFrom(f *frame, a []types.Datum) (types.Datum, error) {
	s := a[0].B
	return types.Datum{B: s[min(int(max(a[1].I, 1))-1, len(s)):]}, nil
}

func bytesFor(f *frame, a []types.Datum) (types.Datum, error) {
	lo, hi, err := span(a[1].I, a[2].I)
	if err != nil {
		return types.Datum{}, err
	}
	s := a[0].B
	lo = min(lo, len(s))
	return types.Datum{B: s[lo:max(lo, min(hi, len(s)))]}, nil
}

// overlay replaces part of a string; without a length, as much as the new part is long.
func overlay(dst []byte, a []types.Datum, length func([]byte) int, end func([]byte, int) int) ([]byte, error) {
	s, with, start := a[0].B, a[1].B, a[2].I
	n := int64(length(with))
	if len(a) == 4 {
		n = a[3].I
	}
	if start <= 0 {
		return dst, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
	}
	if start+n > math.MaxInt32 {
		return dst, intRanges[types.Int4].err()
	}
	dst = append(append(dst, s[:end(s, int(start)-1)]...), with...)
	return append(dst, s[end(s, int(max(start+n-1, 0))):]...), nil
}

func overlayText(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	return overlay(dst, a, utf8.RuneCount, runeEnd)
}

func overlayBytes(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	return overlay(dst, a, func(b []byte) int { return len(b) }, func(b []byte, n int) int { return min(n, len(b)) })
}

func trim(left, right bool) impl {
	return sliceOf(func(a []types.Datum) []byte {
		s, set := a[0].B, a[1].B
		in := func(r rune) bool { return bytes.ContainsRune(set, r) }
		for left && len(s) > 0 {
			r, n := utf8.DecodeRune(s)
			if !in(r) {
				break
			}
			s = s[n:]
		}
		for right && len(s) > 0 {
			r, n := utf8.DecodeLastRune(s)
			if !in(r) {
				break
			}
			s = s[:len(s)-n]
		}
		return s
	})
}

func trimBytes(left, right bool) impl {
	return sliceOf(func(a []types.Datum) []byte {
		s, set := a[0].B, a[1].B
		for left && len(s) > 0 && bytes.IndexByte(set, s[0]) >= 0 {
			s = s[1:]
		}
		for right && len(s) > 0 && bytes.IndexByte(set, s[len(s)-1]) >= 0 {
			s = s[:len(s)-1]
		}
		return s
	})
}

func pad(left bool) textFunc {
	return func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		s, want, fill := a[0].B, int(max(a[1].I, 0)), []byte(" ")
		if len(a) == 3 {
			fill = a[2].B
		}
		if want > maxText/4 {
			return dst, errTooLong()
		}
		have := utf8.RuneCount(s)
		if have >= want || len(fill) == 0 {
			return append(dst, s[:runeEnd(s, want)]...), nil
		}
		if !left {
			dst = append(dst, s...)
		}
		n := want - have
		for per := utf8.RuneCount(fill); n >= per; n -= per {
			dst = append(dst, fill...)
		}
		dst = append(dst, fill[:runeEnd(fill, n)]...)
		if left {
			dst = append(dst, s...)
		}
		return dst, nil
	}
}

func repeatText(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	n := max(a[1].I, 0)
	if n > 0 && int64(len(a[0].B)) > maxText/n {
		return dst, errTooLong()
	}
	for ; n > 0; n-- {
		dst = append(dst, a[0].B...)
	}
	return dst, nil
}

func replaceText(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	s, from, to := a[0].B, a[1].B, a[2].B
	if len(from) == 0 {
		return append(dst, s...), nil
	}
	for {
		i := bytes.Index(s, from)
		if i < 0 {
			return append(dst, s...), nil
		}
		dst = append(append(dst, s[:i]...), to...)
		s = s[i+len(from):]
	}
}

func translate(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	from, to := bytes.Runes(a[1].B), bytes.Runes(a[2].B)
	for s := a[0].B; len(s) > 0; {
		r, n := utf8.DecodeRune(s)
		s = s[n:]
		k := 0
		for k < len(from) && from[k] != r {
			k++
		}
		switch {
		case k == len(from):
			dst = utf8.AppendRune(dst, r)
		case k < len(to):
			dst = utf8.AppendRune(dst, to[k])
		}
	}
	return dst, nil
}

func strpos(a []types.Datum) int {
	i := bytes.Index(a[0].B, a[1].B)
	if i < 0 {
		return 0
	}
	return utf8.RuneCount(a[0].B[:i]) + 1
}

func splitPart(f *frame, a []types.Datum) (types.Datum, error) {
	s, sep, n := a[0].B, a[1].B, a[2].I
	if n == 0 {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "field position must not be zero")
	}
	if len(sep) == 0 {
		if n == 1 || n == -1 {
			return types.Datum{B: s}, nil
		}
		return types.Datum{}, nil
	}
	if n < 0 {
		if n += int64(bytes.Count(s, sep)) + 2; n <= 0 {
			return types.Datum{}, nil
		}
	}
	for ; n > 1; n-- {
		i := bytes.Index(s, sep)
		if i < 0 {
			return types.Datum{}, nil
		}
		s = s[i+len(sep):]
	}
	if i := bytes.Index(s, sep); i >= 0 {
		s = s[:i]
	}
	return types.Datum{B: s}, nil
}

func chr(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	switch n := a[0].I; {
	case n < 0:
		return dst, sqlerr.New(sqlerr.InvalidParameterValue, "character number must be positive")
	case n == 0:
		return dst, sqlerr.New(sqlerr.ProgramLimitExceeded, "null character not permitted")
	case n > unicode.MaxRune || !utf8.ValidRune(rune(n)):
		return dst, sqlerr.New(sqlerr.ProgramLimitExceeded, "requested character too large for encoding: %d", n)
	}
	return utf8.AppendRune(dst, rune(a[0].I)), nil
}

func concat2(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	return append(append(dst, a[0].B...), a[1].B...), nil
}

// concatAll shows values as output does, so a boolean is t or f.
func concatAll(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	for i, d := range a {
		if !d.Null {
			dst = types.Append(dst, f.argTypes[i], d, f.env)
		}
	}
	return dst, nil
}

func concatSep(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	if a[0].Null {
		return dst, errNull
	}
	first := true
	for i, d := range a[1:] {
		if d.Null {
			continue
		}
		if !first {
			dst = append(dst, a[0].B...)
		}
		first = false
		dst = types.Append(dst, f.argTypes[i+1], d, f.env)
	}
	return dst, nil
}
