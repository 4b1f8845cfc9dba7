package vivado

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/boards"
	"hlsgen/templates/deploy"
)

// A processor describes a PS as a cell of block designs: its IP, its settings, and its pins for clock, reset,
// registers, interrupts and memory.
type processor struct {
	ip         string
	rule       string // automation rule that configures it
	automation string // arguments of the rule: the board's preset, and external pins
	config     []setting
	clock      string // name of the clock pin
	reset      string
	control    string // bus to the movers' registers, its clock, and its window of addresses
	controlClk string
	window     AddressWindow
	actual     string // the property that has the clock of the logic that results, in MHz
	irq        []irq
	port       func(name string) memoryPort
}

// An irq is an interrupt input of the PS: its pin, the setting that enables it, and the most interrupts that it takes.
// Each eight have consecutive numbers at the interrupt controller, and in Linux, from one of first on.
type irq struct {
	pin   string
	use   setting
	width int
	first []int
}

// A memoryPort is a port of the PS from the logic to memory. It has the port's bus and clock pin, its settings for a
// width in bits, and patterns of its address segments.
type memoryPort struct {
	bus, clock string
	config     func(bits int) []setting
	memory     string // pattern of the address segments of memory
	all        string // pattern of all segments behind the port
}

// A setting is the name of a property of a cell in a block design, with its value.
type setting struct{ Name, Value string }

// processors holds the description of each known PS.
var processors = map[boards.ProcessingSystem]processor{
	// Sources: UG585 (address map, PL clocks, interrupts), PG082, and designs of PYNQ for Pynq-Z1.
	boards.PSZynq7000: {
		ip:         "xilinx.com:ip:processing_system7:*",
		rule:       "xilinx.com:bd_rule:processing_system7",
		automation: `make_external "FIXED_IO, DDR" apply_board_preset "1" Master "Disable" Slave "Disable"`,
		config: []setting{{"PCW_USE_M_AXI_GP0", "1"}, {"PCW_EN_CLK0_PORT", "1"}, {"PCW_EN_RST0_PORT", "1"},
			{"PCW_FCLK0_PERIPHERAL_CLKSRC", "IO PLL"}, {"PCW_FPGA0_PERIPHERAL_FREQMHZ", ""}},
		actual: "CONFIG.PCW_ACT_FPGA0_PERIPHERAL_FREQMHZ",
		clock:  "FCLK_CLK0", reset: "FCLK_RESET0_N", control: "M_AXI_GP0", controlClk: "M_AXI_GP0_ACLK",
		window: AddressWindow{"M_AXI_GP0", 0x4000_0000, 0x4000_0000},
		irq:    []irq{{"IRQ_F2P", setting{"PCW_USE_FABRIC_INTERRUPT", "1"}, 16, []int{61, 84}}},
		port: func(name string) memoryPort {
			hp := name[len("S_AXI_"):]
			return memoryPort{bus: name, clock: name + "_ACLK", memory: name + "/" + hp + "_DDR_LOWOCM",
				all: name + "/*", config: func(bits int) []setting {
					return []setting{{"PCW_USE_" + name, "1"}, {"PCW_" + name + "_DATA_WIDTH", strconv.Itoa(bits)}}
				}}
		},
	},
	// Sources: UG1085 (address map, PL clocks, interrupts), PG201, and designs of PYNQ for ZCU104.
	boards.PSZynqMP: {
		ip:         "xilinx.com:ip:zynq_ultra_ps_e:*",
		rule:       "xilinx.com:bd_rule:zynq_ultra_ps_e",
		automation: `apply_board_preset "1"`,
		config: []setting{{"PSU__USE__M_AXI_GP0", "1"}, {"PSU__USE__M_AXI_GP1", "0"}, {"PSU__USE__M_AXI_GP2", "0"},
			{"PSU__FPGA_PL0_ENABLE", "1"}, {"PSU__USE__FABRIC__RST", "1"},
			{"PSU__CRL_APB__PL0_REF_CTRL__SRCSEL", "IOPLL"}, {"PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ", ""}},
		actual: "CONFIG.PSU__CRL_APB__PL0_REF_CTRL__ACT_FREQMHZ",
		clock:  "pl_clk0", reset: "pl_resetn0", control: "M_AXI_HPM0_FPD", controlClk: "maxihpm0_fpd_aclk",
		window: AddressWindow{"M_AXI_HPM0_FPD", 0xA000_0000, 0x1000_0000},
		irq: []irq{{"pl_ps_irq0", setting{"PSU__USE__IRQ0", "1"}, 8, []int{121}},
			{"pl_ps_irq1", setting{"PSU__USE__IRQ1", "1"}, 8, []int{136}}},
		port: func(name string) memoryPort {
			k := int(name[len("S_AXI_HP")] - '0')
			gp := strconv.Itoa(k + 2) // GP ports 0 and 1 are the coherent ports
			segments := fmt.Sprintf("SAXIGP%s/HP%d_", gp, k)
			return memoryPort{bus: name, clock: fmt.Sprintf("saxihp%d_fpd_aclk", k), memory: segments + "DDR_*",
				all: "SAXIGP" + gp + "/*", config: func(bits int) []setting {
					return []setting{{"PSU__USE__S_AXI_GP" + gp, "1"},
						{"PSU__SAXIGP" + gp + "__DATA_WIDTH", strconv.Itoa(bits)}}
				}}
		},
	},
}

