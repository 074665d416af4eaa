package custom

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

func itoa(i int) string { return strconv.Itoa(i) }

// phase is what a processor is doing; it decides which operations are allowed (reference 7.2).
type phase uint8

const (
	phaseCreated phase = iota // Init runs
	phaseIdle                 // between calls
	phaseInitial
	phaseRows
	phaseTimers
	phaseClosed
)

// String gives Spark's name of a handle's state.
func (p phase) String() string {
	return [...]string{"CREATED", "INITIALIZED", "INITIALIZED", "DATA_PROCESSED", "TIMER_PROCESSED", "CLOSED"}[p]
}

// Kind is the kind of a state variable.
type Kind string

// The kinds. State: in the schemas on disk.
const (
	ValueKind Kind = "ValueState"
	ListKind  Kind = "ListState"
	MapKind   Kind = "MapState"
)

// Handle is what a processor has of its operator: it declares variables in Init and registers timers in the other calls. It is used from
// the goroutine of the processor's calls.
type Handle struct {
	st   *store
	mode TimeMode
	keys keyCoder
	res  *Schema // of the result

	phase phase
	vars  []*variable
	byN   map[string]*variable

	// Of the call that runs:
	now  int64    // the epoch's timestamp, ms
	gkey []byte   // the key, as in the tables
	key  []byte   // what entries carry of it
	last []byte   // scratch
	acct *account // of a script's call, nil for a processor in Go
	// mem is where the values of the call lie, taken how many there are.
	mem   []types.Datum
	taken int

	updated, removed int64
	counts           counts // of the epoch
}

// counts are what is counted of an epoch.
type counts struct{ registered, deleted, expired, outlived int64 }

func newHandle(st *store, mode TimeMode, keys keyCoder, result *Schema) *Handle {
	return &Handle{st: st, mode: mode, keys: keys, res: result, byN: map[string]*variable{}}
}

// Result describes the rows that the processor returns.
func (h *Handle) Result() *Schema { return h.res }

// Row makes a row of the result from Go values, one for each column (see DatumOf). It is the output of the call that runs, and
// valid until its end.
func (h *Handle) Row(vals ...any) ([]types.Datum, error) {
	return fromGo(h.datums(len(vals)), h.res, vals)
}

// datums gives memory for n values, during a call until its end.
func (h *Handle) datums(n int) []types.Datum {
	if !h.calling() {
		return make([]types.Datum, n)
	}
	if h.taken+n > len(h.mem) {
		h.mem, h.taken = make([]types.Datum, max(n, 128)), 0
	}
	out := h.mem[h.taken : h.taken+n : h.taken+n]
	h.taken += n
	return out
}

// TimeMode gives the time mode of the operator.
func (h *Handle) TimeMode() TimeMode { return h.mode }

func (h *Handle) notNow(operation string) error {
	return condition(condHandleState, "Failed to perform stateful processor operation=%s with invalid handle state=%s.", operation, h.phase)
}

// calling says whether a call for a key runs.
func (h *Handle) calling() bool { return h.phase >= phaseInitial && h.phase <= phaseTimers }

// inCall refuses what may be done for a key only.
func (h *Handle) inCall(operation string) error {
	if h.calling() {
		return nil
	}
	return h.notNow(operation)
}

