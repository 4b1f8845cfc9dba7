package cost

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// A layer is one part of a whole accelerator: its parameters, and the result of synthesis.
type layer struct {
	build, name string
	costly      HasFormulaCosts
	shares      func(*values) []share
	lut, ff     float64
	blocks      int // in RAMB18
}

// described holds the layers of the builds by build and name, from the builds' own files: PE, SIMD and depths from
// their configuration, widths of streams from the layers at their ends. The measurements tell what such a file omits.
// The places of CNV's input memories give their depth, and the shift registers that of its FIFOs. Registers and block
// RAM give the outputs of its last three layers (43 labels, but more than 32 and up to 64 would do).
// The folding of cybsec follows from its DSP slices, its block RAM and the widths of its streams.
var described = map[string]map[string]HasFormulaCosts{
	"TFC 0": with(fifos(8, 8, 1, 28, 2, 8, 1, 8, 1, 7, 8), map[string]HasFormulaCosts{
		"Thresholding_rtl_0":                ThresholdingShape{InBits: 8, PE: 1, Rows: 1, Steps: 1, Search: true},
		"StreamingDataWidthConverter_rtl_0": WidthConverterShape{1, 28},
		"MVAU_hls_0":                        signs(784, 64, 2, 28, 10),
		"StreamingDataWidthConverter_rtl_1": WidthConverterShape{2, 8},
		"MVAU_hls_1":                        signs(64, 64, 1, 8, 7),
		"StreamingDataWidthConverter_rtl_2": WidthConverterShape{1, 8},
		"MVAU_hls_2":                        signs(64, 64, 1, 8, 7),
		"MVAU_hls_3":                        last(signs(64, 10, 1, 1, 7)),
		"LabelSelect_hls_0":                 LabelSelectShape{1, 7, 4},
		"StreamingFIFO_rtl_3":               FIFOShape{Depth: 32, Width: 28},
		"StreamingFIFO_rtl_8":               FIFOShape{Depth: 32, Width: 1},
	}),
	"TFC 1": with(fifos(112, 112, 14, 112, 32, 32, 32, 70, 35, 8), wideTFC, map[string]HasFormulaCosts{
		"Thresholding_rtl_0":                ThresholdingShape{InBits: 8, PE: 14, Rows: 1, Steps: 1, Search: true},
		"StreamingDataWidthConverter_rtl_0": WidthConverterShape{14, 112},
		"StreamingDataWidthConverter_rtl_1": WidthConverterShape{70, 35},
	}),
	"TFC 2": with(fifos(896, 112, 32, 32, 32, 70, 35, 8), wideTFC, map[string]HasFormulaCosts{
		"Thresholding_rtl_0":                ThresholdingShape{InBits: 8, PE: 112, Rows: 1, Steps: 1, Search: true},
		"StreamingDataWidthConverter_rtl_0": WidthConverterShape{70, 35},
		"StreamingFIFO_rtl_1":               FIFOShape{Depth: 32, Width: 112},
	}),
	"CNV": {
		"ConvolutionInputGenerator_rtl_0":    slidingWindow{8, 201},
		"ConvolutionInputGenerator_rtl_1":    slidingWindow{8, 504},
		"ConvolutionInputGenerator_rtl_2":    slidingWindow{2, 992},
		"ConvolutionInputGenerator_rtl_3":    slidingWindow{2, 1728},
		"ConvolutionInputGenerator_rtl_4":    slidingWindow{1, 1664},
		"StreamingDataWidthConverter_rtl_0":  WidthConverterShape{8, 216},
		"StreamingDataWidthConverter_rtl_1":  WidthConverterShape{1, 8},
		"StreamingDataWidthConverter_rtl_2":  WidthConverterShape{8, 72},
		"StreamingDataWidthConverter_rtl_3":  WidthConverterShape{8, 64},
		"StreamingDataWidthConverter_rtl_4":  WidthConverterShape{64, 2},
		"StreamingDataWidthConverter_rtl_5":  WidthConverterShape{2, 72},
		"StreamingDataWidthConverter_rtl_6":  WidthConverterShape{2, 72},
		"StreamingDataWidthConverter_rtl_7":  WidthConverterShape{4, 128},
		"StreamingDataWidthConverter_rtl_8":  WidthConverterShape{128, 1},
		"StreamingDataWidthConverter_rtl_9":  WidthConverterShape{1, 32},
		"StreamingDataWidthConverter_rtl_10": WidthConverterShape{1, 4},
		"StreamingDataWidthConverter_rtl_11": WidthConverterShape{2, 4},
		"StreamingFIFO_rtl_3":                FIFOShape{Depth: 2, Width: 1}, "StreamingFIFO_rtl_5": FIFOShape{Depth: 2,
			Width: 8},
		"StreamingFIFO_rtl_7": FIFOShape{Depth: 2, Width: 8}, "StreamingFIFO_rtl_9": FIFOShape{Depth: 32, Width: 64},
		"StreamingFIFO_rtl_11": FIFOShape{Depth: 2, Width: 2}, "StreamingFIFO_rtl_13": FIFOShape{Depth: 96, Width: 2},
		"StreamingFIFO_rtl_15": FIFOShape{Depth: 32, Width: 72}, "StreamingFIFO_rtl_17": FIFOShape{Depth: 2,
			Width: 128},
		"StreamingFIFO_rtl_19": FIFOShape{Depth: 2, Width: 1}, "StreamingFIFO_rtl_21": FIFOShape{Depth: 256, Width: 32},
		"StreamingFIFO_rtl_25": FIFOShape{Depth: 64, Width: 4},
		"MVAU_hls_0": inDSPs(MVAUShape{MW: 27, MH: 64, PE: 1, SIMD: 27, WeightBits: 1, InBits: 8, AccBits: 14,
			Steps: 1}),
		"MVAU_hls_1": signs(576, 64, 8, 72, 10), "MVAU_hls_2": signs(576, 128, 2, 72, 10),
		"MVAU_hls_3": signs(1152, 128, 4, 72, 11), "MVAU_hls_4": signs(1152, 256, 1, 32, 11),
		"MVAU_hls_5": signs(2304, 512, 2, 4, 12), "MVAU_hls_6": signs(512, 512, 1, 4, 10),
		"MVAU_hls_7": last(signs(512, 43, 1, 1, 10)),
	},
	"cybsec": {
		"StreamingFIFO_rtl_0": FIFOShape{Depth: 32, Width: 40}, "StreamingFIFO_rtl_2": FIFOShape{Depth: 2, Width: 128},
		"StreamingFIFO_rtl_4": FIFOShape{Depth: 2, Width: 128}, "StreamingFIFO_rtl_6": FIFOShape{Depth: 2, Width: 1},
		"StreamingDataWidthConverter_rtl_0": WidthConverterShape{32, 128},
		"StreamingDataWidthConverter_rtl_1": WidthConverterShape{2, 128},
		"MVAU_hls_0": built(MVAUShape{MW: 600, MH: 64, PE: 16, SIMD: 40, WeightBits: 2, InBits: 1,
			AccBits: 9, Steps: 3}),
		"MVAU_hls_1": inDSPs(MVAUShape{MW: 64, MH: 64, PE: 1, SIMD: 64, WeightBits: 2, InBits: 2, AccBits: 8,
			Steps: 3}),
		"MVAU_hls_2": inDSPs(MVAUShape{MW: 64, MH: 64, PE: 1, SIMD: 64, WeightBits: 2, InBits: 2, AccBits: 7,
			Steps: 3}),
		"MVAU_hls_3": inLUTs(inDSPs(MVAUShape{MW: 64, MH: 1, PE: 1, SIMD: 1, WeightBits: 2, InBits: 2, AccBits: 7,
			Steps: 1})),
	},
}

