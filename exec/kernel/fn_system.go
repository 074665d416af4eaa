package kernel

import (
	"crypto/rand"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Version is what version() gives: PostgreSQL's form, since tools take it apart.
const Version = "PostgreSQL 15.0 (Tidemark)"

// utf8Encoding is the number of UTF8, the only encoding, in pg_encoding_to_char.
const utf8Encoding = 6

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
		if a[0].I == utf8Encoding {
			dst = append(dst, "UTF8"...)
		}
		return dst, nil
	}},
	"pg_char_to_encoding(name)": intOf(func(a []types.Datum) int {
		switch strings.ToLower(string(a[0].B)) {
		case "utf8", "utf-8", "unicode":
			return utf8Encoding
		}
		return -1
	}),
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

// sizePretty shows a size with the largest unit that leaves less than 10240 (20480 half units, rounded).
func sizePretty(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	size, unit := a[0].I, 0
	abs := func(x int64) int64 {
		if x < 0 {
			return -x
		}
		return x
	}
	rounded := false
	for ; unit < len(sizeUnits)-1; unit++ {
		limit := int64(10 * 1024)
		if rounded {
			limit = 20*1024 - 1
		}
		if abs(size) < limit {
			break
		}
		// From bytes on, one bit is kept back for rounding.
		shift := uint(10)
		if !rounded {
			shift = 9
		}
		size /= 1 << shift
		rounded = true
	}
	if rounded {
		if size >= 0 {
			size = (size + 1) / 2
		} else {
			size = (size - 1) / 2
		}
	}
	dst = strconv.AppendInt(dst, size, 10)
	return append(append(dst, ' '), sizeUnits[unit]...), nil
}

func sizePrettyNumeric(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	n := num(a[0])
	if i, err := n.ToInt64(); err == nil && (i >= 10240 || i <= -10240) {
		return sizePretty(f, dst, []types.Datum{types.IntDatum(i)})
	} else if err == nil {
		return append(n.AppendText(dst), " bytes"...), nil
	}
	return dst, sqlerr.New(sqlerr.NumericValueOutOfRange, "bigint out of range")
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
