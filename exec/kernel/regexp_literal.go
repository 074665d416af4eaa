package kernel

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// literalOf gives a text that all of what an expression matches must contain, so that most of what it does not match can be told by a search
// for bytes; nil: there is none, or the engine looks for it itself.
func literalOf(re *regexp.Regexp) []byte {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil
	}
	lit := required(tree)
	if prefix, _ := re.LiteralPrefix(); lit == "" || lit == prefix {
		return nil
	}
	return []byte(lit)
}

// required gives the longest text that must occur in whatever re matches, as far as is easily seen.
func required(re *syntax.Regexp) (lit string) {
	switch re.Op {
	case syntax.OpLiteral:
		// The replacement character also matches bytes that are no UTF-8.
		if re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError) {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if l := required(sub); len(l) > len(lit) {
				lit = l
			}
		}
	}
	return lit
}

// may says whether s can contain a match: false is certain.
func (p *pattern) may(s []byte) bool { return p.literal == nil || bytes.Contains(s, p.literal) }

// match says whether s contains a match.
func (p *pattern) match(s []byte) bool { return p.may(s) && p.re.Match(s) }

// find gives the first match in s and its groups, as FindSubmatchIndex does.
func (p *pattern) find(s []byte) []int {
	if !p.may(s) {
		return nil
	}
	return p.re.FindSubmatchIndex(s)
}
