package sqllogictest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// StartServer starts a server with an empty database for Main, which knows none of its own. restart stops it as a crash-free exit would,
// reopens the same database and gives the new URL; stop ends it and removes the database.
var StartServer func() (url string, restart func() (string, error), stop func(), err error)

const usage = `usage: tidemark sqllogictest [flags] FILE|DIR|GLOB...

Runs sqllogictest files, each against a fresh server of its own or, with --url,
against a server that is there.

`

// Main is the command: it runs the files that args name and gives the exit code.
func Main(args []string) int {
	flags := flag.NewFlagSet("sqllogictest", flag.ContinueOnError)
	mode := flags.String("mode", string(AsIs), "asis, before, after, restart, a list of these with commas, or all")
	url := flags.String("url", "", "a server's URL; without it a server is started for each file")
	complete := flags.Bool("complete", false, "rewrite the expected answers with those of the server")
	junit := flags.String("junit", "", "write a JUnit report to this file")
	every := flags.Int("restart-every", 0, "records between restarts in mode restart (5)")
	timeout := flags.Duration("timeout", time.Minute, "time limit for a record")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	args, err := ParseArgs(flags, args)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	modes := splitModes(*mode)
	for _, m := range modes {
		if !slices.Contains(allModes, m) {
			fmt.Fprintf(os.Stderr, "unknown mode %q: --mode is %s, a list of these with commas, or all\n", m, allModes)
			return 2
		}
	}
	files, err := findFiles(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	var reports []Report
	failed := false
	for _, m := range modes {
		opts := Options{URL: *url, Mode: m, Complete: *complete, RestartEvery: *every, Timeout: *timeout}
		for _, f := range files {
			rep, err := runFile(ctx, opts, f)
			reports = append(reports, rep)
			fmt.Print(rep)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			failed = failed || rep.Failed()
		}
	}
	if *junit != "" {
		if err := saveJUnit(*junit, reports); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if failed {
		return 1
	}
	return 0
}

func splitModes(s string) []Mode {
	if s == "all" {
		return allModes
	}
	var ms []Mode
	for _, m := range strings.Split(s, ",") {
		ms = append(ms, Mode(strings.TrimSpace(m)))
	}
	return ms
}

// runFile runs a file on a server of its own where none was given.
func runFile(ctx context.Context, opts Options, file string) (Report, error) {
	if opts.URL == "" {
		if StartServer == nil {
			return Report{}, errors.New("no server: give --url")
		}
		url, restart, stop, err := StartServer()
		if err != nil {
			return Report{}, fmt.Errorf("start server: %w", err)
		}
		defer stop()
		opts.URL, opts.Restart = url, restart
	}
	return Run(ctx, opts, file)
}

func saveJUnit(path string, reports []Report) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	defer func() {
		if e := f.Close(); e != nil && err == nil {
			err = fmt.Errorf("write report: %w", e)
		}
	}()
	return WriteJUnit(f, reports...)
}

// findFiles resolves files, directories (all .slt files beneath) and patterns.
func findFiles(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		if st, err := os.Stat(arg); err == nil && st.IsDir() {
			err := filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && filepath.Ext(path) == ".slt" {
					files = append(files, path)
				}
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("look for test files: %w", err)
			}
			continue
		}
		found, err := filepath.Glob(arg)
		if err != nil {
			return nil, fmt.Errorf("look for test files: %w", err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("no such file: %s", arg)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, errors.New("no test files")
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}
