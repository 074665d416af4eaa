// Package types is the vocabulary of SQL types: their identity, PostgreSQL
// names and OIDs, how a value is laid out in memory, how it is read from and
// written to PostgreSQL's text and binary forms, and how values compare.
//
// Three things decide everything else:
//
//   - Type, a small comparable value;
//   - Layout, one of four physical layouts that every type maps to;
//   - Datum, one value without its type, used wherever a value stands alone
//     (constants, parameters, keys of errors), never on a path run per row of
//     a view.
package types

// Kind is the family of a type.
type Kind uint8

// The kinds. Their numbers are part of the on-disk format: append only.
const (
	Unknown      Kind = iota // an untyped literal or NULL, before it is resolved; text layout
	Bool                     // boolean
	Int2                     // smallint
	Int4                     // integer
	Int8                     // bigint
	Float4                   // real
	Float8                   // double precision
	Numeric                  // numeric, exact
	Text                     // text
	Varchar                  // character varying(n)
	Bpchar                   // character(n), blank padded
	Name                     // name, for pg_catalog
	Char                     // "char", for pg_catalog
	Bytea                    // bytea
	Date                     // date: days since 2000-01-01 is PostgreSQL's wire form; here days since 1970-01-01
	Time                     // time without time zone, microseconds since midnight
	Timestamp                // timestamp without time zone, microseconds since 1970-01-01
	TimestampTZ              // timestamp with time zone, microseconds since 1970-01-01 UTC
	Interval                 // interval: months, days, microseconds
	UUID                     // uuid
	JSON                     // json, text kept as written
	JSONB                    // jsonb, canonical text
	OID                      // oid
	Regclass                 // regclass, an oid shown as a relation name
	Regtype                  // regtype
	Regproc                  // regproc
	Array                    // array of Elem
	Window                   // window composite (start, end); Elem is Timestamp, TimestampTZ or Date
	Record                   // anonymous composite
	Void                     // result of a function that has none
	Any                      // pseudo-type in signatures: any type at all
	AnyElement               // pseudo-type in signatures: the same type wherever it occurs
	AnyArray                 // pseudo-type in signatures: array of AnyElement
	Int2Vector               // int2vector, for pg_catalog; array layout, Elem Int2; with Elem OID it is oidvector
	Regnamespace             // regnamespace
	Regrole                  // regrole
	Regprocedure             // regprocedure
	NumKinds
)

// Type is a SQL type. It is comparable with ==; Mod takes part, so compare
// with Same where the modifier must not matter.
type Type struct {
	Kind Kind
	Elem Kind  // of Array: the element's kind; of Window: Timestamp, TimestampTZ or Date
	Mod  int32 // as pg_attribute.atttypmod, 0 meaning none: varchar/char length + 4, numeric ((p<<16)|s) + 4, time precision + 1
}

// Of makes a type without modifier.
func Of(k Kind) Type { return Type{Kind: k} }

// ArrayOf makes an array type; arrays of arrays are the same type, as in PostgreSQL.
func ArrayOf(elem Type) Type {
	if elem.Kind == Array {
		return elem
	}
	return Type{Kind: Array, Elem: elem.Kind}
}

// WindowOf makes the window composite over a time kind.
func WindowOf(elem Kind) Type { return Type{Kind: Window, Elem: elem} }

// ElemType gives the element type of an array, or the type of a window's two fields.
func (t Type) ElemType() Type {
	if t.Kind == Int2Vector && t.Elem != OID {
		return Type{Kind: Int2}
	}
	return Type{Kind: t.Elem}
}

// Same says whether two types are equal but for their modifiers.
func (t Type) Same(u Type) bool { return t.Kind == u.Kind && t.Elem == u.Elem }

// NoMod gives the type without modifier.
func (t Type) NoMod() Type { t.Mod = 0; return t }

// Layout is how values of a type lie in a vector.
type Layout uint8

// The layouts. See batch.Vector for the slices that each uses.
const (
	LayoutI64   Layout = iota // one int64: booleans, integers, oids, dates, times, timestamps
	LayoutF64                 // one float64: real and double precision
	LayoutPair                // two int64: window (start, end), interval (microseconds, months<<32 | days), uuid (high, low)
	LayoutBytes               // variable length: text kinds, bytea, numeric, json, arrays, records
)

// Layout gives the physical layout of the type's values.
func (t Type) Layout() Layout {
	switch t.Kind {
	case Bool, Int2, Int4, Int8, Date, Time, Timestamp, TimestampTZ, OID, Char,
		Regclass, Regtype, Regproc, Regnamespace, Regrole, Regprocedure:
		return LayoutI64
	case Float4, Float8:
		return LayoutF64
	case Interval, UUID, Window:
		return LayoutPair
	}
	return LayoutBytes
}

// IsTime says whether the kind can be an event time.
func (k Kind) IsTime() bool { return k == Timestamp || k == TimestampTZ || k == Date }

// IsReg says whether values are the OIDs of objects and shown as their names (regclass and its like).
func (k Kind) IsReg() bool {
	switch k {
	case Regclass, Regtype, Regproc, Regnamespace, Regrole, Regprocedure:
		return true
	}
	return false
}

// IsInt says whether the kind is smallint, integer or bigint.
func (k Kind) IsInt() bool { return k == Int2 || k == Int4 || k == Int8 }

// IsNumber says whether the kind is an integer, real, double precision or numeric.
func (k Kind) IsNumber() bool { return k >= Int2 && k <= Numeric }

// IsString says whether the kind is of PostgreSQL's string category.
func (k Kind) IsString() bool {
	return k == Text || k == Varchar || k == Bpchar || k == Name || k == Unknown
}

// Datum is one value without its type. Which fields count is decided by the
// type's layout: I (LayoutI64), F (LayoutF64), I and J (LayoutPair), B
// (LayoutBytes). B may alias a vector's data and is then valid as long as
// that is; Clone detaches it.
type Datum struct {
	Null bool
	I, J int64
	F    float64
	B    []byte
}

// NullDatum is SQL NULL.
var NullDatum = Datum{Null: true}

// IntDatum makes a LayoutI64 value.
func IntDatum(i int64) Datum { return Datum{I: i} }

// BoolDatum makes a boolean.
func BoolDatum(b bool) Datum {
	if b {
		return Datum{I: 1}
	}
	return Datum{}
}

// FloatDatum makes a LayoutF64 value.
func FloatDatum(f float64) Datum { return Datum{F: f} }

// StringDatum makes a text-like value.
func StringDatum(s string) Datum { return Datum{B: []byte(s)} }

// PairDatum makes a LayoutPair value.
func PairDatum(i, j int64) Datum { return Datum{I: i, J: j} }

// Clone copies B, so that the result does not alias anything.
func (d Datum) Clone() Datum {
	if d.B != nil {
		d.B = append(make([]byte, 0, len(d.B)), d.B...)
	}
	return d
}

// Interval packs and unpacks. The second word of an interval holds months in
// its high and days in its low 32 bits; the first word holds microseconds.

// IntervalDatum makes an interval.
func IntervalDatum(months, days int32, micros int64) Datum {
	return Datum{I: micros, J: int64(months)<<32 | int64(uint32(days))}
}

// IntervalParts takes an interval apart.
func IntervalParts(i, j int64) (months, days int32, micros int64) {
	return int32(j >> 32), int32(uint32(j)), i
}
