package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// The options of COPY, with PostgreSQL 15's checks in its order (ProcessCopyOptions), which decides which of several errors is told.

// copyWith are the options of one COPY.
type copyWith struct {
	session.CopyFormat
	batchRows int // 0: a unit of all rows
	given     map[string]*ast.CopyOption
}

// copyOptions reads the options of COPY.
func copyOptions(x *ast.Copy) (*copyWith, error) {
	o := &copyWith{given: map[string]*ast.CopyOption{}}
	o.Format = "text"
	for i := range x.Options {
		if err := o.read(&x.Options[i], x.From); err != nil {
			return nil, err
		}
	}
	for _, f := range []func(from bool) error{o.delimiterAndNull, o.quoteAndEscape, o.forced, o.apart} {
		if err := f(x.From); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// text gives the text of an option, otherwise where it was not given.
func (o *copyWith) text(name, otherwise string) string {
	if g := o.given[name]; g != nil {
		return g.Text()
	}
	return otherwise
}

// read takes in one option: what can be said of it alone.
func (o *copyWith) read(x *ast.CopyOption, from bool) error {
	known := false
	switch x.Name {
	case "format", "freeze", "delimiter", "null", "header", "quote", "escape", "force_quote", "force_not_null", "force_null", "encoding", "batch_rows":
		known = true
	}
	switch {
	case !known:
		return sqlerr.New(sqlerr.SyntaxError, "option \"%s\" not recognized", x.Name).At(int(x.At))
	case o.given[x.Name] != nil:
		return sqlerr.New(sqlerr.SyntaxError, "conflicting or redundant options").At(int(x.At))
	}
	o.given[x.Name] = x
	switch x.Name {
	case "header":
		return o.readHeader(x, from)
	case "freeze":
		if _, ok := copyBool(x); !ok {
			return sqlerr.New(sqlerr.SyntaxError, "freeze requires a Boolean value")
		}
		return nil
	case "force_quote":
		if x.Form == ast.CopyStar {
			return nil
		}
		fallthrough
	case "force_not_null", "force_null":
		if x.Form != ast.CopyList {
			return sqlerr.New(sqlerr.InvalidParameterValue, "argument to option \"%s\" must be a list of column names", x.Name).At(int(x.At))
		}
		return nil
	}
	if x.Form == ast.CopyNone {
		return sqlerr.New(sqlerr.SyntaxError, "%s requires a parameter", x.Name)
	}
	v := x.Text()
	switch x.Name {
	case "format":
		if o.Format = v; v != "text" && v != "csv" && v != "binary" {
			return sqlerr.New(sqlerr.InvalidParameterValue, "COPY format \"%s\" not recognized", v).At(int(x.At))
		}
	case "encoding":
		_, err := utf8Only(v)
		if err != nil && kernel.EncodingNumber(v) < 0 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "argument to option \"%s\" must be a valid encoding name", x.Name).At(int(x.At))
		}
		return err
	case "batch_rows":
		if !from {
			return sqlerr.Unsupported("COPY batch_rows only available using COPY FROM")
		}
		var err error
		if o.batchRows, err = strconv.Atoi(v); err != nil || o.batchRows <= 0 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "batch_rows must be a positive number")
		}
	}
	return nil
}

// copyBool reads a boolean of COPY; ok is false where it is none. An option alone is true.
func copyBool(x *ast.CopyOption) (v, ok bool) {
	switch {
	case x.Form == ast.CopyNone:
		return true, true
	case x.Form == ast.CopyNumber:
		return x.Value == "1", x.Value == "0" || x.Value == "1"
	}
	switch strings.ToLower(x.Text()) {
	case "true", "on":
		return true, true
	case "false", "off":
		return false, true
	}
	return false, false
}

func (o *copyWith) readHeader(x *ast.CopyOption, from bool) error {
	v, ok := copyBool(x)
	if !ok && x.Form != ast.CopyNumber && strings.EqualFold(x.Text(), "match") {
		if !from {
			return sqlerr.Unsupported("cannot use \"%s\" with HEADER in COPY TO", x.Text())
		}
		v, ok, o.HeaderMatch = true, true, true
	}
	if o.Header = v; !ok {
		return sqlerr.New(sqlerr.SyntaxError, "header requires a Boolean value or \"match\"")
	}
	return nil
}

// notDelimiters can't divide fields of the text format: they mean something behind a backslash, or in a number.
const notDelimiters = `\.abcdefghijklmnopqrstuvwxyz0123456789`

