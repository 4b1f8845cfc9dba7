// Package frontend makes a dataflow.Model of the bytes of an ONNX file: read, normalise, lower, and keep what stays
// real-valued at both ends as host functions.
//
// In come bytes and Options; out come an Imported with its Model, or diagnostics. It sees onnxio, graph, float, real,
// pass, canon, quantise, scaled, stats and lower, and dataflow, num, suggest and diag; none of the layers.
//
//   - frontend.go is the short story; read.go reads a file, with what belongs to it; outside.go has names for other
//     modules
//   - initial.go gives recurrences other initial states
//   - feedback.go finds inputs and outputs that are one state, and has recurrences keep it
//   - inputs.go, formats.go, batch.go, stateful.go, lengths.go: what the file leaves open, or says of several samples
//   - cut.go ends a file at other outputs, and finds where in front of what does not map
//   - fates.go says what becomes of each node; ranges.go, what values an input has to have to matter
//   - ends.go runs what the host computes in front of the accelerator and behind it
//   - host.go says what the host computes as data: which code a number has, and what a code means; around.go cuts out
//     what is no such data
//   - floating.go runs models in float64 in which nothing is rounded to codes
//   - requantise.go gives a model other quantisers, on samples
//   - sums.go has the sums of products in the model's own integers; accumulators.go, what narrower accumulators make of
//     them
//   - compare.go judges what another executor computed, decide.go finds codes that it may have had, and
//     changes.go lists which to try; stats.go counts the model as written
package frontend

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/float"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower"
	"hlsgen/frontend/pass"
	"hlsgen/frontend/quantise"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// Options say what the file leaves open, and what to show of the passes.
type Options struct {
	Dims   map[string]int // sizes of named dynamic axes
	Shapes Shapes         // of whole inputs
	// shapes of the data at hand by input name ("" for a single input): they bind dynamic axes too
	Data map[string][]int
	// samples are pieces of one stream, in order: recurrences go on where they ended in the sample before
	Stateful bool
	Lengths  *Lengths  // of a dynamic axis, which is time; nil: it has one length
	Samples  int       // that take turns in recurrences and make a frame; 0 or 1: a frame is a sample
	Cells    []Formats // of --lstm-config and --cell-config: what quantises the gates of ONNX' recurrent operators
	Pass     pass.Options[*canon.Model]

	// of the model's file, where that keeps tensors in others; nil: there are none. os.Root has a file system that
	// links do not lead out of.
	Folder fs.FS

	InputType  *InputType        // what arrives; nil: reals, quantised on the host
	InputQuant *InputQuant       // a quantiser to put in front of every input; nil: none
	States     []Feedback        // inputs and outputs that are one state; with Stateful, recurrences keep it
	Initial    InitialStates     // what recurrences begin with instead of inputs
	Outputs    []string          // tensors of the file that are its outputs instead of its own; nil: its own
	Lookup     quantise.LookupAt // of rows of tables, where a model is quantised

	timed bool // other lengths are to follow: loops are not written out
	steps int  // of a sequence whose length arrives on an input, which is bound to it; else 0
}

// Shapes are the sizes of all axes of inputs (graph.Shapes).
type Shapes = graph.Shapes

// A NodeFate is a line of `hlsgen check`: what becomes of one ONNX node.
type NodeFate struct {
	Index int    `json:"index"`
	Node  string `json:"node"`
	Op    string `json:"op"`
	// a layer's name (with ", host prefix" or ", host suffix" where a part stays on the host), "constant",
	// "host prefix", "host suffix", "unused", "undecided", "not reached" or "not mapped"
	Fate string `json:"becomes"`
	// the module of the network that the node belongs to, where the exporter's metadata name one
	Module string `json:"module,omitempty"`
}

// Imported is an imported model with the story of its nodes.
type Imported struct {
	Model *dataflow.Model
	Fates []NodeFate

	options graph.Options
	file    *graph.Program
	written *graph.Program // file; with loops in the place of written out ones where samples are pieces of a stream
	program *graph.Program // as lowered
	lowered *lower.Result
	batch   *graph.Batch
	stream  bool // samples are pieces of one
	lengths *lengths
	asked   *Lengths    // that the longest was read for
	found   []diag.Diag // what was said of the model as written
}

// Import reads a model. name is the file's base name, for diagnostics. It leaves out Model after adding errors to d;
// Fates is there as soon as the file could be read. The error is that of dumping passes.
func Import(name string, onnx []byte, opt Options, d *diag.List) (*Imported, error) {
	var found diag.List
	g := read(name, onnx, opt, &found)
	if l := opt.lengthsOf(g); l != nil {
		opt.Lengths = l
		return opt.importLengths(name, onnx, d)
	}
	d.Diags = append(d.Diags, found.Diags...)
	return opt.fixedImport(g, name, d)
}

