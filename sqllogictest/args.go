package sqllogictest

import (
	"flag"
	"slices"
)

// ParseArgs parses a command's arguments, flags wherever they stand among the others, which it gives in their order. What stands behind
// "--" is no flag. An error has been printed to the set's output by the time it is returned, as fs.Parse does; it is flag.ErrHelp where
// help was asked for.
func ParseArgs(fs *flag.FlagSet, args []string) (rest []string, err error) {
	var tail []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, tail = args[:i], args[i+1:]
	}
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			return append(rest, tail...), nil
		}
		rest, args = append(rest, fs.Arg(0)), fs.Args()[1:]
	}
}
