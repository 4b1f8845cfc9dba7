package vivado_test

import (
	"encoding/xml"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A handoff is a .hwh file, by which PYNQ knows what is in a bitstream. It has the elements and attributes that Vivado
// 2022.1 writes and that PYNQ reads.
type handoff struct {
	XMLName xml.Name   `xml:"EDKSYSTEM"`
	Version string     `xml:"EDWVERSION,attr"`
	Vivado  string     `xml:"VIVADOVERSION,attr"`
	Info    handInfo   `xml:"SYSTEMINFO"`
	Ports   *struct{}  `xml:"EXTERNALPORTS"`
	Buses   *struct{}  `xml:"EXTERNALINTERFACES"`
	Modules []handCell `xml:"MODULES>MODULE"`
}

type handInfo struct {
	Arch   string `xml:"ARCH,attr"`
	Device string `xml:"DEVICE,attr"`
	Name   string `xml:"NAME,attr"`
}

type handCell struct {
	Instance   string      `xml:"INSTANCE,attr"`
	FullName   string      `xml:"FULLNAME,attr"`
	VLNV       string      `xml:"VLNV,attr"`
	Version    string      `xml:"HWVERSION,attr"`
	Type       string      `xml:"MODTYPE,attr"`
	Class      string      `xml:"MODCLASS,attr"`
	IP         string      `xml:"IPTYPE,attr"`
	Enabled    string      `xml:"IS_ENABLE,attr"`
	Parameters []handParam `xml:"PARAMETERS>PARAMETER"`
	Ports      []handPort  `xml:"PORTS>PORT"`
	Buses      []handBus   `xml:"BUSINTERFACES>BUSINTERFACE"`
	Memory     []handRange `xml:"MEMORYMAP>MEMRANGE"`
}

type handParam struct {
	Name  string `xml:"NAME,attr"`
	Value string `xml:"VALUE,attr"`
}

type handPort struct {
	Dir         string    `xml:"DIR,attr"`
	Left        string    `xml:"LEFT,attr,omitempty"`
	Name        string    `xml:"NAME,attr"`
	Right       string    `xml:"RIGHT,attr,omitempty"`
	Is          string    `xml:"SIGIS,attr"`
	Signal      string    `xml:"SIGNAME,attr,omitempty"`
	Connections []handEnd `xml:"CONNECTIONS>CONNECTION"`
}

type handEnd struct {
	Instance string `xml:"INSTANCE,attr"`
	Port     string `xml:"PORT,attr"`
}

type handBus struct {
	Bus  string `xml:"BUSNAME,attr,omitempty"`
	Name string `xml:"NAME,attr"`
	Type string `xml:"TYPE,attr"`
	VLNV string `xml:"VLNV,attr"`
}

type handRange struct {
	Block    string `xml:"ADDRESSBLOCK,attr"`
	BaseName string `xml:"BASENAME,attr"`
	Base     string `xml:"BASEVALUE,attr"`
	HighName string `xml:"HIGHNAME,attr"`
	High     string `xml:"HIGHVALUE,attr"`
	Instance string `xml:"INSTANCE,attr"`
	Data     string `xml:"IS_DATA,attr"`
	Code     string `xml:"IS_INSTRUCTION,attr"`
	Master   string `xml:"MASTERBUSINTERFACE,attr"`
	Type     string `xml:"MEMTYPE,attr"`
	Slave    string `xml:"SLAVEBUSINTERFACE,attr"`
}

// hwh returns the block design as a .hwh file. dividers are those of the clock of the logic.
func (g *graph) hwh(name string, dividers [2]int) ([]byte, error) {
	ps, zynq := g.Cells["ps"], g.Cells["ps"].kind() == "processing_system7"
	h := handoff{Version: "1.2", Vivado: "2022.1", Info: handInfo{"zynquplus", "xczu", name}, Ports: &struct{}{},
		Buses: &struct{}{}}
	if zynq {
		h.Info = handInfo{"zynq", "xc7z020", name}
	}
	for _, cell := range names(g.Cells) {
		c := g.Cells[cell]
		m := handCell{Instance: cell, FullName: "/" + cell, VLNV: c.VLNV, Type: c.kind(), Class: "PERIPHERAL",
			Version: c.VLNV[strings.LastIndex(c.VLNV, ":")+1:], IP: "PERIPHERAL", Enabled: "1"}
		if cell == "ps" {
			m.Class, m.IP = "PROCESSOR", "PROCESSOR"
			c.Config = clocksOf(c.Config, zynq, dividers)
		}
		for _, key := range names(c.Config) {
			m.Parameters = append(m.Parameters, handParam{key, c.Config[key]})
		}
		for _, pin := range names(c.Pins) {
			m.Ports = append(m.Ports, g.handPort(cell, pin))
		}
		for _, b := range names(c.Buses) {
			m.Buses = append(m.Buses, g.handBus(cell, b))
		}
		for _, w := range g.Maps {
			if path.Dir(w.Space) == cell {
				m.Memory = append(m.Memory, g.handRange(cell, w))
			}
		}
		h.Modules = append(h.Modules, m)
	}
	if ps.VLNV == "" {
		return nil, fmt.Errorf("no processor in %v", names(g.Cells))
	}
	text, err := xml.MarshalIndent(h, "", "  ")
	return append([]byte(xml.Header), text...), err
}

// clocksOf returns the settings of a PS with those of its four clocks, which Vivado adds.
func clocksOf(config map[string]string, zynq bool, dividers [2]int) map[string]string {
	divisor, enable, source, pll := "PSU__CRL_APB__PL%d_REF_CTRL__DIVISOR%d", "PSU__FPGA_PL%d_ENABLE",
		"PSU__CRL_APB__PL%d_REF_CTRL__SRCSEL", "IOPLL"
	if zynq {
		divisor, enable, source, pll = "PCW_FCLK%d_PERIPHERAL_DIVISOR%d", "PCW_FPGA_FCLK%d_ENABLE",
			"PCW_FCLK%d_PERIPHERAL_CLKSRC", "IO PLL"
	}
	more := maps.Clone(config)
	for clock := range 4 {
		on := "0"
		if clock == 0 {
			on = "1"
		}
		more[fmt.Sprintf(enable, clock)], more[fmt.Sprintf(source, clock)] = on, pll
		for k, of := range dividers {
			if clock > 0 {
				of = 1
			}
			more[fmt.Sprintf(divisor, clock, k)] = strconv.Itoa(of)
		}
	}
	return more
}

// handPort returns a pin of a cell with what it is connected to. The net has the name of the pin that drives it.
func (g *graph) handPort(cell, name string) handPort {
	at := cell + "/" + name
	pin := g.pin(at)
	is := map[string]string{"clock": "clk", "resetn": "rst", "reset": "rst", "interrupt": "INTERRUPT"}[pin.Kind]
	if is == "" {
		is = "undef"
	}
	p := handPort{Dir: map[string]string{"in": "I", "out": "O"}[pin.Dir], Name: name, Is: is}
	if bits := g.bitsOf(at); bits > 1 {
		p.Left, p.Right = strconv.Itoa(bits-1), "0"
	}
	net := g.net(at)
	if net == nil {
		return p
	}
	p.Signal = strings.ReplaceAll(g.driver(at), "/", "_")
	for _, end := range net {
		if end != at && (pin.Dir == "out" || g.pin(end).Dir == "out") {
			p.Connections = append(p.Connections, handEnd{path.Dir(end), path.Base(end)})
		}
	}
	return p
}

// bitsOf returns the width of a pin, which is that of its driver.
func (g *graph) bitsOf(at string) int {
	if from := g.driver(at); from != "" {
		return g.pin(from).Most
	}
	return max(1, g.pin(at).Least)
}

// handBus returns a bus of a cell. Its link has the name of the master.
func (g *graph) handBus(cell, name string) handBus {
	at, b := cell+"/"+name, g.Cells[cell].Buses[name]
	from := at
	if b.Mode == "slave" {
		from = g.peer(at)
	}
	kind := map[string]string{"axis": "xilinx.com:interface:axis:1.0"}[b.Kind]
	if kind == "" {
		kind = "xilinx.com:interface:aximm:1.0"
	}
	return handBus{strings.ReplaceAll(from, "/", "_"), name, strings.ToUpper(b.Mode), kind}
}

// handRange returns what a cell sees at an address.
func (g *graph) handRange(cell string, w mapped) handRange {
	buses := g.Cells[cell].Buses
	master := slices.IndexFunc(names(buses), func(b string) bool {
		return buses[b].Mode == "master" && buses[b].Kind == "aximm"
	})
	kind := "REGISTER"
	if cell != "ps" {
		kind = "MEMORY"
	}
	return handRange{Block: path.Base(w.Segment), BaseName: "C_BASEADDR", Base: fmt.Sprintf("0x%08X", w.Base),
		HighName: "C_HIGHADDR", High: fmt.Sprintf("0x%08X", w.Base+w.Bytes-1), Instance: path.Dir(w.Bus), Data: "TRUE",
		Code: "FALSE", Master: names(buses)[master], Type: kind, Slave: path.Base(w.Bus)}
}
