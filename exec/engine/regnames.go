package engine

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// ownerOID and databaseOwners are the roles that own everything: the user, and whoever owns the database.
const (
	ownerOID       = 10
	databaseOwners = 6171
)

// roleName gives the name of a role.
func (s *sess) roleName(oid catalog.OID) (string, bool) {
	switch oid {
	case ownerOID:
		return s.p.User, true
	case databaseOwners:
		return "pg_database_owner", true
	}
	return "", false
}

// regName is types.Env.RegName.
func (s *sess) regName(kind types.Kind, oid uint32) (string, bool) {
	switch kind {
	case types.Regclass:
		return s.relationName(catalog.OID(oid))
	case types.Regnamespace:
		for _, x := range s.catalog().Schemas() {
			if x.OID == catalog.OID(oid) {
				return parser.QuoteIdent(x.Name), true
			}
		}
	case types.Regrole:
		name, ok := s.roleName(catalog.OID(oid))
		return parser.QuoteIdent(name), ok
	case types.Regproc, types.Regprocedure:
		return s.functionName(kind, oid)
	}
	return "", false
}

// relationName gives the name of a relation or key, with its schema unless it is found along the search path.
func (s *sess) relationName(oid catalog.OID) (string, bool) {
	schema, name, ok := "", "", false
	if r := s.catalog().ByOID(oid); r != nil {
		schema, name, ok = r.Schema, r.Name, true
	} else if r, k := s.key(oid); r != nil {
		schema, name, ok = r.Schema, k.Name, true
	}
	if !ok {
		return "", false
	}
	if s.visible(schema, name, oid) {
		return parser.QuoteIdent(name), true
	}
	return parser.QuoteIdent(schema) + "." + parser.QuoteIdent(name), true
}

// key finds the table and key that pg_class shows as an index of that OID; nil if there is none.
func (s *sess) key(oid catalog.OID) (*catalog.Relation, catalog.Key) {
	table, i, ok := session.KeyOf(oid)
	if !ok {
		return nil, catalog.Key{}
	}
	r := s.catalog().ByOID(table)
	if r == nil || i >= len(r.Keys()) {
		return nil, catalog.Key{}
	}
	return r, r.Keys()[i]
}

// visible says whether a relation or key is what its name alone means.
func (s *sess) visible(schema, name string, oid catalog.OID) bool {
	if found, err := s.catalog().Lookup("", name, s.set.searchPath(s.p.User)); err == nil {
		return found.OID == oid
	}
	for _, p := range s.existingPath() {
		if p == schema {
			return true
		}
	}
	return schema == "pg_catalog"
}

// regOID is types.Env.RegOID.
func (s *sess) regOID(kind types.Kind, text string) (uint32, error) {
	parts := splitName(text)
	if len(parts) == 0 {
		return 0, sqlerr.New(sqlerr.InvalidName, "invalid name syntax")
	}
	name := parts[len(parts)-1]
	switch kind {
	case types.Regclass:
		schema := ""
		if len(parts) > 1 {
			schema = parts[len(parts)-2]
		}
		return s.relationOID(schema, name)
	case types.Regnamespace:
		if x := s.catalog().Schema(name); x != nil {
			return uint32(x.OID), nil
		}
		return 0, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", name)
	case types.Regrole:
		for _, oid := range []catalog.OID{ownerOID, databaseOwners} {
			if n, _ := s.roleName(oid); n == name {
				return uint32(oid), nil
			}
		}
		return 0, sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
	case types.Regprocedure:
		return s.functionBySignature(text)
	}
	return s.functionByName(parts, text)
}

// relationOID finds a relation or key by name.
func (s *sess) relationOID(schema, name string) (uint32, error) {
	r, err := s.catalog().Lookup(schema, name, s.set.searchPath(s.p.User))
	if err == nil {
		return uint32(r.OID), nil
	}
	path := []string{schema}
	if schema == "" {
		path = s.existingPath()
	}
	for _, r := range s.catalog().Relations() {
		for i, k := range r.Keys() {
			for _, p := range path {
				if k.Name == name && r.Schema == p {
					return uint32(session.KeyOID(r.OID, i)), nil
				}
			}
		}
	}
	return 0, err
}

// splitName takes a possibly quoted, possibly qualified name apart and folds its unquoted parts.
func splitName(text string) []string {
	var parts []string
	var cur strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && quoted && i+1 < len(text) && text[i+1] == '"':
			cur.WriteByte(c)
			i++
		case c == '"':
			quoted = !quoted
		case c == '.' && !quoted:
			parts = append(parts, cur.String())
			cur.Reset()
		case !quoted && (c == ' ' || c == '\t'):
		case !quoted && c >= 'A' && c <= 'Z':
			cur.WriteByte(c + 'a' - 'A')
		default:
			cur.WriteByte(c)
		}
	}
	if cur.Len() > 0 || len(parts) > 0 {
		parts = append(parts, cur.String())
	}
	return parts
}
