// Package templates turns a design into a Vitis HLS project: C++, its tables, a test bench with real data, and the
// scripts of both Vitis flows. The kernels (hlslib) contain the arithmetic, the templates (*.tpl) the wiring, and this
// package spells every value.
//
// In come a dataflow.Design and the contents of its streams; out come ProjectFiles in memory, and the result of a
// compiled C simulation.
//
//	project.go        the starting point: a design's project, and its lint
//	files.go          ProjectFiles
//	layer.go          the view of a layer
//	axis.go           the network's ends
//	top.go            the top function
//	bench.go          the test bench
//	ip.go             each process as a top of its own
//	rtl.go            the Verilog top that joins the processes
//	readme.go         the README
//	backend.go        Backend, a row of the table of back ends
//	steps.go          sequences of different lengths
//	ports.go          the arguments of processes, in C++ and as ports of modules
//	registers.go      the addresses of an accelerator's registers, for every reader and writer
//	external.go       the streams of weights that come with every frame
//	recorder.go       records the words of streams
//	render.go         fills a template
//	table.go, words.go, ctype.go, names.go, cpp.go                spell values, types and names
//	lint.go, lint_memory.go, lint_pragma.go, lint_reset.go        check text against the rules of Vitis HLS
//	pragma.go, scope.go  the grammar of pragmas, and the scopes in which they stand
//	csim.go, outcome.go  compile and run the C++, and read its output
//	process_unix.go, process_linux.go, process_bsd.go, process_other.go  kill child processes, by system
//	outside.go        names of types for other modules
package templates

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
)

// TestVectors are the frames by which a test bench checks a design: Frames[f][s] is frame f on stream s, as Graph.Eval
// returns it. If Recorded is set, only the network's inputs and outputs need frames.
type TestVectors struct {
	Frames   [][]dataflow.Tensor
	Recorded *StreamRecorder // the words of all streams, or nil
}

// Options say in what way a generated project differs from the default.
type Options struct {
	Top   string // name of the top function and of the IP; if empty, it is derived from the model's name
	Steps []int  // by recorded frame: the steps of a sequence, if lengths differ
}

// An AXIStreamPort is one end of the network. The AXI4-Stream Name carries stream Stream of the graph in words of Port,
// each padded with zeros to TDATA bits.
type AXIStreamPort struct {
	Name   string
	Stream int
	Port   dataflow.Port
	TDATA  int
}

// ConverterProcessName returns the name of the process that converts between the port and a stream inside the network.
func (p AXIStreamPort) ConverterProcessName() string { return p.Name + "_end" }

// An IPInterface describes the generated IP from outside: the name of the top function and its AXI4-Streams, in the
// order of Graph.In and Graph.Out. The IP also has ap_clk and ap_rst_n.
type IPInterface struct {
	Top     string
	In, Out []AXIStreamPort
}

// IPInterfaceOf returns the interface of the project that GenerateHLSProject generates for d. It returns an error if
// the top's name is no name in C++, or if an input goes through no layer.
func IPInterfaceOf(d *dataflow.Design, opt Options) (IPInterface, error) {
	g := d.Model.Graph
	i := IPInterface{Top: opt.Top}
	if i.Top == "" {
		i.Top = topName(d.Model.Name)
	}
	if !IsIdentifier(i.Top) {
		return i, fmt.Errorf("top function %q is not a C++ name", i.Top)
	}
	ports := func(name string, streams []int) (ports []AXIStreamPort) {
		for k, s := range streams {
			p := d.PortOfStream(s)
			ports = append(ports, AXIStreamPort{Name: name + strconv.Itoa(k), Stream: s, Port: p, TDATA: p.TDATABits()})
		}
		return ports
	}
	for _, s := range g.In {
		if r, _ := g.ReaderOfStream(s); r < 0 {
			return i, fmt.Errorf("stream s%d goes through no layer", s)
		}
	}
	i.In, i.Out = ports("s_axis_", g.In), ports("m_axis_", g.Out)
	return i, nil
}

