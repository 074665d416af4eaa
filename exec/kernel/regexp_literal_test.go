package kernel

import (
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLiteralOf: the text that must occur, by hand.
func TestLiteralOf(t *testing.T) {
	for expr, want := range map[string]string{
		`(&|^)channel_id=([^&]*)`: "channel_id=", `a.*bcd`: "bcd", `x?yz+`: "y", `(ab|cd)e`: "e", `ab|cd`: "", `[ab]`: "", `abc`: "", `^abc`: "", `a{2,}b`: "a",
		`(q?){0,3}w`: "w", `(?i)abc.d`: "", `.*`: "", `.é+`: "é", ".\uFFFD": "", ``: "",
	} {
		p, err := compileFlags(expr, reFlags{})
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		if got := string(p.literal); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

// TestFind compares with the search without the literal, over random expressions and texts.
func TestFind(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	pieces := []string{"a", "b", "ab", "(", ")", "|", "*", "+", "?", ".", "[ab]", "{2}", "^", "$", "é", "c"}
	text := func(n int, from ...string) string {
		var sb strings.Builder
		for range rnd.Intn(n) {
			sb.WriteString(from[rnd.Intn(len(from))])
		}
		return sb.String()
	}
	for range 20_000 {
		expr := text(8, pieces...)
		p, err := compileFlags(expr, reFlags{fold: rnd.Intn(4) == 0, lines: rnd.Intn(4) == 0})
		if err != nil {
			continue
		}
		for range 5 {
			s := []byte(text(8, "a", "b", "c", "é", "\n", "A", "\xff"))
			if got, want := p.find(s), p.re.FindSubmatchIndex(s); !slices.Equal(got, want) || p.match(s) != (want != nil) {
				t.Fatalf("%q in %q: %v, want %v", expr, s, got, want)
			}
		}
	}
}
