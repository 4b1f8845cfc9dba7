package rtl_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// A pin is a port of a module, with its direction, its bits, and its interface in a block design.
type pin struct {
	direction string
	width     int
	face      string
}

var (
	declared = regexp.MustCompile(`(?:\(\* (.*) \*\)\n *)?\b(input|output) +wire (?:\[(\d+):0\] )?(\w+)[,\n]`)
	argument = regexp.MustCompile(`hls::stream<(?:ap_uint<(\d+)>|ap_axiu<(\d+), 0, 0, 0>) ?>& (\w+)`)
)

// pins are the ports of a module's text.
func pins(text string) map[string]pin {
	list := map[string]pin{}
	head, _, _ := strings.Cut(text, ");\n")
	for _, m := range declared.FindAllStringSubmatch(head, -1) {
		width := 1
		if m[3] != "" {
			high, _ := strconv.Atoi(m[3])
			width = high + 1
		}
		list[m[4]] = pin{m[2], width, m[1]}
	}
	return list
}

// pinned returns the ports that Vitis HLS makes of a top function (UG1399). A stream of ap_uint becomes an AXI4-Stream
// with data only, a stream of ap_axiu one with packets. With such streams, there is a reset that is active low.
func pinned(t *testing.T, files templates.ProjectFiles, d *dataflow.Design) map[string]pin {
	t.Helper()
	face, err := templates.IPInterfaceOf(d, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, function, _ := strings.Cut(string(find(t, files, "hls/top.hpp")), "void "+face.Top+"(")
	function, _, _ = strings.Cut(function, ");")
	list, axes := map[string]pin{}, []string(nil)
	for _, m := range argument.FindAllStringSubmatch(function, -1) {
		width, _ := strconv.Atoi(m[1] + m[2])
		name := m[3]
		axes = append(axes, name)
		there, back := "input", "output"
		if slices.ContainsFunc(face.Out, func(p templates.AXIStreamPort) bool { return p.Name == name }) {
			there, back = back, there
		}
		add := func(signal, direction string, width int) {
			list[name+"_"+signal] = pin{direction, width,
				fmt.Sprintf("X_INTERFACE_INFO = %q", "xilinx.com:interface:axis:1.0 "+name+" "+signal)}
		}
		add("TDATA", there, width)
		add("TVALID", there, 1)
		add("TREADY", back, 1)
		if m[2] != "" {
			add("TKEEP", there, width/8)
			add("TSTRB", there, width/8)
			add("TLAST", there, 1)
		}
	}
	if len(axes) != len(face.In)+len(face.Out) {
		t.Fatalf("the function is %s", function)
	}
	list["ap_clk"] = pin{"input", 1, fmt.Sprintf(`X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 ap_clk CLK", `+
		`X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF %s, ASSOCIATED_RESET ap_rst_n"`, strings.Join(axes, ":"))}
	list["ap_rst_n"] = pin{"input", 1, `X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 ap_rst_n RST", ` +
		`X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW"`}
	return list
}

func find(t *testing.T, files templates.ProjectFiles, path string) []byte {
	t.Helper()
	k := slices.IndexFunc(files, func(f templates.GeneratedFile) bool { return f.Path == path })
	if k < 0 {
		t.Fatalf("no file %s", path)
	}
	return files[k].Data
}

// TestPorts checks that one block design fits the top of either flow. The top that checks packets has TLAST at all
// inputs, and a flag.
func TestPorts(t *testing.T) {
	t.Parallel()
	for _, sequences := range []bool{false, true} {
		d := turning(t, sequences)
		n, err := rtl.New(d, templates.Options{})
		if err != nil {
			t.Fatal(err)
		}
		hls, err := templates.GenerateHLSProject(d, templates.TestVectors{}, templates.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := pinned(t, hls, d)
		for name, text := range map[string][]byte{
			"HLS, layer by layer": find(t, hls, "hls/rtl/"+n.Top+".v"),
			"RTL":                 find(t, n.Files, "rtl/"+n.Top+".sv"),
			"IP":                  find(t, n.Files, "rtl/ip/"+n.Top+"_ip.v"),
		} {
			if got := pins(string(text)); !maps.Equal(got, want) {
				t.Errorf("%s: the ports are %v, want %v", name, got, want)
			}
		}
		want["error"] = pin{"output", 1, ""}
		for _, signal := range []string{"TKEEP", "TSTRB", "TLAST"} {
			want["s_axis_0_"+signal] = pin{"input", 1,
				fmt.Sprintf("X_INTERFACE_INFO = %q", "xilinx.com:interface:axis:1.0 s_axis_0 "+signal)}
		}
		if got := pins(string(find(t, n.Files, "rtl/"+n.Top+"_checked.v"))); !maps.Equal(got, want) {
			t.Errorf("checked: the ports are %v, want %v", got, want)
		}
	}
}

// vivado is a stand-in that runs a script and prints the commands that it gets. Files must exist.
const vivado = `#!/usr/bin/env tclsh
proc there {files} {
    foreach file $files {
        if {![file isfile $file]} { error "no file $file" }
    }
}
proc add_files {flag file} { there $file; puts [list add_files $file] }
proc read_verilog {flag files} { there $files; puts [list read_verilog {*}[lsort $files]] }
proc read_xdc {file} { there $file; puts [list read_xdc $file] }
proc current_fileset {} { return sources_1 }
namespace eval ipx {
    proc current_core {} { return core }
    proc package_project {args} { puts [list package_project {*}$args] }
    foreach name {create_xgui_files update_checksums save_core} { proc $name {core} "puts \[list $name \$core\]" }
}
foreach name {create_project set_property update_compile_order close_project synth_design opt_design place_design
    route_design report_utilization report_timing_summary write_bitstream} {
    proc $name {args} "puts \[list $name {*}\$args\]"
}
set at [lsearch $argv -source]
set script [lindex $argv $at+1]
set argv [lrange $argv $at+3 end]
set argc [llength $argv]
source $script
`

// carriedOut runs a command in the folder rtl of a project, with a stand-in for Vivado. It returns the commands that
// the stand-in got.
func carriedOut(t *testing.T, dir string, command ...string) []string {
	t.Helper()
	tools := t.TempDir()
	if err := os.WriteFile(filepath.Join(tools, "vivado"), []byte(vivado), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(command[0], command[1:]...)
	if command[0] == "vivado" {
		c = exec.Command(filepath.Join(tools, "vivado"), command[1:]...)
	}
	c.Dir = filepath.Join(dir, "rtl")
	c.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "MAKEFLAGS=")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(out)), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "vivado ")
	})
}

