package compiler

import (
	"errors"
	"fmt"
	"strings"

	"hlsgen/boards"
	"hlsgen/templates"
	"hlsgen/templates/axi"
	"hlsgen/templates/vivado"
)

// onBoard returns the files that lead from a build to a bitstream. It returns none if the board is not known to have a
// processor, or the accelerator has no driver.
func onBoard(r *BuildResult, o Options) (templates.Files, error) {
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

// BoardClockOf returns the clock that the board's processor generates, in MHz, and the rate at this clock, in frames or
// samples per second. It returns 0 if the clock is the asked one, or if no processor is known.
func BoardClockOf(r *BuildResult) (mhz, fps float64) {
	if r.System == nil || r.System.Clock.MHz() == r.Design.Target.ClockMHz {
		return 0, 0
	}
	mhz = r.System.Clock.MHz()
	d := r.Design
	return mhz, d.Rate(min(mhz, d.ClockMHz()), d.Clocks.FramePace)
}

// toBitstream returns the step that explains how to make a bitstream, or nil if there is no such flow for the board.
func toBitstream(r *BuildResult, o Options) []templates.ReadmeStep {
	if r.System == nil {
		return nil
	}
	tools := "Vivado"
	if o.Backend.IncludesHLS() {
		tools = "Vitis HLS, Vivado"
	}
	if top := r.System.Top; r.System.Board.PS == boards.NoPS {
		return []templates.ReadmeStep{{Title: "From here to the card", Commands: []string{"make -C vivado xclbin"},
			Text: fmt.Sprintf("The accelerator and a mover per stream become kernels, which are linked for the "+
				"platform\n`%s`. It takes %s and v++, and makes\n`vivado/build/%s.xclbin`. "+
				"None of these tools was at hand to try it.", r.System.Board.Platform, tools, top)}}
	}
	return []templates.ReadmeStep{{Title: "From here to a bitstream", Commands: []string{"make -C vivado bitstream"},
		Text: fmt.Sprintf("The accelerator becomes an IP, and a block design joins it to the processor, with a "+
			"mover per stream\nand a clock of %s MHz, which the processor's dividers can make. It takes %s, and makes"+
			"\n`%s.bit`, `.hwh` and `.xsa` in `vivado/build`. None of these tools was at hand to try it.",
			r.System.Clock, strings.ReplaceAll(tools, ",", " and"), r.System.Top)}}
}
