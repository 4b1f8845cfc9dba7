package layertest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// A Mutant is a defect: To replaces From in a file of a project, and the tests must fail. Path is the end of the
// file's path.
type Mutant struct{ Path, From, To string }

// of returns the project with the mutant's text.
func (m Mutant) of(t *testing.T, files templates.ProjectFiles) templates.ProjectFiles {
	t.Helper()
	files = slices.Clone(files)
	for i, f := range files {
		if strings.HasSuffix(f.Path, "/"+m.Path) && bytes.Contains(f.Data, []byte(m.From)) {
			files[i].Data = bytes.Replace(f.Data, []byte(m.From), []byte(m.To), 1)
			return files
		}
	}
	t.Fatalf("%s has no %q", m.Path, m.From)
	return nil
}

// CheckMutants checks that the test bench finds every mutant of the cases' C++, by a wrong word in an output. It
// compiles one fold of each case, from the middle of the list.
func CheckMutants(t *testing.T, mutants []Mutant, cases ...Case) {
	t.Helper()
	tier.NotQuick(t)
	for i := range cases {
		cases[i].Folds = 1
	}
	gxx := tier.Needs(t, "g++")[0]
	programs, errs := examine(t.Context(), cases)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	trials, files, err := bench(programs)
	if err == nil {
		_, err = compile(t.Context(), gxx, t.TempDir(), programs, trials, files)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range mutants {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			if _, err := compile(t.Context(), gxx, t.TempDir(), programs, trials, m.of(t, files)); err == nil ||
				checkOf(err) != checkOutput {
				t.Errorf("%q in place of %q: %v, want other words", m.To, m.From, err)
			}
		})
	}
}
