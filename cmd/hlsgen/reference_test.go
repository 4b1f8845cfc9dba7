package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// folders are written one after the other.
var folders = []string{"a", "b"}

// TestReferencePages checks that every command has a man page and a page in Markdown with all its flags, and that the
// pages are the same each time.
func TestReferencePages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, to := range folders {
		if got := say(dir, nil, "reference", to); got != (said{}) {
			t.Fatalf("%+v", got)
		}
	}
	pages := 0
	for _, c := range bare().root().Commands() {
		if c.Hidden {
			continue
		}
		for _, name := range []string{"hlsgen-" + c.Name() + ".1", "hlsgen_" + c.Name() + ".md"} {
			page, err := os.ReadFile(filepath.Join(dir, "a", name))
			if err != nil {
				t.Fatal(err)
			}
			again, err := os.ReadFile(filepath.Join(dir, "b", name))
			if err != nil || string(again) != string(page) {
				t.Errorf("%s comes out another way: %v", name, err)
			}
			text := strings.ReplaceAll(string(page), `\-`, "-")
			expect(t, name, text, c.Short)
			c.Flags().VisitAll(func(f *pflag.Flag) { expect(t, name, text, "--"+f.Name) })
			pages++
		}
	}
	if found := len(strings.Fields(entries(t, filepath.Join(dir, "a")))); found != pages+3 {
		t.Errorf("%d files, want %d pages of commands, 2 of hlsgen, and a list", found, pages)
	}
}

// TestStagesLogged checks that HLSGEN_DEBUG shows the stages, the same each time, and that without it there are none.
func TestStagesLogged(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	args := []string{"simulate", iris, "--input", irisInputs}
	if got := say(dir, nil, args...); got.stderr != "" {
		t.Errorf("without it: %q", got.stderr)
	}
	got := say(dir, map[string]string{"HLSGEN_DEBUG": "1"}, args...)
	want := "level=DEBUG msg=reading total=0\nlevel=DEBUG msg=importing total=0\n" +
		"level=DEBUG msg=simulating total=88\n"
	if got.stderr != want {
		t.Errorf("%q, want %q", got.stderr, want)
	}
}

// TestReference compares docs/cli.md and README.md with the commands: no flag is missing, and every flag in them
// exists.
func TestReference(t *testing.T) {
	t.Parallel()
	reference, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"--help": true, "--mode": true, "--tcl": true, // of AMD's tools
		"--save": true} // of the driver
	for _, c := range bare().root().Commands() {
		if !strings.Contains(string(reference), "hlsgen "+c.Name()) && c.Name() != "help" {
			t.Errorf("docs/cli.md does not have the command %s", c.Name())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			known["--"+f.Name] = true
			if !strings.Contains(string(reference), "`--"+f.Name) {
				t.Errorf("docs/cli.md does not have %s --%s", c.Name(), f.Name)
			}
		})
	}
	for _, flag := range regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(string(reference)+string(readme), -1) {
		if !known[flag] {
			t.Errorf("there is no flag %s", flag)
		}
	}
}
