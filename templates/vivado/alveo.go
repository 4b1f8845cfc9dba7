package vivado

import (
	"fmt"
	"strings"

	"hlsgen/templates/mover"
)

// A cardView holds what link.cfg.tpl and package_xo.tcl.tpl need: the system, the IP's folder, and the links between
// streams.
type cardView struct {
	*System
	Flow, FlowFolder string
	Links            []link
}

// card returns the system for a card, where v++ links kernels. Their streams have names of the form
// compute_unit.stream.
func (s *System) card(flow IPBackend) cardView {
	v := cardView{System: s, Flow: flow.ip(s.Top), FlowFolder: "../" + string(flow)}
	for _, m := range s.Movers {
		l := m.stream()
		v.Links = append(v.Links, link{strings.Replace(l.Master, "/", ".", 1), strings.Replace(l.Slave, "/", ".", 1)})
	}
	return v
}

// A kernel holds what kernel.xml.tpl needs of one kernel of a card.
type kernel struct {
	Name, VLNV, Protocol string
	Interrupt            bool
	Ports                []port
	Args                 []arg
}

// A port is a port of a kernel, with its width in bits. Range is the size of an addressable port's address range, else
// empty.
type port struct {
	Name, Mode string
	Bits       int
	Kind       string // addressable or stream
	Range      string
}

// An arg is an argument of a kernel: a value in a register, a buffer in memory, or a stream, which no program sees.
type arg struct {
	Name, Qualifier string // 0 for a value, 1 for a buffer, 4 for a stream
	ID              int
	Port            string
	Offset          string // offset of its register
	Bytes           string
	Type            string
}

// kernels returns the kernels of the movers, and that of the accelerator as the last. Attributes and values follow
// UG1393, RTL kernel XML file.
func (s *System) kernels() (list []kernel) {
	accelerator := kernel{Name: s.Top, VLNV: "hlsgen:hls:" + s.Top + ":1.0", Protocol: "ap_ctrl_none"}
	for k, m := range s.Movers {
		list = append(list, m.kernel())
		mode := "read_only"
		if m.Writes {
			mode = "write_only"
		}
		accelerator.Ports = append(accelerator.Ports, port{m.Stream, mode, 8 * m.StreamBytes, "stream", ""})
		accelerator.Args = append(accelerator.Args, arg{m.Stream, "4", k, m.Stream, "0x0", "0x0", "void*"})
	}
	if s.Registers != nil { // programs access them, and start nothing: UG1393, user-managed RTL kernels
		accelerator.Protocol = "user_managed"
		accelerator.Ports = append(accelerator.Ports, port{s.Registers.Port, "slave", 32, "addressable",
			fmt.Sprintf("0x%X", max(0x1000, s.Registers.Bytes))})
	}
	return append(list, accelerator)
}

// kernel returns the mover as a kernel of a card. Programs start it in the same way as kernels of Vitis HLS.
func (m Mover) kernel() kernel {
	mode := "write_only"
	if m.Writes {
		mode = "read_only"
	}
	return kernel{Name: m.KernelName(), VLNV: "hlsgen:kernels:" + m.KernelName() + ":1.0", Protocol: "ap_ctrl_hs",
		Interrupt: true,
		Ports: []port{{"s_axi_control", "slave", 32, "addressable", "0x1000"},
			{"m_axi_gmem", "master", m.DataBits, "addressable", "0xFFFFFFFFFFFFFFFF"},
			{m.AXIStreamName(), mode, 8 * m.StreamBytes, "stream", ""}},
		Args: []arg{{"data", "1", 0, "m_axi_gmem", "0x10", "0x8", "void*"},
			{"frames", "0", 1, "s_axi_control", "0x1c", "0x4", "uint"},
			{"steps", "1", 2, "m_axi_gmem", "0x24", "0x8", "uint*"},
			{m.AXIStreamName(), "4", 3, m.AXIStreamName(), "0x0", "0x0", "void*"}},
	}
}

// A topView holds what mover.v.tpl needs: a module around a mover, with the default values of its parameters.
type topView struct {
	Name, IP string
	Write    bool
	Burst    string // parameters of the memory's bus, for the packager
	Params   []mover.ModuleParameter
}

// top returns the module with the given name around a mover with the parameters of c. The bus' parameters say that all
// bursts have the bus' full width, so that a SmartConnect needs no logic for narrow ones (PG247).
func top(name string, c mover.Config) topView {
	way, outstanding := "READ_ONLY", "NUM_READ_OUTSTANDING"
	if c.Writes {
		way, outstanding = "WRITE_ONLY", "NUM_WRITE_OUTSTANDING"
	}
	burst := fmt.Sprintf("SUPPORTS_NARROW_BURST 0, READ_WRITE_MODE %s, MAX_BURST_LENGTH %d, %s %d", way, c.MaxBeats,
		outstanding, c.Outstanding)
	return topView{name, c.ModuleName(), c.Writes, burst, c.ModuleParameters()}
}

// tops returns the modules of the two IPs around movers, which read or write. Block designs set their parameters. No
// mover of the system has longer bursts, or more of them at a time.
func (s *System) tops() (list []topView) {
	bits, beats := s.bus()
	for _, writes := range []bool{false, true} {
		c := mover.Config{Writes: writes, DataBits: bits, StreamBytes: 4, MaxBeats: beats,
			Outstanding: mover.OutstandingBursts, FrameBytes: 4}
		list = append(list, top(c.ModuleName()+"_ip", c))
	}
	return list
}
