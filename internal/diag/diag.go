// Package diag holds diagnostics about the user's model, board or goal. They are collected as values and shown
// together, never printed where they arise.
//
// In comes a finding, with a code of the list in codes.go; out comes its text on a terminal or as JSON.
package diag

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// Severity is the severity of a diagnostic. Only errors stop a build.
type Severity uint8

// The severities. The zero value is invalid.
const (
	SeverityNote Severity = iota + 1
	SeverityWarning
	SeverityError
)

// String returns "note", "warning" or "error", and "invalid" for the zero value.
func (s Severity) String() string {
	return [...]string{"invalid", "note", "warning", "error"}[s]
}

// A Diag is one diagnostic. Code is a key of CodeMeanings. List.Add sets Level to the name of Severity. Node and Op
// name the ONNX node, if there is one. Where names the place: file, node index or rule. Hint states what the user can
// do. Notes add further facts, such as other attempts. Text is to be copied, line by line.
type Diag struct {
	Severity Severity `json:"-"`
	Level    string   `json:"severity"`
	Code     Code     `json:"code"`
	Node     string   `json:"node,omitempty"`
	Op       string   `json:"op,omitempty"`
	Where    string   `json:"where,omitempty"`
	Msg      string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	Text     string   `json:"text,omitempty"`
}

// A List collects diagnostics of one run in the order in which they arise. Its zero value is ready to use. With
// Strict, every warning counts as an error. Lists of intermediate attempts leave Strict unset.
type List struct {
	Diags  []Diag
	Strict bool
}

// Add appends d, with Level set to the name of its severity. It panics if the code is not in CodeMeanings or the
// severity is missing, which would be a bug of hlsgen.
func (l *List) Add(d Diag) {
	if _, ok := CodeMeanings[d.Code]; !ok || d.Severity == 0 {
		panic(fmt.Sprintf("diag: code %q severity %d is not in the list", d.Code, d.Severity))
	}
	d.Level = d.Severity.String()
	l.Diags = append(l.Diags, d)
}

// AddMissing appends, with Add, each diagnostic of more unless the list has one that is equal in all fields.
func (l *List) AddMissing(more []Diag) {
	for _, d := range more {
		if !slices.ContainsFunc(l.Diags, func(x Diag) bool { return reflect.DeepEqual(x, d) }) {
			l.Add(d)
		}
	}
}

// AddError adds an error with a message, a hint and the place it is about, such as a file; where may be empty. Node and
// Op stay empty.
func (l *List) AddError(code Code, where, msg, hint string) {
	l.Add(Diag{Severity: SeverityError, Code: code, Where: where, Msg: msg, Hint: hint})
}

// HasErrors reports whether the list contains an error, or a warning while Strict is set. Check it before writing
// results.
func (l *List) HasErrors() bool {
	for _, d := range l.Diags {
		if l.counts(d) == SeverityError {
			return true
		}
	}
	return false
}

// counts returns the severity that a diagnostic has in this list: SeverityError for a warning if Strict is set,
// otherwise its own.
func (l *List) counts(d Diag) Severity {
	if l.Strict && d.Severity == SeverityWarning {
		return SeverityError
	}
	return d.Severity
}

// WithStrictApplied returns copies of the diagnostics in the order in which they arose. With Strict, warnings are
// errors there, with a note that says so. The result is never nil.
func (l *List) WithStrictApplied() []Diag {
	told := []Diag{}
	for _, d := range l.Diags {
		if s := l.counts(d); s != d.Severity {
			d.Severity, d.Level = s, s.String()
			d.Notes = append(append([]string{}, d.Notes...), "this is a warning, which --strict makes an error")
		}
		told = append(told, d)
	}
	return told
}

// SortedBySeverity returns the diagnostics of WithStrictApplied sorted by severity, errors first. Those of equal
// severity stay in the order in which they arose.
func (l *List) SortedBySeverity() []Diag {
	ds := l.WithStrictApplied()
	sort.SliceStable(ds, func(i, j int) bool { return ds[i].Severity > ds[j].Severity })
	return ds
}

// Write prints the diagnostics of SortedBySeverity in the form of Diag.String. It ignores errors of w.
func (l *List) Write(w io.Writer) {
	for _, d := range l.SortedBySeverity() {
		io.WriteString(w, d.String())
	}
}

// String returns the form that the terminal shows:
//
//	error[scale-per-input-channel]: Conv "/features.3/Conv": the input scale varies along the reduced channels
//	   model.onnx, node 17
//	   hint: quantise activations per tensor
func (d Diag) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s[%s]: ", d.Severity, d.Code)
	if d.Op != "" {
		fmt.Fprintf(&b, "%s ", clean(cut(d.Op)))
	}
	if d.Node != "" {
		fmt.Fprintf(&b, "%s: ", quote(d.Node))
	}
	b.WriteString(clean(d.Msg))
	b.WriteByte('\n')
	if d.Where != "" {
		fmt.Fprintf(&b, "   %s\n", clean(d.Where))
	}
	if d.Hint != "" {
		fmt.Fprintf(&b, "   hint: %s\n", clean(d.Hint))
	}
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "   also: %s\n", clean(n))
	}
	for line := range strings.Lines(d.Text) {
		fmt.Fprintf(&b, "      %s\n", clean(strings.TrimSuffix(line, "\n")))
	}
	return b.String()
}

// quote returns a name from a model in quotes, with control characters escaped. It cuts names of more than 120 bytes.
func quote(s string) string { return strconv.Quote(cut(s)) }

// cut returns s, or its first 117 bytes and "..." if it has more than 120.
func cut(s string) string {
	if len(s) > 120 {
		s = s[:117] + "..."
	}
	return s
}

// clean returns a text, which may come from a model, on one line. It replaces each character that is not printable by a
// space, among them those that control a terminal or change the direction of text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