// fifos returns FIFOs of two words of the given widths, by name.
func fifos(widths ...int) map[string]HasFormulaCosts {
	list := map[string]HasFormulaCosts{}
	for i, w := range widths {
		list[fmt.Sprint("StreamingFIFO_rtl_", i)] = FIFOShape{Depth: 2, Width: w}
	}
	return list
}

// with merges the lists; of equal names the last one counts.
func with(list map[string]HasFormulaCosts, more ...map[string]HasFormulaCosts) map[string]HasFormulaCosts {
	for _, m := range more {
		maps.Copy(list, m)
	}
	return list
}

// wideTFC holds the common layers of the wider builds of TFC.
var wideTFC = map[string]HasFormulaCosts{
	"MVAU_hls_0":        signs(784, 64, 32, 112, 10),
	"MVAU_hls_1":        signs(64, 64, 32, 32, 7),
	"MVAU_hls_2":        signs(64, 64, 32, 32, 7),
	"MVAU_hls_3":        inLUTs(last(signs(64, 10, 10, 32, 7))),
	"LabelSelect_hls_0": LabelSelectShape{5, 7, 4},
}

// built completes a layer in the way FINN builds it.
func built(m MVAUShape) MVAUShape {
	m.InSigned, m.Memory, m.ThresholdMemory, m.ThresholdBits = true, StyleBlockRAM, StyleDistributedRAM, m.AccBits
	if m.MH > m.PE {
		m.Buffer = StyleRegisters
	}
	return m
}

