package parser

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// transaction parses the statements of transaction control.
func (p *parser) transaction(w string) ast.Stmt {
	p.next()
	work := func() {
		if p.oneOf("work", "transaction") != "" {
			p.next()
		}
	}
	switch w {
	case "begin", "start":
		if w == "start" {
			p.expectWords("transaction")
		} else {
			work()
		}
		b := &ast.Begin{}
		p.transactionModes(b)
		return b
	case "savepoint":
		return &ast.Savepoint{Kind: "savepoint", Name: p.name()}
	case "release":
		p.acceptWords("savepoint")
		return &ast.Savepoint{Kind: "release", Name: p.name()}
	}
	if p.isWord(0, "prepared") {
		at := p.pos(p.i - 1)
		p.skipStatement()
		return &ast.CreateOther{What: strings.ToUpper(w) + " PREPARED", At: at}
	}
	work()
	if w == "rollback" && p.acceptWords("to") {
		p.acceptWords("savepoint")
		return &ast.Savepoint{Kind: "rollback to", Name: p.name()}
	}
	chain := false
	if p.acceptWords("and") {
		chain = !p.acceptWords("no")
		p.expectWords("chain")
	}
	if w == "commit" || w == "end" {
		return &ast.Commit{Chain: chain}
	}
	return &ast.Rollback{Chain: chain}
}

// transactionModes reads ISOLATION LEVEL ..., READ ONLY and the like.
func (p *parser) transactionModes(b *ast.Begin) {
	for {
		switch {
		case p.acceptWords("isolation", "level"):
			switch p.oneOf("serializable", "repeatable", "read") {
			case "serializable":
				p.next()
				b.Isolation = "serializable"
			case "repeatable":
				p.expectWords("repeatable", "read")
				b.Isolation = "repeatable read"
			case "read":
				p.next()
				b.Isolation = "read " + p.oneOf("committed", "uncommitted")
				if b.Isolation == "read " {
					p.syntaxError()
				}
				p.next()
			default:
				p.syntaxError()
			}
		case p.acceptWords("read", "only"):
			b.Access = "read only"
		case p.acceptWords("read", "write"):
			b.Access = "read write"
		case p.acceptWords("deferrable"), p.acceptWords("not", "deferrable"):
		default:
			return
		}
		p.accept(",")
	}
}

// setting parses SET, RESET, SHOW, DESCRIBE and DISCARD.
func (p *parser) setting(w string) ast.Stmt {
	at := p.here()
	p.next()
	switch w {
	case "reset":
		return p.reset(at)
	case "show":
		return p.show(at)
	case "describe", "desc":
		p.acceptRelationWord()
		return &ast.Describe{Name: p.qualified()}
	case "discard":
		what := p.oneOf("all", "plans", "sequences", "temporary", "temp")
		if what == "" {
			p.syntaxError()
		}
		p.next()
		return &ast.Discard{What: what}
	}
	return p.set(at)
}

// acceptRelationWord moves past STREAM, TABLE or [MATERIALIZED] VIEW where a name follows.
func (p *parser) acceptRelationWord() {
	switch {
	case p.words("materialized", "view"):
		p.i += 2
	case p.oneOf("stream", "table", "view") != "" && (p.at(1).kind == kindQuoted || p.isName(1, colName)):
		p.next()
	}
}

func (p *parser) set(at ast.Pos) ast.Stmt {
	s := &ast.Set{At: at}
	switch {
	case p.words("session", "characteristics"):
		p.i += 2
		p.expectWords("as", "transaction")
		return p.setModes(s, "default_")
	case p.words("session", "authorization"):
		p.i += 2
		return p.setOne(s, "session_authorization")
	case p.acceptWords("local"):
		s.Local = true
	case p.isWord(0, "session") && !p.isAt(1, "=") && !p.isWord(1, "to"):
		p.next()
	}
	switch {
	case p.isWord(0, "transaction") && !p.isAt(1, "=") && !p.isWord(1, "to"):
		p.next()
		if p.acceptWords("snapshot") {
			p.unsupported(p.i-1, "SET TRANSACTION SNAPSHOT is not supported")
		}
		s.Local = true
		return p.setModes(s, "")
	case p.acceptWords("time", "zone"):
		return p.setTimeZone(s)
	case p.isWord(0, "names"):
		p.next()
		return p.setOne(s, "client_encoding")
	case p.isWord(0, "schema") && p.at(1).kind == kindString:
		p.next()
		return p.setOne(s, "search_path")
	case p.oneOf("role", "constraints") != "":
		if p.acceptWords("constraints") {
			p.skipStatement()
			return &ast.NoOp{Tag: "SET CONSTRAINTS"}
		}
		if !p.isAt(1, "=") && !p.isWord(1, "to") {
			p.next()
			return p.setOne(s, "role")
		}
	case p.words("xml", "option"):
		p.i += 2
		return p.setOne(s, "xmloption")
	}
	s.Name = p.settingName()
	if !p.accept("=") && !p.acceptWords("to") {
		p.syntaxError()
	}
	if p.acceptWords("default") {
		s.Default = true
		return s
	}
	for {
		s.Values = append(s.Values, p.settingValue())
		if !p.accept(",") {
			return s
		}
	}
}

