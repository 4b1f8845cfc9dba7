package cost

import (
	"slices"
	"testing"

	"hlsgen/boards"
)

func names(list []CostPart) []string {
	var n []string
	for _, p := range list {
		n = append(n, p.Name)
	}
	return n
}

// part returns the resources of the part with the given name.
func part(t *testing.T, c HasFormulaCosts, name string) Resources {
	t.Helper()
	i := slices.Index(names(c.FittedCost()), name)
	if i < 0 {
		t.Fatalf("%+v has no part %q: %v", c, name, names(c.FittedCost()))
	}
	return c.FittedCost()[i].Resources
}

// w4a4 is a layer with every part.
var w4a4 = MVAUShape{
	MW: 256, MH: 64, PE: 8, SIMD: 16, WeightBits: 4, InBits: 4, AccBits: 14, Memory: StyleBlockRAM,
	Buffer: StyleDistributedRAM, Steps: 15, ThresholdBits: 14, ThresholdMemory: StyleDistributedRAM,
}

func TestFittedParts(t *testing.T) {
	t.Parallel()
	dsp, xnor, plain := w4a4, w4a4, w4a4
	dsp.DSP = true
	xnor.WeightBits, xnor.InBits = 1, 1
	plain.Steps, plain.Buffer = 0, 0
	start, arithmetic := []string{"stream control"}, []string{"multipliers", "adder tree", "accumulators"}
	end := []string{"comparators", "input buffer", "weight memory", "threshold memory"}
	for _, tt := range []struct {
		name string
		c    HasFormulaCosts
		want []string
	}{
		{"all", w4a4, slices.Concat(start, arithmetic, end)},
		{"dsp", dsp, slices.Concat(start, arithmetic, end)},
		{"xnor", xnor, slices.Concat(start, []string{"popcount", "accumulators"}, end)},
		{"plain", plain, slices.Concat(start, arithmetic, []string{"weight memory"})},
		{"depthwise", VVAUShape{Channels: 64, Kernel: 9, PE: 4, SIMD: 3, WeightBits: 4, InBits: 4, AccBits: 12,
			Memory: StyleDistributedRAM}, slices.Concat(start, arithmetic, []string{"weight memory"})},
		{"thresholds", ThresholdingShape{InBits: 9, PE: 4, Rows: 16, Memory: StyleDistributedRAM, Steps: 3},
			[]string{"stream control", "comparators", "registers", "threshold memory"}},
		{"constant thresholds", ThresholdingShape{InBits: 9, PE: 4, Rows: 1, Memory: StyleDistributedRAM, Steps: 3},
			[]string{"stream control", "comparators", "registers"}},
		{"FIFO", FIFOShape{Depth: 100, Width: 8, Memory: StyleShiftRegister}, []string{"stream control",
			"FIFO memory"}},
		{"converter", WidthConverterShape{8, 24}, []string{"stream control", "shift register"}},
		{"label select", LabelSelectShape{2, 8, 4}, []string{"stream control", "comparators", "multiplexers",
			"registers"}},
		{"host", HostPortShape{1, 2, 128, 64, false}, []string{"movers of inputs", "movers of outputs", "shell"}},
		{"card", HostPortShape{1, 2, 512, 16, true}, []string{"movers of inputs", "movers of outputs"}},
	} {
		if got := names(tt.c.FittedCost()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestCounted checks parts that do not depend on coefficients.
func TestCounted(t *testing.T) {
	t.Parallel()
	dsp := w4a4
	dsp.DSP = true
	packed := dsp
	packed.Packing = FabricUltraScale.PackProducts(8, 16, signedRange(4), unsignedRange(4))
	ultra := w4a4
	ultra.Memory, ultra.Fabric = StyleUltraRAM, FabricVersal
	for _, tt := range []struct {
		name string
		c    HasFormulaCosts
		part string
		want Resources
	}{
		{"512 bits in 128 rows", w4a4, "weight memory", Resources{BRAM: 15}},
		{"512 bits in ultra RAM", ultra, "weight memory", Resources{URAM: 8}},
		{"64 bits in 16 rows", w4a4, "input buffer", Resources{LUT: 40, LUTRAM: 40, FF: 64}},
		{"1680 bits in 8 rows", w4a4, "threshold memory", Resources{LUT: 461, FF: 1108}},
		{"15 comparators of 14 bits", w4a4, "comparators", Resources{LUT: 8 * (15*7 + 14)}},
		{"binary search", ThresholdingShape{InBits: 14, PE: 8, Rows: 1, Memory: StyleDistributedRAM, Steps: 15,
			Search: true},
			"comparators", Resources{LUT: 8 * 4 * 7}},
		{"its thresholds", ThresholdingShape{InBits: 8, PE: 1, Rows: 64, Memory: StyleDistributedRAM, Steps: 3,
			Search: true},
			"threshold memory", Resources{LUT: 8 + 16, FF: 16}},
		{"two words", FIFOShape{Depth: 2, Width: 8}, "FIFO memory", Resources{LUT: 8, FF: 16}},
		{"33 words", FIFOShape{Depth: 33, Width: 8}, "FIFO memory", Resources{LUT: 8 + 2*8, LUTRAM: 2 * 8, FF: 8}},
		{"1000 words", FIFOShape{Depth: 1000, Width: 20, Memory: StyleBlockRAM}, "FIFO memory", Resources{FF: 20,
			BRAM: 2}},
		{"5000 words", FIFOShape{Depth: 5000, Width: 20, Memory: StyleUltraRAM}, "FIFO memory", Resources{FF: 20,
			URAM: 2}},
		{"widening", WidthConverterShape{8, 24}, "shift register", Resources{FF: 32}},
	} {
		if got := part(t, tt.c, tt.part); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got, want := Total(dsp.FittedCost()).DSP, 8*16; got != want {
		t.Errorf("%d DSP, want %d", got, want)
	}
	if got, want := Total(packed.FittedCost()).DSP, 2*16; got != want {
		t.Errorf("%d DSP packed, want %d", got, want)
	}
}

// TestLess checks which things must cost less than others.
func TestLess(t *testing.T) {
	t.Parallel()
	narrow, dsp, registers := w4a4, w4a4, w4a4
	narrow.AccBits, narrow.ThresholdBits = 10, 10
	dsp.DSP = true
	registers.Buffer = StyleRegisters
	for _, tt := range []struct {
		name       string
		less, more HasFormulaCosts
	}{
		{"a narrower accumulator", narrow, w4a4},
		{"DSP slices", dsp, w4a4},
		{"a memory for the input", w4a4, registers},
		{"fewer words", FIFOShape{Depth: 32, Width: 8}, FIFOShape{Depth: 33, Width: 8}},
		{"widths that divide", WidthConverterShape{24, 8}, WidthConverterShape{24, 16}},
		{"a binary search", ThresholdingShape{InBits: 16, PE: 4, Rows: 1, Memory: StyleDistributedRAM, Steps: 255,
			Search: true},
			ThresholdingShape{InBits: 16, PE: 4, Rows: 1, Memory: StyleDistributedRAM, Steps: 255}},
	} {
		if less, more := Total(tt.less.FittedCost()).LUT, Total(tt.more.FittedCost()).LUT; less >= more {
			t.Errorf("%s: %d LUT, not less than %d", tt.name, less, more)
		}
	}
}

func TestDelay(t *testing.T) {
	t.Parallel()
	xnor, dsp := w4a4, w4a4
	xnor.WeightBits, xnor.InBits = 1, 1
	dsp.DSP = true
	wide := w4a4
	wide.SIMD = 64
	order := []float64{
		LoopCarriedDelayNSForLevels(1), dsp.criticalPathNS(), w4a4.criticalPathNS(), wide.criticalPathNS(),
	}
	if !slices.IsSorted(order) || xnor.criticalPathNS() != LoopCarriedDelayNSForLevels(1) {
		t.Errorf("%v, XNOR %v", order, xnor.criticalPathNS())
	}
	if all, search := (ThresholdingShape{Steps: 255}), (ThresholdingShape{Steps: 255,
		Search: true}); all.criticalPathNS() <= search.criticalPathNS() {
		t.Errorf("%v, not more than by search %v", all.criticalPathNS(), search.criticalPathNS())
	}
	if got := (VVAUShape{PE: 1, SIMD: 16, WeightBits: 4, InBits: 4}).criticalPathNS(); got != w4a4.criticalPathNS() {
		t.Errorf("a VVAU takes %v ns, an MVAU %v", got, w4a4.criticalPathNS())
	}
	if one, four := LoopCarriedDelayNSForLevels(1), LoopCarriedDelayNSForLevels(4); four <= one || four > 1.5*one {
		t.Errorf("one level is carried in %v ns, four in %v", one, four)
	}
}

func TestFormula(t *testing.T) {
	t.Parallel()
	if got, want := Total(FormulaFINN.CostPartsOf(w4a4)), Total(w4a4.FINNCost()); got != want {
		t.Errorf("by FINN %+v, want %+v", got, want)
	}
	if got, want := Total(FormulaFitted.CostPartsOf(w4a4)), Total(w4a4.FittedCost()); got != want {
		t.Errorf("fitted %+v, want %+v", got, want)
	}
	for _, c := range []HasFormulaCosts{HostPortShape{1, 1, 128, 64, false}, LabelSelectShape{1, 8, 4}} {
		if len(FormulaFINN.CostPartsOf(c)) != 0 {
			t.Errorf("FINN counts %+v", c)
		}
	}
}

func TestFabric(t *testing.T) {
	t.Parallel()
	for _, b := range boards.AllBoards() {
		want := map[string]Fabric{"DSP48E1": FabricSeries7, "DSP48E2": FabricUltraScale, "DSP58": FabricVersal,
			"SB_MAC16": FabricICE40, "MULT18X18D": FabricECP5}[b.DSPType]
		if got := FabricOf(b); got != want {
			t.Errorf("%s: fabric %d, want %d", b.Name, got, want)
		}
	}
	for _, tt := range []struct {
		name      string
		got, want Resources
	}{
		{"one of 16 words", FabricUltraScale.multiplexerCost(16, 8), Resources{LUT: 32}},
		{"one of 16 words on Versal", FabricVersal.multiplexerCost(16, 8), Resources{LUT: 40}},
		{"one of one", FabricUltraScale.multiplexerCost(1, 8), Resources{}},
		{"constants", FabricUltraScale.TableCost(8, 1, StyleDistributedRAM), Resources{}},
		{"table", FabricUltraScale.TableCost(8, 160, StyleDistributedRAM), Resources{LUT: 24, FF: 8}},
		{"narrow table", FabricUltraScale.TableCost(1, 16384, StyleBlockRAM), Resources{BRAM: 1}},
		{"narrow table on Versal", FabricVersal.TableCost(1, 16384, StyleBlockRAM), Resources{BRAM: 8}},
		{"memory", FabricUltraScale.ReadWriteMemoryCost(8, 32, StyleDistributedRAM), Resources{LUT: 8, LUTRAM: 8,
			FF: 8}},
		{"registers", FabricUltraScale.ReadWriteMemoryCost(8, 4, StyleRegisters), Resources{LUT: 8, FF: 32}},
		{"shift register", FabricUltraScale.ReadWriteMemoryCost(8, 33, StyleShiftRegister), Resources{LUT: 16,
			LUTRAM: 16, FF: 8}},
		{"none", FabricUltraScale.ReadWriteMemoryCost(8, 4, 0), Resources{}},
		{"one of 16 words in LUTs of four inputs", FabricICE40.multiplexerCost(16, 8), Resources{LUT: 80}},
		{"one of two words in LUTs of four inputs", FabricECP5.multiplexerCost(2, 8), Resources{LUT: 8}},
		{"table in LUTs of four inputs", FabricICE40.TableCost(8, 64, StyleDistributedRAM), Resources{LUT: 48, FF: 8}},
		{"256 words of 16 bits in 4 Kbit", FabricICE40.TableCost(16, 256, StyleBlockRAM), Resources{BRAM: 1}},
		{"512 words of 16 bits in 4 Kbit", FabricICE40.ReadWriteMemoryCost(16, 512, StyleBlockRAM), Resources{BRAM: 2}},
		{"1024 words of 3 bits in 4 Kbit", FabricICE40.ReadWriteMemoryCost(3, 1024, StyleBlockRAM), Resources{BRAM: 1}},
		{"2048 words of 2 bits in 4 Kbit", FabricICE40.TableCost(2, 2048, StyleBlockRAM), Resources{BRAM: 1}},
		{"512 words of 36 bits of an ECP5", FabricECP5.TableCost(36, 512, StyleBlockRAM), Resources{BRAM: 1}},
		{"memory on an iCE40", FabricICE40.ReadWriteMemoryCost(8, 12, StyleDistributedRAM), Resources{BRAM: 1}},
		{"small memory on an iCE40", FabricICE40.ReadWriteMemoryCost(4, 16, StyleDistributedRAM), Resources{LUT: 40,
			FF: 64}},
		{"shift register on an iCE40", FabricICE40.ReadWriteMemoryCost(8, 4, StyleShiftRegister), Resources{LUT: 16,
			FF: 32}},
		{"shift register on an ECP5", FabricECP5.ReadWriteMemoryCost(8, 33, StyleShiftRegister), Resources{LUT: 55,
			LUTRAM: 24, FF: 8}},
		{"memory on an ECP5", FabricECP5.ReadWriteMemoryCost(8, 16, StyleDistributedRAM), Resources{LUT: 12, LUTRAM: 8,
			FF: 8}},
		{"control", layerControlCost().Plus(WindowControlCost()), Resources{
			LUT: layerControlCost().LUT + WindowControlCost().LUT, FF: layerControlCost().FF + WindowControlCost().FF,
		}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, tt.got, tt.want)
		}
	}
	if c := layerControlCost(); c.LUT <= 0 || c.FF <= 0 || c.LUT >= WindowControlCost().LUT {
		t.Errorf("control of a layer %+v, of a window %+v", c, WindowControlCost())
	}
}

// TestFIFOsOfLUT4 checks that a FIFO on an iCE40 is registers or block RAM, and is priced as deep as it
// is.
func TestFIFOsOfLUT4(t *testing.T) {
	t.Parallel()
	want := []FIFOShape{
		{Depth: 16, Width: 8, Memory: StyleShiftRegister, Fabric: FabricICE40}, {Depth: 512, Width: 8,
			Memory: StyleBlockRAM,
			Fabric: FabricICE40},
	}
	got := CostModel{Fabric: FabricICE40}.FIFOOptions(13, 8)
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for i, r := range []Resources{{LUT: 80 + 16, FF: 128 + 8}, {LUT: 37, FF: 18 + 8, BRAM: 1}} {
		if total := Total(got[i].FittedCost()); total != r {
			t.Errorf("%+v takes %+v, want %+v", got[i], total, r)
		}
	}
	if n := len((CostModel{Fabric: FabricECP5}).FIFOOptions(13, 8)); n != 4 {
		t.Errorf("%d ways on an ECP5", n)
	}
}

func BenchmarkFitted(b *testing.B) {
	for b.Loop() {
		Total(w4a4.FittedCost())
	}
}
