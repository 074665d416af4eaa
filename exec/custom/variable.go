package custom

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// variable is what value, list and map states have in common.
//
// State: an entry's value is what it carries of the key (and, of a map, of the user key), the expiry in ms (varint) if the variable has a
// TTL, the number of its schema (uvarint) and the row.
type variable struct {
	h       *Handle
	id      uint64
	name    string
	kind    Kind
	ttl     int64 // ms, 0: none
	user    keyCoder
	val     *Schema
	schemas []*converter // by number; the last is val's

	key, buf []byte // scratch
	ukey     []byte

	// Of a map that was cleared in the call that runs: what was written since. nil: not cleared.
	fresh map[string][]byte
	// Of a list: it was cleared in the call that runs.
	cleared bool
}

// at puts the variable's key for the current key into scratch.
func (v *variable) at() []byte {
	v.key = appendID(append(v.key[:0], v.h.gkey...), v.id)
	return v.key
}

// check refuses an operation outside a call.
func (v *variable) check(operation string) error {
	if v.h.calling() {
		return nil
	}
	return v.h.notNow(string(v.kind) + "." + operation)
}

// head skips what an entry carries of its keys.
func (v *variable) head(val []byte) []byte {
	val = v.h.keys.skip(val)
	if v.kind == MapKind {
		val = v.user.skip(val)
	}
	return val
}

// live says whether an entry has not expired.
func (v *variable) live(val []byte) bool {
	if v.ttl == 0 {
		return true
	}
	at, _ := rowenc.Varint(v.head(val))
	return v.h.now < at
}

// encode makes an entry's value in scratch. userVals are of a map.
func (v *variable) encode(user, vals []types.Datum, elem bool) []byte {
	v.buf = v.buf[:0]
	if !elem {
		v.buf = append(v.buf, v.h.key...)
	}
	if v.kind == MapKind {
		v.buf = v.user.appendExact(v.buf, user)
	}
	if v.ttl > 0 {
		v.buf = binary.AppendVarint(v.buf, v.h.now+v.ttl)
	}
	v.buf = appendID(v.buf, uint64(len(v.schemas)-1))
	v.buf = appendDatums(v.buf, v.val, vals)
	_ = v.h.acct.charge(int64(len(v.buf))) // a script ends at its next step
	return v.buf
}

// decode gives the row of an entry's value behind its keys, copied, under the schema of now. It is valid during the call.
func (v *variable) decode(val []byte) Row {
	if v.ttl > 0 {
		_, val = rowenc.Varint(val)
	}
	n, val := rowenc.Uvarint(val)
	if n >= uint64(len(v.schemas)) {
		corrupt()
	}
	c := v.schemas[n]
	vals := c.read(v.h.datums(len(c.from.Fields)), val)
	for i := range vals {
		if vals[i].B != nil {
			v.h.acct.read(&v.val.Fields[i], vals[i])
			vals[i] = vals[i].Clone()
		}
	}
	return Row{Schema: v.val, vals: vals}
}

// write puts an entry and keeps the TTL index.
func (v *variable) write(t *table.Ordered, key, val []byte, isNew bool) {
	st := v.h.st
	v.h.updated++
	var old []byte
	had := false
	if isNew {
		st.putNew(t, key, val)
	} else {
		old, had = st.put(t, key, val)
	}
	if v.ttl == 0 {
		return
	}
	if had {
		v.unindex(t, key, old)
	}
	st.put(st.ttl, ttlKey(nil, v.h.now+v.ttl, v.table(t), key), nil)
}

func (v *variable) table(t *table.Ordered) byte {
	if t == v.h.st.elems {
		return ttlElems
	}
	return ttlValues
}

// unindex takes an entry out of the TTL index.
func (v *variable) unindex(t *table.Ordered, key, val []byte) {
	head := val
	if t != v.h.st.elems {
		head = v.head(val)
	}
	at, _ := rowenc.Varint(head)
	v.h.st.delete(v.h.st.ttl, ttlKey(nil, at, v.table(t), key))
}

// erase removes an entry.
func (v *variable) erase(t *table.Ordered, key []byte) {
	old, had := v.h.st.delete(t, key)
	if !had {
		return
	}
	v.h.removed++
	if v.ttl > 0 {
		v.unindex(t, key, old)
	}
}

func (v *variable) fits(what string, s *Schema, vals []types.Datum) error {
	if vals == nil {
		return condition(condNull, "Illegal value provided to the State Store: null value provided for state %s %s.", v.name, what)
	}
	if len(vals) != len(s.Fields) {
		return condition("INVALID_ARGUMENT", "%s of state \"%s\" has %d fields instead of %d (%s).", what, v.name, len(vals), len(s.Fields), s)
	}
	return nil
}

