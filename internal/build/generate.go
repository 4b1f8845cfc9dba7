package build

import (
	"context"
	"errors"
	"fmt"

	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/weights"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
	"hlsgen/templates/rtl"
)

// generateRTL returns the files of the design's SystemVerilog. It also runs them on streams, the recorded frames,
// unless there are none or o.NoCSim is set. If Verilator is missing, it adds a warning to d instead.
func generateRTL(ctx context.Context, r *Result, o Options, streams []engines.FrameTensors,
	d *diag.List) (templates.ProjectFiles, error) {
	n, err := rtl.New(r.Design.Design, templates.Options{})
	if err != nil {
		return nil, err
	}
	files, err := n.GenerateProject(streams)
	if err != nil || len(streams) == 0 || o.NoCSim {
		return files, err
	}
	return files, r.Verified.RunRTL(ctx, r.Design.Design, streams, func() { o.ReportProgress("compiling", 0, 0) }, d)
}

// generate returns the files of the selected back ends, the driver and the Vivado project. Unless o.NoCSim is set, it
// also compiles and runs the generated code on streams. It sets r.NoDriver to the reason if there is no driver. The
// files are nil after it adds an error to d.
func (r *Result) generate(ctx context.Context, o Options, streams templates.TestVectors,
	d *diag.List) (files templates.ProjectFiles, err error) {
	if o.Backend.IncludesHLS() {
		files, err = templates.GenerateHLSProject(r.Design.Design, streams, templates.Options{})
		if err != nil {
			return nil, fmt.Errorf("generate: %w", err)
		}
		if !o.NoCSim {
			o.ReportProgress("compiling", 0, 0)
			if err := r.Verified.RunCSim(ctx, r.Design.Design, files, streams, d); err != nil || d.HasErrors() {
				return nil, err
			}
		}
	}
	if o.Backend.IncludesRTL() {
		more, err := generateRTL(ctx, r, o, streams.Frames, d)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	var more templates.ProjectFiles
	if o.Weights.LoadsWeights() {
		more, err = weights.GenerateWeightLoadingFiles(r.Design, r.Imported.Model.Graph, r.rooms, o.Source)
	} else {
		more, err = deploy.GenerateFiles(r.Design.Design, templates.Options{}, o.Backend.IncludesHLS())
	}
	none := new(deploy.NoDriverError)
	switch {
	case errors.As(err, &none) && o.Weights.LoadsWeights():
		d.AddError(diag.WeightsNotLoadable, "", "there is no driver that would load weights: "+none.Reason,
			"leave --weights out, or have the model end with what the accelerator computes")
		return nil, nil
	case errors.As(err, &none):
		r.NoDriver = none.Reason
	case err != nil:
		return nil, fmt.Errorf("generate: %w", err)
	}
	files = append(files, more...)
	if o.Counters && r.NoDriver == "" {
		if more, err = counterFiles(ctx, r); err != nil {
			return nil, fmt.Errorf("generate: %w", err)
		}
		files = append(files, more...)
	}
	more, err = onBoard(r, o)
	return append(files, more...), err
}
