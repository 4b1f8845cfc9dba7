package folding

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/tier"
)

// codes is what a list says, one "severity code where" per diagnostic.
func codes(d *diag.List) []string {
	var all []string
	for _, g := range d.Diags {
		all = append(all, strings.TrimSpace(g.Level+" "+string(g.Code)+" "+strings.TrimPrefix(strings.TrimPrefix(g.Where, "folding file"), ", ")))
	}
	return all
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string // diagnostics
	}{
		{"empty", `{}`, nil},
		{"FINN's", `{"Defaults": {}, "MVAU_hls_0": {"PE": 2, "SIMD": 28, "ram_style": "auto", "ram_style_thresholds": "auto", "resType": "lut",
			"mem_mode": "internal_decoupled", "runtime_writeable_weights": 0}, "Thresholding_rtl_0": {"PE": 1, "depth_trigger_uram": 0}}`, nil},
		{"sliding windows", `{"Defaults": {"parallel_window": [0, ["ConvolutionInputGenerator_rtl"]]}, "ConvolutionInputGenerator_rtl_0": {"SIMD": 2, "parallel_window": 1, "M": 1, "dynamic_mode": 0}}`, nil},
		{"no such window", `{"ConvolutionInputGenerator_0": {"parallel_window": 2}, "ConvolutionInputGenerator_1": {"parallel_window": "1", "M": 4}}`,
			[]string{"error folding-invalid ConvolutionInputGenerator_0.parallel_window", "error folding-invalid ConvolutionInputGenerator_1.parallel_window",
				"warning folding-invalid ConvolutionInputGenerator_1.M"}},
		{"two back ends", `{"MVAU_hls_0": {"PE": 1}, "MVAU_rtl_0": {"PE": 2}, "MVAU_rtl_1": {"PE": 3}, "MVAU_hls_1": {"PE": 4}}`, []string{"note folding-invalid"}},
		{"defaults", `{"Defaults": {"PE": [2, ["MVAU_hls", "Thresholding"]], "resType": ["lut", "all"], "SIMD": [2, ["MVAU"], 1, "Pool"]}}`, nil},
		{"FIFO depths", `{"A_0": {"inFIFODepths": [2], "PE": 1}, "B_0": {"inFIFODepths": [32], "outFIFODepths": [2]}}`,
			[]string{"note folding-invalid", "note folding-invalid"}},
		{"FINN's own nodes", `{"StreamingFIFO_rtl_0": {"depth": 2, "impl_style": "rtl"}, "StreamingDataWidthConverter_rtl_0": {}}`, []string{"note folding-invalid"}},
		{"not JSON", `{"A_0": {"PE": }}`, []string{"error folding-invalid"}},
		{"cut off", `{"A_0": {"PE": 1}`, []string{"error folding-invalid"}},
		{"nothing", ``, []string{"error folding-invalid"}},
		{"a list", `[]`, []string{"error folding-invalid"}},
		{"a number", `3`, []string{"error folding-invalid"}},
		{"two values", `{} {}`, []string{"error folding-invalid"}},
		{"NaN", `{"A_0": {"PE": NaN}}`, []string{"error folding-invalid"}},
		{"key twice", `{"A_0": {"PE": 1, "PE": 2}}`, []string{"error folding-invalid"}},
		{"layer twice", `{"A_0": {"PE": 1}, "A_0": {"PE": 2}}`, []string{"error folding-invalid"}},
		{"layer under two names", `{"A_hls_0": {"PE": 1}, "A_0": {"PE": 1}}`, []string{"error folding-invalid A_0"}},
		{"deep", `{"A_0": {"x": ` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + `}}`, []string{"error folding-invalid"}},
		{"layer no object", `{"A_0": 5, "Defaults": 3}`, []string{"error folding-invalid A_0", "error folding-invalid Defaults"}},
		{"bad numbers", `{"A_0": {"PE": 0, "SIMD": -3}, "B_0": {"PE": 1.5, "SIMD": "4"}, "C_0": {"PE": null, "SIMD": 99999999999}}`,
			[]string{"error folding-invalid A_0.PE", "error folding-invalid A_0.SIMD", "error folding-invalid B_0.PE", "error folding-invalid B_0.SIMD",
				"error folding-invalid C_0.PE", "error folding-invalid C_0.SIMD"}},
		{"bad styles", `{"A_0": {"ram_style": "bram", "resType": true, "mem_mode": "external"}, "B_0": {"mem_mode": 7}}`,
			[]string{"error folding-invalid A_0.ram_style", "error folding-invalid A_0.resType", "error folding-invalid A_0.mem_mode", "error folding-invalid B_0.mem_mode"}},
		{"unsupported", `{"A_0": {"runtime_writeable_weights": 1, "pumpedMemory": [1]}}`,
			[]string{"warning folding-invalid A_0.runtime_writeable_weights", "warning folding-invalid A_0.pumpedMemory"}},
		{"misspelt", `{"A_0": {"SMID": 4}, "B_0": {"SMID": 2}}`, []string{"warning folding-invalid"}},
		{"bad defaults", `{"Defaults": {"PE": 2, "SIMD": [2], "ram_style": ["block", 5], "resType": ["x", "all"], "mem_mode": ["const", []]}}`,
			[]string{"error folding-invalid Defaults.PE", "error folding-invalid Defaults.SIMD", "error folding-invalid Defaults.ram_style",
				"error folding-invalid Defaults.resType", "error folding-invalid Defaults.mem_mode"}},
	} {
		var d diag.List
		f := ReadFile([]byte(c.text), &d)
		if got := codes(&d); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
		if (f == nil) != d.Failed() {
			t.Errorf("%s: file %v with %q", c.name, f, codes(&d))
		}
	}
}

