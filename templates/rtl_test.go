package templates_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/rtltest"
	"hlsgen/internal/testsupport/tier"
)

// TestRTLLint checks that Verilator has no message about the written top, its FIFOs and its bench.
func TestRTLLint(t *testing.T) {
	t.Parallel()
	for _, design := range []*dataflow.Design{small(t), forked(t), keeping(t), twins(t)} {
		files, _ := project(t, design, 2)
		rtltest.Lint(t, files)
	}
}

// TestRTLLintFinds plants mistakes in the top.
func TestRTLLintFinds(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "verilator")
	files, _ := project(t, small(t), 1)
	const top = "hls/rtl/small_top.v"
	for _, c := range []struct{ from, to, want string }{
		{".WIDTH(16)", ".WIDTH(15)", "WIDTH"},
		{".in0_dout(s2_dout)", ".in0_dout(s3_dout)", "WIDTH"},
		{".in0_read(s2_read)", ".in0_read(s2_raed)", "s2_raed"},
		{".in0_dout(s2_dout),", "", "in0_dout"},
		{".in0_dout(s2_dout)", ".in_dout(s2_dout)", "in_dout"},
		{".in0_read(s2_read)", ".in0_read(s4_read)", "s2_read"},
		{".ap_rst(ap_rst)", ".ap_rst_n(ap_rst_n)", "ap_rst_n"},
	} {
		got, err := rtltest.LintOutput(t.Context(), t.TempDir(), edit(t, files, top, c.from, c.to))
		if err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s for %s: %v, %q", c.to, c.from, err, got)
		}
	}
}

// TestRTL runs the written top of networks on recorded frames: every word of every stream, and TLAST. Then it has
// the bench find mistakes in the recordings.
func TestRTL(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		design func(testing.TB) *dataflow.Design
	}{{"small", small}, {"forked", forked}, {"keeping", keeping}}
	for _, c := range cases[:tier.CasesToRun(len(cases))] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files, _ := project(t, c.design(t), 3)
			b := rtltest.Build(t, files)
			for pauses := range 4 {
				if said := b.Run(t, pauses); !rtltest.Passed(said) {
					t.Errorf("pauses=%d: %s", pauses, said)
				}
			}
			word, _, _ := strings.Cut(string(files.ContentsOf("hls/tb/data/s1.dat")), "\n")
			for _, change := range []struct{ path, from, to, want string }{
				{"hls/tb/data/s1.dat", word, other(word), "FAIL s1: word 0"},
				{"hls/tb/data/frames.txt", "3", "4", "FAIL s"},
			} {
				b.Replace(t, change.path, edit(t, files, change.path, change.from, change.to).ContentsOf(change.path))
				if said := b.Run(t, 0); !strings.Contains(said, change.want) {
					t.Errorf("%s: %s", change.path, said)
				}
				b.Replace(t, change.path, files.ContentsOf(change.path))
			}
		})
	}
}

// other is another word of as many digits.
func other(word string) string {
	return strings.Map(func(digit rune) rune {
		if digit == '0' {
			return '1'
		}
		return '0'
	}, word)
}

// TestRTLFinds plants mistakes in a top that lint cannot see: streams of one width are swapped, a word comes at the
// wrong place.
func TestRTLFinds(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	files, _ := project(t, small(t), 2)
	for _, c := range []struct{ path, from, to, want string }{
		{"hls/rtl/hlsgen_fifo.sv", "place_t'(next_count - count_t'(1))", "place_t'(next_count)", "FAIL s"},
		{"hls/rtl/small_top.v", ".din(s1_din)", ".din(~s1_din)", "FAIL s1: word 0"},
		{"hls/rtl/small_top.v", "wire ap_rst = ~ap_rst_n", "wire ap_rst = ap_rst_n", "FAIL"},
		{"hls/rtl/small_top.v", ".out0_TLAST(m_axis_0_TLAST)", ".out0_TLAST()", "FAIL s6: word 1 has TLAST"},
	} {
		said := rtltest.Build(t, edit(t, files, c.path, c.from, c.to)).Run(t, 0)
		if !strings.Contains(said, c.want) {
			t.Errorf("%s for %s: %s", c.to, c.from, said)
		}
	}
}

