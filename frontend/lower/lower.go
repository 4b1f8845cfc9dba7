// Package lower makes integer layers of a canonical program. It works from quantisers backwards, not by rewriting
// patterns: whatever lies between the sum of products of a matrix layer and the code of a quantiser is one function from
// integers to integers, found exactly (real.Func.StepOver). What stays real-valued at either end is left to the host.
package lower

import (
	"fmt"
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// Result is a lowered program.
type Result struct {
	Graph   *dataflow.Graph // nil after an error: then Layers says what the rest becomes
	In      []string        // per Graph.In: the tensor of codes that the host computes
	Out     []string        // per Graph.Out: the integer tensor that the host goes on from
	Layers  map[int]string  // ONNX node index -> layer that computes it
	Integer *scaled.Analysis
	Arrive  map[string]*InputType // the model's inputs that arrive as integers

	Rejected map[int]bool // ONNX node indices of what could not be mapped
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
	s := &state{prog: p, alias: map[string]string{}, a: scaled.New(p), d: d, pending: map[string]*product{}, stream: map[string]int{}, host: map[string]*hostCode{},
		reader: map[string]*graph.Node{}, layer: map[int]int{}, failed: map[string]bool{}, rejected: map[int]bool{}, used: used(p), feeds: map[string]bool{}}
	arrive := s.declareInputs(opt.Input)
	for _, step := range p.Steps {
		if s.used[step] {
			s.apply(step)
		}
	}
	s.outputs()
	r := &Result{In: s.in, Out: s.out, Layers: s.layers(), Integer: s.a, Arrive: arrive, Rejected: s.rejected}
	if d.Failed() {
		return r
	}
	g, err := s.build.Graph()
	if err != nil {
		panic(err)
	}
	if len(g.Nodes) == 0 && s.minifloats() {
		return r
	}
	if len(g.Nodes) == 0 {
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.NothingQuantised, Where: p.File, Msg: "no matrix product or quantiser of this model works on quantised data",
			Hint: "quantise the inputs of the layers as well as their weights (Brevitas: QuantIdentity in front, return_quant_tensor=True)"})
		return r
	}
	r.Graph = g
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

// layers names the layer of every ONNX node that has one.
func (s *state) layers() map[int]string {
	out := map[int]string{}
	for index, node := range s.layer {
		out[index] = s.build.Name(node)
	}
	for _, index := range s.wires {
		if out[index] == "" {
			out[index] = Wire
		}
	}
	return out
}

// Wire is what stands for a layer where codes pass unchanged.
const Wire = "wire"

// declareInputs makes integer tensors of the inputs that arrive as integers: all of them where the user says so, else
// those whose own type is an integer of at most 16 bits.
func (s *state) declareInputs(asked *InputType) map[string]*InputType {
	arrive := map[string]*InputType{}
	for _, in := range s.prog.Graph.Inputs {
		t := asked
		if bits := in.DType.Integer(); t == nil && bits.Width > 0 {
			t = &InputType{bits, big.NewRat(1, 1)}
		}
		if t == nil {
			continue
		}
		arrive[in.Name] = t
		shape := dataflow.Shape(s.prog.Known[in.Name].Shape)
		s.host[in.Name] = &hostCode{typ: s.asVectors(in.Name, dataflow.Type{Shape: shape, Range: []num.Range{t.Type.Range()}, Elem: t.Type})}
		if t.linear() {
			s.a.Declare(in.Name, []real.Affine{{Scale: t.Scale, Bias: new(big.Rat)}})
		} else {
			s.a.DeclareSingle(in.Name, t.Scale)
		}
	}
	return arrive
}

// asVectors shapes what the host sends after the first matrix product that it reaches: an image that is flattened before
// it is multiplied travels as one vector, so that layers of thresholds in between fold over all of it.
func (s *state) asVectors(tensor string, t dataflow.Type) dataflow.Type {
	seen := map[string]bool{}
	next := []string{tensor}
	for len(next) > 0 {
		tensor, next = next[0], next[1:]
		for _, r := range s.prog.Readers(tensor) {
			if r.Dot != nil {
				if v, ok := t.Vectors(r.Dot.K); ok {
					return v
				}
				return t
			}
			if !seen[r.Output] {
				seen[r.Output] = true
				next = append(next, r.Output)
			}
		}
	}
	return t
}

