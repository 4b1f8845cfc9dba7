package vivado

import (
	"fmt"
	"strings"
)

// A cardView is what link.cfg.tpl and package_xo.tcl.tpl show.
type cardView struct {
	*System
	Flow, FlowFolder string
	Links            []link
}

// card is the system as kernels, whose streams v++ joins as compute_unit.stream.
func (s *System) card(flow Flow) cardView {
	v := cardView{System: s, Flow: flow.ip(s.Top), FlowFolder: "../" + string(flow)}
	for _, m := range s.Movers {
		l := m.stream()
		v.Links = append(v.Links, link{strings.Replace(l.Master, "/", ".", 1), strings.Replace(l.Slave, "/", ".", 1)})
	}
	return v
}

// A kernel is what kernel.xml.tpl shows.
type kernel struct {
	Name, VLNV, Protocol string
	Interrupt            bool
	Ports                []port
	Args                 []arg
}

// A port is one of a kernel: mode, width in bits, kind; an addressable one has a range.
type port struct {
	Name, Mode string
	Bits       int
	Kind       string // addressable or stream
	Range      string
}

// An arg is what a program gives a kernel: a value in a register, a buffer, or a stream that it never sees.
type arg struct {
	Name, Qualifier string // 0 a value, 1 a buffer, 4 a stream
	ID              int
	Port            string
	Offset          string // of its register
	Bytes           string
	Type            string
}

// kernels are those of the movers and of the accelerator. Attributes and values are those of UG1393, RTL kernel XML
// file.
func (s *System) kernels() (list []kernel) {
	accelerator := kernel{Name: s.Top, VLNV: "hlsgen:hls:" + s.Top + ":1.0", Protocol: "ap_ctrl_none"}
	for k, m := range s.Movers {
		list = append(list, m.kernel())
		mode := "read_only"
		if m.Write {
			mode = "write_only"
		}
		accelerator.Ports = append(accelerator.Ports, port{m.Stream, mode, 8 * m.StreamBytes, "stream", ""})
		accelerator.Args = append(accelerator.Args, arg{m.Stream, "4", k, m.Stream, "0x0", "0x0", "void*"})
	}
	if s.Registers != nil { // programs read them, and nothing is to be started: UG1393, user-managed RTL kernels
		accelerator.Protocol = "user_managed"
		accelerator.Ports = append(accelerator.Ports, port{s.Registers.Port, "slave", 32, "addressable",
			fmt.Sprintf("0x%X", max(0x1000, s.Registers.Bytes))})
	}
	return append(list, accelerator)
}

// kernel is the mover's: it starts as kernels of Vitis HLS do.
func (m Mover) kernel() kernel {
	mode := "write_only"
	if m.Write {
		mode = "read_only"
	}
	return kernel{Name: m.KernelName(), VLNV: "hlsgen:kernels:" + m.KernelName() + ":1.0", Protocol: "ap_ctrl_hs",
		Interrupt: true,
		Ports: []port{{"s_axi_control", "slave", 32, "addressable", "0x1000"},
			{"m_axi_gmem", "master", m.DataBits, "addressable", "0xFFFFFFFFFFFFFFFF"},
			{m.Axis(), mode, 8 * m.StreamBytes, "stream", ""}},
		Args: []arg{{"data", "1", 0, "m_axi_gmem", "0x10", "0x8", "void*"},
			{"frames", "0", 1, "s_axi_control", "0x1c", "0x4", "uint"},
			{"steps", "1", 2, "m_axi_gmem", "0x24", "0x8", "uint*"},
			{m.Axis(), "4", 3, m.Axis(), "0x0", "0x0", "void*"}},
	}
}

// A topView is what mover.v.tpl shows: a module around a mover, with what its parameters are where nobody says.
type topView struct {
	Name, IP string
	Write    bool
	Params   []setting
}

// top is the module of a kernel: nobody says its parameters.
func (m Mover) top() topView {
	v := topView{m.KernelName(), m.IP(), m.Write, m.config()}
	v.Params[len(v.Params)-1].Value = "64'h" + m.Hash
	return v
}

// tops are the modules of the movers' IPs, whose parameters are said in block designs.
func tops() (list []topView) {
	for _, m := range []Mover{{}, {Write: true}} {
		m.DataBits, m.StreamBytes, m.MaxBeats, m.Outstanding, m.FrameBytes, m.Hash = 64, 4, 16, 4, 4, "0"
		v := m.top()
		v.Name = m.IP() + "_ip"
		list = append(list, v)
	}
	return list
}
