package custom

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// object is a value of the host with methods, made once.
type object struct {
	kind    string
	methods map[string]*starlark.Builtin
}

type method func(args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error)

func newObject(kind string, ms map[string]method) *object {
	o := &object{kind, make(map[string]*starlark.Builtin, len(ms))}
	for name, m := range ms {
		o.methods[name] = starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			return m(args, kw)
		})
	}
	return o
}

func (o *object) String() string        { return o.kind }
func (o *object) Type() string          { return o.kind }
func (o *object) Freeze()               {}
func (o *object) Truth() starlark.Bool  { return true }
func (o *object) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable type: %s", o.kind) }
func (o *object) AttrNames() []string   { return nil }

// Attr implements starlark.HasAttrs.
func (o *object) Attr(name string) (starlark.Value, error) {
	if b, ok := o.methods[name]; ok {
		return b, nil
	}
	return nil, nil
}

// noArgs is a method without parameters.
func noArgs(name string, f func() (starlark.Value, error)) method {
	return func(args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		if len(args)+len(kw) > 0 {
			return nil, fmt.Errorf("%s: got %d arguments, want none", name, len(args)+len(kw))
		}
		return f()
	}
}

// one is a method with one parameter.
func one(name, param string, f func(starlark.Value) (starlark.Value, error)) method {
	return func(args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		if len(args) == 1 && len(kw) == 0 {
			return f(args[0])
		}
		var v starlark.Value
		if err := starlark.UnpackArgs(name, args, kw, param, &v); err != nil {
			return nil, err
		}
		return f(v)
	}
}

func nothing(err error) (starlark.Value, error) {
	if err != nil {
		return nil, err
	}
	return starlark.None, nil
}

func boolean(b bool, err error) (starlark.Value, error) {
	if err != nil {
		return nil, err
	}
	return starlark.Bool(b), nil
}

// handleObject is the handle, with Spark's names.
func handleObject(h *Handle) *object {
	return newObject("handle", map[string]method{
		"getValueState": func(args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			var name, schema string
			var ttl starlark.Value
			if err := starlark.UnpackArgs("getValueState", args, kw, "stateName", &name, "schema", &schema, "ttlDurationMs?", &ttl); err != nil {
				return nil, err
			}
			ms, has, err := ttlOf(ttl)
			if err != nil {
				return nil, err
			}
			s, err := h.valueState(name, schema, ms, has)
			if err != nil {
				return nil, err
			}
			return valueObject(s), nil
		},
		"getListState": func(args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			var name, schema string
			var ttl starlark.Value
			if err := starlark.UnpackArgs("getListState", args, kw, "stateName", &name, "schema", &schema, "ttlDurationMs?", &ttl); err != nil {
				return nil, err
			}
			ms, has, err := ttlOf(ttl)
			if err != nil {
				return nil, err
			}
			s, err := h.listState(name, schema, ms, has)
			if err != nil {
				return nil, err
			}
			return listObject(s), nil
		},
		"getMapState": func(args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			var name, user, value string
			var ttl starlark.Value
			if err := starlark.UnpackArgs("getMapState", args, kw, "stateName", &name, "userKeySchema", &user, "valueSchema", &value, "ttlDurationMs?", &ttl); err != nil {
				return nil, err
			}
			ms, has, err := ttlOf(ttl)
			if err != nil {
				return nil, err
			}
			s, err := h.mapState(name, user, value, ms, has)
			if err != nil {
				return nil, err
			}
			return mapObject(s), nil
		},
		"deleteIfExists": one("deleteIfExists", "stateName", func(v starlark.Value) (starlark.Value, error) {
			name, ok := starlark.AsString(v)
			if !ok {
				return nil, fmt.Errorf("deleteIfExists: got %s, want string", v.Type())
			}
			return nothing(h.DeleteIfExists(name))
		}),
		"registerTimer": one("registerTimer", "expiryTimeStampMs", func(v starlark.Value) (starlark.Value, error) {
			ms, err := millisArg("registerTimer", v)
			if err != nil {
				return nil, err
			}
			return nothing(h.RegisterTimer(ms))
		}),
		"deleteTimer": one("deleteTimer", "expiryTimeStampMs", func(v starlark.Value) (starlark.Value, error) {
			ms, err := millisArg("deleteTimer", v)
			if err != nil {
				return nil, err
			}
			return nothing(h.DeleteTimer(ms))
		}),
		"listTimers": noArgs("listTimers", func() (starlark.Value, error) {
			ts, err := h.ListTimers()
			if err != nil {
				return nil, err
			}
			out := make([]starlark.Value, len(ts))
			for i, t := range ts {
				out[i] = starlark.MakeInt64(t)
			}
			return starlark.NewList(out), nil
		}),
	})
}