// signs returns a layer of binary weights and inputs, followed by a sign.
func signs(mw, mh, pe, simd, acc int) MVAUShape {
	m := built(MVAUShape{MW: mw, MH: mh, PE: pe, SIMD: simd, WeightBits: 1, InBits: 1, AccBits: acc, Steps: 1})
	m.InSigned = false
	return m
}

// last returns the layer without activation.
func last(m MVAUShape) MVAUShape   { m.Steps = 0; return m }
func inLUTs(m MVAUShape) MVAUShape { m.Memory = StyleDistributedRAM; return m }
func inDSPs(m MVAUShape) MVAUShape { m.DSP = true; return built(m) }

// A slidingWindow is FINN's ConvolutionInputGenerator_rtl with a memory in LUTs of a 7 series device.
type slidingWindow struct{ width, rows int }

func (w slidingWindow) FINNCost() []CostPart {
	return []CostPart{{"stream control", Resources{LUT: 300}}, {"window buffer",
		FINNWindowBufferCost(w.width, w.rows, StyleDistributedRAM)}}
}
func (w slidingWindow) FittedCost() []CostPart { return parts(w.shares(&fitted)) }
func (w slidingWindow) shares(v *values) []share {
	return []share{{lut: v[windowLUT], ff: v[windowFF]}, FabricSeries7.ram("", StyleDistributedRAM, w.rows, w.width)}
}

// theShell prices only the shell of a HostPortShape. FINN's DMAs are not the movers of this project.
type theShell struct{ HostPortShape }

func (h theShell) shares(v *values) []share {
	list := h.HostPortShape.shares(v)
	return list[len(list)-1:]
}

// layersOf returns every layer of the builds with known parameters, and the shells.
func layersOf(t *testing.T) []layer {
	t.Helper()
	var list []layer
	for i, build := range []string{"tfc_w1a1_auto", "tfc_w1a1_custom_0", "tfc_w1a1_custom_2"} {
		var measured map[string]struct{ LUT, FF, BRAM_18K, BRAM_36K float64 }
		document(t, "finn_builds/"+build+"/post_synth_resources.json", &measured)
		name := fmt.Sprint("TFC ", i)
		shell := layer{build: name, name: "shell", lut: measured["(top)"].LUT, ff: measured["(top)"].FF}
		for _, full := range slices.Sorted(maps.Keys(measured)) {
			r := measured[full]
			if full == "(top)" {
				continue
			}
			shell.lut -= r.LUT
			shell.ff -= r.FF
			list = add(list, name, full, r.LUT, r.FF, int(r.BRAM_18K+2*r.BRAM_36K))
		}
		list = append(list, complete(shell, theShell{}))
	}
	for _, row := range table(t, "finn_postsynth_layers.csv") {
		name := "CNV"
		if strings.Contains(row["source"], "cybsec") {
			name = "cybsec"
		}
		blocks := atoi(t, row["BRAM18"]) + 2*atoi(t, row["BRAM36"])
		list = add(list, name, row["layer"], number(t, row["LUT"]), number(t, row["FF"]), blocks)
	}
	return list
}

// add appends a layer if its parameters are known.
func add(list []layer, build, full string, lut, ff float64, blocks int) []layer {
	l := layer{build: build, name: full, lut: lut, ff: ff, blocks: blocks}
	l.name = strings.TrimPrefix(full, "StreamingDataflowPartition_1_")
	if c, ok := described[build][l.name]; ok {
		return append(list, complete(l, c))
	}
	return list
}