func (o *copyWith) delimiterAndNull(bool) error {
	binary, csv := o.Format == "binary", o.Format == "csv"
	switch {
	case binary && o.given["delimiter"] != nil:
		return sqlerr.New(sqlerr.SyntaxError, "cannot specify DELIMITER in BINARY mode")
	case binary && o.given["null"] != nil:
		return sqlerr.New(sqlerr.SyntaxError, "cannot specify NULL in BINARY mode")
	}
	delimiter := "\t"
	if o.Null = `\N`; csv {
		delimiter, o.Null = ",", ""
	}
	delimiter, o.Null = o.text("delimiter", delimiter), o.text("null", o.Null)
	switch {
	case len(delimiter) != 1:
		return sqlerr.Unsupported("COPY delimiter must be a single one-byte character")
	case strings.ContainsAny(delimiter, "\r\n"):
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY delimiter cannot be newline or carriage return")
	case strings.ContainsAny(o.Null, "\r\n"):
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY null representation cannot use newline or carriage return")
	case !csv && strings.Contains(notDelimiters, delimiter):
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY delimiter cannot be \"%s\"", delimiter)
	case binary && o.Header:
		return sqlerr.Unsupported("cannot specify HEADER in BINARY mode")
	}
	o.Delimiter = delimiter[0]
	return nil
}

func (o *copyWith) quoteAndEscape(bool) error {
	if o.Format != "csv" {
		for _, name := range []string{"quote", "escape"} {
			if o.given[name] != nil {
				return sqlerr.Unsupported("COPY %s available only in CSV mode", name)
			}
		}
		return nil
	}
	quote := o.text("quote", `"`)
	escape := o.text("escape", quote)
	switch {
	case len(quote) != 1:
		return sqlerr.Unsupported("COPY quote must be a single one-byte character")
	case quote[0] == o.Delimiter:
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY delimiter and quote must be different")
	case len(escape) != 1:
		return sqlerr.Unsupported("COPY escape must be a single one-byte character")
	}
	o.Quote, o.Escape = quote[0], escape[0]
	return nil
}

// forced tests whether FORCE_QUOTE and its like may be given at all.
func (o *copyWith) forced(from bool) error {
	for _, name := range []string{"force_quote", "force_not_null", "force_null"} {
		what, way, right := strings.ReplaceAll(name, "_", " "), "FROM", from
		if name == "force_quote" {
			way, right = "TO", !from
		}
		switch {
		case o.given[name] == nil:
		case o.Format != "csv":
			return sqlerr.Unsupported("COPY %s available only in CSV mode", what)
		case !right:
			return sqlerr.Unsupported("COPY %s only available using COPY %s", what, way)
		}
	}
	return nil
}

// apart tests that NULL can be told from the rest.
func (o *copyWith) apart(bool) error {
	switch {
	case o.Format != "binary" && strings.IndexByte(o.Null, o.Delimiter) >= 0:
		return sqlerr.Unsupported("COPY delimiter must not appear in the NULL specification")
	case o.Format == "csv" && strings.IndexByte(o.Null, o.Quote) >= 0:
		return sqlerr.Unsupported("CSV quote character must not appear in the NULL specification")
	}
	return nil
}

// force finds the columns of FORCE_QUOTE and its like among those that are copied, by their names; rel is what they are of, nil for a query.
func (o *copyWith) force(names []string, rel *catalog.Relation) error {
	for _, f := range []struct {
		name string
		to   *[]bool
	}{{"force_quote", &o.ForceQuote}, {"force_not_null", &o.ForceNotNull}, {"force_null", &o.ForceNull}} {
		x := o.given[f.name]
		if x == nil {
			continue
		}
		*f.to = make([]bool, len(names))
		if x.Form == ast.CopyStar {
			for i := range *f.to {
				(*f.to)[i] = true
			}
		}
		other := ""
		for i, n := range x.List {
			k := slices.Index(names, n)
			switch {
			case k < 0 && rel == nil:
				return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", n)
			case k < 0 && !visibleColumn(rel, n):
				return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", n, rel.Name)
			case slices.Contains(x.List[:i], n):
				return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", n)
			case k >= 0:
				(*f.to)[k] = true
			case other == "":
				other = n
			}
		}
		if other != "" {
			return sqlerr.New(sqlerr.InvalidColumnReference, "%s column \"%s\" not referenced by COPY", strings.ToUpper(f.name), other)
		}
	}
	return nil
}

func visibleColumn(rel *catalog.Relation, name string) bool {
	i := rel.ColumnIndex(name)
	return i >= 0 && !rel.Columns[i].Hidden
}
