package folding

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/folding/ask"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/tier"
)

// The foldings that finn-examples ships for its TFC and keyword spotting networks take the clocks that FINN reports.
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
			{PE: 16, SIMD: 49, Memory: dataflow.BRAM, Compute: dataflow.LUT}, {PE: 8, SIMD: 8, Compute: dataflow.LUT},
			{PE: 8, SIMD: 8, Compute: dataflow.LUT}, {PE: 10, SIMD: 8, Memory: dataflow.LUTRAM,
				Compute: dataflow.LUT}}},
		{"KWS", mlp(r, int8Type, 3, 3, 490, 256, 256, 256, 12), `{"Defaults": {"resType": ["lut", ["MVAU_hls"]]},
			"MVAU_hls_0": {"PE": 32, "SIMD": 10}, "MVAU_hls_1": {"PE": 32, "SIMD": 8}, "MVAU_hls_2": {"PE": 32, "SIMD": 8},
			"MVAU_hls_3": {"PE": 1, "SIMD": 8}, "LabelSelect_hls_0": {"PE": 1}}`, []int{392, 256, 256, 384}, []dataflow.Fold{
			{PE: 32, SIMD: 10, Compute: dataflow.LUT}, {PE: 32, SIMD: 8, Compute: dataflow.LUT},
			{PE: 32, SIMD: 8, Compute: dataflow.LUT}, {PE: 1, SIMD: 8, Compute: dataflow.LUT}}},
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

// The folding of finn-examples' CNV-w2a2 takes the clocks that FINN reports, though it knows no windows in front of the
// poolings; and the search needs no more than it does for an interval that is no longer (in the long tier).
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
			clocks = append(clocks, res.Loop(i).Iterations())
		}
	}
	if want := []int{64800, 112896, 82944, 115200, 82944, 73728, 65536, 65536, 1024}; !slices.Equal(clocks, want) ||
		res.Clocks.Interval != 115200 {
		t.Errorf("clocks %v, want %v", clocks, want)
	}
	if !tier.Long() {
		return
	}
	is, has := ask.Amounts(res.Estimate.Total), ask.Amounts(Capacity(board("zcu104")))
	use := ask.Even(1)
	for k := range is {
		*use.Share(k) = (float64(is[k]) + 0.5) / float64(has[k])
	}
	free, _ := designed(t, m, res.Target, Goal{MaxUse: use})
	if free == nil || free.Clocks.Interval > res.Clocks.Interval || !free.Estimate.Total.Within(res.Estimate.Total) {
		t.Errorf("%+v", free)
	}
	t.Logf("FINN's folding: %v clocks with %v; the search within that: %v clocks with %v", res.Clocks.Interval,
		res.Estimate.Total, free.Clocks.Interval, free.Estimate.Total)
}

// layerFolds is the fold and the clocks of every layer that is no width converter.
func layerFolds(d *dataflow.Design) (folds []dataflow.Fold, clocks []int) {
	for i, n := range d.Model.Graph.Nodes {
		if n.Op.Kind() != "StreamingDataWidthConverter" {
			folds, clocks = append(folds, d.Folds[i]), append(clocks, d.Loop(i).Iterations())
		}
	}
	return folds, clocks
}