// A blockView holds what block_design.tcl.tpl needs: the system, the PS, and all cells, wires, links and addresses.
type blockView struct {
	*System
	IP, PS, Rule, Automation string
	Asked                    string // the requested clock in MHz
	Actual                   string // the property that has the clock that results, in MHz
	PSConfig                 []setting
	Cells                    []cell
	Wires                    []wire
	Links                    []link
	Memory                   []memory
	Windows                  []windowView
	Concats                  []concatView
}

// A windowView is an AddressWindow with its numbers as text in the notation of Tcl.
type windowView struct{ Name, Base, Bytes string }

// A cell is an IP of a block design besides the PS.
type cell struct {
	Name, IP string
	Config   []setting
}

// A wire connects a driving pin of a block design to other pins.
type wire struct {
	From string
	To   []string
}

// A link connects a master bus of a block design to a slave bus. On a card it connects streams.
type link struct{ Master, Slave string }

// A memory describes the address space behind the PS's port as one mover sees it. Has is the pattern of the address
// segments that the mover needs, and All the pattern of all its segments.
type memory struct{ Mover, Has, All string }

// block returns the system as a block design, with the IP that the flow makes.
func (s *System) block(flow IPBackend) blockView {
	p := processors[s.Board.PS]
	v := blockView{System: s, IP: flow.ip(s.Top), PS: p.ip, Rule: p.rule, Automation: p.automation, Actual: p.actual,
		Asked: strconv.FormatFloat(s.Clock.Asked, 'f', -1, 64)}
	for _, w := range s.RegisterAddressMap() {
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
		v.Cells = append(v.Cells, cell{m.Name, "hlsgen:kernels:" + m.ModuleName() + ":*", m.config()})
		clocks, resets = append(clocks, m.Name+"/ap_clk"), append(resets, m.Name+"/ap_rst_n")
		v.Links = append(v.Links, link{fmt.Sprintf("control/M%02d_AXI", k), m.Name + "/s_axi_control"}, m.stream())
	}
	for _, port := range s.Board.MemoryPorts {
		pc, clk, rst := s.memoryPort(&v, p.port(port), port)
		v.PSConfig, clocks, resets = append(v.PSConfig, pc...), append(clocks, clk...), append(resets, rst...)
	}
	clk, rst := v.watch()
	clocks, resets = append(clocks, clk...), append(resets, rst...)
	v.Wires = []wire{{"ps/" + p.reset, []string{"reset/ext_reset_in"}}, {"ps/" + p.clock, clocks},
		{"reset/peripheral_aresetn", resets}}
	v.interrupts(p)
	return v
}