// trial runs a FIFO beside a queue, with words and reads that come and go.
const trial = `module NAME_trial #(
    parameter int DEPTH = 2,
    parameter     STYLE = "srl",
    parameter int SEED  = 1
) (
    input  logic clk,
    input  int   clocks,
    output int   moved,
    output int   wrong
);
    localparam int WIDTH = 13;
    logic             rst, full_n, write, empty_n, read;
    logic [WIDTH-1:0] din, dout, model[$];
    logic [31:0]      noise = SEED;
    NAME #(.WIDTH(WIDTH), .DEPTH(DEPTH), .STYLE(STYLE)) fifo (.*);
    assign rst = clocks < 3 || clocks == 2111;

    always_ff @(posedge clk) begin
        noise <= {noise[30:0], noise[31] ^ noise[21] ^ noise[1] ^ noise[0]};
        din   <= WIDTH'(noise >> 7);
        write <= !clocks[8] || noise[3];
        read  <= !clocks[9] && clocks[8] || noise[5] && (clocks[8] || noise[6]);
    end
    always @(posedge clk) begin
        automatic bit pop = read && model.size() > 0, push = write && model.size() < DEPTH;
        if (clocks >= 3 && (empty_n != (model.size() > 0) || full_n != (model.size() < DEPTH) ||
            model.size() > 0 && dout != model[0])) wrong <= wrong + 1;
        if (rst) model.delete();
        else begin
            if (pop) void'(model.pop_front());
            if (push) model.push_back(din);
            if (pop) moved <= moved + 1;
        end
    end
endmodule
`

// mutants are mistakes in the FIFO.
var mutants = []struct{ from, to string }{
	{"next_count != count_t'(DEPTH)", "next_count != count_t'(DEPTH - 1)"},
	{"next_count != count_t'(DEPTH)", "count != count_t'(DEPTH)"},
	{"next_count != '0;", "count != '0;"},
	{"write && full_n", "write"},
	{"read && empty_n", "read"},
	{"place_t'(next_count - count_t'(1))", "place_t'(next_count)"},
	{"place == place_t'(DEPTH - 1)", "place == place_t'(DEPTH)"},
	{"pop ? after(head) : head", "head"},
	{"push && tail == next_head", "1'b0"},
	{"if (push) words[tail] <= din;\n            assign", "words[tail] <= din;\n            assign"},
}

// TestFIFO compares the FIFO with a queue, clock by clock, in every style, and for depths that are no powers of two,
// too. It must detect each mutant.
func TestFIFO(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "verilator", "g++", "make")
	modules := map[string][]byte{}
	for _, h := range hlslib.RTLFiles() {
		if strings.HasSuffix(h.Path, "/hlsgen_fifo.sv") {
			modules["hlsgen_fifo"] = h.Text
		}
	}
	for k, m := range mutants {
		text := string(modules["hlsgen_fifo"])
		if !strings.Contains(text, m.from) {
			t.Fatalf("the FIFO has no %q", m.from)
		}
		name := fmt.Sprintf("mutant%d", k)
		text = strings.Replace(text, m.from, m.to, 1)
		modules[name] = []byte(strings.Replace(text, "module hlsgen_fifo", "module "+name, 1))
	}
	names := slices.Sorted(maps.Keys(modules))
	var bench strings.Builder
	bench.WriteString("module fifo_bench (input logic clk);\n    int clocks = 0;\n" +
		"    always_ff @(posedge clk) begin\n        clocks <= clocks + 1;\n" +
		"        if (clocks == 5000) $finish;\n    end\n")
	n := 0
	for _, name := range names {
		depths, styles := []int{1, 3}, []string{"srl", "lutram", "bram", "uram"}
		if name == "hlsgen_fifo" {
			depths = append(depths, 2, 6, 16, 100)
		} else {
			styles = styles[:3]
		}
		for _, depth := range depths {
			for _, style := range styles {
				fmt.Fprintf(&bench, "    int moved%d, wrong%[1]d;\n    %s_trial #(%d, \"%s\", %[5]d) t%[1]d "+
					"(.clk(clk), .clocks(clocks), .moved(moved%[1]d), .wrong(wrong%[1]d));\n"+
					"    always_ff @(posedge clk) if (clocks == 4999) $display(\"%[2]s %[4]s %[3]d %%0d %%0d\", "+
					"moved%[1]d, wrong%[1]d);\n",
					n, name, depth, style, 1000+n)
				n++
			}
		}
		modules[name+"_trial"] = []byte(strings.ReplaceAll(trial, "NAME", name))
	}
	modules["fifo_bench"] = []byte(bench.String() + "endmodule\n")
	said := rtltest.Bench(t, "fifo_bench", modules)
	found := map[string]int{}
	lines := 0
	for line := range strings.Lines(said) {
		var name, style string
		var depth, moved, wrong int
		if k, _ := fmt.Sscanf(line, "%s %s %d %d %d", &name, &style, &depth, &moved, &wrong); k != 5 {
			continue
		}
		lines++
		found[name] += wrong
		if name == "hlsgen_fifo" && (wrong > 0 || moved < 1000) {
			t.Errorf("%s of %d words: %d moved, %d clocks are wrong", style, depth, moved, wrong)
		}
	}
	if lines != n {
		t.Errorf("%d of %d trials: %s", lines, n, said)
	}
	for k, m := range mutants {
		if found[fmt.Sprintf("mutant%d", k)] == 0 {
			t.Errorf("nobody notices %q for %q", m.to, m.from)
		}
	}
}
