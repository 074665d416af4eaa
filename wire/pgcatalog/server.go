package pgcatalog

import (
	"net"
	"slices"
	"strconv"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
)

// predefined are roles of every PostgreSQL cluster, which psql leaves out of its lists.
var predefined = []struct {
	oid  int
	name string
}{
	{3373, "pg_monitor"}, {4200, "pg_signal_backend"}, {databaseOwners, "pg_database_owner"}, {6181, "pg_read_all_data"}, {6182, "pg_write_all_data"},
}

func roles(c *session.SystemContext, t *rows) {
	t.add(row{"oid": ownerOID, "rolname": c.User, "rolsuper": true, "rolinherit": true, "rolcreaterole": true, "rolcreatedb": true,
		"rolcanlogin": true, "rolreplication": true, "rolbypassrls": true, "rolconnlimit": -1})
	for _, p := range predefined {
		t.add(row{"oid": p.oid, "rolname": p.name, "rolinherit": true, "rolconnlimit": -1})
	}
}

func users(c *session.SystemContext, t *rows) {
	t.add(row{"usename": c.User, "usesysid": ownerOID, "usecreatedb": true, "usesuper": true, "userepl": true, "usebypassrls": true})
}

func databases(c *session.SystemContext, t *rows) {
	t.add(row{"oid": databaseOID, "datname": c.Database, "datdba": ownerOID, "encoding": 6, "datlocprovider": "c", "datallowconn": true,
		"datconnlimit": -1, "dattablespace": tablespaceOID, "datcollate": "C", "datctype": "C"})
}

func tablespaces(_ *session.SystemContext, t *rows) {
	t.add(row{"oid": tablespaceOID, "spcname": "pg_default", "spcowner": ownerOID})
}

func collations(_ *session.SystemContext, t *rows) {
	t.add(row{"oid": defaultColl, "collname": "default", "collnamespace": catalogSchema, "collowner": ownerOID, "collprovider": "d", "collisdeterministic": true, "collencoding": -1})
	t.add(row{"oid": cColl, "collname": "C", "collnamespace": catalogSchema, "collowner": ownerOID, "collprovider": "c", "collisdeterministic": true, "collencoding": -1, "collcollate": "C", "collctype": "C"})
}

func settings(c *session.SystemContext, t *rows) {
	for _, s := range c.Settings() {
		r := row{"name": s.Name, "setting": s.Value, "category": "Tidemark", "context": s.Context, "vartype": s.Type, "source": "default",
			"boot_val": s.Default, "reset_val": s.Reset, "short_desc": "", "unit": nil, "enumvals": nil, "pending_restart": false}
		if s.Unit != "" {
			r["unit"] = s.Unit
		}
		if s.Values != nil {
			r["enumvals"] = s.Values
		}
		if s.Value != s.Default {
			r["source"] = "session"
		}
		t.add(r)
	}
}

func activity(c *session.SystemContext, t *rows) {
	for _, a := range c.Sessions() {
		var addr, port any = nil, -1 // as of a socket without addresses
		if h, p, err := net.SplitHostPort(a.ClientAddr); err == nil {
			if n, err := strconv.Atoi(p); err == nil {
				addr, port = h, n
			}
		}
		t.add(row{"datid": databaseOID, "datname": c.Database, "pid": int(a.ProcessID), "leader_pid": nil, "usesysid": ownerOID, "usename": a.User,
			"application_name": a.Application, "client_addr": addr, "client_hostname": nil, "client_port": port, "backend_start": a.StartedMicros,
			"state": "active", "backend_xid": nil, "backend_xmin": nil, "query_id": nil, "backend_type": "client backend"})
	}
}

// tableStats shows the number of rows, which is all that is counted.
func tableStats(c *session.SystemContext, t *rows) {
	for _, r := range c.Catalog.Relations() {
		if r.Kind == catalog.System || !slices.Contains([]string{"r", "m"}, relkind(r)) || c.RowEstimate == nil {
			continue
		}
		t.add(row{"relid": r.OID, "schemaname": r.Schema, "relname": r.Name, "n_live_tup": max(c.RowEstimate(r.OID), 0)})
	}
}

func databaseStats(c *session.SystemContext, t *rows) {
	t.add(row{"datid": databaseOID, "datname": c.Database, "numbackends": len(c.Sessions())})
}
