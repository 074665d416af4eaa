package fn

import "testing"

func TestOIDs(t *testing.T) {
	seen := map[uint32]*Func{}
	own := 0
	for _, f := range All() {
		if f.Class == Operator || f.Class == Cast {
			continue
		}
		oid := f.OID()
		if oid == 0 || seen[oid] != nil || ByOID(oid) != f {
			t.Errorf("%s has OID %d", f.Signature(), oid)
		}
		seen[oid] = f
		if oid >= firstOwnOID {
			own++
		}
	}
	// pg_proc of PostgreSQL 15
	for sig, want := range map[string]uint32{"lower(text)": 870, "count()": 2803, "count(any)": 2147, "row_number()": 3100, "generate_series(int4,int4)": 1067, "array_position(anyarray,anyelement)": 3277} {
		if f := ByOID(want); f == nil || f.Signature() != sig {
			t.Errorf("OID %d: got %v, want %s", want, f, sig)
		}
	}
	if own > len(seen)/10 {
		t.Errorf("%d of %d functions are not PostgreSQL's", own, len(seen))
	}
	for _, b := range Builtins() {
		if b.OID == 750 && b.Name != "array_in" {
			t.Errorf("750 is %s", b.Name)
		}
	}
}
