// Package templates turns a design into a Vitis HLS project: C++, its tables, a test bench with real data, and the
// scripts of both Vitis flows. The kernels (hlslib) contain the arithmetic, the templates (*.tpl) the wiring, and
// this package spells every value.
//
// In come a dataflow.Design and the contents of its streams; out come Files in memory, and the result of a compiled C
// simulation.
//
//   - project.go is the starting point; files.go has the result
//   - layer.go, axis.go (the network's ends), top.go, bench.go, ip.go (each process as a top), rtl.go (the top that
//     joins them), readme.go: the views of the templates; steps.go, for sequences of different lengths
//   - ports.go defines the arguments of processes, in C++ and as ports of modules
//   - registers.go defines the addresses of an accelerator's registers, for every reader and writer; external.go
//     defines the streams of weights that come with every frame
//   - recorder.go records the words of streams; render.go fills a template; table.go, words.go, ctype.go, names.go,
//     cpp.go spell values, types and names
//   - lint.go, lint_memory.go, lint_pragma.go, lint_reset.go check text against the rules of Vitis HLS:
//     pragma.go is its grammar of pragmas, scope.go finds the scopes of pragmas
//   - csim.go compiles and runs, outcome.go reads the output; process_unix.go, process_linux.go, process_bsd.go
//     and process_other.go kill child processes
//   - outside.go has names of types for other modules
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
	Recorded *Recorder // the words of all streams, or nil
}

// Options say in what way a generated project differs from the default.
type Options struct {
	Top   string // name of the top function and of the IP; if empty, it is derived from the model's name
	Steps []int  // by recorded frame: the steps of a sequence, if lengths differ
}

// An AXIPort is one end of the network. The AXI4-Stream Name carries stream Stream of the graph in words of Port, each
// padded with zeros to TDATA bits.
type AXIPort struct {
	Name   string
	Stream int
	Port   dataflow.Port
	TDATA  int
}

// EndProcessName returns the name of the process that converts between the port and a stream inside the network.
func (p AXIPort) EndProcessName() string { return p.Name + "_end" }

// An Interface describes the generated IP from outside: the name of the top function and its AXI4-Streams, in the order
// of Graph.In and Graph.Out. The IP also has ap_clk and ap_rst_n.
type Interface struct {
	Top     string
	In, Out []AXIPort
}

// InterfaceOf returns the interface of the project that Project generates for d. It returns an error if the top's name
// is no name in C++, or if an input goes through no layer.
func InterfaceOf(d *dataflow.Design, opt Options) (Interface, error) {
	g := d.Model.Graph
	i := Interface{Top: opt.Top}
	if i.Top == "" {
		i.Top = topName(d.Model.Name)
	}
	if !IsName(i.Top) {
		return i, fmt.Errorf("top function %q is not a C++ name", i.Top)
	}
	ports := func(name string, streams []int) (ports []AXIPort) {
		for k, s := range streams {
			p := d.Port(s)
			ports = append(ports, AXIPort{Name: name + strconv.Itoa(k), Stream: s, Port: p, TDATA: p.TDATA()})
		}
		return ports
	}
	for _, s := range g.In {
		if r, _ := g.Reader(s); r < 0 {
			return i, fmt.Errorf("stream s%d goes through no layer", s)
		}
	}
	i.In, i.Out = ports("s_axis_", g.In), ports("m_axis_", g.Out)
	return i, nil
}

// FIFOs returns the FIFOs of the C++ that Project generates for d, by name.
func (i Interface) FIFOs(d *dataflow.Design) map[string]dataflow.FIFO {
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

// Project generates all files below hls/ for d. The test bench contains every frame of v as text for every stream, so
// there should be few. If the project does not pass the lint, the error is a *Findings.
func Project(d *dataflow.Design, v TestVectors, opt Options) (Files, error) {
	g := d.Model.Graph
	if len(d.Folds) != len(g.Nodes) || len(d.FIFO) != len(g.Streams) {
		return nil, errors.New("generate C++: the design lacks folds or FIFOs")
	}
	face, err := InterfaceOf(d, opt)
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
	return b.project(func(files *Files) error { return topFiles(files, d, face, b) }, face.FIFOs(d))
}

// project returns the files of the bench, and the files that top adds. If they do not pass the lint, the error is a
// *Findings. own are headers that hlslib lacks.
func (b bench) project(top func(*Files) error, fifos map[string]dataflow.FIFO, own ...hlslib.LibraryFile) (Files,
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

// A Findings lists the violations that the lint found in generated files, which are defects of this package.
type Findings struct {
	Text   []string // from Lint
	Memory []string // from LintStorage and LintFIFOs
}

func (f *Findings) Error() string {
	all := slices.Concat(f.Text, f.Memory)
	return fmt.Sprintf("the lint has %d findings, the first is %s", len(all), all[0])
}

// lint runs Lint and LintStorage on generated files and, if fifos is not nil, LintFIFOs. The error is a *Findings.
func lint(files Files, layers []wiring, fifos map[string]dataflow.FIFO) error {
	storage := map[string][]dataflow.Storage{}
	for _, l := range layers {
		storage[l.Name] = l.Instance.Storage
	}
	f := &Findings{Lint(files), LintStorage(files, storage)}
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
		if w := d.Port(s); w != p {
			return fmt.Errorf("stream s%d: %s has %d words of %d %s, the other end %d words of %d %s",
				s, n.Name, p.Words, p.PerWord, p.Elem, w.Words, w.PerWord, w.Elem)
		}
		if d.FIFO[s].Depth < 1 {
			return fmt.Errorf("stream s%d has depth %d", s, d.FIFO[s].Depth)
		}
	}
	return nil
}

// A LayerTrial is a layer to be tested alone, with the frames on its streams: In[port][frame], Out[port][frame].
type LayerTrial struct {
	Layer
	In, Out [][]dataflow.Tensor
}

// GenerateLayerBench generates a project without a top. Its test bench calls every layer alone on its input frames, and
// compares the written words with the output frames. All trials must have the same number of frames. In this way many
// folds of one layer, under different names, share a translation unit. own are headers of kernels that hlslib lacks. If
// the lint finds violations, the error is a *Findings, as for Project.
func GenerateLayerBench(trials []LayerTrial, own ...hlslib.LibraryFile) (Files, error) {
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
	return b.project(func(files *Files) error { return benchFiles(files, b, Interface{}) }, nil, own...)
}

// TemporaryFolders lists the folders that a project's own Makefile makes, and that `make clean` removes.
var TemporaryFolders = []string{"hls/build", "hls/build.vendor", "rtl/build"}

// KeptFolders lists the folders that remain when the project is generated again. Synthesis takes long, and the Makefile
// finds from their contents which results are still valid.
var KeptFolders = []string{"hls/build.ip", "vivado/build", "synth"}
