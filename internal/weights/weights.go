// Package weights writes the weights of a model for hardware that loads them, and prepares builds of such hardware.
//
//	weights.go   WriteForBuild writes another model's weights for a build
//	load.go      makes the weights of a build loadable; compares another model with the build
//	plan.go      HardwareWithLoadedWeights is the content of weights.json
//	external.go  weights that layers read from memory with every frame
package weights

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/internal/crash"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/folder"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/report"
	"hlsgen/internal/safefile"
	"hlsgen/internal/source"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
	"hlsgen/templates/rtl"
	"hlsgen/templates/vivado"
)

// Options holds the flags of `hlsgen weights`.
type Options struct {
	options.Source
	For string // the folder of the build that receives the weights
	Out string // the folder to write
}

// A Result is the result of `hlsgen weights`: the weights written, and the plan of the build that receives them.
type Result struct {
	Source *source.ModelSource
	Plan   *HardwareWithLoadedWeights
	Out    string   // the folder written
	Files  []string // names of the files in Out
}

// DefaultOutFolder returns the folder for the weights of a model if the user names none: net-weights for the path
// dir/net.onnx.
func DefaultOutFolder(model string) string {
	base := filepath.Base(model)
	return strings.TrimSuffix(base, filepath.Ext(base)) + "-weights"
}

// WriteForBuild writes the weights of a model, and the host.json for them, for hardware built from another model with
// the same layers. If the weights do not fit, or a file cannot be read or written, it adds an error to d and returns
// nil. An err is for all other failures.
func WriteForBuild(ctx context.Context, o Options, d *diag.List) (res *Result, err error) {
	defer crash.RecoverPanicIntoError(&err)
	r := &Result{Out: o.Out}
	o.ReportProgress("reading", 0, 0)
	if r.Plan = readPlan(o.For, d); r.Plan == nil {
		return nil, nil
	}
	if r.Source = source.ReadModelFile(o.Model, d); r.Source == nil {
		return nil, nil
	}
	if _, ok := o.ToImportOptions(d); !ok || !o.said(r.Plan, d) {
		return nil, nil
	}
	// it also holds the depths of FIFOs
	fixed := options.Goal{Folding: filepath.Join(o.For, "final_hw_config.json")}.ReadFoldingFile(d)
	o.ReportProgress("importing", 0, 0)
	im, err := source.ImportModel(o.Source, r.Source, d)
	if err != nil || d.HasErrors() || im.Model == nil {
		return nil, err
	}
	model := im.Model
	rooms := r.Plan.rooms(model.Graph, d)
	if d.HasErrors() {
		return nil, nil
	}
	if MakeWeightsLoadable(model, rooms, d); d.HasErrors() {
		return nil, nil
	}
	if r.Plan.same(model.Graph, rooms, d); d.HasErrors() {
		return nil, nil
	}
	o.ReportProgress("folding", 0, 0)
	design, err := folding.FindBestDesign(ctx, model, r.Plan.target(), folding.Goal{Fixed: fixed, OverBudget: true}, d)
	if err != nil || design == nil || d.HasErrors() {
		return nil, err
	}
	return r.write(o, design, d)
}

