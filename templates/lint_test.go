package templates_test

import (
	"bytes"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// TestLint breaks a project in one way after the other.
func TestLint(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	d := small(t)
	files, err := templates.GenerateHLSProject(d, vectors(t, d, 1, 1), templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, from, to, want string }{
		{"hls/layers/MVAU_0.cpp", "#pragma HLS INLINE off", "#pragma HLS RESOURCE variable=MVAU_0_weights core=ROM_1P",
			"pragma RESOURCE variable=MVAU_0_weights"},
		{"hls/layers/s_axis_0_end.cpp", "#pragma HLS PIPELINE II=1 style=flp\n", "",
			"s_axis_0_end is no pipelined process"},
		{"hls/layers/MVAU_0.cpp", "type=rom_1p impl=bram", "type=rom_1p impl=flash", "pragma BIND_STORAGE: impl=flash"},
		{"hls/layers/MVAU_0.cpp", "dim=2 complete", "dim=2 block", "pragma ARRAY_RESHAPE: block"},
		{"hls/layers/MVAU_0.cpp", "#include \"MVAU_0.hpp\"", "#include <ap_int.h>",
			"AP_INT_MAX_W is not defined first"},
		{"hls/layers/MVAU_0.hpp", "#include \"../ap_types.hpp\"", "#include <ap_int.h>",
			"AP_INT_MAX_W is not defined first"},
		{"hls/layers.cpp", "#include \"layers.hpp\"", "#include <ap_int.h>", "AP_INT_MAX_W is not defined first"},
		{"hls/layers/MVAU_0.hpp", "void MVAU_0(", "void MVAU__0(", "double underscore in MVAU__0"},
		{"hls/layers/MVAU_0.hpp", "static const int nf = 4;", "static constexpr int nf[1] = {4};", "a constexpr array"},
		{"hls/layers/Thresholding_0.hpp", "ap_uint<32>", "ap_uint<1025>",
			"a word of 1025 bits, there is room for 1024"},
		{"hls/layers/MVAU_0.hpp", "static const int nf = 4;", "static const double nf = 4;",
			"double cannot be synthesised"},
		{"hls/layers/MVAU_0.hpp", "static const int nf = 4;", "const ap_uint<80> nf = ap_uint<80>(\"4\", 16);",
			"a number written as a string"},
		{"hls/ap_types.hpp", "AP_INT_MAX_W 1024", "AP_INT_MAX_W 8192", "AP_INT_MAX_W is 8192"},
		{"hls/tables/MVAU_0_weights.hpp", "static const", "const", "not a static const table"},
		{"hls/tables/MVAU_0_weights.hpp", "{0x", "{0x1000000000", "is no word of 36 bits"},
		{"hls/tables/MVAU_0_weights.hpp", "[8][2]", "[9][2]", "8 rows, declared are 9"},
		{"hls/tables/MVAU_0_weights.hpp", "[8][2]", "[8][3]", "row 0 has 2 words, declared are 3"},
		{"hls/layers/MVAU_0.cpp", "PIPELINE II=1 style=flp", "PIPELINE", "pragma PIPELINE without II=1 style=flp"},
		{"hls/include/hlsgen/mvau.hpp", "#pragma HLS UNROLL\n", "#pragma HLS PIPELINE II=1 style=flp\n",
			"a loop that is not unrolled"},
		{"hls/include/hlsgen/core/compare.hpp", "#pragma HLS UNROLL\n", "", "a loop that is not unrolled"},
		{"hls/include/hlsgen/mvau.hpp", "pe_loop: for", "for", "a loop without a label"},
		{"hls/include/hlsgen/core/mac.hpp", "pe_loop: for", "if (N > 1) for", "a loop without a label"},
		{"hls/include/hlsgen/mvau.hpp", "#pragma HLS UNROLL", "float x = 0; (void)x;",
			"float cannot be synthesised"},
		{"hls/include/hlsgen/mvau.hpp", "#pragma HLS INLINE\n",
			"#pragma HLS INLINE\n    static ap_uint<1> kept[2] = {0};\n",
			"static kept, and no word of what a reset does to it"},
		{"hls/include/hlsgen/mvau.hpp", "#pragma HLS INLINE\n",
			"#pragma HLS INLINE\n    static a<b<1>, 2> kept, more;\n",
			"static kept, and no word of what a reset does to it"},
		{"hls/include/hlsgen/mvau.hpp", "#pragma HLS INLINE\n",
			"#pragma HLS INLINE\n    static int kept = 0;\n#pragma HLS RESET variable=other\n",
			"static kept, and no word of what a reset does to it"},
		{"hls/include/hlsgen/mvau.hpp", "#pragma HLS RESET variable=place\n", "#pragma HLS RESET variable=place off\n",
			"a reset leaves place as it is, on which control depends"},
		{"hls/include/hlsgen/dwc.hpp", "#pragma HLS RESET variable=place\n", "#pragma HLS RESET variable=place off\n",
			"a reset leaves place as it is, on which control depends"},
		{"hls/include/hlsgen/core/axis.hpp", "#pragma HLS RESET variable=place\n",
			"#pragma HLS RESET variable=place off\n", "a reset leaves place as it is, on which control depends"},
		{"hls/include/hlsgen/mvau.hpp", "#pragma HLS INLINE\n",
			"#pragma HLS INLINE\n    static ap_uint<1> odd;\n#pragma HLS RESET variable=odd off\n" +
				"    ap_uint<1> even = odd;\n    if (even == 0) return;\n",
			"a reset leaves odd as it is, on which control depends"},
		{"hls/top.cpp", " disable_start_propagation", "", "missing: #pragma HLS DATAFLOW disable_start_propagation"},
		{"hls/top.cpp", "    MVAU_0(s2, s3);\n", "", "stream s3 is read before it is written"},
		{"hls/top.cpp", "    MVAU_0(s2, s3);\n", "    MVAU_0(s2, s3);\n    MVAU_0(s2, s3);\n",
			"stream s3 has 2 writers and 1 readers"},
		{"hls/top.cpp", "    MVAU_0(s2, s3);\n", "    if (true) MVAU_0(s2, s3);\n",
			"not canonical dataflow: if (true) MVAU_0(s2, s3);"},
		{"hls/top.cpp", "MVAU_0(s2, s3)", "MVAU_0(s2, s99)", "no stream s99"},
		{"hls/top.cpp", "(s6, m_axis_0)", "(s6, s_axis_0)", "port m_axis_0 is used 0 times"},
		{"hls/top.cpp", "// global_in", "// gl\xc3\xb6bal_in", "hls/top.cpp:11: character 0xc3"},
		{"hls/run_hls.tcl", "config_dataflow -strict_mode error", "", "missing: config_dataflow -strict_mode error"},
		{"hls/hls_config.cfg", "syn.dataflow.strict_mode=error", "syn.dataflow.strict_mode=off",
			"missing: syn.dataflow.strict_mode=error"},
	} {
		broken := make(templates.ProjectFiles, len(files))
		for i, f := range files {
			broken[i] = f
			if f.Path == c.path {
				if broken[i].Data = bytes.Replace(f.Data, []byte(c.from), []byte(c.to), 1); bytes.Equal(broken[i].Data,
					f.Data) {
					t.Errorf("%s has no %q", c.path, c.from)
				}
			}
		}
		if got := strings.Join(templates.LintProject(broken), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s without %q: got %q, want %q", c.path, c.from, got, c.want)
		}
	}
}

// TestLintKnowsControl checks that no state of a kernel that is reset may be left as it is. The exception is the buffer
// of one form of width converter, which has to be zero.
func TestLintKnowsControl(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	reset := regexp.MustCompile(`#pragma HLS RESET variable=(\w+)\n`)
	var files templates.ProjectFiles
	for _, h := range hlslib.HeadersForKernelFiles() {
		files = append(files, templates.GeneratedFile{Path: "hls/" + h.Path, Data: h.Text})
	}
	if found := templates.LintProject(files); len(found) > 0 {
		t.Fatal(found)
	}
	planted := 0
	for i, f := range files {
		for _, at := range reset.FindAllSubmatchIndex(f.Data, -1) {
			if string(f.Data[at[2]:at[3]]) == "buffer" {
				continue
			}
			planted++
			broken := slices.Clone(files)
			broken[i].Data = slices.Insert(slices.Clone(f.Data), at[1]-1, []byte(" off")...)
			want := "a reset leaves place as it is, on which control depends"
			if got := templates.LintProject(broken); len(got) != 1 || !strings.HasSuffix(got[0], want) {
				t.Errorf("%s at %d: %v", f.Path, at[0], got)
			}
		}
	}
	if planted < 20 {
		t.Errorf("%d states", planted)
	}
}

// TestBenchLints checks that a bench of layers is linted like a project: its text, and the places of its memories.
func TestBenchLints(t *testing.T) {
	t.Parallel()
	const kernel = "template <class C> void half() {\n" +
		"    half_loop: for (int i = 0; i < 2; i++) {\n#pragma HLS UNROLL\n    }\n}\n"
	frames := [][]dataflow.Tensor{{{Data: make([]int64, 2)}}}
	for _, c := range []struct {
		from, to string
		storage  []dataflow.Storage
		want     templates.LintFindingsError
	}{
		{},
		{from: "#pragma HLS UNROLL\n",
			want: templates.LintFindingsError{
				Text: []string{"hls/include/hlsgen/half.hpp:2: a loop that is not unrolled"}}},
		{from: "half_loop: ",
			want: templates.LintFindingsError{Text: []string{"hls/include/hlsgen/half.hpp:2: a loop without a label"}}},
		{storage: []dataflow.Storage{dataflow.NewArrayStorage("kept", "buffer", 3, 9)},
			want: templates.LintFindingsError{Memory: []string{
				"Half_0: the kernel has no array kept", "Half_0: storage kept 3x9 in distributed, bound are []"}}},
	} {
		own := hlslib.EmbeddedLibraryFile{Path: "include/hlsgen/half.hpp", Text: []byte(strings.Replace(kernel, c.from,
			c.to,
			1))}
		_, err := templates.GenerateLayerBench([]templates.LayerTestCase{{
			Layer: templates.Layer{
				Name:     "Half_0",
				Instance: dataflow.KernelInstance{Header: "half.hpp", Func: "half", Storage: c.storage},
				In:       []dataflow.Port{{Elem: intN(4), PerWord: 2, Words: 1}},
				Calls:    []int{1},
			},
			In: frames,
		}}, own)
		var got *templates.LintFindingsError
		if none := len(c.want.Text)+len(c.want.Memory) == 0; none && err == nil {
			continue
		}
		if !errors.As(err, &got) || !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
}
