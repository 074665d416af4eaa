package sqllogictest

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// Report is the outcome of a run.
type Report struct {
	Mode  Mode
	Files []FileReport
}

// FileReport is the outcome of one file.
type FileReport struct {
	Name     string
	Records  int // that were run
	Skipped  int // by skipif and onlyif
	Views    int // queries that were run as views
	NoView   int // queries that the server does not maintain as views (0A000)
	Restarts int
	Failures []Failure
	Duration time.Duration
}

// Failure is a record that did not do what its file says.
type Failure struct {
	Place   string // file:line
	SQL     string
	Message string
	Want    string // "" where there is nothing to compare
	Got     string
}

func (f *FileReport) fail(x Failure) { f.Failures = append(f.Failures, x) }

// Failed says whether any record failed.
func (r Report) Failed() bool {
	for _, f := range r.Files {
		if len(f.Failures) > 0 {
			return true
		}
	}
	return false
}

// String tells what failed, and a line for each file.
func (r Report) String() string {
	var sb strings.Builder
	for _, f := range r.Files {
		for _, x := range f.Failures {
			sb.WriteString(x.String())
		}
	}
	for _, f := range r.Files {
		verdict := "ok"
		if len(f.Failures) > 0 {
			verdict = fmt.Sprintf("FAILED (%d)", len(f.Failures))
		}
		fmt.Fprintf(&sb, "%-8s %-10s %s: %d records", r.Mode, verdict, f.Name, f.Records)
		for _, n := range []struct {
			n    int
			what string
		}{{f.Skipped, "skipped"}, {f.Views, "as views"}, {f.NoView, "not as views"}, {f.Restarts, "restarts"}} {
			if n.n > 0 {
				fmt.Fprintf(&sb, ", %d %s", n.n, n.what)
			}
		}
		fmt.Fprintf(&sb, " (%v)\n", f.Duration.Round(time.Millisecond))
	}
	return sb.String()
}

// String shows the failure with the difference.
func (x Failure) String() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "%s: %s\n", x.Place, x.Message)
	if x.SQL != "" {
		sb.WriteString(indent(x.SQL))
	}
	if x.Want != "" || x.Got != "" {
		sb.WriteString("  expected:\n" + indent(x.Want) + "  got:\n" + indent(x.Got))
	}
	return sb.String()
}

func indent(s string) string {
	if s == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(s, "\n", "\n    ") + "\n"
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Seconds float64       `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the reports of several runs in JUnit's XML form, a test case for each file.
func WriteJUnit(w io.Writer, reports ...Report) error {
	s := junitSuite{Name: "sqllogictest"}
	for _, r := range reports {
		for _, f := range r.Files {
			c := junitCase{Name: f.Name, Class: string(r.Mode), Seconds: f.Duration.Seconds()}
			if len(f.Failures) > 0 {
				s.Failures++
				var text strings.Builder
				for _, x := range f.Failures {
					text.WriteString(x.String())
				}
				c.Failure = &junitFailure{Message: f.Failures[0].Message, Text: text.String()}
			}
			s.Cases = append(s.Cases, c)
		}
	}
	s.Tests = len(s.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(s); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
