package templates_test

import (
	"strings"
	"testing"

	"hlsgen/hlslib/swg"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// windows is a sliding window of one position a clock, and one of all.
func windows(t testing.TB) *dataflow.Design {
	p := swg.Params{Kernel: [2]int{2, 2}, Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1}
	var b dataflow.GraphBuilder
	d := &dataflow.Design{Target: zcu104, FIFO: dataflow.NewShiftRegisterFIFOs(2, 2, 2, 2)}
	for _, pe := range []int{1, 4} {
		in := b.AddInput("image", tensorType(uintN(4), 3, 40, 2))
		out, err := b.BindAndAddLayer(swg.New(p), []int{in}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		b.MarkOutput(out[0])
		d.Folds = append(d.Folds, dataflow.Fold{PE: pe, SIMD: 2, Memory: dataflow.MemoryBRAM})
	}
	g, err := b.VerifiedGraph()
	if err != nil {
		t.Fatal(err)
	}
	d.Model = &dataflow.Model{Name: "windows", Graph: g}
	return d
}

// A change replaces text of a project, and has the message about it.
type change struct{ path, from, to, want string }

// TestLintMemories breaks the bindings of a project in one way after the other.
func TestLintMemories(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	const (
		cpp, hpp, top = "hls/layers/MVAU_0.cpp", "hls/layers/MVAU_0.hpp", "hls/top.cpp"
		rtl           = "hls/rtl/small_top.v"
		table         = "hls/tables/MVAU_0_weights.hpp"
		mvau, swg     = "hls/include/hlsgen/mvau.hpp", "hls/include/hlsgen/swg.hpp"
		core          = "hls/include/hlsgen/core/memory.hpp"
		pragma        = "#pragma HLS BIND_STORAGE variable="
		weights       = pragma + "MVAU_0_weights type=rom_1p impl=bram\n"
		constants     = pragma + "MVAU_1_thresholds type=rom_1p impl=lutram\n"
		more          = "static const int m_rows = 4; static const int m_width = 4;" +
			"static const hlsgen::storage m_memory = hlsgen::storage::bram;"
	)
	for _, network := range []struct {
		design func(testing.TB) *dataflow.Design
		breaks []change
	}{
		{small, []change{
			// Tables.
			{cpp, weights, "", "MVAU_0: storage weights 8x0 in block, bound are [weights 8x0 in none]"},
			{cpp, "rom_1p impl=bram", "rom_1p impl=lutram", "bound are [weights 8x0 in distributed]"},
			{cpp, "rom_1p impl=bram", "ram_1p impl=bram", "MVAU_0: table MVAU_0_weights is bound as ram_1p"},
			{cpp, "rom_1p impl=bram", "rom_1p latency=2 impl=bram", "MVAU_0: 1 of 2 bindings are not understood"},
			{cpp, weights, weights + weights, "MVAU_0: table MVAU_0_weights is bound 2 times"},
			{cpp, pragma + "MVAU_0_w", pragma + "MVAU_1_w",
				"MVAU_0: MVAU_1_weights is bound, and no table of the kernel"},
			{"hls/layers/MVAU_1.cpp", "    hlsgen::mvau<MVAU_1", constants + "    hlsgen::mvau<MVAU_1", // of one row
				"MVAU_1: storage thresholds 1x0 in none, bound are [thresholds 1x0 in distributed]"},
			{cpp, ", MVAU_0_codes);", ");", "MVAU_0: storage codes 1024x0 in distributed, bound are []"},
			{cpp, "mvau<MVAU_0_config>", "mvau<MVAU_1_config>", "MVAU_0 calls no kernel with its config"},
			{cpp, "void MVAU_0(", "void MVAU_9(", "MVAU_9 calls no kernel with its config"},
			{table, "[8][2]", "[9][2]", "MVAU_0: storage weights 8x0 in block, bound are [weights 9x0 in block]"},
			{table, "static", "", "MVAU_0: no table MVAU_0_weights"},
			// Arrays.
			{hpp, "vector_memory = hlsgen::storage::lutram", "vector_memory = hlsgen::storage::bram",
				"MVAU_0: storage vector 2x16 in distributed, bound are [vector 2x16 in block]"},
			{hpp, "vector_rows = 2", "vector_rows = 3", "bound are [vector 3x16 in distributed]"},
			{hpp, "vector_width = 16", "vector_width = 17", "bound are [vector 2x17 in distributed]"},
			{hpp, "storage::lutram", "storage::flash", `MVAU_0: array vector: "2" rows of "16" bits in "flash"`},
			{hpp, "vector_width = 16", "width = 16", `MVAU_0: array vector: "2" rows of "" bits in "lutram"`},
			{hpp, "    static const int nf = 4;", more, "MVAU_0: the kernel has no array m"},
			{core, "impl=lutram", "impl=bram",
				"MVAU_0: storage vector 2x16 in distributed, bound are [vector 2x16 in block]"},
			{core, "impl=lutram\n", "impl=lutram latency=1\n",
				`storage::lutram is bound to "type=ram_s2p impl=lutram latency=1"`},
			{core, pragma + "words type=ram_s2p impl=lutram\n", "", "storage::lutram is bound 0 times"},
			// The kernel.
			{mvau, "    bind_memory(vector, memory<C::vector_memory>());\n", "",
				"array vector is declared 1 times, and bound 0"},
			{mvau, "#pragma HLS ARRAY_PARTITION variable=acc complete dim=1\n", "",
				"array acc is declared 1 times, and bound 0"},
			{mvau, "bind_memory(vector,", "bind_memory(acc,", "array acc is bound by vector_memory"},
			{mvau, "bind_memory(vector,", "bind_memory(vectors,", "no array vectors is declared"},
			{mvau, "vector[C::vector_rows]", "vector[C::sf]", "array vector is not of its storage's rows and width"},
			{mvau, "C::vector_width", "C::in_width", "array vector is not of its storage's rows and width"},
			{mvau, "memory<C::vector_memory>", "memory<storage::lutram>", "MVAU_0: the kernel has no array vector"},
			{mvau, "mvau_place<C> at = place;", "static const int at[2] = {0};",
				"array at is declared 1 times, and bound 0"},
			{mvau, "mvau_place<C> at = place;", "static const int at[2 *\n    C::sf] = {0};",
				"array at is declared 1 times, and bound 0"},
			{mvau, "if (at.sf == C::sf - 1)", "if (C::sf_memory == 1)", "sf_memory binds nothing"},
			// Streams.
			{top, "variable=s2 depth=4", "variable=s2 depth=5", "stream s2: 4 words in srl, the text has [5] in [srl]"},
			{top, "variable=s2 depth=4", "variable=s3 depth=4",
				"stream s3: 5 words in srl, the text has [4 5] in [srl]"},
			{top, "s2 type=fifo impl=srl", "s2 type=fifo impl=bram",
				"stream s2: 4 words in srl, the text has [4] in [bram]"},
			{top, pragma + "s2 type=fifo impl=srl\n", "", "stream s2: 4 words in srl, the text has [4] in []"},
			{rtl, ".DEPTH(4)", ".DEPTH(5)", "RTL: stream s2: 4 words in srl, the text has [5 words in srl]"},
			{rtl, "fifo_s2", "fifo_s3", "RTL: stream s2: 4 words in srl, the text has []"},
			{rtl, "STYLE(\"srl\")", "STYLE(\"bram\")",
				"RTL: stream s0: 2 words in srl, the text has [2 words in block]"},
			{rtl, "STYLE(\"srl\")", "STYLE(\"sra\")", "RTL: FIFO s0 of 2 words in sra"},
			{top, pragma + "s6", "#pragma HLS STREAM variable=s9 depth=2\n" + pragma + "s6",
				"7 streams, depths of 8 and memories of 7"},
		}},
		{forked, []change{
			{"hls/layers/GlobalPool_0.hpp", "storage::shift", "storage::registers",
				"GlobalPool_0: storage kept 2x21 in srl, bound are [kept 2x21 in registers]"},
		}},
		{windows, []change{
			{"hls/layers/ConvolutionInputGenerator_0.hpp",
				"ring_memory = hlsgen::storage::bram", "ring_memory = hlsgen::storage::uram",
				"ConvolutionInputGenerator_0: storage ring 44x8 in block, bound are [ring 44x8 in ultra]"},
			{swg, "C::lines_memory> lines;", "C::lines_memory> rows;", "rows is not of its storage's rows"},
			{swg, "C::columns_rows, C::columns_memory>", "4, C::columns_memory>",
				"columns is not of its storage's rows"},
			{swg, "C::columns_memory>", "storage::shift>",
				"ConvolutionInputGenerator_1: the kernel has no array columns"},
			{swg, "        bind_memory(places, memory<WHERE>());\n", "",
				"array places is declared 2 times, and bound 1"},
		}},
	} {
		d := network.design(t)
		files, _ := project(t, d, 0)
		face, err := templates.IPInterfaceOf(d, templates.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range network.breaks {
			broken := edit(t, files, b.path, b.from, b.to)
			problems := append(templates.LintProject(broken), templates.LintMemories(broken, storage(d))...)
			problems = append(problems, templates.LintFIFOs(broken, face.FIFOsByName(d))...)
			if got := strings.Join(problems, "\n"); !strings.Contains(got, b.want) {
				t.Errorf("%s: %s with %q for %q: got %q, want %q", d.Model.Name, b.path, b.to, b.from, got, b.want)
			}
		}
	}
}
