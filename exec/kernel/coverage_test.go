package kernel

import (
	"testing"

	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestEverySignatureIsImplemented compares the catalogue with the tables, in both directions.
func TestEverySignatureIsImplemented(t *testing.T) {
	declared := map[string]bool{}
	for _, f := range fn.All() {
		declared[f.Signature()] = true
		switch f.Class {
		case fn.Scalar, fn.Operator, fn.Cast:
			args := append([]types.Type{}, f.Args...)
			if _, err := lookup(f, args, f.Result); err != nil {
				t.Errorf("%s: %v", f.Signature(), err)
			}
		case fn.Set:
			if _, ok := setImpls[f.Signature()]; !ok && !f.Session {
				t.Errorf("set-returning %s has no implementation", f.Signature())
			}
		}
	}
	for sig := range impls {
		if !declared[sig] {
			t.Errorf("implementation without declaration: %s", sig)
		}
	}
	for sig := range setImpls {
		if !declared[sig] {
			t.Errorf("set implementation without declaration: %s", sig)
		}
	}
}
