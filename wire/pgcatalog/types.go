package pgcatalog

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// typeList is PostgreSQL 15's pg_type for the types that there are, a line each: oid, typname, typlen, typbyval, typtype, typcategory,
// typispreferred, typdelim, typsubscript, typelem, typarray, typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze,
// typalign, typstorage, typcollation, and the description.
//
//go:embed types.txt
var typeList string

// typeInfo is a row of pg_type.
type typeInfo struct {
	oid         uint32
	len         int
	byval       bool
	align       string
	storage     string
	collation   int
	description string
	row         row
}

// typeNumbers are the columns of typeList that are numbers, in their places; the rest have a meaning of their own.
var typeNumbers = map[int]string{0: "oid", 2: "typlen", 8: "typsubscript", 9: "typelem", 10: "typarray", 11: "typinput", 12: "typoutput",
	13: "typreceive", 14: "typsend", 15: "typmodin", 16: "typmodout", 17: "typanalyze", 20: "typcollation"}

// typeInfos lists the types of PostgreSQL, by OID.
var typeInfos = sync.OnceValue(func() []*typeInfo {
	var out []*typeInfo
	for line := range strings.Lines(typeList) {
		w := strings.SplitN(strings.TrimSpace(line), " ", 22)
		r := row{"typname": w[1], "typnamespace": catalogSchema, "typowner": ownerOID, "typbyval": w[3] == "t", "typtype": w[4], "typcategory": w[5],
			"typispreferred": w[6] == "t", "typisdefined": true, "typdelim": w[7], "typalign": w[18], "typstorage": w[19], "typtypmod": -1}
		for i, name := range typeNumbers {
			n, err := strconv.Atoi(w[i])
			if err != nil {
				panic(fmt.Sprintf("pgcatalog: bad line %q", line)) // the list is part of the program
			}
			r[name] = n
		}
		info := &typeInfo{oid: uint32(r["oid"].(int)), len: r["typlen"].(int), byval: w[3] == "t", align: w[18], storage: w[19], collation: r["typcollation"].(int), row: r}
		if len(w) > 21 {
			info.description = w[21]
		}
		out = append(out, info)
	}
	return out
})

var typeIndex = sync.OnceValue(func() map[uint32]*typeInfo {
	m := map[uint32]*typeInfo{}
	for _, info := range typeInfos() {
		m[info.oid] = info
	}
	return m
})

// infoOf gives what pg_type says of a type.
func infoOf(t types.Type) *typeInfo {
	if info := typeIndex()[t.OID()]; info != nil {
		return info
	}
	return &typeInfo{oid: t.OID(), len: t.Len(), align: "d", storage: "x"} // a composite
}

func typeRows(_ *session.SystemContext, t *rows) {
	for _, info := range typeInfos() {
		t.add(info.row)
	}
	record := typeIndex()[types.Of(types.Record).OID()].row
	for _, w := range windowTypes() {
		t.add(row{"oid": int(w.OID()), "typname": w.InternalName(), "typnamespace": catalogSchema, "typowner": ownerOID, "typlen": -1, "typtype": "c",
			"typcategory": "C", "typisdefined": true, "typdelim": ",", "typrelid": windowClass(w), "typalign": "d", "typstorage": "x", "typtypmod": -1,
			"typinput": record["typinput"], "typoutput": record["typoutput"], "typreceive": record["typreceive"], "typsend": record["typsend"]})
	}
}

func procs(c *session.SystemContext, t *rows) {
	add := func(oid uint32, name, kind string, r row) {
		r["oid"], r["proname"], r["prokind"], r["prosrc"] = int(oid), name, kind, name
		r["pronamespace"], r["proowner"], r["prolang"], r["procost"], r["proparallel"] = catalogSchema, ownerOID, internalLanguage, 1, "s"
		t.add(r)
	}
	for _, f := range fn.All() {
		kind := map[fn.Class]string{fn.Scalar: "f", fn.Set: "f", fn.Aggregate: "a", fn.Window: "w"}[f.Class]
		if kind == "" {
			continue
		}
		args := make([]int, len(f.Args))
		for i, a := range f.Args {
			args[i] = int(a.OID())
		}
		variadic := 0
		if f.Variadic {
			if variadic = int(f.Args[len(args)-1].OID()); f.Args[len(args)-1].Kind != types.Any {
				args[len(args)-1] = int(types.ArrayOf(f.Args[len(args)-1]).OID())
			}
		}
		add(f.OID(), f.Name, kind, row{"proisstrict": f.Strict, "proretset": f.Class == fn.Set, "provolatile": []string{"i", "s", "v"}[f.Volatility],
			"pronargs": len(args), "prorettype": int(f.Result.OID()), "proargtypes": args, "provariadic": variadic})
	}
	for _, b := range fn.Builtins() {
		add(b.OID, b.Name, "f", row{"proisstrict": true, "provolatile": "i", "prorettype": int(types.Of(types.Void).OID()), "proargtypes": []int{}})
	}
	userRoutines(c, t)
}

func aggregates(_ *session.SystemContext, t *rows) {
	for _, f := range fn.All() {
		if f.Class != fn.Aggregate {
			continue
		}
		kind, direct := "n", 0
		if f.OrderedSet {
			kind, direct = "o", len(f.Args)-1
		}
		t.add(row{"aggfnoid": int(f.OID()), "aggkind": kind, "aggnumdirectargs": direct, "aggfinalmodify": "r", "aggmfinalmodify": "r"})
	}
}

// firstOperator is where the OIDs of operators begin: they have no meaning elsewhere.
const firstOperator = 1 << 28

func operators(_ *session.SystemContext, t *rows) {
	oid := firstOperator
	for _, f := range fn.All() {
		if f.Class != fn.Operator {
			continue
		}
		left, kind := 0, "l"
		if len(f.Args) == 2 {
			left, kind = int(f.Args[0].OID()), "b"
		}
		t.add(row{"oid": oid, "oprname": f.Name, "oprnamespace": catalogSchema, "oprowner": ownerOID, "oprkind": kind, "oprleft": left,
			"oprright": int(f.Args[len(f.Args)-1].OID()), "oprresult": int(f.Result.OID())})
		oid++
	}
}
