package rtl

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// library holds the modules that depend on no design.
//
//go:embed shared/*.sv
var library embed.FS

// loadFiles holds the module that loads tables.
//
//go:embed load/*.sv
var loadFiles embed.FS

// texts holds the templates of the top and its wrappers.
//
//go:embed *.tpl
var texts embed.FS

// A Network is a design as text in SystemVerilog.
type Network struct {
	Top   string
	Files templates.ProjectFiles // files below rtl/ of this design, without the library

	design *dataflow.Design
	one    *dataflow.Design // design for sequences of one step; nil if frames have one length
	face   templates.IPInterface
	reset  int // clocks of a reset
	places []int
	loaded []LoadedTable // in the order of their words
}

// A topView holds what top.sv.tpl needs.
type topView struct {
	Top     string
	Reset   string
	Ports   []templates.TopModulePort
	Streams []streamView
	In, Out []borderView
	Layers  []layerView
	Loads   []string // the layers with loaded tables, in the order of loading
	Loaded  string   // prefix of the last layer's signals of loading

	Registers *registersView // nil if there are no registers
}

// A streamView describes the FIFO of a stream. High is the index of a word's highest bit.
type streamView struct {
	Name, Width, High, Places, Style string
	Counted                          bool // the FIFO has counters
}

// A borderView connects an AXI4-Stream with a stream inside; Word is the word that passes. If it carries sequences,
// Words is for a step, and Longest the largest number of steps. Ends names the streams for the ends of sequences:
// those that an input writes, or the one that an output reads.
type borderView struct {
	Axis, Stream, Word, Width, Words, Unused, Longest string
	Ends                                              []string
}

// A layerView is a layer's module, with a connection per port. Module names begin with the name of the top, because
// several networks may be parts of one design.
type layerView struct {
	Name, Module string
	Connections  []string
}

// styles maps memories to the styles of FIFOs in hlsgen_stream.
var styles = map[dataflow.Memory]string{
	dataflow.MemorySRL: "srl", dataflow.MemoryLUTRAM: "lutram", dataflow.MemoryBRAM: "bram",
	dataflow.MemoryURAM: "uram",
}

// style returns the style that hlsgen_stream has for a FIFO in memory m. On a board whose device has no memory in LUTs,
// such a FIFO is a shift register.
func style(m dataflow.Memory, b boards.Board) string {
	if m == dataflow.MemoryLUTRAM && !b.CanStoreInLUTs() {
		m = dataflow.MemorySRL
	}
	return styles[m]
}

