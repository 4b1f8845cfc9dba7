package mover_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates/mover"
	"hlsgen/templates/rtl"
)

// A mutant is a planted fault in the SystemVerilog: the text from, which occurs once in the file, becomes to.
type mutant struct{ file, from, to string }

// An instance is a mover of a bench; steps limits the steps of a drawn frame.
type instance struct {
	name string
	mover.Config
	steps int
	mutant
}

// pins are the ports of the bench's top: direction for a mover that reads, that writes (empty: it has none), bits, and
// the module's port, with AR or AW for A, R or W for D.
var pins = []struct {
	name, reads, writes string
	bits                int
	port                string
}{
	{"interrupt", "output", "output", 1, "interrupt"},
	{"ctl_awaddr", "input", "input", 8, "s_axi_control_awaddr"},
	{"ctl_awvalid", "input", "input", 1, "s_axi_control_awvalid"},
	{"ctl_awready", "output", "output", 1, "s_axi_control_awready"},
	{"ctl_wstrb", "input", "input", 4, "s_axi_control_wstrb"},
	{"ctl_wvalid", "input", "input", 1, "s_axi_control_wvalid"},
	{"ctl_wready", "output", "output", 1, "s_axi_control_wready"},
	{"ctl_bresp", "output", "output", 2, "s_axi_control_bresp"},
	{"ctl_bvalid", "output", "output", 1, "s_axi_control_bvalid"},
	{"ctl_bready", "input", "input", 1, "s_axi_control_bready"},
	{"ctl_araddr", "input", "input", 8, "s_axi_control_araddr"},
	{"ctl_arvalid", "input", "input", 1, "s_axi_control_arvalid"},
	{"ctl_arready", "output", "output", 1, "s_axi_control_arready"},
	{"ctl_rresp", "output", "output", 2, "s_axi_control_rresp"},
	{"ctl_rvalid", "output", "output", 1, "s_axi_control_rvalid"},
	{"ctl_rready", "input", "input", 1, "s_axi_control_rready"},
	{"ctl_wdata", "input", "input", 32, "s_axi_control_wdata"},
	{"ctl_rdata", "output", "output", 32, "s_axi_control_rdata"},
	{"addr", "output", "output", 64, "m_axi_gmem_Aaddr"},
	{"len", "output", "output", 8, "m_axi_gmem_Alen"},
	{"size", "output", "output", 3, "m_axi_gmem_Asize"},
	{"burst", "output", "output", 2, "m_axi_gmem_Aburst"},
	{"avalid", "output", "output", 1, "m_axi_gmem_Avalid"},
	{"aready", "input", "input", 1, "m_axi_gmem_Aready"},
	{"last", "input", "output", 1, "m_axi_gmem_Dlast"},
	{"dvalid", "input", "output", 1, "m_axi_gmem_Dvalid"},
	{"dready", "output", "input", 1, "m_axi_gmem_Dready"},
	{"resp", "input", "input", 2, "m_axi_gmem_Bresp"},
	{"bvalid", "", "input", 1, "m_axi_gmem_bvalid"},
	{"bready", "", "output", 1, "m_axi_gmem_bready"},
	{"strb", "", "output", 64, "m_axi_gmem_wstrb"},
	{"data", "input", "output", 512, "m_axi_gmem_Ddata"},
	{"tlast", "output", "input", 1, "T_axis_tlast"},
	{"tvalid", "output", "input", 1, "T_axis_tvalid"},
	{"tready", "input", "output", 1, "T_axis_tready"},
	{"tdata", "output", "input", 1024, "T_axis_tdata"},
}

// direction and port are a pin's, of one kind of mover.
func (i instance) direction(k int) string {
	if i.Writes {
		return pins[k].writes
	}
	return pins[k].reads
}

func (i instance) port(k int) string {
	if i.Writes {
		return strings.NewReplacer("_A", "_aw", "_D", "_w", "_B", "_b", "T_", "s_").Replace(pins[k].port)
	}
	return strings.NewReplacer("_A", "_ar", "_D", "_r", "_B", "_r", "T_", "m_").Replace(pins[k].port)
}

// width returns the width in bits of pin k in this instance of the module.
func (i instance) width(k int) int {
	switch pins[k].name {
	case "data":
		return i.DataBits
	case "strb":
		return i.DataBits / 8
	case "tdata":
		return 8 * i.StreamBytes
	}
	return pins[k].bits
}

