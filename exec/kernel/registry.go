package kernel

import (
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// impls holds the implementations by signature; each file fn_*.go adds a table of them.
var impls = map[string]impl{}

func register(tables ...map[string]impl) {
	for _, t := range tables {
		for sig, im := range t {
			if _, twice := impls[sig]; twice {
				panic("kernel: two implementations of " + sig)
			}
			impls[sig] = im
		}
	}
}

func init() {
	register(arithmeticImpls(), mathImpls, degreeImpls, textImpls, regexpImpls, intervalImpls, timeImpls, formatImpls, jsonImpls, jsonBuildImpls, arrayImpls, systemImpls)
}

// lookup finds the implementation of f for arguments of those types and a result of type typ. Error: 0A000.
func lookup(f *fn.Func, args []types.Type, typ types.Type) (impl, error) {
	if f.Class == fn.Cast {
		// Not typ: the call may have been relabelled, which must not change what it does.
		return castImpl(args[0], f.Result, f.Name == "cast"), nil
	}
	if f.Class == fn.Operator && len(f.Args) == 2 {
		if op, ok := cmpOps[f.Name]; ok {
			l, r := f.Args[0], f.Args[1]
			if l.Kind == types.AnyArray {
				l, r = args[0], args[1]
			}
			return compareVec(comparisonOf(op, l, r)), nil
		}
	}
	if f.Make != nil {
		call, err := f.Make()
		return impl{row: func(_ *frame, a []types.Datum) (types.Datum, error) { return call(a) }}, err
	}
	if f.Session {
		return sessionImpl(f.Name, typ), nil
	}
	if im, ok := impls[f.Signature()]; ok {
		return im, nil
	}
	return impl{}, sqlerr.Unsupported("function %s is not supported", f.Signature())
}

// comparisonOf decides how the types l and r compare.
func comparisonOf(op cmpOp, l, r types.Type) comparison {
	cm := comparison{op: op, typ: l}
	switch l.Layout() {
	case types.LayoutI64:
		cm.kind = cmpInt
		if l.Kind != r.Kind && l.Kind.IsTime() {
			cm.kind = cmpConv
			cm.conv = [2]func(*ctx, int64) int64{toInstant(l.Kind, r.Kind), toInstant(r.Kind, l.Kind)}
		}
	case types.LayoutF64:
		cm.kind = cmpFloat
	case types.LayoutBytes:
		cm.kind = cmpAny
		switch l.Kind {
		case types.Text, types.Varchar, types.Name, types.Bytea, types.Unknown:
			cm.kind = cmpBytes
		}
	default:
		cm.kind = cmpAny
	}
	return cm
}

// toInstant brings a value of kind k to where it compares with the other kind: microseconds, as UTC where
// both are without time zone. A date beyond the timestamps becomes an infinity, which keeps the order.
func toInstant(k, other types.Kind) func(*ctx, int64) int64 {
	midnight := func(days int64) int64 {
		ts, err := types.DateToTimestamp(days)
		if err != nil && days > 0 {
			return types.Infinity - 1
		}
		if err != nil {
			return types.NegInfinity + 1
		}
		return ts
	}
	zoned := func(c *ctx, local int64) int64 {
		ts, err := types.FromLocal(local, c.session.Location)
		if err != nil {
			return local
		}
		return ts
	}
	switch {
	case k == types.TimestampTZ:
		return nil
	case k == types.Date && other == types.TimestampTZ:
		return func(c *ctx, days int64) int64 { return zoned(c, midnight(days)) }
	case k == types.Date:
		return func(c *ctx, days int64) int64 { return midnight(days) }
	case other == types.TimestampTZ:
		return zoned
	}
	return nil
}

// sessionImpl asks the session.
func sessionImpl(name string, typ types.Type) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) { return f.session(name, a) }}
}

func (f *frame) session(name string, a []types.Datum) (types.Datum, error) {
	if f.c.env.Funcs == nil {
		return types.NullDatum, sqlerr.Unsupported("function %s is not supported here", name)
	}
	return f.c.env.Funcs.Call(name, a)
}
