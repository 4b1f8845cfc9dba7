// Package lower turns a canonical program into integer layers. It works backwards from quantisers instead of
// rewriting patterns. All that lies between the sum of products of a matrix layer and the code of a quantiser is
// one function from integers to integers, which it finds exactly (real.Func.StepFunctionOver). Parts that stay
// real-valued at either end are left to the host.
//
// It walks through the program once. Each step goes through three stages, each a package, with values in between:
//
//	program.Step --find--> choose.IntegerFunction --choose--> choose.LayerChoice --place--> wires of a place.Netlist
//
// For example, let y = Quant(MatMul(q, w)*s + b) with integers q. The product is a choose.MatrixProduct of integer
// weights, and the choice is an MVAU, which waits. The quantiser's slice is one function of the product's integers,
// a choose.StepActivation. Among the rows for activations, thresholds in the layer in front fit, if nothing else reads
// the product and the function rises. So a single MVAU goes on a wire. If a Softmax read the product too, the MVAU
// would have no thresholds, and a Thresholding would follow.
//
// Files: lower.go walks, rules.go is the table of rules for steps, verdicts.go reports steps without layers;
// host.go, matrix.go, image.go, quantiser.go, labels.go and recurrence.go contain the rules, beginning.go the
// initial values of loops; circuit.go, sums.go, recode.go and sending.go contain what the rules build with;
// split.go finds products to be split; interleave.go turns a graph for a single sample into one for several, with
// the table of turn.go; lengths.go compares a graph with those for sequences of other lengths.
//
// Packages: find reads a program as a program of integers; choose is the table of layers; place has netlists and
// movements; recur reads cells of recurrences; integers finds integers for rationals; unmapped has the reasons for
// steps without layers.
//
// In come a program.Program and what the inputs arrive as; out comes a LoweredProgram.
package lower

import (
	"cmp"
	"fmt"
	"slices"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A LoweredProgram is the result of Lower: the dataflow graph, and what the host sends to it and reads from it.
type LoweredProgram struct {
	Graph *dataflow.Graph // nil after an error; Layers then tells what the rest becomes
	In    []string        // per Graph.In: the tensor of codes that the host computes
	Out   []string        // per Graph.Out: the integer tensor from which the host continues
	// per integer tensor: the position in its stream of each element; nil if element i is at position i
	Place   map[string]*program.IndexList
	Layers  map[int]string   // ONNX node index -> layer that computes the node
	Carried []TensorOnStream // integer tensors that streams carry as a whole
	Integer *scaled.IntegerAnalysis
	Arrive  map[string]*graph.IntegerInputEncoding // model inputs that arrive as integers

	Rejected map[int]bool // ONNX node indices of steps that could not be mapped
	// ONNX node indices of loops that no layer runs; if they are short or steps of the file, unrolling may help to
	// map them
	Unroll map[int]bool
	// by output: products whose data have several scales, with the elements of the summed axis grouped by scale
	Split       map[string][][]int
	MoveToFront map[string]bool // codes behind a movement without a layer; computing them in front of it may help

	sent map[string]scaled.AffinesOfElements // real values of the integers of In
	// set if Integer belongs to longer sequences; nil if it belongs to the program
	stretch *axes.SequenceLengthComparison
}

// A TensorOnStream names an integer tensor and the stream that carries it.
type TensorOnStream struct {
	Tensor string // its elements have the order of Place
	Name   string // name of the model's tensor with these integers
	Stream int
}

// Options says how Lower treats a model's inputs and functions.
type Options struct {
	// recurrences keep their states from frame to frame (rnn.Params.Keeps): all run forwards and begin with
	// constants
	Stateful bool
	Timed    bool // sequences have several lengths, so that loops output every time step
	Turns    bool // samples will take turns in recurrences
	// returns a hint for a recurrence that begins with a real-valued model input, or "" if nothing helps
	Begins func(input string) string
	Steps  *StepFunctionCache // step functions of the same model, lowered before; nil if there are none
}

// StepFunctionCache caches the step functions of a model that was lowered.
type StepFunctionCache = choose.StepFunctionCache

// Lower walks through the program once, in order, and tries the rules on each step. After adding an error to d it
// continues, so that it reports all nodes that cannot be mapped. The result then has no Graph.
func Lower(p *program.Program, opt Options, d *diag.List) *LoweredProgram {
	found := find.NewAnalysedProgram(p)
	l := &lowering{circuit: circuit{AnalysedProgram: found, waiting: map[string]int{},
		host: sending{found, map[string]sent{}}, apart: opt.Timed || opt.Turns,
		steps: cmp.Or(opt.Steps, &choose.StepFunctionCache{})},
		verdicts: newVerdicts(p.File, d), loops: newRecurrences(), stateful: opt.Stateful, timed: opt.Timed,
		begins: opt.Begins,
		hosted: map[string]bool{}, reals: map[string]bool{}}
	arrive := l.declareInputs()
	for _, step := range recurrencesFirst(p) {
		if l.Uses.IsStepNeededByOutputs(step) {
			l.buildFor(step)
			l.apply(step)
		}
	}
	l.buildLoops()
	l.outputs()
	r := l.result()
	r.Arrive = arrive
	for _, w := range l.wide {
		d.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.ActivationRangeTooWide, Node: w.node.Label(),
			Op:    w.node.QualifiedOpName(),
			Where: operators.NodePositionText(p.File, w.node),
			Msg:   fmt.Sprintf("its values need codes of %d bits, in their greatest common unit", w.bits),
			Hint: "quantise behind it; or choose constants that are small multiples of one number, as a slope of 1/8 " +
				"is"})
	}
	if r.Graph == nil || len(r.Graph.Nodes) > 0 {
		return r
	}
	r.Graph = nil
	for _, left := range l.left {
		l.report(left.step, left.rule, left.reject)
	}
	switch {
	case l.minifloats() || len(l.left) > 0:
	case l.lost():
		d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.NothingQuantised, Where: p.File,
			Msg: "no output depends on an input: the network is not in the file",
			Hint: "the exporter has left it out: export again with dynamo=False, as torch.onnx.export and Brevitas' " +
				"export_qonnx take it"})
	default:
		d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.NothingQuantised, Where: p.File,
			Msg: "no matrix product or quantiser of this model works on quantised data",
			Hint: "quantise the inputs of the layers as well as their weights (Brevitas: QuantIdentity in front, " +
				"return_quant_tensor=True)"})
	}
	return r
}

