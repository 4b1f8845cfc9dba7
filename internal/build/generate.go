package build

import (
	"context"
	"errors"
	"fmt"

	"hlsgen/internal/diag"
	"hlsgen/internal/weights"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
)

// generate returns the files of the selected back ends, the driver and the Vivado project. Unless o.NoCSim is set, it
// also runs the back ends' files on streams, the recorded frames. The files are nil after it adds an error to d.
func (r *Result) generate(ctx context.Context, o Options, streams templates.TestVectors,
	d *diag.List) (files templates.ProjectFiles, err error) {
	for _, row := range o.Backend.Rows() {
		made, err := row.Files(r.Design.Design, streams)
		if err != nil {
			return nil, err
		}
		if !o.NoCSim && row.Verify != nil && len(streams.Frames) > 0 {
			o.ReportProgress("compiling", 0, 0)
			if err := r.Verified.RunBackend(ctx, row, r.Design.Design, made, streams.Frames, d); err != nil {
				return nil, err
			}
		}
		files = append(files, made...)
	}
	system, flows, err := flowsOf(r.Design.Design, o)
	if err != nil {
		return nil, err
	}
	r.System = system
	var more templates.ProjectFiles
	if o.Weights.LoadsWeights() {
		more, err = weights.GenerateWeightLoadingFiles(r.Design, r.Imported.Model.Graph, r.rooms, o.Source,
			system.HostSystem())
	} else {
		more, err = deploy.GenerateFiles(r.Design.Design, templates.Options{}, o.Backend.IncludesHLS(),
			system.HostSystem())
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
	more, err = onBoard(ctx, system, flows, r, o)
	return append(files, more...), err
}
