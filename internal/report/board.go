package report

import (
	"fmt"
	"strings"

	"hlsgen/boards"
	"hlsgen/internal/options"
	"hlsgen/templates"
)

// BoardMHzAndFPS returns the clock that the board's processor generates, in MHz, and the rate in frames or samples per
// second. The rate is at this clock, or at the one that the design reaches if that is slower. Both are 0 if this clock
// is the asked one, or if the board has no known processor.
func (r *Build) BoardMHzAndFPS() (mhz, fps float64) {
	if r.System == nil || r.System.Clock.IsAsked() {
		return 0, 0
	}
	mhz = r.System.Clock.MHz()
	d := r.Design
	return mhz, d.SamplesPerSecondAt(min(mhz, d.ReachedClockMHz()), d.Clocks.IntervalAndLatency)
}

// AssumedPLLMHz returns the frequency in MHz of the PLL from which the board's processor makes the clock, if no source
// states it and that of most boards is assumed. Otherwise it returns 0.
func (r *Build) AssumedPLLMHz() int {
	if r.System == nil || r.System.Clock.Verified {
		return 0
	}
	return r.System.Clock.PLL
}

// toBitstream returns the README's step about making a bitstream, or nil if hlsgen has no flow for the board.
func toBitstream(r *Build) []templates.ReadmeStep {
	if r.System == nil {
		return nil
	}
	tools := "Vivado"
	if r.Backend.IncludesHLS() {
		tools = "Vitis HLS, Vivado"
	}
	if top := r.System.Top; r.System.Board.PS == boards.PSNone {
		return []templates.ReadmeStep{{Title: "From here to the card", Commands: []string{"make -C vivado xclbin"},
			Text: fmt.Sprintf("The accelerator and a mover per stream become kernels, which are linked for the "+
				"platform\n`%s`. It takes %s and v++, and makes\n`vivado/build/%s.xclbin`. "+
				"None of these tools was at hand to try it.", r.System.Board.Platform, tools, top)}}
	}
	assumed := ""
	if pll := r.AssumedPLLMHz(); pll > 0 {
		assumed = fmt.Sprintf("\nNo source states the processor's PLL on this board. It is taken to make %d MHz, as "+
			"on most boards.\nThe script stops if the clock differs.", pll)
	}
	return []templates.ReadmeStep{{Title: "From here to a bitstream", Commands: []string{"make -C vivado bitstream"},
		Text: fmt.Sprintf("The accelerator becomes an IP, and a block design joins it to the processor, with a "+
			"mover per stream\nand a clock of %s MHz, which the processor's dividers can make. It takes %s, and makes"+
			"\n`%s.bit`, `.hwh` and `.xsa` in `vivado/build`. None of these tools was at hand to try it.%s",
			r.System.Clock, strings.ReplaceAll(tools, ",", " and"), r.System.Top, assumed)}}
}

// productOf returns words for what the back ends make, such as "SystemVerilog".
func productOf(b options.Backend) (text string) {
	for i, row := range b.Rows() {
		if i == 0 {
			text = row.Product
			continue
		}
		text += ", and the same in " + row.Language
	}
	return text
}
