package fn

import "strings"

// RowsFrom makes the set-returning function that calls several at once, as ROWS FROM and several of them in one select list do: its
// arguments are theirs in turn, its rows are theirs side by side, with NULLs where one gives fewer rows. cols are its output columns,
// those of the parts in turn; args is the number of arguments that each part is called with.
func RowsFrom(parts []*Func, args []int, cols []OutCol) *Func {
	names := make([]string, len(parts))
	f := &Func{Name: "rows from", Class: Set, OutCols: cols, parts: parts, partArgs: args}
	for i, p := range parts {
		names[i] = p.Signature()
		f.Args = append(f.Args, p.Args...)
		f.Volatility = max(f.Volatility, p.Volatility)
		f.Session = f.Session || p.Session
	}
	f.sig = "rows from (" + strings.Join(names, ", ") + ")"
	return f
}

// Parts gives what RowsFrom was made of; nil for another function. The slices are not to be changed.
func (f *Func) Parts() (parts []*Func, args []int) { return f.parts, f.partArgs }
