package finn

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// TestReadFINNFiles checks that folding files written or shipped by FINN are read without an error or a warning.
func TestReadFINNFiles(t *testing.T) {
	t.Parallel()
	shared := tier.NeedsShared(t)
	var files []string
	for _, pattern := range []string{"*folding_config.json", "final_hw_config.json"} {
		found, err := filepath.Glob(filepath.Join(shared, "reference", "finn_*", "*", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skip("HLSGEN_SHARED holds no FINN builds")
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var d diag.List
		f := ParseFoldingFile(text, &d)
		if f == nil || f.layers["MVAU_0"].fold.PE == 0 {
			t.Errorf("%s: %v, %v", path, f, d.Diags)
		}
		for _, g := range d.Diags {
			if g.Severity != diag.SeverityNote {
				t.Errorf("%s: %s", path, g)
			}
		}
	}
}

// TestOurNames checks that every present and former name of FINN for a kind maps to ours.
func TestOurNames(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"MVAU_0": "MVAU_0", "MVAU_hls_12": "MVAU_12", "MVAU_rtl_3": "MVAU_3", "MatrixVectorActivation_1": "MVAU_1",
		"StreamingFCLayer_Batch_2": "MVAU_2",
		"VVAU_rtl_0":               "VVAU_0", "VectorVectorActivation_0": "VVAU_0",
		"Vector_Vector_Activate_Batch_7":  "VVAU_7",
		"ConvolutionInputGenerator_rtl_0": "ConvolutionInputGenerator_0",
		"ConvolutionInputGenerator1D_4":   "ConvolutionInputGenerator_4",
		"Thresholding_Batch_0":            "Thresholding_0", "LabelSelect_Batch_0": "LabelSelect_0",
		"AddStreams_Batch_5": "AddStreams_5", "ElementwiseAdd_hls_5": "AddStreams_5",
		"DuplicateStreams_hls_0": "DuplicateStreams_0", "StreamingConcat_hls_0": "StreamingConcat_0",
		"Pool_Batch_0": "Pool_0", "Pool_hls_1": "Pool_1",
		"GlobalAccPool_hls_0": "GlobalPool_0", "FMPadding_rtl_0": "FMPadding_0",
		"UpsampleNearestNeighbour_hls_0": "UpsampleNearestNeighbour_0",
		"Lookup_hls_0":                   "Lookup_0", "": "", "x": "x", "_0": "_0", "a\nb": "a\nb",
	} {
		if got := spelt(key).name(); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
	var d diag.List
	f := ParseFoldingFile([]byte(`{"MVAU_hls_0": {"PE": 1}, "MVAU_rtl_0": {"PE": 2}, "Pool_hls_0": {"PE": 7},
		"MVAU_rtl_1": {"PE": 3}, "MVAU_hls_1": {"PE": 4}}`), &d)
	for i := range 4 {
		if pe := f.layers[fmt.Sprintf("MVAU_%d", i)].fold.PE; pe != i+1 {
			t.Errorf("MVAU_%d has PE %d", i, pe)
		}
	}
}

// TestFINNOnly checks that kinds that only FINN has are no names of ours, and are listed once.
func TestFINNOnly(t *testing.T) {
	t.Parallel()
	for _, list := range [][]string{slices.Concat(finnOnly, derived), slices.Concat(finnAttributes, elsewhere,
		slices.Sorted(maps.Keys(neutral)), known)} {
		for i, name := range list {
			if slices.Contains(list[:i], name) {
				t.Errorf("%s stands there twice", name)
			}
		}
	}
	for _, kind := range finnOnly {
		if s := spelt(kind + "_hls_0"); s.kind != kind || slices.ContainsFunc(hlslib.LayerKinds,
			func(k dataflow.LayerKind) bool { return k.Name == kind }) {
			t.Errorf("%s means %s, which hlsgen may have", kind, s.kind)
		}
	}
}

// TestOntoPools checks files of FINN+, which lowers every pooling to a sliding window and a Pool. Both get the numbers
// that they have here, where a pooling of a whole image has no window. Files that count otherwise do not change.
func TestOntoPools(t *testing.T) {
	t.Parallel()
	const two = "ConvolutionInputGenerator_0 MVAU_0 ConvolutionInputGenerator_1 Pool_0 MVAU_1"
	for _, c := range []struct {
		graph, file, want string
		warnings          int
	}{
		{two + " GlobalPool_0 MVAU_2", "ConvolutionInputGenerator_rtl_0 MVAU_hls_0 ConvolutionInputGenerator_rtl_1 " +
			"Pool_hls_0 MVAU_hls_1 ConvolutionInputGenerator_rtl_2 Pool_hls_1 MVAU_hls_2",
			two + " GlobalPool_0 MVAU_2", 1},
		{"GlobalPool_0 " + two,
			"ConvolutionInputGenerator_rtl_0 Pool_hls_0 ConvolutionInputGenerator_rtl_1 MVAU_hls_0 " +
				"ConvolutionInputGenerator_rtl_2 Pool_hls_1 MVAU_hls_1", "GlobalPool_0 " + two, 1},
		{two, "ConvolutionInputGenerator_rtl_0 MVAU_hls_0 ConvolutionInputGenerator_rtl_1 Pool_hls_0 MVAU_hls_1",
			two, 0},
		{two + " GlobalPool_0", two + " GlobalAccPool_hls_0", two + " GlobalPool_0", 0},
		// without the window, the meaning is not known
		{two + " GlobalPool_0", two + " Pool_hls_1", two + " Pool_1", 0},
	} {
		g := &dataflow.Graph{}
		for i, name := range strings.Fields(c.graph) {
			kind := spelt(name).kind
			k := hlslib.LayerKinds[slices.IndexFunc(hlslib.LayerKinds,
				func(k dataflow.LayerKind) bool { return k.Name == kind })]
			op, err := k.Decode([]byte(k.Example))
			if err != nil {
				t.Fatal(err)
			}
			g.Nodes = append(g.Nodes, &dataflow.Node{Name: name, Op: op, In: []int{i}, Out: []int{i + 1}})
		}
		var entries []string
		for _, key := range strings.Fields(c.file) {
			entries = append(entries, fmt.Sprintf(`"%s": {"PE": 1}`, key))
		}
		var d diag.List
		f := ParseFoldingFile([]byte("{"+strings.Join(entries, ", ")+"}"), &d).WithRenumberedWindows(g, &d)
		if got := strings.Join(f.names, " "); got != c.want || len(d.Diags) != c.warnings {
			t.Errorf("%s onto %s: %s, want %s; %v", c.file, c.graph, got, c.want, d.Diags)
		}
	}
}
