package kernel

import (
	"testing"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// FuzzPattern: no pattern, LIKE pattern or format string makes us panic.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a*b", "(a|b)+?", "[[:alpha:]", "[]a]", `\`, `[\`, `a{2,`, "(?i)x", "***=(", "(?#x", "%_\\", "%1$*2$s", "a#\"b#\"c", "[[.a.]-"} {
		f.Add(s, "abc")
	}
	f.Fuzz(func(t *testing.T, pat, text string) {
		if len(pat) > 24 || len(text) > 100 { // widths of format() take their time
			return
		}
		if p, err := compileFlags(pat, reFlags{}); err == nil {
			p.all([]byte(text), -1)
		}
		compileFlags(pat, reFlags{expanded: true, newline: true, lines: true, fold: true})
		compileLike([]byte(pat), false, true).match([]byte(text))
		similarPattern(nil, []byte(pat), []byte("#"))
		fr := &frame{env: types.DefaultEnv(), argTypes: []types.Type{types.Of(types.Text), types.Of(types.Text)}}
		formatText(fr, nil, []types.Datum{types.StringDatum(pat), types.StringDatum(text)})
		toNumber(fr, nil, []types.Datum{types.StringDatum(text), types.StringDatum(pat)})
	})
}
