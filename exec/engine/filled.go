package engine

import (
	"context"
	"errors"
	"strconv"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// A statement that makes or refills a view is no error where rows fail, so what it answers says whether some did.

// tellMade tells the client of a new view that goes on being filled, and of rows that have failed.
func (s *sess) tellMade(rel *catalog.Relation) {
	if s.e.statusOf(rel.OID) == viewBackfill {
		s.notice(sqlerr.Notice("materialized view \"%s\" is being filled in the background", rel.Name).
			WithHint("tidemark.backfills shows how far it is; a SELECT waits until it is complete."))
	}
	s.tellFailed(rel)
}

// tellRefilled tells of rows that have failed in the view of that name and in those built on it, which were filled anew.
func (s *sess) tellRefilled(schema, name string) {
	cat := s.e.current().cat
	rel := cat.Relation(schema, name)
	if rel == nil {
		return
	}
	all, _ := closure(cat, []catalog.OID{rel.OID})
	for i := len(all) - 1; i >= 0; i-- {
		if r := cat.ByOID(all[i]); r != nil && r.Kind == catalog.MatView {
			s.tellFailed(r)
		}
	}
}

// tellFailed warns of the dead letters of a view that was just filled, if there are any.
func (s *sess) tellFailed(rel *catalog.Relation) {
	s.e.viewMu.Lock()
	v := s.e.viewStat[rel.OID]
	s.e.viewMu.Unlock()
	if v == nil {
		return
	}
	_, n := v.progress.letters()
	if n <= 0 {
		return
	}
	what := "1 row"
	if n > 1 {
		what = strconv.FormatInt(n, 10) + " rows"
	}
	w := warning(sqlerr.Warning, "%s failed in materialized view \"%s\", and what comes of them is not in it", what, rel.Name)
	if code, message := s.e.current().someLetter(rel.OID); code != "" {
		w.WithDetail("%s: %s", code, message)
	}
	s.notice(w.WithHint("Those rows, and those that fail from now on, are in tidemark.dead_letters."))
}

// someLetter gives SQLSTATE and message of one of a view's dead letters, "" if there is none.
func (p *published) someLetter(oid catalog.OID) (code, message string) {
	v, ok := p.contents(oid).(*viewSnapshot)
	if !ok {
		return "", ""
	}
	enough := errors.New("one is enough")
	_ = v.dead.scan(context.Background(), func(b *batch.Batch) error {
		if b.N == 0 {
			return nil
		}
		code, message = string(b.Cols[0].Datum(0).B), string(b.Cols[1].Datum(0).B)
		return enough
	})
	return code, message
}
