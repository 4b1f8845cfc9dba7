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

// A manifest records the inputs of a build. It is the content of the manifest file in the build's folder.
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

// write adds the reports, the README and the manifest to files, and puts the whole folder in its place at the end. It
// sets r.FileCount and r.Kept. If the folder cannot be written, it adds an error to d; if only the former folder cannot
// be removed, a warning. A returned error is of making the files.
func (r *Result) write(o Options, t dataflow.Target, files templates.ProjectFiles, place *outputdir.ClaimedFolder,
	d *diag.List) error {
	all := map[string][]byte{}
	for _, f := range files {
		all[f.Path] = f.Data
	}
	m := r.Design.Model
	reports := map[string]any{
		"report/estimate_layer_cycles.json":        report.FINNLayerCycles(r.Design.Design),
		"report/estimate_layer_resources.json":     r.FINNLayerResources(),
		"report/resources.json":                    r.ResourceReport(),
		"report/estimate_network_performance.json": r.FINNPerformance(),
		"report/cycle_simulation.json":             r.CycleSimulationReport(),
		"report/op_and_param_counts.json":          report.FINNOpAndParamCounts(m.Graph),
		"report/layers.json":                       r.LayerReports(),
		"report/certificate.json":                  report.NewCertificateReport(&r.Design.Certificate),
		"report/nodes.json":                        r.Imported.Fates,
	}
	if o.Summary != nil {
		all["model.onnx"], reports["report/build.json"] = r.onnx, o.Summary(r)
	}
	for path, v := range reports {
		b, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return err
		}
		all[path] = append(b, '\n')
	}
	all["folding.json"] = folding.FormatFoldingFile(r.Design.Design, false)
	all["final_hw_config.json"] = folding.FormatFoldingFile(r.Design.Design, true)
	if report.HasFIFOsNotFromFolds(r.Design) {
		all["final_hw_config.json"] = folding.FormatFoldingFileWithFIFOMemories(r.Design.Design)
	}
	const page = "README.md"
	readme, err := r.ReadmeMarkdown(append(slices.Sorted(maps.Keys(all)), page, outputdir.ManifestFileName))
	if err != nil {
		return err
	}
	all[page] = readme
	b, err := json.MarshalIndent(manifest{ReportHead: report.CurrentReportHead, Tool: "hlsgen " + o.Version,
		Model:  r.Source.File,
		SHA256: r.Source.SHA256(), Board: t.Board.Name, Part: t.Board.Part,
		Clock: t.ClockMHz, Cost: t.Formula.String(), Options: r.Given,
		Prefix: append([]string{}, m.Prefix.Nodes...),
		Suffix: append([]string{}, m.Suffix.Nodes...), Check: r.Verified,
		ManifestRecord: outputdir.UnsealedRecordOf(all)}, "",
		"  ")
	if err != nil {
		return err
	}
	all[outputdir.ManifestFileName] = outputdir.SealManifest(append(b, '\n'))
	r.FileCount = len(all)
	left := new(outputdir.FormerFolderLeftError)
	switch r.Kept, err = place.ReplaceContents(all, o.ReplacePolicy()); {
	case errors.As(err, &left):
		d.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.OutputHasForeignFiles,
			Msg: fmt.Sprintf("%s is written; %v", r.Out, left), Hint: "remove it: the next build has no place before"})
	case err != nil:
		folder.ReportUnwritableFolder(r.Out, err, d)
	}
	return nil
}
