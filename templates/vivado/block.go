package vivado

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/boards"
)

// A processor is a PS as a cell of block designs.
type processor struct {
	ip         string
	rule       string // that sets it up
	automation string // what that is told: the board's preset, and pins to the outside
	config     []setting
	clock      string // pins
	reset      string
	control    string // the bus to the movers' registers, its clock, and the window that is behind it
	controlClk string
	window     Window
	irq        []irq
	port       func(name string) memoryPort
}

// An irq is an input for interrupts of the PS: its pin, the setting that switches it on, its width at most.
type irq struct {
	pin   string
	use   setting
	width int
}

// A memoryPort is a port of the PS to its memory.
type memoryPort struct {
	bus, clock string
	config     func(bits int) []setting
	memory     string // pattern of the address segments that are memory
	all        string // of all segments behind it
}

// A setting is a property of a cell.
type setting struct{ Name, Value string }

var processors = map[boards.PS]processor{
	// UG585 (address map, PL clocks), PG082, and designs of PYNQ for Pynq-Z1.
	boards.Zynq7000: {
		ip:         "xilinx.com:ip:processing_system7:*",
		rule:       "xilinx.com:bd_rule:processing_system7",
		automation: `make_external "FIXED_IO, DDR" apply_board_preset "1" Master "Disable" Slave "Disable"`,
		config: []setting{{"PCW_USE_M_AXI_GP0", "1"}, {"PCW_EN_CLK0_PORT", "1"}, {"PCW_EN_RST0_PORT", "1"},
			{"PCW_FCLK0_PERIPHERAL_CLKSRC", "IO PLL"}, {"PCW_FPGA0_PERIPHERAL_FREQMHZ", ""}},
		clock: "FCLK_CLK0", reset: "FCLK_RESET0_N", control: "M_AXI_GP0", controlClk: "M_AXI_GP0_ACLK",
		window: Window{"M_AXI_GP0", 0x4000_0000, 0x4000_0000},
		irq:    []irq{{"IRQ_F2P", setting{"PCW_USE_FABRIC_INTERRUPT", "1"}, 16}},
		port: func(name string) memoryPort {
			hp := name[len("S_AXI_"):]
			return memoryPort{bus: name, clock: name + "_ACLK", memory: name + "/" + hp + "_DDR_LOWOCM",
				all: name + "/*", config: func(bits int) []setting {
					return []setting{{"PCW_USE_" + name, "1"}, {"PCW_" + name + "_DATA_WIDTH", strconv.Itoa(bits)}}
				}}
		},
	},
	// UG1085 (address map, PL clocks), PG201, and designs of PYNQ for ZCU104.
	boards.ZynqMP: {
		ip:         "xilinx.com:ip:zynq_ultra_ps_e:*",
		rule:       "xilinx.com:bd_rule:zynq_ultra_ps_e",
		automation: `apply_board_preset "1"`,
		config: []setting{{"PSU__USE__M_AXI_GP0", "1"}, {"PSU__USE__M_AXI_GP1", "0"}, {"PSU__USE__M_AXI_GP2", "0"},
			{"PSU__FPGA_PL0_ENABLE", "1"}, {"PSU__USE__FABRIC__RST", "1"},
			{"PSU__CRL_APB__PL0_REF_CTRL__SRCSEL", "IOPLL"}, {"PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ", ""}},
		clock: "pl_clk0", reset: "pl_resetn0", control: "M_AXI_HPM0_FPD", controlClk: "maxihpm0_fpd_aclk",
		window: Window{"M_AXI_HPM0_FPD", 0xA000_0000, 0x1000_0000},
		irq: []irq{{"pl_ps_irq0", setting{"PSU__USE__IRQ0", "1"}, 8},
			{"pl_ps_irq1", setting{"PSU__USE__IRQ1", "1"}, 8}},
		port: func(name string) memoryPort {
			k := int(name[len("S_AXI_HP")] - '0')
			gp := strconv.Itoa(k + 2) // ports 0 and 1 are the coherent ones
			segments := fmt.Sprintf("SAXIGP%s/HP%d_", gp, k)
			return memoryPort{bus: name, clock: fmt.Sprintf("saxihp%d_fpd_aclk", k), memory: segments + "DDR_*",
				all: "SAXIGP" + gp + "/*", config: func(bits int) []setting {
					return []setting{{"PSU__USE__S_AXI_GP" + gp, "1"},
						{"PSU__SAXIGP" + gp + "__DATA_WIDTH", strconv.Itoa(bits)}}
				}}
		},
	},
}

// A blockView is what block_design.tcl.tpl shows.
type blockView struct {
	*System
	IP, PS, Rule, Automation string
	Asked                    string // the clock
	PSConfig                 []setting
	Cells                    []cell
	Wires                    []wire
	Links                    []link
	Memory                   []memory
	Windows                  []windowView
}

// A windowView is a Window in Tcl.
type windowView struct{ Name, Base, Bytes string }

// A cell is an IP of a block design beside the PS.
type cell struct {
	Name, IP string
	Config   []setting
}

// A wire joins pins to the one that drives them.
type wire struct {
	From string
	To   []string
}

// A link joins two buses.
type link struct{ Master, Slave string }

// A memory is what a mover sees of the PS's address space: patterns of segments that it has, and of all that there are.
type memory struct{ Mover, Has, All string }