// declare makes a variable in Init.
func (h *Handle) declare(operation, name string, kind Kind, userKey, value string, ttlMs int64, hasTTL bool) (*variable, error) {
	if h.phase != phaseCreated {
		return nil, h.notNow(operation)
	}
	if name == "" || strings.TrimSpace(name) != name || name == "default" {
		return nil, condition(condBadName, "Failed to perform column family operation=create with invalid name=%s. "+
			"Column family name cannot be empty or include leading/trailing spaces or use the reserved keyword=default.", name)
	}
	if strings.HasPrefix(name, "$") || strings.HasPrefix(name, "_") {
		return nil, condition(condReserved, "Failed to create column family with reserved characters: name=%s.", name)
	}
	if h.byN[name] != nil {
		return nil, condition(condDuplicate, "State variable with name %s has already been defined in the StatefulProcessor.", name)
	}
	if hasTTL && ttlMs <= 0 {
		return nil, condition(condTTLPositive, "TTL duration must be greater than zero for State store operation=%s on state=%s.", operation, name)
	}
	if hasTTL && h.mode != TimeModeProcessingTime {
		return nil, condition(condTTLMode, "Cannot use TTL for state=%s in timeMode=%s, use TimeMode.ProcessingTime() instead.", name, h.mode)
	}
	v := &variable{h: h, name: name, kind: kind, ttl: ttlMs}
	var err error
	if v.val, err = ParseSchema(value); err != nil {
		return nil, err
	}
	if kind == MapKind {
		s, err := ParseSchema(userKey)
		if err != nil {
			return nil, err
		}
		for _, f := range s.Fields {
			if f.Nest != nil {
				return nil, sqlerr.Unsupported("field \"%s\" of the user key of state variable \"%s\" has type %s, which is not supported", f.Name, name, f.typeText()).
					WithHint("A user key may have several fields.")
			}
		}
		v.user = newKeyCoder(s)
	}
	if err := v.register(); err != nil {
		return nil, err
	}
	h.vars = append(h.vars, v)
	h.byN[name] = v
	return v, nil
}

// ValueState declares a variable with one value for each key: a row of the schema, such as "n bigint". Only in Init.
func (h *Handle) ValueState(name, schema string) (*ValueState, error) {
	return h.valueState(name, schema, 0, false)
}

// ValueStateTTL is ValueState with values that expire ttlMs milliseconds of processing time after they were written.
func (h *Handle) ValueStateTTL(name, schema string, ttlMs int64) (*ValueState, error) {
	return h.valueState(name, schema, ttlMs, true)
}

func (h *Handle) valueState(name, schema string, ttl int64, has bool) (*ValueState, error) {
	v, err := h.declare("get_value_state", name, ValueKind, "", schema, ttl, has)
	return &ValueState{v}, err
}

// ListState declares a variable with a list of rows for each key. Only in Init.
func (h *Handle) ListState(name, schema string) (*ListState, error) {
	return h.listState(name, schema, 0, false)
}

// ListStateTTL is ListState with elements that expire.
func (h *Handle) ListStateTTL(name, schema string, ttlMs int64) (*ListState, error) {
	return h.listState(name, schema, ttlMs, true)
}

func (h *Handle) listState(name, schema string, ttl int64, has bool) (*ListState, error) {
	v, err := h.declare("get_list_state", name, ListKind, "", schema, ttl, has)
	return &ListState{v}, err
}

// MapState declares a variable with a map from rows of one schema to rows of another for each key. Only in Init.
func (h *Handle) MapState(name, userKeySchema, valueSchema string) (*MapState, error) {
	return h.mapState(name, userKeySchema, valueSchema, 0, false)
}

// MapStateTTL is MapState with entries that expire.
func (h *Handle) MapStateTTL(name, userKeySchema, valueSchema string, ttlMs int64) (*MapState, error) {
	return h.mapState(name, userKeySchema, valueSchema, ttlMs, true)
}

func (h *Handle) mapState(name, userKey, value string, ttl int64, has bool) (*MapState, error) {
	v, err := h.declare("get_map_state", name, MapKind, userKey, value, ttl, has)
	return &MapState{v}, err
}

// DeleteIfExists drops the state of a variable that an earlier version of the processor had, for all keys. Only in Init.
func (h *Handle) DeleteIfExists(name string) error {
	if h.phase != phaseCreated {
		return h.notNow("delete_if_exists")
	}
	if h.byN[name] != nil {
		return condition(condDuplicate, "State variable with name %s has already been defined in the StatefulProcessor.", name)
	}
	vs, ok := h.st.schemaOf(name)
	if !ok {
		return nil
	}
	h.st.dropVariable(h.keys, vs)
	h.st.schemas.Delete([]byte(name))
	return nil
}

