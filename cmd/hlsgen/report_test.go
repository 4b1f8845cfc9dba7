package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// TestReport writes the page of a built folder again, as the build wrote it. It refuses what holds none.
func TestReport(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := filesIn(t, map[string]string{"empty/x": "", "old/report/page.json": `{"version": 1}`,
		"broken/report/page.json": "{"})
	got := say(dir, nil, strings.Fields("build "+iris+" --board pynq-z1 --no-csim --verify 1 --out built")...)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	for _, c := range []struct {
		args   string
		code   int
		file   string // that is written
		stderr string
	}{
		{"report built", exitOK, "built.html", ""},
		{"report built", exitDiagnostics, "", "--force"},
		{"report built/ --force", exitOK, "built.html", ""},
		{"report built --out p.html", exitOK, "p.html", ""},
		{"report empty", exitDiagnostics, "", "it holds no page of a build"},
		{"report old", exitDiagnostics, "", "they have version 1, not 2"},
		{"report broken", exitDiagnostics, "", "these are no data of a page"},
		{"report", exitUsage, "", "want a folder"},
	} {
		got := say(dir, nil, strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.stderr) {
			t.Errorf("%s: %+v", c.args, got)
		}
		if c.file == "" {
			continue
		}
		page, err := os.ReadFile(filepath.Join(dir, c.file))
		if built := read(t, dir, "built/report/report.html"); err != nil || !bytes.Equal(page, []byte(built)) {
			t.Errorf("%s: %v, another page than the build's", c.args, err)
		}
	}
}
