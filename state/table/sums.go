package table

import (
	"bytes"
)

// Summary adds up entries of an Ordered, from left to right, for Sums. What it
// adds up to must not depend on how entries are grouped into nodes. The bytes
// that it is given are valid during the call.
type Summary interface {
	// Reset forgets everything.
	Reset()
	// Entry adds an entry at the right.
	Entry(key, val []byte)
	// Node adds at the right all entries that a sum stands for.
	Node(sum []byte)
	// Append appends the sum of what was added since Reset to dst.
	Append(dst []byte) []byte
	// Rows gives the number of rows that a sum stands for, EntryRows that of an entry: what Select counts.
	Rows(sum []byte) int64
	EntryRows(val []byte) int64
}

// Sums keeps sums of ranges of an Ordered's entries in a second one, so that the
// sum of any range, and the row at any position, are found in logarithmic
// time, and kept up in logarithmic time for a changed entry.
//
// Entries are divided into scopes by prefixes of their keys, none of which
// begins another. In a scope, nodes form a skip list: the hash of a key decides
// its level, one key in 16 being of a level above that of the others. A node of
// level l begins at a key of that level or a higher one, and stands for all
// entries before the next such key; the first of each level begins at the
// scope's start. So the shape depends on the keys that are there, not on how
// they came. A scope with no key above level 0 has no nodes. Keys of nodes are
// the scope, the level in one byte, and what follows the scope in the key.
type Sums struct {
	rows, nodes *Ordered
	s           Summary
	sum         []byte
}

const (
	levelBits = 4 // of the hash, a level
	maxLevel  = 12
)

// NewSums makes the sums of rows in nodes, a table that nothing else writes. s is used by it only, apart from reading what Range added up.
func NewSums(rows, nodes *Ordered, s Summary) *Sums { return &Sums{rows: rows, nodes: nodes, s: s} }

// Len and MemBytes are those of the table of nodes.
func (s *Sums) Len() int64 { return s.nodes.Len() }

// MemBytes gives the memory that the nodes occupy, about.
func (s *Sums) MemBytes() int64 { return s.nodes.MemBytes() }

// Drop removes the nodes of all scopes that begin with prefix.
func (s *Sums) Drop(prefix []byte) { s.DropRange(prefix, PrefixEnd(prefix)) }

// DropRange removes the nodes of the scopes in [lo, hi), neither of which is within a scope.
func (s *Sums) DropRange(lo, hi []byte) { s.nodes.DeleteRange(lo, hi) }

func levelOf(key []byte) (l int) {
	for h := HashBytes(key); h&(1<<levelBits-1) == 0 && l < maxLevel; h >>= levelBits {
		l++
	}
	return l
}

// nodeKey is the key of a node of level l that begins at key, which has the scope.
func nodeKey(scope []byte, l int, key []byte) []byte {
	k := make([]byte, 0, len(key)+2)
	return append(append(append(k, scope...), byte(l)), key[len(scope):]...)
}

// startOf gives the key at which a node begins.
func startOf(scope, node []byte) []byte {
	k := make([]byte, 0, len(node)+1)
	return append(append(k, scope...), node[len(scope)+1:]...)
}

// levelEnd bounds the keys of a level's nodes.
func levelEnd(scope []byte, l int) []byte {
	return append(append(make([]byte, 0, len(scope)+1), scope...), byte(l)+1)
}

// Top gives the number of levels of nodes that a scope has: 0 for one of a few entries.
func (s *Sums) Top(scope []byte) (top int) {
	s.nodes.ScanDesc(scope, PrefixEnd(scope), func(k, _ []byte) bool {
		top = int(k[len(scope)])
		return false
	})
	return top
}