// ValueState is one value for each key. Its methods work on the key of the call that runs, and are errors outside one.
type ValueState struct{ v *variable }

// Schema describes the value.
func (s *ValueState) Schema() *Schema { return s.v.val }

// Exists says whether the key has a value.
func (s *ValueState) Exists() (bool, error) {
	if err := s.v.check("exists"); err != nil {
		return false, err
	}
	val, ok := s.v.h.st.values.Get(s.v.at())
	return ok && s.v.live(val), nil
}

// Get gives the key's value; false if it has none. The row is valid during the call.
func (s *ValueState) Get() (Row, bool, error) {
	if err := s.v.check("get"); err != nil {
		return Row{}, false, err
	}
	val, ok := s.v.h.st.values.Get(s.v.at())
	if !ok || !s.v.live(val) {
		return Row{}, false, nil
	}
	return s.v.decode(s.v.head(val)), true, nil
}

// UpdateDatums sets the key's value.
func (s *ValueState) UpdateDatums(vals []types.Datum) error {
	v := s.v
	if err := v.check("update"); err != nil {
		return err
	}
	if err := v.fits("value", v.val, vals); err != nil {
		return err
	}
	v.write(v.h.st.values, v.at(), v.encode(nil, vals, false), false)
	return nil
}

// Update sets the key's value from Go values, one for each field: nil, bool, int, int64, float64, string, []byte, time.Time,
// time.Duration or types.Datum.
func (s *ValueState) Update(vals ...any) error {
	ds, err := fromGo(s.v.h.datums(len(vals)), s.v.val, vals)
	if err != nil {
		return err
	}
	return s.UpdateDatums(ds)
}

// Clear removes the key's value, if it has one.
func (s *ValueState) Clear() error {
	if err := s.v.check("clear"); err != nil {
		return err
	}
	s.v.erase(s.v.h.st.values, s.v.at())
	return nil
}

// MapState is a map for each key. Its methods work on the key of the call that runs.
type MapState struct{ v *variable }

// Schemas describe the user key and the value.
func (s *MapState) Schemas() (userKey, value *Schema) { return s.v.user.schema, s.v.val }

// entry puts the key of a map entry into scratch.
func (v *variable) entry(user []types.Datum) []byte {
	v.at()
	n := len(v.key)
	v.key = v.user.append(v.key, user)
	v.ukey = append(v.ukey[:0], v.key[n:]...)
	return v.key
}

// locate puts the key of an entry into scratch, without reading it.
func (s *MapState) locate(operation string, user []types.Datum) ([]byte, error) {
	if err := s.v.check(operation); err != nil {
		return nil, err
	}
	if err := s.v.fits("user key", s.v.user.schema, user); err != nil {
		return nil, err
	}
	return s.v.entry(user), nil
}

func (s *MapState) find(operation string, user []types.Datum) ([]byte, bool, error) {
	v := s.v
	key, err := s.locate(operation, user)
	if err != nil {
		return nil, false, err
	}
	if v.fresh != nil {
		val, ok := v.fresh[string(v.ukey)]
		return val, ok, nil
	}
	val, ok := v.h.st.values.Get(key)
	return val, ok && v.live(val), nil
}

// ContainsKey says whether the map has an entry.
func (s *MapState) ContainsKey(userKey []types.Datum) (bool, error) {
	_, ok, err := s.find("containsKey", userKey)
	return ok, err
}

// GetValue gives the value of an entry; false if there is none. The row is valid during the call.
func (s *MapState) GetValue(userKey []types.Datum) (Row, bool, error) {
	val, ok, err := s.find("getValue", userKey)
	if err != nil || !ok {
		return Row{}, false, err
	}
	return s.v.decode(s.v.head(val)), true, nil
}

// UpdateValue sets an entry.
func (s *MapState) UpdateValue(userKey, vals []types.Datum) error {
	v := s.v
	key, err := s.locate("updateValue", userKey)
	if err != nil {
		return err
	}
	if err := v.fits("value", v.val, vals); err != nil {
		return err
	}
	val := v.encode(userKey, vals, false)
	if v.fresh != nil {
		v.fresh[string(v.ukey)] = bytes.Clone(val)
		v.h.updated++
		return nil
	}
	v.write(v.h.st.values, key, val, false)
	return nil
}