// config returns the parameters of the mover's module as settings, with numbers in the notation of Tcl.
func (m Mover) config() (list []setting) {
	for _, p := range m.ModuleParameters() {
		list = append(list, setting{p.Name, strings.Replace(p.Value, "64'h", "0x", 1)})
	}
	return list
}

// stream returns the link that joins the mover to the accelerator, from the one that sends to the one that receives.
func (m Mover) stream() link {
	if m.Writes {
		return link{"accelerator/" + m.Stream, m.Name + "/" + m.AXIStreamName()}
	}
	return link{m.Name + "/" + m.AXIStreamName(), "accelerator/" + m.Stream}
}

// connect returns a cell that connects the given numbers of slave ports and master ports: a SmartConnect.
func connect(name string, slaves, masters int) cell {
	return cell{name, "xilinx.com:ip:smartconnect:*", []setting{{"NUM_CLKS", "1"}, {"NUM_SI", strconv.Itoa(slaves)},
		{"NUM_MI", strconv.Itoa(masters)}}}
}

// memoryPort adds to v the memory port p, which the board file calls port, and connects the movers that use it. It
// returns the settings of the PS, and the clock and reset pins to connect. If no mover uses the port, it does nothing.
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

// interrupts connects the movers' interrupts to inputs of the PS, as interruptPins says.
func (v *blockView) interrupts(p processor) {
	pins := v.interruptPins()
	for k, in := range p.irq {
		n := min(len(pins), in.width)
		if n == 0 {
			return
		}
		name := fmt.Sprintf("interrupts_%d", k)
		v.Concats = append(v.Concats, concatOf(n))
		v.Cells = append(v.Cells, cell{name, "hlsgen:" + concatOf(n).Library + ":" + concatName + ":*", nil})
		for i, pin := range pins[:n] {
			v.Wires = append(v.Wires, wire{v.Movers[pin.mover].Name + "/interrupt",
				[]string{fmt.Sprintf("%s/In%d", name, i)}})
		}
		v.Wires = append(v.Wires, wire{name + "/dout", []string{"ps/" + in.pin}})
		v.PSConfig = append(v.PSConfig, in.use)
		pins = pins[n:]
	}
}

// An interruptPin is an input of the PS for an interrupt: the place of its mover, and the number that Linux has for it.
type interruptPin struct{ mover, number int }

// interruptPins returns the inputs of the PS for the movers' interrupts, in the order of its pins. Movers that write
// come first: PYNQ's Linux offers the first interrupt to programs, and a batch ends with its results. Interrupts beyond
// the inputs stay open, and have none.
func (s *System) interruptPins() (pins []interruptPin) {
	var numbers []int
	for _, in := range processors[s.Board.PS].irq {
		for at := range in.width {
			numbers = append(numbers, in.first[at/8]+at%8)
		}
	}
	for _, writes := range []bool{true, false} {
		for i, m := range s.Movers {
			if m.Writes == writes && len(pins) < len(numbers) {
				pins = append(pins, interruptPin{i, numbers[len(pins)]})
			}
		}
	}
	return pins
}

// HostSystem returns what a driver finds around the accelerator, for its host.json, or nil on a card, and if s is nil.
func (s *System) HostSystem() *deploy.HostSystem {
	if s == nil || s.Board.PS == boards.PSNone {
		return nil
	}
	h := &deploy.HostSystem{Board: s.Board.Name, ClockMHz: s.Clock.MHz()}
	for _, m := range s.Movers {
		h.Movers = append(h.Movers, deploy.HostMover{Name: m.Name, Port: m.Stream, Address: m.Base})
	}
	for _, pin := range s.interruptPins() {
		h.Movers[pin.mover].Interrupt = pin.number
	}
	return h
}

// concatName is the name of the IP that joins interrupts. AMD's own IP of this name is to be removed from Vivado.
// PYNQ's parsers follow interrupts through IPs of this name, whoever made them, and read their parameter NUM_PORTS.
const concatName = "xlconcat"

