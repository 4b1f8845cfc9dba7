package estimate_test

import (
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

var uint4 = num.Type{Kind: num.KindUInt, Width: 4}

// target returns a target with a board and a formula.
func target(t *testing.T, board string, formula dataflow.CostFormulaChoice) dataflow.Target {
	t.Helper()
	b, err := boards.FindBoard(board)
	if err != nil {
		t.Fatal(err)
	}
	return dataflow.Target{Board: b, ClockMHz: 100, Formula: formula}
}

// design returns 8 sums of 8 products after step functions, in words of 4 elements, with FIFOs of the given words.
func design(t *testing.T, at dataflow.Target, words int) *dataflow.Design {
	t.Helper()
	weights := make([][]int64, 8)
	for c := range weights {
		weights[c] = []int64{1, -2, 3, -4, 5, -6, 7, int64(c)}
	}
	g := layertest.Chain(t, layertest.FullType(uint4, 8),
		threshold.New(threshold.Params{Steps: []num.StepFunction{{At: []int64{3, 9}, Value: []int64{0, 1, 2}}}}),
		mvau.New(mvau.Params{Weights: weights}))
	d := &dataflow.Design{Model: &dataflow.Model{Graph: g}, Target: at,
		FIFO: slices.Repeat(dataflow.NewShiftRegisterFIFOs(words), 3),
		Folds: []dataflow.Fold{{PE: 4, SIMD: 1, Memory: dataflow.MemoryLUTRAM, Steps: dataflow.ParallelStepEvaluation},
			{PE: 2, SIMD: 4, Memory: dataflow.MemoryLUTRAM, Compute: dataflow.MultiplierInLUTs}}}
	if err := d.Verify(); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWhole(t *testing.T) {
	t.Parallel()
	zcu, finn := target(t, "zcu104", dataflow.FittedCostFormula), target(t, "zcu104", dataflow.FINNCostFormula)
	ps := dataflow.Resources{LUT: 6598, FF: 6897, BRAM: 8} // a port of 128 bits, bursts of 64 beats
	for _, tt := range []struct {
		at          dataflow.Target
		words       int
		fifos, host dataflow.Resources
	}{
		// Words have 16, 8 and 2 x 7 bits: a LUT and two registers per bit, and 4 LUTs and 2 registers of control each.
		{zcu, 2, dataflow.Resources{LUT: 38 + 3*4, FF: 2*38 + 3*2}, ps},
		// Shift registers hold 64 words: two LUTs per bit, and one with a register for the output; 6 address bits.
		{zcu, 40, dataflow.Resources{LUT: 3*38 + 3*25, LUTRAM: 2 * 38, FF: 38 + 3*12}, ps},
		{target(t, "alveo-u250", dataflow.FittedCostFormula), 2, dataflow.Resources{LUT: 38 + 3*4, FF: 2*38 + 3*2},
			dataflow.Resources{LUT: 2681 + 1482, FF: 1191 + 1022}}, // a port of 512 bits; the rest is the platform's
		{finn, 2, dataflow.Resources{}, dataflow.Resources{}},
		{finn, 40, dataflow.Resources{LUT: 38 + 3*12, LUTRAM: 38}, dataflow.Resources{}},
	} {
		d := design(t, tt.at, tt.words)
		e := estimate.EstimateDesignResources(d)
		per, layers := d.CostPerNode()
		if len(e.Layers) != len(per) || e.FIFOs.Total() != tt.fifos || e.Host.Total() != tt.host {
			t.Errorf("%+v, %d words: FIFOs %+v, host %+v", tt.at, tt.words, e.FIFOs, e.Host)
		}
		if want := layers.Plus(tt.fifos).Plus(tt.host); e.Total != want {
			t.Errorf("%+v, %d words: %+v in all, want %+v", tt.at, tt.words, e.Total, want)
		}
	}
}

// TestDeepFIFO checks that a FIFO costs what its memory costs.
func TestDeepFIFO(t *testing.T) {
	t.Parallel()
	p := dataflow.Port{Elem: uint4, PerWord: 4, Words: 4096}
	for _, formula := range []dataflow.CostFormulaChoice{dataflow.FittedCostFormula, dataflow.FINNCostFormula} {
		if got := estimate.FIFOCost(target(t, "zcu104", formula), dataflow.FIFO{Depth: 3000,
			Memory: dataflow.MemoryBRAM},
			p).Total(); got.BRAM != 4 || got.LUT > 100 {
			t.Errorf("by %v: %+v", formula, got)
		}
	}
}

// TestFmax checks that the layer with the longest path from one clock to the next limits the clock.
func TestFmax(t *testing.T) {
	t.Parallel()
	d := design(t, target(t, "zcu104", dataflow.FittedCostFormula), 2)
	if node, ns := d.LongestDelayNS(); node != 0 || ns != cost.LoopCarriedDelayNSForLevels(1) ||
		d.FmaxMHz() != 1000/ns {
		t.Errorf("node %d, %v ns, %v MHz", node, ns, d.FmaxMHz())
	}
	if most := d.FmaxMHz(); most < 300 || most > 500 {
		t.Errorf("%v MHz: an accumulator alone is no reason to doubt a usual clock", most)
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	got := estimate.CostOfParts(cost.Resources{LUT: 3}.AsPart("a"), cost.Resources{}.AsPart("nothing"),
		cost.Resources{FF: 1}.AsPart("b"))
	if len(got) != 2 || got[0].Name != "a" || got[1] != (dataflow.CostContribution{Name: "b",
		Resources: dataflow.Resources{FF: 1}}) {
		t.Errorf("%+v", got)
	}
	sum := got.AppendCost(dataflow.Cost{{Name: "b", Resources: dataflow.Resources{DSP: 2}}, {Name: "c"}})
	if len(sum) != 3 || sum[1].Resources != (dataflow.Resources{FF: 1, DSP: 2}) || got[1].DSP != 0 {
		t.Errorf("%+v, from %+v", sum, got)
	}
}

// TestStorage checks that every memory is priced where it lies, and added to the others of its part.
func TestStorage(t *testing.T) {
	t.Parallel()
	list := []dataflow.Storage{
		// in LUTs, followed by a register
		dataflow.NewTableStorage("a", "table", 33, 8),
		dataflow.NewTableStorage("b", "table", 1, 8),                                         // constants
		dataflow.NewTableStorage("c", "table", 512, 36),                                      // in block RAM
		dataflow.NewArrayStorage("d", "buffer", 32, 14).MovedToMemory(dataflow.MemoryLUTRAM), // all of a slice
		dataflow.NewArrayStorage("e", "buffer", 1, 5),                                        // a register
		dataflow.NewArrayStorage("f", "buffer", 0, 5),                                        // nothing
		// a LUT per bit, and a register
		dataflow.NewArrayStorage("g", "delay", 20, 3).MovedToShiftRegisters(),
		dataflow.NewArrayStorage("h", "window", 4096, 72).MovedToMemory(dataflow.MemoryURAM), // one block
		dataflow.NewTableStorage("i", "window", 4096, 73).MovedToMemory(dataflow.NoMemory),   // fits block RAM
	}
	for _, formula := range []dataflow.CostFormulaChoice{dataflow.FittedCostFormula, dataflow.FINNCostFormula} {
		at := target(t, "zcu104", formula)
		want := dataflow.Cost{
			{Name: "table", Resources: dataflow.Resources{LUT: 8, FF: 8, BRAM: 1}},
			{Name: "buffer", Resources: dataflow.Resources{LUT: 8, LUTRAM: 8, FF: 14 + 5}},
			{Name: "delay", Resources: dataflow.Resources{LUT: 3, LUTRAM: 3, FF: 3}},
			{Name: "window", Resources: dataflow.Resources{BRAM: 17, URAM: 1}},
		}
		if formula == dataflow.FINNCostFormula { // FINN counts no registers after memories, and LUTs in fours
			want[0].FF, want[1].LUT, want[1].LUTRAM, want[1].FF, want[3].BRAM = 0, 12, 12, 5, 20
		}
		got := estimate.MemoryAndLogicCost(estimate.CostModelOf(at), list)
		if !slices.Equal(got, want) {
			t.Errorf("by %v: %+v, want %+v", formula, got, want)
		}
		if err := layertest.CheckStorage(at, got, list); err != nil {
			t.Errorf("by %v: %v", formula, err)
		}
	}
}

// TestCheckStorage checks that memories are reported that are priced but not declared, or priced otherwise than
// declared.
func TestCheckStorage(t *testing.T) {
	t.Parallel()
	at := target(t, "zcu104", dataflow.FittedCostFormula)
	list := []dataflow.Storage{dataflow.NewTableStorage("a", "table", 33, 8), dataflow.NewArrayStorage("b", "buffer",
		40, 9)}
	logic := cost.Resources{LUT: 7}.AsPart("logic")
	c := estimate.MemoryAndLogicCost(estimate.CostModelOf(at), list, logic)
	moved, forgotten := slices.Clone(list), list[:1]
	moved[0] = list[0].MovedToMemory(dataflow.MemoryBRAM)
	more := func(r dataflow.Resources) dataflow.Cost {
		return append(slices.Clone(c), dataflow.CostContribution{Name: "more", Resources: r})
	}
	for _, tt := range []struct {
		c    dataflow.Cost
		list []dataflow.Storage
		want string
	}{
		{c, list, ""},
		{c, moved, "part table is priced"},
		{c, forgotten, "priced and bound nowhere"},
		{c[1:], list, "part table is priced"},
		{more(dataflow.Resources{BRAM: 1}), list, "priced and bound nowhere"},
		{more(dataflow.Resources{URAM: 1}), list, "priced and bound nowhere"},
		{more(dataflow.Resources{LUT: 1, LUTRAM: 1}), list, "priced and bound nowhere"},
		{more(dataflow.Resources{LUT: 1}), list, ""},
	} {
		err := layertest.CheckStorage(at, tt.c, tt.list)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v of %+v: %v, want %q", tt.c, tt.list, err, tt.want)
		}
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	if dataflow.MaxShiftRegisterWords != cost.ShiftRegisterBitsPerLUT {
		t.Errorf("shift registers of %d words are priced as ones of %d", dataflow.MaxShiftRegisterWords,
			cost.ShiftRegisterBitsPerLUT)
	}
	for m, want := range map[dataflow.Memory]cost.MemoryStyle{
		dataflow.NoMemory: 0, dataflow.MemoryLUTRAM: cost.StyleDistributedRAM, dataflow.MemoryBRAM: cost.StyleBlockRAM,
		dataflow.MemoryURAM: cost.StyleUltraRAM,
		dataflow.MemorySRL:  cost.StyleShiftRegister, dataflow.MemoryRegisters: cost.StyleRegisters,
	} {
		if got := estimate.MemoryStyleOf(m); got != want {
			t.Errorf("%v: %v, want %v", m, got, want)
		}
	}
}
