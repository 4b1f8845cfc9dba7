package main

import (
	"regexp"
	"strings"

	"github.com/rivo/uniseg"
)

// escape matches the sequences that colour text on a terminal and take no room there.
var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// columnsOf returns the number of columns of a terminal that a text takes. A Chinese character takes two, an accent or
// a colour none.
func columnsOf(s string) int {
	if strings.ContainsRune(s, '\x1b') {
		s = escape.ReplaceAllString(s, "")
	}
	return uniseg.StringWidth(s)
}

// wrap breaks text into lines of at most width columns, each of which begins with the indent. The last one ends in a
// line feed, too. A longer word stays whole.
func wrap(text, indent string, width int) string {
	var b strings.Builder
	column := 0
	for _, w := range strings.Fields(text) {
		n := columnsOf(w)
		switch {
		case column == 0:
			b.WriteString(indent)
			column = len(indent)
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += n
	}
	return b.String() + "\n"
}

// tokens splits a line into colours, spaces and words.
var tokens = regexp.MustCompile("\x1b\\[[0-9;]*m| +|[^ \x1b]+|\x1b")

// fold breaks a line that is wider than a terminal between words. The following lines are indented by hang columns
// more than the first. A word that is wider than a line stays whole.
func fold(line string, width, hang int) string {
	if columnsOf(line) <= width {
		return line
	}
	start := len(line) - len(strings.TrimLeft(line, " "))
	rest := min(start+hang, width/2)
	var b strings.Builder
	column, gap, between := 0, 0, ""
	some := false // the line has a word
	for _, tok := range tokens.FindAllString(line, -1) {
		switch {
		case tok[0] == ' ':
			gap, between = gap+len(tok), between+tok
			continue
		case escape.MatchString(tok):
			between += tok
			continue
		}
		n := columnsOf(tok)
		if column+gap+n > width && some {
			b.WriteString("\n" + strings.Repeat(" ", rest) + strings.ReplaceAll(between, " ", ""))
			column = rest
		} else {
			b.WriteString(between)
			column += gap
		}
		b.WriteString(tok)
		column, gap, between, some = column+n, 0, "", true
	}
	return b.String() + strings.TrimRight(between, " ")
}

// shellFold breaks a command that is wider than a terminal into lines that a shell reads as one command. A line that
// goes on ends in a backslash, and a comment comes first.
func shellFold(line string, width int) string {
	if columnsOf(line) <= width {
		return line
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	command, comment, has := strings.Cut(line, " # ")
	if has {
		text := strings.TrimSuffix(wrap(comment, indent+"# ", width), "\n")
		return text + "\n" + shellFold(strings.TrimRight(command, " "), width)
	}
	const hang, more = 4, 2 // more: a space and the backslash
	var b strings.Builder
	column := 0
	for i, word := range shellWords(strings.TrimLeft(command, " ")) {
		n := columnsOf(word)
		switch {
		case i == 0:
			b.WriteString(indent)
			column = len(indent)
		case column+1+n+more > width:
			b.WriteString(" \\\n" + indent + strings.Repeat(" ", hang))
			column = len(indent) + hang
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// shellWords splits a command at the spaces outside of quotes.
func shellWords(command string) (words []string) {
	var b strings.Builder
	quote := rune(0)
	for _, r := range command {
		switch {
		case quote == 0 && r == ' ':
			if b.Len() > 0 {
				words = append(words, b.String())
			}
			b.Reset()
			continue
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case r == quote:
			quote = 0
		}
		b.WriteRune(r)
	}
	return append(words, b.String())
}

// Patterns of lines in a page: items of lists, and lines that stay as they are.
var (
	bullet = regexp.MustCompile(`^ *([-*]|[0-9]+\.) `)
	fixed  = regexp.MustCompile("^([ #|<>]|```)") // lines that are not joined to a paragraph
)

// A reflow breaks the paragraphs of a page into lines of another width.
type reflow struct {
	strings.Builder
	width        int
	indent, hang string // of the paragraph: before its first line, and before the other lines
	words        []string
}

// end writes the current paragraph.
func (r *reflow) end() {
	if len(r.words) > 0 {
		text := wrap(strings.Join(r.words, " "), r.hang, r.width)
		r.WriteString(r.indent + text[len(r.hang):])
	}
	r.words, r.indent, r.hang = nil, "", ""
}

// rewrapped returns a page with its paragraphs and lists broken at width columns. Lines of fenced blocks and tables
// are folded if they are wider.
func rewrapped(page string, width int) string {
	r := reflow{width: width}
	fence := ""
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		item := bullet.FindString(line)
		switch {
		case strings.HasPrefix(line, "```"):
			r.end()
			if fence == "" {
				fence = line
			} else {
				fence = ""
			}
			r.WriteString(line + "\n")
		case strings.HasPrefix(fence, "```sh"):
			r.WriteString(shellFold(line, width) + "\n")
		case fence != "":
			r.WriteString(fold(line, width, 3) + "\n")
		case line == "":
			r.end()
			r.WriteString("\n")
		case item != "":
			r.end()
			r.indent, r.hang = item, strings.Repeat(" ", len(item))
			r.words = strings.Fields(line[len(item):])
		case r.hang != "" && strings.HasPrefix(line, r.hang) && strings.TrimLeft(line, " ") == line[len(r.hang):]:
			r.words = append(r.words, strings.Fields(line)...)
		case fixed.MatchString(line):
			r.end()
			r.WriteString(fold(line, width, 2) + "\n")
		default:
			r.words = append(r.words, strings.Fields(line)...)
		}
	}
	r.end()
	return r.String()
}
