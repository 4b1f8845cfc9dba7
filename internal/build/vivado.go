package build

import (
	"errors"
	"fmt"

	"hlsgen/templates"
	"hlsgen/templates/axi"
	"hlsgen/templates/vivado"
)

// onBoard returns the files with which Vivado makes a bitstream of the build, and for SystemVerilog those that simulate
// it behind its movers. It sets r.System. If the board has no known processor, or the accelerator no driver, it returns
// none and leaves r.System unset.
func onBoard(r *Result, o Options) (templates.ProjectFiles, error) {
	s, err := vivado.NewSystem(r.Design.Design, templates.Options{})
	if none := new(vivado.NoSystemError); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	r.System = s
	var flows []vivado.IPBackend
	if o.Backend.IncludesHLS() && s.Registers == nil { // an IP of HLS has no registers
		flows = append(flows, vivado.IPBackendHLS)
	}
	if o.Backend.IncludesRTL() {
		flows = append(flows, vivado.IPBackendRTL)
	}
	files, err := s.GenerateFiles(flows...)
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	if !o.Backend.IncludesRTL() {
		return files, nil
	}
	more, err := axi.GenerateSimulationFiles(s, r.Design.Design)
	return append(files, more...), err
}