// A concatView holds what concat.v.tpl needs: a module that joins some inputs of one bit. Its IP has a library by their
// number, since IPs of one library and name are the same.
type concatView struct {
	Name, Library string
	Ports         int
	Inputs        []string // the lowest bit first
}

// concatOf returns the module that joins n inputs.
func concatOf(n int) concatView {
	v := concatView{Name: fmt.Sprintf("hlsgen_concat_%d", n), Library: fmt.Sprintf("concat_%d", n), Ports: n}
	for i := range n {
		v.Inputs = append(v.Inputs, fmt.Sprintf("In%d", i))
	}
	return v
}

// watchedWords is the number of clocks that the ILA stores.
const watchedWords = 1024

// watch adds the ILA to a block design, if the system has one, with a slot for each stream. It returns the clock and
// reset pins to connect.
func (v *blockView) watch() (clocks, resets []string) {
	if len(v.ILA) == 0 {
		return nil, nil
	}
	config := []setting{{"C_MON_TYPE", "INTERFACE"}, {"C_NUM_MONITOR_SLOTS", strconv.Itoa(len(v.ILA))},
		{"C_DATA_DEPTH", strconv.Itoa(watchedWords)}}
	for k, name := range v.ILA {
		bytes := v.Movers[slices.IndexFunc(v.Movers, func(m Mover) bool { return m.Stream == name })].StreamBytes
		config = append(config, setting{fmt.Sprintf("C_SLOT_%d_INTF_TYPE", k), "xilinx.com:interface:axis_rtl:1.0"},
			setting{fmt.Sprintf("C_SLOT_%d_AXIS_TDATA_WIDTH", k), strconv.Itoa(8 * bytes)})
		v.Links = append(v.Links, link{"accelerator/" + name, fmt.Sprintf("ila/SLOT_%d_AXIS", k)})
	}
	v.Cells = append(v.Cells, cell{"ila", "xilinx.com:ip:system_ila:*", config})
	return []string{"ila/clk"}, []string{"ila/resetn"}
}

// An appView holds what the templates of an app for a Kria module need: the system, and its registers in the device
// tree.
type appView struct {
	*System
	Nodes []node
	AFI   []setting // registers of the ports between PS and logic: number and value
}

// A node is a device in the overlay of the device tree: a mover, or the registers of the accelerator.
type node struct {
	Name, At, Bytes string // its address without 0x, and the bytes of its registers
	Interrupt       string // number among the shared peripheral interrupts; empty if it has none
}

// privateInterrupts is the number of interrupts at the GIC before the shared peripheral ones. A device tree counts
// these from 0 (UG1085, interrupt tables).
const privateInterrupts = 32

// app returns the app of a block design for a module whose stock Linux loads apps by xmutil.
func (v blockView) app() appView {
	a := appView{System: v.System}
	interrupts := map[string]string{}
	for _, pin := range v.interruptPins() {
		interrupts[v.Movers[pin.mover].Name] = strconv.Itoa(pin.number - privateInterrupts)
	}
	for _, w := range v.RegisterAddressMap() {
		a.Nodes = append(a.Nodes, node{w.Name, fmt.Sprintf("%x", w.Base), fmt.Sprintf("0x%x", w.Bytes),
			interrupts[w.Name]})
	}
	// Two registers for each port into the PS, reads and writes: 0 for 128 bits, 1 for 64, 2 for 32. The ports
	// S_AXI_HP0_FPD to HP3_FPD are the third to the sixth (UG1085, PS-PL AXI interfaces; AMD's apps for Kria).
	width := map[int]string{128: "0", 64: "1", 32: "2"}[v.Board.HostPortBits]
	for port := range 7 {
		value := "0"
		if port >= 2 && port < 6 {
			value = width
		}
		for way := range 2 {
			a.AFI = append(a.AFI, setting{strconv.Itoa(2*port + way), value})
		}
	}
	// The ports out of the PS have 128 bits, as after a reset.
	a.AFI = append(a.AFI, setting{"14", "0xa00"}, setting{"15", "0x0"})
	return a
}