func TestReadFileSays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n\n\"A_0\": {\"PE\": 1,\n\"PE\": 2}}":                   `line 4: key "PE" is given twice`,
		`{"A_0": {"ram_style": "bram"}}`:                           `"bram" is not one of auto, block, distributed, ultra`,
		`{"A_0": {"PE": 2.5}}`:                                     `2.5 is not a whole number from 1`,
		`{"A_0": {"x": 1}, "B_0": {"x": 1}}`:                       `"x" has no effect (2 times)`,
		`{"A_0": {"PE": "` + strings.Repeat("9", 100) + `"}}`:      `"` + strings.Repeat("9", 40) + `" is not a whole number from 1`,
		`{"A_0": ` + strings.Repeat(" ", maxFile) + `{"PE": 2.5}}`: `larger than 16777216 bytes`,
	} {
		var d diag.List
		ReadFile([]byte(text), &d)
		if len(d.Diags) != 1 || !strings.Contains(d.Diags[0].Msg, want) {
			t.Errorf("%.60q: %q, want %q", text, d.Diags, want)
		}
	}
}

// Folding files that FINN wrote or ships are read without an error or a warning.
func TestReadFINNFiles(t *testing.T) {
	t.Parallel()
	shared := tier.NeedsShared(t)
	var files []string
	for _, pattern := range []string{"*folding_config.json", "final_hw_config.json"} {
		files = append(files, must(filepath.Glob(filepath.Join(shared, "reference", "finn_*", "*", pattern)))...)
	}
	if len(files) == 0 {
		t.Fatalf("no folding files under %s", shared)
	}
	for _, path := range files {
		var d diag.List
		f := ReadFile(must(os.ReadFile(path)), &d)
		if f == nil || f.layers["MVAU_0"].fold.PE == 0 {
			t.Errorf("%s: %v, %v", path, f, d.Diags)
		}
		for _, g := range d.Diags {
			if g.Severity != diag.Note {
				t.Errorf("%s: %s", path, g)
			}
		}
	}
}

