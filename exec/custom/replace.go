package custom

import (
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// Check says whether a processor can be created: its body is read, and init runs once on empty state.
func Check(p *catalog.Processor) error {
	proc, err := open(p, resultOf(p))
	if err != nil {
		return err
	}
	keys := NewSchema(nil)
	st := openStore(table.NewTransient(), 0, keys, false)
	return initialise(proc, newHandle(st, TimeModeProcessingTime, newKeyCoder(keys), resultOf(p)))
}

func resultOf(p *catalog.Processor) *Schema {
	fs := make([]Field, len(p.Columns))
	for i, c := range p.Columns {
		fs[i] = Field{Name: c.Name, Type: c.Type}
	}
	return NewSchema(fs)
}

// Processor is the processor that runs.
func (o *Operator) Processor() *catalog.Processor { return o.n.Processor }

// CheckReplace says whether another version of the processor can go on with the operator's state (reference 7.8), naming the
// variable and field where it can't. It changes nothing.
func (o *Operator) CheckReplace(p *catalog.Processor) error {
	if !resultOf(p).equal(o.cols) {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot change the result of processor \"%s\" from (%s) to (%s): a view uses it", p.Name, o.cols, resultOf(p)).
			WithHint("Give the new version another name, or drop the view first.")
	}
	proc, err := open(p, o.cols)
	if err != nil {
		return err
	}
	// init runs over a copy of the schemas.
	st := openStore(table.NewTransient(), 0, o.h.keys.schema, false)
	o.st.schemas.Scan(nil, nil, func(k, v []byte) bool {
		st.schemas.Put(k, v)
		return true
	})
	return initialise(proc, newHandle(st, o.mode, o.h.keys, o.cols))
}

// Replace goes on with another version of the processor, which CheckReplace has accepted.
func (o *Operator) Replace(p *catalog.Processor) error {
	proc, err := open(p, o.cols)
	if err != nil {
		return err
	}
	if err := o.Close(); err != nil {
		return err
	}
	o.n.Processor = p
	return o.start(proc, o.h.keys)
}

// Variable describes a state variable to a user.
type Variable struct {
	Name       string
	Kind       Kind
	TTL        bool
	UserKey    *Schema // of a map
	Value      *Schema
	Declared   bool // the processor that runs declares it
	Evolutions int
}

// Variables lists the variables that have, or had, state, by name. It may be called from any goroutine.
func (o *Operator) Variables() []Variable { return *o.known.Load() }

func (o *Operator) variables() []Variable {
	var out []Variable
	o.st.eachSchema(func(name string, vs *variableSchemas) {
		v := Variable{Name: name, Kind: vs.Kind, TTL: vs.TTL > 0, Declared: o.h.byN[name] != nil, Evolutions: len(vs.Schemas) - 1}
		var err error
		if v.Value, err = ParseSchema(vs.Schemas[len(vs.Schemas)-1]); err != nil {
			return
		}
		if vs.Kind == MapKind {
			if v.UserKey, err = ParseSchema(vs.UserKey); err != nil {
				return
			}
		}
		out = append(out, v)
	})
	return out
}

// OutputMode gives "Append" or "Update".
func (o *Operator) OutputMode() string {
	if o.n.Mode == catalog.Update {
		return "Update"
	}
	return "Append"
}

// Mode gives the time mode and the key's schema.
func (o *Operator) Mode() (TimeMode, *Schema) { return o.mode, o.key }

// Found is one entry of a variable as a reader sees it. Its values are copies.
type Found struct {
	Key, UserKey, Value []types.Datum
	Expires             int64 // ms, of a variable with a TTL
	// Of a list: its elements, and what numbers them for as long as they live.
	Elements [][]types.Datum
	Expiries []int64
	Numbers  []int64
}

// Read calls f for every entry of a variable: one a key for values and lists, one a user key for maps. It must not run beside the operator.
func (o *Operator) Read(name string, f func(Found) bool) bool {
	v := o.h.byN[name]
	if v == nil {
		return false
	}
	t := o.st.values
	if v.kind == ListKind {
		t = o.st.lists
	}
	t.Scan(nil, nil, func(k, val []byte) bool {
		key, rest, val := o.h.keys.cut(k, val)
		id, rest := readID(rest)
		if id != v.id {
			return true
		}
		e := Found{Key: cloneAll(key)}
		switch v.kind {
		case ListKind:
			o.readList(v, k, val, &e)
		case MapKind:
			var user []types.Datum
			user, _, val = v.user.cut(rest, val)
			e.UserKey = cloneAll(user)
			fallthrough
		default:
			e.Expires = v.expiry(val)
			e.Value = v.val.shown(v.decode(val).vals)
		}
		return f(e)
	})
	return true
}

func cloneAll(ds []types.Datum) []types.Datum {
	out := make([]types.Datum, len(ds))
	for i, d := range ds {
		out[i] = d.Clone()
	}
	return out
}

// ReadTimers calls f for every timer, by expiry.
func (o *Operator) ReadTimers(f func(key []types.Datum, expiryMs int64) bool) {
	o.st.timers.Scan(nil, nil, func(k, v []byte) bool {
		_, rest := readID(v)
		vals, _, _ := o.h.keys.cut(k[8:], rest)
		return f(cloneAll(vals), readMillis(k))
	})
}
