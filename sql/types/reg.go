package types

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// appendReg shows the OID of an object as its name, as a number if there is no such object.
func appendReg(dst []byte, k Kind, oid uint32, env *Env) []byte {
	if oid == 0 {
		return append(dst, '-')
	}
	if k == Regtype {
		if t, ok := FromOID(oid); ok {
			// The name that format_type gives a type without saying anything of a modifier.
			return append(dst, strings.Replace(t.String(), "bpchar", "character", 1)...)
		}
	} else if env.RegName != nil {
		if name, ok := env.RegName(k, oid); ok {
			return append(dst, name...)
		}
	}
	return strconv.AppendUint(dst, uint64(oid), 10)
}

// parseReg reads the name of an object, or its OID.
func parseReg(k Kind, s string, env *Env) (Datum, error) {
	if s == "-" {
		return Datum{}, nil
	}
	if s != "" && strings.Trim(s, "0123456789") == "" {
		return parseOID(s)
	}
	if k == Regtype {
		t, ok := typeByQualifiedName(s)
		if !ok {
			return Datum{}, sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist", s)
		}
		return IntDatum(int64(t.OID())), nil
	}
	if env == nil || env.RegOID == nil {
		return parseOID(s)
	}
	oid, err := env.RegOID(k, s)
	return IntDatum(int64(oid)), err
}

// typeByQualifiedName reads a type's name as regtype does: with or without pg_catalog, modifiers ignored.
func typeByQualifiedName(s string) (Type, bool) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "pg_catalog.")
	if t, ok := ByName(s); ok {
		return t, true
	}
	if open := strings.IndexByte(s, '('); open > 0 {
		if end := strings.IndexByte(s, ')'); end > open {
			return ByName(s[:open] + s[end+1:])
		}
	}
	if n := len(s); n > 2 && s[0] == '"' && s[n-1] == '"' {
		t, ok := typesByName[s[1:n-1]]
		return t, ok && t.InternalName() == s[1:n-1]
	}
	return Type{}, false
}
