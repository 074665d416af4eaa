package types

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// kindInfo is what pg_type says of a kind.
type kindInfo struct {
	oid, array uint32
	name       string // typname
	sql        string // as format_type shows it
	len        int
}

// The OIDs of pg_type, PostgreSQL 15.
var kindInfos = [NumKinds]kindInfo{
	Unknown:     {705, 0, "unknown", "unknown", -2},
	Bool:        {16, 1000, "bool", "boolean", 1},
	Int2:        {21, 1005, "int2", "smallint", 2},
	Int4:        {23, 1007, "int4", "integer", 4},
	Int8:        {20, 1016, "int8", "bigint", 8},
	Float4:      {700, 1021, "float4", "real", 4},
	Float8:      {701, 1022, "float8", "double precision", 8},
	Numeric:     {1700, 1231, "numeric", "numeric", -1},
	Text:        {25, 1009, "text", "text", -1},
	Varchar:     {1043, 1015, "varchar", "character varying", -1},
	Bpchar:      {1042, 1014, "bpchar", "character", -1},
	Name:        {19, 1003, "name", "name", 64},
	Char:        {18, 1002, "char", `"char"`, 1},
	Bytea:       {17, 1001, "bytea", "bytea", -1},
	Date:        {1082, 1182, "date", "date", 4},
	Time:        {1083, 1183, "time", "time without time zone", 8},
	Timestamp:   {1114, 1115, "timestamp", "timestamp without time zone", 8},
	TimestampTZ: {1184, 1185, "timestamptz", "timestamp with time zone", 8},
	Interval:    {1186, 1187, "interval", "interval", 16},
	UUID:        {2950, 2951, "uuid", "uuid", 16},
	JSON:        {114, 199, "json", "json", -1},
	JSONB:       {3802, 3807, "jsonb", "jsonb", -1},
	OID:         {26, 1028, "oid", "oid", 4},
	Regclass:    {2205, 2210, "regclass", "regclass", 4},
	Regtype:     {2206, 2211, "regtype", "regtype", 4},
	Regproc:     {24, 1008, "regproc", "regproc", 4},
	Record:      {2249, 2287, "record", "record", -1},
	Void:        {2278, 0, "void", "void", 4},
	Any:         {2276, 0, "any", `"any"`, 4},
	AnyElement:  {2283, 0, "anyelement", "anyelement", 4},
	AnyArray:    {2277, 0, "anyarray", "anyarray", -1},
	Int2Vector:  {22, 1006, "int2vector", "int2vector", -1},

	Regnamespace: {4089, 4090, "regnamespace", "regnamespace", 4},
	Regrole:      {4096, 4097, "regrole", "regrole", 4},
	Regprocedure: {2202, 2207, "regprocedure", "regprocedure", 4},
}

const oidVector = 30

// The window composites have no counterpart in PostgreSQL. Their OIDs lie in
// the range that initdb gives out, above every OID fixed by PostgreSQL.
const (
	oidWindowTimestamp   = 13001
	oidWindowTimestampTZ = 13002
	oidWindowDate        = 13003
)

var windowInfos = map[Kind]kindInfo{
	Timestamp:   {oidWindowTimestamp, 0, "window_timestamp", "window_timestamp", -1},
	TimestampTZ: {oidWindowTimestampTZ, 0, "window_timestamptz", "window_timestamptz", -1},
	Date:        {oidWindowDate, 0, "window_date", "window_date", -1},
}

// sqlNames are the spellings of types beyond typname: SQL's, and Spark's where
// PostgreSQL has no other meaning for them (so float and timestamp are
// PostgreSQL's).
var sqlNames = map[string]Kind{
	"boolean": Bool, "smallint": Int2, "integer": Int4, "int": Int4, "bigint": Int8,
	"real": Float4, "float": Float8, "double precision": Float8, "decimal": Numeric, "dec": Numeric,
	"character varying": Varchar, "char varying": Varchar, "character": Bpchar, `"char"`: Char,
	"nchar": Bpchar, "national character": Bpchar,
	"time without time zone": Time, "timestamp without time zone": Timestamp, "timestamp with time zone": TimestampTZ,
	"string": Text, "long": Int8, "short": Int2, "tinyint": Int2, "double": Float8, "binary": Bytea,
	"timestamp_ntz": Timestamp, "timestamp_ltz": TimestampTZ,
	// Shown as numbers: only psql's queries about objects that do not exist here cast to them.
	"regoper": OID, "regoperator": OID, "regcollation": OID, "regconfig": OID, "regdictionary": OID, "xid": OID,
}

var (
	typesByName = map[string]Type{}
	typesByOID  = map[uint32]Type{}
)

func init() {
	for k := Kind(0); k < NumKinds; k++ {
		in := kindInfos[k]
		if in.oid == 0 {
			continue
		}
		t := Of(k)
		if k == Int2Vector {
			t.Elem = Int2
		}
		typesByName[in.name], typesByOID[in.oid] = t, t
		if in.array != 0 {
			typesByName["_"+in.name], typesByOID[in.array] = ArrayOf(t), ArrayOf(t)
		}
	}
	v := Type{Kind: Int2Vector, Elem: OID}
	typesByName["oidvector"], typesByOID[oidVector] = v, v
	// The unquoted word char means character(1); "char" is the one-byte type.
	typesByName["char"] = Type{Kind: Bpchar, Mod: 1 + 4}
	for name, k := range sqlNames {
		t := Of(k)
		if k == Bpchar {
			t.Mod = 1 + 4
		}
		typesByName[name] = t
	}
	for elem, in := range windowInfos {
		typesByName[in.name], typesByOID[in.oid] = WindowOf(elem), WindowOf(elem)
	}
}