// fixedImport is Import of a graph where every axis has one size.
func (o Options) fixedImport(g *graph.Graph, name string, d *diag.List) (*Imported, error) {
	im := &Imported{}
	if err := im.prepare(g, name, o, d); err != nil || im.program == nil {
		return im, err
	}
	how := lower.Options{Stateful: o.Stateful, Timed: o.timed, Turns: o.Samples > 1,
		Begins: func(input string) string { return beginsWith(im.written, input) }, Steps: &lower.Known{}}
	var found diag.List
	low := lower.Lower(im.program, how, &found)
	if !o.Stateful && !o.timed {
		im.program, low = again(im.written, im.program, low, how, &found)
	}
	for _, x := range found.Diags {
		d.Add(x)
	}
	im.Fates = fates(im.file, im.program, low)
	if low.Graph == nil {
		return im, nil
	}
	im.lower(low)
	if o.Samples > 1 {
		turned, turns := lower.Interleave(low, o.Samples, name, d)
		if turned == nil {
			im.Model = nil
			return im, nil
		}
		im.Fates, im.lowered, im.Model.Graph = fates(im.file, im.program, turned), turned, turned.Graph
		im.Model.Turns = turns
	}
	if o.onDevice(im.program, im.lowered, d); !o.Stateful {
		im.Model.Feedback = o.feedback(im.written, d)
	} else {
		im.stream = true
		im.Model.Stream = im.pieces
	}
	return im, nil
}

// readWritten reads as far as the model as written can be executed. It reports false where d says why that fails.
func readWritten(im *Imported, g *graph.Graph, name string, opt Options, d *diag.List) bool {
	im.options = opt.bind(g, name, d)
	if im.file, im.batch = sample(g, name, &im.options, d); im.file == nil {
		return false
	}
	im.written = opt.streamed(im.file)
	opt.keeps(im.written, im.batch, d)
	im.found = slices.Clone(d.Diags)
	return !opt.Stateful || !d.Failed()
}

// prepare is as far as a graph's layers can be found. It leaves out program after adding errors to d.
func (im *Imported) prepare(g *graph.Graph, name string, opt Options, d *diag.List) error {
	if g == nil {
		return nil
	}
	switch ok := readWritten(im, g, name, opt, d); {
	case im.file == nil:
		im.Fates = restFates(g, name, opt, d)
		return nil
	case !ok:
		im.Fates = unknownFates(g)
		return nil
	}
	var rewritten diag.List
	program, err := canon.Run(&canon.Model{Program: im.written}, opt.Pass, &rewritten)
	for _, x := range rewritten.Diags {
		d.Add(x)
	}
	if im.program = program; program == nil {
		im.Fates = unknownFates(g)
	}
	return err
}

// lower makes the model of layers.
func (im *Imported) lower(low *lower.Result) {
	im.lowered, im.Model = low, model(im.written, im.program, low)
	whole(im.Model, im.batch)
}

// A Carried is a tensor of the model whose integers a stream carries: element i is Scale[i]*integer + Bias[i].
type Carried struct {
	Name        string
	Stream      int
	Shape       []int
	Scale, Bias []float64
	// Integers puts the elements of the stream's frame in the order of the tensor.
	Integers func(frame []int64) []int64
}

// Carried lists the tensors that streams carry whole. Streams that only move elements carry none of the model's
// tensors.
func (im *Imported) Carried() (list []Carried) {
	for _, c := range im.lowered.Carried {
		k := im.program.Known[c.Name]
		t := Carried{Name: c.Name, Stream: c.Stream, Shape: k.Shape,
			Integers: func(frame []int64) []int64 { return im.lowered.Receive(c.Tensor, frame) }}
		if slices.ContainsFunc(list, func(o Carried) bool { return o.Name == c.Name }) || !im.affine(c, &t) {
			continue
		}
		list = append(list, t)
	}
	return list
}

// affine finds the real values of a tensor's elements. It reports false where they are not those of the integer
// tensor's.
func (im *Imported) affine(c lower.Carried, t *Carried) bool {
	n := graph.Size(t.Shape)
	elements, ok := im.lowered.Elements(c.Name, n)
	if !ok {
		return false
	}
	forms, err := im.lowered.Integer.Forms(c.Name, elements)
	if err != nil || len(forms.Of) != 1 || len(forms.Of[0].Leaves()) != 1 ||
		forms.Of[0].Leaves()[0].Tensor != c.Tensor {
		return false
	}
	form := &forms.Of[0]
	leaf := form.Leaves()[0]
	for i := range n {
		switch {
		case leaf.Index[i] != elements[i]:
			return false
		case i > 0 && form.SameNumbers(i-1, i):
			t.Scale, t.Bias = append(t.Scale, t.Scale[i-1]), append(t.Bias, t.Bias[i-1])
			continue
		}
		e, _ := form.Numbers(i)
		f, ok := e.Affine()
		if !ok {
			return false
		}
		scale, _ := f.Scale.Float64()
		bias, _ := f.Bias.Float64()
		t.Scale, t.Bias = append(t.Scale, scale), append(t.Bias, bias)
	}
	return true
}

