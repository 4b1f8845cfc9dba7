package templates

import (
	"fmt"
	"slices"
	"strings"
)

// A port is an argument of a process: one end of a FIFO, or one of the network's AXI4-Streams. HDL ports are named
// after it. Its name must not be `in` or `out`, which are keywords of VHDL, because Vitis HLS would rename them to
// in_r and out_r.
type port struct {
	name   string
	width  int  // bits of a word
	writes bool // the process writes words here
	axis   bool // an AXI4-Stream
	packet bool // the stream has TLAST
}

// mode returns the name that Vitis HLS has for the port's interface.
func (p port) mode() string {
	if p.axis {
		return "axis"
	}
	return "ap_fifo"
}

// A signal is a port of a Verilog module.
type signal struct {
	suffix string // follows the argument's name
	width  int
	input  bool // an input of the module
}

// signals returns the ports of the Verilog module that Vitis HLS makes from the argument.
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

// control returns the ports of a process's Verilog module that belong to no argument. The reset is active low if the
// module has an AXI4-Stream (UG1399), else active high.
func (i instance) control() []string {
	for _, p := range i.ports {
		if p.axis {
			return []string{"ap_clk", "ap_rst_n"}
		}
	}
	return []string{"ap_clk", "ap_rst"}
}

// decl returns the C++ declaration of the port as a parameter.
func (p port) decl() string {
	if p.packet {
		return cAXIOut(p.width) + "& " + p.name
	}
	return cStream(p.width) + "& " + p.name
}

// An instance is a process of the network with the streams and AXI4-Streams to which its ports are connected.
type instance struct {
	name  string
	ports []port
	to    []string
}

// call returns the statement with which the top function calls the process.
func (i instance) call() string { return fmt.Sprintf("%s(%s);", i.name, strings.Join(i.to, ", ")) }

// decls returns the C++ declarations of ports as parameters, and the arguments for the kernel.
func decls(ports []port) (decls, names []string) {
	for _, p := range ports {
		decls, names = append(decls, p.decl()), append(names, p.name)
	}
	return decls, names
}

// ports returns the arguments of the layer's function: the ends of sequences, the inputs, the outputs.
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

// instances returns the processes of a network, with its ends, in topological order.
func (b bench) instances(face IPInterface) (list []instance) {
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
