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
	want := `change 1: -[] +[[boiler 1]]
change 2: -[] +[[pump 1]]
change 3: -[[boiler 1]] +[[boiler 2]]
boiler: 2 readings, mean 72
pump: 1 readings, mean 40
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
