package file

import (
	"path"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// options are those of CREATE STREAM, read.
type options struct {
	root        string // a directory, or one file
	pattern     string
	format      string // "csv", "json", "parquet"
	header      bool
	delimiter   byte
	null        string
	byTime      bool
	compression string // "auto", "none", "gzip", "zstd"
	bounded     bool
	maxAge      int64 // microseconds by which a file that is found may be older than those that were read; 0: any
}

// names lists the options that there are, for messages. The engine adds its own.
var names = []string{"path", "match_pattern", "format", "header", "without_header", "delimiter", "null", "order", "compression", "bounded", "max_file_age"}

func invalid(name, value, hint string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for option \"%s\": \"%s\"", name, value).WithHint("%s", hint)
}

// parseOptions reads the options; posix_fs.root is RisingWave's name of path, encode its ENCODE.
func parseOptions(in map[string]string) (*options, error) {
	o := &options{delimiter: ',', pattern: "*", compression: "auto", bounded: false}
	headerBy := ""
	keys := make([]string, 0, len(in))
	for k := range in {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		v := in[k]
		var err error
		switch k {
		case "path", "posix_fs.root":
			if o.root != "" {
				return nil, sqlerr.New(sqlerr.InvalidParameterValue, "options \"path\" and \"posix_fs.root\" mean the same, one of them is enough")
			}
			o.root = v
		case "match_pattern":
			if _, err := path.Match(v, ""); err != nil || v == "" {
				return nil, invalid(k, v, "It is a pattern of file names such as *.csv; with a slash, of paths below the directory.")
			}
			o.pattern = v
		case "format":
			o.format = strings.ToLower(v)
			if !slices.Contains([]string{"csv", "json", "parquet"}, o.format) {
				return nil, invalid(k, v, "Available values: csv, json, parquet.")
			}
		case "header", "without_header":
			if headerBy != "" {
				return nil, sqlerr.New(sqlerr.InvalidParameterValue, "options \"header\" and \"without_header\" contradict each other")
			}
			headerBy = k
			if o.header, err = boolean(k, v); err != nil {
				return nil, err
			}
			o.header = o.header == (k == "header")
		case "delimiter":
			if v == `\t` {
				v = "\t"
			}
			if len(v) != 1 || strings.ContainsAny(v, "\"\r\n0123456789") {
				return nil, invalid(k, in[k], "It is a single one-byte character that is no digit, or \\t.")
			}
			o.delimiter = v[0]
		case "null":
			if strings.ContainsAny(v, "\"\r\n") {
				return nil, invalid(k, v, "It is a text without quotes and line ends.")
			}
			o.null = v
		case "order":
			if o.byTime = strings.EqualFold(v, "time"); !o.byTime && !strings.EqualFold(v, "name") {
				return nil, invalid(k, v, "Available values: name, time.")
			}
		case "compression":
			o.compression = strings.ToLower(v)
			if !slices.Contains([]string{"auto", "none", "gzip", "zstd"}, o.compression) {
				return nil, invalid(k, v, "Available values: auto, none, gzip, zstd.")
			}
		case "bounded":
			if o.bounded, err = boolean(k, v); err != nil {
				return nil, err
			}
		case "max_file_age":
			if o.maxAge, err = age(k, v); err != nil {
				return nil, err
			}
		default:
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", k).
				WithHint("The options of a file are connector, retention, max_watermark_step, posix_fs.root, %s.", strings.Join(names, ", "))
		}
	}
	return o, o.complete(in)
}

// complete tests what options need of each other.
func (o *options) complete(in map[string]string) error {
	if o.root == "" {
		return sqlerr.New(sqlerr.InvalidParameterValue, "option \"path\" is missing").WithHint("It names a directory, or a file.")
	}
	if o.format == "" {
		return sqlerr.New(sqlerr.InvalidParameterValue, "option \"format\" is missing").WithHint("Available values: csv, json, parquet.")
	}
	if o.format != "csv" {
		for _, k := range []string{"header", "without_header", "delimiter", "null"} {
			if _, ok := in[k]; ok {
				return sqlerr.New(sqlerr.InvalidParameterValue, "option \"%s\" is for csv only", k)
			}
		}
	}
	if _, ok := in["compression"]; ok && o.format == "parquet" {
		return sqlerr.New(sqlerr.InvalidParameterValue, "option \"compression\" is not for parquet, which compresses within the file")
	}
	return nil
}

// age reads an interval of days and less, in microseconds.
func age(name, v string) (int64, error) {
	d, err := types.Parse(types.Of(types.Interval), v, parseEnv)
	if err == nil {
		if months, days, micros := types.IntervalParts(d.I, d.J); months == 0 && days >= 0 && micros >= 0 && int64(days)+micros > 0 {
			return int64(days)*86_400_000_000 + micros, nil
		}
	}
	return 0, invalid(name, v, "It is an interval of days, hours and less, such as 7 days.")
}

func boolean(name, v string) (bool, error) {
	d, err := types.Parse(types.Of(types.Bool), v, nil)
	if err != nil {
		return false, invalid(name, v, "It is true or false.")
	}
	return d.I != 0, nil
}

// Connector makes file sources.
type Connector struct{}

// Check implements connector.Connector.
func (Connector) Check(c connector.Config) error {
	if _, err := parseOptions(c.Options); err != nil {
		return err
	}
	if len(c.Columns) == 0 {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "a stream that reads files needs columns")
	}
	return nil
}

// Bounded implements connector.Connector.
func (Connector) Bounded(opts map[string]string) bool {
	o, err := parseOptions(opts)
	return err == nil && o.bounded
}

// Open implements connector.Connector.
func (Connector) Open(c connector.Config) (connector.Source, error) {
	o, err := parseOptions(c.Options)
	if err != nil {
		return nil, err
	}
	off := c.Offset
	if off == nil {
		off = &connector.Offset{}
	}
	return &source{opts: o, cfg: c, fields: newFields(c.Columns), off: off, tails: map[string]seen{}}, nil
}

// Reread implements connector.Connector.
func (Connector) Reread(c connector.Config) (connector.Rereader, error) {
	o, err := parseOptions(c.Options)
	if err != nil {
		return nil, err
	}
	return &rereader{opts: o, cfg: c, fields: newFields(c.Columns)}, nil
}
