package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/checkpoint"
	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/wire/pgcatalog"
)

// checkMain verifies a data directory offline.
func checkMain(args []string) int {
	fs := flag.NewFlagSet("check", flag.ContinueOnError)
	fs.Usage = func() { fmt.Fprintln(os.Stderr, "usage: tidemark check DIR") }
	dirs, code := parse(fs, args)
	switch {
	case dirs == nil:
		return code
	case len(dirs) == 0:
		return misuse(fs, "no data directory to check")
	case len(dirs) > 1:
		return unexpected(fs, dirs[1])
	}
	rep, err := checkpoint.Check(dirs[0])
	if err != nil {
		return fatal(err)
	}
	fmt.Printf("%d keys, %d bytes, epochs %d to %d\n", rep.Keys, rep.Bytes, rep.FirstEpoch, rep.LastEpoch)
	for _, p := range rep.Problems {
		fmt.Println("problem: " + p)
	}
	if len(rep.Problems) > 0 {
		return 1
	}
	return checkViews(dirs[0])
}

// checkViews opens the database as a server would and compares every view with its query run afresh.
func checkViews(dir string) int {
	e, err := engine.Open(engine.Options{Dir: dir, Connectors: connectors, NoSources: true, System: pgcatalog.Relations(), Log: zerolog.Nop()})
	if err != nil {
		return fatal(err)
	}
	views, err := e.CheckViews(context.Background())
	if cerr := e.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fatal(err)
	}
	code := 0
	for _, v := range views {
		switch {
		case v.Problem != "":
			fmt.Printf("problem: view %s: %s\n", v.View, v.Problem)
			code = 1
		case v.Skipped != "":
			fmt.Printf("view %s: %d rows, not compared with its query: %s\n", v.View, v.Rows, v.Skipped)
		default:
			fmt.Printf("view %s: %d rows, equal to its query\n", v.View, v.Rows)
		}
	}
	return code
}

func versionMain(args []string) int {
	if done, code := parseOnly(flag.NewFlagSet("version", flag.ContinueOnError), args); done {
		return code
	}
	fmt.Printf("tidemark %s (PostgreSQL %s compatible)\n", engine.Version, engine.ServerVersion)
	return 0
}