// setOne reads the one value of a setting that is written in words.
func (p *parser) setOne(s *ast.Set, name string) ast.Stmt {
	s.Name = name
	switch {
	case p.acceptWords("default"):
		s.Default = true
	case p.peek().kind == kindEOF || p.is(";"):
		if name != "client_encoding" {
			p.syntaxError()
		}
		s.Default = true
	default:
		s.Values = []string{p.settingValue()}
	}
	return s
}

// setModes reads transaction modes into a Set: the isolation level and, as
// further values, read only or read write.
func (p *parser) setModes(s *ast.Set, prefix string) ast.Stmt {
	var b ast.Begin
	i := p.i
	p.transactionModes(&b)
	if p.i == i {
		p.syntaxError()
	}
	switch {
	case b.Isolation != "" && b.Access != "":
		s.Name, s.Values = prefix+"transaction_isolation", []string{b.Isolation, b.Access}
	case b.Access != "":
		s.Name = prefix + "transaction_read_only"
		s.Values = []string{"off"}
		if b.Access == "read only" {
			s.Values = []string{"on"}
		}
	case b.Isolation != "":
		s.Name, s.Values = prefix+"transaction_isolation", []string{b.Isolation}
	default:
		s.Name, s.Values = prefix+"transaction_deferrable", []string{"off"}
	}
	return s
}

func (p *parser) setTimeZone(s *ast.Set) ast.Stmt {
	s.Name = "timezone"
	switch {
	case p.acceptWords("local"), p.acceptWords("default"):
		s.Default = true
	case p.isWord(0, "interval"):
		s.Values = []string{p.duration()}
		p.intervalFields()
	default:
		s.Values = []string{p.settingValue()}
	}
	return s
}

// settingName reads a setting's name with its dots. PostgreSQL compares these
// names without regard to case and so folds a quoted one too, Spark's do not;
// dotted names keep the case they are written in.
func (p *parser) settingName() string {
	i := p.i
	name := p.label()
	if !p.is(".") {
		return name
	}
	for p.accept(".") {
		p.label()
	}
	var sb strings.Builder
	for ; i < p.i; i++ {
		if k := p.toks[i].kind; k == kindWord {
			sb.WriteString(p.raw(i))
		} else {
			sb.WriteString(p.value(i))
		}
	}
	return sb.String()
}

// settingValue reads a value of SET as text.
func (p *parser) settingValue() string {
	t := p.peek()
	switch t.kind {
	case kindString, kindNumber, kindQuoted, kindWord:
		if t.kind == kindWord && t.kw.category() == reserved {
			switch t.kw {
			case kwTrue, kwFalse, kwOn, kwDefault, kwAll, kwUser:
			default:
				p.syntaxError()
			}
		}
		return p.optionValue()
	case kindOp:
		return p.optionValue()
	}
	p.syntaxError()
	return ""
}

func (p *parser) reset(at ast.Pos) ast.Stmt {
	s := &ast.Set{At: at, Default: true}
	switch {
	case p.acceptWords("all"):
		s.All = true
	case p.acceptWords("time", "zone"):
		s.Name = "timezone"
	case p.acceptWords("session", "authorization"):
		s.Name = "session_authorization"
	case p.acceptWords("transaction", "isolation", "level"):
		s.Name = "transaction_isolation"
	default:
		s.Name = p.settingName()
	}
	return s
}

func (p *parser) show(at ast.Pos) ast.Stmt {
	s := &ast.Show{At: at}
	switch {
	case p.acceptWords("time", "zone"):
		s.Name = "timezone"
	case p.acceptWords("transaction", "isolation", "level"):
		s.Name = "transaction_isolation"
	case p.acceptWords("session", "authorization"):
		s.Name = "session_authorization"
	case p.acceptWords("materialized", "views"):
		s.Name = "materialized views"
	default:
		s.Name = p.settingName()
	}
	return s
}

// prepared parses prepared statements and cursors.
func (p *parser) prepared(w string) ast.Stmt {
	at := p.here()
	p.next()
	switch w {
	case "prepare":
		return p.prepare(at)
	case "execute":
		s := &ast.ExecuteStmt{At: at, Name: p.name()}
		if p.accept("(") {
			for {
				s.Args = append(s.Args, p.expr())
				if !p.accept(",") {
					break
				}
			}
			p.expect(")")
		}
		return s
	case "deallocate":
		p.acceptWords("prepare")
		if p.acceptWords("all") {
			return &ast.Deallocate{}
		}
		return &ast.Deallocate{Name: p.name()}
	case "close":
		if p.acceptWords("all") {
			return &ast.CloseCursor{}
		}
		return &ast.CloseCursor{Name: p.name()}
	case "declare":
		return p.declare()
	}
	return p.fetch(w == "move")
}

