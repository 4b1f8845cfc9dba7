// Package lower makes integer layers of a canonical program. It works from quantisers backwards, not by rewriting
// patterns: whatever lies between the sum of products of a matrix layer and the code of a quantiser is one function
// from integers to integers, found exactly (real.Func.StepOver). What stays real-valued at either end is left to the
// host.
//
// It walks the program once. Each step goes through three stages, a package each, with values between them:
//
//	graph.Step --find--> choose.Function --choose--> choose.Choice --place--> wires of a place.Netlist
//
// For example, in y = Quant(MatMul(q, w)*s + b), with integers q, the product is a choose.Matrix of whole weights: the
// choice is an MVAU, which waits. The quantiser's slice is one function of the product's integers, a choose.Activation:
// of its rows, the one of thresholds in the layer in front fits, if nothing else reads the product and the function
// rises. So one MVAU goes on a wire. Had a Softmax read the product too, the MVAU would be without thresholds, and a
// Thresholding behind it.
//
// Files: lower.go walks, rules.go is the table of what becomes of a step, verdicts.go what is said of steps without
// layers; host.go, matrix.go, image.go, quantiser.go, labels.go and recurrence.go have the rules, beginning.go
// what loops begin with; circuit.go, sums.go, recode.go and sending.go what they build with; split.go says which
// products are to be several; interleave.go makes a graph for several samples of one for a single one, with the table
// of turn.go; lengths.go holds a graph against those for sequences of other lengths.
//
// Packages: find reads a program as one of integers; choose is the table of layers; place has netlist and movements;
// recur reads cells of recurrences; whole makes integers of rationals; unmapped has the reasons.
//
// In come a graph.Program and what the inputs arrive as; out comes a Result. It sees canon, graph, real, scaled,
// choose, find, place, recur, unmapped, whole, dataflow, diag, num and hlslib.
package lower

import (
	"cmp"
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// Result is a lowered program.
type Result struct {
	Graph *dataflow.Graph // nil after an error: then Layers says what the rest becomes
	In    []string        // per Graph.In: the tensor of codes that the host computes
	Out   []string        // per Graph.Out: the integer tensor that the host goes on from
	// per integer tensor: the position in its stream of each element; nil where element i is at i
	Place   map[string]*graph.List
	Layers  map[int]string // ONNX node index -> layer that computes it
	Carried []Carried      // the integer tensors that streams carry whole
	Integer *scaled.Analysis
	Arrive  map[string]*graph.Arrival // the model's inputs that arrive as integers

	Rejected map[int]bool // ONNX node indices of what could not be mapped
	// ONNX node indices of loops that no layer runs, short ones or steps of the file: written out, they may be mapped
	Unroll map[int]bool
	// products whose data have several scales, by output: which elements of the summed axis have which
	Split map[string][][]int
	Front map[string]bool // codes that no layer makes of what was moved: made in front of that, they may be

	sent    map[string]scaled.Values // what the integers of In stand for
	stretch *graph.Stretch           // Integer is of its longer sequences; nil where it is of the program's own
}

// Carried is an integer tensor on a stream.
type Carried struct {
	Tensor string // in the order of Place
	Name   string // of the model's tensor whose integers these are
	Stream int
}

// Options change what the accelerator is fed with.
type Options struct {
	// recurrences keep their states from frame to frame (rnn.Params.Keeps): all run forwards, from constants
	Stateful bool
	Timed    bool // sequences have several lengths: loops give every step
	Turns    bool // samples are to take turns in recurrences
	// what to do about a recurrence that begins with a model's input, of real numbers; empty where nothing helps
	Begins func(input string) string
	Steps  *Known // of the same model, lowered before; nil: nothing is known
}

// Known are the step functions of a model that was lowered.
type Known = choose.Known

// Lower walks the program once, in order, and tries the rules on each step. The result lacks its Graph after an error
// was added to d; it goes on after one, so that all nodes that cannot be mapped are reported in one run.
func Lower(p *graph.Program, opt Options, d *diag.List) *Result {
	found := find.New(p)
	l := &lowering{circuit: circuit{Program: found, waiting: map[string]int{},
		host: sending{found, map[string]sent{}}, apart: opt.Timed || opt.Turns,
		steps: cmp.Or(opt.Steps, &choose.Known{})},
		verdicts: newVerdicts(p.File, d), loops: newRecurrences(), stateful: opt.Stateful, timed: opt.Timed,
		begins: opt.Begins,
		hosted: map[string]bool{}, reals: map[string]bool{}}
	arrive := l.declareInputs()
	for _, step := range recurrencesFirst(p) {
		if l.Uses.Used(step) {
			l.buildFor(step)
			l.apply(step)
		}
	}
	l.buildLoops()
	l.outputs()
	r := l.result()
	r.Arrive = arrive
	for _, w := range l.wide {
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.RangeTooWide, Node: w.node.Label(), Op: w.node.FullOp(),
			Where: graph.Where(p.File, w.node),
			Msg:   fmt.Sprintf("its values are codes of %d bits, since they have no greater unit in common", w.bits),
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
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.NothingQuantised, Where: p.File,
			Msg: "no output depends on an input: the network is not in the file",
			Hint: "the exporter has left it out: export again with dynamo=False, as torch.onnx.export and Brevitas' " +
				"export_qonnx take it"})
	default:
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.NothingQuantised, Where: p.File,
			Msg: "no matrix product or quantiser of this model works on quantised data",
			Hint: "quantise the inputs of the layers as well as their weights (Brevitas: QuantIdentity in front, " +
				"return_quant_tensor=True)"})
	}
	return r
}

