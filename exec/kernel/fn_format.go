package kernel

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// toChar is to_char for every type that has it.
func toChar(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	s, null, err := types.ToChar(f.argTypes[0], a[0], string(a[1].B), f.env)
	if err == nil && null {
		err = errNull
	}
	return append(dst, s...), err
}

var formatImpls = map[string]impl{
	"to_char(timestamp,text)":   {text: toChar},
	"to_char(timestamptz,text)": {text: toChar},
	"to_char(interval,text)":    {text: toChar},
	"to_char(numeric,text)":     {text: toChar},
	"to_char(int4,text)":        {text: toChar},
	"to_char(int8,text)":        {text: toChar},
	"to_char(float4,text)":      {text: toChar},
	"to_char(float8,text)":      {text: toChar},
	"to_number(text,text)":      {text: toNumber},
	"to_timestamp(text,text)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		ts, err := types.ToTimestamp(string(a[0].B), string(a[1].B), f.env)
		return types.IntDatum(ts), err
	}},
	"to_date(text,text)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		d, err := types.ToDate(string(a[0].B), string(a[1].B), f.env)
		return types.IntDatum(d), err
	}},
}

// numberFormat is what to_number takes from its format: how many digits may stand before and after the point, and
// by how many powers of ten V divides.
type numberFormat struct {
	before, after, shift int
}

func parseNumberFormat(src string) numberFormat {
	var nf numberFormat
	point, v := false, false
	quoted := false
	for _, c := range strings.ToUpper(src) {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '9' || c == '0':
			switch {
			case v:
				nf.shift++
				nf.before++
			case point:
				nf.after++
			default:
				nf.before++
			}
		case c == '.' || c == 'D':
			point = true
		case c == 'V':
			v = true
		}
	}
	return nf
}

// toNumber reads the digits that the format has room for; signs, also trailing ones and angle brackets, count,
// anything else is skipped.
func toNumber(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	nf, _ := cached(f, a[1].B, func(b []byte) (numberFormat, error) { return parseNumberFormat(string(b)), nil })
	if len(a[1].B) == 0 {
		return dst, errNull
	}
	num := append(f.scratch[:0], '+')
	digits, point := 0, false
	for _, c := range a[0].B {
		switch {
		case c == '-' || c == '<':
			num[0] = '-'
		case c >= '0' && c <= '9' && (point && nf.after > 0 || !point && nf.before > 0):
			if point {
				nf.after--
			} else {
				nf.before--
			}
			num = append(num, c)
			digits++
		case c == '.' && !point && nf.after > 0:
			point = true
			num = append(num, c)
		}
	}
	f.scratch = num
	if digits == 0 {
		return dst, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type numeric: \" \"")
	}
	n, err := types.NumParse(string(num))
	if err == nil && nf.shift > 0 {
		pow := types.FromInt64(1)
		for i := 0; i < nf.shift && err == nil; i++ {
			pow, err = pow.Mul(ten)
		}
		if err == nil {
			n, err = n.Div(pow)
		}
	}
	if err != nil {
		return dst, err
	}
	return n.AppendTo(dst), nil
}
