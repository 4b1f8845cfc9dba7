package build

import (
	"errors"
	"fmt"
	"slices"

	"hlsgen/templates"
	"hlsgen/templates/axi"
	"hlsgen/templates/vivado"
)

// systemOf returns the system around the accelerator, and the back ends that make its IP. The system is nil if the
// board has no known processor, if the accelerator has no driver, or if no back end makes an IP.
func systemOf(r *Result, o Options) (*vivado.System, []vivado.IPBackend, error) {
	s, err := vivado.NewSystem(r.Design.Design, templates.Options{})
	if none := new(vivado.NoSystemError); errors.As(err, &none) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("generate: %w", err)
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
		return nil, nil, nil
	}
	return s, flows, nil
}

// onBoard returns the files with which Vivado makes a bitstream of the system, and none if it is nil.
func onBoard(s *vivado.System, flows []vivado.IPBackend, r *Result) (templates.ProjectFiles, error) {
	if s == nil {
		return nil, nil
	}
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