// A lowering is a program that is being lowered.
type lowering struct {
	circuit
	verdicts
	loops    recurrences
	stateful bool // recurrences keep their states
	timed    bool // recurrences output every time step
	begins   func(input string) string
	hosted   map[string]bool // tensors behind a step without a layer and not behind a quantiser: left to the host
	left     []left
	reals    map[string]bool // answers of isReal
}

// A left is a step at the model's end that no layer computes. The host computes it if there is any layer in front of
// it.
type left struct {
	step   *program.Step
	rule   string
	reject error
}

// leave leaves a step to the host. It records the rule that refused the step, and the reason.
func (l *lowering) leave(step *program.Step, rule string, reject error) {
	l.left = append(l.left, left{step, rule, reject})
}

// apply tries the rules on a step, in order, until one handles or refuses it.
func (l *lowering) apply(step *program.Step) {
	if slices.ContainsFunc(step.Node.Inputs, func(in string) bool { return l.failed[in] }) {
		l.behindFailed(step)
		return
	}
	if slices.ContainsFunc(step.Node.Inputs, func(in string) bool { return l.hosted[in] }) {
		l.hosted[step.Output] = true
		return
	}
	for _, r := range Rules {
		done, reject := r.match(l, step)
		if reject != nil {
			l.report(step, r.Name, reject)
			return
		}
		if done {
			return
		}
	}
	panic(fmt.Sprintf("lower: no rule for %s", step.Node.QualifiedOpName()))
}

// behindFailed handles a step whose input depends on a reported step. It takes codes behind it as given, so that
// the rest can still be examined.
func (l *lowering) behindFailed(step *program.Step) {
	switch {
	case scaled.IsQuantiserStep(step):
		l.assume(step)
	case operators.HasTrait(step.Node, operators.TraitSoftmax) && l.Uses.FeedsQuantiser(step.Output):
		l.report(step, "slice", find.NewWholeRowReason(step.Node))
	default:
		l.failed[step.Output] = true
	}
}

// outputs records the integer tensors from which the host computes the model's outputs.
func (l *lowering) outputs() {
	seen := map[string]bool{}
	var visit func(tensor string)
	visit = func(tensor string) {
		if seen[tensor] || l.failed[tensor] {
			return
		}
		seen[tensor] = true
		if at, ok := l.PlaceOf(tensor); ok && !at.IsFromHost() && !at.Alias {
			l.net.AddHostOutput(l.take(tensor), tensor)
			return
		}
		if step := l.ProducerOf(tensor); step != nil {
			for _, in := range step.Node.Inputs {
				visit(in)
			}
		}
	}
	for _, o := range l.Graph.Outputs {
		visit(o.Name)
	}
}

// result returns the result of lowering. It has no Graph if the list of diagnostics has errors.
func (l *lowering) result() *LoweredProgram {
	l.net.PruneUnreadLayers()
	l.Integers.ReleaseCountingList()
	r := &LoweredProgram{In: l.net.HostInputTensorNames(), Out: l.net.HostOutputTensorNames(), Integer: l.Integers,
		Rejected: l.rejected,
		Unroll:   l.unroll,
		Split:    l.split, MoveToFront: l.ahead,
		Place: map[string]*program.IndexList{}, sent: map[string]scaled.AffinesOfElements{}}
	for tensor, at := range l.Places {
		r.Place[tensor] = at.At
	}
	for _, tensor := range r.In {
		r.Place[tensor], r.sent[tensor] = l.host.sent[tensor].at.At, l.host.sent[tensor].of
	}
	var built *place.BuiltGraph
	if !l.d.HasErrors() {
		var err error
		if built, err = l.net.BuildGraph(); err != nil {
			panic(err)
		}
		r.Graph, r.Carried = built.Graph.WithMinifloatStreams(), l.carried(built)
	}
	r.Layers = l.net.LayerNamesByNode(built)
	for _, n := range l.wires {
		if r.Layers[n.Index] == "" {
			r.Layers[n.Index] = choose.LayerNameWire
		}
	}
	return r
}

// carried returns the integer tensors that streams carry, sorted by streams and then by names.
func (l *lowering) carried(b *place.BuiltGraph) (list []TensorOnStream) {
	for tensor, at := range l.Places {
		if from, ok := l.host.sent[tensor]; ok && from.at != at {
			continue // Place describes what the host sends
		}
		if stream, ok := b.StreamIndexOf(at); ok {
			list = append(list, TensorOnStream{tensor, l.StreamNameOf(tensor), stream})
		}
	}
	slices.SortFunc(list, func(a, b TensorOnStream) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Tensor, b.Tensor))
	})
	return list
}
