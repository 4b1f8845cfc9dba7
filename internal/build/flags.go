package build

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
)

// given returns the flags that shape the design as a map from name to value. Flags that the user did not give are
// missing. A flag without a value has "true". Files appear without their folders.
func (o Options) given() map[string]string {
	out := map[string]string{}
	for _, f := range o.ModelFlags() {
		if len(f.Texts) > 0 {
			out[f.Name] = strings.Join(f.Texts, ",")
		}
	}
	for _, x := range []struct {
		name  string
		given bool
		text  string
	}{
		{"fps", o.FPS > 0, report.FormatDecimal(o.FPS)},
		{"interval", o.Interval > 0, report.FormatDecimal(o.Interval)},
		{"latency", o.Latency, "true"},
		{"max-latency", o.MaxLatency > 0, strconv.Itoa(o.MaxLatency)},
		{"over-budget", o.OverBudget, "true"},
		{"backend", options.BackendNamed(string(o.Backend)) != "", string(o.Backend)},
		{"counters", o.Counters, "true"},
		{"saif", o.SAIF, "true"},
		{"ila", len(o.ILA) > 0, strings.Join(o.ILA, ",")},
		{"weights", o.Weights.LoadsWeights(), string(o.Weights)},
		{"io", o.IO != dataflow.HostIOMemory, o.IO.String()},
		{"max-unroll", o.MaxUnroll != dataflow.UnrollLimits{}, o.MaxUnroll.String()},
		{"least", o.Least != folding.ResourceMeasureLoad, o.Least.FlagValue()},
		{"search-time", o.SearchTime > 0, o.SearchTime.String()},
		{"max-use", o.MaxUse != folding.MaxUseFractions{}, o.MaxUse.String()},
		{"fifo", o.FIFO != folding.FIFODepthPolicy{} || o.FIFOAsked, o.FIFO.String()},
		{"folding", o.Folding != "", filepath.Base(o.Folding)},
		{"folding", o.FoldingFile != nil, "folding.json"},
		{"calibrate", o.Calibrate != "", filepath.Base(o.Calibrate)},
		{"latencies", o.Latencies != "", filepath.Base(o.Latencies)},
		{"lstm-config", o.LSTM != "", filepath.Base(o.LSTM)}, // no folder of this machine
		{"stateful", o.Stateful, "true"},
		// without the folder, which differs from machine to machine
		{"interleave", o.Interleave > 1, strconv.Itoa(o.Interleave)},
		{"cell-config", o.Cells != "", filepath.Base(o.Cells)},
		{"acc-per-pe", o.AccPerPE, "true"},
		{"acc-bits", o.AccBits.IsAsked(), o.AccBits.String()},
	} {
		if x.given {
			out[x.name] = x.text
		}
	}
	return out
}

// DesignFlags returns the flags that shape the design, as words of a command. It leaves out the board, the clock and
// the folding file.
func (o Options) DesignFlags() (words []string) {
	given := o.given()
	delete(given, "folding")
	delete(given, "dim") // --dim is repeated for each axis
	delete(given, "shape")
	delete(given, "initial-state")
	delete(given, "state")
	if o.Formula != dataflow.FittedCostFormula {
		given["cost"] = o.Formula.String()
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if words = append(words, "--"+name); given[name] != "true" {
			words = append(words, given[name])
		}
	}
	for _, dim := range o.DimFlagValues() {
		words = append(words, "--dim", dim)
	}
	for _, shape := range o.Shapes.FlagValues() {
		words = append(words, "--shape", shape)
	}
	for _, state := range o.Initial.FlagValues() {
		words = append(words, "--initial-state", state)
	}
	for _, state := range o.States {
		words = append(words, "--state", state.String())
	}
	return words
}
