package custom

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// store is the state of one operator, with a journal of what the call that runs has changed.
type store struct {
	values, lists, elems, timers, keyTimers, ttl, emitted, schemas *table.Ordered

	undo     []undo
	arena    []byte
	deferred []clearing // ranges to empty when the call has succeeded
	meta     meta
	metaOld  meta
}

// The numbers of tables in the TTL index. State: on disk.
const (
	ttlValues byte = 1
	ttlElems  byte = 2
)

type undo struct {
	t        *table.Ordered
	key, old []byte
	had      bool
}

// clearing is a range of elements that a call has cleared.
type clearing struct {
	t      *table.Ordered
	lo, hi []byte
	v      *variable
}

// meta is what the operator must know of itself in the next epoch.
type meta struct {
	Initialised bool   // the initial state has been taken in
	Round       uint64 // of firing, so far
	// Of a round that was cut short by the bound on timers: its watermark (or timestamp), in ms, and the operator's output
	// watermark until it is done.
	Pending bool
	Until   int64
	Hold    int64
}

// metaKey stands before the names of variables, none of which is empty.
var metaKey = []byte{0}

func openStore(sp *table.Space, opID int, key *Schema, update bool) *store {
	var keys []table.Column
	for i, f := range key.Fields {
		keys = append(keys, table.Column{Name: "key" + itoa(i), Type: f.Type})
	}
	blob, i8, text := types.Of(types.Bytea), types.Of(types.Int8), types.Of(types.Text)
	col := func(name string, t types.Type) table.Column { return table.Column{Name: name, Type: t} }
	with := func(cols ...table.Column) []table.Column { return append(append([]table.Column{}, keys...), cols...) }
	val := []table.Column{col("value", blob)}
	s := &store{}
	open := func(t **table.Ordered, name string, key, value []table.Column) {
		*t = sp.Ordered(table.Decl{Operator: opID, Name: name, Key: key, Value: value})
	}
	open(&s.values, "values", with(col("variable", i8), col("user_key", blob)), val)
	open(&s.lists, "lists", with(col("variable", i8)), val)
	open(&s.elems, "listElements", with(col("variable", i8), col("number", i8)), val)
	open(&s.timers, "timers", append([]table.Column{col("expiry", i8)}, keys...), val)
	open(&s.keyTimers, "keyTimers", with(col("expiry", i8)), nil)
	open(&s.ttl, "ttl", []table.Column{col("expiry", i8), col("table", i8), col("key", blob)}, nil)
	if update {
		open(&s.emitted, "emitted", keys, val)
	}
	open(&s.schemas, "schemas", []table.Column{col("name", text)}, val)
	if v, ok := s.schemas.Get(metaKey); ok {
		if err := json.Unmarshal(v, &s.meta); err != nil {
			panic(&table.Failure{Err: err})
		}
	}
	s.metaOld = s.meta
	return s
}

func (s *store) tables() []*table.Ordered {
	ts := []*table.Ordered{s.values, s.lists, s.elems, s.timers, s.keyTimers, s.ttl, s.schemas}
	if s.emitted != nil {
		ts = append(ts, s.emitted)
	}
	return ts
}

// saveMeta keeps what has changed of the operator itself.
func (s *store) saveMeta() {
	if s.meta == s.metaOld {
		return
	}
	b, err := json.Marshal(s.meta)
	if err != nil {
		panic(&table.Failure{Err: err})
	}
	s.schemas.Put(metaKey, b)
	s.metaOld = s.meta
}

func (s *store) copy(b []byte) []byte {
	n := len(s.arena)
	s.arena = append(s.arena, b...)
	return s.arena[n : n+len(b) : n+len(b)]
}

// put sets a key; undone if the call fails. It gives the value before.
func (s *store) put(t *table.Ordered, key, val []byte) (old []byte, had bool) {
	old, had = t.Get(key)
	if !had {
		s.putNew(t, key, val)
		return nil, false
	}
	u := undo{t: t, key: s.copy(key), old: s.copy(old), had: true}
	s.undo = append(s.undo, u)
	t.Put(key, val)
	return u.old, true
}