// Range adds up the entries of a scope in [lo, hi) in the Summary; nil for no bound.
func (s *Sums) Range(scope, lo, hi []byte) {
	s.s.Reset()
	if !bytes.HasPrefix(hi, scope) {
		if hi != nil && bytes.Compare(hi, scope) < 0 {
			return
		}
		hi = nil // beyond the scope
	}
	if !bytes.HasPrefix(lo, scope) {
		if lo != nil && bytes.Compare(lo, scope) > 0 {
			return
		}
		lo = nil
	}
	top := s.Top(scope)
	if lo == nil {
		s.descend(scope, top, scope, hi)
		return
	}
	pos := bytes.Clone(lo)
	for l := 0; l < top; l++ {
		next, done := s.climb(scope, l, pos, hi)
		if done {
			return
		}
		pos = next
	}
	s.descend(scope, top, pos, hi)
}

// climb adds what lies on a level from pos, where a node of it begins, up to where one of the next level does; it says that it is
// done if there is none before hi.
func (s *Sums) climb(scope []byte, l int, pos, hi []byte) (next []byte, done bool) {
	if l == 0 {
		end := hi
		if end == nil {
			end = PrefixEnd(scope)
		}
		s.rows.Scan(pos, end, func(k, v []byte) bool {
			if levelOf(k) > 0 {
				next = bytes.Clone(k)
				return false
			}
			s.s.Entry(k, v)
			return true
		})
		return next, next == nil
	}
	w := walker{s: s, scope: scope, l: l, until: l + 1}
	w.walk(pos, hi)
	switch {
	case w.next != nil:
		return w.next, false
	case w.have && hi == nil:
		s.s.Node(w.sum)
	case w.have:
		s.descend(scope, l-1, startOf(scope, w.node), hi)
	}
	return nil, true
}

// walker adds the nodes of a level that end at or before a bound, and stops where a node of level until begins, if that is not 0.
type walker struct {
	s         *Sums
	scope     []byte
	l, until  int
	node, sum []byte // the node at hand, of which the end is not known yet
	have      bool
	next      []byte // where it stopped
}

func (w *walker) walk(pos, hi []byte) {
	end := levelEnd(w.scope, w.l)
	if hi != nil {
		end = append(nodeKey(w.scope, w.l, hi), 0)
	}
	w.s.nodes.Scan(nodeKey(w.scope, w.l, pos), end, func(k, v []byte) bool {
		if w.have {
			w.s.s.Node(w.sum)
		}
		if w.until > 0 {
			if start := startOf(w.scope, k); levelOf(start) >= w.until {
				w.next, w.have = start, false
				return false
			}
		}
		w.node, w.sum, w.have = append(w.node[:0], k...), append(w.sum[:0], v...), true
		return true
	})
}

// descend adds the entries from pos, where a node of level l begins, to hi.
func (s *Sums) descend(scope []byte, l int, pos, hi []byte) {
	for ; l > 0; l-- {
		w := walker{s: s, scope: scope, l: l}
		w.walk(pos, hi)
		if hi == nil {
			if w.have {
				s.s.Node(w.sum)
			}
			return
		}
		if w.have {
			pos = startOf(scope, w.node)
		}
	}
	if hi == nil {
		hi = PrefixEnd(scope)
	}
	s.rows.Scan(pos, hi, func(k, v []byte) bool {
		s.s.Entry(k, v)
		return true
	})
}

// Select gives the entry of a scope that has row n, counted from 0, and the number of rows before the entry; false if there are not so many.
// The slices are the caller's.
func (s *Sums) Select(scope []byte, n int64) (key, val []byte, before int64, ok bool) {
	pos := bytes.Clone(scope)
	for l := s.Top(scope); l > 0; l-- {
		s.nodes.Scan(nodeKey(scope, l, pos), levelEnd(scope, l), func(k, v []byte) bool {
			if r := s.s.Rows(v); before+r <= n {
				before += r
				return true
			}
			pos, ok = startOf(scope, k), true
			return false
		})
		if !ok {
			return nil, nil, before, false
		}
		ok = false
	}
	s.rows.Scan(pos, PrefixEnd(scope), func(k, v []byte) bool {
		if r := s.s.EntryRows(v); before+r <= n {
			before += r
			return true
		}
		key, val, ok = bytes.Clone(k), bytes.Clone(v), true
		return false
	})
	return key, val, before, ok
}

