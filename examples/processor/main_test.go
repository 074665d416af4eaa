package main

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out strings.Builder
	if err := run(ctx, t.TempDir(), &out); err != nil {
		t.Fatal(err)
	}
	want := `m1 10:03:00 alarm
m1 10:20:00 all clear
m2 10:32:00 no data
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
