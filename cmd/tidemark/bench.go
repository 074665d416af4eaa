package main

import (
	"context"
	"errors"
	"flag"
	"os"

	"github.com/tidemarkdb/tidemark/bench"
)

// benchMain measures the engine.
func benchMain(args []string) int {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	smoke := fs.Bool("smoke", false, "tiny sizes, for correctness only")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	o := bench.Options{Smoke: *smoke, Names: fs.Args(), Out: os.Stdout, StartServer: func() (string, func(), error) {
		url, _, stop, err := startTestServer()
		return url, stop, err
	}}
	if err := bench.Run(context.Background(), o); err != nil {
		return fatal(err)
	}
	return 0
}