// New returns a design as a network in SystemVerilog. A layer without a circuit is one of the errors.
func New(d *dataflow.Design, opt templates.Options) (*Network, error) {
	face, err := templates.IPInterfaceOf(d, opt)
	if err != nil {
		return nil, fmt.Errorf("generate RTL: %w", err)
	}
	g := d.Model.Graph
	n := &Network{Top: face.Top, design: d, face: face, places: make([]int, len(g.Streams)), reset: 16}
	if d.Model.Lengths != nil {
		if n.one, err = d.AtSequenceLength(1); err != nil {
			return nil, fmt.Errorf("generate RTL: %w", err)
		}
	}
	v := topView{Top: face.Top, Ports: templates.TopModulePortsOf(face, d, false)}
	ends, external := n.ends(), g.ExternalWeightNodeIndices()
	for i, node := range g.Nodes {
		m, err := d.CircuitOfNode(i, n.one)
		if err != nil {
			return nil, fmt.Errorf("generate RTL: layer %s %w", node.Name, err)
		}
		n.reset = max(n.reset, m.LastActiveStage()+1)
		about := templates.SanitiseComment(strings.Join(node.Origin, ", "))
		counters := d.Target.Counters
		n.Files = append(n.Files, layer(face.Top+"_"+node.Name, about, m, waits(node, counters))...)
		l := layerView{Name: node.Name, Module: face.Top + "_" + node.Name}
		connect := func(port, stream string, signals ...string) {
			for _, s := range signals {
				inner, outer, _ := strings.Cut(s, "=")
				l.Connections = append(l.Connections, fmt.Sprintf(".%s_%s(%s_%s)", port, inner, stream, outer))
			}
		}
		for k, s := range node.In {
			connect(fmt.Sprint("in", k), stream(s), "word=word", "valid=valid", "read=read")
			if counters {
				connect(fmt.Sprint("in", k), stream(s), "starved=starved")
			}
		}
		if e, told := ends.of(i, -1); told {
			connect("ends", e.name, "word=word", "valid=valid", "read=read")
		}
		for k, s := range node.Out {
			connect(fmt.Sprint("out", k), stream(s), "word=din", "write=write", "room=room", "claim=claim")
			if counters {
				connect(fmt.Sprint("out", k), stream(s), "stalled=stalled")
			}
		}
		if slices.Contains(external, i) {
			connect("weights", weights(node.Name), "word=word", "valid=valid", "read=read")
		}
		if list := tables(node.Name, m); len(list) > 0 {
			l.Connections = append(l.Connections, v.load(node.Name)...)
			n.loaded = append(n.loaded, list...)
		}
		v.Layers = append(v.Layers, l)
	}
	for s := range g.Streams {
		n.places[s] = d.FIFOCapacityWords(s)
		w := d.PortOfStream(s).Width()
		v.Streams = append(v.Streams, streamView{stream(s), strconv.Itoa(w), strconv.Itoa(w - 1),
			strconv.Itoa(n.places[s]), style(d.FIFO[s].Memory, d.Target.Board), d.Target.Counters})
	}
	for _, e := range ends {
		v.Streams = append(v.Streams, streamView{e.name, "1", "0", strconv.Itoa(e.FIFO.Depth),
			style(e.FIFO.Memory, d.Target.Board), false})
	}
	v.weights(d)
	v.Reset = strconv.Itoa(n.reset)
	v.borders(n, ends)
	registers, more, err := n.registers()
	if err != nil {
		return nil, err
	}
	v.Registers, n.Files = registers, append(n.Files, more...)
	if len(n.loaded) > 0 {
		n.Files = append(n.Files, loadLibrary()...)
	}
	text, err := templates.RenderTemplate(texts, "top.sv.tpl", v)
	if err != nil {
		return nil, err
	}
	n.Files = append(n.Files, templates.GeneratedFile{Path: "rtl/" + face.Top + ".sv", Data: text})
	more, err = n.wrappers()
	n.Files = append(n.Files, more...)
	return n, err
}

// stream returns the name of the FIFO of stream s.
func stream(s int) string { return fmt.Sprint("s", s) }

// borders adds the connections of the network's ends to AXI4-Streams, whose words are padded with zeros to whole bytes.
func (v *topView) borders(n *Network, ends endings) {
	for _, p := range n.face.In {
		w := p.Port.Width()
		b := borderView{Axis: p.Name, Stream: stream(p.Stream), Word: fmt.Sprintf("%s_TDATA[%d:0]", p.Name, w-1),
			Width: strconv.Itoa(w)}
		var unused []string
		if p.TDATA > w {
			unused = append(unused, fmt.Sprintf("%s_TDATA[%d:%d]", p.Name, p.TDATA-1, w))
		}
		if n.timed(p.Stream) {
			unused = append(unused, p.Name+"_TKEEP", p.Name+"_TSTRB")
			b.Words, b.Longest = strconv.Itoa(n.one.PortOfStream(p.Stream).Words),
				strconv.Itoa(n.design.Model.Lengths.Max)
			b.Ends = ends.written(p.Stream)
		}
		b.Unused = strings.Join(unused, ", ")
		v.In = append(v.In, b)
	}
	for _, p := range n.face.Out {
		b := borderView{Axis: p.Name, Stream: stream(p.Stream), Word: stream(p.Stream) + "_word",
			Words: strconv.Itoa(p.Port.Words)}
		if e, told := ends.of(-1, p.Stream); told {
			b.Words, b.Ends = strconv.Itoa(n.one.PortOfStream(p.Stream).Words), []string{e.name}
		}
		if pad := p.TDATA - p.Port.Width(); pad > 0 {
			b.Word = fmt.Sprintf("{%d'd0, %s}", pad, b.Word)
		}
		v.Out = append(v.Out, b)
	}
}

// LibraryModuleFiles returns the files of the modules that depend on no design.
func LibraryModuleFiles() templates.ProjectFiles {
	names, err := library.ReadDir("shared")
	if err != nil {
		panic("rtl: embedded files: " + err.Error())
	}
	var files templates.ProjectFiles
	for _, e := range names {
		text, err := library.ReadFile("shared/" + e.Name())
		if err != nil {
			panic("rtl: embedded files: " + err.Error())
		}
		files = append(files, templates.GeneratedFile{Path: "rtl/shared/" + e.Name(), Data: text})
	}
	return files
}
