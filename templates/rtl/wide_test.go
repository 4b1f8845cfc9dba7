package rtl_test

import (
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/circuit"
	"hlsgen/internal/testsupport/circuittest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// wideMain runs bench until every layer has written all of its words, and prints what it says.
const wideMain = `#include "Vbench.h"
#include <cstdio>
int main() {
    Vbench b;
    b.rst = 1;
    for (int clock = 0; clock < 2000; clock++) {
        if (clock == 500) b.rst = 0;
        b.clk = 0, b.eval(), b.clk = 1, b.eval();
    }
    b.report = 1, b.eval();
}
`

// wideUnit is a layer with its words in bench. It says which of its written words is the first wrong one, and how many
// it has written.
const wideUnit = `
    logic [%[2]d:0] words_%[1]d[0:%[4]d];
    logic [%[3]d:0] wants_%[1]d[0:%[4]d];
    initial $readmemh("in_%[1]d.mem", words_%[1]d);
    initial $readmemh("out_%[1]d.mem", wants_%[1]d);
    logic [31:0] read_%[1]d, written_%[1]d;
    logic [%[3]d:0] word_%[1]d;
    logic in_%[1]d, out_%[1]d;
    layer_%[1]d layer_%[1]d (.clk(clk), .rst(rst), .in0_word(words_%[1]d[read_%[1]d]),
        .in0_valid(read_%[1]d < %[5]d), .in0_read(in_%[1]d), .out0_word(word_%[1]d), .out0_write(out_%[1]d),
        .out0_room(1'b1), .out0_claim());
    always_ff @(posedge clk) begin
        read_%[1]d <= rst ? 0 : read_%[1]d + {31'd0, in_%[1]d};
        written_%[1]d <= rst ? 0 : written_%[1]d + {31'd0, !rst & out_%[1]d};
        if (!rst & out_%[1]d & word_%[1]d !== wants_%[1]d[written_%[1]d])
            $display("%[1]d %%0d %%h", written_%[1]d, word_%[1]d);
    end
    always_comb if (report && written_%[1]d != %[5]d) $display("%[1]d has %%0d words", written_%[1]d);
`

// TestWideNumbers compares random circuits of numbers of up to 128 bits, in Verilator, with math/big: those that have
// an operation, signed or not, wide or not, that none before has, and in the long tier all.
func TestWideNumbers(t *testing.T) {
	t.Parallel()
	circuits := uint64(2)
	if tier.Full() {
		circuits = 24
	}
	var drawn []uint64
	covered := map[string]bool{}
	for n := range circuits {
		adds := tier.Long()
		for _, x := range circuittest.Draw(n + 1000).Module.Nodes {
			value := fmt.Sprint(x.Op, x.Signed, x.Width > 64)
			adds, covered[value] = adds || !covered[value], true
		}
		if adds {
			drawn = append(drawn, n)
		}
	}
	for some := range slices.Chunk(drawn, 12) {
		t.Run(fmt.Sprint("from ", some[0]), func(t *testing.T) {
			t.Parallel()
			runWide(t, some)
		})
	}
}

// runWide runs circuits side by side.
func runWide(t *testing.T, circuits []uint64) {
	var list []told
	for _, n := range circuits {
		d := circuittest.Draw(n + 1000)
		c := told{m: d.Module}
		for range wideWords {
			word := d.Word()
			c.in, c.out = append(c.in, word), append(c.out, d.Iterate(word))
		}
		list = append(list, c)
	}
	runTold(t, list)
}

// wideWords is the number of words that a circuit reads and writes.
const wideWords = 40

// A told is a layer's circuit with the words that it reads, and those that it must write.
type told struct {
	m       *circuit.Module
	in, out []*big.Int
}

// runTold runs circuits side by side, in Verilator, and compares the words that they write.
func runTold(t *testing.T, circuits []told) {
	t.Helper()
	verilator := tier.Needs(t, "verilator", "g++")[0]
	files := rtl.LibraryModuleFiles()
	file := func(path, text string) {
		files = append(files, templates.GeneratedFile{Path: path, Data: []byte(text)})
	}
	file("rtl/bench/main.cpp", wideMain)
	for _, name := range []string{"bench.hpp", "bench.cpp"} { // CompileBench wants them
		text, err := os.ReadFile(filepath.Join("bench", name))
		if err != nil {
			t.Fatal(err)
		}
		file("rtl/bench/"+name, string(text))
	}
	bench := "module hlsgen_bench(input logic clk, rst, report);\n"
	for n, c := range circuits {
		var in, out strings.Builder
		for i := range wideWords {
			fmt.Fprintf(&in, "%x\n", c.in[i])
			fmt.Fprintf(&out, "%x\n", c.out[i])
		}
		file(fmt.Sprintf("rtl/in_%d.mem", n), in.String())
		file(fmt.Sprintf("rtl/out_%d.mem", n), out.String())
		files = append(files, rtl.GenerateLayerFiles(fmt.Sprint("layer_", n), "drawn", c.m)...)
		bench += fmt.Sprintf(wideUnit, n, c.m.In[0].Width-1, c.m.Out[0].Width-1, wideWords-1, wideWords)
	}
	file("rtl/bench/hlsgen_bench.sv", bench+"endmodule\n")
	dir := t.TempDir()
	b, err := rtl.CompileBench(t.Context(), dir, files, 0)
	if err != nil {
		t.Fatalf("%.6000s", err)
	}
	lint := exec.Command(verilator, append([]string{"--lint-only", "-Wall", "-Wno-DECLFILENAME", "-Wno-PINCONNECTEMPTY",
		"-Wno-CMPCONST", "--unroll-count", rtl.VerilatorUnrollLimit, "--top-module", "hlsgen_bench"},
		rtl.ListSourcePaths(files, true)...)...)
	lint.Dir = filepath.Join(dir, "rtl")
	if said, err := lint.CombinedOutput(); err != nil {
		t.Errorf("%v\n%.6000s", err, said)
	}
	if said, err := b.Run(t.Context(), rtl.BenchPace{}, rtl.BenchPace{}); err != nil || said != "" {
		t.Errorf("%v\n%.6000s", err, said)
	}
}
