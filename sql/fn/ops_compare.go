package fn

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// comparable lists the types that compare with themselves, and in groups those that also compare with the
// other members of their group. timestamptz, whose comparison with date and timestamp depends on TimeZone, is added by code.
const comparable = `
bool
int2 int4 int8
float4 float8
numeric
text name
bpchar
char
bytea
date timestamp
time
interval
uuid
jsonb
oid
anyarray
record
window_timestamp
window_timestamptz
window_date
`

// comparisonOps are the six comparisons.
var comparisonOps = []string{"=", "<>", "<", "<=", ">", ">="}

func addComparisons() {
	add := func(l, r types.Type, v Volatility) {
		for _, op := range comparisonOps {
			addFunc(&Func{Name: op, Class: Operator, Args: []types.Type{l, r}, Result: types.Of(types.Bool), Strict: true, Volatility: v})
		}
	}
	eachLine(comparable, func(line string) {
		var f Func
		words := strings.Fields(line)
		for _, l := range words {
			for _, r := range words {
				add(f.typeOf(l, line), f.typeOf(r, line), Immutable)
			}
		}
	})
	tz := types.Of(types.TimestampTZ)
	add(tz, tz, Immutable)
	for _, k := range []types.Kind{types.Date, types.Timestamp} {
		add(types.Of(k), tz, Stable)
		add(tz, types.Of(k), Stable)
	}
}
