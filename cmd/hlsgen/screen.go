package main

import (
	"bytes"
	"fmt"
	"strings"

	"hlsgen/internal/examples"
	"hlsgen/internal/report"
	"hlsgen/internal/source"
)

// lineWidth is the width of a line in columns if the terminal's width is unknown. Prose is no wider on any terminal.
const lineWidth = 100

// A screen collects the output of a command: lines, fields and tables. run writes it to stdout when the command ends.
type screen struct {
	bytes.Buffer
	ink   ink
	width int // of the terminal; 0: nothing says how wide it is
}

// columns returns the most columns that a table may take on a screen: the terminal's width, or lineWidth if that is
// unknown.
func columns(s *screen) int {
	if s.width == 0 {
		return lineWidth
	}
	return s.width
}

// prose returns the most columns that a line of prose takes on a screen.
func prose(s *screen) int { return min(columns(s), lineWidth) }

// line prints a line, and folds it if the terminal is narrower.
func (s *screen) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.width == 0 {
		s.WriteString(text + "\n")
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		s.WriteString(fold(line, s.width, 2) + "\n")
	}
}

// title prints the bold heading of a screen.
func (s *screen) title(format string, args ...any) {
	s.line("%s", s.ink.bold(fmt.Sprintf(format, args...)))
}

// field prints a name, and beside it a text that is wrapped.
func (s *screen) field(name, format string, args ...any) {
	wrapped := wrap(fmt.Sprintf(format, args...), beside, prose(s))
	put(s, name, strings.TrimPrefix(wrapped[:len(wrapped)-1], beside))
}

// put writes a field. If a path is too long for the place beside the name, a terminal gets it below the name.
func put(s *screen, name, text string) {
	for i, line := range strings.Split(fmt.Sprintf("%-*s%s", len(beside), name, text), "\n") {
		word := strings.TrimSpace(line)
		if i == 0 {
			word, _, _ = strings.Cut(text, "\n")
		}
		if n := columnsOf(word); s.width > 0 && columnsOf(line) > s.width {
			if i == 0 && name != "" {
				s.WriteString(name + "\n")
			}
			line = strings.Repeat(" ", max(0, min(2, s.width-n))) + word
		}
		s.WriteString(line + "\n")
	}
}

// beside is the indent, in spaces, of the texts beside the names of fields.
const beside = "             "

// exact prints a field with a text to copy: a path, or a list of paths.
func (s *screen) exact(name, text string) {
	if s.width > 0 {
		text = strings.ReplaceAll(fold(text, s.width-len(beside), 0), "\n", "\n"+beside)
	}
	put(s, name, text)
}

// command prints a field with a command to type. Its lines are joined by backslashes.
func command(s *screen, name string, lines ...string) {
	for i, text := range lines {
		if i < len(lines)-1 {
			text += " \\"
		}
		if s.width > 0 {
			text = strings.ReplaceAll(shellFold(text, s.width-len(beside)), "\n", "\n"+beside)
		}
		put(s, name, text)
		name = ""
	}
}

// example describes the embedded example if the user named no model. own says how to name one.
func (s *screen) example(src *source.ModelSource, own string) {
	if src != nil && src.Example {
		s.field("example", "%s%s", exampleDoc(src.Name), own)
	}
}

// exampleDoc returns the description of an embedded example. It panics if there is no such example.
func exampleDoc(name string) string {
	for _, e := range examples.NamesAndDocs {
		if e.Name == name {
			return e.Doc
		}
	}
	panic("no example " + name)
}

// An about holds the first fields of the JSON object of a command on a model.
type about struct {
	report.ReportHead
	Model   string `json:"model"`
	Example bool   `json:"example"`
}

// aboutOf returns the first fields of a command's JSON, about its model.
func aboutOf(s *source.ModelSource) about { return about{report.CurrentReportHead, s.Name, s.Example} }
