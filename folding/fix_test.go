package folding

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/folding/goal"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// TestFINNExamples checks that the foldings in finn-examples for its TFC and keyword spotting networks take the clocks
// that FINN reports.
func TestFINNExamples(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct {
		name   string
		m      *dataflow.Model
		text   string
		clocks []int
		want   []dataflow.Fold
	}{
		{"TFC", mlp(r, uint2, 2, 2, 784, 64, 64, 64, 10), `{"Defaults": {},
			"MVAU_hls_0": {"PE": 16, "SIMD": 49, "ram_style": "block", "resType": "lut"},
			"MVAU_hls_1": {"PE": 8, "SIMD": 8, "ram_style": "auto", "resType": "lut"},
			"MVAU_hls_2": {"PE": 8, "SIMD": 8, "ram_style": "auto", "resType": "lut"},
			"MVAU_hls_3": {"PE": 10, "SIMD": 8, "ram_style": "distributed", "resType": "lut"},
			"LabelSelect_hls_0": {"PE": 1}}`, []int{64, 64, 64, 8}, []dataflow.Fold{
			{PE: 16, SIMD: 49, Memory: dataflow.MemoryBRAM, Compute: dataflow.MultiplierInLUTs}, {PE: 8, SIMD: 8,
				Compute: dataflow.MultiplierInLUTs},
			{PE: 8, SIMD: 8, Compute: dataflow.MultiplierInLUTs}, {PE: 10, SIMD: 8, Memory: dataflow.MemoryLUTRAM,
				Compute: dataflow.MultiplierInLUTs}}},
		{"KWS", mlp(r, int8Type, 3, 3, 490, 256, 256, 256, 12), `{"Defaults": {"resType": ["lut", ["MVAU_hls"]]},
			"MVAU_hls_0": {"PE": 32, "SIMD": 10}, "MVAU_hls_1": {"PE": 32, "SIMD": 8}, "MVAU_hls_2": {"PE": 32, "SIMD": 8},
			"MVAU_hls_3": {"PE": 1, "SIMD": 8}, "LabelSelect_hls_0": {"PE": 1}}`, []int{392, 256, 256, 384}, []dataflow.Fold{
			{PE: 32, SIMD: 10, Compute: dataflow.MultiplierInLUTs}, {PE: 32, SIMD: 8,
				Compute: dataflow.MultiplierInLUTs},
			{PE: 32, SIMD: 8, Compute: dataflow.MultiplierInLUTs}, {PE: 1, SIMD: 8,
				Compute: dataflow.MultiplierInLUTs}}},
	} {
		res, d := withFile(t, c.m, c.text, Goal{})
		if want := []string{"warning folding-unknown-layer LabelSelect_hls_0"}; !slices.Equal(codes(d), want) {
			t.Errorf("%s: %q", c.name, codes(d))
		}
		folds, clocks := layerFolds(res.Design)
		if !slices.Equal(clocks, c.clocks) {
			t.Errorf("%s: clocks %v, want %v", c.name, clocks, c.clocks)
		}
		for i, f := range folds {
			if c.want[i].Memory == dataflow.NoMemory {
				f.Memory = dataflow.NoMemory // left to the search
			}
			if f != c.want[i] {
				t.Errorf("%s, layer %d: %+v, want %+v", c.name, i, f, c.want[i])
			}
		}
		if res.Clocks.Interval != float64(slices.Max(c.clocks)) {
			t.Errorf("%s: %v clocks", c.name, res.Clocks.Interval)
		}
	}
}

