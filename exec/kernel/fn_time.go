package kernel

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

const usecPerDay int64 = 86_400_000_000

// zoned lifts a function that uses the session's time zone.
func zoned(g func(loc *time.Location, a []types.Datum) (types.Datum, error)) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) { return g(f.env.Location, a) }}
}

func plain(g func(a []types.Datum) (types.Datum, error)) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) { return g(a) }}
}

// timePlus makes timestamp + interval or, in the session's zone, timestamptz + interval; at says which argument
// is the time, and date that it is a date.
func timePlus(at int, tz, date, minus bool) impl {
	return impl{vec: func(v *vecNode, c *ctx, sel []int32, n int) {
		t, d := v.ops[at], v.ops[1-at]
		out := v.out.I64
		loc := c.session.Location
		if !tz {
			loc = nil
		}
		if d.con && d.v.J64[0] == 0 && !date && !t.con && addPlain(out[:n], t.v.I64, d.v.I64[0], minus, sel) {
			return
		}
		v.eachRow(sel, n, func(i int) {
			ts := t.v.I64[i&t.mask()]
			j := i & d.mask()
			us, md := d.v.I64[j], d.v.J64[j]
			if minus {
				if md == 0 && us != -us {
					us = -us
				} else {
					neg, err := types.IntervalNeg(types.PairDatum(us, md))
					if err != nil {
						v.fail(c, i, err)
						return
					}
					us, md = neg.I, neg.J
				}
			}
			if date {
				var err error
				if ts, err = types.DateToTimestamp(ts); err != nil {
					v.fail(c, i, err)
					return
				}
			}
			// Time only, far from the ends: plain addition.
			if md == 0 && ts > -1<<61 && ts < 1<<61 && us > -1<<60 && us < 1<<60 && ts+us > minPlainTime {
				out[i] = ts + us
				return
			}
			r, err := types.TimestampAddInterval(ts, types.PairDatum(us, md), loc)
			if err != nil {
				v.fail(c, i, err)
			}
			out[i] = r
		})
	}}
}

// addPlain adds a constant number of microseconds to timestamps; false if some of them are so near to the ends of
// the range that sums must be checked.
func addPlain(out, ts []int64, us int64, minus bool, sel []int32) bool {
	if us > 1<<60 || us < -1<<60 {
		return false
	}
	if minus {
		us = -us
	}
	far := false
	if sel == nil {
		for i := range out {
			x := ts[i]
			far = far || uint64(x-minPlainTime+1<<60) > 1<<62 || x+us <= minPlainTime
			out[i] = x + us
		}
		return !far
	}
	for _, i := range sel {
		x := ts[i]
		far = far || uint64(x-minPlainTime+1<<60) > 1<<62 || x+us <= minPlainTime
		out[i] = x + us
	}
	return !far
}

// minPlainTime is a timestamp above PostgreSQL's lowest, 4714 BC; sums above it need no check of the range.
const minPlainTime = -2440000 * usecPerDay

func intervalOp(g func(a, b types.Datum) (types.Datum, error)) impl {
	return plain(func(a []types.Datum) (types.Datum, error) { return g(a[0], a[1]) })
}

func intervalFn(g func(a types.Datum) (types.Datum, error)) impl {
	return plain(func(a []types.Datum) (types.Datum, error) { return g(a[0]) })
}

