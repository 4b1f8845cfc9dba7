package arch

import (
	"cmp"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"hlsgen/internal/testsupport/tier"
)

// opening begins a comment that says where its subject is found instead of what it does.
var opening = regexp.MustCompile(`(?m)^\s*// \S+ (is|are) (what|that of|those of|where|how)`)

// mostOpenings limits the comment lines of production code that match opening.
const mostOpenings = 1

// TestOpenings counts the comments that open with 'X is what', 'X is that of', 'X is where' or 'X is how'.
func TestOpenings(t *testing.T) {
	t.Parallel()
	n := 0
	for _, files := range packages(t, true) {
		for _, s := range files {
			for _, line := range opening.FindAllString(s.text, -1) {
				n++
				t.Logf("%s: %s", s.name, strings.TrimSpace(line))
			}
		}
	}
	holdCount(t, "comments that open with 'is what', 'is that of', 'is where' or 'is how'", n, mostOpenings)
}

// holdCount checks that a count is at most a limit. It logs a hint to lower a limit that is too high.
func holdCount(t *testing.T, what string, n, most int) {
	t.Helper()
	if n > most {
		t.Errorf("%d %s, the most is %d (-v lists them)", n, what, most)
	}
	if n < most {
		t.Logf("%d %s: lower the limit of %d", n, what, most)
	}
}

// longSentence limits the words of a sentence for users.
const longSentence = 25

// TestSentences checks that no text for users has a longer sentence: README.md and docs, the pages of explain, the
// strings of production code, which are its messages and its help, and the output of commands in golden files.
func TestSentences(t *testing.T) {
	t.Parallel()
	for what, texts := range map[string]map[string][]string{
		"pages": pages(t), "strings": stringTexts(t), "goldens": goldens(t),
	} {
		total := 0
		for _, name := range sorted(texts) {
			for _, s := range sentences(strings.Join(texts[name], "\n\n")) {
				total++
				if n := len(words(s)); n > longSentence {
					t.Errorf("%s: %d words, the most is %d: %s", name, n, longSentence, s)
				}
			}
		}
		t.Logf("%s: %d sentences", what, total)
	}
}

var (
	fence     = regexp.MustCompile("(?ms)^```.*?^```$")
	remark    = regexp.MustCompile(`(?s)<!--.*?-->`)
	picture   = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	reference = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	codeSpan  = regexp.MustCompile("`[^`]*`")
	tableRow  = regexp.MustCompile(`(?m)^\|.*$`)
	listItem  = regexp.MustCompile(`(?m)^\s*(-|\d+\.|#+) `)
	formulas  = regexp.MustCompile(`(?m)^ {4,}\S.*$`)
	ended     = regexp.MustCompile(`[.!?:][)"'*_]*(\s|$)|\n\s*\n`)
	column    = regexp.MustCompile(` {2,}`)
	command   = regexp.MustCompile(`^ *(hlsgen|make) [a-z-]`)
	worded    = regexp.MustCompile(`[\pL\pN]`)
)

// pages returns the prose of README.md and docs by file.
func pages(t *testing.T) map[string][]string {
	t.Helper()
	root, all := tier.Root(t), map[string][]string{}
	add := func(path string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		all[filepath.ToSlash(rel)] = []string{markdown(string(text))}
		return err
	}
	err := add(filepath.Join(root, "README.md"))
	err = cmp.Or(err, filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		return add(path)
	}))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// markdown returns the prose of a page: without code, tables and addresses. A code span is one word.
func markdown(text string) string {
	for _, x := range []*regexp.Regexp{fence, remark, picture, tableRow, formulas} {
		text = x.ReplaceAllString(text, "")
	}
	text = codeSpan.ReplaceAllString(text, "code")
	text = reference.ReplaceAllString(text, "$1")
	return listItem.ReplaceAllString(text, "\n\n")
}

// sentences cuts a text at '.', '!', '?', ':' and empty lines.
func sentences(text string) (list []string) {
	for text != "" {
		end := len(text)
		if at := ended.FindStringIndex(text); at != nil {
			end = at[1]
		}
		if s := strings.Join(strings.Fields(text[:end]), " "); s != "" {
			list = append(list, s)
		}
		text = text[end:]
	}
	return list
}

// words returns the words of a sentence. Code in or without quotes, paths and signs do not count.
func words(sentence string) []string {
	return slices.DeleteFunc(strings.Fields(sentence), func(w string) bool {
		return !worded.MatchString(w) || strings.Contains(w, "://")
	})
}

// stringTexts returns the string constants of production code by file. What is joined with + is one string, in which
// everything that is not constant is one word.
func stringTexts(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, files := range packages(t, true) {
		for _, s := range files {
			tags := map[*ast.BasicLit]bool{}
			ast.Inspect(s.file, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.ImportSpec:
					return false
				case *ast.CallExpr: // a list of names
					if f, ok := x.Fun.(*ast.SelectorExpr); ok && receiver(f.X) == "strings" && f.Sel.Name == "Fields" {
						return false
					}
				case *ast.Field:
					tags[x.Tag] = true
				case *ast.BinaryExpr:
					if text, ok := joined(x); ok && x.Op == token.ADD {
						all[s.name] = append(all[s.name], printed(text))
						return false
					}
				case *ast.BasicLit:
					if text, ok := joined(x); ok && !tags[x] {
						all[s.name] = append(all[s.name], printed(text))
					}
				}
				return true
			})
		}
	}
	return all
}

// joined returns the text of a string constant, or of a sum that has one.
func joined(e ast.Expr) (text string, ok bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			text, err := strconv.Unquote(x.Value)
			return text, err == nil
		}
	case *ast.ParenExpr:
		return joined(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			left, a := joined(x.X)
			right, b := joined(x.Y)
			return left + right, a || b
		}
	}
	return "X", false
}

// below is the least indentation of the second line of a labelled text.
const below = "          "

// printed returns the prose in the output of a command, without rows of tables and commands. A line begins a text
// unless it is indented below the text of a labelled line.
func printed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		gaps := len(column.FindAllString(strings.TrimSpace(line), -1))
		switch {
		case gaps > 1, command.MatchString(line):
			b.WriteString("\n\n")
		case !strings.HasPrefix(line, below):
			b.WriteString("\n\n" + column.ReplaceAllString(line, "\n\n"))
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}

// goldens returns the texts of golden files by file: the output of commands, and the READMEs that they write.
func goldens(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, pattern := range []string{"cmd/hlsgen/testdata/*.txtar", "templates/testdata/*.txtar",
		"internal/build/testdata/*/*.txtar"} {
		files, err := filepath.Glob(filepath.Join(tier.Root(t), filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range files {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range archive.Files {
				name, text := filepath.Base(path)+" "+f.Name, string(f.Data)
				switch {
				case f.Name == "README.md":
					all[name] = append(all[name], markdown(text))
				case slices.Contains([]string{"stdout", "stderr", "printed"}, f.Name) && !strings.HasPrefix(text, "{"):
					all[name] = append(all[name], printed(text))
				}
			}
		}
	}
	return all
}
