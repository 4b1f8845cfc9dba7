package rtl

import (
	"bytes"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// benchFiles holds the sources and templates of the bench.
//
//go:embed bench/*
var benchFiles embed.FS

// A NetworkWithBenchFrames is a network with the contents of its streams, for a bench: Frames[f][s] is frame f on
// stream s. If Moves is set, the bench also compares the moves of each iteration with the layers' loops.
type NetworkWithBenchFrames struct {
	*Network
	Frames [][]dataflow.Tensor
	Moves  bool
}

// A benchView holds what bench.sv.tpl and main.cpp.tpl need.
type benchView struct {
	Reset, Patience                  string
	Ports                            []string // ports of the bench
	Tops                             []dutView
	Streams, Inputs, Outputs, Layers []string // in C++
	Feeds                            bool     // some network takes weights with every frame
}

// A dutView holds what the bench needs of one network that it runs.
type dutView struct {
	Name, Top string
	Reset     string // clocks by which the top lengthens a reset
	Pins      []string
	Watches   []string
	Feeds     []feedView
}

// GenerateBench returns all files of a bench for Verilator that runs networks side by side, under the names T0, T1 and
// so on. They include the networks' own files and the library, and are not sorted.
func GenerateBench(runs []NetworkWithBenchFrames) (templates.ProjectFiles, error) {
	files := LibraryModuleFiles()
	names, err := benchFiles.ReadDir("bench")
	if err != nil {
		return nil, err
	}
	for _, e := range names {
		text, err := benchFiles.ReadFile("bench/" + e.Name())
		if err != nil {
			return nil, err
		}
		files = append(files, templates.GeneratedFile{Path: "rtl/bench/" + e.Name(), Data: text})
	}
	b := bencher{}
	needed := map[string]bool{} // by path: the module is already included, and several networks may share it
	for i, r := range runs {
		for _, f := range r.Files { // networks may share modules
			if !needed[f.Path] {
				files = append(files, f)
			}
			needed[f.Path] = strings.HasPrefix(f.Path, "rtl/shared/")
		}
		if err := b.top(fmt.Sprint("T", i), r, &files); err != nil {
			return nil, fmt.Errorf("generate RTL: %w", err)
		}
	}
	b.view.Reset = strconv.Itoa(b.reset + 8)
	b.view.Patience = strconv.Itoa(10000 + 16*b.longest)
	for _, name := range []string{"hlsgen_bench.sv", "main.cpp"} {
		template := strings.TrimPrefix(name, "hlsgen_") + ".tpl"
		text, err := templates.RenderTemplate(texts, template, b.view)
		if err != nil {
			return nil, err
		}
		files = append(files, templates.GeneratedFile{Path: "rtl/bench/" + name, Data: text})
	}
	return files, nil
}

// GenerateProject returns all files below rtl/, sorted by path: the design, a bench with the frames on its streams, and
// a Makefile that runs it. It adds the UART top if the board's pins are known. The network must also have one input,
// one output, frames of one length, and no registers.
func (n *Network) GenerateProject(frames [][]dataflow.Tensor) (templates.ProjectFiles, error) {
	files, err := GenerateBench([]NetworkWithBenchFrames{{Network: n, Frames: frames}})
	if err != nil {
		return nil, err
	}
	text, err := templates.RenderTemplate(texts, "Makefile.tpl", n.makefile(len(frames)))
	if err != nil {
		return nil, err
	}
	files = append(files, templates.GeneratedFile{Path: "rtl/Makefile", Data: text})
	if n.uart() {
		more, err := n.uartProject()
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	slices.SortFunc(files, func(a, b templates.GeneratedFile) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// A bencher builds a bench, network by network.
type bencher struct {
	view           benchView
	reset, longest int
}

// port adds a port to the bench's top, and returns its declaration as a signal in C++.
func (b *bencher) port(direction, name string, width int) (cpp string) {
	b.view.Ports = append(b.view.Ports, fmt.Sprintf("%s logic [%d:0] %s", direction, width-1, name))
	return fmt.Sprintf("{%d, &model.%s}", width, name)
}

// top adds a network to the bench, and the recordings of its streams.
func (b *bencher) top(name string, r NetworkWithBenchFrames, files *templates.ProjectFiles) error {
	d, g := r.design, r.design.Model.Graph
	b.reset = max(b.reset, r.reset)
	dut := dutView{Name: name, Top: r.Top, Reset: strconv.Itoa(r.reset)}
	watch := func(to, format string, a ...any) {
		dut.Watches = append(dut.Watches, fmt.Sprintf("assign %s = %s;", to, fmt.Sprintf(format, a...)))
	}
	designs, err := r.designs()
	if err != nil {
		return err
	}
	first := len(b.view.Streams)
	for s := range g.Streams {
		text, err := r.record(s, designs)
		if err != nil {
			return fmt.Errorf("stream s%d: %w", s, err)
		}
		own := fmt.Sprintf("%s_s%d", name, s)
		*files = append(*files, templates.GeneratedFile{Path: "rtl/bench/data/" + own + ".dat", Data: text})
		word, read := b.port("output", own+"_word", d.PortOfStream(s).Width()), b.port("output", own+"_read", 1)
		watch(own+"_word", "%s.s%d.word", name, s)
		watch(own+"_read", "%s.s%d.read", name, s)
		claim := "{1, nullptr}"
		if writer, _ := g.WriterOfStream(s); writer >= 0 {
			claim = b.port("output", own+"_claim", 1)
			watch(own+"_claim", "%s.s%d.claim", name, s)
		}
		b.view.Streams = append(b.view.Streams, fmt.Sprintf("{%q, %s, %s, %s}", own, word, read, claim))
	}
	for i := range g.Nodes {
		b.longest = max(b.longest, d.LoopOfNode(i).IterationsPerFrame())
		if r.Moves {
			b.layer(name, i, r, designs, watch, files)
		}
	}
	axis := func(p templates.AXIStreamPort, inputs []string, outputs ...string) map[string]string {
		cpp := map[string]string{}
		for i, suffixes := range [][]string{inputs, outputs} {
			direction := [...]string{"input", "output"}[i]
			for _, suffix := range suffixes {
				width := 1
				if suffix == "TDATA" {
					width = p.TDATA
				}
				own := fmt.Sprintf("%s_%s_%s", name, p.Name, suffix)
				cpp[suffix] = b.port(direction, own, width)
				dut.Pins = append(dut.Pins, fmt.Sprintf(".%s_%s(%s)", p.Name, suffix, own))
			}
		}
		return cpp
	}
	for k, p := range r.face.In {
		c := axis(p, []string{"TDATA", "TVALID"}, "TREADY")
		if c["TLAST"] = "{1, nullptr}"; r.timed(p.Stream) {
			maps.Copy(c, axis(p, []string{"TLAST"}))
			dut.Pins = append(dut.Pins, fmt.Sprintf(".%s_TKEEP('1)", p.Name), fmt.Sprintf(".%s_TSTRB('1)", p.Name))
		}
		own := fmt.Sprintf("%s_s%d_taken", name, p.Stream)
		taken := b.port("output", own, 32)
		watch(own, "32'(%s.s%d.taken)", name, p.Stream)
		b.view.Inputs = append(b.view.Inputs, fmt.Sprintf("{%d, %d, %d, %d, %s, %s, %s, %s}", first+p.Stream,
			d.FIFO[p.Stream].Depth, d.Target.HostClocksPerWord(p.Port), k, c["TDATA"], c["TVALID"], c["TLAST"], taken))
	}
	for k, p := range r.face.Out {
		c := axis(p, []string{"TREADY"}, "TDATA", "TVALID", "TLAST")
		dut.Pins = append(dut.Pins, fmt.Sprintf(".%s_TKEEP()", p.Name), fmt.Sprintf(".%s_TSTRB()", p.Name))
		b.view.Outputs = append(b.view.Outputs, fmt.Sprintf("{%d, %d, %d, %s, %s, %s, %s}", first+p.Stream,
			d.Target.HostClocksPerWord(p.Port), len(r.face.In)+k, c["TDATA"], c["TVALID"], c["TREADY"], c["TLAST"]))
	}
	b.feeds(&dut, d, files)
	dut.Pins = append(dut.Pins, r.quiet()...)
	b.view.Tops = append(b.view.Tops, dut)
	return nil
}

// layer makes the bench compare the moves of each iteration of a node of the network top with its loops in designs, one
// per frame.
func (b *bencher) layer(top string, node int, r NetworkWithBenchFrames, designs []*dataflow.Design,
	watch func(to, format string, a ...any), files *templates.ProjectFiles) {
	n := r.design.Model.Graph.Nodes[node]
	own := top + "_" + n.Name
	fire := b.port("output", own+"_fire", 1)
	moves := b.port("output", own+"_moves", len(n.In)+len(n.Out))
	watch(own+"_fire", "%s.layer_%s.fire", top, n.Name)
	var bits []string
	for k := len(n.Out) - 1; k >= 0; k-- {
		bits = append(bits, fmt.Sprintf("%s.layer_%s.out%d_claim", top, n.Name, k))
	}
	for k := len(n.In) - 1; k >= 0; k-- {
		bits = append(bits, fmt.Sprintf("%s.layer_%s.in%d_read", top, n.Name, k))
	}
	watch(own+"_moves", "{%s}", strings.Join(bits, ", "))
	b.view.Layers = append(b.view.Layers, fmt.Sprintf("{%q, %s, %s}", own, fire, moves))
	if r.one == nil { // all frames have the same loop
		designs = []*dataflow.Design{r.design}
	}
	var text []byte
	for _, d := range designs {
		loop := d.LoopOfNode(node)
		for i := range loop.IterationsPerFrame() {
			m := loop.MovesOfIteration(i)
			text = fmt.Appendf(text, "%x\n", m.Write<<len(n.In)|m.Read)
		}
	}
	*files = append(*files, templates.GeneratedFile{Path: "rtl/bench/data/" + own + ".dat", Data: text})
}

// designs returns the design for each frame: the same one unless frames are sequences of different lengths.
func (r NetworkWithBenchFrames) designs() ([]*dataflow.Design, error) {
	in := make([][]dataflow.Tensor, len(r.Frames))
	for f, streams := range r.Frames {
		for _, s := range r.design.Model.Graph.In {
			in[f] = append(in[f], streams[s])
		}
	}
	return dataflow.MakeForFrameLengths(r.design.Model.Lengths, in, func(steps int) (*dataflow.Design, error) {
		if steps == 0 {
			return r.design, nil
		}
		return r.design.AtSequenceLength(steps)
	})
}

// record returns the words of the frames on stream s in the form that bench.hpp reads. A dot comes after the last word
// of each frame. designs has one design per frame.
func (r NetworkWithBenchFrames) record(s int, designs []*dataflow.Design) ([]byte, error) {
	var text []byte
	for f, d := range designs {
		frame, err := templates.FormatRecording(d.PortOfStream(s), r.Frames[f][s:s+1])
		if err != nil {
			return nil, err
		}
		text = append(append(text, bytes.TrimSuffix(frame, []byte("\n"))...), ".\n"...)
	}
	return text, nil
}