// bench is the text of the top, and of the C++ that knows its pins.
func bench(list []instance) (top, cpp string) {
	ports, body := "    input logic clk,\n    input logic rst_n", ""
	setups, pinned := "", ""
	for n, i := range list {
		prefix := fmt.Sprintf("m%d_", n)
		connect := ""
		pinned += "        {"
		for k, p := range pins {
			direction := i.direction(k)
			if direction == "" {
				pinned += "nullptr, "
				continue
			}
			ports += fmt.Sprintf(",\n    %s logic [%d:0] %s%s", direction, p.bits-1, prefix, p.name)
			connect += fmt.Sprintf(", .%s(%s%s[%d:0])", i.port(k), prefix, p.name, i.width(k)-1)
			pinned += fmt.Sprintf("&m.%s%s, ", prefix, p.name)
		}
		pinned += "},\n"
		var params []string
		for _, p := range i.ModuleParameters() {
			params = append(params, fmt.Sprintf(".%s(%s)", p.Name, p.Value))
		}
		module := i.ModuleName()
		if i.mutant != (mutant{}) {
			module += fmt.Sprintf("_m%d", n)
		}
		body += fmt.Sprintf("    %s #(%s) m%d (.ap_clk(clk), .ap_rst_n(rst_n)%s);\n", module,
			strings.Join(params, ", "), n, connect)
		setups += fmt.Sprintf("    {%q, %t, %d, %d, %d, %d, %d, %d, %d, 0x%xu, %t},\n", i.name, i.Writes, i.DataBits/8,
			i.StreamBytes, i.MaxBeats, i.Outstanding, i.FrameBytes, i.steps, i.Period, i.Hash, i.Reports)
	}
	top = "module bench (\n" + ports + "\n);\n" + body + "endmodule\n"
	cpp = "#pragma once\n#include \"Vbench.h\"\n#include \"bench.hpp\"\n\nstatic const setup setups[] = {\n" + setups +
		"};\n\nstatic std::vector<pins> pins_of(Vbench& m) {\n    return {\n" + pinned + "    };\n}\n"
	return top, cpp
}

var module = regexp.MustCompile(`\bhlsgen_\w+\b`)

// mutated is the text of all modules with a fault, under names of their own.
func mutated(t *testing.T, m mutant, suffix string) (text string) {
	t.Helper()
	found := false
	for _, f := range mover.SourceFiles() {
		one := string(f.Data)
		if f.Path == m.file {
			if n := strings.Count(one, m.from); n != 1 {
				t.Fatalf("%s has %q %d times", m.file, m.from, n)
			}
			one, found = strings.Replace(one, m.from, m.to, 1), true
		}
		text += module.ReplaceAllString(one, "${0}_"+suffix)
	}
	if !found {
		t.Fatalf("there is no %s", m.file)
	}
	return text
}

// A built bench has its program and the movers in it.
type built struct {
	program string
	list    []instance
}

// build has Verilator compile a bench. optimise is the compiler's flag for the code of every clock.
func build(t *testing.T, list []instance, optimise string) built {
	t.Helper()
	verilator := tier.Needs(t, "verilator", "g++", "make")[0]
	dir := t.TempDir()
	top, cpp := bench(list)
	files := map[string]string{"bench.sv": top, "movers.hpp": cpp}
	for _, f := range mover.SourceFiles() {
		files[f.Path] = string(f.Data)
	}
	for n, i := range list {
		if i.mutant != (mutant{}) {
			files[fmt.Sprintf("m%d.sv", n)] = mutated(t, i.mutant, fmt.Sprintf("m%d", n))
		}
	}
	own, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-O3"}, rtl.VerilatorFlags()...)
	args = append(args, "--cc", "--exe", "--build", "--top-module", "bench", "--prefix", "Vbench", "--Mdir", "obj",
		"-o", "bench", "-CFLAGS", "-std=c++17 -I"+own+" -I"+dir,
		"-MAKEFLAGS", "OPT_FAST="+optimise+" OPT_SLOW=-O0 OPT_GLOBAL=-O0 "+maketest.OneUnit,
		filepath.Join(own, "main.cpp"))
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".sv" {
			args = append(args, name)
		}
	}
	c := exec.CommandContext(t.Context(), verilator, args...)
	c.Dir, c.Env = dir, append(os.Environ(), "TMPDIR="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("verilator: %v\n%.4000s", err, out)
	}
	return built{filepath.Join(dir, "obj", "bench"), list}
}

// A result has a bench's report about a mover: the transfers that are done, the beats of data, the clocks from the
// first beat to the last, and the faults in the order in which they were seen.
type result struct {
	moved, beats, clocks int
	faults               []string
}

var (
	line  = regexp.MustCompile(`^(\S+) moved (\d+) beats (\d+) clocks (\d+) faults(.*)$`)
	fault = regexp.MustCompile(`\[([^]]*)\]`)
)

// run has every mover do the given number of transfers.
func (b built) run(t *testing.T, seed, transfers int, options ...string) []result {
	t.Helper()
	args := append([]string{strconv.Itoa(seed), strconv.Itoa(transfers)}, options...)
	out, err := exec.CommandContext(t.Context(), b.program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("bench: %v\n%.4000s", err, out)
	}
	var list []result
	for s := bufio.NewScanner(strings.NewReader(string(out))); s.Scan(); {
		m := line.FindStringSubmatch(s.Text())
		if m == nil || len(list) == len(b.list) || m[1] != b.list[len(list)].name {
			t.Fatalf("the bench says %q", s.Text())
		}
		var r result
		for k, to := range []*int{&r.moved, &r.beats, &r.clocks} {
			if *to, err = strconv.Atoi(m[k+2]); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range fault.FindAllStringSubmatch(m[5], -1) {
			r.faults = append(r.faults, f[1])
		}
		list = append(list, r)
	}
	if len(list) != len(b.list) {
		t.Fatalf("the bench says of %d movers: %s", len(list), out)
	}
	return list
}
