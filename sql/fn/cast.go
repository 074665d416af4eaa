package fn

import (
	"strings"
	"sync"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// CastContext is where a conversion stands.
type CastContext uint8

// The contexts, each allowing all that the ones before it allow.
const (
	Implicit   CastContext = iota // operands, arguments, UNION
	Assignment                    // INSERT, UPDATE, DEFAULT
	Explicit                      // CAST, ::
)

// castMethod is how two types convert.
type castMethod uint8

const (
	noCast     castMethod = iota
	sameBits              // binary compatible: nothing to do
	byFunc                // a conversion function
	byText                // through the text form
	byElements            // arrays, element by element
)

// The casts of pg_cast: source, target, context (i, a, e), b for binary compatible or f, and s for stable.
// Name and text differ only in PostgreSQL's storage, so the cast that shortens is to name.
const castTable = `
int8 int2 a f
int8 int4 a f
int4 int2 a f
float4 int8 a f
float4 int2 a f
float4 int4 a f
float4 numeric a f
float8 int8 a f
float8 int2 a f
float8 int4 a f
float8 float4 a f
float8 numeric a f
numeric int8 a f
numeric int2 a f
numeric int4 a f
oid int8 a b
oid int4 a f
regproc int8 a b
regproc int4 a f
regclass int8 a b
regclass int4 a f
regtype int8 a b
regtype int4 a f
regprocedure int8 a b
regprocedure int4 a f
regrole int8 a b
regrole int4 a f
regnamespace int8 a b
regnamespace int4 a f
char bpchar a f
char varchar a f
name bpchar a b
name varchar a b
text char a f
bpchar char a f
varchar char a f
timestamp date a f
timestamp time a f
timestamptz date a f s
timestamptz time a f s
timestamptz timestamp a f s
interval time a f
bool text a f
bool varchar a f
bool bpchar a f
json jsonb a f
jsonb json a b
int4 bool e f
bool int4 e f
char int4 e f
int4 char e f
jsonb bool e f
jsonb numeric e f
jsonb int2 e f
jsonb int4 e f
jsonb int8 e f
jsonb float4 e f
jsonb float8 e f
int8 float4 i f
int8 float8 i f
int8 numeric i f
int2 int8 i b
int2 int4 i b
int2 float4 i f
int2 float8 i f
int2 numeric i f
int4 int8 i b
int4 float4 i f
int4 float8 i f
int4 numeric i f
float4 float8 i b
numeric float4 i f
numeric float8 i f
int8 oid i f
int2 oid i f
int4 oid i f
oid regproc i b
regproc oid i b
int8 regproc i f
int2 regproc i f
int4 regproc i f
oid regclass i b
regclass oid i b
int8 regclass i f
int2 regclass i f
int4 regclass i f
oid regtype i b
regtype oid i b
int8 regtype i f
int2 regtype i f
int4 regtype i f
oid regnamespace i b
regnamespace oid i b
int8 regnamespace i f
int2 regnamespace i f
int4 regnamespace i f
oid regrole i b
regrole oid i b
int8 regrole i f
int2 regrole i f
int4 regrole i f
oid regprocedure i b
regprocedure oid i b
int8 regprocedure i f
int2 regprocedure i f
int4 regprocedure i f
regproc regprocedure i b
regprocedure regproc i b
text regclass i f s
varchar regclass i f s
text bpchar i b
text varchar i b
bpchar text i f
bpchar varchar i f
varchar text i b
varchar bpchar i b
char text i f
name text i b
text name i f
bpchar name i f
varchar name i f
date timestamp i f
date timestamptz i f s
time interval i f
timestamp timestamptz i f s
`

type castEntry struct {
	ctx    CastContext
	method castMethod
	vol    Volatility
}

type castKey struct{ from, to types.Type }

type castName struct {
	sig string
	mod int32
}

var (
	declared = map[castKey]castEntry{}

	castMu    sync.Mutex
	castFuncs = map[castName]*Func{} // declared casts from the start, others as they are asked for
)

func addCasts() {
	eachLine(castTable, func(line string) {
		var f Func
		w := strings.Fields(line)
		key := castKey{f.typeOf(w[0], line), f.typeOf(w[1], line)}
		e := castEntry{ctx: map[string]CastContext{"i": Implicit, "a": Assignment, "e": Explicit}[w[2]], method: byFunc}
		if w[3] == "b" {
			e.method = sameBits
		}
		if len(w) > 4 {
			e.vol = Stable
		}
		declared[key] = e
		if e.method == byFunc {
			allFuncs = append(allFuncs, castFunc("cast", key.from, key.to, e.vol))
		}
	})
}

// maxCastFuncs bounds the casts that are kept: there is one for every modifier that is ever used.
const maxCastFuncs = 1 << 14

// castFunc gives the one Func of that cast, whose Result has the modifier of to.
func castFunc(name string, from, to types.Type, vol Volatility) *Func {
	f := &Func{Name: name, Class: Cast, Args: []types.Type{from.NoMod()}, Result: to, Strict: true, Volatility: vol}
	f.sig = makeSignature(f)
	key := castName{f.sig, to.Mod}
	castMu.Lock()
	defer castMu.Unlock()
	if g := castFuncs[key]; g != nil {
		return g
	}
	if len(castFuncs) < maxCastFuncs {
		castFuncs[key] = f
	}
	return f
}

// findCast is PostgreSQL's find_coercion_pathway, without modifiers.
func findCast(from, to types.Type, ctx CastContext) castMethod {
	from, to = from.NoMod(), to.NoMod()
	if from == to {
		return sameBits
	}
	if e, ok := declared[castKey{from, to}]; ok {
		if e.ctx > ctx {
			return noCast
		}
		return e.method
	}
	if pseudo(from) || pseudo(to) {
		return noCast
	}
	switch {
	case from.Kind == types.Int2Vector && to == types.ArrayOf(from.ElemType()):
		return sameBits
	case from.Kind == types.Array && to.Kind == types.Array:
		switch findCast(from.ElemType(), to.ElemType(), ctx) {
		case noCast:
			return noCast
		}
		return byElements
	case ctx >= Assignment && category(to) == 'S', ctx == Explicit && category(from) == 'S':
		return byText
	}
	return noCast
}

func pseudo(t types.Type) bool {
	switch t.Kind {
	case types.Any, types.AnyElement, types.AnyArray, types.Void, types.Unknown:
		return true
	}
	return false
}

// ResolveCast gives the conversion between two types where the context allows it. f is nil where there is
// nothing to do. The modifier of to takes part: if it shortens or rounds, f does that too, and f.Result has it.
// In Assignment context strings that are too long are refused
// (22001), in Explicit context they are cut; f is a different Func for the two. A from of Unknown is read as
// text, for expressions; an untyped literal is better read by types.Parse. Error: 42846.
func ResolveCast(from, to types.Type, ctx CastContext) (f *Func, err error) {
	if from.Kind == types.Unknown {
		if from = types.Of(types.Text); ctx < Explicit && !pseudo(to) {
			ctx = Explicit
		}
	}
	method := findCast(from, to, ctx)
	name := "cast"
	if ctx < Explicit && needsLength(to) {
		name = "assign"
	}
	switch method {
	case noCast:
		return nil, sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", shownName(from), shownName(to))
	case sameBits:
		if to.Mod == 0 || to.Mod == from.Mod && from.Same(to) {
			return nil, nil
		}
		return castFunc(name, from, to, Immutable), nil
	}
	return castFunc(name, from, to, castVolatility(from, to)), nil
}

// needsLength says whether the modifier of t limits a string's length, also within an array.
func needsLength(t types.Type) bool {
	k := t.Kind
	if k == types.Array {
		k = t.Elem
	}
	return t.Mod != 0 && (k == types.Varchar || k == types.Bpchar)
}

// castVolatility: text forms of times depend on TimeZone and DateStyle.
func castVolatility(from, to types.Type) Volatility {
	if e, ok := declared[castKey{from.NoMod(), to.NoMod()}]; ok {
		return e.vol
	}
	for _, t := range []types.Type{from, to} {
		k := t.Kind
		if k == types.Array || k == types.Window {
			k = t.Elem
		}
		if k.IsReg() {
			return Stable
		}
		switch k {
		case types.Date, types.Time, types.Timestamp, types.TimestampTZ, types.Interval, types.Float4, types.Float8,
			types.Bytea, types.Record:
			return Stable
		}
	}
	return Immutable
}

// LengthCast gives the conversion of a value of type t without modifier to t with it, for Call.Typ = t; nil
// if t has no modifier. ctx decides as in ResolveCast.
func LengthCast(t types.Type, ctx CastContext) *Func {
	f, _ := ResolveCast(t.NoMod(), t, ctx)
	return f
}

// CanCast says whether the context allows the conversion.
func CanCast(from, to types.Type, ctx CastContext) bool {
	return from.Kind == types.Unknown || findCast(from, to, ctx) != noCast
}