// maxAttempts bounds how often a program is rewritten for the sake of what has no layer.
const maxAttempts = 4

// again lowers a program once more, made canonical with the loops written out that no layer runs, with products split
// that no layer computes, and with codes made further in front; and so on while there are more of these. Where none of
// that has layers for everything, it gives the first of those of which least is said; found is that.
func again(written, program *graph.Program, low *lower.Result, how lower.Options, found *diag.List) (*graph.Program,
	*lower.Result) {
	m := &canon.Model{Program: written, Unroll: map[int]bool{}, Split: map[string][][]int{},
		Front: map[string]bool{}}
	next := low
	for range maxAttempts {
		before := len(m.Unroll) + len(m.Split) + len(m.Front)
		maps.Copy(m.Unroll, next.Unroll)
		maps.Copy(m.Split, next.Split)
		maps.Copy(m.Front, next.Front)
		if len(m.Unroll)+len(m.Split)+len(m.Front) == before {
			break
		}
		var quiet, second diag.List
		made := *m
		again, err := canon.Run(&made, pass.Options[*canon.Model]{}, &quiet)
		if err != nil || again == nil {
			break
		}
		next = lower.Lower(again, how, &second)
		if next.Graph != nil || second.Failed() && len(next.Rejected) < len(low.Rejected) {
			program, low, *found = again, next, second
		}
		if next.Graph != nil {
			break
		}
	}
	return program, low
}

// Tensors gives a function that runs samples, one after the other, through the model as written and gives every tensor
// that depends on data, rounded.
func (im *Imported) Tensors() func(in []dataflow.RealTensor) (map[string]dataflow.RealTensor, error) {
	r := im.relay()
	return func(in []dataflow.RealTensor) (map[string]dataflow.RealTensor, error) {
		at, part, err := r.next(in)
		if err != nil {
			return nil, err
		}
		_, all, err := part.Run(reals(in))
		if err != nil {
			return nil, err
		}
		out := map[string]dataflow.RealTensor{}
		for name, v := range all {
			if at.written.Known[name].Const == nil {
				out[name] = dataflow.RealTensor{Shape: v.Shape, Data: v.Lo}
			}
		}
		return out, nil
	}
}

// FloatTensors is Tensors in float64, of a model whose Float is not nil.
func (im *Imported) FloatTensors() func(in []dataflow.RealTensor) (map[string]dataflow.RealTensor, error) {
	var at *Imported
	var part *float.Part
	r := im.relay()
	return func(in []dataflow.RealTensor) (map[string]dataflow.RealTensor, error) {
		sized, _, err := r.next(in)
		if err != nil {
			return nil, err
		}
		if at != sized {
			at = sized
			names := inputNames(at.written)
			steps, _ := at.written.Needed(names, outputNames(at.written))
			for _, s := range steps {
				names = append(names, s.Output)
			}
			if part, err = float.New(at.written, inputNames(at.written), names); err != nil {
				return nil, err
			}
			part.On(runtime.GOMAXPROCS(0))
		}
		return floatTensors(at.written, part, in)
	}
}

// Shape is that of a tensor of the model as written.
func (im *Imported) Shape(tensor string) []int { return im.written.Known[tensor].Shape }

// ImportReference imports only as far as executing the model as written needs: a model that has no quantised layer
// runs too.
func ImportReference(name string, onnx []byte, opt Options, d *diag.List) *Imported {
	var found diag.List
	g := read(name, onnx, opt, &found)
	if l := opt.lengthsOf(g); l != nil {
		opt.Lengths = l
		return opt.referenceLengths(name, onnx, d)
	}
	d.Diags = append(d.Diags, found.Diags...)
	return opt.fixedReference(g, name, d)
}

// fixedReference is ImportReference of a graph where every axis has one size.
func (o Options) fixedReference(g *graph.Graph, name string, d *diag.List) *Imported {
	if g == nil {
		return &Imported{}
	}
	read := &Imported{}
	if !readWritten(read, g, name, o, d) {
		return &Imported{Fates: unknownFates(g)}
	}
	return asWritten(read, o, d)
}

