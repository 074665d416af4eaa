package table

// Entry is one entry of a table as inspection sees it. Slices are valid during the call.
type Entry struct {
	WindowStart, WindowEnd int64  // Windows
	Int                    int64  // key of an IntKey table
	Key                    []byte // key otherwise
	Words                  []int64
	Value                  []byte // value of an Ordered; blob of a Hash, nil if none
}

// Info describes a table of a space.
type Info struct {
	Kind     Kind
	Decl     Decl
	Entries  int64
	MemBytes int64
}

// Tables lists the tables in the order they were declared.
func (s *Space) Tables() []Info {
	out := make([]Info, len(s.tables))
	for i, t := range s.tables {
		inf := t.info()
		out[i] = Info{inf.kind, inf.decl, t.Len(), t.MemBytes()}
	}
	return out
}

// Decls lists the declarations of the tables, without figures: unlike Tables it may be called from any goroutine once all tables are
// declared.
func (s *Space) Decls() []Info {
	out := make([]Info, len(s.tables))
	for i, t := range s.tables {
		out[i] = Info{Kind: t.info().kind, Decl: t.info().decl}
	}
	return out
}

// Each calls f for every entry of table i, on disk or in memory, until it
// returns false. It reads past memory without filling it. f must not use the space.
func (s *Space) Each(i int, f func(e *Entry) bool) { s.tables[i].each(f) }

func (t *Ordered) each(f func(e *Entry) bool) bool {
	going := true
	t.scanning++ // do not load
	defer func() { t.scanning-- }()
	t.Scan(nil, nil, func(k, v []byte) bool {
		going = f(&Entry{Key: k, Value: v})
		return going
	})
	return going
}

func (t *Hash) each(f func(e *Entry) bool) bool { return t.eachOf(&Entry{}, f) }

func (t *Hash) eachOf(e *Entry, f func(e *Entry) bool) bool {
	words := make([]int64, t.w+t.nrare)
	for s, fl := range t.flags {
		if fl&flagTomb != 0 {
			continue
		}
		s := int32(s)
		if t.intKey {
			e.Int = t.KeyInt(s)
		} else {
			e.Key = t.Key(s)
		}
		e.Words, e.Value = t.Words(s), t.Blob(s)
		if t.nrare > 0 {
			clear(words)
			copy(words, e.Words)
			copy(words[t.w:], t.rareOf(s))
			e.Words = words
		}
		if !f(e) {
			return false
		}
	}
	if t.disk.absent == 0 {
		return true
	}
	going := true
	var err error
	t.eachOnDisk(t.prefix, PrefixEnd(t.prefix), func(r *blockReader) bool {
		if t.intKey {
			e.Int = numbered(r.num)
			if t.lookupInt(e.Int, tagInt(e.Int)) >= 0 {
				return true
			}
		} else {
			e.Key = r.key
			if t.lookupBytes(r.key, uint32(HashBytes(r.key)>>32)) >= 0 {
				return true
			}
		}
		e.Words = words
		if e.Value, err = decodeWords(words[:t.w], words[t.w:], r.val); err != nil {
			return false
		}
		going = f(e)
		return going
	})
	fail(err)
	return going
}

func (w *Windows) each(f func(e *Entry) bool) bool {
	for _, end := range w.ends {
		x := w.open[end]
		if !x.h.eachOf(&Entry{WindowStart: x.start, WindowEnd: x.end}, f) {
			return false
		}
	}
	return true
}
