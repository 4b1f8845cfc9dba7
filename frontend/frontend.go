// Package frontend makes a dataflow.Model from the bytes of an ONNX file. It reads and normalises the graph, lowers it
// to integer layers, and keeps the real-valued parts at both ends as functions of the host.
//
// In come bytes and Options; out come an ImportedModel with its Model, or diagnostics.
//
//   - frontend.go has Import; read.go reads a file and the files that belong to it; outside.go has aliases for other
//     modules
//   - initial.go gives recurrences other initial states
//   - feedback.go finds pairs of inputs and outputs that are one state, and makes recurrences keep it
//   - inputs.go, formats.go, batch.go, stateful.go and lengths.go settle what the file leaves open: types of inputs,
//     quantisers of gates, the batch, states across samples, and lengths of sequences
//   - cut.go ends a graph at other outputs, and finds a cut in front of nodes that cannot be mapped
//   - fates.go says how each node is implemented; ranges.go finds ranges of inputs for made-up test data
//   - ends.go runs the host's parts in front of the accelerator and behind it
//   - host.go describes the host's parts as tables of codes and values; around.go cuts out the parts that have no such
//     tables
//   - floating.go runs models in float64 in which nothing is rounded to codes
//   - requantise.go gives a model other quantisers, based on samples
//   - sums.go describes sums of products in the model's own integers; accumulators.go runs them with narrower
//     accumulators
//   - compare.go judges the outputs of another executor; decide.go finds codes that it may have had; changes.go lists
//     the codes to try
//   - stats.go counts the operations of the model as written
package frontend

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/canon"
	"hlsgen/frontend/execution"
	"hlsgen/frontend/float"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/pass"
	"hlsgen/frontend/program"
	"hlsgen/frontend/quantise"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// Options says what the file of a model leaves open, and how to import it.
type Options struct {
	Dims   map[string]int   // sizes of named dynamic axes
	Shapes GivenInputShapes // shapes of whole inputs
	// Data holds the shapes of the data at hand by input name ("" for a single input). They bind dynamic axes, too.
	Data map[string][]int
	// Stateful says that samples are pieces of one stream, in order: each recurrence continues from its last state.
	Stateful bool
	Lengths  *AxisLengthRange // the lengths of a dynamic axis that is time; nil for a single length
	// how many samples take turns in recurrences and form a frame; 0 or 1 for a frame per sample
	Samples int
	// from --lstm-config and --cell-config: the quantisers of the gates of recurrent operators
	Cells []CellFormatsFile
	Pass  pass.Options[*canon.PassState]

	// Folder holds the model's file, which may keep tensors in other files; nil if there are none. Links do not lead
	// out of the file system of an os.Root.
	Folder fs.FS

	InputType  *IntegerInputType    // the integers that arrive; nil for reals, which the host quantises
	InputQuant *AddedInputQuantiser // a quantiser to put in front of every input; nil for none
	// pairs of inputs and outputs that are one state; with Stateful, recurrences keep it
	States  []StateFeedback
	Initial InitialStateModesByInput // initial states of recurrences that replace inputs
	Outputs []string                 // the tensors to use as outputs; nil for the file's own outputs
	Lookup  quantise.LookupPlace     // where a quantised model looks up rows of tables

	timed bool // other lengths are to follow, so loops are not unrolled
	steps int  // the length to which an input with the sequence's length is bound; otherwise 0
}

// GivenInputShapes holds the sizes of all axes of inputs, by the input's name.
type GivenInputShapes = operators.GivenInputShapes

// A NodeFate says how one ONNX node is implemented. It is one line of the output of `hlsgen check`.
type NodeFate struct {
	Index int    `json:"index"`
	Node  string `json:"node"`
	Op    string `json:"op"`
	// Fate is a layer's name (with ", host prefix" or ", host suffix" if a part stays on the host), "constant", "host
	// prefix", "host suffix", "unused", "undecided", "not reached" or "not mapped".
	Fate string `json:"becomes"`
	// Module is the network's module to which the node belongs, if the exporter's metadata name one.
	Module string `json:"module,omitempty"`
	// Reads and Writes are the tensors that the node reads and writes, by their names in the file.
	Reads  []string `json:"-"`
	Writes []string `json:"-"`
}