func millisArg(name string, v starlark.Value) (int64, error) {
	var ms int64
	if err := starlark.AsInt(v, &ms); err != nil {
		return 0, fmt.Errorf("%s: want a time in milliseconds: %v", name, err)
	}
	return ms, nil
}

// ttlOf reads the argument ttlDurationMs; None is no TTL.
func ttlOf(v starlark.Value) (ms int64, has bool, err error) {
	if v == nil || v == starlark.None {
		return 0, false, nil
	}
	ms, err = millisArg("ttlDurationMs", v)
	return ms, true, err
}

// fields reads a script's value as a row of the variable, valid during the call.
func (v *variable) fields(x starlark.Value, what string) ([]types.Datum, error) {
	return fieldsInto(v.h.acct, v.h.datums(len(v.val.Fields)), v.val, x, what)
}

func valueObject(s *ValueState) *object {
	what := "the value of " + s.v.name
	return newObject("ValueState", map[string]method{
		"exists": noArgs("exists", func() (starlark.Value, error) { return boolean(s.Exists()) }),
		"get": noArgs("get", func() (starlark.Value, error) {
			r, ok, err := s.Get()
			if err != nil || !ok {
				return nothing(err)
			}
			return rowOf(r), nil
		}),
		"update": one("update", "newValue", func(v starlark.Value) (starlark.Value, error) {
			ds, err := s.v.fields(v, what)
			if err != nil {
				return nil, err
			}
			return nothing(s.UpdateDatums(ds))
		}),
		"clear": noArgs("clear", func() (starlark.Value, error) { return nothing(s.Clear()) }),
	})
}

