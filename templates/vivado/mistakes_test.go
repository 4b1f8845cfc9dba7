package vivado_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates/deploy"
	"hlsgen/templates/mover"
	"hlsgen/templates/vivado"
)

// A mistake is a change of a script, and the check that catches it. Of old every first place becomes new.
type mistake struct{ what, old, new, check string }

// ofZynqMP are mistakes in the block design of a small network on the ZCU104.
var ofZynqMP = []mistake{
	// What Vivado would not carry out.
	{"a misspelt command", "save_bd_design", "save_bd_desing", "unknown-command"},
	{"a misspelt switch", "-latest_file_version", "-newest_file_version", "unknown-switch"},
	{"a switch of another command", "open_run $run", "open_run -force $run", "unknown-switch"},
	{"a value of the wrong type", "-jobs $jobs", "-jobs many", "wrong-type"},
	{"a switch without its value", "validate_bd_design", "report_timing_summary -file", "wrong-type"},
	{"a name where an object is wanted", "[get_bd_pins $from]", "$from", "wrong-type"},
	{"an object of another kind", "[get_bd_intf_pins $slave]", "[get_bd_cells ps]", "unknown-command"},
	{"a pin where a bus is wanted", "[get_bd_intf_pins $slave]", "[get_bd_pins ps/pl_clk0]", "wrong-type"},
	{"a misspelt IP", "xilinx.com:ip:proc_sys_reset:*", "xilinx.com:ip:proc_sys_rst:*", "script"},
	{"a version that there is not", "-vlnv [newest $pattern]", "-vlnv xilinx.com:ip:smartconnect:9.9", "unknown-vlnv"},
	{"movers that are not packed", "[file normalize build/ip]", "build/none", "script"},
	{"a misspelt property of a cell", "PSU__USE__S_AXI_GP2 {1}", "PSU__USE__S_AXI_HP0 {1}", "unknown-config"},
	{"a property out of range", "PSU__SAXIGP2__DATA_WIDTH {128}", "PSU__SAXIGP2__DATA_WIDTH {256}", "wrong-type"},
	{"a property that is no number", "PSU__USE__IRQ0 {1}", "PSU__USE__IRQ0 {yes}", "wrong-type"},
	{"a property of a project that is none", "set_property board_part", "set_property boardpart", "unknown-property"},
	{"a misspelt pin", "reset/ext_reset_in", "reset/ext_reset", "unknown-pin"},
	{"a pin that is switched off", "PSU__USE__IRQ0 {1}", "PSU__USE__IRQ0 {0}", "unknown-pin"},
	{"a bus beyond the last", "NUM_SI 1 NUM_MI 2", "NUM_SI 1 NUM_MI 1", "unknown-pin"},
	{"a cell before it is there", "add control xilinx.com:ip:smartconnect:* {NUM_CLKS 1 NUM_SI 1 NUM_MI 2}\n", "",
		"before-creation"},
	{"a cell that is there already", "add accelerator ", "add reset ", "given-twice"},
	{"a rule that is none", "xilinx.com:bd_rule:zynq_ultra_ps_e", "xilinx.com:bd_rule:zynqmp", "unknown-rule"},
	{"a setting that the rule does not know", `{apply_board_preset "1"}`, `{apply_preset "1"}`, "unknown-config"},
	{"the board of another part", "xilinx.com:zcu104:part0:*}]", "xilinx.com:kv260_som:part0:*}]", "wrong-part"},
	{"a project for another part", "-part xczu7ev-ffvc1156-2-e", "-part xck26-sfvc784-2LV-c", "wrong-part"},
	{"a part that there is not", "-part xczu7ev-ffvc1156-2-e", "-part xczu7ev", "wrong-type"},
	{"a preset without a board", "set_property board_part [lindex $board 0] [current_project]\n", "", "no-board"},
	{"no validation", "validate_bd_design\n", "", "not-validated"},
	{"a change after validation", "save_bd_design\n", "add late xilinx.com:ip:proc_sys_reset:* {}\n", "not-validated"},
	{"the design without its wrapper", "set_property top system_wrapper [current_fileset]\n", "", "top"},
	{"reports of no run", "open_run $run\n", "", "before-creation"},
	{"a file that there is not", "[make_wrapper -files [get_files system.bd] -top]", "system_wrapper.v", "no-file"},
	{"a strategy that there is not", "Performance_ExtraTimingOpt impl_2", "Performance_Extra impl_2", "wrong-type"},
	{"a run of no synthesis", "-parent_run synth_1", "-parent_run impl_1", "before-creation"},
	{"a slack by another name", "STATS.WHS", "STATS.HOLD", "unknown-property"},
	{"the .xsa of the run that is worse", "current_run $run\n", "", "current-run"},
	// What is wrong in the wiring.
	{"a missing reset", " accelerator/ap_rst_n", "", "open-input"},
	{"a missing clock", " control/aclk", "", "open-input"},
	{"two drivers", "wire read_s_axis_0/interrupt",
		"wire ps/pl_resetn0 accelerator/ap_rst_n\nwire read_s_axis_0/interrupt", "two-drivers"},
	{"no driver", "wire ps/pl_resetn0 reset/ext_reset_in", "wire reset/aux_reset_in reset/ext_reset_in", "no-driver"},
	{"a reset of the other polarity", "wire reset/peripheral_aresetn", "wire reset/peripheral_reset", "kind"},
	{"a reset that follows no clock", "wire reset/peripheral_aresetn control/aresetn",
		"wire ps/pl_resetn0 control/aresetn", "reset"},
	{"another clock", "wire ps/pl_clk0 reset/slowest_sync_clk ps/maxihpm0_fpd_aclk",
		"configure $ps {PSU__FPGA_PL1_ENABLE 1}\nwire ps/pl_clk1 ps/maxihpm0_fpd_aclk\n" +
			"wire ps/pl_clk0 reset/slowest_sync_clk", "clock"},
	{"a clock as a reset", "wire ps/pl_resetn0 reset/ext_reset_in", "wire ps/pl_clk0 reset/ext_reset_in", "kind"},
	{"interrupts of another number", "hlsgen:concat_2:", "hlsgen:concat_3:", "script"},
	{"an interrupt of inputs first",
		"wire write_m_axis_0/interrupt interrupts_0/In0\nwire read_s_axis_0/interrupt interrupts_0/In1",
		"wire write_m_axis_0/interrupt interrupts_0/In1\nwire read_s_axis_0/interrupt interrupts_0/In0", "interrupt"},
	{"interrupts that end nowhere", "wire interrupts_0/dout ps/pl_ps_irq0\n", "", "interrupt"},
	{"a stream of another width", "STREAM_BYTES 1", "STREAM_BYTES 2", "width"},
	{"a memory port of another width", "PSU__SAXIGP2__DATA_WIDTH {128}", "PSU__SAXIGP2__DATA_WIDTH {64}", "port-width"},
	{"a stream the wrong way round", "link accelerator/m_axis_0 write_m_axis_0/s_axis",
		"link write_m_axis_0/s_axis accelerator/m_axis_0", "direction"},
	{"a stream at a memory bus", "link read_s_axis_0/m_axis ", "link read_s_axis_0/m_axi_gmem ", "kind"},
	{"a stream that is left open", "link accelerator/m_axis_0 write_m_axis_0/s_axis\n", "", "open-bus"},
	{"a bus with two ends", "control/M01_AXI", "control/M00_AXI", "two-links"},
	{"a stream past the accelerator", "link read_s_axis_0/m_axis accelerator/s_axis_0",
		"link read_s_axis_0/m_axis write_m_axis_0/s_axis", "two-links"},
	{"a spare mover", "wire ps/pl_resetn0", "add spare hlsgen:kernels:hlsgen_read:* {}\nwire ps/pl_resetn0", "price"},
	{"an IP that nobody counted", "wire ps/pl_resetn0",
		"add spare xilinx.com:ip:axi_register_slice:* {}\nwire ps/pl_resetn0", "price"},
	// What is wrong in addresses.
	{"overlapping addresses", "-offset 0xA0010000", "-offset 0xA0000000", "overlap"},
	{"addresses outside the window", "-offset 0xA0010000", "-offset 0xB0000000", "window"},
	{"addresses that are not aligned", "-offset 0xA0010000", "-offset 0xA0018000", "alignment"},
	{"too little space", "-range 0x10000", "-range 0x100", "alignment"},
	{"addresses that the driver does not know", "-offset 0xA0010000", "-offset 0xA0020000", "address-map"},
	{"registers in a mover's space", "[get_bd_addr_spaces ps/Data]", "[get_bd_addr_spaces read_s_axis_0/m_axi_gmem]",
		"unreachable"},
	{"a mover without memory", "memory write_m_axis_0 SAXIGP2/HP0_DDR_* SAXIGP2/*\n", "", "no-address"},
	{"a mover that sees more than memory", "HP0_DDR_* SAXIGP2/*", "HP0_* SAXIGP2/*", "memory"},
	// What the driver, the host's file or the budget say otherwise.
	{"frames of another length", "FRAME_BYTES 64", "FRAME_BYTES 65", "parameter"},
	{"the hash of another file", "HASH 0x", "HASH 0xa", "wrong-type"},
	{"the hash of no file", "HASH 0x", "HASH 0x1}; #", "parameter"},
	{"a clock that is too fast", "FREQMHZ {187.5}", "FREQMHZ {250}", "script"},
	{"a clock that no divider makes", "FREQMHZ {187.5}", "FREQMHZ {180}", "script"},
	{"the clock that results by another name", "CTRL__ACT_FREQMHZ", "CTRL__ACTUAL_FREQMHZ", "unknown-property"},
}