// Every name that FINN has or had for a kind means ours.
func TestOurNames(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"MVAU_0": "MVAU_0", "MVAU_hls_12": "MVAU_12", "MVAU_rtl_3": "MVAU_3", "MatrixVectorActivation_1": "MVAU_1", "StreamingFCLayer_Batch_2": "MVAU_2",
		"VVAU_rtl_0": "VVAU_0", "VectorVectorActivation_0": "VVAU_0", "Vector_Vector_Activate_Batch_7": "VVAU_7",
		"ConvolutionInputGenerator_rtl_0": "ConvolutionInputGenerator_0", "ConvolutionInputGenerator1D_4": "ConvolutionInputGenerator_4",
		"Thresholding_Batch_0": "Thresholding_0", "LabelSelect_Batch_0": "LabelSelect_0", "AddStreams_Batch_5": "AddStreams_5", "ElementwiseAdd_hls_5": "AddStreams_5",
		"DuplicateStreams_hls_0": "DuplicateStreams_0", "StreamingConcat_hls_0": "StreamingConcat_0", "Pool_Batch_0": "Pool_0", "Pool_hls_1": "Pool_1",
		"GlobalAccPool_hls_0": "GlobalPool_0", "FMPadding_rtl_0": "FMPadding_0", "UpsampleNearestNeighbour_hls_0": "UpsampleNearestNeighbour_0",
		"Lookup_hls_0": "Lookup_0", "": "", "x": "x", "_0": "_0", "a\nb": "a\nb",
	} {
		if got := spelt(key).name(); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
	var d diag.List
	f := ReadFile([]byte(`{"MVAU_hls_0": {"PE": 1}, "MVAU_rtl_0": {"PE": 2}, "Pool_hls_0": {"PE": 7}, "MVAU_rtl_1": {"PE": 3}, "MVAU_hls_1": {"PE": 4}}`), &d)
	for i := range 4 {
		if pe := f.layers[fmt.Sprintf("MVAU_%d", i)].fold.PE; pe != i+1 {
			t.Errorf("MVAU_%d has PE %d", i, pe)
		}
	}
}

// parallel_window is the PE of a sliding window, read and written.
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
		{`{"Defaults": {"parallel_window": [1, "all"]}, "ConvolutionInputGenerator_0": {"parallel_window": 0}}`, 1, nil},
		{`{"ConvolutionInputGenerator_0": {"parallel_window": 1, "PE": 9}}`, 9, nil},
		{`{"ConvolutionInputGenerator_0": {"parallel_window": 1, "PE": 1}}`, 0, []string{"error folding-invalid ConvolutionInputGenerator_0.parallel_window"}},
		{`{"VVAU_0": {"parallel_window": 1, "PE": 2}}`, -1, []string{"warning folding-invalid VVAU_0.parallel_window"}},
	} {
		res, d := searchFile(t, m, c.text, Goal{FPS: 1000})
		if got := codes(d); !slices.Equal(got, c.want) || (res == nil) != (c.pe == 0) {
			t.Errorf("%s: %q", c.text, got)
			continue
		}
		if res == nil {
			continue
		}
		if pe := res.Design.Folds[0].PE; c.pe > 0 && pe != c.pe {
			t.Errorf("%s: PE %d", c.text, pe)
		}
		text := Format(res.Design)
		if want := fmt.Sprintf(`"parallel_window": %d`, min(1, res.Design.Folds[0].PE-1)); !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: want %s in\n%s", c.text, want, text)
		}
		again, d := searchFile(t, m, string(text), Goal{})
		if again == nil || len(d.Diags) > 0 || !slices.Equal(again.Design.Folds, res.Design.Folds) {
			t.Errorf("%s: %v, read back %+v", text, d.Diags, again)
		}
	}
}

