package build

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/testsupport/tier"
)

// A site is a folder beside which builds of the example are made.
type site struct {
	*testing.T
	parent, out string
}

func newSite(t *testing.T) site {
	parent := t.TempDir()
	return site{t, parent, filepath.Join(parent, "out")}
}

// run builds the example; what it says is in the list.
func (s site) run(o Options) (*Result, *diag.List) {
	s.Helper()
	var d diag.List
	o.Board, o.Verify, o.NoCSim = "zcu104", 1, true
	if o.Out == "" {
		o.Out = s.out
	}
	r, err := Run(context.Background(), o, &d)
	if err != nil {
		s.Fatal(err)
	}
	return r, &d
}

// refused holds that a build is refused with a code and words, and that it changes nothing.
func (s site) refused(o Options, code diag.Code, words ...string) {
	s.Helper()
	before := digest(s.T, s.parent)
	r, d := s.run(o)
	if r != nil || !d.HasErrors() || d.Diags[0].Code != code {
		s.Fatalf("%+v: %v", o, d.Diags)
	}
	for _, w := range words {
		if !strings.Contains(d.Diags[0].Msg, w) {
			s.Errorf("%q does not say %s", d.Diags[0].Msg, w)
		}
	}
	if strings.Contains(d.Diags[0].Msg, ".hlsgen-") || digest(s.T, s.parent) != before {
		s.Errorf("%s, or it was changed", d.Diags[0].Msg)
	}
}

func (s site) write(path, text string) {
	s.Helper()
	full := filepath.Join(s.parent, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}

// TestOutputIsWholeOrAbsent holds that a folder is replaced only where hlsgen wrote all of it, and that nothing is left
// beside it.
func TestOutputIsWholeOrAbsent(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	s := newSite(t)
	s.refused(Options{Goal: options.Goal{FPS: 1e12}}, diag.FPSUnreachable)
	if r, d := s.run(Options{}); r == nil || d.HasErrors() {
		t.Fatal(d.Diags)
	}
	before := digest(t, s.out)
	s.refused(Options{}, diag.OutputFolderUnusable, "is not empty")
	s.write("out/hls/build/csim", "made by make csim")
	if r, d := s.run(Options{OutputFolder: options.OutputFolder{Force: true}}); r == nil || d.HasErrors() || digest(t,
		s.out) != before {
		t.Errorf("a build could not be replaced by itself: %v", d.Diags)
	}
	// No path leads it astray.
	s.write("keep/precious", "")
	for _, path := range []string{"keep", "keep/../keep"} {
		s.refused(Options{OutputFolder: options.OutputFolder{Out: filepath.Join(s.parent, path), Force: true}},
			diag.OutputHasForeignFiles, "no manifest.json")
	}
	for _, path := range []string{s.parent, "/", "."} {
		var d diag.List
		o := Options{Hardware: options.Hardware{Board: "zcu104"}, Verification: options.Verification{Verify: 1,
			NoCSim: true},
			OutputFolder: options.OutputFolder{Out: path, Force: true}}
		if r, err := Run(context.Background(), o, &d); err != nil || r != nil || !d.HasErrors() {
			t.Errorf("--out %s --force: %v %v", path, err, d.Diags)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var d diag.List
	if _, err := Run(ctx, Options{Hardware: options.Hardware{Board: "zcu104"},
		Verification: options.Verification{Verify: 1,
			NoCSim: true}, OutputFolder: options.OutputFolder{Out: filepath.Join(s.parent, "made", "cancelled")}},
		&d); err == nil {
		t.Error("a cancelled build went on")
	}
	if left, _ := os.ReadDir(s.parent); len(left) != 2 {
		t.Errorf("beside the result there is %v", left)
	}
}

// TestForce holds what --force refuses, and what --force=keep keeps.
func TestForce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("out/manifest.json", `{"name": "an extension of a browser"}`)
	s.write("out/thesis.tex", "years")
	for _, o := range []Options{{OutputFolder: options.OutputFolder{Force: true}},
		{OutputFolder: options.OutputFolder{Force: true,
			KeepForeign: true}}} {
		s.refused(o, diag.OutputHasForeignFiles, "is no build of hlsgen", "does not list files")
	}
	if err := os.RemoveAll(s.out); err != nil {
		t.Fatal(err)
	}
	if r, d := s.run(Options{}); r == nil || d.HasErrors() {
		t.Fatal(d.Diags)
	}
	s.write("out/notes/day 1.txt", "mine")
	s.refused(Options{OutputFolder: options.OutputFolder{Force: true}}, diag.OutputHasForeignFiles,
		`did not write: "notes/day 1.txt"`)
	s.write("out/hls/top.cpp", "// mine")
	s.refused(Options{OutputFolder: options.OutputFolder{Force: true}}, diag.OutputHasForeignFiles, `"notes/day 1.txt"`,
		`changed since hlsgen wrote it: "hls/top.cpp"`)

	r, d := s.run(Options{Goal: options.Goal{FPS: 1000}, OutputFolder: options.OutputFolder{Force: true,
		KeepForeign: true}})
	if r == nil || d.HasErrors() || len(d.Diags) != 1 || d.Diags[0].Code != diag.OutputHasForeignFiles ||
		!slices.Equal(r.Kept, []string{"hls/top.cpp", "notes/day 1.txt"}) {
		t.Fatal(r, d.Diags)
	}
	for path, want := range map[string]string{"notes/day 1.txt": "mine", "hls/top.cpp": "// mine"} {
		if b, err := os.ReadFile(filepath.Join(s.out, path)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	// It is still known that they are not ours, and the rest is the new build.
	there, err := outputdir.InspectFolder(s.out, nil)
	if err != nil || there.NotOursReason != nil || !slices.Equal(there.Changed, r.Kept[:1]) ||
		!slices.Equal(there.Foreign, r.Kept[1:]) {
		t.Errorf("%+v, %v", there, err)
	}
	m, err := os.ReadFile(filepath.Join(s.out, outputdir.ManifestFileName))
	if err != nil || !strings.Contains(string(m), `"fps": "1000"`) {
		t.Errorf("%s, %v", m, err)
	}
	s.write("out/manifest.json", strings.Replace(string(m), `"fps": "1000"`, `"fps": "9999"`, 1))
	s.refused(Options{OutputFolder: options.OutputFolder{Force: true, KeepForeign: true}}, diag.OutputHasForeignFiles,
		"was changed since hlsgen wrote it")
}
