package templates

import (
	"fmt"
	"slices"
	"strings"
)

// A port is an argument of a process: one end of a FIFO, or one of the network's AXI4-Streams. HDL ports are named
// after it, so no tool may have to rename it: `in` and `out` are words of VHDL, and Vitis HLS makes in_r and out_r
// of them.
type port struct {
	name   string
	width  int  // bits of a word
	writes bool // words leave the process here
	axis   bool // an AXI4-Stream
	packet bool // which has TLAST
}

// mode is the port's interface, as Vitis HLS calls it.
func (p port) mode() string {
	if p.axis {
		return "axis"
	}
	return "ap_fifo"
}

// A signal is a port of a module.
type signal struct {
	suffix string // behind the name of the argument
	width  int
	input  bool // of the module
}

// signals are the ports that Vitis HLS makes of the argument.
func (p port) signals() []signal {
	switch {
	case p.axis:
		list := []signal{{"TDATA", p.width, !p.writes}, {"TVALID", 1, !p.writes}, {"TREADY", 1, p.writes}}
		if p.packet {
			list = append(list, signal{"TKEEP", p.width / 8, !p.writes}, signal{"TSTRB", p.width / 8, !p.writes},
				signal{"TLAST", 1, !p.writes})
		}
		return list
	case p.writes:
		return []signal{{"din", p.width, false}, {"full_n", 1, true}, {"write", 1, false}}
	}
	return []signal{{"dout", p.width, true}, {"empty_n", 1, true}, {"read", 1, false}}
}

// control are the ports that a module has beside those of its arguments: the reset is active low where there is an
// AXI4-Stream (UG1399), else high.
func (i instance) control() []string {
	for _, p := range i.ports {
		if p.axis {
			return []string{"ap_clk", "ap_rst_n"}
		}
	}
	return []string{"ap_clk", "ap_rst"}
}

// decl is the parameter in C++.
func (p port) decl() string {
	if p.packet {
		return cAXIOut(p.width) + "& " + p.name
	}
	return cStream(p.width) + "& " + p.name
}

// An instance is a process with what its ports are joined to: streams inside, and AXI4-Streams.
type instance struct {
	name  string
	ports []port
	to    []string
}

// call is how the top function calls it.
func (i instance) call() string { return fmt.Sprintf("%s(%s);", i.name, strings.Join(i.to, ", ")) }

// decls are the parameters of a process in C++, and names those that a kernel is called with.
func decls(ports []port) (decls, names []string) {
	for _, p := range ports {
		decls, names = append(decls, p.decl()), append(names, p.name)
	}
	return decls, names
}

// ports are the arguments of a layer: where sequences end, what it reads, what it writes.
func (l Layer) ports() (list []port) {
	if l.Instance.Ends {
		list = append(list, port{name: "ends", width: 1})
	}
	for k, p := range l.In {
		list = append(list, port{name: fmt.Sprintf("in%d", k), width: p.Width()})
	}
	for k, p := range l.Out {
		list = append(list, port{name: fmt.Sprintf("out%d", k), width: p.Width(), writes: true})
	}
	return list
}

// instances are the processes of a network in topological order.
func (b bench) instances(face Interface) (list []instance) {
	for _, e := range b.ends[:len(face.In)] {
		list = append(list, e.instance)
	}
	for _, l := range b.layers {
		i := instance{name: l.Name, ports: l.ports()}
		if l.Instance.Ends {
			i.to = append(i.to, endsOf(l.Name))
		}
		for _, s := range slices.Concat(l.in, l.out) {
			i.to = append(i.to, cStreamName(s))
		}
		list = append(list, i)
	}
	for _, e := range b.ends[len(face.In):] {
		list = append(list, e.instance)
	}
	return list
}
