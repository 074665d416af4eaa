package file

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// found is a file that matches.
type found struct {
	name string // below the root, with slashes; of a root that is a file its own name
	path string
	size int64
	time int64 // of modification, microseconds since 1970
}

// list finds the files that match, in the order in which they are read. Names that begin with a dot or an underscore are those of
// files that are being written.
func (o *options) list() ([]found, error) {
	st, err := os.Stat(o.root)
	if err != nil {
		return nil, err
	}
	var out []found
	add := func(name, p string, st fs.FileInfo) {
		out = append(out, found{name, p, st.Size(), st.ModTime().UnixMicro()})
	}
	switch {
	case !st.IsDir():
		add(path.Base(filepath.ToSlash(o.root)), o.root, st)
	case strings.Contains(o.pattern, "/"):
		err = o.walk(add)
	default:
		err = o.flat(add)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b found) int {
		if o.byTime && a.time != b.time {
			if a.time < b.time {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	return out, nil
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

func (o *options) flat(add func(string, string, fs.FileInfo)) error {
	entries, err := os.ReadDir(o.root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ok, _ := path.Match(o.pattern, e.Name()); !ok || hidden(e.Name()) {
			continue
		}
		p := filepath.Join(o.root, e.Name())
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() { // it may be gone again
			add(e.Name(), p, st)
		}
	}
	return nil
}

// walk looks into all folders below the root.
func (o *options) walk(add func(string, string, fs.FileInfo)) error {
	return filepath.WalkDir(o.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) && p != o.root {
				return nil
			}
			return err
		}
		if p == o.root {
			return nil
		}
		if hidden(d.Name()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(o.root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if ok, _ := path.Match(o.pattern, rel); ok {
			if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
				add(rel, p, st)
			}
		}
		return nil
	})
}

// growable says whether a file may be read on when it has grown.
func (o *options) growable(name string) bool {
	return o.format != "parquet" && o.compressionOf(name) == ""
}

// due says whether a file has something to be read. An error: what was read of it is no longer what it was.
func (o *options) due(f *found, p connector.Position, known bool) (bool, error) {
	switch {
	case !known:
		return true, nil
	case o.growable(f.name):
		if f.size < p.At || p.Done && p.Cut && f.size != p.At {
			return false, changed(f.name)
		}
		return f.size > p.At || !p.Done, nil
	case f.size != p.Size || f.time != p.ModTime:
		return false, changed(f.name)
	}
	return !p.Done, nil
}

// changed says that a file was changed.
func changed(name string) error {
	return sqlerr.New(sqlerr.DataCorrupted, "file \"%s\" was changed after it had been read", name).
		WithHint("Files must be complete when they appear, and must stay as they are; only plain text files may grow.")
}
