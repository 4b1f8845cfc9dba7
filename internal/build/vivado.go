package build

import (
	"errors"
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/templates"
	"hlsgen/templates/axi"
	"hlsgen/templates/vivado"
)

// systemOf returns the system around a design, with what the options have watched. Its errors are those of
// vivado.NewSystem and of WatchStreams.
func systemOf(d *dataflow.Design, o Options) (*vivado.System, error) {
	s, err := vivado.NewSystem(d, templates.Options{})
	if err == nil && len(o.ILA) > 0 {
		err = s.WatchStreams(o.ILA)
	}
	return s, err
}

// checkILA adds an error to d if streams are to be watched, but there is no system around the design, or no such
// stream. Other errors are for onBoard to return.
func checkILA(design *dataflow.Design, o Options, d *diag.List) {
	if len(o.ILA) == 0 {
		return
	}
	_, err := systemOf(design, o)
	if none := new(vivado.NoSystemError); errors.As(err, &none) {
		d.AddError(diag.BackendUnfitForBoard, "", "--ila: no bitstream is made for the board: "+none.Reason,
			"leave --ila out")
	}
	if unknown := new(vivado.ILAError); errors.As(err, &unknown) {
		d.AddError(diag.StreamUnknown, "", "--ila: "+unknown.Reason, unknown.Hint)
	}
}

// onBoard returns the files with which Vivado makes a bitstream of the build. It returns none if the board has no known
// processor, if the accelerator has no driver, or if no back end makes an IP.
func onBoard(r *Result, o Options) (templates.ProjectFiles, error) {
	s, err := systemOf(r.Design.Design, o)
	if none := new(vivado.NoSystemError); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	var flows []vivado.IPBackend
	for _, row := range o.Backend.Rows() {
		if row.VitisHLS && s.Registers == nil { // an IP of HLS has no registers
			flows = append(flows, vivado.IPBackendHLS)
		}
		if row.CircuitIP {
			flows = append(flows, vivado.IPBackendRTL)
		}
	}
	if flows == nil {
		return nil, nil
	}
	r.System = s
	files, err := s.GenerateFiles(flows...)
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	if !slices.Contains(flows, vivado.IPBackendRTL) {
		return files, nil
	}
	more, err := axi.GenerateSimulationFiles(s, r.Design.Design)
	return append(files, more...), err
}
