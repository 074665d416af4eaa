package sqllogictest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind is what a record does.
type kind uint8

const (
	statementRecord kind = iota
	queryRecord
	haltRecord
	sleepRecord
	restartRecord
)

// Sort modes of a query's rows.
const (
	noSort    = "nosort"
	rowSort   = "rowsort"
	valueSort = "valuesort"
)

// record is one step of a file, with loops and includes already expanded.
type record struct {
	kind kind
	file string
	line int // of the directive, from 1

	conn    string // "" is the default connection
	skipIf  []string
	onlyIf  []string
	sleep   time.Duration
	sql     string
	isError bool           // an error is expected
	pattern *regexp.Regexp // what the error must match, nil for anything
	message string         // what the error must be, "" for anything
	count   int64          // expected rows of a statement, -1 for not checked

	types     string
	sort      string
	label     string
	threshold int // hash-threshold in force
	expected  []string
	origin    *origin // where complete writes the answer, nil inside loops
}

// origin says which lines of a file hold the expected answer of a record.
type origin struct {
	file     string
	from, to int  // lines [from, to), from 0, to be replaced
	rule     bool // the line before from is ----
}

// place is how messages name a record.
func (r *record) place() string { return fmt.Sprintf("%s:%d", r.file, r.line) }

// maxDepth bounds includes and nested loops; maxRecords what they expand to.
const (
	maxDepth   = 20
	maxRecords = 1_000_000
)

// parser reads one file, and those it includes.
type parser struct {
	records   []*record
	sort      string // of control sortmode
	threshold int
	next      record // conditions and connection for the next record
	depth     int
}

// variable is a loop's variable with its value.
type variable struct{ name, value string }

// parseFile reads a file and everything that it includes.
func parseFile(path string) ([]*record, error) {
	p := &parser{sort: noSort}
	if err := p.file(path, nil); err != nil {
		return nil, err
	}
	return p.records, nil
}

func (p *parser) file(path string, vars []variable) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read test file: %w", err)
	}
	return p.text(path, string(text), vars)
}

func (p *parser) text(path, text string, vars []variable) error {
	return p.block(&lines{file: path, text: splitLines(text)}, vars)
}

func splitLines(text string) []string {
	ls := strings.Split(text, "\n")
	for i, l := range ls {
		ls[i] = strings.TrimSuffix(l, "\r")
	}
	return ls
}

// lines is a part of a file that is being read.
type lines struct {
	file  string
	text  []string
	at    int
	first int // number of text[0] in the file, from 0
}

func (l *lines) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", l.file, l.first+line+1, fmt.Sprintf(format, args...))
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

func substitute(s string, vars []variable) string {
	for _, v := range vars {
		s = strings.ReplaceAll(s, "${"+v.name+"}", v.value)
		s = strings.ReplaceAll(s, "$"+v.name, v.value)
	}
	return s
}

// block reads records up to the end of l.
func (p *parser) block(l *lines, vars []variable) error {
	if p.depth++; p.depth > maxDepth {
		return l.errorf(0, "includes or loops are nested too deeply")
	}
	defer func() { p.depth-- }()
	for l.at < len(l.text) {
		line := l.at
		head := substitute(l.text[line], vars)
		l.at++
		if isBlank(head) || strings.HasPrefix(head, "#") {
			continue
		}
		words := strings.Fields(head)
		halt, err := p.directive(l, line, words, head, vars)
		if err != nil {
			return err
		}
		if len(p.records) > maxRecords {
			return l.errorf(line, "too many records")
		}
		if halt {
			return nil
		}
	}
	return nil
}

// directive handles the record that begins with words; halt says that nothing after it counts.
func (p *parser) directive(l *lines, line int, words []string, head string, vars []variable) (halt bool, err error) {
	args := words[1:]
	switch words[0] {
	case "statement":
		return false, p.statement(l, line, args, head, vars)
	case "query":
		return false, p.query(l, line, args, head, vars)
	case "loop", "foreach":
		return false, p.loop(l, line, words, vars)
	case "include":
		return false, p.include(l, line, args, vars)
	case "halt":
		r := p.take(l, line, haltRecord)
		return len(r.skipIf)+len(r.onlyIf) == 0, nil
	case "restart":
		p.take(l, line, restartRecord)
	case "sleep":
		return false, p.sleep(l, line, args)
	case "connection":
		if len(args) != 1 {
			return false, l.errorf(line, "connection needs a name")
		}
		if p.next.conn = args[0]; args[0] == "default" {
			p.next.conn = ""
		}
	case "skipif", "onlyif":
		if len(args) < 1 {
			return false, l.errorf(line, "%s needs a label", words[0])
		}
		if words[0] == "skipif" {
			p.next.skipIf = append(p.next.skipIf, args[0])
		} else {
			p.next.onlyIf = append(p.next.onlyIf, args[0])
		}
	case "control":
		if len(args) != 2 || args[0] != "sortmode" || !isSortMode(args[1]) {
			return false, l.errorf(line, "only control sortmode nosort|rowsort|valuesort is known")
		}
		p.sort = args[1]
	case "hash-threshold":
		if len(args) == 1 {
			p.threshold, err = strconv.Atoi(args[0])
		}
		if len(args) != 1 || err != nil {
			return false, l.errorf(line, "hash-threshold needs a number")
		}
	case "subtest":
	case "system":
		return false, l.errorf(line, "system is refused: test files run no commands")
	case "endloop":
		return false, l.errorf(line, "endloop without loop")
	default:
		return false, l.errorf(line, "unknown directive %q", words[0])
	}
	return false, nil
}

