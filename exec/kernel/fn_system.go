package kernel

import (
	"crypto/rand"
	"encoding/binary"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Version is what version() gives: PostgreSQL's form, since tools take it apart.
const Version = "PostgreSQL 15.0 (Tidemark)"

// encodings are PostgreSQL's encodings in the order of their numbers. Only UTF8 is supported; the names are known
// for pg_encoding_to_char.
var encodings = strings.Fields(`
SQL_ASCII EUC_JP EUC_CN EUC_KR EUC_TW EUC_JIS_2004 UTF8 MULE_INTERNAL LATIN1 LATIN2 LATIN3 LATIN4
LATIN5 LATIN6 LATIN7 LATIN8 LATIN9 LATIN10 WIN1256 WIN1258 WIN866 WIN874 KOI8R WIN1251 WIN1252
ISO_8859_5 ISO_8859_6 ISO_8859_7 ISO_8859_8 WIN1250 WIN1253 WIN1254 WIN1255 WIN1257 KOI8U SJIS BIG5
GBK UHC GB18030 JOHAB SHIFT_JIS_2004
`)

func constText(s string) impl {
	return impl{text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) { return append(dst, s...), nil }}
}

func constInt(i int64) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) { return types.IntDatum(i), nil }}
}

var systemImpls = map[string]impl{
	"version()":                    constText(Version),
	"pg_is_in_recovery()":          constInt(0),
	"pg_jit_available()":           constInt(0),
	"pg_my_temp_schema()":          constInt(0),
	"pg_is_other_temp_schema(oid)": constInt(0),
	"pg_client_encoding()":         constText("UTF8"),
	"getdatabaseencoding()":        constText("UTF8"),
	"pg_encoding_to_char(int4)": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		if a[0].I >= 0 && a[0].I < int64(len(encodings)) {
			dst = append(dst, encodings[a[0].I]...)
		}
		return dst, nil
	}},
	"pg_char_to_encoding(name)": intOf(func(a []types.Datum) int { return EncodingNumber(string(a[0].B)) }),
	"pg_typeof(any)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		return types.IntDatum(int64(f.argTypes[0].OID())), nil
	}},
	"pg_column_size(any)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		if n := f.argTypes[0].Len(); n > 0 {
			return types.IntDatum(int64(n)), nil
		}
		return types.IntDatum(int64(len(a[0].B) + 1)), nil
	}},
	"pg_size_pretty(int8)":    {text: sizePretty},
	"pg_size_pretty(numeric)": {text: sizePrettyNumeric},
	"pg_size_bytes(text)":     {row: sizeBytes},
	"gen_random_uuid()":       {row: randomUUID},
}

// EncodingNumber gives PostgreSQL's number of an encoding, -1 of a name that is none.
func EncodingNumber(name string) int {
	name = strings.NewReplacer("-", "", "_", "").Replace(name)
	for i, e := range encodings {
		if strings.EqualFold(name, strings.ReplaceAll(e, "_", "")) {
			return i
		}
	}
	return -1
}

// randomUUID makes a version 4 UUID.
func randomUUID(f *frame, a []types.Datum) (types.Datum, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return types.Datum{}, err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return types.PairDatum(int64(binary.BigEndian.Uint64(b[:])), int64(binary.BigEndian.Uint64(b[8:]))), nil
}

var sizeUnits = []string{"bytes", "kB", "MB", "GB", "TB", "PB"}

func sizePretty(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	return appendSize(dst, types.FromInt64(a[0].I))
}

func sizePrettyNumeric(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	return appendSize(dst, num(a[0]))
}

// appendSize shows a size in the largest unit that leaves at least 10 of the next smaller one's thousands. From
// kB on, one bit is kept back for rounding.
func appendSize(dst []byte, n types.Num) ([]byte, error) {
	limit, half := types.FromInt64(10*1024), types.FromInt64(20*1024-1)
	unit := 0
	for ; unit < len(sizeUnits)-1 && n.Abs().Cmp(limit) >= 0; unit++ {
		shift := types.FromInt64(1024)
		if unit == 0 {
			shift = types.FromInt64(512)
		}
		var err error
		if n, err = n.QuoTrunc(shift); err != nil {
			return dst, err
		}
		limit = half
	}
	if unit > 0 && !n.IsNaN() && !n.IsInf() {
		var err error
		if n, err = n.Add(types.FromInt64(int64(n.Sign()))).QuoTrunc(types.FromInt64(2)); err != nil {
			return dst, err
		}
	}
	return append(append(n.AppendText(dst), ' '), sizeUnits[unit]...), nil
}

func sizeBytes(f *frame, a []types.Datum) (types.Datum, error) {
	s := strings.TrimSpace(string(a[0].B))
	end := 0
	for end < len(s) && strings.IndexByte("+-.0123456789", s[end]) >= 0 {
		end++
	}
	n, err := types.NumParse(s[:end])
	if err != nil {
		return types.Datum{}, invalid("invalid size: \"%s\"", a[0].B)
	}
	unit := strings.TrimSpace(s[end:])
	mul := int64(1)
	if unit != "" {
		k := 0
		for k < len(sizeUnits) && !strings.EqualFold(unit, sizeUnits[k]) && !(k == 0 && strings.EqualFold(unit, "b")) {
			k++
		}
		if k == len(sizeUnits) {
			return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "invalid size: \"%s\"", a[0].B).
				WithDetail("Invalid size unit: \"%s\".", unit).
				WithHint("Valid units are \"bytes\", \"B\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".")
		}
		mul <<= 10 * k
	}
	n, err = n.Mul(types.FromInt64(mul))
	if err != nil {
		return types.Datum{}, err
	}
	i, err := n.ToInt64()
	return types.IntDatum(i), err
}
