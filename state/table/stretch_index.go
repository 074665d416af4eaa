package table

// rowIndex finds the newest record of a stretch with a tag. It is as the index of a Hash, with references to records in place of slots, and
// grows as that does: in steps, while the old cells go on being whole and lookups know nothing of the new ones.
type rowIndex struct {
	cells []uint64
	used  int
	more  []uint64 // cells that are being made
	done  int      // cells that are copied to more
}

func (x *rowIndex) memBytes() int64 { return int64(8*cap(x.cells) + 8*cap(x.more)) }

// makeRoom sees to it that there is room for n more entries. It will probably have like cells, 0 if that isn't known: a sixteenth of them are made first, and
// when they are full all.
func (x *rowIndex) makeRoom(n, like int) {
	if x.more == nil {
		if x.used+n < len(x.cells)/8*5 {
			return
		}
		size := max(2*len(x.cells), minIndex)
		if size >= like/16 {
			size = max(size, like)
		} else {
			size = like / 16
		}
		for x.used+n >= size/8*5 {
			size *= 2
		}
		x.more, x.done = make([]uint64, size), 0
	}
	step := n * growCells
	if len(x.cells) <= growAtOnce {
		step = len(x.cells)
	}
	end := min(x.done+step, len(x.cells))
	for _, e := range x.cells[x.done:end] {
		if e != 0 {
			enter(x.more, e)
		}
	}
	if x.done = end; end == len(x.cells) {
		x.cells, x.more = x.more, nil
	}
}

// homes reads the cells at the homes of entries that are about to be entered.
func (x *rowIndex) homes(entries, homes []uint64) {
	cells, mask := x.cells, uint32(len(x.cells)-1)
	for j, e := range entries {
		homes[j] = cells[uint32(e>>32)&mask]
	}
}

// enter enters a record, a tag and a reference, and gives the record that had the tag before, 0: none. home is what the tag's home held when it
// was read.
func (x *rowIndex) enter(e, home uint64) (old uint32) {
	if x.more != nil {
		enter(x.more, e)
	}
	if home != 0 && home>>32 == e>>32 {
		i := uint32(e>>32) & uint32(len(x.cells)-1)
		old = uint32(x.cells[i])
		x.cells[i] = e
		return old
	}
	if old = enter(x.cells, e); old == 0 {
		x.used++
	}
	return old
}

// enter puts an entry in place of that with its tag, which it gives.
func enter(cells []uint64, e uint64) (old uint32) {
	mask := uint32(len(cells) - 1)
	i := uint32(e >> 32)
	for cells[i&mask] != 0 && cells[i&mask]>>32 != e>>32 {
		i++
	}
	old = uint32(cells[i&mask])
	cells[i&mask] = e
	return old
}

// newest gives the newest record with a tag, 0 if there is none. home is what is at the tag's home.
func (x *rowIndex) newest(tag uint32, home uint64) uint32 {
	mask := uint32(len(x.cells) - 1)
	for i, e := tag, home; e != 0; e = x.cells[i&mask] {
		if uint32(e>>32) == tag {
			return uint32(e)
		}
		i++
	}
	return 0
}