// ofZynq has mistakes that only a Zynq-7000 can have.
var ofZynq = []mistake{
	{"bursts that AXI3 does not know", "MAX_BEATS 16", "MAX_BEATS 256", "burst"},
	{"pins of the chip that are left open", `"FIXED_IO, DDR"`, `"DDR"`, "open-bus"},
	{"addresses of the other family", "0x40000000", "0xA0000000", "window"},
	{"a clock by another PLL", "{IO PLL}", "{IOPLL}", "wrong-type"},
	{"a clock that is too fast", "FREQMHZ {100}", "FREQMHZ {125}", "script"},
	{"the clock that results by the other family's name", "CONFIG.PCW_ACT_FPGA0_PERIPHERAL_FREQMHZ",
		"CONFIG.PSU__CRL_APB__PL0_REF_CTRL__ACT_FREQMHZ", "script"},
	{"interrupts at the other family's port", "ps/IRQ_F2P", "ps/pl_ps_irq0", "unknown-pin"},
	{"a memory port of the other family", "S_AXI_HP0_ACLK", "saxihp0_fpd_aclk", "unknown-pin"},
}

// ofPackage are mistakes in the script that packs the movers.
var ofPackage = []mistake{
	{"a misspelt command of the packager", "ipx::save_core", "ipx::save", "unknown-command"},
	{"a misspelt switch of the packager", "-taxonomy", "-taxonomie", "unknown-switch"},
	{"a top that no file has", "set_property top $top", "set_property top ${top}_top", "top"},
	{"a core that is not saved", "    ipx::save_core $core\n", "", "not-saved"},
	{"a version that is no number", "set_property version 1.0", "set_property version one", "wrong-type"},
}