// A lowering is a program whose layers are being made.
type lowering struct {
	circuit
	verdicts
	loops    recurrences
	stateful bool // recurrences keep their states
	timed    bool // they give every step
	begins   func(input string) string
	hosted   map[string]bool // tensors behind what no layer computes, and no quantiser behind them: the host's
	left     []left
	reals    map[string]bool // answers of isReal
}

// A left step is one at the model's end that no layer computes: the host does, if there is any layer before it.
type left struct {
	step   *graph.Step
	rule   string
	reject error
}

// leave leaves a step to the host.
func (l *lowering) leave(step *graph.Step, rule string, reject error) {
	l.left = append(l.left, left{step, rule, reject})
}

// apply tries the rules on a step.
func (l *lowering) apply(step *graph.Step) {
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
	panic(fmt.Sprintf("lower: no rule for %s", step.Node.FullOp()))
}

// behindFailed deals with a step whose input was reported, at its origin. For the sake of what can be said of the rest,
// codes behind it are taken as given.
func (l *lowering) behindFailed(step *graph.Step) {
	switch {
	case scaled.IsCode(step):
		l.assume(step)
	case step.Node.Is(graph.WholeRow) && l.Uses.Quantised(step.Output):
		l.report(step, "slice", find.OfWholeRow(step.Node))
	default:
		l.failed[step.Output] = true
	}
}

// outputs finds the integer tensors from which the host computes the model's outputs.
func (l *lowering) outputs() {
	seen := map[string]bool{}
	var visit func(tensor string)
	visit = func(tensor string) {
		if seen[tensor] || l.failed[tensor] {
			return
		}
		seen[tensor] = true
		if at, ok := l.Ready(tensor); ok && !at.OnHost() && !at.Alias {
			l.net.Output(l.take(tensor), tensor)
			return
		}
		if step := l.Producer(tensor); step != nil {
			for _, in := range step.Node.Inputs {
				visit(in)
			}
		}
	}
	for _, o := range l.Graph.Outputs {
		visit(o.Name)
	}
}

// result joins what has been made.
func (l *lowering) result() *Result {
	l.net.Prune()
	l.Integers.Found()
	r := &Result{In: l.net.In(), Out: l.net.Out(), Integer: l.Integers, Rejected: l.rejected, Unroll: l.unroll,
		Split: l.split, Front: l.ahead,
		Place: map[string]*graph.List{}, sent: map[string]scaled.Values{}}
	for tensor, at := range l.Places {
		r.Place[tensor] = at.At
	}
	for _, tensor := range r.In {
		r.Place[tensor], r.sent[tensor] = l.host.sent[tensor].at.At, l.host.sent[tensor].of
	}
	var built *place.Built
	if !l.d.Failed() {
		var err error
		if built, err = l.net.Build(); err != nil {
			panic(err)
		}
		r.Graph, r.Carried = built.Graph.Coded(), l.carried(built)
	}
	r.Layers = l.net.Computes(built)
	for _, n := range l.wires {
		if r.Layers[n.Index] == "" {
			r.Layers[n.Index] = choose.Wire
		}
	}
	return r
}

// carried lists the integer tensors on streams, in order of streams and names.
func (l *lowering) carried(b *place.Built) (list []Carried) {
	for tensor, at := range l.Places {
		if from, ok := l.host.sent[tensor]; ok && from.at != at {
			continue // Place has what the host sends
		}
		if stream, ok := b.Carries(at); ok {
			list = append(list, Carried{tensor, l.Name(tensor), stream})
		}
	}
	slices.SortFunc(list, func(a, b Carried) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Tensor, b.Tensor))
	})
	return list
}
