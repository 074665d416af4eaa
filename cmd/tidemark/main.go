// Command tidemark is the streaming SQL database in one binary: `tidemark serve` runs the server, the other
// commands run scripts and tests against it, measure it, or look after its data directory.
package main

import (
	"fmt"
	"os"
)

type command struct {
	name, args, help string
	run              func(args []string) int
}

func commands() []command {
	return []command{
		{"serve", "[--data DIR] [--listen ADDR] ...", "run the server", serveMain},
		{"run", "[--url URL] FILE.sql ...", "run SQL scripts against a server", runMain},
		{"sqllogictest", "[--mode MODE] [--url URL] FILE ...", "run sqllogictest files", sltMain},
		{"test", "[--mode MODE] FILE.slt ...", "run sqllogictest files with a clock that SET CLOCK moves", testMain},
		{"bench", "[WORKLOAD ...]", "measure the engine", benchMain},
		{"check", "DIR", "verify a data directory offline", checkMain},
		{"version", "", "print the version", versionMain},
	}
}

func main() {
	if len(os.Args) < 2 {
		usage()
		os.Exit(2)
	}
	for _, c := range commands() {
		if c.name == os.Args[1] {
			os.Exit(c.run(os.Args[2:]))
		}
	}
	if os.Args[1] == "help" || os.Args[1] == "--help" || os.Args[1] == "-h" {
		usage()
		return
	}
	fmt.Fprintf(os.Stderr, "tidemark: unknown command %q\n", os.Args[1])
	usage()
	os.Exit(2)
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: tidemark COMMAND [ARGUMENTS]")
	for _, c := range commands() {
		fmt.Fprintf(os.Stderr, "  %-14s %-38s %s\n", c.name, c.args, c.help)
	}
	fmt.Fprintln(os.Stderr, "\n`tidemark COMMAND --help` tells a command's options.")
}

// fatal prints one clear line and gives the exit code.
func fatal(err error) int {
	fmt.Fprintf(os.Stderr, "tidemark: %v\n", err)
	return 1
}