// ofMover are mistakes in the Verilog around a mover that reads, which the packager or the block design shows.
var ofMover = []mistake{
	{"bursts that may be narrow", "SUPPORTS_NARROW_BURST 0", "SUPPORTS_NARROW_BURST 1", "narrow"},
	{"nothing said of narrow bursts", "SUPPORTS_NARROW_BURST 0, ", "", "narrow"},
	{"a mover that writes, too", "READ_ONLY", "READ_WRITE", "mode"},
	{"bursts that are longer than said", "MAX_BURST_LENGTH 64", "MAX_BURST_LENGTH 16", "burst-length"},
	{"fewer bursts than there are", "NUM_READ_OUTSTANDING 4", "NUM_READ_OUTSTANDING 1", "outstanding"},
	{"the bursts of the other direction", "NUM_READ_OUTSTANDING 4", "NUM_WRITE_OUTSTANDING 4", "outstanding"},
	{"a misspelt parameter of a bus", "MAX_BURST_LENGTH", "MAX_BURST", "unknown-config"},
	{"a direction that is none", "READ_ONLY", "READS", "wrong-type"},
	{"a signal of another name", "m_axi_gmem ARLEN", "m_axi_gmem ARSIZE", "interface"},
	{"a signal of no bus", `    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem RLAST" *)` + "\n", "",
		"interface"},
}

// caught are the names of the checks that object to a script.
func (w workshop) caught(t *testing.T, script, text string, more func(g *graph) found) (list []string) {
	t.Helper()
	w.write(t, filepath.Join(w.dir, "vivado", script), text)
	// The first run misses its clock, so that the script comes to the second one.
	if said, failed := w.run([]string{"WNS=-0.1 0.1"}, "vivado", "-mode", "batch", "-source", script); failed {
		if m := regexp.MustCompile(`CHECK ([a-z-]+): `).FindStringSubmatch(said); m != nil {
			return []string{m[1]}
		}
		return []string{"no check: " + said}
	}
	if more == nil {
		return nil
	}
	g := w.graph(t)
	for _, wrong := range append(g.check(), more(g)...) {
		name, _, _ := strings.Cut(wrong, ":")
		list = append(list, name)
	}
	return list
}

