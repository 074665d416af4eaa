package types

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// patternNode is a piece of a to_char or to_timestamp template: a keyword
// (id not empty) with its modifiers, or literal text.
type patternNode struct {
	id      string // the keyword as it is listed
	text    string // literal text
	quoted  bool   // the literal stood in quotes
	fill    bool   // FM before it
	local   bool   // TM before it
	ordinal byte   // 'T' for TH, 't' for th after it
}

// dateKeywords and numKeywords are sorted so that a longer keyword comes before its prefixes.
var dateKeywords = strings.Fields(`A.D. A.M. AD AM B.C. BC CC DAY DDD DD DY Day Dy D
	FF1 FF2 FF3 FF4 FF5 FF6 FX HH24 HH12 HH IDDD ID IW IYYY IYY IY I J MI MM MONTH MON MS Month Mon
	OF P.M. PM Q RM SSSSS SSSS SS TZH TZM TZ US WW W Y,YYY YYYY YYY YY Y
	a.d. a.m. ad am b.c. bc cc day ddd dd dy d ff1 ff2 ff3 ff4 ff5 ff6 fx hh24 hh12 hh iddd id iw iyyy iyy iy i j
	mi mm month mon ms of p.m. pm q rm sssss ssss ss tzh tzm tz us ww w y,yyy yyyy yyy yy y`)

var numKeywords = strings.Fields(`, . 0 9 B C D EEEE FM G L MI PL PR RN SG SP S TH V
	b c d eeee fm g l mi pl pr rn sg sp s th v`)

// caseDistinct are the keywords whose letter case decides the output's.
var caseDistinct = map[string]bool{
	"a.d.": true, "a.m.": true, "ad": true, "am": true, "b.c.": true, "bc": true, "p.m.": true, "pm": true,
	"day": true, "dy": true, "month": true, "mon": true, "rm": true, "tz": true,
}

// patternCache keeps parsed templates; it is emptied when it grows beyond a bound.
var patternCache struct {
	sync.Mutex
	m map[string][]patternNode
}

const maxPatterns = 256

// parsePattern splits a template into nodes; the result is shared and read-only.
func parsePattern(format string, numeric bool) []patternNode {
	key := format
	if numeric {
		key = "\x00" + format
	}
	patternCache.Lock()
	defer patternCache.Unlock()
	if p, ok := patternCache.m[key]; ok {
		return p
	}
	if patternCache.m == nil || len(patternCache.m) >= maxPatterns {
		patternCache.m = map[string][]patternNode{}
	}
	p := splitPattern(strings.Clone(format), numeric)
	patternCache.m[strings.Clone(key)] = p
	return p
}

func splitPattern(s string, numeric bool) []patternNode {
	keywords := dateKeywords
	if numeric {
		keywords = numKeywords
	}
	var out []patternNode
	for s != "" {
		var n patternNode
		if !numeric {
			for {
				if hasFold2(s, "FM") {
					n.fill, s = true, s[2:]
				} else if hasFold2(s, "TM") {
					n.local, s = true, s[2:]
				} else {
					break
				}
			}
		}
		if id := matchKeyword(s, keywords); id != "" {
			s = s[len(id):]
			n.id = id
			if !caseDistinct[id] && !(numeric && (id == "th" || id == "rn")) {
				n.id = strings.ToUpper(id)
				if id == "Day" || id == "Dy" || id == "Month" || id == "Mon" {
					n.id = id
				}
			}
			if !numeric {
				switch {
				case strings.HasPrefix(s, "TH"):
					n.ordinal, s = 'T', s[2:]
				case strings.HasPrefix(s, "th"):
					n.ordinal, s = 't', s[2:]
				}
				if hasFold2(s, "SP") {
					s = s[2:] // spelled-out numbers are accepted and ignored, as in PostgreSQL
				}
			}
			out = append(out, n)
			continue
		}
		if s == "" {
			break
		}
		out, s = literalNode(out, s)
	}
	return out
}

func hasFold2(s, word string) bool {
	return strings.HasPrefix(s, word) || strings.HasPrefix(s, strings.ToLower(word))
}

func matchKeyword(s string, keywords []string) string {
	for _, k := range keywords {
		if strings.HasPrefix(s, k) {
			return k
		}
	}
	return ""
}

// literalNode takes quoted text as one node and anything else by characters.
func literalNode(out []patternNode, s string) ([]patternNode, string) {
	if s[0] != '"' {
		if s[0] == '\\' && len(s) > 1 && s[1] == '"' {
			s = s[1:]
		}
		_, n := utf8.DecodeRuneInString(s)
		return append(out, patternNode{text: s[:n]}), s[n:]
	}
	s = s[1:]
	for s != "" {
		if s[0] == '"' {
			return out, s[1:]
		}
		if s[0] == '\\' && len(s) > 1 {
			s = s[1:]
		}
		_, n := utf8.DecodeRuneInString(s)
		out = append(out, patternNode{text: s[:n], quoted: true})
		s = s[n:]
	}
	return out, s
}

// ordinalSuffix gives st, nd, rd or th for a number's last digits.
func ordinalSuffix(digits string, kind byte) string {
	n := len(digits)
	suffix := "th"
	if n > 0 && !(n > 1 && digits[n-2] == '1') {
		switch digits[n-1] {
		case '1':
			suffix = "st"
		case '2':
			suffix = "nd"
		case '3':
			suffix = "rd"
		}
	}
	if kind == 'T' {
		return strings.ToUpper(suffix)
	}
	return suffix
}
