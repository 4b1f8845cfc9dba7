package rtl

import (
	"embed"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// registerFiles holds the modules of the registers.
//
//go:embed registers/*.sv
var registerFiles embed.FS

// A registersView holds what top.sv.tpl needs of registers: the AXI4-Lite slave, and the windows behind it.
type registersView struct {
	Port, Address, Latency string // Address is the width of a byte address
	High                   string // the highest bit of a word address
	Windows                []windowView
	Counters               *countersView
	Loader                 string // the AXI4-Stream that loads tables, or empty
}

// A windowView is a window of registers behind the slave. Here is the condition on the word address that selects it, or
// empty for the only window.
type windowView struct{ Name, Here string }

// A countersView describes pairs of counters. The first pair is for the design, the others are for the streams.
type countersView struct {
	Pairs, High string // High is the highest bit of a word address in the window
	Begins      string // condition that a word of an input is visible
	Frames      string // condition that the last word of a frame leaves the first output
	Clocks      string // the same for any output
	Streams     []counterView
	Last        string // last stream in the chain of counters
}

// A counterView is the pair of counters of a stream. From is the pair before it in the chain. Stalled and Starved are
// the conditions for waiting at the host's end.
type counterView struct{ Name, Pair, Words, From, Stalled, Starved string }

// registers returns the data about the network's registers for the top, and the files of their modules. Both are nil if
// there are no registers.
func (n *Network) registers() (*registersView, templates.ProjectFiles, error) {
	r := templates.RegisterMapOf(n.design)
	if r == nil {
		return nil, nil, nil
	}
	v := &registersView{Port: r.Port, Address: strconv.Itoa(r.AddressBits()), Latency: "1",
		High: strconv.Itoa(r.AddressBits() - 3), Loader: r.Loader}
	for _, w := range r.Windows {
		view := windowView{Name: w.Name}
		if w.AddressSpanBytes() < r.Bytes {
			low, high := bits.Len(uint(w.AddressSpanBytes()-1))-2, r.AddressBits()-3
			view.Here = fmt.Sprintf("register_number[%d:%d] == %d'd%d", high, low, high-low+1,
				w.Offset/w.AddressSpanBytes())
		}
		v.Windows = append(v.Windows, view)
	}
	if n.design.Target.Counters {
		v.Counters = n.counters()
		v.Latency = v.Counters.Pairs
	}
	var files templates.ProjectFiles
	names, err := registerFiles.ReadDir("registers")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range names {
		text, err := registerFiles.ReadFile("registers/" + e.Name())
		if err != nil {
			return nil, nil, err
		}
		files = append(files, templates.GeneratedFile{Path: "rtl/shared/" + e.Name(), Data: text})
	}
	return v, files, nil
}

// counters returns the data about counters for the top. A frame on a stream has a fixed number of words; if frames are
// sequences, each step counts as a frame.
func (n *Network) counters() *countersView {
	g := n.design.Model.Graph
	v := &countersView{Pairs: strconv.Itoa(1 + len(g.Streams)), Last: "design"}
	w, _ := templates.RegisterMapOf(n.design).FindWindow(templates.CountersWindowName)
	v.High = strconv.Itoa(bits.Len(uint(w.Words-1)) - 1)
	var begins, ends []string
	for _, p := range n.face.In {
		begins = append(begins, stream(p.Stream)+"_valid")
	}
	for _, p := range n.face.Out {
		ends = append(ends, fmt.Sprintf("%s_TVALID & %[1]s_TREADY & %[1]s_TLAST", p.Name))
	}
	v.Begins, v.Frames, v.Clocks = strings.Join(begins, " | "), ends[0], strings.Join(ends, " | ")
	for s := range g.Streams {
		port := n.design.PortOfStream(s)
		if n.timed(s) {
			port = n.one.PortOfStream(s)
		}
		c := counterView{Name: stream(s), Pair: strconv.Itoa(1 + s), Words: strconv.Itoa(port.Words), From: v.Last}
		for _, p := range n.face.In {
			if p.Stream == s {
				c.Stalled = fmt.Sprintf("%s_TVALID & !%[1]s_TREADY", p.Name)
			}
		}
		for _, p := range n.face.Out {
			if p.Stream == s {
				c.Starved = fmt.Sprintf("%s_TREADY & !%[1]s_TVALID", p.Name)
			}
		}
		v.Streams, v.Last = append(v.Streams, c), c.Name
	}
	return v
}

// quiet returns connections of the network's module that leave the slave and the stream of tables idle.
func (n *Network) quiet() (pins []string) {
	r := templates.RegisterMapOf(n.design)
	if r == nil {
		return nil
	}
	for _, p := range templates.TopModulePortsOf(n.face, n.design, false) {
		if !strings.HasPrefix(p.Name, r.Port) && (r.Loader == "" || !strings.HasPrefix(p.Name, r.Loader)) {
			continue
		}
		value := ""
		if strings.HasPrefix(p.Decl, "input") {
			value = "'0"
		}
		pins = append(pins, fmt.Sprintf(".%s(%s)", p.Name, value))
	}
	return pins
}

// waits returns the names of the ports at which a layer must say when it waits.
func waits(node *dataflow.Node, counters bool) (names []string) {
	if !counters {
		return nil
	}
	for k := range node.In {
		names = append(names, fmt.Sprint("in", k))
	}
	for k := range node.Out {
		names = append(names, fmt.Sprint("out", k))
	}
	return names
}
