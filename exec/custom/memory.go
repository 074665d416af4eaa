package custom

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// DefaultMaxMemory is the bound, in bytes, on what one call may allocate where none is set. A call has memoryPerRow more for each of its rows.
const (
	DefaultMaxMemory = 128 << 20
	memoryPerRow     = 64 << 10
)

// account counts what a call allocates, whether or not it is still in use: a sum that is the same in each run, as a replay needs. What a single step of
// the interpreter allocates by itself (an element of a list, a small dict) is not counted; steps bound that.
type account struct {
	th        *starlark.Thread
	used, max int64
}

const accountKey = "account"

// open begins the account of a call.
func (a *account) open(max int64) { a.used, a.max = 0, max }

// charge counts bytes that are about to be allocated. Past the bound it is an error, and the call ends at its next step whatever becomes of the error.
func (a *account) charge(bytes int64) error {
	if a == nil {
		return nil
	}
	if bytes < 0 || a.used+bytes < a.used {
		bytes = a.max
	}
	if a.used += bytes; a.used <= a.max {
		return nil
	}
	a.th.Cancel("out of memory")
	return a.overrun()
}

// spent says whether the bound was passed.
func (a *account) spent() bool { return a.used > a.max }

func (a *account) overrun() *sqlerr.Error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "the call allocates more than %d bytes (processor_max_memory)", a.max)
}

func accountOf(th *starlark.Thread) *account {
	a, _ := th.Local(accountKey).(*account)
	return a
}

// value charges what a script's value takes once it is one of the field's type.
func (a *account) value(f *Field, v starlark.Value) error {
	if a == nil || f.Type.Layout() != types.LayoutBytes {
		return nil
	}
	n, err := textSize(v)
	if err != nil {
		return err
	}
	return a.charge(n)
}

// read charges what a field's value takes in a script.
func (a *account) read(f *Field, d types.Datum) {
	if a == nil || len(d.B) == 0 {
		return
	}
	n := int64(len(d.B))
	switch f.Type.Kind {
	case types.JSON, types.JSONB, types.Array:
		n *= valueBytes
	}
	_ = a.charge(n) // the call ends at its next step
}

// maxIntBits bounds integers: the time that one step of arithmetic takes grows faster than they do.
const maxIntBits = 1 << 16

// What an element takes, in bytes.
const (
	valueBytes = 16 // an interface
	entryBytes = 96 // an entry of a dict or set
	rowBytes   = 64 // a row of the result, beside its values
)

// length gives the number of elements of an iterable, which it counts where it must.
func length(v starlark.Value) int64 {
	switch x := v.(type) {
	case *paged: // charges what it reads
		return 0
	case starlark.String:
		return int64(len(x))
	case starlark.Sequence:
		return int64(x.Len())
	case starlark.Iterable:
		it, n := x.Iterate(), int64(0)
		defer it.Done()
		var e starlark.Value
		for it.Next(&e) {
			n++
		}
		return n
	}
	return 0
}

// binaryCost is what the result of x op y takes.
func binaryCost(op syntax.Token, x, y starlark.Value) (int64, error) {
	if a, ok := x.(starlark.Int); ok {
		if b, ok := y.(starlark.Int); ok {
			return intCost(op, a, b)
		}
		if op == syntax.STAR {
			x, y = y, x
		}
	}
	switch a := x.(type) {
	case starlark.String:
		switch op {
		case syntax.PLUS:
			return int64(len(a)) + length(y), nil
		case syntax.STAR:
			return times(int64(len(a)), y), nil
		case syntax.PERCENT:
			return formatCost(string(a), y)
		}
	case starlark.Bytes:
		if op == syntax.STAR {
			return times(int64(len(a)), y), nil
		}
		return int64(len(a)) + length(y), nil
	case *starlark.List, starlark.Tuple:
		if op == syntax.STAR {
			return times(valueBytes*length(x), y), nil
		}
		return valueBytes * (length(x) + length(y)), nil
	case *starlark.Dict, *starlark.Set:
		if op == syntax.PIPE || op == syntax.CIRCUMFLEX {
			return entryBytes * (length(x) + length(y)), nil
		}
		return entryBytes * length(x), nil
	}
	return 0, nil
}

