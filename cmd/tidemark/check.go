package main

import (
	"fmt"
	"os"

	"github.com/tidemarkdb/tidemark/checkpoint"
	"github.com/tidemarkdb/tidemark/exec/engine"
)

// checkMain verifies a data directory offline.
func checkMain(args []string) int {
	if len(args) != 1 || args[0] == "--help" || args[0] == "-h" {
		fmt.Fprintln(os.Stderr, "usage: tidemark check DIR")
		return 2
	}
	rep, err := checkpoint.Check(args[0])
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
	return 0
}

func versionMain([]string) int {
	fmt.Printf("tidemark %s (PostgreSQL %s compatible)\n", engine.Version, engine.ServerVersion)
	return 0
}
