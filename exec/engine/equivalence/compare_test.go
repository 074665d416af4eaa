package equivalence

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// OIDs of types whose text is compared by value.
const (
	oidFloat4, oidFloat8, oidNumeric = 700, 701, 1700
)

// diff says how two multisets of rows differ, "" if they don't. Numerics are compared by value, since which of 1.0 and 1.00
// stands for a group is open; floats to a relative tolerance (0: exactly).
func diff(a, b *rowset, aName, bName string, tolerance float64) string {
	out := differences(a, b, aName, bName, tolerance)
	if len(out) > 12 {
		out = append(out[:12], "...")
	}
	return strings.Join(out, "\n")
}

// differences gives all lines of a diff.
func differences(a, b *rowset, aName, bName string, tolerance float64) []string {
	if len(a.cols) != len(b.cols) {
		return []string{fmt.Sprintf("%s has %d columns, %s %d", aName, len(a.cols), bName, len(b.cols))}
	}
	left, right := buckets(a, tolerance), buckets(b, tolerance)
	var out []string
	for _, k := range sortedKeys(left, right) {
		x, y := left[k], right[k]
		if tolerance == 0 { // all of the rows of a key are the same
			n := min(len(x), len(y))
			x, y = x[n:], y[n:]
		}
		for _, r := range x {
			at := slices.IndexFunc(y, func(q []string) bool { return floatsNear(a.cols, r, q, tolerance) })
			if at < 0 {
				out = append(out, "only in "+aName+": "+rowText(r))
				continue
			}
			y[at] = y[len(y)-1]
			y = y[:len(y)-1]
		}
		for _, r := range y {
			out = append(out, "only in "+bName+": "+rowText(r))
		}
	}
	return out
}

// buckets groups rows by all that is compared exactly.
func buckets(r *rowset, tolerance float64) map[string][][]string {
	out := map[string][][]string{}
	for _, row := range r.rows {
		var key strings.Builder
		for c, v := range row {
			switch r.cols[c].oid {
			case oidNumeric:
				v = plainNumeric(v)
			case oidFloat4, oidFloat8:
				if v == "-0" {
					v = "0"
				}
				if tolerance > 0 {
					v = ""
				}
			}
			key.WriteString(v)
			key.WriteByte(1)
		}
		out[key.String()] = append(out[key.String()], row)
	}
	return out
}

func sortedKeys(ms ...map[string][][]string) []string {
	seen := map[string]bool{}
	var out []string
	for _, m := range ms {
		for k := range m {
			if !seen[k] {
				seen[k] = true
				out = append(out, k)
			}
		}
	}
	sort.Strings(out)
	return out
}

// plainNumeric removes what does not change a number's value.
func plainNumeric(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

func floatsNear(cols []colType, a, b []string, tolerance float64) bool {
	for c := range cols {
		if (cols[c].oid == oidFloat8 || cols[c].oid == oidFloat4) && a[c] != b[c] {
			x, err1 := strconv.ParseFloat(a[c], 64)
			y, err2 := strconv.ParseFloat(b[c], 64)
			if err1 != nil || err2 != nil || math.IsInf(x, 0) || math.IsInf(y, 0) || !(math.Abs(x-y) <= tolerance*math.Max(1, math.Max(math.Abs(x), math.Abs(y)))) {
				return false
			}
		}
	}
	return true
}

func rowText(r []string) string {
	out := make([]string, len(r))
	for i, v := range r {
		if out[i] = v; v == nullText {
			out[i] = "NULL"
		}
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// sortedRows gives the rows as texts in order.
func sortedRows(r *rowset) []string {
	var out []string
	for _, row := range r.rows {
		out = append(out, rowText(row))
	}
	sort.Strings(out)
	return out
}