func listObject(s *ListState) *object {
	what := "an element of " + s.v.name
	elem := func(v starlark.Value) ([]types.Datum, error) { return s.v.fields(v, what) }
	elems := func(v starlark.Value) ([][]types.Datum, error) {
		it := starlark.Iterate(v)
		if it == nil {
			return nil, fmt.Errorf("got %s, want a list of tuples", v.Type())
		}
		defer it.Done()
		var out [][]types.Datum
		var x starlark.Value
		for it.Next(&x) {
			e, err := elem(x)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		return out, nil
	}
	return newObject("ListState", map[string]method{
		"exists": noArgs("exists", func() (starlark.Value, error) { return boolean(s.Exists()) }),
		"get": noArgs("get", func() (starlark.Value, error) {
			if err := s.v.check("get"); err != nil {
				return nil, err
			}
			return &paged{kind: "elements", open: func() pager {
				at, end := int64(-1), false
				return func() (out []starlark.Value) {
					if end {
						return nil
					}
					var rows []Row
					rows, at = s.page(at, pageSize)
					end = at < 0
					for _, r := range rows {
						out = append(out, rowOf(r))
					}
					return out
				}
			}}, nil
		}),
		"put": one("put", "newState", func(v starlark.Value) (starlark.Value, error) {
			es, err := elems(v)
			if err != nil {
				return nil, err
			}
			return nothing(s.Put(es))
		}),
		"appendValue": one("appendValue", "newState", func(v starlark.Value) (starlark.Value, error) {
			e, err := elem(v)
			if err != nil {
				return nil, err
			}
			return nothing(s.AppendDatums(e))
		}),
		"appendList": one("appendList", "newState", func(v starlark.Value) (starlark.Value, error) {
			es, err := elems(v)
			if err != nil {
				return nil, err
			}
			return nothing(s.AppendList(es))
		}),
		"clear": noArgs("clear", func() (starlark.Value, error) { return nothing(s.Clear()) }),
	})
}

func mapObject(s *MapState) *object {
	whatKey, whatValue := "a user key of "+s.v.name, "a value of "+s.v.name
	key := func(v starlark.Value) ([]types.Datum, error) {
		return fieldsInto(s.v.h.acct, s.v.h.datums(len(s.v.user.schema.Fields)), s.v.user.schema, v, whatKey)
	}
	walk := func(f func(Entry) starlark.Value) func() (starlark.Value, error) {
		return func() (starlark.Value, error) {
			if err := s.v.check("iterator"); err != nil {
				return nil, err
			}
			return &paged{kind: "entries", open: func() pager {
				var at []byte
				end := false
				return func() (out []starlark.Value) {
					if end {
						return nil
					}
					var es []Entry
					es, at = s.page(at, pageSize)
					end = at == nil
					for _, e := range es {
						out = append(out, f(e))
					}
					return out
				}
			}}, nil
		}
	}
	return newObject("MapState", map[string]method{
		"exists": noArgs("exists", func() (starlark.Value, error) { return boolean(s.Exists()) }),
		"getValue": one("getValue", "key", func(k starlark.Value) (starlark.Value, error) {
			ds, err := key(k)
			if err != nil {
				return nil, err
			}
			r, ok, err := s.GetValue(ds)
			if err != nil || !ok {
				return nothing(err)
			}
			return rowOf(r), nil
		}),
		"containsKey": one("containsKey", "key", func(k starlark.Value) (starlark.Value, error) {
			ds, err := key(k)
			if err != nil {
				return nil, err
			}
			return boolean(s.ContainsKey(ds))
		}),
		"updateValue": func(args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			var k, v starlark.Value
			if err := starlark.UnpackArgs("updateValue", args, kw, "key", &k, "value", &v); err != nil {
				return nil, err
			}
			ks, err := key(k)
			if err != nil {
				return nil, err
			}
			vs, err := s.v.fields(v, whatValue)
			if err != nil {
				return nil, err
			}
			return nothing(s.UpdateValue(ks, vs))
		},
		"removeKey": one("removeKey", "key", func(k starlark.Value) (starlark.Value, error) {
			ds, err := key(k)
			if err != nil {
				return nil, err
			}
			return nothing(s.RemoveKey(ds))
		}),
		"iterator": noArgs("iterator", walk(func(e Entry) starlark.Value { return starlark.Tuple{rowOf(e.Key), rowOf(e.Value)} })),
		"keys":     noArgs("keys", walk(func(e Entry) starlark.Value { return rowOf(e.Key) })),
		"values":   noArgs("values", walk(func(e Entry) starlark.Value { return rowOf(e.Value) })),
		"clear":    noArgs("clear", func() (starlark.Value, error) { return nothing(s.Clear()) }),
	})
}

// pageSize is how many elements are read at a time, so that a list or map may be larger than memory.
const pageSize = 256

// pager gives the next elements, none at the end.
type pager func() []starlark.Value

// paged is something to iterate over that is read as it is asked for.
type paged struct {
	kind string
	open func() pager
}

func (p *paged) String() string        { return p.kind }
func (p *paged) Type() string          { return p.kind }
func (p *paged) Freeze()               {}
func (p *paged) Truth() starlark.Bool  { return len(p.open()()) > 0 }
func (p *paged) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable type: %s", p.kind) }

// Iterate implements starlark.Iterable.
func (p *paged) Iterate() starlark.Iterator { return &pagedIter{next: p.open()} }

type pagedIter struct {
	next pager
	buf  []starlark.Value
	end  bool
}

// Next implements starlark.Iterator.
func (it *pagedIter) Next(v *starlark.Value) bool {
	if len(it.buf) == 0 {
		if it.end {
			return false
		}
		if it.buf = it.next(); len(it.buf) == 0 {
			it.end = true
			return false
		}
	}
	*v = it.buf[0]
	it.buf = it.buf[1:]
	return true
}

// Done implements starlark.Iterator.
func (it *pagedIter) Done() {}

// timerObject is timerValues.
func timerObject(t TimerValues) *object {
	return newObject("timerValues", map[string]method{
		"getCurrentProcessingTimeInMs": noArgs("getCurrentProcessingTimeInMs", func() (starlark.Value, error) { return starlark.MakeInt64(t.ProcessingTime), nil }),
		"getCurrentWatermarkInMs":      noArgs("getCurrentWatermarkInMs", func() (starlark.Value, error) { return starlark.MakeInt64(t.Watermark), nil }),
	})
}

// expiredObject is expiredTimerInfo of the timer at *ms.
func expiredObject(ms *int64) *object {
	return newObject("expiredTimerInfo", map[string]method{
		"getExpiryTimeInMs": noArgs("getExpiryTimeInMs", func() (starlark.Value, error) { return starlark.MakeInt64(*ms), nil }),
	})
}
