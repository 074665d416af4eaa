package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/fn"
)

// The tests of this file read the source tree and keep its rules: which package may import which, what must have a comment, how long
// a file or a function may be, and words that have no place in it.

const (
	root        = "../.."
	module      = "github.com/tidemarkdb/tidemark"
	maxFile     = 600 // lines of a file
	maxFunction = 90  // lines of a function
)

// ratchet lists what is longer than the limits allow, with its length. Entries may go and shrink; none may come or grow.
var ratchet = map[string]int{}

// source is one parsed Go file.
type source struct {
	path   string // slash-separated, from the root of the module
	pkg    string // its folder
	isTest bool
	lines  int
	file   *ast.File
}

// sources parses all Go files of the module.
func sources(t *testing.T) ([]source, *token.FileSet) {
	t.Helper()
	set := token.NewFileSet()
	var out []source
	walkTree(t, func(path string) {
		if !strings.HasSuffix(path, ".go") || strings.Contains(path, "testdata/") {
			return
		}
		f, err := parser.ParseFile(set, filepath.Join(root, path), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		folder := "."
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			folder = path[:i]
		}
		isTest := strings.HasSuffix(path, "_test.go") || strings.HasSuffix(folder, "/optest") || strings.HasSuffix(folder, "/pgtest")
		out = append(out, source{path, folder, isTest, set.File(f.Pos()).LineCount(), f})
	})
	if len(out) < 100 {
		t.Fatalf("only %d Go files below %s", len(out), root)
	}
	return out, set
}

// walkTree calls visit with the path of each file that belongs to the project.
func walkTree(t *testing.T, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && (rel == ".git" || rel == "bin" || rel == "data"):
			return fs.SkipDir
		case d.Type().IsRegular() && rel != ".git": // a file in a worktree of git
			visit(rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// layers are the layers of packages from the top. A package imports its own layer and those below; the most specific name counts.
var layers = []map[string]bool{
	{"cmd": true, "bench": true, "examples": true, ".": true},
	{"wire": true, "exec/engine": true, "sqllogictest": true},
	{"exec": true, "planner": true, "parser": true},
	{"state": true, "checkpoint": true},
	{"sql": true},
}

// layerOf gives the layer of a folder, -1 if it has none.
func layerOf(folder string) int {
	for name := folder; ; {
		for i, l := range layers {
			if l[name] {
				return i
			}
		}
		cut := strings.LastIndexByte(name, '/')
		if cut < 0 {
			return -1
		}
		name = name[:cut]
	}
}

// within says whether a folder is one of the names or lies below one.
func within(folder string, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return folder == n || strings.HasPrefix(folder, n+"/") })
}

// notFamilies are the packages below exec that are no family of operators..
var notFamilies = []string{"exec/dataflow", "exec/kernel", "exec/rowenc", "exec/internal", "exec/connector", "exec/engine"}

// isFamily says whether a folder is a family of operators.
func isFamily(folder string) bool {
	return strings.HasPrefix(folder, "exec/") && !within(folder, notFamilies...)
}

// owners are modules that only one of our packages may import outside tests.
var owners = map[string]string{
	"github.com/cockroachdb/pebble": "state",
	"github.com/pingcap/tidb":       "parser",
	"github.com/jackc/pgproto3":     "wire",
	"github.com/cockroachdb/apd":    "sql/types",
}

// badImport says what is wrong with an import of a non-test file, "" if nothing.
func badImport(folder, path string) string {
	for m, owner := range owners {
		if strings.HasPrefix(path, m) && folder != owner {
			return "only " + owner + " may import it"
		}
	}
	if !strings.HasPrefix(path, module+"/") {
		return ""
	}
	to := strings.TrimPrefix(path, module+"/")
	from, below := layerOf(folder), layerOf(to)
	switch {
	case from < 0:
		return folder + " has no layer"
	case below < 0:
		return to + " has no layer"
	case from > below:
		return "imports point downwards only"
	case within(folder, "wire") && !within(to, "wire", "sql"):
		return "wire knows the engine through sql/session only"
	case within(folder, "exec/engine") && within(to, "wire"):
		return "the engine does not know wire"
	case within(folder, "sqllogictest") && !within(to, "sqllogictest"):
		return "sqllogictest is a client"
	case isFamily(folder) && isFamily(to):
		return "operator families do not import each other"
	case within(folder, "exec/connector") && !within(to, "exec/connector", "sql"):
		return "a connector knows rows only"
	case isFamily(folder) && within(to, "exec/connector", "exec/engine"):
		return "an operator knows neither engine nor connectors"
	case isFamily(folder) && (within(to, "parser") || to == "planner" || within(to, "state") && to != "state/table"):
		return "an operator knows its plan node and its state tables only"
	}
	return ""
}

func TestImports(t *testing.T) {
	files, _ := sources(t)
	for _, f := range files {
		if f.isTest {
			continue
		}
		for _, imp := range f.file.Imports {
			path, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := badImport(f.pkg, path); why != "" {
				t.Errorf("%s imports %s: %s", f.path, path, why)
			}
			if path == "C" {
				t.Errorf("%s uses cgo", f.path)
			}
		}
	}
}

