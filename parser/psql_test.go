package parser

import (
	"os"
	"testing"
)

// TestPsqlQueries parses the queries that psql 15 sends for its backslash
// commands, as psql -E shows them.
func TestPsqlQueries(t *testing.T) {
	text, err := os.ReadFile("testdata/psql.sql")
	if err != nil {
		t.Fatal(err)
	}
	stmts, err := Parse(string(text))
	if err != nil {
		t.Fatalf("%s%.200s", describe(err), text[max(0, posOf(err)-1):])
	}
	if len(stmts) < 100 {
		t.Errorf("only %d queries", len(stmts))
	}
	for _, s := range stmts {
		roundTrip(t, s.Text, func(text string) (string, error) {
			q, err := ParseQuery(text)
			if err != nil {
				return "", err
			}
			return FormatQuery(q), nil
		})
	}
}
