package templates

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
)

// An rtlView holds what rtl_top.v.tpl needs, the Verilog top.
type rtlView struct {
	Top     string
	Ports   []TopModulePort
	FIFOs   []fifoView
	Modules []moduleView
}

// A TopModulePort is a port of the top, with the attributes that Vivado's block designs read.
type TopModulePort struct{ Name, Attribute, Decl string }

// A fifoView describes a FIFO in Verilog. High is the index of a word's highest bit.
type fifoView struct{ Name, Width, High, Depth, Style string }

// A moduleView describes a process in the Verilog top, with one line per connection.
type moduleView struct {
	Name        string
	Connections []string
}

// An rtlBenchView holds what hlsgen_bench.sv.tpl needs.
type rtlBenchView struct {
	Top              string
	Patience, Frames string
	Axes             []rtlAxisView
	Pins             []string // connections of the top
	Sources          []sourceView
	Sinks            []string // outputs of the top
	Checks           []rtlCheckView
	Count            string // number of checks
}

// An rtlAxisView describes an AXI4-Stream of the Verilog top. Packet is empty if the stream has no TLAST.
type rtlAxisView struct{ Name, High, KeepHigh, Packet string }

// A sourceView describes the module of a bench that sends words to an input. Packet is empty if the input has no TLAST.
type sourceView struct{ Name, Parameters, Packet string }

// An rtlCheckView describes the module of a bench that compares the words on a stream.
type rtlCheckView struct{ Index, Name, Parameters, Data, Last, Passes string }

// rtlFiles adds the Verilog top with its FIFOs, its bench, and the scripts that need the modules of all layers to
// files.
func rtlFiles(files *ProjectFiles, d *dataflow.Design, face IPInterface, b bench, scripts scriptView) error {
	for _, h := range hlslib.RTLFiles() {
		files.add("hls/"+h.Path, h.Text)
	}
	processes := b.instances(face)
	return files.render([]written{
		{"hls/rtl/" + face.Top + ".v", "rtl_top.v.tpl", viewRTL(d, face, processes)},
		{"hls/rtl/hlsgen_bench.sv", "hlsgen_bench.sv.tpl", viewRTLBench(face, b, processes)},
		{"hls/rtl/package.tcl", "package.tcl.tpl", scripts},
		{"hls/rtl/xsim.sh", "xsim.sh.tpl", scripts},
	})
}

// bitRange returns the range of a Verilog vector of width bits: "[7:0] " for 8.
func bitRange(width int) string { return fmt.Sprintf("[%d:0] ", width-1) }

// outer returns the ports of the network's ends that are AXI4-Streams, with their names in the top.
func outer(processes []instance) (names []string, ports []port) {
	for _, i := range processes {
		for k, p := range i.ports {
			if p.axis {
				names, ports = append(names, i.to[k]), append(ports, p)
			}
		}
	}
	return names, ports
}

// TopModulePortsOf returns the ports of a top of circuits: the clock, the reset, the AXI4-Streams, and the slave of its
// registers, if any. An input has TLAST if it needs it, or if packets is set.
func TopModulePortsOf(face IPInterface, d *dataflow.Design, packets bool) []TopModulePort {
	var names []string
	var ports []port
	q, _ := sequencesOf(d, nil)
	for _, p := range face.In {
		names = append(names, p.Name)
		ports = append(ports, port{name: p.Name, width: p.TDATA, axis: true, packet: packets || q.is(p.Stream)})
	}
	for _, p := range face.Out {
		names = append(names, p.Name)
		ports = append(ports, port{name: p.Name, width: p.TDATA, axis: true, writes: true, packet: true})
	}
	for _, w := range WeightPortsOf(d) {
		names = append(names, w.Axis)
		ports = append(ports, port{name: w.Axis, width: w.Port.TDATABits(), axis: true})
	}
	r := RegisterMapOf(d)
	if r == nil {
		return portViews(names, ports)
	}
	if r.Loader != "" {
		names = append(names, r.Loader)
		ports = append(ports, port{name: r.Loader, width: 8 * TableLoadWordBytes, axis: true, packet: true})
	}
	views := portViews(append(names, r.Port), ports)
	views[len(views)-1].Decl += ","
	views = append(views, r.TopModulePorts()...)
	last := &views[len(views)-1]
	last.Decl = strings.TrimSuffix(last.Decl, ",")
	return views
}

