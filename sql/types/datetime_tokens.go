package types

import (
	"strings"
)

// fieldKind classifies a token of date, time or interval input, as
// PostgreSQL's ParseDateTime does.
type fieldKind uint8

const (
	fieldNumber  fieldKind = iota // digits, perhaps with a point
	fieldString                   // a word
	fieldDate                     // 2001-02-03, 3/2/2001, feb-3-2001, america/new_york
	fieldTime                     // 10:20:30.5
	fieldZone                     // a signed number or zone offset
	fieldSpecial                  // a signed word
)

type dateField struct {
	text string // in lower case
	kind fieldKind
}

const maxDateFields = 25

// splitDateTime breaks input into fields; false for input that has no meaning.
func splitDateTime(s string, out *[maxDateFields]dateField) ([]dateField, bool) {
	s = strings.ToLower(s)
	n, i := 0, 0
	for i < len(s) {
		c := s[i]
		if isSpace(c) {
			i++
			continue
		}
		if n == maxDateFields {
			return nil, false
		}
		start := i
		var kind fieldKind
		text := ""
		switch {
		case isDigit(c):
			i, kind = scanNumberField(s, i)
		case c == '.':
			i = skip(s, i+1, isDigit)
			kind = fieldNumber
		case isAlpha(c):
			i, kind = scanWordField(s, i)
		case c == '+' || c == '-':
			i = skip(s, i+1, isSpace)
			body := i
			switch {
			case i < len(s) && isDigit(s[i]):
				kind = fieldZone
				i = skip(s, i, func(c byte) bool { return isDigit(c) || c == ':' || c == '.' || c == '-' })
			case i < len(s) && isAlpha(s[i]):
				kind = fieldSpecial
				i = skip(s, i, isAlpha)
			default:
				return nil, false
			}
			if body > start+1 {
				text = s[start:start+1] + s[body:i]
			}
		case c > ' ' && c < 0x7f: // other punctuation separates
			i++
			continue
		default:
			return nil, false
		}
		if text == "" {
			text = s[start:i]
		}
		out[n] = dateField{text, kind}
		n++
	}
	return out[:n], true
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isAlnum(c byte) bool { return isDigit(c) || isAlpha(c) }

func skip(s string, i int, in func(byte) bool) int {
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}

func scanNumberField(s string, i int) (int, fieldKind) {
	i = skip(s, i, isDigit)
	if i == len(s) {
		return i, fieldNumber
	}
	switch delim := s[i]; delim {
	case ':':
		return skip(s, i, func(c byte) bool { return isDigit(c) || c == ':' || c == '.' }), fieldTime
	case '-', '/', '.':
		i++
		if i < len(s) && isDigit(s[i]) {
			i = skip(s, i, isDigit)
			if i < len(s) && s[i] == delim {
				return skip(s, i, func(c byte) bool { return isDigit(c) || c == delim }), fieldDate
			}
			if delim == '.' {
				return i, fieldNumber
			}
			return i, fieldDate
		}
		return skip(s, i, func(c byte) bool { return isAlnum(c) || c == delim }), fieldDate
	}
	return i, fieldNumber
}

func scanWordField(s string, i int) (int, fieldKind) {
	start := i
	i = skip(s, i, isAlpha)
	if i == len(s) {
		return i, fieldString
	}
	isDate := false
	switch c := s[i]; {
	case c == '-' || c == '/' || c == '.':
		isDate = true
	case c == '+' || isDigit(c):
		_, known := dateTokens[s[start:i]]
		isDate = !known
	}
	if !isDate {
		return i, fieldString
	}
	return skip(s, i, func(c byte) bool {
		return isAlnum(c) || c == '+' || c == '-' || c == '/' || c == '_' || c == '.' || c == ':'
	}), fieldDate
}

// tokenKind is what a word means.
type tokenKind uint8

const (
	tokUnknown tokenKind = iota
	tokReserved
	tokMonth
	tokWeekday
	tokADBC
	tokAMPM
	tokDSTMod
	tokZone
	tokUnits
	tokISOTime
	tokIgnore
	tokAgo
)

type token struct {
	kind  tokenKind
	value int
}

// Reserved words and units, in one numbering.
const (
	resNow = iota
	resToday
	resYesterday
	resTomorrow
	resEpoch
	resLate
	resEarly
	resZulu
	unitMicrosecond
	unitMillisecond
	unitSecond
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
	unitQuarter
	unitYear
	unitDecade
	unitCentury
	unitMillennium
	unitJulian
	unitTime
	unitTZ
	unitTZHour
	unitTZMinute
	unitDOW
	unitISODOW
	unitDOY
	unitISOYear
	unitEpoch
)

// dateTokens are the words of date and time input.
var dateTokens = map[string]token{
	"-infinity": {tokReserved, resEarly}, "infinity": {tokReserved, resLate}, "+infinity": {tokReserved, resLate},
	"epoch": {tokReserved, resEpoch}, "now": {tokReserved, resNow}, "today": {tokReserved, resToday},
	"tomorrow": {tokReserved, resTomorrow}, "yesterday": {tokReserved, resYesterday}, "allballs": {tokReserved, resZulu},
	"ad": {tokADBC, 0}, "bc": {tokADBC, 1}, "am": {tokAMPM, 0}, "pm": {tokAMPM, 1},
	"jan": {tokMonth, 1}, "january": {tokMonth, 1}, "feb": {tokMonth, 2}, "february": {tokMonth, 2},
	"mar": {tokMonth, 3}, "march": {tokMonth, 3}, "apr": {tokMonth, 4}, "april": {tokMonth, 4},
	"may": {tokMonth, 5}, "jun": {tokMonth, 6}, "june": {tokMonth, 6}, "jul": {tokMonth, 7}, "july": {tokMonth, 7},
	"aug": {tokMonth, 8}, "august": {tokMonth, 8}, "sep": {tokMonth, 9}, "sept": {tokMonth, 9}, "september": {tokMonth, 9},
	"oct": {tokMonth, 10}, "october": {tokMonth, 10}, "nov": {tokMonth, 11}, "november": {tokMonth, 11},
	"dec": {tokMonth, 12}, "december": {tokMonth, 12},
	"sun": {tokWeekday, 0}, "sunday": {tokWeekday, 0}, "mon": {tokWeekday, 1}, "monday": {tokWeekday, 1},
	"tue": {tokWeekday, 2}, "tues": {tokWeekday, 2}, "tuesday": {tokWeekday, 2},
	"wed": {tokWeekday, 3}, "weds": {tokWeekday, 3}, "wednesday": {tokWeekday, 3},
	"thu": {tokWeekday, 4}, "thur": {tokWeekday, 4}, "thurs": {tokWeekday, 4}, "thursday": {tokWeekday, 4},
	"fri": {tokWeekday, 5}, "friday": {tokWeekday, 5}, "sat": {tokWeekday, 6}, "saturday": {tokWeekday, 6},
	"at": {tokIgnore, 0}, "on": {tokIgnore, 0}, "dst": {tokDSTMod, 3600}, "t": {tokISOTime, unitTime},
	"d": {tokUnits, unitDay}, "h": {tokUnits, unitHour}, "m": {tokUnits, unitMonth}, "mm": {tokUnits, unitMinute},
	"s": {tokUnits, unitSecond}, "y": {tokUnits, unitYear}, "j": {tokUnits, unitJulian}, "jd": {tokUnits, unitJulian},
	"julian": {tokUnits, unitJulian}, "dow": {tokUnits, unitDOW}, "doy": {tokUnits, unitDOY},
	"isodow": {tokUnits, unitISODOW}, "isoyear": {tokUnits, unitISOYear},
}

// intervalTokens are the unit words of interval input and of extract.
var intervalTokens = map[string]token{
	"@": {tokIgnore, 0}, "ago": {tokAgo, 0},
	"c": {tokUnits, unitCentury}, "cent": {tokUnits, unitCentury}, "centuries": {tokUnits, unitCentury}, "century": {tokUnits, unitCentury},
	"d": {tokUnits, unitDay}, "day": {tokUnits, unitDay}, "days": {tokUnits, unitDay},
	"dec": {tokUnits, unitDecade}, "decade": {tokUnits, unitDecade}, "decades": {tokUnits, unitDecade}, "decs": {tokUnits, unitDecade},
	"h": {tokUnits, unitHour}, "hour": {tokUnits, unitHour}, "hours": {tokUnits, unitHour}, "hr": {tokUnits, unitHour}, "hrs": {tokUnits, unitHour},
	"m": {tokUnits, unitMinute}, "min": {tokUnits, unitMinute}, "mins": {tokUnits, unitMinute}, "minute": {tokUnits, unitMinute}, "minutes": {tokUnits, unitMinute},
	"microsecon": {tokUnits, unitMicrosecond}, "us": {tokUnits, unitMicrosecond}, "usec": {tokUnits, unitMicrosecond},
	"usecond": {tokUnits, unitMicrosecond}, "useconds": {tokUnits, unitMicrosecond}, "usecs": {tokUnits, unitMicrosecond},
	"microsecond": {tokUnits, unitMicrosecond}, "microseconds": {tokUnits, unitMicrosecond},
	"ms": {tokUnits, unitMillisecond}, "msec": {tokUnits, unitMillisecond}, "msecond": {tokUnits, unitMillisecond},
	"mseconds": {tokUnits, unitMillisecond}, "msecs": {tokUnits, unitMillisecond}, "millisecond": {tokUnits, unitMillisecond}, "milliseconds": {tokUnits, unitMillisecond},
	"mil": {tokUnits, unitMillennium}, "mils": {tokUnits, unitMillennium}, "millennia": {tokUnits, unitMillennium}, "millennium": {tokUnits, unitMillennium},
	"mon": {tokUnits, unitMonth}, "mons": {tokUnits, unitMonth}, "month": {tokUnits, unitMonth}, "months": {tokUnits, unitMonth},
	"qtr": {tokUnits, unitQuarter}, "quarter": {tokUnits, unitQuarter},
	"s": {tokUnits, unitSecond}, "sec": {tokUnits, unitSecond}, "secs": {tokUnits, unitSecond}, "second": {tokUnits, unitSecond}, "seconds": {tokUnits, unitSecond},
	"timezone": {tokUnits, unitTZ}, "timezone_h": {tokUnits, unitTZHour}, "timezone_m": {tokUnits, unitTZMinute},
	"timezone_hour": {tokUnits, unitTZHour}, "timezone_minute": {tokUnits, unitTZMinute},
	"w": {tokUnits, unitWeek}, "week": {tokUnits, unitWeek}, "weeks": {tokUnits, unitWeek},
	"y": {tokUnits, unitYear}, "year": {tokUnits, unitYear}, "years": {tokUnits, unitYear}, "yr": {tokUnits, unitYear}, "yrs": {tokUnits, unitYear},
}
