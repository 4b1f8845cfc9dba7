// Package lower makes integer layers of a canonical program. It works from quantisers backwards, not by rewriting
// patterns: whatever lies between the sum of products of a matrix layer and the code of a quantiser is one function from
// integers to integers, found exactly (real.Func.StepOver). What stays real-valued at either end is left to the host.
//
// Integer tensors travel on wires. A tensor's place says at which position of a wire each of its elements comes, so that
// transposing, reshaping and flattening cost nothing until a layer asks for another order; then arrange makes the layers
// that move elements.
package lower

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// Result is a lowered program.
type Result struct {
	Graph   *dataflow.Graph    // nil after an error: then Layers says what the rest becomes
	In      []string           // per Graph.In: the tensor of codes that the host computes
	Out     []string           // per Graph.Out: the integer tensor that the host goes on from
	Place   map[string][]int32 // per integer tensor: the position in its stream of each element; nil where element i is at i
	Layers  map[int]string     // ONNX node index -> layer that computes it
	Carried []Carried          // the integer tensors that streams carry whole
	Integer *scaled.Analysis
	Arrive  map[string]*InputType // the model's inputs that arrive as integers

	Rejected map[int]bool // ONNX node indices of what could not be mapped
	Unroll   map[int]bool // ONNX node indices of short loops that are no LSTM cells: written out, they may be mapped
}

// Carried is an integer tensor on a stream.
type Carried struct {
	Tensor string // in the order of Place
	Name   string // of the model's tensor whose integers these are
	Stream int
}

// carried lists the integer tensors on streams, in order of streams and names.
func (s *state) carried(b *place.Built) (list []Carried) {
	for tensor, at := range s.places {
		if stream, ok := b.Carries(at); ok {
			list = append(list, Carried{tensor, s.name(tensor), stream})
		}
	}
	slices.SortFunc(list, func(a, b Carried) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Tensor, b.Tensor))
	})
	return list
}

// Options change what the accelerator is fed with.
type Options struct {
	Input *InputType // nil: the host computes codes from real inputs
}

// An InputType declares that the model's inputs arrive as integers of a type: their real value is the float32 nearest to
// Scale times the integer.
type InputType struct {
	Type  num.Type
	Scale *big.Rat
}

// Value is the real value of integer k.
func (t *InputType) Value(k int64) float64 {
	r := new(big.Rat).SetInt64(k)
	f, _ := r.Mul(r, t.Scale).Float32()
	return float64(f)
}

// linear reports whether every value is scale*k without rounding.
func (t *InputType) linear() bool {
	for k, r := t.Type.Range().Lo, t.Type.Range(); k <= r.Hi; k++ {
		v := new(big.Rat).SetInt64(k)
		if v.Mul(v, t.Scale).Cmp(new(big.Rat).SetFloat64(t.Value(k))) != 0 {
			return false
		}
	}
	return true
}

// Lower walks the program once, in order, and tries the rules on each step. The result lacks its Graph after an error was added to d;
// it goes on after one, so that all nodes that cannot be mapped are reported in one run.
func Lower(p *graph.Program, opt Options, d *diag.List) *Result {
	s := &state{prog: p, a: scaled.New(p), d: d, places: map[string]*place.Place{}, failed: map[string]bool{}, rejected: map[int]bool{},
		used: used(p), unroll: map[int]bool{}, feeds: map[string]bool{}, pools: map[string]*lazyPool{}, alias: map[string]bool{}, rounded: map[string]*graph.Step{}, engines: map[*graph.Recur]*engine{}, unsettled: map[string]bool{}}
	arrive := s.declareInputs(opt.Input)
	for _, step := range recurrencesFirst(p) {
		if s.used[step] {
			s.settleFor(step)
			s.apply(step)
		}
	}
	s.settleEngines()
	s.outputs()
	s.net.Prune()
	r := &Result{In: s.net.In(), Out: s.net.Out(), Integer: s.a, Arrive: arrive, Rejected: s.rejected, Unroll: s.unroll, Place: map[string][]int32{}}
	for tensor, at := range s.places {
		r.Place[tensor] = at.At
	}
	var built *place.Built
	if !d.Failed() {
		var err error
		if built, err = s.net.Build(); err != nil {
			panic(err)
		}
		r.Graph, r.Carried = built.Graph, s.carried(built)
	}
	r.Layers = s.net.Computes(built)
	for _, index := range s.noLayer {
		if r.Layers[index] == "" {
			r.Layers[index] = choose.Wire
		}
	}
	if r.Graph == nil || len(r.Graph.Nodes) > 0 {
		return r
	}
	r.Graph = nil
	if !s.minifloats() {
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.NothingQuantised, Where: p.File, Msg: "no matrix product or quantiser of this model works on quantised data",
			Hint: "quantise the inputs of the layers as well as their weights (Brevitas: QuantIdentity in front, return_quant_tensor=True)"})
	}
	return r
}

// minifloats reports the minifloat quantisers of a model that has no integer layer.
func (s *state) minifloats() (found bool) {
	for _, step := range s.prog.Steps {
		if n := step.Node; n.Op == "FloatQuant" {
			found = true
			s.d.Add(diag.Diag{Severity: diag.Error, Code: diag.OpUnsupported, Node: n.Label(), Op: n.FullOp(), Where: graph.Where(s.prog.File, n),
				Msg: "minifloats have no layer", Hint: "quantise to integers, or execute the model with hlsgen simulate --engine reference"})
		}
	}
	return found
}