// portViews returns the ports of a Verilog top: the clock, the reset, and the given AXI4-Streams by their names in the
// top.
func portViews(names []string, ports []port) (views []TopModulePort) {
	views = []TopModulePort{
		{"ap_clk", fmt.Sprintf("(* X_INTERFACE_INFO = \"xilinx.com:signal:clock:1.0 ap_clk CLK\", "+
			"X_INTERFACE_PARAMETER = \"ASSOCIATED_BUSIF %s, ASSOCIATED_RESET ap_rst_n\" *)", strings.Join(names, ":")),
			"input  wire ap_clk,"},
		{"ap_rst_n", "(* X_INTERFACE_INFO = \"xilinx.com:signal:reset:1.0 ap_rst_n RST\", " +
			"X_INTERFACE_PARAMETER = \"POLARITY ACTIVE_LOW\" *)", "input  wire ap_rst_n,"},
	}
	for k, p := range ports {
		for _, s := range p.signals() {
			direction, width := "output", ""
			if s.input {
				direction = "input "
			}
			if s.width > 1 || s.suffix != "TVALID" && s.suffix != "TREADY" && s.suffix != "TLAST" {
				width = bitRange(s.width)
			}
			views = append(views, TopModulePort{names[k] + "_" + s.suffix,
				fmt.Sprintf("(* X_INTERFACE_INFO = \"xilinx.com:interface:axis:1.0 %s %s\" *)", names[k], s.suffix),
				fmt.Sprintf("%s wire %s%s_%s,", direction, width, names[k], s.suffix)})
		}
	}
	last := &views[len(views)-1]
	last.Decl = strings.TrimSuffix(last.Decl, ",")
	return views
}

// viewRTL returns the data for the template of the Verilog top.
func viewRTL(d *dataflow.Design, face IPInterface, processes []instance) rtlView {
	v := rtlView{Top: face.Top}
	v.Ports = portViews(outer(processes))
	fifos := face.FIFOsByName(d)
	for _, i := range processes { // each stream has one writer
		for k, p := range i.ports {
			if p.axis || !p.writes {
				continue
			}
			f := fifos[i.to[k]]
			v.FIFOs = append(v.FIFOs, fifoView{i.to[k], strconv.Itoa(p.width), strconv.Itoa(p.width - 1),
				strconv.Itoa(f.Depth), storageImpl[f.Memory]})
		}
	}
	for _, i := range processes {
		var lines []string
		for _, c := range i.control() {
			lines = append(lines, fmt.Sprintf(".%s(%[1]s),", c))
		}
		for k, p := range i.ports {
			for _, s := range p.signals() {
				lines = append(lines, fmt.Sprintf(".%s_%s(%s_%[2]s),", p.name, s.suffix, i.to[k]))
			}
		}
		n := len(lines) - 1
		lines[n] = strings.TrimSuffix(lines[n], ",")
		v.Modules = append(v.Modules, moduleView{i.name, lines})
	}
	return v
}

// recorded returns the Verilog parameters by which a module of the bench finds the words of a stream, of width bits.
func (t traffic) recorded(width int) string {
	words := len(t.text) / line(t.port)
	if t.text == nil {
		for _, f := range t.frames {
			words += len(f.Data) / t.port.PerWord
		}
	}
	steps := 0
	if t.steps {
		steps = 1
	}
	return fmt.Sprintf(".WIDTH(%d), .BITS(%d), .WORDS(%d), .PER(%d), .STEPS(%d), .STREAM(\"%s\")", width,
		t.port.Width(), max(1, words), t.port.Words, steps, t.name)
}

// viewRTLBench returns the data for the template of the Verilog top's bench.
func viewRTLBench(face IPInterface, b bench, processes []instance) rtlBenchView {
	v := rtlBenchView{Top: face.Top, Patience: strconv.Itoa(b.patience()), Frames: strconv.Itoa(b.frames)}
	names, ports := outer(processes)
	for k, p := range ports {
		a := rtlAxisView{Name: names[k], High: strconv.Itoa(p.width - 1), KeepHigh: strconv.Itoa(max(1, p.width/8) - 1)}
		if p.packet {
			a.Packet = names[k]
		}
		v.Axes = append(v.Axes, a)
		for _, s := range p.signals() {
			v.Pins = append(v.Pins, fmt.Sprintf(".%s_%s(%[1]s_%[2]s)", names[k], s.suffix))
		}
	}
	check := func(name, data, last, passes, parameters string) {
		v.Checks = append(v.Checks, rtlCheckView{strconv.Itoa(len(v.Checks)), name, parameters, data, last, passes})
	}
	for k, p := range slices.Concat(face.In, face.Out) {
		t := b.streams[p.Stream]
		if k < len(face.In) {
			s := sourceView{p.Name, t.recorded(p.TDATA) + fmt.Sprintf(", .SEED(%d)", k+1), ""}
			if t.steps {
				s.Packet = p.Name
			}
			v.Sources = append(v.Sources, s)
			continue
		}
		v.Sinks = append(v.Sinks, p.Name)
		check(p.Name, p.Name+"_TDATA", p.Name+"_TLAST", fmt.Sprintf("%s_TVALID && %[1]s_TREADY", p.Name),
			t.recorded(p.TDATA)+", .LAST(1)")
	}
	for _, t := range b.streams {
		check(t.name, "dut."+t.name+"_dout", "1'b0", fmt.Sprintf("dut.%s_empty_n && dut.%[1]s_read", t.name),
			t.recorded(t.port.Width()))
	}
	v.Count = strconv.Itoa(len(v.Checks))
	return v
}

// patience returns a number of clocks that no frame can take without moving a word, whatever the pauses are.
func (b bench) patience() int {
	most := 0
	for _, l := range b.layers {
		for _, n := range l.Calls {
			most = max(most, n)
		}
	}
	return 10000 + 16*most
}