func (p *parser) prepare(at ast.Pos) ast.Stmt {
	if p.isWord(0, "transaction") && p.at(1).kind == kindString {
		p.skipStatement()
		return &ast.CreateOther{What: "PREPARE TRANSACTION", At: at}
	}
	s := &ast.Prepare{Name: p.name()}
	if p.accept("(") {
		for {
			s.Types = append(s.Types, p.typeName())
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	}
	p.expectWords("as")
	if p.oneOf("select", "values", "table", "with", "insert", "update", "delete") == "" && !p.is("(") {
		p.syntaxError()
	}
	// Positions in the prepared statement are relative to its own text.
	base, first := p.base, p.i
	p.base = int(p.peek().pos)
	s.Stmt = p.statement()
	s.Text = p.source(first, p.i)
	s.Params = p.maxParam(first, p.i)
	p.base = base
	return s
}

func (p *parser) declare() ast.Stmt {
	s := &ast.DeclareCursor{Name: p.name()}
	for {
		switch {
		case p.acceptWords("binary"), p.acceptWords("insensitive"), p.acceptWords("asensitive"),
			p.acceptWords("no", "scroll"), p.acceptWords("scroll"):
			continue
		}
		break
	}
	p.expectWords("cursor")
	if p.acceptWords("with", "hold") {
		s.Hold = true
	} else {
		p.acceptWords("without", "hold")
	}
	p.expectWords("for")
	s.Query = p.query()
	return s
}

// fetch parses FETCH and MOVE; only forward movement is built.
func (p *parser) fetch(move bool) ast.Stmt {
	s := &ast.Fetch{Count: 1, Move: move}
	i := p.i
	switch p.oneOf("next", "prior", "first", "last", "absolute", "relative", "all", "forward", "backward") {
	case "next":
		p.next()
	case "all":
		p.next()
		s.Count = -1
	case "forward":
		p.next()
		if p.acceptWords("all") {
			s.Count = -1
		} else if p.peek().kind == kindNumber {
			s.Count = p.count()
		}
	case "prior", "first", "last", "absolute", "relative", "backward":
		if p.isName(1, colName) || p.at(1).kind == kindNumber || p.isWord(1, "from") || p.isWord(1, "in") || p.isAt(1, "-") {
			p.unsupported(i, "FETCH %s is not supported", strings.ToUpper(p.value(i)))
		}
	default:
		if p.is("-") {
			p.unsupported(i, "FETCH BACKWARD is not supported")
		}
		if p.peek().kind == kindNumber {
			s.Count = p.count()
		}
	}
	if !p.acceptWords("from") {
		p.acceptWords("in")
	}
	s.Name = p.name()
	return s
}

// count reads a row count.
func (p *parser) count() int64 {
	i := p.next()
	n, err := strconv.ParseInt(p.value(i), 10, 64)
	if err != nil {
		raise(int(p.toks[i].pos), sqlerr.SyntaxError, "syntax error at or near \"%s\"", p.raw(i))
	}
	return n
}

// explain parses EXPLAIN.
func (p *parser) explain() ast.Stmt {
	p.expectWords("explain")
	s := &ast.Explain{Format: "text"}
	if p.is("(") && !p.queryAt(p.i) {
		p.explainOptions(s)
	} else {
		s.Analyze = p.acceptWords("analyze") || p.acceptWords("analyse")
		s.Verbose = p.acceptWords("verbose")
	}
	switch p.oneOf("select", "values", "table", "with", "insert", "update", "delete", "create", "execute", "declare") {
	case "":
		if !p.is("(") {
			p.syntaxError()
		}
	}
	s.Stmt = p.statement()
	return s
}

func (p *parser) explainOptions(s *ast.Explain) {
	p.expect("(")
	for {
		i := p.i
		name := p.label()
		value := "true"
		if !p.is(",") && !p.is(")") {
			value = p.optionValue()
		}
		on := value == "true" || value == "on" || value == "1"
		switch name {
		case "analyze", "analyse":
			s.Analyze = on
		case "verbose":
			s.Verbose = on
		case "format":
			s.Format = strings.ToLower(value)
			if s.Format != "text" && s.Format != "json" {
				p.unsupported(i, "EXPLAIN format \"%s\" is not supported", value)
			}
		case "costs", "buffers", "timing", "summary", "settings", "wal":
		default:
			raise(int(p.toks[i].pos), sqlerr.SyntaxError, "unrecognized EXPLAIN option \"%s\"", name)
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
}
