package templates

import (
	"fmt"
	"strconv"
	"strings"
)

// IsIdentifier reports whether s can be a name in C++ and in the generated HDL. It must consist of letters, digits and
// single underscores, start with a letter, and not end with an underscore.
func IsIdentifier(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case letter(c):
		case i > 0 && digit(c):
		case c == '_' && i > 0 && i < len(s)-1 && s[i-1] != '_':
		default:
			return false
		}
	}
	return s != ""
}

// topName returns the name of the top function, and of the IP, for a model. The suffix prevents collisions with
// keywords and with the layers' names.
func topName(model string) string {
	var b strings.Builder
	for _, c := range []byte(model) {
		switch {
		case letter(c), digit(c):
			b.WriteByte(c)
		case b.Len() > 0 && b.String()[b.Len()-1] != '_':
			b.WriteByte('_')
		}
		if b.Len() == 40 {
			break
		}
	}
	name := strings.Trim(b.String(), "_")
	switch {
	case name == "":
		return "network_top"
	case digit(name[0]):
		return "net_" + name + "_top"
	}
	return name + "_top"
}

// SanitiseComment returns a string from a model in a form that is safe in a comment of generated text. It is printable
// ASCII on one line; characters outside of ASCII become question marks, and a long string is cut.
func SanitiseComment(s string) string { return comment(s) }

// comment returns a string from a model in a form that is safe in a // or /* */ comment. It is printable ASCII on one
// line, with at most 100 characters. It has no end of comment, and no line splice (a backslash or its trigraph).
func comment(s string) string {
	var b strings.Builder
	last := byte(0)
	for _, r := range s {
		c := byte('?')
		switch {
		case r == '\\':
			c = '|'
		case r == '\n' || r == '\r' || r == '\t':
			c = ' '
		case r >= ' ' && r < 0x7f:
			c = byte(r)
		}
		if b.Len() >= 96 {
			b.WriteString("...")
			break
		}
		if (last == '*' && c == '/') || (last == '/' && c == '*') || (last == '?' && c == '?') {
			b.WriteByte(' ')
		}
		b.WriteByte(c)
		last = c
	}
	return strings.TrimRight(b.String(), " ")
}

// toolWord returns an error if s cannot stand unquoted in Tcl and configuration files. what names it, such as a part's
// name.
func toolWord(what, s string) error {
	for i := range len(s) {
		if c := s[i]; !letter(c) && !digit(c) && (i == 0 || !strings.ContainsRune("-_.", rune(c))) {
			return fmt.Errorf("%s %q has characters other than letters, digits, dot, hyphen and underscore", what, s)
		}
	}
	if s == "" {
		return fmt.Errorf("%s is empty", what)
	}
	return nil
}

// letter reports whether c is a letter of ASCII.
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// digit reports whether c is a decimal digit.
func digit(c byte) bool { return c >= '0' && c <= '9' }

// cStreamName returns the C++ name of stream s of the graph: "s0" for stream 0.
func cStreamName(s int) string { return "s" + strconv.Itoa(s) }
