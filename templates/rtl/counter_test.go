package rtl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates/rtl"
)

// counterBench counts 20 events of 30 clocks with counters of 3 and of 8 bits. The counter of 3 bits stops at 7. The
// outputs show the counts at the last publication.
const counterBench = `#include "Vbench.h"
#include <cstdio>
int main() {
    Vbench b;
    const auto tick = [&] { b.clk = 0, b.eval(), b.clk = 1, b.eval(); };
    b.rst = 1, tick(), b.rst = 0;
    for (int i = 0; i < 30; i++) {
        b.count = i % 3 != 0, b.publish = i == 4 || i == 8 || i == 28;
        tick();
        if (i == 3 || i == 7 || i == 27 || i == 29) std::printf("%d %d\n", int(b.narrow), int(b.wide));
        if (i == 4 || i == 8 || i == 28) std::printf("%d %d\n", int(b.narrow), int(b.wide));
    }
    b.rst = 1, tick(), b.rst = 0, tick();
    std::printf("%d %d\n", int(b.narrow), int(b.wide));
}
`

const counterTop = `module bench(input logic clk, rst, count, publish,
    output logic [2:0] narrow, output logic [7:0] wide);
    hlsgen_counter #(.WIDTH(3)) a (.clk(clk), .rst(rst), .count(count), .publish(publish), .shown(narrow));
    hlsgen_counter #(.WIDTH(8)) b (.clk(clk), .rst(rst), .count(count), .publish(publish), .shown(wide));
endmodule
`

// TestCounterStops checks that a counter stays at its highest number.
func TestCounterStops(t *testing.T) {
	t.Parallel()
	tools := tier.Needs(t, "verilator", "g++")
	dir := t.TempDir()
	for name, text := range map[string]string{"main.cpp": counterBench, "bench.sv": counterTop} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	counter, err := filepath.Abs("registers/hlsgen_counter.sv")
	if err != nil {
		t.Fatal(err)
	}
	lint := exec.Command(tools[0], "--lint-only", "-Wall", "-Wno-DECLFILENAME", "bench.sv", counter, "--top-module",
		"bench")
	lint.Dir = dir
	if said, err := lint.CombinedOutput(); err != nil || len(said) > 0 {
		t.Fatalf("%v\n%s", err, said)
	}
	c := exec.Command(tools[0], append(rtl.VerilatorFlags(), "--cc", "--exe", "--build", "--prefix", "Vbench", "--Mdir",
		"obj", "-CFLAGS", "-O0 -w", "-o", "bench", "bench.sv", counter, "main.cpp", "--top-module", "bench")...)
	c.Dir = dir
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	said, err := exec.Command(filepath.Join(dir, "obj", "bench")).CombinedOutput()
	// Of clocks 0 to 4 three count, of 0 to 8 six, of 0 to 28 nineteen.
	want := "0 0\n3 3\n3 3\n6 6\n6 6\n7 19\n7 19\n0 0\n"
	if got := strings.ReplaceAll(string(said), "\r", ""); err != nil || got != want {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
}
