package templates

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A ReadmeContents holds the contents of a generated folder's README.md: the folder's purpose, its files, and the next
// steps. Names from a model are data: pass them through FormatMarkdownCodeSpan in texts, and through QuoteShellWord in
// commands.
type ReadmeContents struct {
	Title, About string
	Files        []ReadmeEntry
	Steps        []ReadmeStep
}

// A ReadmeEntry describes the files that match the patterns. Patterns are those of path.Match, relative to the folder;
// a pattern that ends in a slash matches everything in a folder.
type ReadmeEntry struct {
	Patterns []string
	What     string
}

// DescribeFiles returns an entry for the files that match the patterns.
func DescribeFiles(what string, patterns ...string) ReadmeEntry {
	return ReadmeEntry{Patterns: patterns, What: what}
}

// A ReadmeStep is something to do with a folder. The commands, one per line, are to be given in the folder.
type ReadmeStep struct {
	Title, Text string
	Commands    []string
}

// RenderReadme renders r for a folder with files at the given paths, including the README. Entries that match no
// file are left out. A file that no entry matches is an error.
func (r ReadmeContents) RenderReadme(files []string) ([]byte, error) {
	view := readmeView{Title: r.Title, About: r.About, Steps: r.Steps}
	for _, e := range r.Files {
		var names []string
		for _, pattern := range e.Patterns {
			if slices.ContainsFunc(files, func(file string) bool { return matches(pattern, file) }) {
				names = append(names, FormatMarkdownCodeSpan(pattern))
			}
		}
		if names != nil {
			view.Files = append(view.Files, entryView{strings.Join(names, ", "), e.What})
		}
	}
	for _, file := range files {
		if !AnyReadmeEntryMatches(r.Files, file) {
			return nil, fmt.Errorf("README: nothing says what %s is", file)
		}
	}
	return render("README.md.tpl", view)
}

// AnyReadmeEntryMatches reports whether a pattern of one of the entries matches the file.
func AnyReadmeEntryMatches(entries []ReadmeEntry, file string) bool {
	return slices.ContainsFunc(entries, func(e ReadmeEntry) bool {
		return slices.ContainsFunc(e.Patterns, func(pattern string) bool { return matches(pattern, file) })
	})
}

// matches reports whether the pattern of a ReadmeEntry matches the file.
func matches(pattern, file string) bool {
	if strings.HasSuffix(pattern, "/") {
		return strings.HasPrefix(file, pattern)
	}
	ok, err := path.Match(pattern, file)
	if err != nil {
		panic(err) // all patterns are constants of this program
	}
	return ok
}

// The data that README.md.tpl needs.
type (
	readmeView struct {
		Title, About string
		Files        []entryView
		Steps        []ReadmeStep
	}
	entryView struct{ Names, What string }
)

// FormatMarkdownCodeSpan returns a text as a code span of Markdown, which may stand in a table. Unprintable characters
// become question marks.
func FormatMarkdownCodeSpan(s string) string {
	var b strings.Builder
	run, longest := 0, 0
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = '?'
		}
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
		if r == '|' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	fence, text := strings.Repeat("`", longest+1), b.String()
	if text == "" || text[0] == '`' || text[len(text)-1] == '`' {
		text = " " + text + " "
	}
	return fence + text + fence
}

// QuoteShellWord returns a text as one word of a shell command, printable and on one line. Unprintable characters
// become \ooo in $'...', which bash understands.
func QuoteShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("/._-+,:=@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	if strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) < 0 {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c < 0x7f:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "\\%03o", c)
		}
	}
	return "$'" + b.String() + "'"
}

// QuoteShellCommand returns the words, quoted where needed, as a shell command on one line.
func QuoteShellCommand(words []string) string {
	var line []string
	for _, w := range words {
		line = append(line, QuoteShellWord(w))
	}
	return strings.Join(line, " ")
}
