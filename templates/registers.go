package templates

import (
	"fmt"

	"hlsgen/internal/dataflow"
)

// A RegisterMap describes the registers of an accelerator, words of 32 bits behind one AXI4-Lite slave. It alone
// decides their addresses; hardware, drivers and block designs use these.
type RegisterMap struct {
	Port    string           `json:"port"`    // name of the slave
	Bytes   int              `json:"bytes"`   // size of its address space: a power of two
	Windows []RegisterWindow `json:"windows"` // by offset
	// Loader is the AXI4-Stream that loads tables as the window Weights does, or empty if there is none. A packet
	// contains all tables; its first word starts the loading.
	Loader string `json:"loader,omitempty"`
}

// TableLoadWordBytes is the number of bytes in a word of the Loader, and of the window Weights.
const TableLoadWordBytes = 4

// A RegisterWindow is a range of registers. Its offset is a multiple of its size, rounded up to a power of two.
type RegisterWindow struct {
	Name   string `json:"name"`
	Offset int    `json:"offset"` // bytes
	Words  int    `json:"words"`  // words of 32 bits
}

// CountersWindowName is the name of the window of counters. It has a pair of words for the design (frames, clocks), and
// a pair for each stream (stalled, starved), as rtlsim.AcceleratorCounters defines them. Any write to the window clears
// all counters.
const CountersWindowName = "counters"

// WeightsWindowName is the name of the window that loads tables. A write to its first register starts the loading; each
// write to the second one is the next word. The first register reads the number of words that no table has taken.
const WeightsWindowName = "weights"

// RegisterMapOf returns the registers of a design, or nil if it has none.
func RegisterMapOf(d *dataflow.Design) *RegisterMap {
	r := &RegisterMap{Port: "s_axi_control"}
	if d.Target.Counters {
		r.add(CountersWindowName, 2+2*len(d.Model.Graph.Streams))
	}
	if d.Model.Graph.HasRunTimeLoadedTables() {
		r.add(WeightsWindowName, 2)
		if d.Target.Loader {
			r.Loader = "s_axis_weights"
		}
	}
	if len(r.Windows) == 0 {
		return nil
	}
	return r
}

// add appends a window of that many words behind the others.
func (r *RegisterMap) add(name string, words int) {
	w := RegisterWindow{Name: name, Words: words}
	size := w.AddressSpanBytes()
	w.Offset = (r.Bytes + size - 1) / size * size
	r.Windows = append(r.Windows, w)
	r.Bytes = powerOfTwo(w.Offset + size)
}

// AddressSpanBytes returns the bytes that a window takes in the address space: a power of two.
func (w RegisterWindow) AddressSpanBytes() int { return powerOfTwo(4 * w.Words) }

// powerOfTwo returns the least power of two that is at least n.
func powerOfTwo(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// AddressBits returns the width in bits of a byte address of the registers.
func (r *RegisterMap) AddressBits() (width int) {
	for 1<<width < r.Bytes {
		width++
	}
	return width
}

// FindWindow returns the window with the given name. ok is false if there is none, or if r is nil.
func (r *RegisterMap) FindWindow(name string) (w RegisterWindow, ok bool) {
	if r == nil {
		return w, false
	}
	for _, w := range r.Windows {
		if w.Name == name {
			return w, true
		}
	}
	return w, false
}

// TopModulePorts returns the ports that the registers' AXI4-Lite slave has at a top. Each declaration ends in a comma,
// the last one too.
func (r *RegisterMap) TopModulePorts() (views []TopModulePort) {
	for _, s := range []struct {
		name  string
		width int
		input bool
	}{{"AWADDR", r.AddressBits(), true}, {"AWVALID", 0, true}, {"AWREADY", 0, false}, {"WDATA", 32, true},
		{"WSTRB", 4, true}, {"WVALID", 0, true}, {"WREADY", 0, false}, {"BRESP", 2, false}, {"BVALID", 0, false},
		{"BREADY", 0, true}, {"ARADDR", r.AddressBits(), true}, {"ARVALID", 0, true}, {"ARREADY", 0, false},
		{"RDATA", 32, false}, {"RRESP", 2, false}, {"RVALID", 0, false}, {"RREADY", 0, true}} {
		direction, width := "output", ""
		if s.input {
			direction = "input "
		}
		if s.width > 0 {
			width = bitRange(s.width)
		}
		views = append(views, TopModulePort{r.Port + "_" + s.name,
			fmt.Sprintf("(* X_INTERFACE_INFO = \"xilinx.com:interface:aximm:1.0 %s %s\" *)", r.Port, s.name),
			fmt.Sprintf("%s wire %s%s_%s,", direction, width, r.Port, s.name)})
	}
	return views
}
