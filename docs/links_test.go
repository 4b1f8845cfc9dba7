package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// link is a Markdown link to a file of the project.
var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// named matches code that looks like a file or folder of the project.
var named = regexp.MustCompile(
	"`((?:cmd|frontend|folding|templates|hlslib|rtlsim|boards|internal|docs)/[A-Za-z0-9_./-]*)`")

// TestLinks checks that the targets of links exist, and the places of the project that pages name.
func TestLinks(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../README.md")
	if len(files) < 9 {
		t.Fatalf("only the pages %v", files)
	}
	slices.Sort(files)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: link: %v", name, err)
			}
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