// written is a project of a design in a folder, with a frame.
func written(t *testing.T, d *dataflow.Design) (n *rtl.Network, dir string) {
	t.Helper()
	n, err := rtl.New(d, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := n.GenerateProject([][]dataflow.Tensor{frame(t, d, rand.New(rand.NewPCG(1, 2)), 3)})
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "a [b] $c")
	if err := files.WriteBelow(dir); err != nil {
		t.Fatal(err)
	}
	return n, dir
}

// TestPackage checks that the IP has the ports that Vitis HLS makes, all modules of the network, and their tables
// beside them.
func TestPackage(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "make", "tclsh")
	d := turning(t, false)
	n, dir := written(t, d)
	hls, err := templates.GenerateHLSProject(d, templates.TestVectors{}, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, top string
		command   []string
	}{
		{"turning_top", "turning_top_ip", []string{"make", "--no-print-directory", "package"}},
		{"turning_top_checked", "turning_top_checked",
			[]string{"vivado", "-mode", "batch", "-source", "ip/package.tcl", "-tclargs", "checked"}},
	} {
		src := "build/ip/" + c.name + ".src/"
		want := []string{"create_project -force -part xczu7ev-ffvc1156-2-e package build/ip/" + c.name + ".vivado",
			"add_files " + src + c.top + ".v"}
		for _, f := range []string{"turning_top.sv", "turning_top_Reorder_0.sv", "hlsgen_add_three.sv",
			"hlsgen_last.sv", "hlsgen_multiply.sv", "hlsgen_packet.sv", "hlsgen_reset.sv", "hlsgen_sequence.sv",
			"hlsgen_slice.sv", "hlsgen_stream.sv", "turning_top_Reorder_0_order.mem"} {
			want = append(want, "add_files "+src+f)
		}
		want = append(want, "set_property top "+c.top+" sources_1", "update_compile_order -fileset sources_1",
			"package_project -root_dir build/ip/"+c.name+" -vendor hlsgen -library hls -taxonomy /UserIP "+
				"-import_files -force",
			"set_property name "+c.name+" core", "set_property display_name "+c.name+" core",
			"set_property version 1.0 core", "create_xgui_files core", "update_checksums core", "save_core core",
			"close_project")
		if got := carriedOut(t, dir, c.command...); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		packed := func(file string) string {
			text, err := os.ReadFile(filepath.Join(dir, "rtl", src, file))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if layer := packed("turning_top_Reorder_0.sv"); !strings.Contains(layer,
			`$readmemh("./turning_top_Reorder_0_order.mem", order)`) {
			t.Errorf("the layer reads its table otherwise:\n%s", layer)
		}
		if got, want := packed("turning_top_Reorder_0_order.mem"), find(t, n.Files,
			"rtl/tables/turning_top_Reorder_0_order.mem"); got != string(want) {
			t.Errorf("the table is %q, want %q", got, want)
		}
		if got, want := pins(packed(c.top+".v")), pinned(t, hls, d); c.name == n.Top && !maps.Equal(got, want) {
			t.Errorf("the ports are %v, want %v", got, want)
		}
	}
}

