package compiler

import (
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	_ "hlsgen/internal/testsupport/golden" // the flag -update
	"hlsgen/internal/testsupport/schema"
	"hlsgen/templates/deploy"
)

// Every JSON file of a build has the form that its schema says, but for the folding files, which are FINN's.
func TestReportForms(t *testing.T) {
	t.Parallel()
	var builds []*BuildResult
	for _, o := range []Options{
		{Hardware: Hardware{Board: "pynq-z1"}, Verification: Verification{Verify: 2}},
		{Hardware: Hardware{Board: "zcu104"}, Goal: Goal{Latency: true, Interval: 64}},
	} {
		o.NoCSim = true
		r, _ := told(t, o)
		builds = append(builds, r)
	}
	for path, v := range reportForms {
		form := schema.Of(t, strings.TrimSuffix(filepath.Base(path), ".json"), path+" of a build", v)
		for _, r := range builds {
			form.Check(t, readReport(t, r, path))
		}
	}
	found := 2 // the folding files
	for _, folder := range []string{"", "report", "deploy/host"} {
		files, err := filepath.Glob(filepath.Join(builds[0].Out, folder, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		found -= len(files)
	}
	if found != -len(reportForms) {
		t.Errorf("%d JSON files that have no form", -found-len(reportForms))
	}
}

// reportForms are the JSON files of a build, with values of their types. The version of those below report/ is that of
// manifest.json.
var reportForms = map[string]any{
	"manifest.json":                            manifest{},
	"deploy/host/host.json":                    deploy.HostFile{},
	"report/layers.json":                       []LayerReport{},
	"report/nodes.json":                        []frontend.NodeFate{},
	"report/certificate.json":                  CertificateReport{},
	"report/resources.json":                    resourceReport{},
	"report/cycle_simulation.json":             cycleReport{},
	"report/estimate_layer_cycles.json":        map[string]int{},
	"report/estimate_layer_resources.json":     map[string]dataflow.Resources{},
	"report/estimate_network_performance.json": performance{},
	"report/op_and_param_counts.json":          map[string]map[string]int64{},
}
