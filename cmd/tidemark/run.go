package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tidemarkdb/tidemark/parser"
)

const defaultURL = "postgres://tidemark@127.0.0.1:7432/tidemark?sslmode=disable"

func runMain(args []string) int {
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	url := fs.String("url", defaultURL, "server to run against")
	quiet := fs.Bool("quiet", false, "print no results")
	files, code := parse(fs, args)
	switch {
	case files == nil:
		return code
	case len(files) == 0:
		return misuse(fs, "no script to run")
	}
	var out io.Writer = os.Stdout
	if *quiet {
		out = io.Discard
	}
	for _, f := range files {
		if err := runFile(context.Background(), *url, f, out, os.Stderr); err != nil {
			return fatal(err)
		}
	}
	return 0
}

// script is one that runs.
type script struct {
	conn *pgconn.PgConn
	file string
	out  *bufio.Writer
}

// runFile runs a script over the wire, one statement after the other up to the first error, and writes to out what psql -f writes: rows and command
// tags, and notices to notices. Besides SQL it knows psql's \copy, where a file name is relative to the script, and COPY ... FROM STDIN with the rows
// behind it, up to a line \. as psql and pg_dump have them; both on a line of their own.
func runFile(ctx context.Context, url, file string, out, notices io.Writer) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s := &script{file: file, out: bufio.NewWriter(out)}
	cfg, err := pgconn.ParseConfig(url)
	if err != nil {
		return err
	}
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		_ = s.out.Flush() // in the order in which they came, where both go to one terminal
		fmt.Fprintf(notices, "%s: %s:  %s%s\n", file, n.Severity, n.Message, more((*pgconn.PgError)(n)))
	}
	if s.conn, err = pgconn.ConnectConfig(ctx, cfg); err != nil {
		return err
	}
	defer s.conn.Close(ctx)
	err = s.run(ctx, strings.SplitAfter(strings.TrimPrefix(string(text), "\ufeff"), "\n")) // some editors mark UTF-8 so
	return errors.Join(err, s.out.Flush())
}

var (
	copyLine  = regexp.MustCompile(`(?is)^\\copy\s+(.+?)\s+from\s+'([^']+)'\s*(.*?);?$`)
	stdinLine = regexp.MustCompile(`(?i)^copy\s.*\sfrom\s+stdin\b(?:[^;']|'[^']*')*;$`)
)

// run runs the lines of the script.
func (s *script) run(ctx context.Context, lines []string) error {
	var sql strings.Builder
	from := 0 // the line where sql begins
	for i := 0; i <= len(lines); i++ {
		line := ""
		if i < len(lines) {
			if line = strings.TrimSpace(lines[i]); !stands(line, sql.String()) {
				sql.WriteString(lines[i])
				continue
			}
		}
		for _, st := range parser.Split(sql.String()) {
			if err := s.query(ctx, st); err != nil {
				return s.locate(err, st, from+1)
			}
			from += strings.Count(st, "\n")
		}
		sql.Reset()
		var err error
		at := i
		switch {
		case line == "":
			return nil
		case line[0] == '\\':
			err = s.copyFile(ctx, line)
		default:
			var rows strings.Builder
			for i++; i < len(lines) && strings.TrimRight(lines[i], "\r\n") != `\.`; i++ {
				rows.WriteString(lines[i])
			}
			err = s.copyFrom(ctx, strings.NewReader(rows.String()), line)
		}
		if err != nil {
			return s.locate(err, line, at+1)
		}
		from = i + 1
	}
	return nil
}

// stands says whether a line is a command of psql, or a COPY with its rows behind it, rather than part of the SQL that begins in the lines before it.
func stands(line, sql string) bool {
	if strings.HasPrefix(line, `\`) {
		_, open := parser.Ending(sql)
		return !open
	}
	if !stdinLine.MatchString(line) {
		return false
	}
	whole, _ := parser.Ending(sql)
	return whole
}

// query runs statements and prints what they give.
func (s *script) query(ctx context.Context, sql string) error {
	if strings.TrimSpace(sql) == "" {
		return nil
	}
	f := s.conn.Frontend()
	f.Send(&pgproto3.Query{String: sql})
	if err := f.Flush(); err != nil {
		return err
	}
	var failed error
	var rows *table
	copied := false // rows came by COPY TO STDOUT, so they are the answer
	for {
		msg, err := s.conn.ReceiveMessage(ctx)
		if err != nil {
			return errors.Join(failed, err)
		}
		switch m := msg.(type) {
		case *pgproto3.RowDescription:
			rows = newTable(m.Fields)
		case *pgproto3.DataRow:
			rows.add(m.Values)
		case *pgproto3.CommandComplete:
			tag := string(m.CommandTag)
			rows.print(s.out)
			if verb, _, _ := strings.Cut(tag, " "); rows == nil && !copied || verb == "INSERT" || verb == "UPDATE" || verb == "DELETE" {
				fmt.Fprintln(s.out, tag)
			}
			rows, copied = nil, false
		case *pgproto3.CopyInResponse:
			f.Send(&pgproto3.CopyFail{Message: "COPY ... FROM STDIN must be on a line of its own, with the rows behind it"})
			err = f.Flush()
		case *pgproto3.CopyOutResponse:
			copied = true
		case *pgproto3.CopyData:
			_, err = s.out.Write(m.Data)
		case *pgproto3.ErrorResponse:
			failed = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.ReadyForQuery:
			return failed
		}
		if err != nil {
			return err
		}
	}
}

// copyFile runs one \copy ... FROM 'file' line.
func (s *script) copyFile(ctx context.Context, line string) error {
	m := copyLine.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("cannot read %q: only \\copy TABLE FROM 'FILE' [OPTIONS] is known", line)
	}
	name := m[2]
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(s.file), name)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.copyFrom(ctx, f, "COPY "+m[1]+" FROM STDIN "+m[3])
}

func (s *script) copyFrom(ctx context.Context, rows io.Reader, sql string) error {
	tag, err := s.conn.CopyFrom(ctx, rows, sql)
	if err == nil {
		fmt.Fprintln(s.out, tag)
	}
	return err
}

// locate tells where in the script an error is: sql begins at line.
func (s *script) locate(err error, sql string, line int) error {
	var pe *pgconn.PgError
	if !errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	where := s.file
	if p := []rune(sql); pe.Position > 0 && int(pe.Position) <= len(p)+1 {
		where += fmt.Sprint(":", line+strings.Count(string(p[:pe.Position-1]), "\n"))
	}
	return fmt.Errorf("%s: %w%s", where, err, more(pe))
}

// more gives what an error or a notice says besides its message.
func more(e *pgconn.PgError) string {
	out := ""
	for _, x := range [][2]string{{"DETAIL", e.Detail}, {"HINT", e.Hint}, {"CONTEXT", e.Where}} {
		if x[1] != "" {
			out += "\n" + x[0] + ":  " + x[1]
		}
	}
	return out
}
