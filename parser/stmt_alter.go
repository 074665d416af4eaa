package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

// relationKinds are the kinds that DROP and ALTER know, with the words that name them.
var relationKinds = []string{"schema", "stream", "table", "view", "materialized view", "index"}

// relationKind reads one of relationKinds, "" if none is next.
func (p *parser) relationKind() string {
	for _, k := range relationKinds {
		ws := strings.Fields(k)
		if p.words(ws...) {
			p.i += len(ws)
			return k
		}
	}
	return ""
}

// drop parses DROP.
func (p *parser) drop() ast.Stmt {
	at := p.here()
	p.expectWords("drop")
	kind := p.relationKind()
	if kind == "" && p.acceptWords("function") {
		return p.dropFunction()
	}
	if kind == "" && p.acceptWords("processor") {
		kind = "processor"
	}
	if kind == "" {
		other := p.otherKind()
		if other == "" {
			p.syntaxError()
		}
		p.skipStatement()
		return &ast.CreateOther{What: "DROP " + other, At: at}
	}
	s := &ast.Drop{Kind: kind}
	if kind == "index" {
		p.acceptWords("concurrently")
	}
	s.IfExists = p.ifExists()
	for {
		s.Names = append(s.Names, p.qualified())
		if !p.accept(",") {
			break
		}
	}
	s.Cascade = p.cascade()
	return s
}

// cascade reads CASCADE or RESTRICT.
func (p *parser) cascade() bool {
	if p.acceptWords("cascade") {
		return true
	}
	p.acceptWords("restrict")
	return false
}

// alter parses ALTER. The actions and the fields they fill:
//
//	add column         Column
//	drop column        OldName
//	rename to          NewName
//	rename column      OldName, NewName
//	set schema         NewName
//	set watermark      Watermark
//	drop watermark
//	pause, resume, rebuild
//	set                Options
//	reset              Options, names only
//	set default        Column (Name, Default, DefaultSQL)
//	drop default, set not null, drop not null    OldName
//	set type           Column (Name, Type)
//	add constraint, drop constraint, owner to    NewName or OldName
func (p *parser) alter() ast.Stmt {
	at := p.here()
	p.expectWords("alter")
	kind := p.relationKind()
	if kind == "" && p.words("processor") {
		p.skipStatement()
		return &ast.CreateOther{What: "ALTER PROCESSOR", At: at}
	}
	if kind == "" {
		other := p.otherKind()
		if other == "" {
			if p.words("system") || p.words("default", "privileges") || p.words("large", "object") {
				other = strings.ToUpper(p.value(p.i))
			} else {
				p.syntaxError()
			}
		}
		p.skipStatement()
		return &ast.CreateOther{What: "ALTER " + other, At: at}
	}
	s := &ast.Alter{Kind: kind, At: at}
	s.IfExists = p.ifExists()
	if kind == "table" {
		p.acceptWords("only")
	}
	s.Name = p.qualified()
	if kind == "table" {
		p.accept("*")
	}
	if what := p.alterAction(s); what != "" {
		p.skipStatement()
		return &ast.CreateOther{What: "ALTER " + strings.ToUpper(kind) + " " + what, At: at}
	}
	if p.is(",") {
		p.unsupported(p.i, "several actions in one ALTER are not supported")
	}
	return s
}