func (t Type) info() kindInfo {
	switch {
	case t.Kind == Window:
		return windowInfos[t.Elem]
	case t.Kind == Int2Vector && t.Elem == OID:
		return kindInfo{oidVector, 0, "oidvector", "oidvector", -1}
	case t.Kind == Array:
		e := kindInfos[t.Elem]
		return kindInfo{e.array, 0, "_" + e.name, e.sql + "[]", -1}
	case t.Kind < NumKinds:
		return kindInfos[t.Kind]
	}
	return kindInfo{}
}

// OID gives the type's OID in pg_type; 0 for a type that has none.
func (t Type) OID() uint32 { return t.info().oid }

// FromOID gives the type, without modifier, that has the OID.
func FromOID(oid uint32) (Type, bool) {
	t, ok := typesByOID[oid]
	return t, ok
}

// InternalName gives pg_type.typname, as "int4" and "_int4".
func (t Type) InternalName() string { return t.info().name }

// Len gives pg_type.typlen: bytes, or -1 for variable length, -2 for C strings.
func (t Type) Len() int { return t.info().len }

// PGMod gives the modifier as PostgreSQL stores and sends it (atttypmod), -1
// meaning none. Only time types differ from Mod: there PostgreSQL has the bare precision.
func (t Type) PGMod() int32 {
	switch {
	case t.Mod == 0:
		return -1
	case t.Kind == Time || t.Kind == Timestamp || t.Kind == TimestampTZ:
		return t.Mod - 1
	case t.Kind == Interval:
		return 0x7fff<<16 | (t.Mod - 1)
	}
	return t.Mod
}

// String gives the type's SQL name as PostgreSQL's format_type shows it.
func (t Type) String() string {
	if t.Kind == Array {
		e := t.ElemType()
		e.Mod = t.Mod
		return e.String() + "[]"
	}
	in := t.info()
	if t.Mod == 0 {
		if t.Kind == Bpchar {
			return "bpchar"
		}
		return in.sql
	}
	switch t.Kind {
	case Varchar, Bpchar:
		return in.sql + "(" + strconv.Itoa(int(t.Mod-4)) + ")"
	case Numeric:
		p, s := numericMod(t.Mod)
		return "numeric(" + strconv.Itoa(p) + "," + strconv.Itoa(s) + ")"
	case Time, Timestamp, TimestampTZ, Interval:
		head, tail, _ := strings.Cut(in.sql, " ")
		if tail != "" {
			tail = " " + tail
		}
		return head + "(" + strconv.Itoa(int(t.Mod-1)) + ")" + tail
	}
	return in.sql
}

// numericMod takes a numeric modifier apart; the scale may be negative.
func numericMod(mod int32) (precision, scale int) {
	m := mod - 4
	return int(m>>16) & 0xffff, int((m&0x7ff)^1024) - 1024
}

// ByName finds a type by its name in pg_type, in SQL or in Spark, with any
// number of "[]" after it. Letter case does not matter. "character" alone is
// character(1), as in SQL.
func ByName(name string) (Type, bool) {
	n := strings.ToLower(strings.TrimSpace(name))
	array := false
	for strings.HasSuffix(n, "[]") {
		n, array = strings.TrimSpace(n[:len(n)-2]), true
	}
	t, ok := typesByName[strings.TrimPrefix(n, "pg_catalog.")]
	if !ok || !array {
		return t, ok
	}
	mod := t.Mod
	t = ArrayOf(t)
	t.Mod = mod
	return t, t.OID() != 0
}

// Modded finds a type by name and applies modifiers such as the 10 of
// varchar(10). Errors: 42704 for an unknown name, 22023 for a modifier out of
// range, 42601 for one that the type does not take.
func Modded(name string, mods []int) (Type, error) {
	t, ok := ByName(name)
	if !ok {
		return Type{}, sqlerr.New(sqlerr.UndefinedObject, "type %q does not exist", name)
	}
	if len(mods) == 0 {
		return t, nil
	}
	base := t.Kind
	if t.Kind == Array {
		base = t.Elem
	}
	mod, err := modifier(base, name, mods)
	t.Mod = mod
	return t, err
}

func modifier(k Kind, name string, mods []int) (int32, error) {
	switch k {
	case Varchar, Bpchar:
		word := map[Kind]string{Varchar: "varchar", Bpchar: "char"}[k]
		if len(mods) != 1 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid type modifier")
		}
		if mods[0] < 1 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "length for type %s must be at least 1", word)
		}
		if mods[0] > 10485760 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "length for type %s cannot exceed 10485760", word)
		}
		return int32(mods[0]) + 4, nil
	case Numeric:
		if len(mods) > 2 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid NUMERIC type modifier")
		}
		p, s := mods[0], 0
		if len(mods) == 2 {
			s = mods[1]
		}
		if p < 1 || p > 1000 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "NUMERIC precision %d must be between 1 and 1000", p)
		}
		if s < -1000 || s > 1000 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "NUMERIC scale %d must be between -1000 and 1000", s)
		}
		return int32(p<<16|s&0x7ff) + 4, nil
	case Time, Timestamp, TimestampTZ, Interval:
		if len(mods) != 1 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid type modifier")
		}
		if mods[0] < 0 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "%s(%d) precision must not be negative", strings.ToUpper(kindInfos[k].name), mods[0])
		}
		return int32(min(mods[0], 6)) + 1, nil
	}
	if strings.EqualFold(name, "float") && k == Float8 {
		return 0, nil
	}
	return 0, sqlerr.New(sqlerr.SyntaxError, "type modifier is not allowed for type %q", name)
}