// TestFINNExampleCNV checks that the folding of finn-examples' CNV-w2a2 takes the clocks that FINN reports, although it
// has no windows before the poolings. In the long tier, the search needs no more resources for an interval that is no
// longer.
func TestFINNExampleCNV(t *testing.T) {
	tier.NotQuick(t)
	t.Parallel()
	text := `{"Defaults": {}`
	for i, simd := range []int{3, 16, 16, 16, 8, 8} {
		text += fmt.Sprintf(`, "ConvolutionInputGenerator_rtl_%d": {"SIMD": %d, "parallel_window": 0, "ram_style": "distributed"}`, i, simd)
	}
	for i, f := range [][2]int{{8, 3}, {16, 16}, {8, 16}, {8, 16}, {4, 8}, {1, 8}, {1, 2}, {2, 2}, {5, 1}} {
		text += fmt.Sprintf(`, "MVAU_hls_%d": {"PE": %d, "SIMD": %d, "resType": "lut"}`, i, f[0], f[1])
	}
	m := cnv()
	res, d := withFile(t, m, text+"}", Goal{})
	if got := codes(d); !slices.Equal(got, []string{"note folding-invalid"}) {
		t.Errorf("%q", d.Diags)
	}
	var clocks []int
	for i, n := range res.Model.Graph.Nodes {
		if n.Op.Kind() == "MVAU" {
			clocks = append(clocks, res.LoopOfNode(i).IterationsPerFrame())
		}
	}
	if want := []int{64800, 112896, 82944, 115200, 82944, 73728, 65536, 65536, 1024}; !slices.Equal(clocks, want) ||
		res.Clocks.Interval != 115200 {
		t.Errorf("clocks %v, want %v", clocks, want)
	}
	if !tier.Long() {
		return
	}
	is, has := goal.AmountsByKind(res.Estimate.Total), goal.AmountsByKind(ResourcesOfBoard(board("zcu104")))
	use := all(1)
	for k := range is {
		*use.FractionPointerOf(k) = (float64(is[k]) + 0.5) / float64(has[k])
	}
	free, _ := designed(t, m, res.Target, Goal{MaxUse: use})
	if free == nil || free.Clocks.Interval > res.Clocks.Interval || !free.Estimate.Total.IsWithin(res.Estimate.Total) {
		t.Errorf("%+v", free)
	}
	t.Logf("FINN's folding: %v clocks with %v; the search within that: %v clocks with %v", res.Clocks.Interval,
		res.Estimate.Total, free.Clocks.Interval, free.Estimate.Total)
}

// layerFolds returns the fold and the clocks of every layer that is not a width converter.
func layerFolds(d *dataflow.Design) (folds []dataflow.Fold, clocks []int) {
	for i, n := range d.Model.Graph.Nodes {
		if n.Op.Kind() != "StreamingDataWidthConverter" {
			folds, clocks = append(folds, d.Folds[i]), append(clocks, d.LoopOfNode(i).IterationsPerFrame())
		}
	}
	return folds, clocks
}

// TestParallelWindow checks that parallel_window is read and written as the PE of a sliding window.
func TestParallelWindow(t *testing.T) {
	t.Parallel()
	p := newPainter()
	m := p.model("windows", p.conv(p.depthwise(p.image(6, 6, 4), 1), 1, 1, 2))
	for _, c := range []struct {
		text string
		pe   int
		want []string
	}{
		{`{"ConvolutionInputGenerator_0": {"parallel_window": 1}}`, 9, nil},
		{`{"ConvolutionInputGenerator_rtl_0": {"parallel_window": 0, "SIMD": 2}}`, 1, nil},
		{`{"Defaults": {"parallel_window": [1, "all"]}}`, 9, nil},
		{`{"Defaults": {"parallel_window": [1, "all"]}, "ConvolutionInputGenerator_0": {"parallel_window": 0}}`, 1,
			nil},
		{`{"ConvolutionInputGenerator_0": {"parallel_window": 1, "PE": 9}}`, 9, nil},
		{`{"ConvolutionInputGenerator_0": {"parallel_window": 1, "PE": 1}}`, 0,
			[]string{"error folding-invalid ConvolutionInputGenerator_0.parallel_window"}},
		{`{"VVAU_0": {"parallel_window": 1, "PE": 2}}`, -1, []string{"warning folding-invalid VVAU_0.parallel_window"}},
	} {
		res, d := withFile(t, m, c.text, Goal{FPS: 1000})
		if got := codes(d); !slices.Equal(got, c.want) || (res == nil) != (c.pe == 0) {
			t.Errorf("%s: %q", c.text, got)
			continue
		}
		if res == nil {
			continue
		}
		if pe := res.Folds[0].PE; c.pe > 0 && pe != c.pe {
			t.Errorf("%s: PE %d", c.text, pe)
		}
		text := FormatFoldingFile(res.Design, false)
		if want := fmt.Sprintf(`"parallel_window": %d`, min(1, res.Folds[0].PE-1)); !bytes.Contains(text,
			[]byte(want)) {
			t.Errorf("%s: want %s in\n%s", c.text, want, text)
		}
		again, d := withFile(t, m, string(text), Goal{})
		if again == nil || len(d.Diags) > 0 || !slices.Equal(again.Folds, res.Folds) {
			t.Errorf("%s: %v, read back %+v", text, d.Diags, again)
		}
	}
}

