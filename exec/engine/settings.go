package engine

import (
	"maps"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
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
	unit     string                       // "ms" or "kB", for values with units
	check    func(string) (string, error) // normalises a value; nil: any text
	notice   string                       // NOTICE given when it is set
	kind     string                       // pg_settings.vartype; "" is "string"
	values   []string                     // of an enum
}

// Constructors of the kinds of parameters.

func text(name, def string) setting { return setting{name: name, def: def} }

func flag(name, def string) setting {
	return setting{name: name, def: def, check: checkBool, kind: "bool"}
}

func enum(name, def string, words ...string) setting {
	return setting{name: name, def: def, check: oneOf(words...), kind: "enum", values: words}
}

func number(name, def string, lo, hi int) setting {
	return setting{name: name, def: def, check: checkInt(lo, hi), kind: "integer"}
}

func duration(name string) setting {
	return setting{name: name, def: "0", check: checkDuration, kind: "integer", unit: "ms"}
}

func memory(name, def string) setting {
	return setting{name: name, def: def, check: checkMemory, kind: "integer", unit: "kB"}
}

func real(name, def string) setting {
	return setting{name: name, def: def, check: checkReal, kind: "real"}
}

// reported makes a parameter one that the client is told of.
func (d setting) reported() setting { d.report = true; return d }

// fixed makes a parameter one that cannot be set.
func (d setting) fixed() setting { d.readOnly = true; return d }

// checkedBy gives a parameter a check of its own.
func (d setting) checkedBy(f func(string) (string, error)) setting { d.check = f; return d }

// noted makes setting a parameter give a NOTICE.
func (d setting) noted(notice string) setting { d.notice = notice; return d }

const sparkStateNotice = "Tidemark keeps all state in one store in the data directory; this setting has no effect"

var isolationLevels = []string{"serializable", "repeatable read", "read committed", "read uncommitted"}