// FIFOsByName returns the FIFOs of the C++ that GenerateHLSProject generates for d, by name.
func (i IPInterface) FIFOsByName(d *dataflow.Design) map[string]dataflow.FIFO {
	list := map[string]dataflow.FIFO{}
	for s, f := range d.FIFO {
		list["s"+strconv.Itoa(s)] = f
	}
	names := i.ends(d)
	for k, e := range d.SequenceEndFIFOs() {
		list[names[k]] = e.FIFO
	}
	return list
}

// GenerateHLSProject generates all files below hls/ for d. The test bench contains every frame of v as text for every
// stream, so there should be few. If the project does not pass the lint, the error wraps a *LintFindingsError, and the
// files are returned as well.
func GenerateHLSProject(d *dataflow.Design, v TestVectors, opt Options) (ProjectFiles, error) {
	g := d.Model.Graph
	if len(d.Folds) != len(g.Nodes) || len(d.FIFO) != len(g.Streams) {
		return nil, errors.New("generate C++: the design lacks folds or FIFOs")
	}
	face, err := IPInterfaceOf(d, opt)
	if err != nil {
		return nil, fmt.Errorf("generate C++: %w", err)
	}
	q, err := sequencesOf(d, v.Frames)
	if err != nil {
		return nil, fmt.Errorf("generate C++: %w", err)
	}
	b := bench{top: face.Top, frames: len(v.Frames), sequences: q}
	texts := make([][]byte, len(g.Streams))
	if v.Recorded != nil {
		texts = v.Recorded.texts()
	}
	for s := range g.Streams {
		frames := make([]dataflow.Tensor, len(v.Frames))
		for f := range frames {
			if len(v.Frames[f]) != len(g.Streams) {
				return nil, fmt.Errorf("generate C++: frame %d has %d of %d streams", f, len(v.Frames[f]),
					len(g.Streams))
			}
			frames[f] = v.Frames[f][s]
		}
		b.streams = append(b.streams, traffic{cStreamName(s), q.port(d, s), frames, q.is(s), texts[s]})
	}
	for i, n := range g.Nodes {
		in, out := n.Op.Ports(d.Folds[i])
		if err := agree(d, n, in, out); err != nil {
			return nil, fmt.Errorf("generate C++: %w", err)
		}
		l, err := q.layer(d, i, b.frames)
		if err != nil {
			return nil, fmt.Errorf("generate C++: %w", err)
		}
		b.layers = append(b.layers, wiring{l, n.In, n.Out})
	}
	b.ends = processes(d, face, q)
	return b.project(func(files *ProjectFiles) error { return topFiles(files, d, face, b) }, face.FIFOsByName(d))
}

// project returns the files of the bench, and the files that top adds, sorted by path. If they do not pass the lint, it
// returns them with an error that wraps a *LintFindingsError. own are headers that hlslib lacks.
func (b bench) project(top func(*ProjectFiles) error, fifos map[string]dataflow.FIFO,
	own ...hlslib.EmbeddedLibraryFile) (ProjectFiles,
	error) {
	files, err := b.files(own...)
	if err == nil {
		err = top(&files)
	}
	if err != nil {
		return nil, fmt.Errorf("generate C++: %w", err)
	}
	if err := files.sort(); err != nil {
		return nil, err
	}
	return files, lint(files, b.layers, fifos)
}

// A LintFindingsError lists the violations that the lint found in generated files, which are defects of this package.
type LintFindingsError struct {
	Text   []string // from LintProject
	Memory []string // from LintMemories and LintFIFOs
}

// Error returns the number of violations and the first one.
func (f *LintFindingsError) Error() string {
	all := slices.Concat(f.Text, f.Memory)
	return fmt.Sprintf("the lint has %d findings, the first is %s", len(all), all[0])
}