// RemoveKey removes an entry, if it is there.
func (s *MapState) RemoveKey(userKey []types.Datum) error {
	v := s.v
	key, err := s.locate("removeKey", userKey)
	if err != nil {
		return err
	}
	if v.fresh != nil {
		delete(v.fresh, string(v.ukey))
		return nil
	}
	v.erase(v.h.st.values, key)
	return nil
}

// Exists says whether the map has any entry.
func (s *MapState) Exists() (bool, error) {
	if err := s.v.check("exists"); err != nil {
		return false, err
	}
	es, _ := s.page(nil, 1)
	return len(es) > 0, nil
}

// Entry is one entry of a map.
type Entry struct{ Key, Value Row }

// Page gives up to n entries in order of the user key behind a cursor, nil at first, and the cursor behind them, nil at the end. Entries that
// are written meanwhile are seen if they lie behind it.
func (s *MapState) Page(cursor []byte, n int) ([]Entry, []byte, error) {
	if err := s.v.check("iterator"); err != nil {
		return nil, nil, err
	}
	es, next := s.page(cursor, n)
	return es, next, nil
}

func (s *MapState) page(cursor []byte, n int) (out []Entry, next []byte) {
	v := s.v
	prefix := bytes.Clone(v.at())
	take := func(ukey, val []byte) bool {
		if !v.live(val) {
			return true
		}
		if len(out) == n {
			return false
		}
		head := v.h.keys.skip(val)
		vals, _, rest := v.user.cut(ukey, head)
		for i := range vals {
			vals[i] = vals[i].Clone()
		}
		out = append(out, Entry{Row{Schema: v.user.schema, vals: vals}, v.decode(rest)})
		next = append(next[:0], ukey...)
		return true
	}
	if v.fresh != nil {
		keys := make([]string, 0, len(v.fresh))
		for k := range v.fresh {
			if cursor == nil || k > string(cursor) {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			if !take([]byte(k), v.fresh[k]) {
				break
			}
		}
	} else {
		lo := prefix
		if cursor != nil {
			lo = append(append(bytes.Clone(prefix), cursor...), 0)
		}
		v.h.st.values.Scan(lo, rowenc.PrefixEnd(nil, prefix), func(k, val []byte) bool { return take(k[len(prefix):], val) })
	}
	if len(out) < n {
		return out, nil
	}
	return out, next
}

// Clear removes all entries.
func (s *MapState) Clear() error {
	v := s.v
	if err := v.check("clear"); err != nil {
		return err
	}
	if v.fresh == nil {
		// What was there goes when the call has succeeded: a failure must not have to bring it back.
		key := bytes.Clone(v.at())
		v.h.st.deferred = append(v.h.st.deferred, clearing{v.h.st.values, key, rowenc.PrefixEnd(nil, key), v})
	}
	v.fresh = map[string][]byte{}
	return nil
}

// settle writes what a call that succeeded put into maps that it had cleared.
func (v *variable) settle() {
	if v.cleared {
		v.cleared = false
		v.settleList()
	}
	if v.fresh == nil {
		return
	}
	keys := make([]string, 0, len(v.fresh))
	for k := range v.fresh {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	fresh := v.fresh
	v.fresh = nil
	prefix := bytes.Clone(v.at())
	for _, k := range keys {
		key := append(bytes.Clone(prefix), k...)
		v.h.updated--
		v.write(v.h.st.values, key, fresh[k], false)
	}
}

func readID(b []byte) (uint64, []byte) { return rowenc.Uvarint(b) }

func readMillis(b []byte) int64 { return rowenc.ReadTime(b) }

// expiry gives when an entry's value behind its keys expires, 0 for a variable without a TTL.
func (v *variable) expiry(val []byte) int64 {
	if v.ttl == 0 {
		return 0
	}
	at, _ := rowenc.Varint(val)
	return at
}

// readList reads the elements of the list whose bounds stand under a key.
func (o *Operator) readList(v *variable, key, bounds []byte, e *Found) {
	first, next := readBounds(bounds)
	key = bytes.Clone(key)
	lo, hi := rowenc.AppendTime(bytes.Clone(key), first), rowenc.AppendTime(bytes.Clone(key), next)
	o.st.elems.Scan(lo, hi, func(k, val []byte) bool {
		e.Numbers = append(e.Numbers, rowenc.ReadTime(k[len(k)-8:]))
		e.Elements = append(e.Elements, v.val.shown(v.decode(val).vals))
		e.Expiries = append(e.Expiries, v.expiry(val))
		return true
	})
}
