package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// notes is what a source has to tell although nothing fails. It implements connector.Noter.
type notes struct {
	absent string // there is nothing to read where it is looked for
	differ string // in what a file and the stream differ, and of which file that was said first
	file   string
}

// Note implements connector.Noter. That files do not have the stream's columns is told until others don't in another way.
func (n *notes) Note() string {
	if n.absent == "" && n.differ != "" {
		return "file " + n.file + " " + n.differ
	}
	return n.absent
}

// fits notes in what a file that was opened differs. A file like the one before is no news: there may be thousands.
func (n *notes) fits(file, differ string) {
	if differ != "" && differ != n.differ {
		n.file, n.differ = file, differ
	}
}

// missing says that the root, or something in it, is not there.
func (o *options) missing(err error) string {
	name := o.root
	var pe *fs.PathError
	if errors.As(err, &pe) {
		name = pe.Path
	}
	return fmt.Sprintf("directory or file \"%s\" does not exist", name)
}

// noFile says that no file matches.
func (o *options) noFile() string {
	return fmt.Sprintf("no file in directory \"%s\" matches \"%s\"", o.root, o.pattern)
}

// difference says which columns of the stream a file lacks, and which of its own are not read; "" if there are none.
func difference(lacking, others []string) string {
	var says []string
	if len(lacking) > 0 {
		says = append(says, "lacks "+columnNames(lacking)+" of the stream")
	}
	if len(others) > 0 {
		says = append(says, "has "+columnNames(others)+" that the stream does not read")
	}
	return strings.Join(says, ", and ")
}

// maxNames is how many columns a note names.
const maxNames = 8

func columnNames(names []string) string {
	if len(names) == 1 {
		return "column " + quotedNames(names)
	}
	return "columns " + quotedNames(names)
}

func quotedNames(names []string) string {
	more := ""
	if n := len(names) - maxNames; n > 0 {
		names, more = names[:maxNames], fmt.Sprintf(" and %d more", n)
	}
	return `"` + strings.Join(names, `", "`) + `"` + more
}

// unreadable gives an error of the file system its SQLSTATE, in PostgreSQL's words.
func unreadable(err error) error {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return err
	}
	code := sqlerr.IOError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = sqlerr.UndefinedFile
	case errors.Is(err, fs.ErrPermission):
		code = sqlerr.InsufficientPrivilege
	}
	return sqlerr.New(code, "could not %s \"%s\": %v", pe.Op, pe.Path, pe.Err).WithCause(err)
}

// Probe implements connector.Prober: is there anything, and does the first file have the stream's columns?
func (Connector) Probe(c connector.Config) *sqlerr.Error {
	o, err := parseOptions(c.Options)
	if err != nil {
		return nil // Check's to say
	}
	files, err := o.list()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return warning(o.missing(err)).WithHint("It is read when it is there; tidemark.sources shows how the stream's source is.")
	case err != nil:
		return warning(unreadable(err).Error())
	case len(files) == 0:
		return sqlerr.Notice("%s", o.noFile()).WithHint("Files are read when they come.")
	}
	f := &files[0]
	if st, err := os.Stat(f.path); err != nil || !st.Mode().IsRegular() {
		return nil // to open a pipe would wait
	}
	r, err := o.openAt(f, newFields(c.Columns), connector.Position{}, -1, true)
	if err != nil {
		return warning(fmt.Sprintf("file %s: %v", f.name, unreadable(err)))
	}
	defer r.close()
	if j, ok := r.(*jsonReader); ok { // its first object says what its members are called
		s := &sink{fields: newFields(c.Columns)}
		s.rows = batch.New(s.types(), 1)
		if err := j.read(s, 1); err != nil && err != io.EOF {
			return nil // its source will tell
		}
	}
	differ := r.misfit()
	if differ == "" {
		return nil
	}
	n := warning("file " + f.name + " " + differ)
	switch {
	case strings.HasPrefix(differ, "lacks"):
		return n.WithHint("Columns that a file lacks are NULL in its rows, and columns that the stream does not declare are ignored.")
	case o.format == "json":
		return n.WithHint("Members are columns of the same name, in lower and upper case as declared; all columns are NULL.")
	}
	n.Severity, n.Code = "NOTICE", sqlerr.SuccessfulCompletion
	return n.WithHint("Columns that the stream does not declare are ignored.")
}

func warning(message string) *sqlerr.Error {
	w := sqlerr.New(sqlerr.Warning, "%s", message)
	w.Severity = "WARNING"
	return w
}