// putNew sets a key that is known not to be there.
func (s *store) putNew(t *table.Ordered, key, val []byte) {
	s.undo = append(s.undo, undo{t: t, key: s.copy(key)})
	t.PutNew(key, val)
}

// delete removes a key; undone if the call fails. It gives the value before.
func (s *store) delete(t *table.Ordered, key []byte) (old []byte, had bool) {
	old, had = t.Get(key)
	if !had {
		return nil, false
	}
	u := undo{t: t, key: s.copy(key), old: s.copy(old), had: true}
	s.undo = append(s.undo, u)
	t.Delete(key)
	return u.old, true
}

// rollback takes back what the call changed.
func (s *store) rollback() {
	for i := len(s.undo) - 1; i >= 0; i-- {
		u := s.undo[i]
		if u.had {
			u.t.Put(u.key, u.old)
		} else {
			u.t.Delete(u.key)
		}
	}
	s.forget()
}

// forget makes what the call changed final.
func (s *store) forget() {
	s.undo = s.undo[:0]
	if cap(s.arena) > 1<<20 {
		s.arena = nil
	}
	s.arena, s.deferred = s.arena[:0], s.deferred[:0]
}

// clearDeferred empties the ranges that the call has cleared and gives the number of entries removed.
func (s *store) clearDeferred() (removed int64) {
	for _, c := range s.deferred {
		before := c.t.Len()
		if c.v.ttl > 0 {
			table := ttlValues
			if c.t == s.elems {
				table = ttlElems
			}
			var gone [][]byte
			c.t.Scan(c.lo, c.hi, func(k, v []byte) bool {
				if c.t != s.elems {
					v = c.v.head(v)
				}
				at, _ := rowenc.Varint(v)
				gone = append(gone, ttlKey(nil, at, table, k))
				return true
			})
			for _, k := range gone {
				s.ttl.Delete(k)
			}
		}
		c.t.DeleteRange(c.lo, c.hi)
		removed += before - c.t.Len()
	}
	return removed
}

func ttlKey(dst []byte, expiry int64, tab byte, key []byte) []byte {
	return append(append(rowenc.AppendTime(dst, expiry), tab), key...)
}

// variableSchemas is what is kept of a variable: State: JSON in the table schemas.
type variableSchemas struct {
	ID      uint64
	Kind    Kind
	TTL     int64    // ms, 0: none
	UserKey string   `json:",omitempty"` // of a map
	Schemas []string // of the value, oldest first
}

func (s *store) schemaOf(name string) (*variableSchemas, bool) {
	v, ok := s.schemas.Get([]byte(name))
	if !ok {
		return nil, false
	}
	var vs variableSchemas
	if err := json.Unmarshal(v, &vs); err != nil {
		panic(&table.Failure{Err: err})
	}
	return &vs, true
}

func (s *store) keepSchema(name string, vs *variableSchemas) {
	b, err := json.Marshal(vs)
	if err != nil {
		panic(&table.Failure{Err: err})
	}
	s.schemas.Put([]byte(name), b)
}

// eachSchema calls f for every variable that was ever declared, by name.
func (s *store) eachSchema(f func(name string, vs *variableSchemas)) {
	var names []string
	s.schemas.Scan(nil, nil, func(k, _ []byte) bool {
		if !bytes.Equal(k, metaKey) {
			names = append(names, string(k))
		}
		return true
	})
	for _, n := range names {
		vs, _ := s.schemaOf(n)
		f(n, vs)
	}
}

// nextID gives a number that no variable has had.
func (s *store) nextID() uint64 {
	id := uint64(1)
	s.eachSchema(func(_ string, vs *variableSchemas) { id = max(id, vs.ID+1) })
	return id
}

func appendID(dst []byte, id uint64) []byte { return binary.AppendUvarint(dst, id) }

const maxMillis = math.MaxInt64 / 1000
