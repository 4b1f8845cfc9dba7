package build

import (
	"errors"
	"fmt"

	"hlsgen/templates"
	"hlsgen/templates/axi"
	"hlsgen/templates/vivado"
)

// onBoard returns the files that lead from a build to a bitstream. It returns none if the board is not known to have a
// processor, or the accelerator has no driver.
func onBoard(r *Result, o Options) (templates.Files, error) {
	s, err := vivado.New(r.Design.Design, templates.Options{})
	if none := new(vivado.NoSystem); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	r.System = s
	var flows []vivado.IPFlow
	if o.Backend.IncludesHLS() && s.Registers == nil { // an IP of HLS has no registers
		flows = append(flows, vivado.FlowHLS)
	}
	if o.Backend.IncludesRTL() {
		flows = append(flows, vivado.FlowRTL)
	}
	files, err := s.Files(flows...)
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	if !o.Backend.IncludesRTL() {
		return files, nil
	}
	more, err := axi.Files(s, r.Design.Design)
	return append(files, more...), err
}
