package main

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// ours matches names of our variables, also in C++.
var ours = regexp.MustCompile(`\bHLSGEN_[A-Z][A-Z_]*\b`)

// Variables may be named in files of these kinds, in all folders but those listed. Tests of cmd have wrong names on
// purpose.
var (
	texts  = []string{"Makefile", "run", ".go", ".sh", ".awk", ".md", ".tpl", ".tcl", ".mk", ".yaml", ".yml"}
	unread = []string{".git", ".tools", "bin", "hlsgen-out", "cmd"}
)

// TestVariables checks that an unknown variable with our prefix is an error that suggests the right name.
func TestVariables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  map[string]string
		args string
		want string // contained in stderr; empty: the variables are fine
	}{
		{map[string]string{"HLSGEN_BORAD": "zcu104"}, "check",
			"hlsgen: there is no setting HLSGEN_BORAD, did you mean HLSGEN_BOARD?\nsee hlsgen check --help\n"},
		{map[string]string{"HLSGEN_SHARD": "x"}, "check", "HLSGEN_SHARD, did you mean HLSGEN_SHARED?"},
		{map[string]string{"HLSGEN_TARGET_FPS": "1000"}, "build --board zcu104",
			"there is no setting HLSGEN_TARGET_FPS, which is HLSGEN_FPS here\n"},
		{map[string]string{"HLSGEN_CLOCK_PERIOD": "5"}, "check",
			"HLSGEN_CLOCK_PERIOD, which is HLSGEN_CLOCK here: in MHz: 1000 divided by the period in ns\n"},
		{map[string]string{"HLSGEN_XYZZY": "1", "HLSGEN_FSP": "1"}, "sweep --board zcu104",
			"there is no setting HLSGEN_FSP, did you mean HLSGEN_FPS?\nthere is no setting HLSGEN_XYZZY\n"},
		{map[string]string{"HLSGEN_max_use": "1"}, "check",
			"there is no setting HLSGEN_max_use, did you mean HLSGEN_MAX_USE?"},
		{map[string]string{"HLSGEN_XYZZY": "", "HLSGENX": "1", "hlsgen_x": "1", "XHLSGEN_Y": "2"}, "check", ""},
		{map[string]string{"HLSGEN_SHARED": "x", "HLSGEN_LONG": "1", "HLSGEN_HLS": "vitis-run", "HLSGEN_OUT": "o"},
			"check", ""},
		{map[string]string{"HLSGEN_XYZZY": "1"}, "boards", ""},
	} {
		got := say(t.TempDir(), c.env, strings.Fields(c.args)...)
		if c.want == "" && (got.code != exitOK || got.stderr != "") ||
			c.want != "" && (got.code != exitUsage || got.stdout != "" || !strings.Contains(got.stderr, c.want)) {
			t.Errorf("%v: %+v, want %q", c.env, got, c.want)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "mine.yaml"), "acc-bits: 2\n")
	got := say(dir, map[string]string{"HLSGEN_CONFIG": "mine.yaml"}, "check")
	if got.code != exitDiagnostics || !strings.Contains(got.stderr, "acc-bits-exceeded") {
		t.Errorf("HLSGEN_CONFIG is not read: %+v", got)
	}
	got = say(dir, map[string]string{"HLSGEN_CONFIG": "no.yaml"}, "check", "--config", "mine.yaml")
	if got.code != exitDiagnostics {
		t.Errorf("--config does not count more: %+v", got)
	}
}

// TestOthers checks that every variable named in the project is a setting or stands in the table. It checks that
// docs/cli.md has the table, and that no variable of the table is a setting too.
func TestOthers(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	known := map[string]bool{}
	for _, key := range keys(bare().root()) {
		known[variable(key)] = true
	}
	reference, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, o := range others {
		if known[o.name] {
			t.Errorf("%s is a setting, or stands there twice", o.name)
		}
		known[o.name] = true
		if row := "| `" + o.name + "` | " + o.what + " |\n"; !strings.Contains(string(reference), row) {
			t.Errorf("docs/cli.md lacks the row %s", row)
		}
	}
	for line := range strings.Lines(string(reference)) {
		if strings.HasPrefix(line, "| `HLSGEN_") {
			rows++
		}
	}
	if rows != len(others) {
		t.Errorf("docs/cli.md has %d rows of variables, want %d", rows, len(others))
	}
	found := map[string]bool{}
	err = filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		name := e.Name()
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains(unread, name):
			return fs.SkipDir
		case e.IsDir() || !slices.Contains(texts, cmp.Or(filepath.Ext(name), name)):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, name := range ours.FindAllString(string(text), -1) {
			found[name] = true
			if !known[name] && !strings.HasSuffix(name, "_HPP") { // the guard of a header
				t.Errorf("%s: %s is neither a setting nor in the table", path, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HLSGEN_SHARED", "HLSGEN_LONG", "HLSGEN_HLS", "HLSGEN_VIVADO", "HLSGEN_PICTURES"} {
		if !found[name] {
			t.Errorf("%s is named nowhere, or not seen", name)
		}
	}
}
