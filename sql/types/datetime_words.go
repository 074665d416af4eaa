package types

import "time"

// word decodes a word or signed word.
func (p *dateParser) word(f dateField, seen, pending int, rest []dateField) (got, next int, e dateErr) {
	next = pending // only a unit replaces a unit that waits for its number
	tok, ok := dateTokens[f.text]
	if ok && tok.kind == tokIgnore {
		return 0, pending, dateOK
	}
	if !ok && f.kind == fieldString {
		names, abbrevs := zoneTables()
		if off, isAbbrev := abbrevs[f.text]; isAbbrev {
			p.zoneOff = int64(off)
			return hasZone, next, dateOK
		}
		if p.zone = namedZone(names, f.text, f.text); p.zone != nil {
			return hasZone, next, dateOK
		}
	}
	switch tok.kind {
	case tokReserved:
		return p.reserved(tok.value), next, dateOK
	case tokMonth:
		got = hasMonth
		if seen&hasMonth != 0 && !p.textMonth && seen&hasDay == 0 && p.month >= 1 && p.month <= 31 {
			p.day, got = p.month, hasDay
		}
		p.textMonth, p.month = true, tok.value
		return got, next, dateOK
	case tokDSTMod:
		p.dstAdd = int64(tok.value)
		return hasDSTMod, next, dateOK
	case tokAMPM:
		p.pm = tok.value + 1
		return hasAMPM, next, dateOK
	case tokADBC:
		p.bc = tok.value == 1
		return hasADBC, next, dateOK
	case tokWeekday:
		return hasWeekday, next, dateOK
	case tokUnits:
		return 0, tok.value, dateOK
	case tokISOTime:
		if p.allowDate && seen&hasDate != hasDate || len(rest) == 0 ||
			rest[0].kind != fieldNumber && rest[0].kind != fieldTime && rest[0].kind != fieldDate {
			return 0, 0, dateBad
		}
		return 0, unitTime, dateOK
	}
	return 0, 0, dateBad
}

// reserved sets the fields that a word such as now or today stands for.
func (p *dateParser) reserved(word int) int {
	now := toCivil(ToLocal(p.env.Now, p.env.Location))
	switch word {
	case resNow:
		p.civil = now
		p.zoneOff = ZoneOffset(p.env.Now, p.env.Location)
		return hasDate | hasTime | hasZone
	case resToday, resYesterday, resTomorrow:
		shift := map[int]int64{resYesterday: -1, resTomorrow: 1}[word]
		p.year, p.month, p.day = DaysToCivil(CivilToDays(now.year, now.month, now.day) + shift)
		return hasDate
	case resZulu:
		p.hour, p.min, p.sec, p.usec = 0, 0, 0, 0
		return hasTime | hasZone
	}
	p.special = word
	return hasReserved
}

// finish checks the date that was read and applies BC, two-digit years and AM or PM.
func (p *dateParser) finish() dateErr {
	if e := p.checkDate(); e != dateOK {
		return e
	}
	if e := p.applyAMPM(); e != dateOK {
		return e
	}
	if p.seen&hasDate != hasDate || p.zone != nil && p.seen&hasDSTMod != 0 {
		return dateBad
	}
	return dateOK
}

func (p *dateParser) applyAMPM() dateErr {
	if p.pm != 0 && p.hour > 12 {
		return dateOverflow
	}
	if p.pm == 1 && p.hour == 12 {
		p.hour = 0
	} else if p.pm == 2 && p.hour != 12 {
		p.hour += 12
	}
	return dateOK
}

func (p *dateParser) checkDate() dateErr {
	if p.seen&hasYear != 0 && !p.julian {
		switch {
		case p.bc:
			if p.year <= 0 {
				return dateOverflow
			}
			p.year = 1 - p.year
		case p.twoDigits && p.year < 70:
			p.year += 2000
		case p.twoDigits && p.year < 100:
			p.year += 1900
		case !p.twoDigits && p.year <= 0:
			return dateOverflow
		}
	}
	if p.seen&hasDOY != 0 {
		p.year, p.month, p.day = DaysToCivil(CivilToDays(p.year, 1, 1) + int64(p.yday) - 1)
	}
	if p.seen&hasMonth != 0 && (p.month < 1 || p.month > 12) || p.seen&hasDay != 0 && (p.day < 1 || p.day > 31) {
		return dateMDOverflow
	}
	if p.seen&hasDate == hasDate && p.day > daysInMonth(p.year, p.month) {
		return dateOverflow
	}
	return dateOK
}

