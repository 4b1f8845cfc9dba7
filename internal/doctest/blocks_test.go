// Package doctest checks the documents against the program. It runs every command in README.md and docs, and compares
// the output. It checks that every claim of README.md names existing tests, and that the README.md of every folder that
// hlsgen writes names its files. It has only tests. With the flag -update they write the output of the commands into
// the pages.
package doctest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// A block is a fenced block of a page.
type block struct {
	page   string
	line   int    // of its fence, counted from 1
	info   string // text after the fence
	marker string // of a comment <!-- marker --> in the line before the fence
	head   string // last heading before it
	text   string
}

func (b *block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

var (
	markerLine  = regexp.MustCompile(`^<!-- (.*) -->$`)
	indented    = regexp.MustCompile(`^(    |\t)(\$ )?(hlsgen|make|go|bin/hlsgen|sbatch|python3?|cd) `)
	inlineCode  = regexp.MustCompile("`([^`]+)`")
	plainFences = regexp.MustCompile("^```")
)

// blocks returns the fenced blocks of a page, in order. It reports commands that are indented instead of fenced, as
// an error.
func blocks(t testing.TB, page, text string) (all []*block) {
	t.Helper()
	var b *block
	head, above := "", ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case b != nil && line == "```":
			all, b = append(all, b), nil
		case b != nil:
			b.text += line + "\n"
		case plainFences.MatchString(line):
			b = &block{page: page, line: i + 1, info: strings.TrimPrefix(line, "```"), head: head}
			if m := markerLine.FindStringSubmatch(above); m != nil {
				b.marker = m[1]
			}
		case indented.MatchString(line):
			t.Errorf("%s:%d: a command outside of a fence, where no test sees it: %s", page, i+1, line)
		case strings.HasPrefix(line, "#"):
			head = strings.TrimLeft(line, "# ")
		}
		above = line
	}
	if b != nil {
		t.Errorf("%s: the fence has no end", b)
	}
	return all
}

// prose returns a page without its fenced blocks.
func prose(text string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = !inside
		case !inside:
			b.WriteString(line)
		}
	}
	return b.String()
}

// A command is a command of a console block, with the output that the page shows.
type command struct {
	lines  []string // as in the page, the first with its prompt
	script string
	output string
}

const prompt = "$ "

// commands splits a console block into its commands. A line that ends in a backslash continues in the next one.
func (b *block) commands(t testing.TB) (all []*command) {
	t.Helper()
	goesOn := false
	for line := range strings.Lines(b.text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case goesOn:
			c := all[len(all)-1]
			c.lines, c.script = append(c.lines, line), c.script+"\n"+line
		case strings.HasPrefix(line, prompt):
			all = append(all, &command{lines: []string{line}, script: strings.TrimPrefix(line, prompt)})
		case len(all) == 0:
			t.Fatalf("%s: output before the first command: %s", b, line)
		default:
			all[len(all)-1].output += line + "\n"
			continue
		}
		goesOn = strings.HasSuffix(line, "\\")
	}
	if len(all) == 0 {
		t.Fatalf("%s: a console block without a command", b)
	}
	return all
}

// balanced reports whether the brackets and quotes in a piece of C++ or Python are balanced.
func balanced(text string) bool {
	closing := map[rune]rune{'(': ')', '[': ']', '{': '}'}
	var open []rune
	for line := range strings.Lines(text) {
		quote := rune(0)
	line:
		for i, r := range line {
			switch {
			case quote != 0:
				if r == quote {
					quote = 0
				}
			case i > 0 && r == '#', strings.HasPrefix(line[i:], "//"):
				break line // a comment
			case r == '"' || r == '\'':
				quote = r
			case closing[r] != 0:
				open = append(open, closing[r])
			case r == ')' || r == ']' || r == '}':
				if len(open) == 0 || open[len(open)-1] != r {
					return false
				}
				open = open[:len(open)-1]
			}
		}
		if quote != 0 {
			return false
		}
	}
	return len(open) == 0
}
