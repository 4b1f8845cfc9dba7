package cost

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// accumulatorStudy fits one PE at several widths of its accumulator, synthesised by Yosys, whose mapping takes more
// LUTs than Vivado's for the same logic. So the coefficients of the MVU are fitted again, and not kept. Each fit leaves
// out one width. Weights come by a stream, so there is no memory; one row of thresholds is constants.
func accumulatorStudy(t *testing.T) study {
	t.Helper()
	s := study{name: "LUT", coefs: []int{mvauLUT, product, popcount, accumulateLUT}}
	for _, row := range table(t, "acc_width_yosys.csv") {
		m := MVAUShape{
			MW: atoi(t, row["MW"]), MH: 1, PE: atoi(t, row["PE"]), SIMD: atoi(t, row["SIMD"]),
			WeightBits: atoi(t, row["WB"]), InBits: atoi(t, row["AB"]), AccBits: atoi(t, row["ACC"]),
			Steps: atoi(t, row["NT"]), ThresholdBits: atoi(t, row["ACC"]), ThresholdMemory: StyleDistributedRAM,
		}
		s.points = append(s.points, point{
			sweep:    row["ACC"],
			design:   fmt.Sprintf("%+v", m),
			measured: number(t, row["lut"]),
			estimate: func(v *values) float64 { return sum(m.shares(v)).lut },
			finn:     number(t, row["finn_lut"]),
		})
	}
	return s
}

// published holds the folding, PE and SIMD, of finn-examples (reference/finn.md) for the binary layers in the table of
// HLS's own estimates. The table lacks the dimensions of its other layers.
var published = map[string]MVAUShape{
	"CNV StreamingFCLayer_Batch_1": signs(576, 64, 32, 32, 10),
	"CNV StreamingFCLayer_Batch_2": signs(576, 128, 16, 32, 10),
	"CNV StreamingFCLayer_Batch_3": signs(1152, 128, 16, 32, 11),
	"CNV StreamingFCLayer_Batch_4": signs(1152, 256, 4, 32, 11),
	"CNV StreamingFCLayer_Batch_6": signs(256, 512, 1, 4, 9),
	"CNV StreamingFCLayer_Batch_7": signs(512, 512, 1, 8, 10),
	"CNV StreamingFCLayer_Batch_8": last(signs(512, 10, 5, 1, 10)),
	"TFC StreamingFCLayer_Batch_0": signs(784, 64, 1, 7, 10),
	"TFC StreamingFCLayer_Batch_1": signs(64, 64, 1, 1, 7),
	"TFC StreamingFCLayer_Batch_3": last(signs(64, 10, 1, 1, 7)),
}

// hlsStudies compares the estimate with that of HLS, which is not a measurement: it can be twice the result of
// synthesis. Nothing is fitted.
func hlsStudies(t *testing.T) []study {
	t.Helper()
	lut, ff := study{name: "LUT"}, study{name: "FF"}
	for _, row := range table(t, "finn_hls_estimates_layers.csv") {
		m, ok := published[row["network"]+" "+row["layer"]]
		if !ok {
			continue
		}
		if pe, simd := atoi(t, row["PE"]), atoi(t, row["SIMD"]); m.PE != pe || m.SIMD != simd {
			t.Fatalf("%s %s: folding %d/%d, want %d/%d", row["network"], row["layer"], m.PE, m.SIMD, pe, simd)
		}
		p := point{sweep: row["network"], design: row["network"] + row["layer"], measured: number(t, row["HLS_LUT"])}
		p.finn = number(t, row["FINN_LUT"])
		p.estimate = func(v *values) float64 { return sum(m.shares(v)).lut }
		lut.points = append(lut.points, p)
		p.measured, p.finn = number(t, row["HLS_FF"]), math.NaN()
		p.estimate = func(v *values) float64 { return sum(m.shares(v)).ff }
		ff.points = append(ff.points, p)
	}
	if len(lut.points) != len(published) {
		t.Fatalf("%d layers, want %d", len(lut.points), len(published))
	}
	return []study{lut, ff}
}

// An overlay is a network of BNN-PYNQ: its layers' MW, MH, PE and SIMD (bnn/src/network of github.com/Xilinx/BNN-PYNQ).
type overlay struct {
	weight, in int
	layers     [][4]int
	images     []int // width of the image before each sliding window
	channels   []int
}

