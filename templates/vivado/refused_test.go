package vivado_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/vivado"
)

// TestEnds checks that a script that cannot go on says what the user has to do.
func TestEnds(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "tclsh", "make", "sh")
	s, verilog, _ := wide(t)
	w := opened(t, s, vivado.IPBackendRTL, []byte(verilog))
	bit := filepath.Join(w.dir, "vivado/build", s.Top+".bit")
	for _, c := range []struct {
		what string
		env  string
		says string
	}{
		{"no files of the board", "HIDDEN=xilinx.com:zcu104:*", "this Vivado has no files of the board zcu104 " +
			"(xilinx.com:zcu104:part0:*), which say how its processor is set up. They are had from the AMD board " +
			"store"},
		{"a PLL that makes another clock", "PLL=1333", "the processor makes 95.214286 MHz for the logic, not 100: " +
			"build again with --clock 95.214286, or with a board file whose pll_mhz is that of this board"},
		{"a run that fails", "FAILS=impl_1", "no bitstream: build/system/system.runs/impl_1/runme.log"},
	} {
		if said, failed := w.run([]string{c.env}, "make", "bitstream"); !failed || !strings.Contains(said, c.says) {
			t.Errorf("%s: %s", c.what, said)
		}
		if _, err := os.Stat(bit); err == nil {
			t.Errorf("%s: there is a bitstream", c.what)
		}
	}
	if said, failed := w.run(nil, "make", "bitstream"); failed {
		t.Fatal(said)
	}
	if said, failed := w.run(nil, "make", "bitstream"); failed || !strings.Contains(said, "Nothing to be done") {
		t.Errorf("made again: %s", said)
	}
	// An IP that is not there is made by the Makefile of its flow.
	ip := filepath.Join(w.dir, "rtl/build/ip", s.Top, "component.xml")
	if err := os.Rename(ip, ip+".old"); err != nil {
		t.Fatal(err)
	}
	w.write(t, filepath.Join(w.dir, "rtl/Makefile"), "package:\n\tcp build/ip/"+s.Top+"/component.xml.old build/ip/"+
		s.Top+"/component.xml\n")
	said, failed := w.run(nil, "make", "bitstream")
	if failed || !strings.Contains(said, "../rtl package") || !strings.Contains(said, "-source block_design.tcl") {
		t.Errorf("an IP that is missing: %s", said)
	}
	if said, failed := w.run(nil, "make", "clean"); failed {
		t.Error(said)
	}
	if _, err := os.Stat(bit); err == nil {
		t.Error("clean leaves the bitstream")
	}
}

// TestFlows checks that a build with two flows takes the IP of the first, and can take that of the other.
func TestFlows(t *testing.T) {
	t.Parallel()
	s, _, _ := wide(t)
	files, err := s.GenerateFiles(vivado.IPBackendHLS, vivado.IPBackendRTL)
	if err != nil {
		t.Fatal(err)
	}
	makefile := string(text(t, files, "vivado/Makefile"))
	for _, line := range []string{"IP     ?= ../hls/build.ip/wide_top_ip\n",
		"#     make bitstream IP=../rtl/build/ip/wide_top\n",
		"\n../hls/build.ip/wide_top_ip/component.xml: ", "\n../rtl/build/ip/wide_top/component.xml: "} {
		if !strings.Contains(makefile, line) {
			t.Errorf("no %q in\n%s", line, makefile)
		}
	}
}

// TestNone checks that the reason is given where there is no way to a bitstream.
func TestNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		board string
		io    dataflow.HostIO
		says  string
	}{
		{"vck190", dataflow.HostIOMemory, "nothing is known of a processor beside the logic of vck190"},
		{"arty-a7-35", dataflow.HostIOMemory, "nothing is known of a processor beside the logic of arty-a7-35"},
		{"zcu104", dataflow.HostIOStream, "a design that is fed from inside the FPGA has no movers"},
	} {
		b, err := boards.FindBoard(c.board)
		if err != nil {
			t.Fatal(err)
		}
		d := &dataflow.Design{Target: dataflow.Target{Board: b, ClockMHz: 100, IO: c.io}}
		_, err = vivado.NewSystem(d, templates.Options{})
		if none := new(vivado.NoSystemError); !errors.As(err, &none) || none.Reason != c.says {
			t.Errorf("%s: %v", c.board, err)
		}
	}
}