// alterAction reads what ALTER does; it gives the name of an action that is
// recognised and not built, or "".
func (p *parser) alterAction(s *ast.Alter) string {
	w := p.oneOf("add", "drop", "rename", "set", "reset", "pause", "resume", "rebuild", "alter", "owner", "watermark",
		"enable", "disable", "inherit", "no", "cluster", "attach", "detach", "validate", "replica", "force")
	switch w {
	case "":
		p.syntaxError()
	case "pause", "resume", "rebuild":
		p.next()
		s.Action = w
	case "add":
		return p.alterAdd(s)
	case "drop":
		p.next()
		switch {
		case p.acceptWords("watermark"):
			s.Action = "drop watermark"
		case p.acceptWords("constraint"):
			s.Action = "drop constraint"
			s.IfExists = p.ifExists() || s.IfExists
			s.OldName = p.name()
			p.cascade()
		default:
			p.acceptWords("column")
			s.Action = "drop column"
			p.ifExists()
			s.OldName = p.name()
			p.cascade()
		}
	case "rename":
		p.next()
		if p.acceptWords("to") {
			s.Action, s.NewName = "rename to", p.name()
			return ""
		}
		if p.isWord(0, "constraint") {
			return "RENAME CONSTRAINT"
		}
		p.acceptWords("column")
		s.Action, s.OldName = "rename column", p.name()
		p.expectWords("to")
		s.NewName = p.name()
	case "set":
		return p.alterSet(s)
	case "reset":
		p.next()
		s.Action, s.Options = "reset", p.options()
	case "watermark":
		s.Action, s.Watermark = "set watermark", p.watermark()
	case "alter":
		return p.alterColumn(s)
	case "owner":
		p.next()
		p.expectWords("to")
		s.Action, s.NewName = "owner to", p.label()
	default:
		return strings.ToUpper(w)
	}
	return ""
}

func (p *parser) alterAdd(s *ast.Alter) string {
	p.next()
	switch {
	case p.watermarkClause():
		s.Action, s.Watermark = "set watermark", p.watermark()
		return ""
	case p.oneOf("constraint", "primary", "unique", "check", "foreign", "exclude") != "":
		return "ADD CONSTRAINT"
	}
	p.acceptWords("column")
	if p.ifNotExists() {
		return "ADD COLUMN IF NOT EXISTS"
	}
	col, other := p.columnDef()
	if other != "" {
		return "ADD COLUMN"
	}
	s.Action, s.Column = "add column", &col
	return ""
}

func (p *parser) alterSet(s *ast.Alter) string {
	p.next()
	switch {
	case p.is("("):
		s.Action, s.Options = "set", p.options()
	case p.acceptWords("schema"):
		s.Action, s.NewName = "set schema", p.name()
	case p.watermarkClause():
		s.Action, s.Watermark = "set watermark", p.watermark()
	case p.oneOf("tablespace", "logged", "unlogged", "without", "access") != "":
		return "SET " + strings.ToUpper(p.value(p.i))
	default:
		// SET name = value, the form in which a setting is written elsewhere.
		o := ast.Option{At: p.here(), Name: p.label()}
		for p.accept(".") {
			o.Name += "." + p.label()
		}
		if !p.accept("=") {
			p.expectWords("to")
		}
		o.Value = p.optionValue()
		s.Action, s.Options = "set", []ast.Option{o}
	}
	return ""
}

func (p *parser) alterColumn(s *ast.Alter) string {
	p.next()
	p.acceptWords("column")
	name := p.name()
	col := &ast.ColumnDef{At: p.here(), Name: name}
	switch {
	case p.acceptWords("set", "default"):
		i := p.i
		col.Default = p.expr()
		col.DefaultSQL = p.source(i, p.i)
		s.Action, s.Column = "set default", col
	case p.acceptWords("drop", "default"):
		s.Action, s.OldName = "drop default", name
	case p.acceptWords("set", "not", "null"):
		s.Action, s.OldName = "set not null", name
	case p.acceptWords("drop", "not", "null"):
		s.Action, s.OldName = "drop not null", name
	case p.acceptWords("set", "data", "type"), p.acceptWords("type"):
		col.Type = p.typeName()
		s.Action, s.Column = "set type", col
		if p.oneOf("using", "collate") != "" {
			return "ALTER COLUMN TYPE " + strings.ToUpper(p.value(p.i))
		}
	case p.oneOf("set", "reset", "add", "drop", "restart") != "":
		return "ALTER COLUMN " + strings.ToUpper(p.value(p.i))
	default:
		p.syntaxError()
	}
	return ""
}