// Wire is what stands for a layer where codes pass unchanged.
const Wire = choose.Wire

// state is a lowering in progress.
type state struct {
	prog    *graph.Program
	a       *scaled.Analysis
	d       *diag.List
	net     place.Netlist
	places  map[string]*place.Place // of integer tensors
	pools   map[string]*lazyPool    // maxima that wait for their quantiser, by output
	alias   map[string]bool         // integer tensors that are the integers of another
	rounded map[string]*graph.Step  // quantisers of single products, which wait for their sum, by output
	failed  map[string]bool

	engines   map[*graph.Recur]*engine
	order     []*engine       // as they were read
	unsettled map[string]bool // tensors that depend on engines without layers

	noLayer  []int        // ONNX node indices of quantisers that are wires
	rejected map[int]bool // ONNX node indices
	unroll   map[int]bool
	used     map[*graph.Step]bool
	feeds    map[string]bool // answers of feedsLayer
	traced   int             // elements
}

// used is the steps that the model's outputs depend on; the others get no layers.
func used(p *graph.Program) map[*graph.Step]bool {
	need, steps := map[string]bool{}, map[*graph.Step]bool{}
	for _, o := range p.Graph.Outputs {
		need[o.Name] = true
	}
	for i := len(p.Steps) - 1; i >= 0; i-- {
		step := p.Steps[i]
		if steps[step] = need[step.Output]; steps[step] {
			for _, in := range step.Node.Inputs {
				need[in] = true
			}
		}
	}
	return steps
}

// maxTraced bounds the elements of all tensors that are traced back to integers.
const maxTraced = 1 << 26

// trace counts the elements of a tensor that is about to be traced back.
func (s *state) trace(elements int) *unmapped.Reason {
	if elements == 0 {
		return unmapped.Empty()
	}
	if s.traced += elements; s.traced > maxTraced {
		return unmapped.As(diag.ModelTooLarge, fmt.Sprintf("the layers up to this one have more than %d elements", maxTraced), "give the model one sample at a time: its axes but the first are those of one frame")
	}
	return nil
}

func (s *state) apply(step *graph.Step) {
	for _, in := range step.Node.Inputs {
		if s.failed[in] {
			s.failed[step.Output] = true // reported at its origin
			return
		}
	}
	for _, r := range Rules {
		done, reject := r.Match(s, step)
		if reject != nil {
			s.report(step, r.Name, reject)
			return
		}
		if done {
			return
		}
	}
	panic(fmt.Sprintf("lower: no rule for %s", step.Node.FullOp()))
}

func (s *state) report(step *graph.Step, rule string, reject *unmapped.Reason) {
	s.failed[step.Output], s.rejected[step.Node.Index] = true, true
	s.d.Add(diag.Diag{Severity: diag.Error, Code: reject.Code, Node: step.Node.Label(), Op: step.Node.FullOp(),
		Where: graph.Where(s.prog.File, step.Node) + ", rule " + rule, Msg: reject.Msg, Hint: reject.Hint})
}

// name is what a stream of an integer tensor is called: the quantised tensor of the model whose codes it carries.
func (s *state) name(tensor string) string {
	if s.prog.Producer(tensor) == nil {
		return tensor // an input
	}
	return s.prog.Producer(tensor).Node.Str("tensor", tensor)
}

// outputs finds the integer tensors from which the host computes the model's outputs.
func (s *state) outputs() {
	seen := map[string]bool{}
	var visit func(tensor string)
	visit = func(tensor string) {
		if seen[tensor] || s.failed[tensor] {
			return
		}
		seen[tensor] = true
		at := s.places[tensor]
		if at != nil && !at.OnHost() && !s.alias[tensor] {
			s.net.Output(s.take(tensor), tensor)
			return
		}
		if step := s.prog.Producer(tensor); step != nil {
			for _, in := range step.Node.Inputs {
				visit(in)
			}
		}
	}
	for _, o := range s.prog.Graph.Outputs {
		visit(o.Name)
	}
}

// feedsLayer reports whether a quantiser or matrix product depends on a tensor.
func (s *state) feedsLayer(tensor string) bool {
	if known, ok := s.feeds[tensor]; ok {
		return known
	}
	for _, r := range s.prog.Readers(tensor) {
		if s.used[r] && (r.Dot != nil || scaled.IsCode(r) || s.feedsLayer(r.Output)) {
			s.feeds[tensor] = true
			return true
		}
	}
	s.feeds[tensor] = false
	return false
}

// only reports whether no output of the model depends on a tensor otherwise than through a step.
func (s *state) only(tensor string, through *graph.Step) bool {
	seen := map[string]bool{}
	var visit func(tensor string) bool
	visit = func(tensor string) bool {
		if seen[tensor] {
			return true
		}
		seen[tensor] = true
		for _, o := range s.prog.Graph.Outputs {
			if o.Name == tensor {
				return false
			}
		}
		for _, r := range s.prog.Readers(tensor) {
			if r != through && s.used[r] && !visit(r.Output) {
				return false
			}
		}
		return true
	}
	return visit(tensor)
}
