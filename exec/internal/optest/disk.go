package optest

import (
	"slices"
	"sort"

	"github.com/tidemarkdb/tidemark/state/table"
)

// Disk is a table.Backing that holds what checkpoints wrote.
type Disk map[string]string

// Get implements table.Backing.
func (d Disk) Get(k []byte, f func([]byte)) error {
	if v, ok := d[string(k)]; ok {
		f([]byte(v))
	}
	return nil
}

// GetMany implements table.Backing.
func (d Disk) GetMany(keys [][]byte, f func(int, []byte)) error {
	for i, k := range keys {
		if v, ok := d[string(k)]; ok {
			f(i, []byte(v))
		}
	}
	return nil
}

// Scan implements table.Backing.
func (d Disk) Scan(lo, hi []byte, desc bool, f func(k, v []byte) bool) error {
	var keys []string
	for k := range d {
		if k >= string(lo) && (hi == nil || k < string(hi)) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	if desc {
		slices.Reverse(keys)
	}
	for _, k := range keys {
		if !f([]byte(k), []byte(d[k])) {
			break
		}
	}
	return nil
}

// Write applies a checkpoint.
func (d Disk) Write(f *table.Frozen) error {
	for _, r := range f.Ranges() {
		for k := range d {
			if k >= string(r.Lo) && k < string(r.Hi) {
				delete(d, k)
			}
		}
	}
	err := f.Each(func(c table.Change) error {
		if c.Delete {
			delete(d, string(c.Key))
			return nil
		}
		if c.Merge {
			var z table.BlockMerger
			val, err := z.Merge(nil, []byte(d[string(c.Key)]), c.Val, true)
			d[string(c.Key)] = string(val)
			return err
		}
		d[string(c.Key)] = string(c.Val)
		return nil
	})
	f.Written()
	return err
}
