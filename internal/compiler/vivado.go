package compiler

import (
	"errors"
	"fmt"

	"hlsgen/boards"
	"hlsgen/templates"
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
	if o.Backend.HLS() {
		flows = append(flows, vivado.HLS)
	}
	if o.Backend.RTL() {
		flows = append(flows, vivado.RTL)
	}
	return s.Files(flows...)
}

// toBitstream says how a board gets what was made; nothing where there is no way to it.
func toBitstream(r *Result, o Options) []templates.Step {
	if r.System == nil {
		return nil
	}
	tools := "Vivado"
	if o.Backend.HLS() {
		tools = "Vitis HLS and Vivado"
	}
	top := r.System.Top
	card := templates.Step{Title: "From here to the card", Text: "With " + tools + " and v++: the accelerator and a " +
		"mover per stream become kernels, which are\nlinked for the platform `" + r.System.Board.Platform + "`. What comes " +
		"of it is\n`vivado/build/" + top + ".xclbin`. None of these tools was at hand to try it.",
		Commands: []string{"make -C vivado xclbin"}}
	if r.System.Board.PS == boards.NoPS {
		return []templates.Step{card}
	}
	return []templates.Step{{Title: "From here to a bitstream", Text: "With " + tools + ": the accelerator becomes " +
		"an IP, and a block design joins it to the processor, with\na mover per stream and a clock of " +
		r.System.Clock.String() + " MHz, which the processor's dividers can make. In\n`vivado/build` are then `" + top +
		".bit`, `" + top + ".hwh` and `" + top + ".xsa`.\nNo Vivado was at hand to try it.",
		Commands: []string{"make -C vivado bitstream"}}}
}