// write compares the design's circuits with those of the build, and writes the weights. It returns nil after adding an
// error to d.
func (r *Result) write(o Options, design *folding.Design, d *diag.List) (*Result, error) {
	if r.Plan.join(design, d); d.HasErrors() {
		return nil, nil
	}
	opt := templates.Options{Top: r.Plan.Top}
	n, err := rtl.New(design.Design, opt)
	if err != nil {
		return nil, err
	}
	r.Plan.unlike(n, design, func(path string) ([]byte, error) {
		return safefile.ReadRegularFile(filepath.Join(o.For, filepath.FromSlash(path)), safefile.MaxSettingsFileBytes)
	}, d)
	if d.HasErrors() {
		return nil, nil
	}
	system, err := vivado.NewSystem(design.Design, opt)
	if err != nil && !errors.As(err, new(*vivado.NoSystemError)) {
		return nil, err
	}
	files, err := deploy.GenerateFilesWithWeights(design.Design, opt, system.HostSystem(),
		deploy.WeightsToLoad{Words: wordsOf(n), External: imagesOf(design.Design), Design: r.Plan.Design})
	if none := new(deploy.NoDriverError); errors.As(err, &none) {
		d.AddError(diag.WeightsNotLoadable, "", none.Reason,
			"what a driver computes beside the accelerator has to stay what "+
				"it is")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o.ReportProgress("writing", 0, 0)
	err = folder.WriteToSharedFolder(r.Out, d, func(dir *outputdir.SharedFolder) error {
		for _, f := range files {
			name, ok := strings.CutPrefix(f.Path, "deploy/host/")
			if !ok {
				continue
			}
			if err := dir.WriteOwnFile(name, f.Data); err != nil {
				return err
			}
			r.Files = append(r.Files, name)
		}
		return nil
	})
	if err != nil || d.HasErrors() {
		return nil, err
	}
	slices.Sort(r.Files)
	return r, nil
}

// readPlan reads the plan in the folder of a build. It returns nil after adding an error to d.
func readPlan(dir string, d *diag.List) *HardwareWithLoadedWeights {
	fail := func(msg, hint string) *HardwareWithLoadedWeights {
		d.AddError(diag.WeightsNotLoadable, "", msg, hint)
		return nil
	}
	text, err := safefile.ReadRegularFile(filepath.Join(dir, planName), safefile.MaxSettingsFileBytes)
	if errors.Is(err, os.ErrNotExist) {
		if _, built := os.Stat(filepath.Join(dir, outputdir.ManifestFileName)); built == nil {
			return fail(fmt.Sprintf("%s was built with constant weights: there is no %s", dir, planName),
				"build with --backend rtl, and --weights runtime, stream or external")
		}
		return fail(fmt.Sprintf("%s is no folder of hlsgen build: there is no %s", dir, planName),
			"give the folder that hlsgen build --weights runtime, stream or external has written: --for DIR")
	}
	if err != nil {
		return fail(err.Error(), "give the folder that hlsgen build --weights runtime, stream or external has "+
			"written: --for DIR")
	}
	p := new(HardwareWithLoadedWeights)
	if err = json.Unmarshal(text, p); err == nil {
		err = p.verify()
	}
	if err != nil {
		return fail(fmt.Sprintf("%s is not as hlsgen wrote it: %v", filepath.Join(dir, planName),
			safefile.SimplifyJSONError(err)),
			"copy the whole folder of the build, or build again")
	}
	return p
}

// verify returns an error if the plan contains impossible values.
func (p *HardwareWithLoadedWeights) verify() error {
	// all versions have the same plan
	if p.Schema != "hlsgen-weights" || p.Version < 1 || p.Version > report.JSONVersion {
		return fmt.Errorf("schema %q, version %d; want hlsgen-weights, version 1 to %d", p.Schema, p.Version,
			report.JSONVersion)
	}
	if hash, err := hex.DecodeString(p.Design); err != nil || len(hash) != 8 {
		return fmt.Errorf("%q is no hash of a design", p.Design)
	}
	if !templates.IsIdentifier(p.Top) {
		return fmt.Errorf("%q is no name of a top", p.Top)
	}
	board, err := json.Marshal(p.Board)
	if err == nil {
		_, err = boards.Parse(board)
	}
	if err != nil {
		return fmt.Errorf("the board: %w", err)
	}
	if p.Clock <= 0 {
		return fmt.Errorf("a clock of %g MHz", p.Clock)
	}
	if formulas := []string{dataflow.FittedCostFormula.String(),
		dataflow.FINNCostFormula.String()}; !slices.Contains(formulas,
		p.Cost) {
		return fmt.Errorf("cost %q is none of %s", p.Cost, strings.Join(formulas, ", "))
	}
	if p.Delays != nil {
		if err := p.Delays.Verify(); err != nil {
			return fmt.Errorf("the calibration: %w", err)
		}
	}
	for _, l := range p.Layers {
		if _, err := l.room(); err != nil {
			return fmt.Errorf("layer %s: %w", l.Name, err)
		}
	}
	for s, f := range p.FIFOs {
		if f.Memory > dataflow.MemorySRL {
			return fmt.Errorf("FIFO %d lies in memory %d", s, f.Memory)
		}
	}
	return nil
}

// said reports whether the options about the model's inputs equal those of the build, and d has no errors. It adds an
// error to d for each difference.
func (o Options) said(p *HardwareWithLoadedWeights, d *diag.List) bool {
	now := o.ModelFlagMap()
	all := maps.Clone(now)
	maps.Copy(all, p.Options)
	for _, flag := range slices.Sorted(maps.Keys(all)) {
		if now[flag] == p.Options[flag] {
			continue
		}
		with := "without --" + flag
		if was := p.Options[flag]; was != "" {
			with = fmt.Sprintf("with --%s %s", flag, was)
		}
		d.AddError(diag.WeightsNotLoadable, "", "the hardware was built "+with, "say the same of this model's inputs")
	}
	return !d.HasErrors()
}