// TestVivado checks the commands of the script for a bitstream. It reads all files of the UART top, and goes through
// every step.
func TestVivado(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "make", "tclsh")
	d := turning(t, false)
	var err error
	if d.Target.Board, err = boards.FindBoard("arty-a7-35"); err != nil {
		t.Fatal(err)
	}
	n, dir := written(t, d)
	got := carriedOut(t, dir, "make", "--no-print-directory", "bitstream", "BAUD=9600")
	var read []string
	for _, folder := range []string{"", "layers", "shared", "uart"} {
		files, err := filepath.Glob(filepath.Join(strings.NewReplacer("[", `\[`).Replace(dir), "rtl", folder, "*.sv"))
		if err != nil || len(files) == 0 {
			t.Fatal(folder, err)
		}
		for _, f := range files {
			read = append(read, path.Join(folder, filepath.Base(f)))
		}
	}
	slices.Sort(read)
	want := []string{"read_verilog " + strings.Join(read, " "), "read_xdc uart/pins.xdc",
		"synth_design -top " + n.Top + "_uart -part xc7a35ticsg324-1L -generic BAUD=9600", "opt_design", "place_design",
		"route_design", "report_utilization -file build/utilization.txt",
		"report_timing_summary -file build/timing.txt", "write_bitstream -force build/" + n.Top + "_uart.bit"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Contains(read, "uart/"+n.Top+"_uart.sv") {
		t.Errorf("%v: no file of the top", read)
	}
}

// TestMMCM has Yosys join Arty's UART top with its own outlines of the 7 series' cells, at a clock that the board does
// not have: the top runs at it, and each pin of the cells is one that they have.
func TestMMCM(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "yosys")
	d := turning(t, false)
	var err error
	if d.Target.Board, err = boards.FindBoard("arty-a7-35"); err != nil {
		t.Fatal(err)
	}
	d.Target.ClockMHz = 150
	n, dir := written(t, d)
	text, err := os.ReadFile(filepath.Join(dir, "rtl", "uart", n.Top+"_uart.sv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CLOCK = 150000000,", "MMCME2_BASE #(", ".ap_clk(clock)"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the top has no %q", want)
		}
	}
	script := "read_verilog -lib +/xilinx/cells_sim.v +/xilinx/cells_xtra.v; read_verilog -sv -defer *.sv " +
		"layers/*.sv shared/*.sv uart/*.sv; hierarchy -check -top " + n.Top + "_uart"
	join := exec.Command("yosys", "-q", "-p", script)
	join.Dir = filepath.Join(dir, "rtl")
	if said, err := join.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}