// AsWritten is ImportReference of what Import has read, with the same file and options. It has no Model where that was
// nothing.
func AsWritten(im *Imported, name string, onnx []byte, opt Options, d *diag.List) *Imported {
	if im.written == nil {
		return &Imported{}
	}
	d.Merge(im.found)
	if d.Failed() {
		return &Imported{}
	}
	if im.asked == nil {
		return asWritten(im, opt, d)
	}
	opt.Lengths = im.asked
	ref := asWritten(im, opt.fixed(opt.Lengths.Max), d)
	opt.varyReference(ref, name, onnx, d)
	return ref
}

// asWritten is the model as written of what was read.
func asWritten(im *Imported, o Options, d *diag.List) *Imported {
	p := im.written
	m := &dataflow.Model{Name: p.Graph.Name, Reference: reference(p), Meta: p.Graph.Meta}
	m.In, m.Out = signature(p)
	whole(m, im.batch)
	grids(m.In, p.Graph.Arrive)
	ref := &Imported{Model: m, options: im.options, written: p, stream: o.Stateful}
	if o.Stateful {
		m.Stream = ref.pieces
	} else {
		m.Float, m.Feedback = floating(p), o.feedback(p, d)
	}
	return ref
}

func model(written, program *graph.Program, low *lower.Result) *dataflow.Model {
	m := &dataflow.Model{Name: written.Graph.Name, Graph: low.Graph, Reference: reference(written),
		Meta: written.Graph.Meta}
	m.In, m.Out = signature(written)
	ranges(program, m.In)
	m.Prefix, m.Suffix = prefix(program, low), suffix(program, low)
	m.Host = sync.OnceValue(func() *dataflow.Host { return host(written, program, low, m.Prefix) })
	grids(m.In, low.Arrive)
	return m
}

func signature(p *graph.Program) (in, out []dataflow.Real) {
	for _, v := range p.Graph.Inputs {
		k := p.Known[v.Name]
		side, sides := p.Graph.Sides[v.Name]
		in = append(in, dataflow.Real{Name: v.Name, Shape: k.Shape, DType: k.DType.String(),
			Batch: !p.Sequence(v.Name) && leadingBatch(v, k.Shape) || sides && side == 0 && k.Shape[0] == 1})
	}
	for _, v := range p.Graph.Outputs {
		k := p.Known[v.Name]
		out = append(out, dataflow.Real{Name: v.Name, Shape: k.Shape, DType: k.DType.String(), Batch: true})
	}
	return in, out
}

// leadingBatch reports whether the first axis counts samples: it is 1 or dynamic.
func leadingBatch(v graph.Value, shape []int) bool {
	return len(shape) > 1 && (shape[0] == 1 || v.Known && len(v.Dims) > 0 && v.Dims[0].Size < 0)
}

func inputNames(p *graph.Program) []string { return graph.Names(p.Graph.Inputs) }

func outputNames(p *graph.Program) []string { return graph.Names(p.Graph.Outputs) }

// mustPart cuts a part whose inputs lowering has already established.
func mustPart(p *graph.Program, from, to []string) *graph.Part {
	part, err := p.Part(from, to)
	if err != nil {
		panic(err)
	}
	return part
}

func reals(in []dataflow.RealTensor) []*graph.Reals {
	out := make([]*graph.Reals, len(in))
	for i, t := range in {
		out[i] = graph.Exactly(t.Shape, t.Data)
	}
	return out
}

// checkFinite refuses what has no place among the reals.
func checkFinite(in []dataflow.RealTensor) error {
	for k, t := range in {
		for i, v := range t.Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("input %d, element %d is %v", k, i, v)
			}
		}
	}
	return nil
}

// maxSteps bounds the steps, and products, that the rounding of an output goes back through in a model without codes.
const maxSteps = 1 << 20

func reference(p *graph.Program) dataflow.Reference {
	part := mustPart(p, inputNames(p), outputNames(p)).Together()
	if !float.Decides(p) {
		part.Most = maxSteps
	}
	forks := sync.Pool{New: func() any { return part.Fork() }} // they remember values
	return func(in []dataflow.RealTensor) ([]dataflow.RealTensor, error) {
		if err := checkFinite(in); err != nil {
			return nil, err
		}
		fork := forks.Get().(*graph.Part)
		defer forks.Put(fork)
		return results(p, fork, reals(in))
	}
}

// results runs a part and gives the outputs of the program.
func results(p *graph.Program, part *graph.Part, in []*graph.Reals) (out []dataflow.RealTensor, err error) {
	all, err := part.Outputs(in)
	if err != nil {
		return nil, err
	}
	for _, o := range p.Graph.Outputs {
		data, err := part.Rounded(o.Name, all)
		if err != nil {
			return nil, err
		}
		out = append(out, dataflow.RealTensor{Shape: p.Known[o.Name].Shape, Data: data})
	}
	return out, nil
}
