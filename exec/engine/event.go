package engine

import (
	"encoding/json"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// event is one change of the catalog. Events stand in the epoch's record and are replayed from it, so applying one
// must depend on nothing but the event and what came before it.
type event struct {
	Kind string             // "create", "replace", "drop", "create schema", "drop schema", "processor", "drop processor", "function", "drop function"
	Rel  *catalog.Relation  `json:",omitempty"`
	OID  catalog.OID        `json:",omitempty"`
	Sch  *catalog.Schema    `json:",omitempty"`
	Proc *catalog.Processor `json:",omitempty"`
	Func *catalog.Function  `json:",omitempty"`
}

// apply makes an event part of the epoch: the catalog changes at once, streams and tables are usable at once; views start when
// the epoch runs.
func (b *epochBuild) apply(ev event) error {
	switch ev.Kind {
	case "create":
		if b.cat.Relation(ev.Rel.Schema, ev.Rel.Name) != nil {
			return duplicateRelation(ev.Rel.Name)
		}
		if b.cat.Schema(ev.Rel.Schema) == nil {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", ev.Rel.Schema)
		}
		b.cat = b.cat.With(ev.Rel)
		switch ev.Rel.Kind {
		case catalog.Stream:
			b.e.startStream(ev.Rel)
			b.undo = append(b.undo, func() { delete(b.e.streams, ev.Rel.OID) })
		case catalog.Table:
			b.e.tables[ev.Rel.OID] = b.e.newTable(ev.Rel)
			b.undo = append(b.undo, func() { delete(b.e.tables, ev.Rel.OID) })
		}
	case "replace":
		b.cat = b.cat.With(ev.Rel)
	case "drop":
		b.cat = b.cat.Without(ev.OID)
	case "create schema":
		if b.cat.Schema(ev.Sch.Name) != nil {
			return sqlerr.New(sqlerr.DuplicateSchema, "schema \"%s\" already exists", ev.Sch.Name)
		}
		b.cat = b.cat.WithSchema(*ev.Sch)
	case "drop schema":
		b.cat = b.cat.WithoutSchema(ev.Sch.Name)
	case "processor":
		b.cat = b.cat.WithProcessor(ev.Proc)
	case "function":
		b.cat = b.cat.WithFunction(ev.Func)
	case "drop function":
		b.cat = b.cat.WithoutFunction(ev.OID)
	case "drop processor":
		b.cat = b.cat.WithoutProcessor(ev.OID)
	default:
		return sqlerr.New(sqlerr.DataCorrupted, "unknown catalog event \"%s\"", ev.Kind)
	}
	b.events = append(b.events, ev)
	return nil
}

func duplicateRelation(name string) error {
	return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", name)
}

func encodeEvents(evs []event) ([]byte, error) {
	if len(evs) == 0 {
		return nil, nil
	}
	return json.Marshal(evs)
}

func decodeEvents(b []byte) ([]event, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var evs []event
	err := json.Unmarshal(b, &evs)
	return evs, err
}

// catalogImage is a catalog as kept in a checkpoint: all that is not the system's.
type catalogImage struct {
	Version    uint64
	NextOID    catalog.OID
	Schemas    []catalog.Schema
	Relations  []*catalog.Relation
	Processors []*catalog.Processor `json:",omitempty"`
	Functions  []*catalog.Function  `json:",omitempty"`
}

func encodeCatalog(c *catalog.Catalog) ([]byte, error) {
	img := catalogImage{Version: c.Version, NextOID: c.NextOID}
	for _, s := range c.Schemas() {
		if s.OID >= catalog.FirstUserOID {
			img.Schemas = append(img.Schemas, *s)
		}
	}
	for _, r := range c.Relations() {
		if r.Kind != catalog.System {
			img.Relations = append(img.Relations, r)
		}
	}
	img.Processors, img.Functions = c.Processors(), c.Functions()
	return json.Marshal(img)
}

// decodeCatalog adds what an image holds to the system's catalog.
func decodeCatalog(base *catalog.Catalog, data []byte) (*catalog.Catalog, error) {
	var img catalogImage
	if err := json.Unmarshal(data, &img); err != nil {
		return nil, err
	}
	c := base
	for _, s := range img.Schemas {
		c = c.WithSchema(s)
	}
	for _, r := range img.Relations {
		c = c.With(r)
	}
	for _, p := range img.Processors {
		c = c.WithProcessor(p)
	}
	for _, f := range img.Functions {
		c = c.WithFunction(f)
	}
	c.NextOID = max(c.NextOID, img.NextOID)
	return c, nil
}