// An ImportedModel is the result of importing an ONNX file: the model, and the fates of its nodes.
type ImportedModel struct {
	Model *dataflow.Model
	Fates []NodeFate

	options operators.Options
	file    *program.Program
	written *program.Program // file; if samples are pieces of a stream, with unrolled recurrences as loops
	program *program.Program // the normalised program that was lowered
	lowered *lower.LoweredProgram
	batch   *axes.BatchAxisCandidate
	stream  bool // samples are pieces of one stream
	lengths *lengths
	asked   *AxisLengthRange // the lengths that sequences may have; the file was read for the longest
	found   []diag.Diag      // the messages about the model as written
	ports   [2][]string      // the names of inputs and outputs
}

// Import reads a model from the bytes of an ONNX file. name is the file's base name, for diagnostics. After adding
// errors to d, Import returns an ImportedModel without Model; its Fates are set if the file could be read. The error
// comes from dumping passes.
func Import(name string, onnx []byte, opt Options, d *diag.List) (*ImportedModel, error) {
	var found diag.List
	g := read(name, onnx, opt, &found)
	if l := opt.lengthsOf(g); l != nil {
		opt.Lengths = l
		return opt.importLengths(name, onnx, d)
	}
	d.Diags = append(d.Diags, found.Diags...)
	return opt.fixedImport(g, name, d)
}

