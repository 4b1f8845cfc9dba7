package arch

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostFiles limits the files of a package without a map of them in its comment.
const mostFiles = 5

// noMap are the packages whose comments do not yet name every file. Each leaves the list when its comment does.
var noMap = map[string]bool{}

// comments are the package comments by folder, in which line breaks are blanks. Each package has one.
func comments(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for dir, files := range packages(t, false) {
		n := 0
		for _, s := range files {
			if c := s.file.Doc.Text(); c != "" {
				all[dir] = strings.Join(strings.Fields(c), " ")
				n++
			}
		}
		if n != 1 && !files[0].generated() {
			t.Errorf("%s: %d files have a package comment, not one", dir, n)
		}
	}
	return all
}

// listed reports a problem with a package that is not on a list, and a package on the list without a problem.
func listed(t *testing.T, list map[string]bool, dir, wrong string) {
	t.Helper()
	switch {
	case wrong != "" && !list[dir]:
		t.Errorf("%s: %s", dir, wrong)
	case wrong == "" && list[dir]:
		t.Errorf("%s: its comment has it all: leave it out of the list", dir)
	}
}

var word = regexp.MustCompile(`[A-Za-z_0-9]+`)

// TestMaps checks that the comment of a package with many files has a map that names every file. The layers of hlslib
// have the same files each, which the comment of hlslib names.
func TestMaps(t *testing.T) {
	t.Parallel()
	all := comments(t)
	for dir, files := range packages(t, false) {
		if rowOf(dir) != dir {
			continue
		}
		words, missing, n := word.FindAllString(all[dir], -1), "", 0
		for _, s := range files {
			if name := strings.TrimSuffix(path.Base(s.name), ".go"); !s.test() && !s.generated() {
				n++
				if !slices.Contains(words, name) {
					missing += " " + name + ".go"
				}
			}
		}
		if n <= mostFiles {
			missing = ""
		}
		if missing != "" {
			missing = "its comment has no word of" + missing
		}
		listed(t, noMap, dir, missing)
	}
}
