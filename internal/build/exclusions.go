package build

import (
	"fmt"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/templates"
)

// checkCounters adds an error to d if the user asks for counters, but the back end makes none: only layers in
// SystemVerilog can count their waiting clocks.
func checkCounters(o options.Hardware, d *diag.List) {
	if o.Counters && !o.Backend.Decides().Device.Counters {
		d.AddError(diag.BackendUnfitForBoard, "",
			"--counters: a layer that Vitis HLS makes does not tell in which clocks it waits",
			"use --backend rtl, or --backend both: layers in SystemVerilog tell")
	}
}

// checkLoadable adds an error to d for each option that excludes weights loaded at run time. It does nothing if weights
// are constants.
func checkLoadable(o options.Hardware, m options.Source, d *diag.List) {
	if !o.Weights.LoadsWeights() {
		return
	}
	if o.Weights.IsExternal() && o.Formula == dataflow.FINNCostFormula {
		d.AddError(diag.WeightsNotLoadable, "",
			"--weights external does not go with --cost finn, whose formulas have weights "+
				"lie on the device", "leave one of the two out")
	}
	if o.Backend.Some(func(row *templates.Backend) bool { return !row.Device.Loads }) {
		d.AddError(diag.WeightsNotLoadable, "",
			fmt.Sprintf("--weights %s: in the C++ for Vitis HLS weights are constants, "+
				"of which "+
				"its schedule and its memories follow", o.Weights), "use --backend rtl")
	}
	for _, f := range []struct {
		given bool
		flag  string
	}{{m.Lengths != nil, "--dim with a range of lengths"}, {m.Stateful, "--stateful"}, {m.Interleave > 1,
		"--interleave"},
		{o.IO != dataflow.HostIOMemory, "--io stream"}} {
		if f.given {
			d.AddError(diag.WeightsNotLoadable, "",
				fmt.Sprintf("--weights %s does not go with %s: there is no driver that "+
					"would "+
					"load them", o.Weights, f.flag), "leave one of the two out")
		}
	}
}