// intervalImpls are the operators on dates, times and intervals.
var intervalImpls = map[string]impl{
	"interval + interval": intervalOp(types.IntervalAdd),
	"interval - interval": intervalOp(types.IntervalSub),
	"- interval":          intervalFn(types.IntervalNeg),
	"interval * float8": plain(func(a []types.Datum) (types.Datum, error) {
		return types.IntervalMul(a[0], a[1].F)
	}),
	"float8 * interval": plain(func(a []types.Datum) (types.Datum, error) {
		return types.IntervalMul(a[1], a[0].F)
	}),
	"interval / float8": plain(func(a []types.Datum) (types.Datum, error) {
		return types.IntervalDiv(a[0], a[1].F)
	}),
	"justify_days(interval)":     intervalFn(types.JustifyDays),
	"justify_hours(interval)":    intervalFn(types.JustifyHours),
	"justify_interval(interval)": intervalFn(types.JustifyInterval),

	"timestamp + interval":   timePlus(0, false, false, false),
	"interval + timestamp":   timePlus(1, false, false, false),
	"timestamp - interval":   timePlus(0, false, false, true),
	"timestamptz + interval": timePlus(0, true, false, false),
	"interval + timestamptz": timePlus(1, true, false, false),
	"timestamptz - interval": timePlus(0, true, false, true),
	"date + interval":        timePlus(0, false, true, false),
	"interval + date":        timePlus(1, false, true, false),
	"date - interval":        timePlus(0, false, true, true),

	"timestamp - timestamp": plain(func(a []types.Datum) (types.Datum, error) {
		return types.TimestampSub(a[0].I, a[1].I)
	}),
	"timestamptz - timestamptz": plain(func(a []types.Datum) (types.Datum, error) {
		return types.TimestampSub(a[0].I, a[1].I)
	}),
	"date + int4": intBinary(types.DateAdd),
	"int4 + date": intBinary(func(a, b int64) (int64, error) { return types.DateAdd(b, a) }),
	"date - int4": intBinary(func(a, b int64) (int64, error) { return types.DateAdd(a, -b) }),
	"date - date": intBinary(types.DateSub),
	"date + time": intBinary(dateTime),
	"time + date": intBinary(func(t, d int64) (int64, error) { return dateTime(d, t) }),
	"time - time": plain(func(a []types.Datum) (types.Datum, error) {
		return types.PairDatum(a[0].I-a[1].I, 0), nil
	}),
	"time + interval": plain(func(a []types.Datum) (types.Datum, error) {
		return types.IntDatum(types.TimeAddInterval(a[0].I, a[1])), nil
	}),
	"interval + time": plain(func(a []types.Datum) (types.Datum, error) {
		return types.IntDatum(types.TimeAddInterval(a[1].I, a[0])), nil
	}),
	"time - interval": plain(func(a []types.Datum) (types.Datum, error) {
		us := a[1].I % usecPerDay
		return types.IntDatum(types.TimeAddInterval(a[0].I, types.PairDatum(-us, 0))), nil
	}),
}

func dateTime(d, t int64) (int64, error) {
	ts, err := types.DateToTimestamp(d)
	if err != nil || !types.IsFiniteTime(ts) {
		return ts, err
	}
	if ts > types.Infinity-1-t {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
	}
	return ts + t, nil
}

// fieldName gives a field argument as a lower-case string, kept between rows.
func (f *frame) fieldName(b []byte) string {
	s, _ := cached(f, b, func(b []byte) (string, error) { return strings.ToLower(string(b)), nil })
	return s
}

// zoneOf finds the time zone that an argument names.
func (f *frame) zoneOf(b []byte) (*time.Location, error) {
	return cached(f, b, func(b []byte) (*time.Location, error) { return types.ParseZone(string(b)) })
}

func extract(k types.Kind) impl {
	return impl{text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		n, null, err := types.Extract(f.fieldName(a[0].B), k, a[1], f.env.Location)
		if err == nil && null {
			err = errNull
		}
		if err != nil {
			return dst, err
		}
		return n.AppendTo(dst), nil
	}}
}

func datePart(k types.Kind) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) {
		x, null, err := types.DatePart(f.fieldName(a[0].B), k, a[1], f.env.Location)
		return types.Datum{F: x, Null: null}, err
	}}
}

func finite(a []types.Datum) bool { return types.IsFiniteTime(a[0].I) }

// age with one argument counts from midnight of the current date.
func ageSince(tz bool) rowFunc {
	return func(f *frame, a []types.Datum) (types.Datum, error) {
		loc := f.env.Location
		local := types.TimestampToDate(types.ToLocal(f.c.env.Now, loc)) * usecPerDay
		if !tz {
			return types.Age(local, a[0].I, nil)
		}
		midnight, err := types.FromLocal(local, loc)
		if err != nil {
			return types.Datum{}, err
		}
		return types.Age(midnight, a[0].I, loc)
	}
}

func now(f *frame, a []types.Datum) (types.Datum, error) { return types.IntDatum(f.c.env.Now), nil }

