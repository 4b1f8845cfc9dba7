package rtl_test

import (
	"fmt"
	"strings"
	"testing"

	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/templates/rtl"
)

// TestParted checks that a layer in several modules does in every clock the same as in one, for any input.
func TestParted(t *testing.T) {
	t.Parallel()
	weights := [][]int64{{1, -2, 3, 5}, {2, 1, -4, -7}, {7, 0, -1, 3}, {-3, 5, 2, -6}}
	signs := [][]int64{{1, -1, -1, 1, 1, 1}, {-1, -1, 1, 1, -1, 1}}
	var steps []num.StepFunction
	for c := range int64(4) {
		steps = append(steps, num.StepFunction{At: []int64{c - 9, c, 2*c + 3}, Value: []int64{0, 1, 2, 3}})
	}
	for _, c := range []struct {
		name     string
		op       dataflow.Op
		in       dataflow.StreamType
		pe, simd int
		parts    int
		mutants  []mutant
	}{
		{"constants", mvau.New(mvau.Params{Weights: weights}), layertest.FullType(layertest.UInt(2), 4), 4, 4, 4,
			[]mutant{{"rtl/layers/parts_part_1.sv", ` \+ `, " - "}}},
		{"with steps", mvau.New(mvau.Params{Weights: weights, Steps: steps}), layertest.FullType(layertest.Int(2), 4),
			4,
			4, 4, nil},
		{"signs", mvau.New(mvau.Params{Weights: signs}), layertest.FullType(layertest.Bipolar, 6), 2, 6, 2, nil},
	} {
		s := made(t, c.op, c.pe, c.simd, dataflow.MultiplierInLUTs, c.in)
		parted := rtl.Parted(s.m, 4)
		if parted.Latency != s.m.Latency || parted.LastActiveStage() != s.m.LastActiveStage() {
			t.Errorf("%s: latency %d, depth %d, in one %d and %d", c.name, parted.Latency, parted.LastActiveStage(),
				s.m.Latency,
				s.m.LastActiveStage())
		}
		files := append(rtl.GenerateLayerFiles("whole", "to be proved", s.m), rtl.LibraryModuleFiles()...)
		parts := 0
		for _, f := range rtl.GenerateLayerFiles("parts", "to be proved", parted) {
			files = append(files, f)
			if strings.Contains(f.Path, "/parts_part_") {
				parts++
			}
		}
		if parts != c.parts {
			t.Errorf("%s: %d parts, want %d", c.name, parts, c.parts)
		}
		proof{name: c.name, files: files, harness: side(s), clocks: 2*s.m.LastActiveStage() + 6,
			mutants: c.mutants}.check(t)
	}
}

// side has two modules of a layer side by side. Their outputs are ignored while words from before a reset may still be
// on their way.
func side(s subject) string {
	text := fmt.Sprintf(`module proof (input logic clk, input logic [%d:0] word, input logic valid, input logic room);
    logic [7:0] since = 0;
    logic rst;
    assign rst = since < %d;
    always_ff @(posedge clk) if (since != 255) since <= since + 1;
`, s.m.In[0].Width-1, s.m.LastActiveStage()+2)
	for _, name := range []string{"whole", "parts"} {
		text += fmt.Sprintf(`    logic %[1]s_read, %[1]s_write, %[1]s_claim;
    logic [%[2]d:0] %[1]s_word;
    %[1]s dut_%[1]s (.clk(clk), .rst(rst), .in0_word(word), .in0_valid(valid), .in0_read(%[1]s_read),
        .out0_word(%[1]s_word), .out0_write(%[1]s_write), .out0_room(room), .out0_claim(%[1]s_claim));
`, name, s.m.Out[0].Width-1)
	}
	return text + `    always_comb if (!rst) begin
        assert (whole_read == parts_read);
        assert (whole_write == parts_write);
        assert (whole_claim == parts_claim);
        assert (!whole_write || whole_word == parts_word);
    end
endmodule
`
}
