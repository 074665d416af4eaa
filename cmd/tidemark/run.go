package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

const defaultURL = "postgres://tidemark@127.0.0.1:7432/tidemark?sslmode=disable"

func runMain(args []string) int {
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	url := fs.String("url", defaultURL, "server to run against")
	files, code := parse(fs, args)
	switch {
	case files == nil:
		return code
	case len(files) == 0:
		return misuse(fs, "no script to run")
	}
	for _, f := range files {
		if err := runFile(context.Background(), *url, f); err != nil {
			return fatal(fmt.Errorf("%s: %w", f, err))
		}
	}
	return 0
}

// runFile runs a script over the wire. Besides SQL it knows psql's \copy, on a line of its own; a file name in
// it is relative to the script.
func runFile(ctx context.Context, url, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var sql strings.Builder
	flush := func() error {
		s := sql.String()
		sql.Reset()
		if strings.TrimSpace(s) == "" {
			return nil
		}
		_, err := conn.Exec(ctx, s).ReadAll()
		return err
	}
	for _, line := range strings.SplitAfter(string(text), "\n") {
		if !strings.HasPrefix(line, `\copy `) {
			sql.WriteString(line)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if err := copyFile(ctx, conn, strings.TrimSpace(line), filepath.Dir(file)); err != nil {
			return err
		}
	}
	return flush()
}

var copyLine = regexp.MustCompile(`(?is)^\\copy\s+(.+?)\s+from\s+'([^']+)'\s*(.*?);?$`)

// copyFile runs one \copy ... FROM 'file' line.
func copyFile(ctx context.Context, conn *pgconn.PgConn, line, dir string) error {
	m := copyLine.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("cannot read %q: only \\copy TABLE FROM 'FILE' [OPTIONS] is known", line)
	}
	name := m[2]
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = conn.CopyFrom(ctx, f, "COPY "+m[1]+" FROM STDIN "+m[3])
	return err
}
