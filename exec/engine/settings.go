package engine

import (
	"maps"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Version is Tidemark's own version, as shown by version().
const Version = "0.1.0"

// ServerVersion is the PostgreSQL version whose manners are kept.
const ServerVersion = "15.0"

// setting is one run-time parameter (PostgreSQL, chapter 20).
type setting struct {
	name     string // as PostgreSQL spells it
	def      string
	report   bool // sent as ParameterStatus
	readOnly bool
	check    func(string) (string, error) // normalises a value; nil: any text
	notice   string                       // NOTICE given when it is set
}

const sparkStateNotice = "Tidemark keeps all state in one store in the data directory; this setting has no effect"

var settingList = []setting{
	{name: "application_name", report: true},
	{name: "bytea_output", def: "hex", check: oneOf("hex", "escape")},
	{name: "client_encoding", def: "UTF8", report: true, check: utf8Only},
	{name: "client_min_messages", def: "notice"},
	{name: "DateStyle", def: "ISO, MDY", report: true, check: checkDateStyle},
	{name: "default_transaction_isolation", def: "read committed"},
	{name: "default_transaction_read_only", def: "off", report: true, check: checkBool},
	{name: "extra_float_digits", def: "1", check: checkInt(-15, 3)},
	{name: "idle_in_transaction_session_timeout", def: "0", check: checkDuration},
	{name: "integer_datetimes", def: "on", report: true, readOnly: true},
	{name: "in_hot_standby", def: "off", report: true, readOnly: true},
	{name: "IntervalStyle", def: "postgres", report: true, check: oneOf("postgres", "postgres_verbose", "sql_standard", "iso_8601")},
	{name: "is_superuser", def: "on", report: true, readOnly: true},
	{name: "lc_collate", def: "C", readOnly: true},
	{name: "lc_ctype", def: "C", readOnly: true},
	{name: "lock_timeout", def: "0", check: checkDuration},
	{name: "max_identifier_length", def: "63", readOnly: true},
	{name: "row_security", def: "on", check: checkBool},
	{name: "search_path", def: "\"$user\", public"},
	{name: "server_encoding", def: "UTF8", report: true, readOnly: true},
	{name: "server_version", def: ServerVersion, report: true, readOnly: true},
	{name: "server_version_num", def: "150000", readOnly: true},
	{name: "session_authorization", report: true, readOnly: true},
	{name: "standard_conforming_strings", def: "on", report: true, check: onlyOn},
	{name: "statement_timeout", def: "0", check: checkDuration},
	{name: "synchronous_commit", def: "on"},
	{name: "TimeZone", def: "UTC", report: true},
	{name: "transaction_isolation", def: "read committed"},
	{name: "transaction_read_only", def: "off", check: checkBool},
	{name: "xmloption", def: "content"},
	{name: "spark.sql.streaming.multipleWatermarkPolicy", def: "min", check: oneOf("min", "max")},
	{name: "spark.sql.streaming.stateStore.partitions", def: ""},
	{name: "spark.sql.streaming.stateStore.providerClass", def: "", notice: sparkStateNotice},
	{name: "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", def: "", notice: "checkpoints are always incremental in Tidemark; this setting has no effect"},
	{name: "spark.sql.shuffle.partitions", def: "", notice: "Tidemark partitions the state of a view by its own option state_partitions; this setting has no effect"},
}

var settingsByName = func() map[string]*setting {
	m := map[string]*setting{}
	for i := range settingList {
		m[strings.ToLower(settingList[i].name)] = &settingList[i]
	}
	m["timezone"] = m["timezone"]
	return m
}()

func invalidValue(name, v string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"%s\": \"%s\"", name, v)
}

func oneOf(words ...string) func(string) (string, error) {
	return func(v string) (string, error) {
		for _, w := range words {
			if strings.EqualFold(w, v) {
				return w, nil
			}
		}
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid value: \"%s\"", v).WithHint("Available values: %s.", strings.Join(words, ", "))
	}
}

func utf8Only(v string) (string, error) {
	switch strings.ToUpper(strings.ReplaceAll(v, "-", "")) {
	case "UTF8", "UNICODE":
		return "UTF8", nil
	}
	return "", sqlerr.Unsupported("client_encoding \"%s\" is not supported: only UTF8 is", v)
}

func onlyOn(v string) (string, error) {
	b, err := checkBool(v)
	if err == nil && b == "off" {
		return "", sqlerr.Unsupported("standard_conforming_strings = off is not supported")
	}
	return b, err
}

func checkBool(v string) (string, error) {
	switch strings.ToLower(v) {
	case "on", "true", "yes", "1", "t", "y":
		return "on", nil
	case "off", "false", "no", "0", "f", "n":
		return "off", nil
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "parameter requires a Boolean value")
}

func checkInt(lo, hi int) func(string) (string, error) {
	return func(v string) (string, error) {
		n, err := strconv.Atoi(v)
		if err != nil {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid value: \"%s\"", v)
		}
		if n < lo || n > hi {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "%d is outside the valid range (%d .. %d)", n, lo, hi)
		}
		return v, nil
	}
}

// durationUnits are PostgreSQL's units of time parameters; a bare number is milliseconds.
var durationUnits = []struct {
	suffix string
	unit   time.Duration
}{{"ms", time.Millisecond}, {"us", time.Microsecond}, {"min", time.Minute}, {"s", time.Second}, {"h", time.Hour}, {"d", 24 * time.Hour}}