// TestImportRules checks the rules themselves on imports that must be refused.
func TestImportRules(t *testing.T) {
	for _, x := range []struct {
		folder, path string
		ok           bool
	}{
		{"sql/types", module + "/state", false},
		{"state", module + "/exec/dataflow", false},
		{"wire", module + "/exec/engine", false},
		{"wire", module + "/state", false},
		{"exec/engine", module + "/wire", false},
		{"exec/join", module + "/exec/agg", false},
		{"exec/join", module + "/planner", false},
		{"exec/join", "github.com/cockroachdb/pebble/v2", false},
		{"planner", "github.com/pingcap/tidb/pkg/parser/ast", false},
		{"exec/join", module + "/exec/rowenc", true},
		{"exec", module + "/exec/join", true},
		{"cmd/tidemark", module + "/wire", true},
		{"elsewhere", module + "/sql/types", false},
	} {
		if why := badImport(x.folder, x.path); (why == "") != x.ok {
			t.Errorf("%s imports %s: %q", x.folder, x.path, why)
		}
	}
}

func TestComments(t *testing.T) {
	files, set := sources(t)
	hasComment, isPackage := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		isPackage[f.pkg] = true
		hasComment[f.pkg] = hasComment[f.pkg] || f.file.Doc != nil
		run, runEnd := "", 0 // the name and last line of a method with a comment; it serves the methods of that name right below
		for _, d := range f.file.Decls {
			line, end := set.Position(d.Pos()).Line, set.Position(d.End()).Line
			fd, _ := d.(*ast.FuncDecl)
			if fd != nil && fd.Doc == nil && fd.Name.Name == run && line == runEnd+1 {
				runEnd = end
				continue
			}
			run = ""
			if fd != nil && fd.Doc != nil && fd.Recv != nil {
				run, runEnd = fd.Name.Name, end
			}
			for _, n := range undocumented(d) {
				t.Errorf("%s:%d: %s has no comment", f.path, set.Position(n.Pos()).Line, n.Name)
			}
		}
	}
	for p := range isPackage {
		if !hasComment[p] {
			t.Errorf("package %s has no comment", p)
		}
	}
}

// undocumented gives the exported names that a declaration makes without a comment. A comment on a group of constants or variables
// is one on each of them.
func undocumented(d ast.Decl) (out []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || receiver(d).IsExported()) {
			out = append(out, d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					out = append(out, s.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						out = append(out, n)
					}
				}
			}
		}
	}
	return out
}

// receiver gives the name of a method's type.
func receiver(d *ast.FuncDecl) *ast.Ident {
	for x := d.Recv.List[0].Type; ; {
		switch e := x.(type) {
		case *ast.StarExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.IndexListExpr:
			x = e.X
		case *ast.Ident:
			return e
		default:
			return ast.NewIdent("_")
		}
	}
}

func TestLength(t *testing.T) {
	files, set := sources(t)
	used := map[string]bool{}
	check := func(name string, lines, limit int) {
		if lines <= limit {
			return
		}
		used[name] = true
		if allowed, ok := ratchet[name]; !ok {
			t.Errorf("%s has %d lines, more than %d: split it", name, lines, limit)
		} else if lines > allowed {
			t.Errorf("%s has grown to %d lines; it may have %d, as long as it is not split", name, lines, allowed)
		}
	}
	for _, f := range files {
		if f.isTest {
			continue
		}
		if !ast.IsGenerated(f.file) {
			check(f.path, f.lines, maxFile)
		}
		for _, d := range f.file.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok {
				name := fd.Name.Name
				if fd.Recv != nil {
					name = receiver(fd).Name + "." + name
				}
				check(f.pkg+" "+name, set.Position(fd.End()).Line-set.Position(fd.Pos()).Line+1, maxFunction)
			}
		}
	}
	for name := range ratchet {
		if !used[name] {
			t.Errorf("%s is within the limits: take it from the ratchet", name)
		}
	}
}

func TestForbiddenWords(t *testing.T) {
	words := []string{ // in pieces, since this file is read too
		"/wor" + "k/", "/tm" + "p/w/", "/ro" + "ot/", "/hom" + "e/",
		"proxy." + "golang.org", "repo1." + "maven.org", "registry." + "npmjs.org", "py" + "pi.org",
	}
	walkTree(t, func(path string) {
		if strings.Contains(path, "testdata/") && !strings.HasSuffix(path, ".md") || path == "go.sum" || strings.HasSuffix(path, ".csv") {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, w := range words {
				if strings.Contains(line, w) {
					t.Errorf("%s:%d names %s", path, i+1, w)
				}
			}
		}
	})
}

// TestFunctionsDocumented compares the functions that docs/sql.md lists with those that there are.
func TestFunctionsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/sql.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "| family | functions |\n|---|---|\n")
	list, _, _ = strings.Cut(list, "\n\n")
	listed := map[string]bool{}
	for i, word := range strings.Split(list, "`") {
		if i%2 == 1 {
			listed[word] = true
		}
	}
	for _, f := range fn.All() {
		if f.Class == fn.Operator || f.Class == fn.Cast || f.Name[0] == '_' {
			continue
		}
		if !listed[f.Name] {
			t.Errorf("docs/sql.md does not list %s", f.Name)
		}
	}
	for name := range listed {
		if len(fn.Lookup(name)) == 0 {
			t.Errorf("docs/sql.md lists %s, which there is not", name)
		}
	}
}
