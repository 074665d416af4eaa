package engine

import (
	"reflect"
	"sort"
	"sync"

	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Processors are processors in Go that a program which embeds the engine offers to SQL by name. They are not in the catalog: a program
// that opens the database offers those that its views use before it is opened: a view whose processor is not there is stopped. It may be used from any goroutine.
type Processors struct {
	mu     sync.Mutex
	byName map[string]*catalog.Processor
}

// Register offers a processor whose result has the given columns; make is called for each operator, and each of its slots, that runs one.
// Registering a name again is an error (42710), and so is a make that gives one object twice: it is called twice to see that (22023).
func (r *Processors) Register(name string, result []catalog.Column, make func() custom.StatefulProcessor) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName[name] != nil {
		return duplicateProcessor(name)
	}
	if name == "" || len(result) == 0 {
		return sqlerr.New(sqlerr.InvalidParameterValue, "a processor needs a name and result columns")
	}
	if r.byName == nil {
		r.byName = map[string]*catalog.Processor{}
	}
	maker := distinct(name, make)
	for range 2 {
		if _, err := maker(); err != nil {
			return err
		}
	}
	r.byName[name] = &catalog.Processor{Name: name, Columns: result, Language: "go", Native: maker}
	return nil
}

// distinct makes processors, and refuses one that make has given before: two slots would write into its fields, from two goroutines.
func distinct(name string, make func() custom.StatefulProcessor) custom.Maker {
	var mu sync.Mutex
	var last custom.StatefulProcessor
	return func() (custom.StatefulProcessor, error) {
		p := make()
		mu.Lock()
		defer mu.Unlock()
		v := reflect.ValueOf(p)
		switch {
		case !v.IsValid():
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "the function that makes processor \"%s\" gave nil", name)
		case v.Kind() != reflect.Pointer || v.Type().Elem().Size() == 0: // values are copies, and what has no fields holds nothing
			return p, nil
		case p == last:
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "the function that makes processor \"%s\" gave the same object again", name).
				WithHint("It must make a new one with each call: each slot of each view has one.")
		}
		last = p
		return p, nil
	}
}

// find looks a processor up, nil if there is none.
func (r *Processors) find(name string) *catalog.Processor {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byName[name]
}

// natives lists the processors in Go by name.
func (e *Engine) natives() []*catalog.Processor {
	r := e.opts.Processors
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*catalog.Processor
	for _, p := range r.byName {
		out = append(out, p)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