// catch plants mistakes in a script, each by itself, and wants its check to object.
func (w workshop) catch(t *testing.T, script string, list []mistake, more func(g *graph) found) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "vivado", script))
	if err != nil {
		t.Fatal(err)
	}
	if caught := w.caught(t, script, string(text), more); len(caught) > 0 {
		t.Fatalf("%s as it is written: %v", script, caught)
	}
	for _, m := range list {
		if !strings.Contains(string(text), m.old) {
			t.Errorf("%s: %s has no %q", m.what, script, m.old)
			continue
		}
		changed := strings.Replace(string(text), m.old, m.new, 1)
		if caught := w.caught(t, script, changed, more); !slices.Contains(caught, m.check) {
			t.Errorf("%s: caught by %v, want %s", m.what, caught, m.check)
		}
	}
	w.write(t, filepath.Join(w.dir, "vivado", script), string(text))
}

// catchPacked plants mistakes in a file that is packed, and wants the check to object while packing or in the block
// design.
func (w workshop) catchPacked(t *testing.T, file string, list []mistake) {
	t.Helper()
	var texts [3]string
	for i, name := range []string{file, "ip/package.tcl", "block_design.tcl"} {
		text, err := os.ReadFile(filepath.Join(w.dir, "vivado", name))
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	for _, m := range append(list, mistake{what: "none"}) {
		if !strings.Contains(texts[0], m.old) {
			t.Errorf("%s: %s has no %q", m.what, file, m.old)
			continue
		}
		w.write(t, filepath.Join(w.dir, "vivado", file), strings.Replace(texts[0], m.old, m.new, 1))
		caught := w.caught(t, "ip/package.tcl", texts[1], nil)
		if caught == nil {
			caught = w.caught(t, "block_design.tcl", texts[2], func(*graph) found { return nil })
		}
		if m.check == "" && caught != nil || m.check != "" && !slices.Contains(caught, m.check) {
			t.Errorf("%s: caught by %v, want %s", m.what, caught, m.check)
		}
	}
}

// TestMistakes checks that each planted mistake in Tcl or wiring is found by the check that it names.
func TestMistakes(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "tclsh", "make", "sh")
	for board, list := range map[string][]mistake{"zcu104": ofZynqMP, "pynq-z1": ofZynq} {
		t.Run(board, func(t *testing.T) {
			t.Parallel()
			d := designOf(t, "digits-mlp-w2a2", board, vivado.IPBackendHLS, false)
			w := open(t, d, vivado.IPBackendHLS, verilogOf(t, d, vivado.IPBackendHLS))
			if said, failed := w.run(nil, "make", "build/movers"); failed {
				t.Fatal(said)
			}
			w.catch(t, "block_design.tcl", list, func(g *graph) found {
				return g.agrees(d, w.windows(), w.system.HostSystem())
			})
			if board == "zcu104" {
				w.catch(t, "ip/package.tcl", ofPackage, nil)
				w.catchPacked(t, "ip/hlsgen_read_ip.v", ofMover)
			}
		})
	}
}

// wide is a system with streams that are alike, ten in and three out, and the Verilog of its accelerator.
func wide(t *testing.T) (s *vivado.System, verilog string, list []deploy.HostStream) {
	t.Helper()
	board, err := boards.FindBoard("zcu104")
	if err != nil {
		t.Fatal(err)
	}
	clock, _ := vivado.FastestPLClock(board, 100)
	s = &vivado.System{Top: "wide_top", Board: board, Clock: clock, Hash: "0123456789abcdef"}
	var v strings.Builder
	for k := range 13 {
		name, direction, in := fmt.Sprintf("s_axis_%d", k), "input", k
		m := vivado.Mover{Name: "read_" + name}
		if k >= 10 {
			in = k - 10
			name, direction = fmt.Sprintf("m_axis_%d", in), "output"
			m = vivado.Mover{Name: "write_" + name}
		}
		m.Config = mover.Config{Writes: k >= 10, StreamBytes: 3, FrameBytes: 12, DataBits: 128, MaxBeats: 64,
			Outstanding: 4, Hash: 0x0123456789abcdef}
		m.Stream, m.Port, m.Base = name, board.MemoryPorts[in%4], 0xA000_0000+uint64(k)*vivado.MoverRegisterRangeBytes
		s.Movers = append(s.Movers, m)
		list = append(list, deploy.HostStream{Port: name, Bytes: 3, Words: 4})
		for signal, bits := range map[string]string{"TDATA": "[23:0] ", "TLAST": ""} {
			fmt.Fprintf(&v, "    (* X_INTERFACE_INFO = \"xilinx.com:interface:axis:1.0 %s %s\" *)\n", name, signal)
			fmt.Fprintf(&v, "    %-6s wire %s%s_%s,\n", direction, bits, name, signal)
		}
	}
	return s, v.String(), list
}
