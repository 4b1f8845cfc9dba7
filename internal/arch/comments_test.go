package arch

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostFiles is how many files a package has without a map of them in its comment.
const mostFiles = 5

// Packages whose comments do not yet have what the tests below ask for. Each leaves its list when it has.
var (
	noMap = map[string]bool{
		"frontend/graph": true, "hlslib/cost": true,
	}
	noDoorways = map[string]bool{
		"hlslib": true, "hlslib/cost": true, "hlslib/estimate": true, "hlslib/mac": true,
	}
)

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

// listed reports what is wrong with a package, unless it is on a list, and what is right with one that is.
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

// TestMaps holds that a package of many files opens with a map: every file is named. The layers of hlslib have the same
// files each, which the comment of hlslib names.
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

// doorways are what a package comment says: what comes in, what goes out, and what the package may import.
var doorways = []struct {
	what string
	says *regexp.Regexp
}{
	{"what comes in", regexp.MustCompile(`(?i)\b(in comes?|comes? in)\b`)},
	{"what goes out", regexp.MustCompile(`(?i)\b(out (comes?|go|goes)|(comes?|go|goes) out)\b`)},
	{"what it may import", regexp.MustCompile(`\b(sees|imports?)\b`)},
}

// sees is the sentence that names all packages of the module that a package imports.
var sees = regexp.MustCompile(`\bIt sees ([^.]*)`)

// TestDoorways holds that a package says what comes in, what goes out, and what it may import. Where it says what it
// sees, it names those packages, by the last word of their folders, and no other ones.
func TestDoorways(t *testing.T) {
	t.Parallel()
	all := comments(t)
	folders := packages(t, false)
	known := map[string]bool{}
	for dir := range folders {
		known[path.Base(dir)] = true
	}
	for dir, files := range folders {
		written := slices.ContainsFunc(files, func(s *source) bool { return !s.test() && !s.generated() })
		if rowOf(dir) != dir || !written {
			continue
		}
		wrong := ""
		for _, d := range doorways {
			if !d.says.MatchString(all[dir]) {
				wrong = "its comment does not say " + d.what
			}
		}
		if said := sees.FindStringSubmatch(all[dir]); said != nil && wrong == "" {
			wrong = misses(said[1], imported(files), known)
		}
		listed(t, noDoorways, dir, wrong)
	}
}

// misses compares a sentence with what is imported; known are the words that mean a package.
func misses(sentence string, imports []string, known map[string]bool) string {
	words, seen := word.FindAllString(sentence, -1), map[string]bool{}
	for _, dir := range imports {
		base := path.Base(strings.TrimSuffix(dir, "/*"))
		if seen[base] = true; !slices.Contains(words, base) {
			return "its comment does not say that it sees " + dir
		}
	}
	for _, w := range words {
		if known[w] && !seen[w] {
			return "it does not see " + w + ", as its comment says"
		}
	}
	return ""
}