func isSortMode(s string) bool { return s == noSort || s == rowSort || s == valueSort }

// take makes a record with the conditions that stood before it.
func (p *parser) take(l *lines, line int, k kind) *record {
	r := p.next
	p.next = record{}
	r.kind, r.file, r.line, r.count = k, l.file, l.first+line+1, -1
	r.threshold = p.threshold
	p.records = append(p.records, &r)
	return &r
}

func (p *parser) sleep(l *lines, line int, args []string) error {
	if len(args) != 1 {
		return l.errorf(line, "sleep needs a duration")
	}
	d, err := time.ParseDuration(args[0])
	if err != nil {
		return l.errorf(line, "sleep: %v", err)
	}
	p.take(l, line, sleepRecord).sleep = d
	return nil
}

func (p *parser) include(l *lines, line int, args []string, vars []variable) error {
	if len(args) != 1 {
		return l.errorf(line, "include needs a file name or pattern")
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(l.file), args[0]))
	if err != nil || len(files) == 0 {
		return l.errorf(line, "include %s: no such file", args[0])
	}
	slices.Sort(files)
	for _, f := range files {
		if err := p.file(f, vars); err != nil {
			return err
		}
	}
	return nil
}

// loop repeats the lines up to the matching endloop for each value of its variable.
func (p *parser) loop(l *lines, line int, words []string, vars []variable) error {
	values := []string(nil)
	switch {
	case words[0] == "foreach" && len(words) >= 2:
		values = words[2:]
	case len(words) == 4:
		from, err1 := strconv.Atoi(words[2])
		to, err2 := strconv.Atoi(words[3])
		if err1 != nil || err2 != nil || to-from > maxRecords {
			return l.errorf(line, "loop needs a variable and two numbers")
		}
		for i := from; i < to; i++ {
			values = append(values, strconv.Itoa(i))
		}
	default:
		return l.errorf(line, "loop needs a variable and two numbers")
	}
	end := matchingEnd(l)
	if end < 0 {
		return l.errorf(line, "loop without endloop")
	}
	body := l.text[l.at:end]
	for _, v := range values {
		sub := &lines{file: l.file, text: body, first: l.first + l.at}
		if err := p.block(sub, append(slices.Clone(vars), variable{words[1], v})); err != nil {
			return err
		}
	}
	l.at = end + 1
	return nil
}

func matchingEnd(l *lines) int {
	depth := 0
	for i := l.at; i < len(l.text); i++ {
		words := strings.Fields(l.text[i])
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "loop", "foreach":
			depth++
		case "endloop":
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// body reads the SQL of a record and, under ----, what is expected.
func (p *parser) body(l *lines, r *record, vars []variable) {
	var sql []string
	for l.at < len(l.text) && !isBlank(l.text[l.at]) && l.text[l.at] != "----" {
		sql = append(sql, substitute(l.text[l.at], vars))
		l.at++
	}
	r.sql = strings.Join(sql, "\n")
	o := &origin{file: l.file, from: l.first + l.at, to: l.first + l.at}
	if l.at < len(l.text) && l.text[l.at] == "----" {
		l.at++
		o.rule, o.from = true, l.first+l.at
		for l.at < len(l.text) && !isBlank(l.text[l.at]) {
			r.expected = append(r.expected, substitute(l.text[l.at], vars))
			l.at++
		}
		o.to = l.first + l.at
	}
	if len(vars) == 0 {
		r.origin = o
	}
}

func (p *parser) statement(l *lines, line int, args []string, head string, vars []variable) error {
	r := p.take(l, line, statementRecord)
	if len(args) == 0 {
		return l.errorf(line, "statement needs ok, error or count")
	}
	p.body(l, r, vars)
	switch args[0] {
	case "ok":
	case "error":
		return p.expectError(l, line, r, head)
	case "count":
		if len(args) != 2 {
			return l.errorf(line, "statement count needs a number")
		}
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil || n < 0 {
			return l.errorf(line, "statement count needs a number")
		}
		r.count = n
	default:
		return l.errorf(line, "statement needs ok, error or count")
	}
	if r.sql == "" {
		return l.errorf(line, "statement without SQL")
	}
	return nil
}

// expectError reads the rest of "statement error" and "query error".
func (p *parser) expectError(l *lines, line int, r *record, head string) error {
	r.isError = true
	_, pattern, _ := strings.Cut(head, "error")
	if pattern = strings.TrimSpace(pattern); pattern != "" {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return l.errorf(line, "regular expression: %v", err)
		}
		r.pattern = re
	}
	r.message, r.expected = strings.Join(r.expected, "\n"), nil
	if r.sql == "" {
		return l.errorf(line, "statement without SQL")
	}
	return nil
}

func (p *parser) query(l *lines, line int, args []string, head string, vars []variable) error {
	r := p.take(l, line, queryRecord)
	p.body(l, r, vars)
	if len(args) > 0 && args[0] == "error" {
		return p.expectError(l, line, r, head)
	}
	r.sort = p.sort
	if len(args) > 0 {
		r.types, args = args[0], args[1:]
	}
	if len(args) > 0 && isSortMode(args[0]) {
		r.sort, args = args[0], args[1:]
	}
	if len(args) > 0 {
		r.label, args = args[0], args[1:]
	}
	if len(args) > 0 {
		return l.errorf(line, "unexpected %q", args[0])
	}
	if r.sql == "" {
		return l.errorf(line, "query without SQL")
	}
	return nil
}
