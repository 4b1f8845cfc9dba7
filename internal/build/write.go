package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/folder"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/report"
	"hlsgen/internal/verify"
	"hlsgen/templates"
)

// A manifest records the inputs of a build. It is the content of the folder's manifest file.
type manifest struct {
	report.ReportHead
	Tool    string                    `json:"tool"`
	Model   string                    `json:"model"`
	SHA256  string                    `json:"model_sha256"`
	Board   string                    `json:"board"`
	Part    string                    `json:"part"`
	Clock   float64                   `json:"clock_mhz"`
	Cost    string                    `json:"cost"`
	Options map[string]string         `json:"options"`
	Prefix  []string                  `json:"host_prefix"`
	Suffix  []string                  `json:"host_suffix"`
	Check   verify.VerificationReport `json:"verified"`
	outputdir.ManifestRecord
}

// write adds the reports, the README and the manifest, and puts the whole folder in its place at the end.
func (r *Result) write(o Options, t dataflow.Target, files templates.Files, place *outputdir.ClaimedFolder,
	d *diag.List) error {
	all := map[string][]byte{}
	for _, f := range files {
		all[f.Path] = f.Data
	}
	m := r.Design.Model
	reports := map[string]any{
		"report/estimate_layer_cycles.json":        report.LayerCycles(r.Design.Design),
		"report/estimate_layer_resources.json":     r.LayerResources(),
		"report/resources.json":                    r.Resources(),
		"report/estimate_network_performance.json": r.Performance(),
		"report/cycle_simulation.json":             r.Cycles(),
		"report/op_and_param_counts.json":          report.OperationCounts(m.Graph),
		"report/layers.json":                       r.Layers(),
		"report/certificate.json":                  report.NewCertificate(&r.Design.Certificate),
		"report/nodes.json":                        r.Imported.Fates,
	}
	for path, v := range reports {
		b, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return err
		}
		all[path] = append(b, '\n')
	}
	all["folding.json"] = folding.Format(r.Design.Design, false)
	all["final_hw_config.json"] = folding.Format(r.Design.Design, true)
	if report.FIFOsGiven(r.Design) {
		all["final_hw_config.json"] = folding.FormatWithMemories(r.Design.Design)
	}
	const page = "README.md"
	readme, err := r.Readme(append(slices.Sorted(maps.Keys(all)), page, outputdir.ManifestName))
	if err != nil {
		return err
	}
	all[page] = readme
	b, err := json.MarshalIndent(manifest{ReportHead: report.CurrentHead, Tool: "hlsgen " + o.Version,
		Model:  r.Source.File,
		SHA256: r.Source.SHA256(), Board: t.Board.Name, Part: t.Board.Part,
		Clock: t.ClockMHz, Cost: t.Formula.String(), Options: r.Given,
		Prefix: append([]string{}, m.Prefix.Nodes...),
		Suffix: append([]string{}, m.Suffix.Nodes...), Check: r.Verified, ManifestRecord: outputdir.RecordOf(all)}, "",
		"  ")
	if err != nil {
		return err
	}
	all[outputdir.ManifestName] = outputdir.Seal(append(b, '\n'))
	r.FileCount = len(all)
	left := new(outputdir.LeftError)
	switch r.Kept, err = place.Put(all, o.ReplacePolicy()); {
	case errors.As(err, &left):
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.OutputForeign,
			Msg: fmt.Sprintf("%s is written; %v", r.Out, left), Hint: "remove it: the next build has no place before"})
	case err != nil:
		folder.AddRefusal(r.Out, err, d)
	}
	return nil
}
