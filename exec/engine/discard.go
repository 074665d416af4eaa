package engine

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Fail implements session.Failer.
func (s *sess) Fail() {
	if s.tx != nil {
		s.tx.failed = true
	}
}

// forgetStatements forgets all prepared statements: those of PREPARE, and those of the protocol, which share their names.
func (s *sess) forgetStatements() {
	s.prepared = map[string]*prepared{}
	if s.p.Deallocate != nil {
		s.p.Deallocate("")
	}
}

// discard runs DISCARD. There are no cached sequence values or temporary tables, and plans are made again when the catalog changes.
func (s *sess) discard(x *ast.Discard) (session.Result, error) {
	if !strings.EqualFold(x.What, "all") {
		return done(commandTag(x)), nil
	}
	if s.tx != nil {
		return nil, sqlerr.New(sqlerr.ActiveTransaction, "DISCARD ALL cannot run inside a transaction block")
	}
	for n, c := range s.cursors {
		c.res.Close()
		delete(s.cursors, n)
	}
	s.resetAll()
	s.forgetStatements()
	return done(commandTag(x)), nil
}

// resetAll gives all settings the values back that the session began with, and tells the client of those that it follows.
func (s *sess) resetAll() {
	for i := range settingList {
		d := &settingList[i]
		old := s.set.values[strings.ToLower(d.name)]
		if d.readOnly {
			continue
		}
		_, _ = s.set.reset(d.name) // it is there
		if v, _ := s.set.get(d.name); v != old && d.report && s.p.ParameterStatus != nil {
			s.p.ParameterStatus(d.name, v)
		}
	}
}

// CursorColumns implements session.Cursors.
func (s *sess) CursorColumns(name string) ([]session.Column, bool) {
	c := s.cursors[name]
	if c == nil {
		return nil, false
	}
	return c.res.Columns(), true
}