// dropVariable removes a variable's entries of all keys. Its number may be given to another one.
func (s *store) dropVariable(keys keyCoder, vs *variableSchemas) {
	for _, t := range []*table.Ordered{s.values, s.lists, s.elems} {
		var gone [][]byte
		t.Scan(nil, nil, func(k, v []byte) bool {
			if t == s.elems && keys.exact {
				return true // they go with their lists
			}
			_, rest, _ := keys.cut(k, v)
			if got, _ := rowenc.Uvarint(rest); got == vs.ID {
				gone = append(gone, bytes.Clone(k))
			}
			return true
		})
		for _, k := range gone {
			if t == s.lists && keys.exact {
				s.elems.DeleteRange(k, rowenc.PrefixEnd(nil, k))
			}
			t.Delete(k)
		}
	}
	if vs.TTL > 0 {
		s.dropExpiries()
	}
}

// dropExpiries takes out of the TTL index what belongs to entries that are gone.
func (s *store) dropExpiries() {
	var gone [][]byte
	s.ttl.Scan(nil, nil, func(k, _ []byte) bool {
		t := s.values
		if k[rowenc.TimeLen] == ttlElems {
			t = s.elems
		}
		if _, ok := t.Get(k[rowenc.TimeLen+1:]); !ok {
			gone = append(gone, bytes.Clone(k))
		}
		return true
	})
	for _, k := range gone {
		s.ttl.Delete(k)
	}
}

// RegisterTimer registers a timer of the key for a time in milliseconds since 1970 UTC. One that is there already stays.
func (h *Handle) RegisterTimer(expiryMs int64) error {
	if err := h.timersAllowed("register_timer"); err != nil {
		return err
	}
	h.counts.registered++
	h.last = append(rowenc.AppendTime(h.last[:0], expiryMs), h.gkey...)
	if _, ok := h.st.timers.Get(h.last); ok {
		return nil
	}
	val := append(appendID(nil, h.st.meta.Round), h.key...)
	h.st.putNew(h.st.timers, h.last, val)
	h.st.putNew(h.st.keyTimers, h.keyTimer(expiryMs), nil)
	return nil
}

func (h *Handle) keyTimer(expiryMs int64) []byte {
	h.last = rowenc.AppendTime(append(h.last[:0], h.gkey...), expiryMs)
	return h.last
}

// DeleteTimer deletes a timer of the key, if it is there. A timer that has expired already fires all the same.
func (h *Handle) DeleteTimer(expiryMs int64) error {
	if err := h.timersAllowed("delete_timer"); err != nil {
		return err
	}
	h.deleteTimer(expiryMs)
	return nil
}

func (h *Handle) deleteTimer(expiryMs int64) {
	h.counts.deleted++
	h.last = append(rowenc.AppendTime(h.last[:0], expiryMs), h.gkey...)
	h.st.delete(h.st.timers, h.last)
	h.st.delete(h.st.keyTimers, h.keyTimer(expiryMs))
}

// ListTimers gives the key's timers, ascending, in milliseconds.
func (h *Handle) ListTimers() ([]int64, error) {
	if err := h.timersAllowed("list_timers"); err != nil {
		return nil, err
	}
	var out []int64
	h.st.keyTimers.Scan(h.gkey, rowenc.PrefixEnd(nil, h.gkey), func(k, _ []byte) bool {
		out = append(out, rowenc.ReadTime(k[len(h.gkey):]))
		return true
	})
	return out, nil
}

func (h *Handle) timersAllowed(operation string) error {
	if h.mode == TimeModeNone {
		return condition(condTimeMode, "Failed to perform stateful processor operation=%s with invalid timeMode=%s", operation, h.mode)
	}
	return h.inCall(operation)
}
