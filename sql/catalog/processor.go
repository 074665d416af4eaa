package catalog

import "sort"

// Processor is user code for transform_with_state. It is immutable once it is in a Catalog.
type Processor struct {
	OID       OID
	Schema    string
	Name      string
	Columns   []Column // of its result
	Language  string   // "starlark", or "go" for one that an embedding program registered
	Body      string
	MaxSteps  int64 // of one call
	MaxMemory int64 // that one call may allocate, in bytes
	// Native is what the program registered, of language "go"; for the operator alone.
	Native any `json:"-"`
}

// Processor finds a processor in a schema, nil if there is none.
func (c *Catalog) Processor(schema, name string) *Processor {
	for _, p := range c.processors {
		if p.Schema == schema && p.Name == name {
			return p
		}
	}
	return nil
}

// FindProcessor resolves a possibly qualified name along searchPath, nil if there is none.
func (c *Catalog) FindProcessor(schema, name string, searchPath []string) *Processor {
	if schema != "" {
		return c.Processor(schema, name)
	}
	for _, s := range searchPath {
		if p := c.Processor(s, name); p != nil {
			return p
		}
	}
	return nil
}

// ProcessorByOID finds a processor, nil if there is none.
func (c *Catalog) ProcessorByOID(oid OID) *Processor { return c.processors[oid] }

// Processors lists all processors by OID.
func (c *Catalog) Processors() []*Processor {
	out := make([]*Processor, 0, len(c.processors))
	for _, p := range c.processors {
		out = append(out, p)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].OID < out[j].OID })
	return out
}

// WithProcessor gives a catalog that also has p (replacing one of the same OID). OID 0 takes the next free one.
func (c *Catalog) WithProcessor(p *Processor) *Catalog {
	n := c.clone()
	if p.OID == 0 {
		p.OID = n.NextOID
	}
	if p.OID >= n.NextOID {
		n.NextOID = p.OID + 1
	}
	n.processors[p.OID] = p
	return n
}

// WithoutProcessor gives a catalog that lacks the processor.
func (c *Catalog) WithoutProcessor(oid OID) *Catalog {
	n := c.clone()
	delete(n.processors, oid)
	return n
}

// UsersOf lists the relations whose query names a processor, by OID.
func (c *Catalog) UsersOf(processor OID) []*Relation {
	var out []*Relation
	for _, r := range c.Relations() {
		for _, p := range r.Processors {
			if p == processor {
				out = append(out, r)
				break
			}
		}
	}
	return out
}