// fixedImport imports a graph in which every axis has one size.
func (o Options) fixedImport(g *graph.Graph, name string, d *diag.List) (*ImportedModel, error) {
	im := &ImportedModel{}
	if err := im.prepare(g, name, o, d); err != nil || im.program == nil {
		return im, err
	}
	how := lower.Options{Stateful: o.Stateful, Timed: o.timed, Turns: o.Samples > 1,
		Begins: func(input string) string { return beginsWith(im.written, input) }, Steps: &lower.StepFunctionCache{}}
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
		turned, turns := lower.InterleaveSamples(low, o.Samples, name, d)
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

// readWritten reads the model as far as executing it as written needs. It reports false after adding errors to d.
func readWritten(im *ImportedModel, g *graph.Graph, name string, opt Options, d *diag.List) bool {
	im.options = opt.bind(g, name, d)
	if im.file, im.batch = sample(g, name, &im.options, d); im.file == nil {
		return false
	}
	im.written = opt.streamed(im.file)
	opt.keeps(im.written, im.batch, d)
	im.found = slices.Clone(d.Diags)
	return !opt.Stateful || !d.HasErrors()
}

// prepare normalises a graph, in which layers can then be found, and sets im.program. After adding errors to d it
// leaves im.program nil.
func (im *ImportedModel) prepare(g *graph.Graph, name string, opt Options, d *diag.List) error {
	if g == nil {
		return nil
	}
	im.ports = [2][]string{graph.ValueNames(g.Inputs), graph.ValueNames(g.Outputs)}
	switch ok := readWritten(im, g, name, opt, d); {
	case im.file == nil:
		im.Fates = restFates(g, name, opt, d)
		return nil
	case !ok:
		im.Fates = unknownFates(g)
		return nil
	}
	var rewritten diag.List
	program, err := canon.NormaliseGraph(&canon.PassState{Program: im.written}, opt.Pass, &rewritten)
	for _, x := range rewritten.Diags {
		d.Add(x)
	}
	if im.program = program; program == nil {
		im.Fates = unknownFates(g)
	}
	return err
}

// lower sets the model from the lowered layers.
func (im *ImportedModel) lower(low *lower.LoweredProgram) {
	im.lowered, im.Model = low, model(im.written, im.program, low)
	whole(im.Model, im.batch)
}

// A StreamedTensor is a tensor of the model whose integers a stream carries. The value of element i is Scale[i]*integer
// + Bias[i].
type StreamedTensor struct {
	Name        string
	Stream      int
	Shape       []int
	Scale, Bias []float64
	// Integers puts the elements of the stream's frame into the order of the tensor.
	Integers func(frame []int64) []int64
}

// StreamedTensors lists the tensors that streams carry completely. A stream that only moves elements has no tensor of
// the model. im must come from Import and have a Model.
func (im *ImportedModel) StreamedTensors() (list []StreamedTensor) {
	for _, c := range im.lowered.Carried {
		k := im.program.Known[c.Name]
		t := StreamedTensor{Name: c.Name, Stream: c.Stream, Shape: k.Shape,
			Integers: func(frame []int64) []int64 { return im.lowered.FromStreamOrder(c.Tensor, frame) }}
		if slices.ContainsFunc(list, func(o StreamedTensor) bool { return o.Name == c.Name }) || !im.affine(c, &t) {
			continue
		}
		list = append(list, t)
	}
	return list
}

// affine sets the scales and biases of a tensor's elements. It reports false if the elements are not affine functions
// of the integer tensor's elements, one each.
func (im *ImportedModel) affine(c lower.TensorOnStream, t *StreamedTensor) bool {
	n := graph.ElementCount(t.Shape)
	elements, ok := im.lowered.IndicesInLongestSequence(c.Name, n)
	if !ok {
		return false
	}
	forms, err := im.lowered.Integer.FormsOfElements(c.Name, elements)
	if err != nil || len(forms.Of) != 1 || len(forms.Of[0].IntegerVariables()) != 1 ||
		forms.Of[0].IntegerVariables()[0].Tensor != c.Tensor {
		return false
	}
	form := &forms.Of[0]
	leaf := form.IntegerVariables()[0]
	for i := range n {
		switch {
		case leaf.Index[i] != elements[i]:
			return false
		case i > 0 && form.IsSameAtElements(i-1, i):
			t.Scale, t.Bias = append(t.Scale, t.Scale[i-1]), append(t.Bias, t.Bias[i-1])
			continue
		}
		e, _ := form.ExprAtElement(i)
		f, ok := e.AsAffine()
		if !ok {
			return false
		}
		scale, _ := f.Scale.Float64()
		bias, _ := f.Bias.Float64()
		t.Scale, t.Bias = append(t.Scale, scale), append(t.Bias, bias)
	}
	return true
}

// maxAttempts bounds how often a program is rewritten because some nodes have no layer.
const maxAttempts = 4

// again normalises and lowers a program again if the first attempt left nodes without a layer. It unrolls loops, splits
// products and moves quantisers to the front as that attempt suggests, and repeats this while there are new
// suggestions. If no attempt has layers for everything, it returns the first one with the fewest errors, and sets found
// to these.
func again(written, program *program.Program, low *lower.LoweredProgram, how lower.Options,
	found *diag.List) (*program.Program,
	*lower.LoweredProgram) {
	m := &canon.PassState{Program: written, Unroll: map[int]bool{}, Split: map[string][][]int{},
		Front: map[string]bool{}}
	next := low
	for range maxAttempts {
		before := len(m.Unroll) + len(m.Split) + len(m.Front)
		maps.Copy(m.Unroll, next.Unroll)
		maps.Copy(m.Split, next.Split)
		maps.Copy(m.Front, next.MoveToFront)
		if len(m.Unroll)+len(m.Split)+len(m.Front) == before {
			break
		}
		var quiet, second diag.List
		made := *m
		again, err := canon.NormaliseGraph(&made, pass.Options[*canon.PassState]{}, &quiet)
		if err != nil || again == nil {
			break
		}
		next = lower.Lower(again, how, &second)
		if next.Graph != nil || second.HasErrors() && len(next.Rejected) < len(low.Rejected) {
			program, low, *found = again, next, second
		}
		if next.Graph != nil {
			break
		}
	}
	return program, low
}

// NewAllTensorsRunner returns a function that runs samples, in order, through the model as written. The function
// returns every tensor that depends on data, rounded to its type.
func (im *ImportedModel) NewAllTensorsRunner() func(in []dataflow.RealTensor) (map[string]dataflow.RealTensor, error) {
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

// NewFloatAllTensorsRunner is like NewAllTensorsRunner, but its function runs samples in float64. The Float field of
// im.Model must not be nil.
func (im *ImportedModel) NewFloatAllTensorsRunner() func(in []dataflow.RealTensor) (map[string]dataflow.RealTensor,
	error) {
	var at *ImportedModel
	var part *float.Evaluator
	r := im.relay()
	return func(in []dataflow.RealTensor) (map[string]dataflow.RealTensor, error) {
		sized, _, err := r.next(in)
		if err != nil {
			return nil, err
		}
		if at != sized {
			at = sized
			names := inputNames(at.written)
			steps, _ := at.written.StepsBetween(names, outputNames(at.written))
			for _, s := range steps {
				names = append(names, s.Output)
			}
			if part, err = float.NewEvaluator(at.written, inputNames(at.written), names); err != nil {
				return nil, err
			}
			part.UseGoroutines(runtime.GOMAXPROCS(0))
		}
		return floatTensors(at.written, part, in)
	}
}

// TensorShape returns the shape of a tensor of the model as written, or nil if the model has no such tensor.
func (im *ImportedModel) TensorShape(tensor string) []int {
	if im.written == nil {
		return nil
	}
	return im.written.Known[tensor].Shape
}

// PortNames returns the names of a model's inputs and outputs, in the order of the file. It works for a model that
// could not be mapped, too.
func PortNames(im *ImportedModel) (inputs, outputs []string) {
	if im.written != nil {
		return graph.ValueNames(im.written.Graph.Inputs), graph.ValueNames(im.written.Graph.Outputs)
	}
	return im.ports[0], im.ports[1]
}

// ImportForReference imports a model only as far as executing it as written needs. It thus accepts models without
// quantised layers. After adding errors to d, it returns an ImportedModel without Model.
func ImportForReference(name string, onnx []byte, opt Options, d *diag.List) *ImportedModel {
	var found diag.List
	g := read(name, onnx, opt, &found)
	if l := opt.lengthsOf(g); l != nil {
		opt.Lengths = l
		return opt.referenceLengths(name, onnx, d)
	}
	d.Diags = append(d.Diags, found.Diags...)
	return opt.fixedReference(g, name, d)
}

// fixedReference implements ImportForReference for a graph in which every axis has one size.
func (o Options) fixedReference(g *graph.Graph, name string, d *diag.List) *ImportedModel {
	if g == nil {
		return &ImportedModel{}
	}
	read := &ImportedModel{}
	if !readWritten(read, g, name, o, d) {
		return &ImportedModel{Fates: unknownFates(g)}
	}
	return asWritten(read, o, d)
}

// ImportForReferenceReusing returns what ImportForReference returns for the same file and options, but reuses the
// result of Import. It has no Model if Import could not read the file, or if d has errors, to which it adds those about
// the model as written.
func ImportForReferenceReusing(im *ImportedModel, name string, onnx []byte, opt Options, d *diag.List) *ImportedModel {
	if im.written == nil {
		return &ImportedModel{}
	}
	d.AddMissing(im.found)
	if d.HasErrors() {
		return &ImportedModel{}
	}
	if im.asked == nil {
		return asWritten(im, opt, d)
	}
	opt.Lengths = im.asked
	ref := asWritten(im, opt.fixed(opt.Lengths.Max), d)
	opt.varyReference(ref, name, onnx, d)
	return ref
}

// asWritten returns an ImportedModel for executing the model as written.
func asWritten(im *ImportedModel, o Options, d *diag.List) *ImportedModel {
	p := im.written
	m := &dataflow.Model{Name: p.Graph.Name, Reference: reference(p), Meta: p.Graph.Meta}
	m.In, m.Out = signature(p)
	whole(m, im.batch)
	grids(m.In, p.Graph.Arrive)
	ref := &ImportedModel{Model: m, options: im.options, written: p, stream: o.Stateful}
	if o.Stateful {
		m.Stream = ref.pieces
	} else {
		m.Float, m.Feedback = floating(p), o.feedback(p, d)
	}
	return ref
}

func model(written, program *program.Program, low *lower.LoweredProgram) *dataflow.Model {
	m := &dataflow.Model{Name: written.Graph.Name, Graph: low.Graph, Reference: reference(written),
		Meta: written.Graph.Meta, Functions: new(circuit.FunctionLibrary)}
	m.In, m.Out = signature(written)
	ranges(program, m.In)
	m.Prefix, m.Suffix = prefix(program, low), suffix(program, low)
	m.Host = sync.OnceValue(func() *dataflow.HostDescription { return host(written, program, low, m.Prefix) })
	grids(m.In, low.Arrive)
	return m
}

func signature(p *program.Program) (in, out []dataflow.RealTensorInfo) {
	for _, v := range p.Graph.Inputs {
		k := p.Known[v.Name]
		side, sides := p.Graph.Sides[v.Name]
		in = append(in, dataflow.RealTensorInfo{Name: v.Name, Shape: k.Shape, DType: k.DType.String(),
			Batch: !p.IsSequenceInput(v.Name) && leadingBatch(v, k.Shape) || sides && side == 0 && k.Shape[0] == 1})
	}
	for _, v := range p.Graph.Outputs {
		k := p.Known[v.Name]
		out = append(out, dataflow.RealTensorInfo{Name: v.Name, Shape: k.Shape, DType: k.DType.String(), Batch: true})
	}
	return in, out
}

// leadingBatch reports whether the first axis of an input or output counts samples, which it does if its size is 1 or
// open.
func leadingBatch(v graph.ValueInfo, shape []int) bool {
	return len(shape) > 1 && (shape[0] == 1 || v.Known && len(v.Dims) > 0 && v.Dims[0].Size < 0)
}

func inputNames(p *program.Program) []string { return graph.ValueNames(p.Graph.Inputs) }

func outputNames(p *program.Program) []string { return graph.ValueNames(p.Graph.Outputs) }

// mustPart returns a part of a program. It panics on an error, because lowering has already established the part's
// inputs.
func mustPart(p *program.Program, from, to []string) *execution.ProgramPart {
	part, err := execution.NewProgramPart(p, from, to)
	if err != nil {
		panic(err)
	}
	return part
}

func reals(in []dataflow.RealTensor) []*program.Reals {
	out := make([]*program.Reals, len(in))
	for i, t := range in {
		out[i] = program.NewExactReals(t.Shape, t.Data)
	}
	return out
}

// checkFinite returns an error if an input holds an infinity or NaN.
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

// maxSteps bounds the steps and products through which the rounding of an output goes back, in a model without codes.
const maxSteps = 1 << 20

func reference(p *program.Program) dataflow.ReferenceFunc {
	part := mustPart(p, inputNames(p), outputNames(p)).WithJoinedElementFunctions()
	if !float.NeedsExactArithmetic(p) {
		part.Most = maxSteps
	}
	forks := sync.Pool{New: func() any { return part.Fork() }} // a part keeps values between runs
	return func(in []dataflow.RealTensor) ([]dataflow.RealTensor, error) {
		if err := checkFinite(in); err != nil {
			return nil, err
		}
		fork := forks.Get().(*execution.ProgramPart)
		defer forks.Put(fork)
		return results(p, fork, reals(in))
	}
}

// results runs a part and returns the outputs of the program.
func results(p *program.Program, part *execution.ProgramPart, in []*program.Reals) (out []dataflow.RealTensor,
	err error) {
	all, err := part.RunForOutputs(in)
	if err != nil {
		return nil, err
	}
	for _, o := range p.Graph.Outputs {
		data, err := part.RoundedOutput(o.Name, all)
		if err != nil {
			return nil, err
		}
		out = append(out, dataflow.RealTensor{Shape: p.Known[o.Name].Shape, Data: data})
	}
	return out, nil
}