// parseDuration reads the value of a time parameter.
func parseDuration(v string) (time.Duration, error) {
	s, unit := strings.TrimSpace(v), time.Millisecond
	for _, u := range durationUnits {
		if strings.HasSuffix(s, u.suffix) {
			s, unit = strings.TrimSpace(strings.TrimSuffix(s, u.suffix)), u.unit
			break
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f*float64(unit) > float64(1<<62) {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value: \"%s\"", v).WithHint("Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".")
	}
	return time.Duration(f * float64(unit)), nil
}

func checkDuration(v string) (string, error) {
	_, err := parseDuration(v)
	return v, err
}

func checkDateStyle(v string) (string, error) {
	format, order := "ISO", "MDY"
	for _, w := range strings.Split(v, ",") {
		switch strings.ToUpper(strings.TrimSpace(w)) {
		case "ISO", "DEFAULT":
		case "MDY", "US", "NONEURO", "NONEUROPEAN":
			order = "MDY"
		case "DMY", "EURO", "EUROPEAN":
			order = "DMY"
		case "YMD":
			order = "YMD"
		case "SQL", "POSTGRES", "GERMAN":
			return "", sqlerr.Unsupported("DateStyle \"%s\" is not supported: only ISO output is", strings.TrimSpace(w))
		default:
			return "", invalidValue("DateStyle", v)
		}
	}
	return format + ", " + order, nil
}

// settings are the run-time parameters of one session.
type settings struct {
	values map[string]string // lower-case name
	start  map[string]string // what RESET goes back to: the values that the session began with
	env    *types.Env        // made from the values, nil when it must be made again
}

func newSettings() *settings {
	s := &settings{values: map[string]string{}, start: map[string]string{}}
	for _, d := range settingList {
		s.values[strings.ToLower(d.name)] = d.def
	}
	s.started()
	return s
}

// started makes the present values those that RESET goes back to.
func (s *settings) started() { maps.Copy(s.start, s.values) }

// get reads a parameter. Unknown dotted names are custom parameters, as in PostgreSQL.
func (s *settings) get(name string) (string, bool) {
	v, ok := s.values[canonical(name)]
	return v, ok
}

// set checks and stores a value and gives the parameter's definition (nil for a custom one).
func (s *settings) set(name, value string) (*setting, error) {
	name = canonical(name)
	d := settingsByName[name]
	if d == nil {
		if !strings.Contains(name, ".") {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", name)
		}
		s.values[name] = value
		return nil, nil
	}
	if d.readOnly {
		return nil, sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed", d.name)
	}
	if name == "timezone" {
		loc, err := types.ParseZone(value)
		if err != nil {
			return nil, invalidValue("TimeZone", value)
		}
		value = loc.String()
	} else if d.check != nil {
		v, err := d.check(value)
		if err != nil {
			e := sqlerr.From(err)
			if e.Code == sqlerr.InvalidParameterValue {
				e = sqlerr.New(e.Code, "invalid value for parameter \"%s\": \"%s\"", d.name, value)
				e.Hint = sqlerr.From(err).Hint
			}
			return nil, e
		}
		value = v
	}
	s.values[name] = value
	s.env = nil
	return d, nil
}

// reset gives a parameter the value back that it had when the session began.
func (s *settings) reset(name string) (*setting, error) {
	name = canonical(name)
	d := settingsByName[name]
	if d == nil {
		if _, ok := s.values[name]; ok {
			delete(s.values, name)
			return nil, nil
		}
		return nil, sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", name)
	}
	s.values[name] = s.start[name]
	s.env = nil
	return d, nil
}

func canonical(name string) string {
	name = strings.ToLower(name)
	if name == "time zone" {
		return "timezone"
	}
	return name
}

// searchPath lists the schemas of search_path; "$user" is left out unless a schema of that name exists, which the caller sees.
func (s *settings) searchPath(user string) []string {
	var out []string
	for _, p := range strings.Split(s.values["search_path"], ",") {
		p = strings.Trim(strings.TrimSpace(p), "\"")
		if p == "$user" {
			if p = user; catalog.SystemSchema(user) {
				continue // a user called tidemark does not mean the system's schema
			}
		}
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

// typesEnv gives the values' input and output environment.
func (s *settings) typesEnv() *types.Env {
	if s.env == nil {
		e := types.DefaultEnv()
		if loc, err := types.ParseZone(s.values["timezone"]); err == nil {
			e.Location, e.TimeZoneName = loc, s.values["timezone"]
		}
		if _, order, ok := strings.Cut(s.values["datestyle"], ", "); ok {
			e.DateOrder = order
		}
		e.IntervalStyle = s.values["intervalstyle"]
		e.ByteaHex = s.values["bytea_output"] != "escape"
		e.ExtraFloatDigits, _ = strconv.Atoi(s.values["extra_float_digits"])
		s.env = e
	}
	e := *s.env
	return &e
}

// names lists all parameters that SHOW ALL shows, sorted without regard to case.
func (s *settings) names() []string {
	var out []string
	for k := range s.values {
		if d := settingsByName[k]; d != nil {
			k = d.name
		}
		out = append(out, k)
	}
	sort.Slice(out, func(i, j int) bool { return strings.ToLower(out[i]) < strings.ToLower(out[j]) })
	return out
}