// TestSources checks that every row of the table about Vivado has a source, and the versions that it is true for.
func TestSources(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/table.tcl")
	if err != nil {
		t.Fatal(err)
	}
	from := regexp.MustCompile(`^from ".{8,}" 20\d\d\.\d-20\d\d\.\d$`)
	sources, rows := 0, 0
	for line := range strings.Lines(string(table)) {
		line = strings.TrimSuffix(line, "\n")
		word, _, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
		switch {
		case word == "from" && !from.MatchString(line):
			t.Errorf("no source with versions: %s", line)
		case word == "from":
			sources++
		case slices.Contains([]string{"command", "property", "board", "part", "automation", "ip"}, word):
			if rows++; sources == 0 {
				t.Errorf("no source: %s", line)
			}
		}
	}
	if sources < 8 || rows < 60 {
		t.Errorf("%d sources, %d rows", sources, rows)
	}
	tier.Needs(t, "tclsh", "make", "sh")
	s, verilog, _ := wide(t)
	w := opened(t, s, vivado.IPBackendRTL, []byte(verilog))
	row := filepath.Join(w.tools, "table.tcl")
	w.write(t, row, "from {} {}\ncommand create_clock {} {}\n")
	if said, failed := w.run(nil, "make", "build/movers"); !failed || !strings.Contains(said, "CHECK no-source") {
		t.Errorf("a row without a source: %s", said)
	}
}

// TestMissed checks that a design that misses its clock is implemented by a second strategy, and that the better
// bitstream is left, under a name that says it misses its clock if it does.
func TestMissed(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "tclsh", "make", "sh")
	s, verilog, _ := wide(t)
	w := opened(t, s, vivado.IPBackendRTL, []byte(verilog))
	second := "impl_2 STRATEGY Performance_ExtraTimingOpt POST_ROUTE_PHYS_OPT 1\n"
	for _, c := range []struct {
		what   string
		env    []string
		bits   string // the run of the bitstream
		missed string // the slacks of one that misses its clock
		hint   string
	}{
		{what: "met", env: []string{"WNS=0"}, bits: "impl_1 \n"},
		{what: "met by the second", env: []string{"WNS=-0.25 0.01"}, bits: second},
		{what: "missed by both", env: []string{"WNS=-0.25 -0.125"}, bits: second, missed: "WNS -0.125 ns, WHS 0.1 ns",
			hint: "build with a lower --clock"},
		{what: "missed by more", env: []string{"WNS=-0.25 -0.5"}, bits: "impl_1 \n", missed: "WNS -0.25 ns, WHS 0.1 ns",
			hint: "build with a lower --clock"},
		{what: "a second run that fails", env: []string{"WNS=-0.25", "FAILS=impl_2"}, bits: "impl_1 \n",
			missed: "WNS -0.25 ns, WHS 0.1 ns", hint: "build with a lower --clock"},
		{what: "hold alone", env: []string{"WHS=-0.05 -0.02"}, bits: second, missed: "WNS 0.1 ns, WHS -0.02 ns",
			hint: "no clock helps against a hold that is missed"},
		{what: "met again", bits: "impl_1 \n"},
	} {
		if err := os.RemoveAll(filepath.Join(w.dir, "vivado/build", s.Top+".bit")); err != nil {
			t.Fatal(err)
		}
		said, failed := w.run(c.env, "make", "bitstream")
		want := fmt.Sprintf("the clock is missed: %s; build/timing.rpt says where. build/%s_missed.bit is the design "+
			"as it is, which may compute wrong results: %s", c.missed, s.Top, c.hint)
		if failed != (c.missed != "") || failed != strings.Contains(said, want) {
			t.Errorf("%s: failed %t, said %s", c.what, failed, said)
		}
		there, gone := s.Top+"_missed", s.Top
		if !failed {
			there, gone = gone, there
		}
		for _, ext := range []string{".bit", ".hwh", ".xsa"} {
			if _, err := os.Stat(filepath.Join(w.dir, "vivado/build", gone+ext)); err == nil {
				t.Errorf("%s: there is a %s", c.what, gone+ext)
			}
			text, err := os.ReadFile(filepath.Join(w.dir, "vivado/build", there+ext))
			if err != nil || ext == ".bit" && string(text) != c.bits {
				t.Errorf("%s: %s is of %q, want %q: %v", c.what, there+ext, text, c.bits, err)
			}
		}
	}
}
