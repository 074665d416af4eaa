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
}

// DefaultEnv is UTC, ISO, MDY.
func DefaultEnv() *Env {
	return &Env{Location: time.UTC, TimeZoneName: "UTC", DateOrder: "MDY", DateFormat: "ISO", IntervalStyle: "postgres", ExtraFloatDigits: 1, ByteaHex: true}
}