// times is size * n. A number of more than 32 bits the interpreter refuses.
func times(size int64, n starlark.Value) int64 {
	i, ok := n.(starlark.Int)
	if !ok {
		return 0
	}
	k, err := starlark.AsInt32(i)
	if err != nil || k <= 0 {
		return 0
	}
	return product(size, int64(k))
}

// product is a * b, or the most there is.
func product(a, b int64) int64 {
	if a > 0 && b > (1<<62)/a {
		return 1 << 62
	}
	return a * b
}

func intCost(op syntax.Token, x, y starlark.Int) (int64, error) {
	if _, ok := x.Int64(); ok && op != syntax.LTLT && op != syntax.STAR {
		if _, ok := y.Int64(); ok {
			return 0, nil
		}
	}
	a, b := intBits(x), intBits(y)
	bits := max(a, b) + 1
	switch op {
	case syntax.STAR:
		bits = a + b
	case syntax.LTLT:
		if n, ok := y.Int64(); ok && n > 0 && n < maxIntBits {
			bits = a + int(n)
		}
	}
	if bits > maxIntBits {
		return 0, sqlerr.New(sqlerr.ProgramLimitExceeded, "integers of more than %d bits are not supported", maxIntBits)
	}
	if bits <= 64 {
		return 0, nil
	}
	return int64(bits / 8), nil
}

func intBits(x starlark.Int) int {
	if i, ok := x.Int64(); ok && i > -1<<31 && i < 1<<31 {
		return 32
	}
	return x.BigInt().BitLen()
}

// formatCost is what "format" % args takes.
func formatCost(format string, args starlark.Value) (int64, error) {
	n := int64(len(format))
	t, ok := args.(starlark.Tuple)
	if !ok {
		t = starlark.Tuple{args}
	}
	for _, a := range t {
		k, err := textSize(a)
		if err != nil {
			return 0, err
		}
		n += k
	}
	return n, nil
}

// maxText bounds how many values are looked at to tell how long a value's text is.
const maxText = 2_000_000

// textSize is, about, the length of a value's text, or of its JSON. A value that is nested too deeply is an error, and so is one that holds
// another so often that its text has no end in sight.
func textSize(v starlark.Value) (int64, error) {
	n, left := int64(0), maxText
	err := addText(v, maxNesting, &left, &n)
	return n, err
}

func addText(v starlark.Value, depth int, left *int, n *int64) error {
	if *left--; *left < 0 {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "the text of the value is too long")
	}
	switch x := v.(type) {
	case starlark.String:
		*n += int64(len(x)) + 2
		return nil
	case starlark.Bytes:
		*n += 4*int64(len(x)) + 3
		return nil
	case starlark.Int:
		*n += int64(intBits(x))/3 + 2
		return nil
	case *starlark.Dict:
		for _, it := range x.Items() {
			if depth == 0 {
				return errNested
			}
			*n += 4
			if err := addText(it[0], depth-1, left, n); err != nil {
				return err
			}
			if err := addText(it[1], depth-1, left, n); err != nil {
				return err
			}
		}
		return nil
	case *rowValue:
		for _, name := range x.names {
			*n += int64(len(name)) + 5
		}
	case *starlark.List, starlark.Tuple, *starlark.Set:
	default:
		*n += 24
		return nil
	}
	it := starlark.Iterate(v)
	defer it.Done()
	var e starlark.Value
	for it.Next(&e) {
		if depth == 0 {
			return errNested
		}
		*n += 2
		if err := addText(e, depth-1, left, n); err != nil {
			return err
		}
	}
	return nil
}

// maxNesting bounds how deeply lists and the like may lie in one another where they are turned into text: the interpreter takes time that
// grows with the square of it.
const maxNesting = 200

var errNested = fmt.Errorf("the value is nested more than %d levels deep", maxNesting)

// A cost tells what a call of a built-in function or method allocates, before it is made. self is nil for functions.
type cost func(self starlark.Value, args starlark.Tuple, kw []starlark.Tuple) (int64, error)

// elements is the cost of a copy of what is iterated over, the methods' own value included.
func elements(bytes int64) cost {
	return func(self starlark.Value, args starlark.Tuple, kw []starlark.Tuple) (int64, error) {
		n := int64(0)
		if self != nil {
			n = length(self)
		}
		for _, a := range args {
			n += length(a)
		}
		for _, k := range kw {
			n += length(k[1])
		}
		return bytes * n, nil
	}
}

