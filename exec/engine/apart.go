package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// kindOf gives the kind of a relation, of a materialized view that the block made also where it answers as a plain one.
func (s *sess) kindOf(rel *catalog.Relation) catalog.Kind {
	if s.tx != nil && rel.Kind == catalog.View && slices.ContainsFunc(s.tx.ops, func(op txnOp) bool { return op.makes != nil && op.makes.OID == rel.OID }) {
		return catalog.MatView
	}
	return rel.Kind
}

// apart is for statements that run at once, in epochs of their own. A block cannot hold them. What is before one in its text is committed, as it would else come behind it.
func (s *sess) apart(ctx context.Context, what string) error {
	if s.tx == nil {
		return nil
	}
	if !s.tx.implicit {
		return sqlerr.New(sqlerr.ActiveTransaction, "%s cannot run inside a transaction block", what)
	}
	err := s.commit(ctx)
	s.afterBlock()
	return err
}
