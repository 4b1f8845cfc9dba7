package templates

import (
	"fmt"

	"hlsgen/internal/dataflow"
)

// Registers are those of an accelerator: words of 32 bits behind one AXI4-Lite slave. This is the one place that says
// where they are; hardware, drivers and block designs take it from here.
type Registers struct {
	Port    string           `json:"port"`    // the slave
	Bytes   int              `json:"bytes"`   // of its address space: a power of two
	Windows []RegisterWindow `json:"windows"` // by offset
	// Loader is the AXI4-Stream that fills tables as the window Weights does; empty where there is none. A packet is
	// all of them: the first word begins.
	Loader string `json:"loader,omitempty"`
}

// LoadBytes is the bytes of a word of the Loader, one of the window Weights.
const LoadBytes = 4

// A RegisterWindow is a piece of registers. Its offset is a multiple of its size, rounded up to a power of two.
type RegisterWindow struct {
	Name   string `json:"name"`
	Offset int    `json:"offset"` // bytes
	Words  int    `json:"words"`  // of 32 bits
}

// Counters is the name of the window of counters: a pair of words for the design (frames, clocks), and a pair for each
// stream (stalled, starved), as rtlsim.Counters says them. A word written anywhere in it clears all.
const Counters = "counters"

// Weights is the name of the window of tables that are loaded: a word written to the first register begins, each word
// written to the second one is the next, and the first one reads how many of them no table has taken.
const Weights = "weights"

// RegistersOf are those of a design; nil where it has none.
func RegistersOf(d *dataflow.Design) *Registers {
	r := &Registers{Port: "s_axi_control"}
	if d.Target.Counters {
		r.add(Counters, 2+2*len(d.Model.Graph.Streams))
	}
	if d.Model.Graph.Loads() {
		r.add(Weights, 2)
		if d.Target.Loader {
			r.Loader = "s_axis_weights"
		}
	}
	if len(r.Windows) == 0 {
		return nil
	}
	return r
}

// add puts a window behind the others.
func (r *Registers) add(name string, words int) {
	w := RegisterWindow{Name: name, Words: words}
	size := w.Span()
	w.Offset = (r.Bytes + size - 1) / size * size
	r.Windows = append(r.Windows, w)
	r.Bytes = powerOfTwo(w.Offset + size)
}

// Span is the bytes that a window takes of the address space: a power of two.
func (w RegisterWindow) Span() int { return powerOfTwo(4 * w.Words) }

// powerOfTwo is the least one that is not below n.
func powerOfTwo(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// Address is the bits of the number of a byte.
func (r *Registers) Address() (width int) {
	for 1<<width < r.Bytes {
		width++
	}
	return width
}

// Window is the one of a name; ok is false where there is none.
func (r *Registers) Window(name string) (w RegisterWindow, ok bool) {
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

// Ports are the slave's, of a top.
func (r *Registers) Ports() (views []PortView) {
	for _, s := range []struct {
		name  string
		width int
		input bool
	}{{"AWADDR", r.Address(), true}, {"AWVALID", 0, true}, {"AWREADY", 0, false}, {"WDATA", 32, true},
		{"WSTRB", 4, true}, {"WVALID", 0, true}, {"WREADY", 0, false}, {"BRESP", 2, false}, {"BVALID", 0, false},
		{"BREADY", 0, true}, {"ARADDR", r.Address(), true}, {"ARVALID", 0, true}, {"ARREADY", 0, false},
		{"RDATA", 32, false}, {"RRESP", 2, false}, {"RVALID", 0, false}, {"RREADY", 0, true}} {
		direction, width := "output", ""
		if s.input {
			direction = "input "
		}
		if s.width > 0 {
			width = bitRange(s.width)
		}
		views = append(views, PortView{r.Port + "_" + s.name,
			fmt.Sprintf("(* X_INTERFACE_INFO = \"xilinx.com:interface:aximm:1.0 %s %s\" *)", r.Port, s.name),
			fmt.Sprintf("%s wire %s%s_%s,", direction, width, r.Port, s.name)})
	}
	return views
}