func FuzzReadFile(f *testing.F) {
	f.Add([]byte(`{"Defaults": {"PE": [2, ["MVAU_hls"]]}, "MVAU_hls_0": {"PE": 2, "SIMD": 4, "ram_style": "block", "inFIFODepths": [2]}}`))
	f.Add([]byte(`{"MVAU_0": {"PE": 3, "resType": "dsp", "mem_mode": "const"}}`))
	m := mlp(rand.New(rand.NewPCG(1, 1)), uint2, 2, 2, 12, 6, 4)
	f.Fuzz(func(t *testing.T, data []byte) {
		var d diag.List
		file := ReadFile(data, &d)
		if (file == nil) != d.Failed() {
			t.Fatalf("file %v, diagnostics %v", file, d.Diags)
		}
		if file == nil {
			return
		}
		r, err := Search(context.Background(), m, dataflow.Target{Board: board("zcu104"), ClockMHz: 100}, Goal{Fixed: file}, &d)
		if err != nil || (r == nil) != d.Failed() {
			t.Fatalf("%v, %v, %v", r, err, d.Diags)
		}
	})
}

// search runs Search on the zcu104 with a folding file.
func searchFile(t *testing.T, m *dataflow.Model, text string, goal Goal) (*Result, *diag.List) {
	t.Helper()
	var d diag.List
	if goal.Fixed = ReadFile([]byte(text), &d); goal.Fixed == nil {
		t.Fatalf("%s: %v", text, d.Diags)
	}
	r, err := Search(context.Background(), m, dataflow.Target{Board: board("zcu104"), ClockMHz: 200}, goal, &d)
	if err != nil {
		t.Fatal(err)
	}
	return r, &d
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
			{PE: 8, SIMD: 8, Compute: dataflow.LUT}, {PE: 10, SIMD: 8, Memory: dataflow.LUTRAM, Compute: dataflow.LUT}}},
		{"KWS", mlp(r, int8Type, 3, 3, 490, 256, 256, 256, 12), `{"Defaults": {"resType": ["lut", ["MVAU_hls"]]},
			"MVAU_hls_0": {"PE": 32, "SIMD": 10}, "MVAU_hls_1": {"PE": 32, "SIMD": 8}, "MVAU_hls_2": {"PE": 32, "SIMD": 8},
			"MVAU_hls_3": {"PE": 1, "SIMD": 8}, "LabelSelect_hls_0": {"PE": 1}}`, []int{392, 256, 256, 384}, []dataflow.Fold{
			{PE: 32, SIMD: 10, Compute: dataflow.LUT}, {PE: 32, SIMD: 8, Compute: dataflow.LUT},
			{PE: 32, SIMD: 8, Compute: dataflow.LUT}, {PE: 1, SIMD: 8, Compute: dataflow.LUT}}},
	} {
		res, d := searchFile(t, c.m, c.text, Goal{})
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
		if res.Interval != slices.Max(c.clocks) || !strings.HasSuffix(res.Why, "as the folding file sets it") {
			t.Errorf("%s: interval %d, %s", c.name, res.Interval, res.Why)
		}
		if err := res.Design.Verify(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The folding of finn-examples' CNV-w2a2 takes the clocks that FINN reports, though it knows no windows in front of the
// poolings; and the search needs no more than it does for an interval that is no longer.
func TestFINNExampleCNV(t *testing.T) {
	t.Parallel()
	text := `{"Defaults": {}`
	for i, simd := range []int{3, 16, 16, 16, 8, 8} {
		text += fmt.Sprintf(`, "ConvolutionInputGenerator_rtl_%d": {"SIMD": %d, "parallel_window": 0, "ram_style": "distributed"}`, i, simd)
	}
	for i, f := range [][2]int{{8, 3}, {16, 16}, {8, 16}, {8, 16}, {4, 8}, {1, 8}, {1, 2}, {2, 2}, {5, 1}} {
		text += fmt.Sprintf(`, "MVAU_hls_%d": {"PE": %d, "SIMD": %d, "resType": "lut"}`, i, f[0], f[1])
	}
	m := cnv()
	res, d := searchFile(t, m, text+"}", Goal{})
	if got := codes(d); !slices.Equal(got, []string{"note folding-invalid"}) {
		t.Errorf("%q", d.Diags)
	}
	var clocks []int
	for i, n := range res.Design.Model.Graph.Nodes {
		if n.Op.Kind() == "MVAU" {
			clocks = append(clocks, res.Design.Loop(i).Iterations())
		}
	}
	if want := []int{64800, 112896, 82944, 115200, 82944, 73728, 65536, 65536, 1024}; !slices.Equal(clocks, want) || res.Interval != 115200 {
		t.Errorf("clocks %v, want %v", clocks, want)
	}
	is, has := vectorOf(res.Total), vectorOf(Capacity(board("zcu104")))
	var use [kinds]float64
	for k := range use {
		use[k] = (float64(is[k]) + 0.5) / float64(has[k])
	}
	free, _ := run(t, m, board("zcu104"), Goal{MaxUse: Use{use[lut], use[ff], use[bram], use[uram], use[dsp]}})
	if free == nil || free.Interval > res.Interval || !vectorOf(free.Total).within(is) {
		t.Errorf("%+v", free)
	}
	t.Logf("FINN's folding: %d clocks with %v; the search within that: %d clocks with %v", res.Interval, res.Total, free.Interval, free.Total)
}

// What a file asks a layer to do that it cannot do, or can.
func TestFix(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	fc := mlp(r, int8Type, 2, 2, 784, 64, 10)
	th := withThresholds(r, 24, 6)
	for _, c := range []struct {
		name, text string
		m          *dataflow.Model
		want       []string
		hint       string // of the first
	}{
		{"not a divisor", `{"MVAU_hls_0": {"PE": 7}}`, fc, []string{"error folding-invalid MVAU_hls_0.PE"}, "possible are 2, 4, 8, 16"},
		{"beyond the end", `{"MVAU_0": {"PE": 65}}`, fc, []string{"error folding-invalid MVAU_0.PE"}, "possible are 32, 64"},
		{"word too wide", `{"MVAU_0": {"SIMD": 784}}`, fc, []string{"error word-too-wide MVAU_0.SIMD"}, "possible are 196, 392"},
		{"two layers", `{"MVAU_0": {"PE": 3, "SIMD": 5}, "MVAU_1": {"PE": 4}}`, fc,
			[]string{"error folding-invalid MVAU_0.PE", "error folding-invalid MVAU_0.SIMD", "error folding-invalid MVAU_1.PE"}, "possible are 1, 2, 4, 8"},
		{"URAM as ROM", `{"MVAU_0": {"ram_style": "ultra"}}`, fc, []string{"error folding-invalid MVAU_0"}, "this device cannot fill UltraRAM with a table: take ram_style block or distributed"},
		{"no SIMD", `{"Thresholding_rtl_0": {"SIMD": 2}}`, th, []string{"error folding-invalid Thresholding_rtl_0.SIMD"}, "possible are 1"},
		{"no SIMD by default", `{"Defaults": {"SIMD": [2, "all"]}}`, th, nil, ""},
		{"no multiplier", `{"Thresholding_0": {"resType": "dsp"}}`, th, []string{"warning folding-invalid Thresholding_0.resType"}, ""},
		{"no multiplier by default", `{"Defaults": {"resType": ["dsp", "all"]}}`, th, nil, ""},
		{"no such memory", `{"Thresholding_0": {"ram_style": "ultra"}}`, th, []string{"error folding-invalid Thresholding_0.ram_style"}, "possible are distributed, block"},
		{"not together", `{"Thresholding_0": {"PE": 24, "ram_style": "block"}}`, th, []string{"error folding-invalid Thresholding_0"}, "leave one of them out"},
		{"bad default", `{"Defaults": {"PE": [7, ["MVAU_hls"]]}}`, fc, []string{"error folding-invalid Defaults.PE", "error folding-invalid Defaults.PE"}, "possible are 2, 4, 8, 16"},
		{"default overruled", `{"Defaults": {"PE": [5, ["MVAU"]]}, "MVAU_0": {"PE": 4}, "MVAU_1": {"PE": 2}}`, fc, nil, ""},
		{"unknown layers", `{"MVAU_hls_2": {"PE": 4}, "Reshape_rtl_0": {"PE": 1}}`, fc,
			[]string{"warning folding-unknown-layer MVAU_hls_2", "warning folding-unknown-layer Reshape_rtl_0"}, "it has MVAU_0 to MVAU_1"},
	} {
		res, d := searchFile(t, c.m, c.text, Goal{FPS: 1000})
		if got := codes(d); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
			continue
		}
		if (res == nil) != d.Failed() {
			t.Errorf("%s: result %v", c.name, res)
		}
		if c.hint != "" && d.Diags[0].Hint != c.hint {
			t.Errorf("%s: hint %q, want %q", c.name, d.Diags[0].Hint, c.hint)
		}
	}
}

// "auto" leaves a field to the search even where a default sets it.
func TestAutoOverrulesDefault(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(7, 7)), uint2, 2, 2, 16, 8, 4)
	res, d := searchFile(t, m, `{"Defaults": {"resType": ["dsp", "all"], "PE": [2, "all"]}, "MVAU_0": {"resType": "auto", "SIMD": 16}}`, Goal{MaxUse: Use{LUT: 1, BRAM: 1, FF: 1, DSP: 0.001}})
	folds, _ := layerFolds(res.Design)
	if len(d.Diags) > 0 && d.Failed() {
		t.Fatal(d.Diags)
	}
	if f := folds[0]; f.PE != 2 || f.SIMD != 16 || f.Compute != dataflow.LUT {
		t.Errorf("MVAU_0: %+v", f)
	}
	if f := folds[1]; f.PE != 2 || f.Compute != dataflow.DSP {
		t.Errorf("MVAU_1: %+v", f)
	}
}