// lint runs LintProject and LintMemories on generated files and, if fifos is not nil, LintFIFOs. The error wraps a
// *LintFindingsError.
func lint(files ProjectFiles, layers []wiring, fifos map[string]dataflow.FIFO) error {
	storage := map[string][]dataflow.Storage{}
	for _, l := range layers {
		storage[l.Name] = l.Instance.Storage
	}
	f := &LintFindingsError{LintProject(files), LintMemories(files, storage)}
	if fifos != nil {
		f.Memory = append(f.Memory, LintFIFOs(files, fifos)...)
	}
	if len(f.Text)+len(f.Memory) == 0 {
		return nil
	}
	return fmt.Errorf("generate C++: %w", f)
}

// agree returns an error unless both ends of every stream of the node n have the same words.
func agree(d *dataflow.Design, n *dataflow.Node, in, out []dataflow.Port) error {
	if len(in) != len(n.In) || len(out) != len(n.Out) {
		return fmt.Errorf("%s has %d and %d streams for %d and %d ports", n.Name, len(n.In), len(n.Out), len(in),
			len(out))
	}
	streams := slices.Concat(n.In, n.Out)
	for i, p := range slices.Concat(in, out) {
		s := streams[i]
		if w := d.PortOfStream(s); w != p {
			return fmt.Errorf("stream s%d: %s has %d words of %d %s, the other end %d words of %d %s",
				s, n.Name, p.Words, p.PerWord, p.Elem, w.Words, w.PerWord, w.Elem)
		}
		if d.FIFO[s].Depth < 1 {
			return fmt.Errorf("stream s%d has depth %d", s, d.FIFO[s].Depth)
		}
	}
	return nil
}

// A LayerTestCase is a layer to be tested alone, with the frames on its streams: In[port][frame], Out[port][frame].
type LayerTestCase struct {
	Layer
	In, Out [][]dataflow.Tensor
}

// GenerateLayerBench generates a project without a top. Its bench calls every layer alone on its input frames, and
// compares the written words with its output frames. All trials must have the same number of frames, and different
// names. own are headers of kernels that hlslib lacks. If the lint finds violations, the error wraps a
// *LintFindingsError.
func GenerateLayerBench(trials []LayerTestCase, own ...hlslib.EmbeddedLibraryFile) (ProjectFiles, error) {
	var b bench
	for i, t := range trials {
		w := wiring{Layer: t.Layer}
		for _, side := range []struct {
			name   string
			ports  []dataflow.Port
			frames [][]dataflow.Tensor
			ids    *[]int
		}{{"in", t.Layer.In, t.In, &w.in}, {"out", t.Layer.Out, t.Out, &w.out}} {
			if len(side.ports) != len(side.frames) {
				return nil, fmt.Errorf("layer %s: frames for %d of %d %s ports", t.Name, len(side.frames),
					len(side.ports), side.name)
			}
			for k, p := range side.ports {
				if i == 0 && k == 0 {
					b.frames = len(side.frames[k])
				}
				if len(side.frames[k]) != b.frames {
					return nil, fmt.Errorf("layer %s: %d frames on one port, %d on another", t.Name,
						len(side.frames[k]), b.frames)
				}
				*side.ids = append(*side.ids, len(b.streams))
				b.streams = append(b.streams, traffic{t.Name + "_" + numbered(side.name, k, len(side.ports)), p,
					side.frames[k], false, nil})
			}
		}
		b.layers = append(b.layers, w)
	}
	return b.project(func(files *ProjectFiles) error { return benchFiles(files, b, IPInterface{}) }, nil, own...)
}

// CleanedProjectFolders lists the folders that a project's own Makefile makes, and that `make clean` removes.
var CleanedProjectFolders = []string{"hls/build", "hls/build.vendor", "rtl/build"}

// KeptProjectFolders lists the folders that remain when the project is generated again. Synthesis takes long, and the
// Makefile finds from their contents which results are still valid.
var KeptProjectFolders = []string{"hls/build.ip", "vivado/build", "synth"}
