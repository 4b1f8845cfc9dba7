package compiler

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/diag"
	_ "hlsgen/internal/golden" // the flag -update
	"hlsgen/internal/schema"
)

// Every JSON file of a build has the form that its schema says, but for the folding files, which are FINN's.
func TestReportForms(t *testing.T) {
	t.Parallel()
	var builds []string
	for _, o := range []Options{
		{Board: "pynq-z1", Verify: 2},
		{Board: "zcu104", Latency: true, Interval: 64},
	} {
		var d diag.List
		o.NoCSim, o.Out = true, filepath.Join(t.TempDir(), "out")
		if _, err := Run(context.Background(), o, &d); err != nil || d.Failed() {
			t.Fatal(err, d.Diags)
		}
		builds = append(builds, o.Out)
	}
	for path, v := range ReportForms {
		form := schema.Of(t, strings.TrimSuffix(filepath.Base(path), ".json"), path+" of a build", v)
		for _, dir := range builds {
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
			if err != nil {
				t.Fatal(err)
			}
			form.Check(t, text)
		}
	}
	found := 2 // the folding files
	for _, folder := range []string{"", "report"} {
		files, err := filepath.Glob(filepath.Join(builds[0], folder, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		found -= len(files)
	}
	if found != -len(ReportForms) {
		t.Errorf("%d JSON files that have no form", -found-len(ReportForms))
	}
}
