package tidemark

import (
	"fmt"
	"sort"
	"time"
)

// Scan copies the row into pointers: *any, *bool, *int, *int64, *float64, *string, *[]byte, *time.Time. NULL is nil for *any, and an
// error for the others. *string takes the text of any type.
func (r *Rows) Scan(dst ...any) error {
	vals := r.Values()
	if len(dst) != len(vals) {
		return fmt.Errorf("tidemark: Scan into %d values of a row with %d columns", len(dst), len(vals))
	}
	for i, v := range vals {
		if err := assign(dst[i], v); err != nil {
			return fmt.Errorf("tidemark: column %q: %w", r.Columns()[i], err)
		}
	}
	return nil
}

func assign(dst, v any) error {
	ok := false
	switch d := dst.(type) {
	case *any:
		*d, ok = v, true
	case *bool:
		*d, ok = v.(bool)
	case *int:
		var n int64
		n, ok = v.(int64)
		*d = int(n)
	case *int64:
		*d, ok = v.(int64)
	case *float64:
		*d, ok = v.(float64)
	case *[]byte:
		*d, ok = v.([]byte)
	case *time.Time:
		*d, ok = v.(time.Time)
	case *string:
		if *d, ok = v.(string); !ok && v != nil {
			*d, ok = fmt.Sprint(v), true
		}
	}
	if !ok {
		return fmt.Errorf("a value of type %T does not go into a %T", v, dst)
	}
	return nil
}

func sortedKeys(m map[string]*counted) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