// texts is the cost of the texts of the arguments.
func texts(_ starlark.Value, args starlark.Tuple, kw []starlark.Tuple) (int64, error) {
	n := int64(0)
	for _, a := range args {
		k, err := textSize(a)
		if err != nil {
			return 0, err
		}
		n += k
	}
	for _, a := range kw {
		k, err := textSize(a[1])
		if err != nil {
			return 0, err
		}
		n += k
	}
	return n, nil
}

// methodCosts are the methods that allocate more than a step should.
var methodCosts = map[string]cost{
	"join": joinCost, "replace": replaceCost, "format": templateCost, "split": splitCost, "rsplit": splitCost, "splitlines": splitCost,
	"upper": elements(1), "lower": elements(1), "title": elements(1), "capitalize": elements(1),
	"extend": arguments(valueBytes), "update": arguments(entryBytes), "items": elements(4 * valueBytes), "keys": elements(valueBytes), "values": elements(valueBytes),
	"union": elements(entryBytes), "intersection": elements(entryBytes), "difference": elements(entryBytes), "symmetric_difference": elements(entryBytes),
}

// arguments is the cost of a copy of the arguments' elements.
func arguments(bytes int64) cost {
	return func(_ starlark.Value, args starlark.Tuple, kw []starlark.Tuple) (int64, error) {
		return elements(bytes)(nil, args, kw)
	}
}

func joinCost(self starlark.Value, args starlark.Tuple, _ []starlark.Tuple) (int64, error) {
	sep, ok := self.(starlark.String)
	if !ok || len(args) != 1 {
		return 0, nil
	}
	it := starlark.Iterate(args[0])
	if it == nil {
		return 0, nil
	}
	defer it.Done()
	n := int64(0)
	var x starlark.Value
	for it.Next(&x) {
		s, ok := x.(starlark.String)
		if !ok {
			return n, nil // an error, before more is read
		}
		n += int64(len(s)) + int64(len(sep))
	}
	return n, nil
}

func replaceCost(self starlark.Value, args starlark.Tuple, _ []starlark.Tuple) (int64, error) {
	s, ok := self.(starlark.String)
	if !ok || len(args) < 2 {
		return 0, nil
	}
	from, ok1 := args[0].(starlark.String)
	to, ok2 := args[1].(starlark.String)
	if !ok1 || !ok2 {
		return 0, nil
	}
	return int64(len(s)) + product(int64(strings.Count(string(s), string(from))), int64(len(to))), nil
}

// templateCost is that of "...".format(...): each field may be the longest argument.
func templateCost(self starlark.Value, args starlark.Tuple, kw []starlark.Tuple) (int64, error) {
	s, ok := self.(starlark.String)
	if !ok {
		return 0, nil
	}
	longest, err := texts(nil, args, kw)
	return int64(len(s)) + product(int64(strings.Count(string(s), "{")), longest), err
}

func splitCost(self starlark.Value, args starlark.Tuple, _ []starlark.Tuple) (int64, error) {
	s, ok := self.(starlark.String)
	if !ok {
		return 0, nil
	}
	parts := int64(1)
	if len(args) > 0 {
		if sep, ok := args[0].(starlark.String); ok && sep != "" {
			return 2 * valueBytes * (parts + int64(strings.Count(string(s), string(sep)))), nil
		}
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x80 {
			parts++
		}
	}
	return 2 * valueBytes * parts, nil
}

// functionCosts are the built-in functions that allocate more than a step should, or whose time has no bound.
var functionCosts = map[string]cost{
	"list": elements(valueBytes), "tuple": elements(valueBytes), "sorted": elements(2 * valueBytes), "reversed": elements(valueBytes),
	"enumerate": elements(4 * valueBytes), "zip": elements(4 * valueBytes), "set": elements(entryBytes), "dict": elements(entryBytes), "bytes": elements(1),
	"str": texts, "repr": texts, "fail": texts, "print": texts, "int": digitsCost,
}

// digitsCost bounds the digits of a text that is read as an integer.
func digitsCost(_ starlark.Value, args starlark.Tuple, _ []starlark.Tuple) (int64, error) {
	if len(args) > 0 {
		if s, ok := args[0].(starlark.String); ok && len(s) > maxIntBits/3 {
			return 0, sqlerr.New(sqlerr.ProgramLimitExceeded, "integers of more than %d bits are not supported", maxIntBits)
		}
	}
	return 0, nil
}
