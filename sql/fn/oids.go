package fn

import (
	_ "embed"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// oidList has the OIDs of PostgreSQL 15's pg_proc, by Signature for functions of the catalogue, by name alone for those that
// only pg_type and pg_am refer to: the input and output functions of types, handlers of access methods.
//
//go:embed oids.txt
var oidList string

// firstOwnOID is where the OIDs of functions that PostgreSQL lacks begin: below them are users' objects, and the keys of pg_index above.
const firstOwnOID = 1 << 29

// Builtin is a function that cannot be called from SQL here, but that pg_catalog refers to.
type Builtin struct {
	OID  uint32
	Name string
}

type oidIndex struct {
	of       map[*Func]uint32
	funcs    map[uint32]*Func
	builtins []Builtin
}

var oids = sync.OnceValue(func() *oidIndex {
	x := &oidIndex{of: map[*Func]uint32{}, funcs: map[uint32]*Func{}}
	known := map[string]uint32{}
	for line := range strings.Lines(oidList) {
		number, sig, _ := strings.Cut(strings.TrimSpace(line), " ")
		oid, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			panic("fn: " + line) // the list is part of the program
		}
		if strings.HasSuffix(sig, ")") {
			known[sig] = uint32(oid)
		} else {
			x.builtins = append(x.builtins, Builtin{uint32(oid), sig})
		}
	}
	for _, f := range allFuncs {
		if f.Class == Operator || f.Class == Cast {
			continue
		}
		oid := known[f.Signature()]
		if oid == 0 || x.funcs[oid] != nil {
			h := fnv.New32a()
			_, _ = h.Write([]byte(f.Signature())) // never fails
			oid = firstOwnOID | h.Sum32()&(firstOwnOID-1)
		}
		for x.funcs[oid] != nil {
			oid++
		}
		x.of[f], x.funcs[oid] = oid, f
	}
	return x
})

// OID gives a function's OID in pg_proc: PostgreSQL's own where it has the function; it does not change between versions of Tidemark. It
// is 0 for operators and casts.
func (f *Func) OID() uint32 { return oids().of[f] }

// ByOID gives the function with that OID in pg_proc, nil if there is none.
func ByOID(oid uint32) *Func { return oids().funcs[oid] }

// Builtins lists the functions that only pg_catalog refers to, by OID. The slice is not to be changed.
func Builtins() []Builtin { return oids().builtins }

// Arguments lists the types of the arguments as PostgreSQL shows them: "text, VARIADIC integer[]".
func (f *Func) Arguments() string {
	names := make([]string, len(f.Args))
	for i, t := range f.Args {
		names[i] = t.String()
		if f.Variadic && i == len(f.Args)-1 {
			names[i] = "VARIADIC " + types.ArrayOf(t).String()
			if t.Kind == types.Any {
				names[i] = `VARIADIC "any"`
			}
		}
	}
	return strings.Join(names, ", ")
}