// block is the system as a block design.
func (s *System) block(flow Flow) blockView {
	p := processors[s.Board.PS]
	v := blockView{System: s, IP: flow.ip(s.Top), PS: p.ip, Rule: p.rule, Automation: p.automation,
		Asked: strconv.FormatFloat(s.Clock.Asked, 'f', -1, 64)}
	for _, w := range s.Map() {
		v.Windows = append(v.Windows, windowView{w.Name, fmt.Sprintf("0x%08X", w.Base), fmt.Sprintf("0x%X", w.Bytes)})
	}
	for _, c := range p.config {
		if c.Value == "" {
			c.Value = s.Clock.String()
		}
		v.PSConfig = append(v.PSConfig, c)
	}
	v.Cells = []cell{{"reset", "xilinx.com:ip:proc_sys_reset:*", nil},
		{"accelerator", "hlsgen:hls:" + s.Top + ":*", nil}}
	slaves := len(s.Movers)
	if s.Registers != nil {
		slaves++
		v.Links = append(v.Links, link{fmt.Sprintf("control/M%02d_AXI", len(s.Movers)),
			"accelerator/" + s.Registers.Port})
	}
	v.Cells = append(v.Cells, connect("control", 1, slaves))
	clocks := []string{"reset/slowest_sync_clk", "ps/" + p.controlClk, "control/aclk", "accelerator/ap_clk"}
	resets := []string{"control/aresetn", "accelerator/ap_rst_n"}
	v.Links = append(v.Links, link{"ps/" + p.control, "control/S00_AXI"})
	for k, m := range s.Movers {
		v.Cells = append(v.Cells, cell{m.Name, "hlsgen:kernels:" + m.Module() + ":*", m.config()})
		clocks, resets = append(clocks, m.Name+"/ap_clk"), append(resets, m.Name+"/ap_rst_n")
		v.Links = append(v.Links, link{fmt.Sprintf("control/M%02d_AXI", k), m.Name + "/s_axi_control"}, m.stream())
	}
	for _, port := range s.Board.MemoryPorts {
		pc, clk, rst := s.memoryPort(&v, p.port(port), port)
		v.PSConfig, clocks, resets = append(v.PSConfig, pc...), append(clocks, clk...), append(resets, rst...)
	}
	v.Wires = []wire{{"ps/" + p.reset, []string{"reset/ext_reset_in"}}, {"ps/" + p.clock, clocks},
		{"reset/peripheral_aresetn", resets}}
	v.interrupts(p)
	return v
}

// config is the mover's parameters as Tcl writes them.
func (m Mover) config() (list []setting) {
	for _, p := range m.Parameters() {
		list = append(list, setting{p.Name, strings.Replace(p.Value, "64'h", "0x", 1)})
	}
	return list
}

// stream joins the mover to the accelerator.
func (m Mover) stream() link {
	if m.Writes {
		return link{"accelerator/" + m.Stream, m.Name + "/" + m.Axis()}
	}
	return link{m.Name + "/" + m.Axis(), "accelerator/" + m.Stream}
}

// connect is a SmartConnect.
func connect(name string, slaves, masters int) cell {
	return cell{name, "xilinx.com:ip:smartconnect:*", []setting{{"NUM_CLKS", "1"}, {"NUM_SI", strconv.Itoa(slaves)},
		{"NUM_MI", strconv.Itoa(masters)}}}
}

// memoryPort adds a port of the PS and what joins movers to it, where there is one that uses it.
func (s *System) memoryPort(v *blockView, p memoryPort, port string) (config []setting, clocks, resets []string) {
	movers := slices.DeleteFunc(slices.Clone(s.Movers), func(m Mover) bool { return m.Port != port })
	if len(movers) == 0 {
		return nil, nil, nil
	}
	name := "memory_" + p.bus
	v.Cells = append(v.Cells, connect(name, len(movers), 1))
	for k, m := range movers {
		v.Links = append(v.Links, link{m.Name + "/m_axi_gmem", fmt.Sprintf("%s/S%02d_AXI", name, k)})
		v.Memory = append(v.Memory, memory{m.Name, p.memory, p.all})
	}
	v.Links = append(v.Links, link{name + "/M00_AXI", "ps/" + p.bus})
	return p.config(s.Board.HostPortBits), []string{name + "/aclk", "ps/" + p.clock}, []string{name + "/aresetn"}
}

// interrupts joins the movers' interrupts to the PS's inputs. The first of those that write has the first input: it is
// the one that the Linux of PYNQ shows to programs, and a batch ends with results.
func (v *blockView) interrupts(p processor) {
	movers := slices.Clone(v.Movers)
	slices.SortStableFunc(movers, func(a, b Mover) int {
		if a.Writes == b.Writes {
			return 0
		}
		if a.Writes {
			return -1
		}
		return 1
	})
	for k, in := range p.irq {
		n := min(len(movers), in.width)
		if n == 0 {
			return
		}
		name := fmt.Sprintf("interrupts_%d", k)
		v.Cells = append(v.Cells, cell{name, "xilinx.com:ip:xlconcat:*", []setting{{"NUM_PORTS", strconv.Itoa(n)}}})
		for i, m := range movers[:n] {
			v.Wires = append(v.Wires, wire{m.Name + "/interrupt", []string{fmt.Sprintf("%s/In%d", name, i)}})
		}
		v.Wires = append(v.Wires, wire{name + "/dout", []string{"ps/" + in.pin}})
		v.PSConfig = append(v.PSConfig, in.use)
		movers = movers[n:]
	}
}
