package engine

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// The options of a stream that are the engine's; all others are the connector's.
const (
	connectorOption = "connector"
	retentionOption = "retention"
)

// keepsRows says whether the log keeps the rows of a stream.
func keepsRows(rel *catalog.Relation) bool { return rel.Options[retentionOption] != "0" }

// connectorOptions gives the options that are the connector's.
func connectorOptions(rel *catalog.Relation) map[string]string {
	out := map[string]string{}
	for k, v := range rel.Options {
		switch k {
		case connectorOption, retentionOption, stepOption:
		default:
			out[k] = v
		}
	}
	return out
}

func (e *Engine) noConnector(name string) error {
	var names []string
	for n := range e.opts.Connectors {
		names = append(names, n)
	}
	slices.Sort(names)
	err := sqlerr.Unsupported("connector \"%s\" is not supported", name)
	if len(names) > 0 {
		err = err.WithHint("Available connectors: %s.", strings.Join(names, ", "))
	}
	return err
}

// checkStreamOptions tests the options of CREATE STREAM and CREATE TABLE, and puts FORMAT ... ENCODE among them.
func (e *Engine) checkStreamOptions(x *ast.CreateRelation, rel *catalog.Relation) error {
	lower := map[string]string{}
	for k, v := range rel.Options {
		lower[strings.ToLower(k)] = v
	}
	rel.Options = lower
	if x.Encode != "" {
		if x.Format != "plain" {
			return sqlerr.Unsupported("FORMAT %s is not supported", strings.ToUpper(x.Format)).WithHint("FORMAT PLAIN is.")
		}
		if f, ok := lower["format"]; ok && !strings.EqualFold(f, x.Encode) {
			return sqlerr.New(sqlerr.SyntaxError, "option \"format\" and ENCODE %s contradict each other", strings.ToUpper(x.Encode))
		}
		lower["format"] = x.Encode
	}
	if _, ok := lower[stepOption]; ok {
		if _, err := watermarkStep(rel); err != nil {
			return err
		}
	}
	name, ok := lower[connectorOption]
	if ok {
		return e.checkConnector(name, rel)
	}
	for k, v := range lower {
		switch {
		case k == stepOption:
		case k == retentionOption && v == "all" && rel.Kind == catalog.Stream:
		case k == retentionOption:
			return sqlerr.Unsupported("option \"retention\" is not supported without a connector").WithHint("All of a stream's history is kept.")
		default:
			return unknownOption(rel, k)
		}
	}
	return nil
}

// optionsOf are the options of each kind of relation, without those of connectors.
var optionsOf = map[catalog.Kind][]string{
	catalog.MatView: {"output_mode", partitionsOption, "watermark_policy"},
	catalog.Stream:  {connectorOption, stepOption, retentionOption},
}

// unknownOption is the error of an option that a relation of that kind does not have, or not yet.
func unknownOption(rel *catalog.Relation, name string) *sqlerr.Error {
	if rel.Kind == catalog.MatView && (name == "on_error" || name == retentionOption) {
		return sqlerr.Unsupported("option \"%s\" is not supported yet", name)
	}
	err := sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", name)
	known := strings.Join(optionsOf[rel.Kind], ", ")
	switch {
	case known == "":
		return err.WithHint("A %s has no options.", rel.Kind)
	case rel.Kind == catalog.Stream:
		known += ", and those of its connector"
	}
	return err.WithHint("The options of a %s are %s.", rel.Kind, known)
}

// knownOption refuses an option in ALTER that CREATE would refuse.
func (e *Engine) knownOption(rel *catalog.Relation, o ast.Option, action string) error {
	name := strings.ToLower(o.Name)
	own := rel.Options[connectorOption]
	switch {
	case slices.Contains(optionsOf[rel.Kind], name):
		return nil
	case rel.Kind != catalog.Stream || own == "":
		return unknownOption(rel, o.Name)
	case action == "set":
		return e.checkConnector(own, withOption(rel, name, o.Value))
	}
	return nil
}

// checkConnector tests a stream with a connector.
func (e *Engine) checkConnector(name string, rel *catalog.Relation) error {
	name = strings.ToLower(name)
	rel.Options[connectorOption] = name
	if rel.Kind != catalog.Stream {
		return sqlerr.Unsupported("a table with a connector is not supported").WithHint("CREATE STREAM makes what a connector can feed.")
	}
	conn := e.opts.Connectors[name]
	if conn == nil {
		return e.noConnector(name)
	}
	switch v, ok := rel.Options[retentionOption]; {
	case !ok || v == "all":
	case v == "0":
		if rel.Options[stepOption] != "" {
			return sqlerr.Unsupported("option \"%s\" is not supported with retention = '0'", stepOption)
		}
	default:
		return sqlerr.Unsupported("retention = '%s' is not supported yet", v).WithHint("'all' keeps a stream's history, '0' none of it.")
	}
	if len(rel.Checks) > 0 {
		return sqlerr.Unsupported("a CHECK constraint on a stream with a connector is not supported")
	}
	for _, c := range rel.Columns {
		if c.Default != "" {
			return sqlerr.Unsupported("a default on a stream with a connector is not supported")
		}
	}
	return conn.Check(connector.Config{Options: connectorOptions(rel), Columns: rel.Columns})
}

// probeInput gives what is remarkable about the input of a stream that is made, nil if nothing is.
func (e *Engine) probeInput(rel *catalog.Relation) *sqlerr.Error {
	p, ok := e.opts.Connectors[rel.Options[connectorOption]].(connector.Prober)
	if !ok || e.opts.NoSources {
		return nil
	}
	return p.Probe(connector.Config{Options: connectorOptions(rel), Columns: rel.Columns})
}

// notFed refuses what writes to a stream that its connector feeds.
func notFed(rel *catalog.Relation) error {
	if rel.Kind != catalog.Stream || rel.Options[connectorOption] == "" {
		return nil
	}
	return sqlerr.New(sqlerr.WrongObjectType, "cannot insert into stream \"%s\"", rel.Name).
		WithDetail("It is fed by its connector, \"%s\".", rel.Options[connectorOption])
}

// alterFed refuses alterations that the rows of a connector would not follow.
func alterFed(rel *catalog.Relation, x *ast.Alter) error {
	if rel.Kind != catalog.Stream || rel.Options[connectorOption] == "" {
		return nil
	}
	switch {
	case x.Action == "rename column":
		return sqlerr.Unsupported("renaming a column of a stream with a connector is not supported").WithHint("Its columns are found in the input by name.")
	case x.Action == "set default", x.Action == "add column" && (x.Column.DefaultSQL != "" || x.Column.Check != nil):
		return sqlerr.Unsupported("a default or constraint on a stream with a connector is not supported")
	}
	return nil
}
