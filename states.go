package tidemark

import (
	"reflect"
	"time"

	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// State variables whose values are Go values. Exported fields of a struct are columns, named in snake case (LastSeen: last_seen) unless a tag says
// otherwise: `tidemark:"name"`, `tidemark:"name,numeric(10,2)"`, `tidemark:"-"`. A type that is no struct is one column, "value". See custom.Codec for the types;
// structs, slices and maps may lie in one another. SQL reads the columns with statestore, and a new version of the program may add fields, leave some out
// and widen their types.
//
// Like all of a processor they are used from the goroutine of its calls. Their methods work on the key of the call that runs and are errors outside one.

// StateOption sets something of a state variable.
type StateOption func(*stateOptions)

type stateOptions struct{ ttlMs int64 }

// TTL lets values expire so long after they were written, in processing time. It is rounded down to milliseconds.
func TTL(d time.Duration) StateOption {
	return func(o *stateOptions) { o.ttlMs = d.Milliseconds() }
}

func optionsOf(opts []StateOption) stateOptions {
	var o stateOptions
	for _, f := range opts {
		f(&o)
	}
	return o
}

// ValueState is one value of type T for each key.
type ValueState[T any] struct {
	s *custom.ValueState
	c *custom.Codec
}

// NewValueState declares a variable with one value for each key, in Init only. Errors: 42804 for a type that SQL cannot hold, and those of the
// declaration, such as a change of the schema that is not allowed.
func NewValueState[T any](h *Handle, name string, opts ...StateOption) (*ValueState[T], error) {
	c, err := custom.NewCodec(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	o := optionsOf(opts)
	var s *custom.ValueState
	if len(opts) > 0 {
		s, err = h.ValueStateTTL(name, c.Schema.String(), o.ttlMs)
	} else {
		s, err = h.ValueState(name, c.Schema.String())
	}
	return &ValueState[T]{s, c}, err
}

// Exists says whether the key has a value.
func (s *ValueState[T]) Exists() (bool, error) { return s.s.Exists() }

// Get gives the key's value; false if it has none.
func (s *ValueState[T]) Get() (v T, ok bool, err error) {
	r, ok, err := s.s.Get()
	if ok {
		s.c.Get(r, reflect.ValueOf(&v).Elem())
	}
	return v, ok, err
}

// Update sets the key's value.
func (s *ValueState[T]) Update(v T) error {
	row, err := s.c.Put(reflect.ValueOf(&v).Elem())
	if err != nil {
		return err
	}
	return s.s.UpdateDatums(row)
}

// Clear removes the key's value, if it has one.
func (s *ValueState[T]) Clear() error { return s.s.Clear() }

// ListState is a list of values of type T for each key.
type ListState[T any] struct {
	s *custom.ListState
	c *custom.Codec
}

// NewListState declares a variable with a list for each key, in Init only. Errors are those of NewValueState.
func NewListState[T any](h *Handle, name string, opts ...StateOption) (*ListState[T], error) {
	c, err := custom.NewCodec(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	o := optionsOf(opts)
	var s *custom.ListState
	if len(opts) > 0 {
		s, err = h.ListStateTTL(name, c.Schema.String(), o.ttlMs)
	} else {
		s, err = h.ListState(name, c.Schema.String())
	}
	return &ListState[T]{s, c}, err
}

// Exists says whether the list has an element.
func (s *ListState[T]) Exists() (bool, error) { return s.s.Exists() }

// Each calls f for every element in order, until it gives an error. The list may be larger than memory.
func (s *ListState[T]) Each(f func(T) error) error {
	return s.s.Each(func(r Row) error {
		var v T
		s.c.Get(r, reflect.ValueOf(&v).Elem())
		return f(v)
	})
}

// Get gives all elements in order.
func (s *ListState[T]) Get() (out []T, err error) {
	err = s.Each(func(v T) error {
		out = append(out, v)
		return nil
	})
	return out, err
}

func (s *ListState[T]) rows(vs []T) ([][]types.Datum, error) {
	out := make([][]types.Datum, len(vs))
	for i := range vs {
		var err error
		if out[i], err = s.c.Put(reflect.ValueOf(&vs[i]).Elem()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Append appends elements, without reading the list. None is an error, as in Spark.
func (s *ListState[T]) Append(vs ...T) error {
	rows, err := s.rows(vs)
	if err != nil {
		return err
	}
	return s.s.AppendList(rows)
}

// Put replaces the list. An empty one is an error, as in Spark: use Clear.
func (s *ListState[T]) Put(vs []T) error {
	rows, err := s.rows(vs)
	if err != nil {
		return err
	}
	return s.s.Put(rows)
}

// Clear removes all elements.
func (s *ListState[T]) Clear() error { return s.s.Clear() }

// MapState is a map from keys of type K to values of type V for each key of the stream.
type MapState[K, V any] struct {
	s *custom.MapState
	k *custom.Codec
	v *custom.Codec
}

// NewMapState declares a variable with a map for each key, in Init only. Fields of K hold no structs, maps or slices of those. Errors are those of NewValueState.
func NewMapState[K, V any](h *Handle, name string, opts ...StateOption) (*MapState[K, V], error) {
	k, err := custom.NewCodec(reflect.TypeFor[K]())
	if err != nil {
		return nil, err
	}
	v, err := custom.NewCodec(reflect.TypeFor[V]())
	if err != nil {
		return nil, err
	}
	o := optionsOf(opts)
	var s *custom.MapState
	if len(opts) > 0 {
		s, err = h.MapStateTTL(name, k.Schema.String(), v.Schema.String(), o.ttlMs)
	} else {
		s, err = h.MapState(name, k.Schema.String(), v.Schema.String())
	}
	return &MapState[K, V]{s, k, v}, err
}

// Exists says whether the map has an entry.
func (s *MapState[K, V]) Exists() (bool, error) { return s.s.Exists() }

// Contains says whether the map has an entry of that key.
func (s *MapState[K, V]) Contains(key K) (bool, error) {
	k, err := s.k.Put(reflect.ValueOf(&key).Elem())
	if err != nil {
		return false, err
	}
	return s.s.ContainsKey(k)
}

// Get gives the value of an entry; false if there is none.
func (s *MapState[K, V]) Get(key K) (v V, ok bool, err error) {
	k, err := s.k.Put(reflect.ValueOf(&key).Elem())
	if err != nil {
		return v, false, err
	}
	r, ok, err := s.s.GetValue(k)
	if ok {
		s.v.Get(r, reflect.ValueOf(&v).Elem())
	}
	return v, ok, err
}

// Update sets an entry.
func (s *MapState[K, V]) Update(key K, v V) error {
	k, err := s.k.Put(reflect.ValueOf(&key).Elem())
	if err != nil {
		return err
	}
	row, err := s.v.Put(reflect.ValueOf(&v).Elem())
	if err != nil {
		return err
	}
	return s.s.UpdateValue(k, row)
}

// Remove removes an entry, if it is there.
func (s *MapState[K, V]) Remove(key K) error {
	k, err := s.k.Put(reflect.ValueOf(&key).Elem())
	if err != nil {
		return err
	}
	return s.s.RemoveKey(k)
}

// Each calls f for every entry in order of the keys, until it gives an error. The map may be larger than memory.
func (s *MapState[K, V]) Each(f func(K, V) error) error {
	return s.s.Each(func(kr, vr Row) error {
		var k K
		var v V
		s.k.Get(kr, reflect.ValueOf(&k).Elem())
		s.v.Get(vr, reflect.ValueOf(&v).Elem())
		return f(k, v)
	})
}

// Clear removes all entries.
func (s *MapState[K, V]) Clear() error { return s.s.Clear() }
