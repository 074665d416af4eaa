package sqllogictest

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// edit replaces the expected answer of a record in its file.
type edit struct {
	origin
	lines []string
}

// complete notes the answer of a record. One inside a loop has several, so it keeps what is written.
func (r *runner) complete(rec *record, answer []string) {
	if rec.origin != nil {
		r.edits = append(r.edits, edit{*rec.origin, answer})
	}
}

// applyEdits rewrites files.
func applyEdits(edits []edit) error {
	byFile := map[string][]edit{}
	var files []string
	for _, e := range edits {
		if byFile[e.file] == nil {
			files = append(files, e.file)
		}
		byFile[e.file] = append(byFile[e.file], e)
	}
	for _, f := range files {
		if err := rewrite(f, byFile[f]); err != nil {
			return err
		}
	}
	return nil
}

func rewrite(file string, edits []edit) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read test file: %w", err)
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	lines := splitLines(string(text))
	var out []string
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue // a file that is included twice keeps its first answer
		}
		out = append(out, lines[at:e.from]...)
		if !e.rule {
			out = append(out, "----")
		}
		out = append(out, e.lines...)
		at = e.to
	}
	out = append(out, lines[at:]...)
	if err := os.WriteFile(file, []byte(strings.Join(out, "\n")), 0o644); err != nil {
		return fmt.Errorf("write test file: %w", err)
	}
	return nil
}
