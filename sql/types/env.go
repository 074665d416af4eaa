package types

import "time"

// Env is how values are read and shown in a session: PostgreSQL's run-time
// parameters that matter for input and output. It is read-only once made.
type Env struct {
	Location         *time.Location // TimeZone; nil means UTC
	TimeZoneName     string
	DateOrder        string // of DateStyle: "MDY", "DMY", "YMD"
	DateFormat       string // of DateStyle: "ISO" (the only output form built so far)
	IntervalStyle    string // "postgres" (default), "postgres_verbose", "sql_standard", "iso_8601"
	ExtraFloatDigits int
	ByteaHex         bool
	Now              int64 // statement or epoch timestamp in microseconds since 1970, for 'now', 'today'

	// RegName gives what text shows for the OID of an object (Kind.IsReg), and RegOID reads such a text; nil, or ok =
	// false, where the catalog is not known: OIDs are then shown and read as numbers. Types need no catalog.
	RegName func(kind Kind, oid uint32) (name string, ok bool)
	RegOID  func(kind Kind, text string) (oid uint32, err error)
}

// DefaultEnv is UTC, ISO, MDY.
func DefaultEnv() *Env {
	return &Env{Location: time.UTC, TimeZoneName: "UTC", DateOrder: "MDY", DateFormat: "ISO", IntervalStyle: "postgres", ExtraFloatDigits: 1, ByteaHex: true}
}
