package kernel

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// quotedKeywords are the words that are quoted as identifiers: all of PostgreSQL's keywords but the unreserved.
var quotedKeywords = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`
all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case
cast char character check coalesce collate collation column concurrently constraint create cross
current_catalog current_date current_role current_schema current_time current_timestamp current_user dec
decimal default deferrable desc distinct do else end except exists extract false fetch float for foreign
freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect
interval into is isnull join lateral leading least left like limit localtime localtimestamp national natural
nchar none normalize not notnull null nullif numeric offset on only or order out outer overlaps overlay
placing position precision primary real references returning right row select session_user setof similar
smallint some substring symmetric table tablesample then time timestamp to trailing treat trim true union
unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement
xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
`) {
		out[w] = true
	}
	return out
}()

func init() { register(quoteImpls) }

var quoteImpls = map[string]impl{
	"quote_ident(text)":   textOf(appendIdent),
	"quote_literal(text)": textOf(appendLiteral),
	"quote_literal(anyelement)": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		return f.appendQuoted(dst, f.argTypes[0], a[0])
	}},
	"quote_nullable(text)": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		if a[0].Null {
			return append(dst, "NULL"...), nil
		}
		return appendLiteral(dst, a[0].B), nil
	}},
	"quote_nullable(anyelement)": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		if a[0].Null {
			return append(dst, "NULL"...), nil
		}
		return f.appendQuoted(dst, f.argTypes[0], a[0])
	}},
	"format(text)":             {text: formatText},
	"format(text,any)":         {text: formatText},
	"encode(bytea,text)":       {text: encode},
	"decode(text,text)":        {text: decode},
	"convert_from(bytea,name)": {text: convert},
	"convert_to(text,name)":    {text: convert},
	"length(bytea,name)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		b, err := convert(f, f.scratch[:0], a)
		f.scratch = b
		return types.IntDatum(int64(utf8.RuneCount(b))), err
	}},
	"get_byte(bytea,int4)":      {row: getByte},
	"set_byte(bytea,int4,int4)": {text: setByte},
}

func (f *frame) appendQuoted(dst []byte, t types.Type, d types.Datum) ([]byte, error) {
	b, err := appendText(f, f.scratch[:0], t, d)
	f.scratch = b
	return appendLiteral(dst, b), err
}