// Update brings the sums of a scope up to date after entries under keys, ascending, were put or deleted.
func (s *Sums) Update(scope []byte, keys [][]byte) {
	was := s.Top(scope)
	top := was
	var tall []tallKey // those of a level above 0
	for _, k := range keys {
		if l := levelOf(k); l > 0 {
			_, there := s.rows.Get(k)
			tall = append(tall, tallKey{k, l, there})
			if there {
				top = max(top, l)
			}
		}
	}
	changed := keys
	for l := 1; l <= top; l++ {
		for _, t := range tall {
			if t.level < l {
				continue
			}
			k := nodeKey(scope, l, t.key)
			if !t.there {
				s.nodes.Delete(k)
			} else if _, ok := s.nodes.Get(k); !ok {
				s.nodes.Put(k, nil)
			}
		}
		if l > was {
			s.nodes.Put(nodeKey(scope, l, scope), nil)
			changed = append([][]byte{scope}, changed...)
		}
		changed = s.renew(scope, l, changed)
	}
	for ; top > 0 && s.onlyHead(scope, top); top-- {
		s.nodes.Delete(nodeKey(scope, top, scope))
	}
}

type tallKey struct {
	key   []byte
	level int
	there bool
}

// renew computes the nodes of a level that hold one of the keys, or end at one, and gives the keys at which they begin.
func (s *Sums) renew(scope []byte, l int, keys [][]byte) (starts [][]byte) {
	end := levelEnd(scope, l)
	var last, next []byte // the node at hand and the one after it; next nil: none
	one := func(k []byte, through bool) {
		hi := nodeKey(scope, l, k)
		if last != nil && (next == nil || bytes.Compare(hi, next) < 0 || !through && bytes.Equal(hi, next)) {
			return
		}
		if through {
			hi = append(hi, 0)
		}
		var node []byte
		s.nodes.ScanDesc(nodeKey(scope, l, scope), hi, func(k, _ []byte) bool {
			node = bytes.Clone(k)
			return false
		})
		if node == nil {
			return // nothing is before the scope's start
		}
		next = nil
		s.nodes.Scan(append(bytes.Clone(node), 0), end, func(k, _ []byte) bool {
			next = bytes.Clone(k)
			return false
		})
		last = node
		starts = append(starts, startOf(scope, node))
		s.compute(scope, l, node, next)
	}
	for _, k := range keys {
		if len(k) > len(scope) && levelOf(k) >= l {
			one(k, false) // a node may have come or gone at it
		}
		one(k, true)
	}
	return starts
}

// compute adds up what is beneath a node.
func (s *Sums) compute(scope []byte, l int, node, next []byte) {
	s.s.Reset()
	from := startOf(scope, node)
	var to []byte
	if next != nil {
		to = startOf(scope, next)
	}
	if l > 1 {
		end := levelEnd(scope, l-1)
		if to != nil {
			end = nodeKey(scope, l-1, to)
		}
		s.nodes.Scan(nodeKey(scope, l-1, from), end, func(_, v []byte) bool {
			s.s.Node(v)
			return true
		})
	} else {
		if to == nil {
			to = PrefixEnd(scope)
		}
		s.rows.Scan(from, to, func(k, v []byte) bool {
			s.s.Entry(k, v)
			return true
		})
	}
	s.sum = s.s.Append(s.sum[:0])
	s.nodes.Put(node, s.sum)
}

// onlyHead says whether a level has no node but the first.
func (s *Sums) onlyHead(scope []byte, l int) bool {
	n := 0
	s.nodes.Scan(nodeKey(scope, l, scope), levelEnd(scope, l), func(_, _ []byte) bool {
		n++
		return n < 2
	})
	return n < 2
}
