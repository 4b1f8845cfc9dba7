package build

import (
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	_ "hlsgen/internal/testsupport/golden" // the flag -update
	"hlsgen/internal/testsupport/schema"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates/deploy"
	page "hlsgen/templates/report"
)

// Every JSON file of a build has the form that its schema says, but for the folding files, which are FINN's.
func TestReportForms(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	var builds []*Result
	for _, o := range []Options{
		{Hardware: options.Hardware{Board: "pynq-z1"}, Verification: options.Verification{Verify: 2}},
		{Hardware: options.Hardware{Board: "zcu104"}, Goal: options.Goal{Latency: true, Interval: 64}},
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
	"report/layers.json":                       []report.LayerReport{},
	"report/page.json":                         page.Page{},
	"report/nodes.json":                        []frontend.NodeFate{},
	"report/certificate.json":                  report.CertificateReport{},
	"report/resources.json":                    report.ResourceReport{},
	"report/cycle_simulation.json":             report.CycleSimulationReport{},
	"report/estimate_layer_cycles.json":        map[string]int{},
	"report/estimate_layer_resources.json":     map[string]dataflow.Resources{},
	"report/estimate_network_performance.json": report.FINNPerformanceReport{},
	"report/op_and_param_counts.json":          map[string]map[string]int64{},
}