// windowField gives the start or the end of a window; less is taken off.
func windowField(end bool, less int64) impl {
	return impl{vec: func(v *vecNode, c *ctx, sel []int32, n int) {
		x := v.ops[0].v.I64
		if end {
			x = v.ops[0].v.J64
		}
		out, m := v.out.I64, v.ops[0].mask()
		v.eachRow(sel, n, func(i int) { out[i] = x[i&m] - less })
	}}
}

var timeImpls = map[string]impl{
	"now()":                   {row: now},
	"transaction_timestamp()": {row: now},
	"statement_timestamp()":   {row: now},
	"clock_timestamp()": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		return types.IntDatum(time.Now().UnixMicro()), nil
	}},

	"date_trunc(text,timestamp)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		if !types.IsFiniteTime(a[1].I) {
			return a[1], nil
		}
		ts, err := types.DateTrunc(f.fieldName(a[0].B), a[1].I, nil)
		return types.IntDatum(ts), err
	}},
	"date_trunc(text,timestamptz)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		if !types.IsFiniteTime(a[1].I) {
			return a[1], nil
		}
		ts, err := types.DateTrunc(f.fieldName(a[0].B), a[1].I, zoneOrUTC(f.env.Location))
		return types.IntDatum(ts), err
	}},
	"date_trunc(text,timestamptz,text)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		if !types.IsFiniteTime(a[1].I) {
			return a[1], nil
		}
		loc, err := f.zoneOf(a[2].B)
		if err != nil {
			return types.Datum{}, err
		}
		ts, err := types.DateTrunc(strings.ToLower(string(a[0].B)), a[1].I, loc)
		return types.IntDatum(ts), err
	}},
	"date_trunc(text,interval)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		return types.IntervalTrunc(f.fieldName(a[0].B), a[1])
	}},

	"extract(text,date)":          extract(types.Date),
	"extract(text,time)":          extract(types.Time),
	"extract(text,timestamp)":     extract(types.Timestamp),
	"extract(text,timestamptz)":   extract(types.TimestampTZ),
	"extract(text,interval)":      extract(types.Interval),
	"date_part(text,date)":        datePart(types.Date),
	"date_part(text,time)":        datePart(types.Time),
	"date_part(text,timestamp)":   datePart(types.Timestamp),
	"date_part(text,timestamptz)": datePart(types.TimestampTZ),
	"date_part(text,interval)":    datePart(types.Interval),

	"age(timestamp,timestamp)": plain(func(a []types.Datum) (types.Datum, error) {
		return types.Age(a[0].I, a[1].I, nil)
	}),
	"age(timestamptz,timestamptz)": zoned(func(loc *time.Location, a []types.Datum) (types.Datum, error) {
		return types.Age(a[0].I, a[1].I, loc)
	}),
	"age(timestamp)":   {row: ageSince(false)},
	"age(timestamptz)": {row: ageSince(true)},

	"make_date(int4,int4,int4)": plain(func(a []types.Datum) (types.Datum, error) {
		d, err := types.MakeDate(int(a[0].I), int(a[1].I), int(a[2].I))
		return types.IntDatum(d), err
	}),
	"make_time(int4,int4,float8)": plain(func(a []types.Datum) (types.Datum, error) {
		d, err := types.MakeTime(int(a[0].I), int(a[1].I), a[2].F)
		return types.IntDatum(d), err
	}),
	"make_timestamp(int4,int4,int4,int4,int4,float8)": plain(makeTimestamp),
	"make_timestamptz(int4,int4,int4,int4,int4,float8)": zoned(func(loc *time.Location, a []types.Datum) (types.Datum, error) {
		return inZone(loc, a)
	}),
	"make_timestamptz(int4,int4,int4,int4,int4,float8,text)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		loc, err := f.zoneOf(a[6].B)
		if err != nil {
			return types.Datum{}, err
		}
		return inZone(loc, a)
	}},
	"make_interval()":                                     plain(makeInterval),
	"make_interval(int4)":                                 plain(makeInterval),
	"make_interval(int4,int4)":                            plain(makeInterval),
	"make_interval(int4,int4,int4)":                       plain(makeInterval),
	"make_interval(int4,int4,int4,int4)":                  plain(makeInterval),
	"make_interval(int4,int4,int4,int4,int4)":             plain(makeInterval),
	"make_interval(int4,int4,int4,int4,int4,int4)":        plain(makeInterval),
	"make_interval(int4,int4,int4,int4,int4,int4,float8)": plain(makeInterval),

	"to_timestamp(float8)":                       plain(toTimestamp),
	"date_bin(interval,timestamp,timestamp)":     plain(dateBin),
	"date_bin(interval,timestamptz,timestamptz)": plain(dateBin),
	"date(timestamp)":                            intUnary(func(a int64) (int64, error) { return types.TimestampToDate(a), nil }),
	"date(timestamptz)": zoned(func(loc *time.Location, a []types.Datum) (types.Datum, error) {
		return types.IntDatum(types.TimestampToDate(types.ToLocal(a[0].I, loc))), nil
	}),

	"timezone(text,timestamptz)":     {row: atZone(false, false)},
	"timezone(text,timestamp)":       {row: atZone(false, true)},
	"timezone(interval,timestamptz)": {row: atZone(true, false)},
	"timezone(interval,timestamp)":   {row: atZone(true, true)},

	"isfinite(date)":        boolOf(finite),
	"isfinite(timestamp)":   boolOf(finite),
	"isfinite(timestamptz)": boolOf(finite),
	"isfinite(interval)":    boolOf(func(a []types.Datum) bool { return true }),

	"window_start(window_timestamp)":   windowField(false, 0),
	"window_start(window_timestamptz)": windowField(false, 0),
	"window_start(window_date)":        windowField(false, 0),
	"window_end(window_timestamp)":     windowField(true, 0),
	"window_end(window_timestamptz)":   windowField(true, 0),
	"window_end(window_date)":          windowField(true, 0),
	"window_time(window_timestamp)":    windowField(true, 1),
	"window_time(window_timestamptz)":  windowField(true, 1),
	"window_time(window_date)": plain(func(a []types.Datum) (types.Datum, error) {
		ts, err := types.DateToTimestamp(a[0].J)
		return types.IntDatum(ts - 1), err
	}),
	"session_of(timestamp,timestamp)":     plain(sessionOf),
	"session_of(timestamptz,timestamptz)": plain(sessionOf),
}

