package build

import (
	"errors"
	"fmt"
	"slices"

	"hlsgen/templates"
	"hlsgen/templates/axi"
	"hlsgen/templates/vivado"
)

// onBoard returns the files with which Vivado makes a bitstream of the build. It returns none if the board has no known
// processor, if the accelerator has no driver, or if no back end makes an IP.
func onBoard(r *Result, o Options) (templates.ProjectFiles, error) {
	s, err := vivado.NewSystem(r.Design.Design, templates.Options{})
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