// offset gives the seconds east of UTC of the time that was read, by its own
// zone or else by the session's.
func (p *dateParser) offset(local int64) int64 {
	switch {
	case p.zone != nil:
		return LocalOffset(local, p.zone)
	case p.seen&hasZone != 0:
		return p.zoneOff + p.dstAdd
	}
	return LocalOffset(local, p.env.Location)
}

// parseDateTime reads a date with or without a time.
func parseDateTime(typ, s string, env *Env) (p dateParser, err error) {
	var buf [maxDateFields]dateField
	p = newDateParser(env)
	fields, ok := splitDateTime(s, &buf)
	e := dateBad
	if ok && len(fields) > 0 {
		if e = p.decode(fields); e == dateOK && p.special < 0 {
			e = p.finish()
		}
	}
	if e != dateOK {
		return p, e.error(typ, s, p.badZone)
	}
	return p, nil
}

// parseTimestamp reads a timestamp, with time zone if tz is set.
func parseTimestamp(s string, tz bool, mod int32, env *Env) (int64, error) {
	if ts, ok := parseISOTimestamp(s, tz, env.Location); ok {
		return roundPrecision(ts, mod), nil
	}
	typ := "timestamp"
	if tz {
		typ = "timestamp with time zone"
	}
	p, err := parseDateTime(typ, s, env)
	if err != nil {
		return 0, err
	}
	switch p.special {
	case resEpoch:
		return 0, nil
	case resLate:
		return Infinity, nil
	case resEarly:
		return NegInfinity, nil
	}
	ts, ok := p.micros()
	if ok && tz {
		off := p.offset(ts) * usecPerSec
		if ok = off <= 0 || ts >= minTimestamp+off; ok && off < 0 {
			ok = ts <= maxTimestamp+off
		}
		ts -= off
	}
	if !ok {
		return 0, sqlerrTimestampInput(s)
	}
	return roundPrecision(ts, mod), nil
}

// parseISOTimestamp is the fast way for yyyy-mm-dd hh:mm:ss[.ffffff][Z|+hh[:mm]];
// false means only that the general way must decide.
func parseISOTimestamp(s string, tz bool, loc *time.Location) (int64, bool) {
	if len(s) < 19 || s[4] != '-' || s[7] != '-' || s[10] != ' ' && s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	for _, i := range [...]int{0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18} {
		if !isDigit(s[i]) {
			return 0, false
		}
	}
	c := civil{year: atoi2(s)*100 + atoi2(s[2:]), month: atoi2(s[5:]), day: atoi2(s[8:]), hour: atoi2(s[11:]), min: atoi2(s[14:]), sec: atoi2(s[17:])}
	if c.year == 0 || c.month < 1 || c.month > 12 || c.day < 1 || c.day > daysInMonth(c.year, c.month) || c.hour > 23 || c.min > 59 || c.sec > 59 {
		return 0, false
	}
	s = s[19:]
	if s != "" && s[0] == '.' {
		end := skip(s, 1, isDigit)
		if end > 7 {
			return 0, false
		}
		c.usec, _ = parseFraction(s[:end])
		s = s[end:]
	}
	ts, _ := c.micros()
	switch {
	case s == "":
		if tz {
			ts -= LocalOffset(ts, loc) * usecPerSec
		}
		return ts, true
	case s == "Z":
		return ts, true
	case (len(s) == 3 || len(s) == 6) && (s[0] == '+' || s[0] == '-'):
		off, e := parseZoneOffset(s)
		if tz {
			ts -= off * usecPerSec
		}
		return ts, e == dateOK
	}
	return 0, false
}
