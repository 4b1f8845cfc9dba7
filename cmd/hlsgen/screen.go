package main

import (
	"bytes"
	"fmt"

	"hlsgen/internal/compiler"
	"hlsgen/internal/examples"
)

// lineWidth is how wide lines of a screen are at most.
const lineWidth = 100

// A screen is what a command prints: lines, fields and tables. Nothing of it is seen until run writes it to stdout.
type screen struct {
	bytes.Buffer
	ink ink
}

// line prints a line.
func (s *screen) line(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

// title prints what a screen is about.
func (s *screen) title(format string, args ...any) {
	s.line("%s", s.ink.bold(fmt.Sprintf(format, args...)))
}

// field prints what a line is about, and what is to say, wrapped behind it.
func (s *screen) field(name, format string, args ...any) {
	const indent = "             "
	wrapped := wrap(fmt.Sprintf(format, args...), indent, lineWidth)
	s.exact(name, wrapped[len(indent):len(wrapped)-1])
}

// exact prints a field whose text is to be copied: a path, or a command.
func (s *screen) exact(name, text string) { s.line("%-13s%s", name, text) }

// example says of a source that nobody named what it is, and how one names one's own.
func (s *screen) example(src *compiler.Source, own string) {
	if src != nil && src.Example {
		s.field("example", "%s%s", exampleDoc(src.Name), own)
	}
}

func exampleDoc(name string) string {
	for _, e := range examples.All {
		if e.Name == name {
			return e.Doc
		}
	}
	panic("no example " + name)
}