// state is a lowering in progress. A matrix product waits in pending until it is known whether a quantiser takes it.
type state struct {
	prog    *graph.Program
	a       *scaled.Analysis
	d       *diag.List
	build   dataflow.Builder
	nodes   int // built so far
	pending map[string]*product
	host    map[string]*hostCode // codes the host computes
	stream  map[string]int       // integer tensor -> stream
	reader  map[string]*graph.Node
	alias   map[string]string // codes that are another tensor's, unchanged
	wires   []int             // ONNX node indices of these
	layer   map[int]int       // ONNX node index -> built node
	failed  map[string]bool

	rejected map[int]bool // ONNX node indices
	used     map[*graph.Step]bool
	feeds    map[string]bool // answers of feedsLayer
	traced   int             // elements
	in, out  []string
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

// hostCode is a quantiser that only depends on the model's inputs, or, with no step, an input that arrives in integers.
type hostCode struct {
	step *graph.Step
	typ  dataflow.Type
}

func empty() *Reject {
	return &Reject{diag.NotMapped, "a tensor without elements", "remove the empty part of the model"}
}

// maxTraced bounds the elements of all tensors that are traced back to integers, one by one, at some microseconds each.
const maxTraced = 1 << 22

// trace counts the elements of a tensor that is about to be traced back.
func (s *state) trace(elements int) *Reject {
	if elements == 0 {
		return empty()
	}
	if s.traced += elements; s.traced > maxTraced {
		return &Reject{diag.ModelTooLarge, fmt.Sprintf("the layers up to this one have more than %d elements", maxTraced), "give the model one sample at a time: its axes but the first are those of one frame"}
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
			s.failed[step.Output], s.rejected[step.Node.Index] = true, true
			s.d.Add(diag.Diag{Severity: diag.Error, Code: reject.Code, Node: step.Node.Label(), Op: step.Node.FullOp(),
				Where: graph.Where(s.prog.File, step.Node) + ", rule " + r.Name, Msg: reject.Msg, Hint: reject.Hint})
			return
		}
		if done {
			return
		}
	}
	panic(fmt.Sprintf("lower: no rule for %s", step.Node.FullOp()))
}

// take gives the stream of an integer tensor to a reader; there can be only one.
func (s *state) take(tensor string, by *graph.Node) (int, *Reject) {
	tensor = s.source(tensor)
	if reject := s.taken(tensor); reject != nil {
		return 0, reject
	}
	s.reader[tensor] = by
	if p := s.pending[tensor]; p != nil {
		delete(s.pending, tensor)
		if err := s.add(p.op, p.in, tensor, p.all()); err != nil {
			panic(fmt.Sprintf("lower: %s: %v", tensor, err)) // the rule for products has bound it before
		}
	}
	if h := s.host[tensor]; h != nil {
		s.stream[tensor] = s.build.Input(s.name(tensor), h.typ)
		s.in = append(s.in, tensor)
	}
	return s.stream[tensor], nil
}

// taken refuses a tensor that has its reader.
func (s *state) taken(tensor string) *Reject {
	other, taken := s.reader[tensor]
	if !taken {
		return nil
	}
	return &Reject{diag.NotMapped, fmt.Sprintf("its input is already read by %s", describe(other)),
		"a tensor that two layers read needs a layer that duplicates streams, which does not exist yet: give each reader its own quantiser chain, or train without the branch"}
}

func describe(n *graph.Node) string {
	if n == nil {
		return "the model's output"
	}
	return fmt.Sprintf("%s %q", n.FullOp(), n.Label())
}

// add builds a layer. The error is Bind's: the layer cannot take this input.
func (s *state) add(op dataflow.Op, in int, tensor string, nodes []*graph.Node) error {
	var origin []string
	seen := map[int]bool{}
	for _, n := range nodes {
		if !seen[n.Index] {
			seen[n.Index] = true
			origin = append(origin, n.Label())
		}
	}
	out, err := s.build.Add(op, []int{in}, []string{s.name(tensor)}, origin)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if _, ok := s.layer[n.Index]; !ok {
			s.layer[n.Index] = s.nodes
		}
	}
	s.nodes++
	s.stream[tensor] = out[0]
	return nil
}

// source follows aliases.
func (s *state) source(tensor string) string {
	for s.alias[tensor] != "" {
		tensor = s.alias[tensor]
	}
	return tensor
}

// name is what a stream of an integer tensor is called: the quantised tensor of the model whose codes it carries.
func (s *state) name(tensor string) string {
	if s.prog.Producer(tensor) == nil {
		return tensor // an input
	}
	return s.prog.Producer(tensor).Node.Str("tensor", tensor)
}

// typeOf is the type of an integer tensor that is not taken, built or not.
func (s *state) typeOf(tensor string) dataflow.Type {
	tensor = s.source(tensor)
	if p := s.pending[tensor]; p != nil {
		return p.typ
	}
	if h := s.host[tensor]; h != nil {
		return h.typ
	}
	return s.build.Type(s.stream[tensor])
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
		_, integer := s.a.Integer(tensor, 0)
		if integer && s.alias[tensor] == "" && s.host[tensor] == nil { // the host goes on from an alias' source
			stream, reject := s.take(tensor, nil)
			if reject != nil {
				n := s.prog.Producer(tensor).Node
				s.d.Add(diag.Diag{Severity: diag.Error, Code: reject.Code, Node: n.Label(), Op: n.FullOp(), Where: graph.Where(s.prog.File, n),
					Msg: fmt.Sprintf("its value is read by %s and is needed for the model's output too", describe(s.reader[tensor])), Hint: reject.Hint})
				return
			}
			s.build.Output(stream)
			s.out = append(s.out, tensor)
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