// appendIdent quotes an identifier where it must be.
func appendIdent(dst, s []byte) []byte {
	safe := len(s) > 0 && (s[0] >= 'a' && s[0] <= 'z' || s[0] == '_') && !quotedKeywords[string(s)]
	for _, c := range s {
		safe = safe && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_')
	}
	if safe {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for _, c := range s {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// appendLiteral quotes a string constant, with E where it has a backslash.
func appendLiteral(dst, s []byte) []byte {
	if bytes.IndexByte(s, '\\') >= 0 {
		dst = append(dst, 'E')
	}
	dst = append(dst, '\'')
	for _, c := range s {
		if c == '\'' || c == '\\' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '\'')
}

// formatSpec is one %... of format().
type formatSpec struct {
	arg      int // position from 1; 0: the next one
	left     bool
	width    int
	widthArg int // position of the width; 0: the next one; -1: not from an argument
	verb     byte
}

// formatText is format(): %s, %I, %L and %%, with position, flag and width.
func formatText(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	if a[0].Null {
		return dst, errNull
	}
	next := 1
	arg := func(pos int) (int, error) {
		if pos == 0 {
			pos = next
		}
		next = pos + 1
		if pos >= len(a) {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "too few arguments for format()")
		}
		return pos, nil
	}
	for s := a[0].B; len(s) > 0; {
		i := bytes.IndexByte(s, '%')
		if i < 0 {
			return append(dst, s...), nil
		}
		dst, s = append(dst, s[:i]...), s[i+1:]
		if len(s) > 0 && s[0] == '%' {
			dst, s = append(dst, '%'), s[1:]
			continue
		}
		spec, rest, err := parseFormatSpec(s)
		if err != nil {
			return dst, err
		}
		s = rest
		if spec.widthArg >= 0 {
			k, err := arg(spec.widthArg)
			if err != nil {
				return dst, err
			}
			if spec.width, err = f.formatWidth(f.argTypes[k], a[k]); err != nil {
				return dst, err
			}
			if spec.width < 0 {
				spec.left, spec.width = true, -spec.width
			}
		}
		k, err := arg(spec.arg)
		if err != nil {
			return dst, err
		}
		if dst, err = f.appendFormatted(dst, spec, f.argTypes[k], a[k]); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (f *frame) formatWidth(t types.Type, d types.Datum) (int, error) {
	if d.Null {
		return 0, nil
	}
	if t.Kind.IsInt() {
		return int(d.I), nil
	}
	d, err := types.Parse(types.Of(types.Int4), types.Format(t, d, f.env), f.env)
	return int(d.I), err
}

func parseFormatSpec(s []byte) (spec formatSpec, rest []byte, err error) {
	i := 0
	unterminated := func() (formatSpec, []byte, error) {
		return spec, nil, sqlerr.New(sqlerr.InvalidParameterValue, "unterminated format() type specifier").
			WithHint(`For a single "%%" use "%%%%".`)
	}
	number := func() int {
		n := 0
		for i < len(s) && s[i] >= '0' && s[i] <= '9' && n < 1<<24 {
			n = n*10 + int(s[i]-'0')
			i++
		}
		return n
	}
	spec.widthArg = -1
	if n := number(); i > 0 && i < len(s) && s[i] == '$' {
		if n == 0 {
			return spec, nil, sqlerr.New(sqlerr.InvalidParameterValue, "format specifies argument 0, but arguments are numbered from 1")
		}
		spec.arg = n
		i++
	} else {
		i = 0
	}
	for i < len(s) && s[i] == '-' {
		spec.left = true
		i++
	}
	if i < len(s) && s[i] == '*' {
		i++
		spec.widthArg = 0
		at := i
		if n := number(); i > at {
			if i >= len(s) || s[i] != '$' {
				return spec, nil, sqlerr.New(sqlerr.InvalidParameterValue, "width argument position must be ended by \"$\"")
			}
			spec.widthArg = n
			i++
		}
	} else {
		spec.width = number()
	}
	if i >= len(s) {
		return unterminated()
	}
	spec.verb = s[i]
	if strings.IndexByte("sIL", spec.verb) < 0 {
		_, n := utf8.DecodeRune(s[i:])
		return spec, nil, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized format() type specifier \"%s\"", s[i:i+n]).
			WithHint(`For a single "%%" use "%%%%".`)
	}
	return spec, s[i+1:], nil
}

func (f *frame) appendFormatted(dst []byte, spec formatSpec, t types.Type, d types.Datum) ([]byte, error) {
	b := f.scratch[:0]
	switch {
	case d.Null && spec.verb == 'I':
		return dst, sqlerr.New(sqlerr.NullValueNotAllowed, "null values cannot be formatted as an SQL identifier")
	case d.Null && spec.verb == 'L':
		b = append(b, "NULL"...)
	case d.Null:
	default:
		b = types.Append(b, t, d, f.env)
		f.scratch = b
		n := len(b)
		switch spec.verb {
		case 'I':
			b = appendIdent(b, b[:n])[n:]
		case 'L':
			b = appendLiteral(b, b[:n])[n:]
		}
	}
	padding := max(0, spec.width-utf8.RuneCount(b))
	if padding > maxText-len(dst) {
		return dst, errTooLong()
	}
	if spec.left {
		dst = append(dst, b...)
	}
	for ; padding > 0; padding-- {
		dst = append(dst, ' ')
	}
	if !spec.left {
		dst = append(dst, b...)
	}
	return dst, nil
}

func errEncoding(name []byte) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized encoding: \"%s\"", name)
}

func encode(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	s := a[0].B
	switch strings.ToLower(string(a[1].B)) {
	case "hex":
		return hex.AppendEncode(dst, s), nil
	case "base64":
		for len(s) > 57 { // 76 characters a line
			dst = append(base64.StdEncoding.AppendEncode(dst, s[:57]), '\n')
			s = s[57:]
		}
		return base64.StdEncoding.AppendEncode(dst, s), nil
	case "escape":
		for _, c := range s {
			switch {
			case c == 0 || c >= 0x80:
				dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
			case c == '\\':
				dst = append(dst, '\\', '\\')
			default:
				dst = append(dst, c)
			}
		}
		return dst, nil
	}
	return dst, errEncoding(a[1].B)
}

func decode(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	switch strings.ToLower(string(a[1].B)) {
	case "hex":
		d, err := types.Parse(types.Of(types.Bytea), `\x`+string(a[0].B), f.env)
		return append(dst, d.B...), err
	case "base64":
		return decodeBase64(dst, a[0].B)
	case "escape":
		if bytes.HasPrefix(a[0].B, []byte(`\x`)) {
			return dst, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
		d, err := types.Parse(types.Of(types.Bytea), string(a[0].B), f.env)
		return append(dst, d.B...), err
	}
	return dst, errEncoding(a[1].B)
}

func decodeBase64(dst, s []byte) ([]byte, error) {
	clean := make([]byte, 0, len(s))
	for i, c := range s {
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/', c == '=':
			clean = append(clean, c)
		default:
			_, n := utf8.DecodeRune(s[i:])
			return dst, sqlerr.New(sqlerr.InvalidParameterValue, "invalid symbol \"%s\" found while decoding base64 sequence", s[i:i+n])
		}
	}
	out, err := base64.StdEncoding.AppendDecode(dst, clean)
	if err != nil {
		return dst, sqlerr.New(sqlerr.InvalidParameterValue, "invalid base64 end sequence").
			WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
	}
	return out, nil
}

// convert is convert_from and convert_to; UTF8 is the only encoding.
func convert(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	switch name := strings.ToLower(string(a[1].B)); name {
	case "utf8", "utf-8", "unicode":
	default:
		return dst, sqlerr.Unsupported("conversion between UTF8 and %s is not supported", name)
	}
	if !utf8.Valid(a[0].B) {
		return dst, sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\"")
	}
	return append(dst, a[0].B...), nil
}

func byteIndex(b []byte, i int64) error {
	if i < 0 || i >= int64(len(b)) {
		return sqlerr.New(sqlerr.ArraySubscriptError, "index %d out of valid range, 0..%d", i, len(b)-1)
	}
	return nil
}

func getByte(f *frame, a []types.Datum) (types.Datum, error) {
	if err := byteIndex(a[0].B, a[1].I); err != nil {
		return types.Datum{}, err
	}
	return types.IntDatum(int64(a[0].B[a[1].I])), nil
}

func setByte(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	if err := byteIndex(a[0].B, a[1].I); err != nil {
		return dst, err
	}
	at := len(dst) + int(a[1].I)
	dst = append(dst, a[0].B...)
	dst[at] = byte(a[2].I)
	return dst, nil
}