// sessionOf is the session of a row by itself: from its time to its time plus the gap, which must be later.
func sessionOf(a []types.Datum) (types.Datum, error) {
	if a[1].I <= a[0].I {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "gap of session_window must be greater than zero")
	}
	return types.Datum{I: a[0].I, J: a[1].I}, nil
}

// zoneOrUTC: DateTrunc takes nil to mean a timestamp without zone, which cuts the same as in UTC.
func zoneOrUTC(loc *time.Location) *time.Location {
	if loc == nil {
		return time.UTC
	}
	return loc
}

func makeTimestamp(a []types.Datum) (types.Datum, error) {
	ts, err := types.MakeTimestamp(int(a[0].I), int(a[1].I), int(a[2].I), int(a[3].I), int(a[4].I), a[5].F)
	return types.IntDatum(ts), err
}

func inZone(loc *time.Location, a []types.Datum) (types.Datum, error) {
	d, err := makeTimestamp(a)
	if err != nil {
		return d, err
	}
	ts, err := types.FromLocal(d.I, loc)
	return types.IntDatum(ts), err
}

func makeInterval(a []types.Datum) (types.Datum, error) {
	var p [6]int
	secs := 0.0
	for i, d := range a {
		if i == 6 {
			secs = d.F
		} else {
			p[i] = int(d.I)
		}
	}
	return types.MakeInterval(p[0], p[1], p[2], p[3], p[4], p[5], secs)
}

func dateBin(a []types.Datum) (types.Datum, error) {
	ts, err := types.DateBin(a[0], a[1].I, a[2].I)
	return types.IntDatum(ts), err
}

// toTimestamp counts seconds from 1970, rounding as PostgreSQL does, which counts from 2000.
func toTimestamp(a []types.Datum) (types.Datum, error) {
	const epoch = 946684800
	x := a[0].F
	switch {
	case math.IsInf(x, 1):
		return types.IntDatum(types.Infinity), nil
	case math.IsInf(x, -1):
		return types.IntDatum(types.NegInfinity), nil
	case x != x:
		return types.Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp cannot be NaN")
	case x < -210866803200 || x >= 9224318016000:
		return types.Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", strconv.FormatFloat(x, 'g', -1, 64))
	}
	return types.IntDatum(int64(math.RoundToEven((x-epoch)*1e6)) + epoch*1_000_000), nil
}

