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

// onBoard are the files that lead from a build to a bitstream; none where the board is not known to have a processor,
// or the accelerator no driver.
func onBoard(r *Result, o Options) (templates.Files, error) {
	s, err := vivado.Of(r.Design.Design, templates.Options{})
	if none := new(vivado.None); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	r.System = s
	var flows []vivado.Flow
	if o.Backend.HLS() && s.Registers == nil { // which an IP of HLS has none of
		flows = append(flows, vivado.HLS)
	}
	if o.Backend.RTL() {
		flows = append(flows, vivado.RTL)
	}
	files, err := s.Files(flows...)
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	if !o.Backend.RTL() {
		return files, nil
	}
	more, err := axi.Files(s, r.Design.Design)
	return append(files, more...), err
}

// BoardClockOf is the clock in MHz that a board's processor makes, and the frames a second that are left then, or
// samples where frames are made of several; 0 where it makes what was asked for, or nobody knows of one.
func BoardClockOf(r *Result) (mhz, fps float64) {
	if r.System == nil || r.System.Clock.MHz() == r.Design.Target.ClockMHz {
		return 0, 0
	}
	mhz = r.System.Clock.MHz()
	d := r.Design
	return mhz, d.Rate(min(mhz, d.ClockMHz()), d.Clocks.Pace)
}

// toBitstream says how a board gets what was made; nothing where there is no way to it.
func toBitstream(r *Result, o Options) []templates.Step {
	if r.System == nil {
		return nil
	}
	tools := "Vivado"
	if o.Backend.HLS() {
		tools = "Vitis HLS, Vivado"
	}
	if top := r.System.Top; r.System.Board.PS == boards.NoPS {
		return []templates.Step{{Title: "From here to the card", Commands: []string{"make -C vivado xclbin"},
			Text: fmt.Sprintf("The accelerator and a mover per stream become kernels, which are linked for the "+
				"platform\n`%s`. It takes %s and v++, and makes\n`vivado/build/%s.xclbin`. "+
				"None of these tools was at hand to try it.", r.System.Board.Platform, tools, top)}}
	}
	return []templates.Step{{Title: "From here to a bitstream", Commands: []string{"make -C vivado bitstream"},
		Text: fmt.Sprintf("The accelerator becomes an IP, and a block design joins it to the processor, with a "+
			"mover per stream\nand a clock of %s MHz, which the processor's dividers can make. It takes %s, and makes"+
			"\n`%s.bit`, `.hwh` and `.xsa` in `vivado/build`. None of these tools was at hand to try it.",
			r.System.Clock, strings.ReplaceAll(tools, ",", " and"), r.System.Top)}}
}