// settingList has the parameters that mean something here, and after them those of PostgreSQL that clients set or ask for as a
// matter of course, which have no bearing on answers: they keep what they are set to.
var settingList = []setting{
	text("application_name", "").reported(),
	enum("bytea_output", "hex", "escape", "hex"),
	text("client_encoding", "UTF8").reported().checkedBy(utf8Only),
	enum("client_min_messages", "notice", "debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"),
	text("DateStyle", "ISO, MDY").reported().checkedBy(checkDateStyle),
	enum("default_transaction_isolation", "read committed", isolationLevels...),
	flag("default_transaction_read_only", "off").reported(),
	number("extra_float_digits", "1", -15, 3),
	duration("idle_in_transaction_session_timeout"),
	flag("integer_datetimes", "on").reported().fixed(),
	flag("in_hot_standby", "off").reported().fixed(),
	enum("IntervalStyle", "postgres", "postgres", "postgres_verbose", "sql_standard", "iso_8601").reported(),
	flag("is_superuser", "on").reported().fixed(),
	text("lc_collate", "C").fixed(),
	text("lc_ctype", "C").fixed(),
	duration("lock_timeout"),
	number("max_identifier_length", "63", 63, 63).fixed(),
	memory("processor_max_memory", "128MB").checkedBy(checkCallMemory),
	number("processor_max_steps", "1000000", 1000, 1<<31-1),
	text("search_path", "\"$user\", public"),
	text("server_encoding", "UTF8").reported().fixed(),
	text("server_version", ServerVersion).reported().fixed(),
	number("server_version_num", "150000", 150000, 150000).fixed(),
	text("session_authorization", "").reported().fixed(),
	flag("standard_conforming_strings", "on").reported().checkedBy(onlyOn),
	duration("statement_timeout"),
	enum("synchronous_commit", "on", "local", "remote_write", "remote_apply", "on", "off"),
	text("TimeZone", "UTC").reported(),
	enum("transaction_isolation", "read committed", isolationLevels...),
	flag("transaction_read_only", "off"),
	text(lateAgeSetting, defaultLateAge).checkedBy(checkDuration),
	text(lateBytesSetting, defaultLateBytes).checkedBy(checkBytes),
	text("spark.sql.streaming.multipleWatermarkPolicy", "min").checkedBy(oneOf("min", "max")),
	text(sparkPartitions, "").checkedBy(checkPartitions),
	text("spark.sql.streaming.stateStore.providerClass", "").noted(sparkStateNotice),
	text("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "").noted("checkpoints are always incremental in Tidemark; this setting has no effect"),
	text("spark.sql.shuffle.partitions", "").noted("Tidemark partitions the state of a view by its option state_partitions, or by spark.sql.streaming.stateStore.partitions; this setting has no effect"),

	flag("array_nulls", "on"),
	enum("backslash_quote", "safe_encoding", "safe_encoding", "on", "off"),
	number("block_size", "8192", 8192, 8192).fixed(),
	flag("check_function_bodies", "on"),
	text("default_table_access_method", "heap"),
	text("default_tablespace", ""),
	flag("default_transaction_deferrable", "off"),
	memory("effective_cache_size", "4GB"),
	flag("enable_hashagg", "on"), flag("enable_hashjoin", "on"), flag("enable_indexscan", "on"), flag("enable_mergejoin", "on"),
	flag("enable_nestloop", "on"), flag("enable_seqscan", "on"), flag("enable_sort", "on"),
	flag("escape_string_warning", "on"),
	duration("idle_session_timeout"),
	flag("jit", "off"),
	text("lc_messages", "C"), text("lc_monetary", "C"), text("lc_numeric", "C"), text("lc_time", "C"),
	memory("maintenance_work_mem", "64MB"),
	number("max_connections", strconv.Itoa(maxSessions), 1, maxSessions).fixed(),
	number("max_index_keys", "32", 32, 32).fixed(),
	number("max_parallel_workers_per_gather", "2", 0, 1024),
	enum("password_encryption", "scram-sha-256", "md5", "scram-sha-256"),
	flag("quote_all_identifiers", "off"),
	real("random_page_cost", "4"), real("seq_page_cost", "1"),
	flag("row_security", "on"),
	enum("session_replication_role", "origin", "origin", "replica", "local"),
	text("temp_tablespaces", ""),
	text("timezone_abbreviations", "Default"),
	flag("transaction_deferrable", "off"),
	memory("work_mem", "4MB"),
	enum("xmloption", "content", "content", "document"),
}

var settingsByName = func() map[string]*setting {
	m := map[string]*setting{}
	for i := range settingList {
		m[strings.ToLower(settingList[i].name)] = &settingList[i]
	}
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
	// As in PostgreSQL, only letters and digits of an encoding's name count; some drivers send it in quotes.
	clean := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, v)
	switch clean {
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

// checkPartitions takes a number of partitions.
func checkPartitions(v string) (string, error) {
	if n, err := strconv.Atoi(v); err != nil || n < 1 || n > maxPartitions {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid value: \"%s\"", v)
	}
	return v, nil
}

// checkDuration writes a time as SHOW does: in the largest unit that divides it.
func checkDuration(v string) (string, error) {
	d, err := parseDuration(v)
	if err != nil {
		return "", err
	}
	ms := d.Round(time.Millisecond).Milliseconds()
	for _, u := range []struct {
		suffix string
		ms     int64
	}{{"d", 86400_000}, {"h", 3600_000}, {"min", 60_000}, {"s", 1000}} {
		if ms != 0 && ms%u.ms == 0 {
			return strconv.FormatInt(ms/u.ms, 10) + u.suffix, nil
		}
	}
	if ms == 0 {
		return "0", nil
	}
	return strconv.FormatInt(ms, 10) + "ms", nil
}

// memoryUnits are PostgreSQL's units of memory in kB; a bare number is kB.
var memoryUnits = []struct {
	suffix string
	kb     int64
}{{"TB", 1 << 30}, {"GB", 1 << 20}, {"MB", 1 << 10}, {"kB", 1}}

func parseMemory(v string) (kb int64, err error) {
	s, unit := strings.TrimSpace(v), int64(1)
	for _, u := range memoryUnits {
		if strings.HasSuffix(s, u.suffix) {
			s, unit = strings.TrimSpace(strings.TrimSuffix(s, u.suffix)), u.kb
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > (1<<31-1)/unit {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value: \"%s\"", v).WithHint("Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".")
	}
	return n * unit, nil
}

func checkMemory(v string) (string, error) {
	kb, err := parseMemory(v)
	if err != nil {
		return "", err
	}
	for _, u := range memoryUnits {
		if kb != 0 && kb%u.kb == 0 {
			return strconv.FormatInt(kb/u.kb, 10) + u.suffix, nil
		}
	}
	return "0", nil
}

// checkCallMemory bounds what a call of a processor may be allowed.
func checkCallMemory(v string) (string, error) {
	kb, err := parseMemory(v)
	if err == nil && kb < 64 {
		err = sqlerr.New(sqlerr.InvalidParameterValue, "invalid value: \"%s\"", v).WithHint("The least is 64kB.")
	}
	if err != nil {
		return "", err
	}
	return checkMemory(v)
}

// callBounds gives the bounds on one call of code that a session creates: steps, and bytes.
func (s *settings) callBounds() (steps, memory int64, err error) {
	text, _ := s.get("processor_max_steps")
	if steps, err = strconv.ParseInt(text, 10, 64); err != nil {
		return 0, 0, err
	}
	text, _ = s.get("processor_max_memory")
	memory, err = parseMemory(text)
	return steps, memory << 10, err
}

func checkReal(v string) (string, error) {
	if _, err := strconv.ParseFloat(v, 64); err != nil {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid value: \"%s\"", v)
	}
	return v, nil
}

// describe fills in what pg_settings says of a parameter. Values with units are numbers there.
func (d *setting) describe(s *session.Setting) {
	s.Default, s.Unit, s.Values = d.def, d.unit, d.values
	if d.kind != "" {
		s.Type = d.kind
	}
	if d.readOnly {
		s.Context = "internal"
	}
	for _, v := range []*string{&s.Value, &s.Default, &s.Reset} {
		switch d.unit {
		case "ms":
			n, _ := parseDuration(*v) // it was checked
			*v = strconv.FormatInt(n.Milliseconds(), 10)
		case "kB":
			n, _ := parseMemory(*v) // likewise
			*v = strconv.FormatInt(n, 10)
		}
	}
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