// atZone is AT TIME ZONE, with the zone named or given as an interval; toInstant says that the time has none yet.
func atZone(interval, toInstant bool) rowFunc {
	return func(f *frame, a []types.Datum) (types.Datum, error) {
		if !types.IsFiniteTime(a[1].I) {
			return a[1], nil
		}
		var loc *time.Location
		var err error
		if interval {
			var off int64
			off, err = zoneInterval(a[0])
			loc = time.FixedZone("", int(off))
		} else {
			loc, err = f.zoneOf(a[0].B)
		}
		if err != nil {
			return types.Datum{}, err
		}
		if !toInstant {
			return types.IntDatum(types.ToLocal(a[1].I, loc)), nil
		}
		ts, err := types.FromLocal(a[1].I, loc)
		return types.IntDatum(ts), err
	}
}

// zoneInterval gives the seconds east of UTC of AT TIME ZONE interval.
func zoneInterval(d types.Datum) (int64, error) {
	months, days, us := types.IntervalParts(d.I, d.J)
	if months != 0 || days != 0 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "interval time zone \"%s\" must not include months or days",
			types.Format(types.Of(types.Interval), d, nil))
	}
	return us / 1_000_000, nil
}

func init() { register(overlapsImpls()) }

// overlapsImpls makes (a, b) OVERLAPS (c, d), each second bound being a time or a length.
func overlapsImpls() map[string]impl {
	out := map[string]impl{}
	for _, k := range []types.Kind{types.Time, types.Timestamp, types.TimestampTZ} {
		w := types.Of(k).InternalName()
		for _, e1 := range []string{w, "interval"} {
			for _, e2 := range []string{w, "interval"} {
				out["overlaps("+w+","+e1+","+w+","+e2+")"] = impl{row: overlaps(k, e1 != w, e2 != w)}
			}
		}
	}
	return out
}

func overlaps(k types.Kind, length1, length2 bool) rowFunc {
	end := func(f *frame, start, e types.Datum, length bool) (types.Datum, error) {
		if !length {
			return e, nil
		}
		if start.Null || e.Null {
			return types.NullDatum, nil
		}
		if k == types.Time {
			return types.IntDatum(types.TimeAddInterval(start.I, e)), nil
		}
		loc := f.env.Location
		if k == types.Timestamp {
			loc = nil
		}
		ts, err := types.TimestampAddInterval(start.I, e, loc)
		return types.IntDatum(ts), err
	}
	return func(f *frame, a []types.Datum) (types.Datum, error) {
		e1, err := end(f, a[0], a[1], length1)
		if err != nil {
			return e1, err
		}
		e2, err := end(f, a[2], a[3], length2)
		if err != nil {
			return e2, err
		}
		return overlap(a[0], e1, a[2], e2), nil
	}
}

// overlap follows the SQL standard: the earlier bound of a pair is its start, a NULL one is unknown.
func overlap(s1, e1, s2, e2 types.Datum) types.Datum {
	order := func(s, e types.Datum) (types.Datum, types.Datum, bool) {
		switch {
		case s.Null && e.Null:
			return s, e, false
		case s.Null:
			return e, s, true
		case !e.Null && s.I > e.I:
			return e, s, true
		}
		return s, e, true
	}
	s1, e1, ok1 := order(s1, e1)
	s2, e2, ok2 := order(s2, e2)
	if !ok1 || !ok2 {
		return types.NullDatum
	}
	if s1.I < s2.I {
		s1, e1, s2, e2 = s2, e2, s1, e1
	}
	switch {
	case s1.I == s2.I:
		if e1.Null || e2.Null {
			return types.NullDatum
		}
		return types.BoolDatum(true)
	case e2.Null:
		return types.NullDatum
	case s1.I < e2.I:
		return types.BoolDatum(true)
	case e1.Null:
		return types.NullDatum
	}
	return types.BoolDatum(false)
}
