package arch

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// gap parts the names of a map's row from what is said of them.
var gap = regexp.MustCompile(` {2,}|\t`)

// mapOf returns the files that a package comment names, in order, without their ending. Rows of the map are indented:
// names, a gap, and what the files hold. A file that only the prose names comes after these.
func mapOf(comment string, files []string) (order []string) {
	add := func(text string) {
		for _, w := range word.FindAllString(text, -1) {
			if slices.Contains(files, w) && !slices.Contains(order, w) {
				order = append(order, w)
			}
		}
	}
	for line := range strings.Lines(comment) {
		if row, ok := strings.CutPrefix(line, "\t"); ok && !strings.HasPrefix(row, " ") {
			names, _, _ := strings.Cut(gap.ReplaceAllString(strings.TrimSpace(row), "\n"), "\n")
			add(names)
		}
	}
	add(comment)
	return order
}

// ups returns the pairs of files of a package of which the first uses something that the second declares, although the
// package's map names the second later.
func ups(c checked) (pairs []string) {
	var names []string
	comment := ""
	for _, s := range c.files {
		comment += s.file.Doc.Text()
		names = append(names, strings.TrimSuffix(path.Base(s.name), ".go"))
	}
	order := mapOf(comment, names)
	place := func(file string) int { return slices.Index(order, strings.TrimSuffix(path.Base(file), ".go")) }
	seen := map[string]bool{}
	for id, o := range c.info.Uses {
		if o.Pkg() == nil || o.Pkg().Path() != module+"/"+c.dir {
			continue
		}
		from, to := fileSet.Position(id.Pos()).Filename, fileSet.Position(o.Pos()).Filename
		if place(from) < place(to) {
			seen[fmt.Sprintf("%s uses %s", path.Base(from), path.Base(to))] = true
		}
	}
	return sorted(seen)
}

// TestUps holds that the files of a package rest on those that its map names before them. The list of policy.go says
// how often files of a package do otherwise: it may become shorter, not longer.
func TestUps(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	for _, c := range typed(t) {
		if len(c.files) <= mostFiles {
			continue
		}
		pairs := ups(c)
		found[c.dir] = len(pairs)
		if n := mostUps[c.dir]; len(pairs) > n {
			t.Errorf("%s: %d pairs of files against the order of its map, at most %d are wanted:\n%s", c.dir,
				len(pairs),
				n, strings.Join(pairs, "\n"))
		} else if len(pairs) < n {
			t.Errorf("%s: %d pairs of files against the order of its map: set mostUps to that", c.dir, len(pairs))
		}
	}
	for dir := range mostUps {
		if _, ok := found[dir]; !ok {
			t.Errorf("%s has no map to hold: leave it out of mostUps", dir)
		}
	}
	n := 0
	for _, dir := range []string{"graph", "program", "execution", "operators", "axes"} {
		n += found["frontend/"+dir]
	}
	if n >= 60 {
		t.Errorf("%d pairs of files of the five packages of programs are against their order, want fewer than 60", n)
	}
}

func TestMapOf(t *testing.T) {
	t.Parallel()
	comment := "Package p has a list.\n\n\ttensor, dtype   nodes; order\n\tnames\n\t                more of list\n" +
		"\torder\tthe order\n"
	want := []string{"tensor", "dtype", "names", "order", "list"}
	if got := mapOf(comment, []string{"list", "order", "tensor", "dtype", "names", "gone"}); !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
}