func complete(l layer, c HasFormulaCosts) layer {
	l.costly = c
	l.shares = c.(interface{ shares(*values) []share }).shares
	return l
}

// kind returns the kind of a layer, without parameters.
func (l layer) kind() string {
	switch c := l.costly.(type) {
	case FIFOShape:
		return "FIFO"
	case WidthConverterShape:
		return "width converter"
	case LabelSelectShape:
		return "label select"
	case slidingWindow:
		return "sliding window"
	case ThresholdingShape:
		return "thresholding (RTL)"
	case MVAUShape:
		if c.DSP {
			return "MVU with DSP slices"
		}
		return "MVU"
	case theShell:
		return "shell"
	}
	panic(fmt.Sprintf("%T", l.costly))
}

// layerStudies returns the fits on layers of whole accelerators: LUT and FF of each kind. Each fit leaves out one
// accelerator, or one layer for sliding windows, which only one accelerator has. Kinds without a coefficient of their
// own are only estimated.
func layerStudies(t *testing.T) []study {
	kinds := []struct {
		name    string
		lut, ff []int
	}{
		{"MVU", nil, nil},
		{"MVU with DSP slices", nil, nil},
		{"thresholding (RTL)", nil, nil},
		{"sliding window", []int{windowLUT}, []int{windowFF}},
		{"label select", []int{streamLUT}, []int{streamFF}},
		{"FIFO", []int{fifoLUT}, []int{fifoFF}},
		{"width converter", []int{converterLUT, converterShift}, []int{converterFF}},
		{"shell", []int{shellLUT}, []int{shellFF}},
	}
	var list []study
	layers := layersOf(t)
	for _, kind := range kinds {
		lut, ff := study{name: kind.name + ", LUT", coefs: kind.lut}, study{name: kind.name + ", FF", coefs: kind.ff}
		for _, l := range layers {
			if l.kind() != kind.name {
				continue
			}
			p := point{sweep: l.build, design: fmt.Sprintf("%+v", l.costly), measured: l.lut}
			if kind.name == "sliding window" {
				p.sweep = l.name
			}
			if strings.HasPrefix(l.build, "TFC") {
				p.sweep = "TFC"
			}
			if _, ok := l.costly.(theShell); ok {
				p.design, p.sweep = l.build, l.build // it differs between accelerators
			}
			p.finn = finnLUT(l.costly)
			p.estimate = func(v *values) float64 { return sum(l.shares(v)).lut }
			lut.points = append(lut.points, p)
			p.measured, p.finn = l.ff, math.NaN()
			p.estimate = func(v *values) float64 { return sum(l.shares(v)).ff }
			ff.points = append(ff.points, p)
		}
		list = append(list, lut, ff)
	}
	return list
}

// finnLUT returns FINN's estimate, NaN if FINN takes the layer to be free.
func finnLUT(c HasFormulaCosts) float64 {
	if lut := Total(c.FINNCost()).LUT; lut > 0 {
		return float64(lut)
	}
	return math.NaN()
}

// TestLayerBlocks counts the block RAM of the matrix layers whose weights are known. It leaves out
// CNV's first layer, whose weights have twice the bits of binary weights.
func TestLayerBlocks(t *testing.T) {
	t.Parallel()
	// FormulaFINN's HLS stores the thresholds of each PE separately; those of more than 64 rows lie in block
	// RAM.
	thresholds := map[string]int{"MVAU_hls_4": 1, "MVAU_hls_5": 2, "MVAU_hls_6": 1}
	n := 0
	for _, l := range layersOf(t) {
		if !strings.HasPrefix(l.kind(), "MVU") || l.build == "CNV" && l.name == "MVAU_hls_0" {
			continue
		}
		n++
		m, want := l.costly.(MVAUShape), l.blocks
		if l.build == "CNV" {
			m.Fabric = FabricSeries7
			want -= thresholds[l.name]
		}
		if got := Total(m.FittedCost()).BRAM; got != want {
			t.Errorf("%s %s: %d RAMB18, want %d: %+v", l.build, l.name, got, want, m)
		}
	}
	if n != 23 {
		t.Errorf("%d layers, want 23", n)
	}
}