// A written file reads back to the same folds, and names no width converter.
func TestFormatRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	for _, m := range []*dataflow.Model{
		mlp(r, uint2, 2, 2, 784, 64, 64, 64, 10), mlp(r, uint2, 1, 1, 12, 5, 3), mlp(r, uint2, 2, 2, 1, 7, 1), withThresholds(r, 24, 6),
	} {
		for _, goal := range []Goal{{}, {FPS: 250_000}, {MaxCycles: 5000}} {
			target := dataflow.Target{Board: board("zcu104"), ClockMHz: 200}
			var d diag.List
			first, err := Search(context.Background(), m, target, goal, &d)
			if err != nil || first == nil {
				t.Fatalf("%+v: %v, %v", goal, err, d.Diags)
			}
			text := Format(first.Design)
			if bytes.Contains(text, []byte("WidthConverter")) || !bytes.Contains(text, []byte(`"Defaults": {}`)) {
				t.Errorf("file:\n%s", text)
			}
			again, err := Search(context.Background(), m, target, Goal{Fixed: ReadFile(text, &d)}, &d)
			if err != nil || again == nil || len(d.Diags) > 0 {
				t.Fatalf("%s\n%v, %v", text, err, d.Diags)
			}
			if !slices.Equal(again.Design.Folds, first.Design.Folds) || again.Interval != first.Interval || again.Total != first.Total {
				t.Errorf("%s\ngot  %+v\nwant %+v", text, again.Design.Folds, first.Design.Folds)
			}
			if !bytes.Equal(Format(again.Design), text) {
				t.Errorf("%s\nis written as\n%s", text, Format(again.Design))
			}
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	m := withThresholds(rand.New(rand.NewPCG(9, 9)), 24, 6)
	d := &dataflow.Design{Model: m, Folds: []dataflow.Fold{
		{PE: 4, SIMD: 1, Memory: dataflow.BRAM}, {PE: 3, SIMD: 1, Memory: dataflow.LUTRAM, Compute: dataflow.DSP}}}
	want := `{
  "Defaults": {},
  "Thresholding_0": {
    "PE": 4,
    "ram_style": "block"
  },
  "MVAU_0": {
    "PE": 3,
    "SIMD": 1,
    "ram_style": "distributed",
    "resType": "dsp"
  }
}
`
	if got := string(Format(d)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