// TestFix checks requests that a layer can and cannot fulfil.
func TestFix(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(6, 6))
	fc := mlp(r, int8Type, 2, 2, 784, 64, 10)
	th := withThresholds(r, 24, 6)
	for _, c := range []struct {
		name, text string
		m          *dataflow.Model
		want       []string
		hint       string // hint of the first diagnostic
	}{
		{"not a divisor", `{"MVAU_hls_0": {"PE": 7}}`, fc, []string{"error folding-invalid MVAU_hls_0.PE"},
			"possible are 2, 4, 8, 16"},
		{"beyond the end", `{"MVAU_0": {"PE": 65}}`, fc, []string{"error folding-invalid MVAU_0.PE"},
			"possible are 32, 64"},
		{"word too wide", `{"MVAU_0": {"SIMD": 784}}`, fc, []string{"error word-too-wide MVAU_0.SIMD"},
			"possible are 196, 392"},
		{"two layers", `{"MVAU_0": {"PE": 3, "SIMD": 5}, "MVAU_1": {"PE": 4}}`, fc,
			[]string{"error folding-invalid MVAU_0.PE", "error folding-invalid MVAU_0.SIMD",
				"error folding-invalid MVAU_1.PE"}, "possible are 1, 2, 4, 8"},
		{"URAM as ROM", `{"MVAU_0": {"ram_style": "ultra"}}`, fc, []string{"error folding-invalid MVAU_0"},
			"this device cannot fill UltraRAM with a table: take ram_style block or distributed"},
		{"no SIMD", `{"Thresholding_rtl_0": {"SIMD": 2}}`, th,
			[]string{"error folding-invalid Thresholding_rtl_0.SIMD"}, "possible are 1"},
		{"no SIMD by default", `{"Defaults": {"SIMD": [2, "all"]}}`, th, nil, ""},
		{"no multiplier", `{"Thresholding_0": {"resType": "dsp"}}`, th,
			[]string{"warning folding-invalid Thresholding_0.resType"}, ""},
		{"no multiplier by default", `{"Defaults": {"resType": ["dsp", "all"]}}`, th, nil, ""},
		{"no such memory", `{"Thresholding_0": {"ram_style": "ultra"}}`, th,
			[]string{"error folding-invalid Thresholding_0.ram_style"}, "possible are distributed, block"},
		{"not together", `{"Thresholding_0": {"PE": 24, "ram_style": "block", "steps": "parallel"}}`, th,
			[]string{"error folding-invalid Thresholding_0"}, "leave one of them out"},
		{"bad default", `{"Defaults": {"PE": [7, ["MVAU_hls"]]}}`, fc, []string{"error folding-invalid Defaults.PE",
			"error folding-invalid Defaults.PE"}, "possible are 2, 4, 8, 16"},
		{"default overruled", `{"Defaults": {"PE": [5, ["MVAU"]]}, "MVAU_0": {"PE": 4}, "MVAU_1": {"PE": 2}}`, fc, nil,
			""},
		{"FINN's own layers",
			`{"Reshape_rtl_0": {"PE": 1}, "Reshape_7": {"PE": 1}, "ChannelwiseOp_Batch_0": {"PE": 1}}`, fc,
			[]string{"warning folding-unknown-layer Reshape_rtl_0", "warning folding-unknown-layer Reshape_7",
				"warning folding-unknown-layer ChannelwiseOp_Batch_0"}, "it has MVAU_0 to MVAU_1"},
		{"layers that FINN has besides",
			`{"LabelSelect_hls_0": {"PE": 1}, "Thresholding_rtl_0": {"PE": 2}, "StreamingMaxPool_0": {"PE": 2}}`, fc,
			[]string{"warning folding-unknown-layer LabelSelect_hls_0",
				"warning folding-unknown-layer Thresholding_rtl_0", "warning folding-unknown-layer StreamingMaxPool_0"},
			"it has MVAU_0 to MVAU_1"},
		{"a layer too many", `{"MVAU_hls_2": {"PE": 4}}`, fc, []string{"error folding-unknown-layer MVAU_hls_2"},
			"did you mean MVAU_1? it has MVAU_0 to MVAU_1"},
		{"a layer too many of two back ends",
			`{"MVAU_hls_0": {"PE": 4}, "MVAU_rtl_0": {"PE": 1}, "MVAU_rtl_1": {"PE": 2}}`, fc,
			[]string{"note folding-invalid", "error folding-unknown-layer MVAU_rtl_1"}, ""},
		{"a misspelt layer", `{"MUVA_1": {"PE": 2}}`, fc, []string{"error folding-unknown-layer MUVA_1"},
			"did you mean MVAU_1? it has MVAU_0 to MVAU_1"},
		{"a misspelt layer of FINN", `{"MUVA_hls_0": {"PE": 2}}`, fc,
			[]string{"error folding-unknown-layer MUVA_hls_0"}, "did you mean MVAU_0? it has MVAU_0 to MVAU_1"},
		{"in small letters", `{"mvau_0": {"PE": 2}}`, fc, []string{"error folding-unknown-layer mvau_0"},
			"did you mean MVAU_0? it has MVAU_0 to MVAU_1"},
		{"without a number", `{"MVAU": {"PE": 2}}`, fc, []string{"error folding-unknown-layer MVAU"},
			"did you mean MVAU_0? it has MVAU_0 to MVAU_1"},
		{"a number beyond all", `{"MVAU_99999999999999999999": {"PE": 2}}`, fc,
			[]string{"error folding-unknown-layer MVAU_99999999999999999999"},
			"did you mean MVAU_1? it has MVAU_0 to MVAU_1"},
		{"a kind that it has none of", `{"Thresholding_0": {"PE": 2}}`, fc,
			[]string{"error folding-unknown-layer Thresholding_0"}, "it has MVAU_0 to MVAU_1"},
		{"no layer at all", `{"fc1": {"PE": 2}}`, fc, []string{"error folding-unknown-layer fc1"},
			"it has MVAU_0 to MVAU_1"},
	} {
		res, d := withFile(t, c.m, c.text, Goal{FPS: 1000})
		if got := codes(d); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
			continue
		}
		if (res == nil) != d.HasErrors() {
			t.Errorf("%s: result %v", c.name, res)
		}
		if c.hint != "" && d.Diags[0].Hint != c.hint {
			t.Errorf("%s: hint %q, want %q", c.name, d.Diags[0].Hint, c.hint)
		}
	}
}

// TestAutoOverrulesDefault checks that "auto" leaves a field to the search even if a default sets it.
func TestAutoOverrulesDefault(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(7, 7)), uint2, 2, 2, 16, 8, 4)
	res, d := withFile(t, m,
		`{"Defaults": {"resType": ["dsp", "all"], "PE": [2, "all"]}, "MVAU_0": {"resType": "auto", "SIMD": 16}}`,
		Goal{MaxUse: MaxUseFractions{LUT: 1, LUTRAM: 1, FF: 1, BRAM: 1, URAM: 1, DSP: 0.002, Mean: 1}})
	folds, _ := layerFolds(res.Design)
	if len(d.Diags) > 0 && d.HasErrors() {
		t.Fatal(d.Diags)
	}
	if f := folds[0]; f.PE != 2 || f.SIMD != 16 || f.Compute != dataflow.MultiplierInLUTs {
		t.Errorf("MVAU_0: %+v", f)
	}
	if f := folds[1]; f.PE != 2 || f.Compute != dataflow.MultiplierInDSPs {
		t.Errorf("MVAU_1: %+v", f)
	}
}
