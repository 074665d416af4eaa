// Command tidemark is the streaming SQL database in one binary: `tidemark serve` runs the server, the other
// commands run scripts and tests against it, measure it, or look after its data directory.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/tidemarkdb/tidemark/sqllogictest"
)

type command struct {
	name, args, help string
	run              func(args []string) int // gives the exit code
}

func commands() []command {
	return []command{
		{"serve", "[--data DIR] [--listen ADDR] ...", "run the server", serveMain},
		{"run", "[--url URL] [--quiet] FILE.sql ...", "run SQL scripts against a server, print what they answer", runMain},
		{"sqllogictest", "[--mode MODE] [--url URL] FILE ...", "run sqllogictest files", sltMain},
		{"test", "[--mode MODE] FILE.slt ...", "run sqllogictest files with a clock that SET CLOCK moves", testMain},
		{"bench", "[WORKLOAD ...]", "measure the engine", benchMain},
		{"check", "DIR", "verify a data directory offline", checkMain},
		{"version", "", "print the version", versionMain},
		{"help", "[COMMAND]", "tell the commands, or one's options", helpMain},
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
	if os.Args[1] == "--help" || os.Args[1] == "-h" {
		os.Exit(helpMain(os.Args[2:]))
	}
	os.Exit(unknownCommand(os.Args[1]))
}

func unknownCommand(name string) int {
	fmt.Fprintf(os.Stderr, "tidemark: unknown command %q\n", name)
	usage()
	return 2
}

// helpMain tells the commands, or the options of the one that args name.
func helpMain(args []string) int {
	fs := flag.NewFlagSet("help", flag.ContinueOnError)
	names, code := parse(fs, args)
	switch {
	case names == nil:
		return code
	case len(names) == 0:
		usage()
		return 0
	case len(names) > 1:
		return misuse(fs, "it takes one command, not %q too", names[1])
	}
	for _, c := range commands() {
		if c.name == names[0] {
			return c.run([]string{"--help"})
		}
	}
	return unknownCommand(names[0])
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: tidemark COMMAND [ARGUMENTS]")
	for _, c := range commands() {
		fmt.Fprintf(os.Stderr, "  %-14s %-38s %s\n", c.name, c.args, c.help)
	}
	fmt.Fprintln(os.Stderr, "\n`tidemark COMMAND --help` tells a command's options.")
}

// parse parses the arguments of a command, flags wherever they stand, and gives the others; nil where the command is done with the exit
// code: help was asked for, or a flag is wrong, which has been told.
func parse(fs *flag.FlagSet, args []string) (rest []string, code int) {
	rest, err := sqllogictest.ParseArgs(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, 0
	case err != nil:
		return nil, 2
	case rest == nil:
		rest = []string{}
	}
	return rest, 0
}

// parseOnly is parse for a command that takes nothing but flags; done where parse gives nil.
func parseOnly(fs *flag.FlagSet, args []string) (done bool, code int) {
	rest, code := parse(fs, args)
	if len(rest) > 0 {
		return true, unexpected(fs, rest[0])
	}
	return rest == nil, code
}

// misuse tells what is wrong with a command's arguments and gives the exit code for that.
func misuse(fs *flag.FlagSet, format string, args ...any) int {
	fmt.Fprintf(os.Stderr, "tidemark %s: %s\n`tidemark %s --help` tells what it takes.\n", fs.Name(), fmt.Sprintf(format, args...), fs.Name())
	return 2
}

// unexpected is misuse by an argument that the command does not take.
func unexpected(fs *flag.FlagSet, arg string) int { return misuse(fs, "unexpected argument %q", arg) }

// fatal prints one clear line and gives the exit code.
func fatal(err error) int {
	fmt.Fprintf(os.Stderr, "tidemark: %v\n", err)
	return 1
}