var (
	lfc  = [][4]int{{832, 1024, 32, 64}, {1024, 1024, 64, 32}, {1024, 1024, 32, 64}, {1024, 64, 16, 8}}
	cnv1 = [][4]int{
		{27, 64, 16, 3}, {576, 64, 32, 32}, {576, 128, 16, 32}, {1152, 128, 16, 32}, {1152, 256, 4, 32},
		{2304, 256, 1, 32}, {256, 512, 1, 4}, {512, 512, 1, 8}, {512, 64, 4, 1},
	}
	cnv2 = [][4]int{
		{27, 64, 8, 3}, {576, 64, 16, 16}, {576, 128, 8, 16}, {1152, 128, 8, 16}, {1152, 256, 4, 8},
		{2304, 256, 1, 8}, {256, 512, 1, 2}, {512, 512, 2, 2}, {512, 64, 4, 1},
	}
	cnvImages, cnvChannels = []int{32, 30, 14, 12, 5, 3}, []int{3, 64, 64, 128, 128, 256}
)

var overlays = map[string]overlay{
	"lfcW1A1": {1, 1, lfc, nil, nil},
	"lfcW1A2": {1, 2, lfc, nil, nil},
	"cnvW1A1": {1, 1, cnv1, cnvImages, cnvChannels},
	"cnvW1A2": {1, 2, cnv1, cnvImages, cnvChannels},
	"cnvW2A2": {2, 2, cnv2, cnvImages, cnvChannels},
}

// shares returns the parts of the network: matrix layers with a memory of weights for each PE, windows of 3 by 3 that
// keep four lines, and the host. The first layer of a CNV takes pixels of 8 bits.
func (o overlay) shares(v *values) []share {
	list := HostPortShape{1, 1, 64, 16, false}.shares(v)
	for i, l := range o.layers {
		m := built(MVAUShape{MW: l[0], MH: l[1], PE: l[2], SIMD: l[3], WeightBits: o.weight, InBits: o.in,
			Fabric: FabricSeries7})
		if i == 0 && o.images != nil {
			m.InBits = 8
		}
		m.AccBits = min(16, log2Ceil(m.MW)+m.WeightBits+m.InBits-1)
		m.ThresholdBits, m.Steps = m.AccBits, 1<<o.in-1
		if i == len(o.layers)-1 {
			m.Steps = 0
		}
		for _, s := range m.shares(v) {
			if s.name == "weight memory" {
				s = m.Fabric.table(s.name, StyleBlockRAM, l[0]*l[1]/(l[2]*l[3]), l[3]*o.weight)
				s.bram *= m.PE
			}
			list = append(list, s)
		}
		if i < len(o.images) {
			width := m.InBits * o.channels[i]
			list = append(list, share{lut: v[windowLUT], ff: v[windowFF]},
				m.Fabric.ram("", StyleBlockRAM, 4*o.images[i], width))
		}
	}
	return list
}

// overlayStudies compares whole accelerators of another generator of the same kernels, with weights that the host
// writes. Nothing is fitted. It leaves out the LSTM overlays of the table, whose folding is not published.
func overlayStudies(t *testing.T) []study {
	t.Helper()
	list := []study{{name: "LUT"}, {name: "FF"}, {name: "RAMB18"}}
	for _, row := range table(t, "pynq_overlays_vivado.csv") {
		o, ok := overlays[row["network"]]
		if !ok {
			if !strings.HasPrefix(row["network"], "W") {
				t.Fatalf("network %q", row["network"])
			}
			continue
		}
		total := func(v *values) share { return sum(o.shares(v)) }
		for i, q := range []struct {
			measured float64
			estimate func(*values) float64
		}{
			{number(t, row["SliceLUT"]), func(v *values) float64 { return total(v).lut }},
			{number(t, row["FF"]), func(v *values) float64 { return total(v).ff }},
			{2 * number(t, row["BRAM_tile"]), func(v *values) float64 { return float64(total(v).bram) }},
		} {
			list[i].points = append(list[i].points, point{row["network"], row["network"], q.measured, q.estimate,
				math.NaN()})
		}
	}
	return list
}
