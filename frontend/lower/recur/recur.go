// Package recur reads the body of a recurrence as a cell that a layer runs: an LSTM's. What comes in is a graph.Recur and
// what the integers of its scanned input are; what goes out is a Cell, or the reason why the body is none. It knows nothing
// of streams: how the input gets there, and where the outputs go, is the caller's.
//
// Files: recur.go walks over the body; products.go reads products of vectors with weights; codes.go reads
// quantisers by what their values are made of (a gate of a sum of products, a table of one code, a product or sum of two);
// cell.go finds the LSTM in these; gates.go puts each gate together in integers.
//
// For example, where every value is quantised, q,
//
//	z = W*x + U*h            two products: their sum has one common unit
//	f = q(sigmoid(z))        a gate: a step function of that sum; i, g and o likewise
//	c' = q(q(f*c) + q(i*g))  joints: products of two codes, and a sum of two
//	h' = q(o * q(tanh(c')))  a table of one code, and a joint
package recur

import (
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/lstm"
	"hlsgen/internal/num"
)

// A Code is an integer tensor of a body: its real value is affine.
type Code struct {
	Tensor string
	Affine real.Affine
	Span   num.Range
}

// A Cell is the body of a recurrence read as an LSTM's: what it does in integers, but for the weights of its input, which
// are a matrix product ahead of the loop.
type Cell struct {
	Units   int
	Input   [4][][]int64 // per gate and unit, over the elements of the input; nil for the gate that CIFG leaves out
	Product *num.Requant // of every product of them
	Params  lstm.Cell
	H, C    Code   // what the states carry
	States  [2]int // which of the body's states are h and c

	body  *graph.Program
	codes *scaled.Analysis // in which every code is an integer tensor
}

// A reader reads a body.
type reader struct {
	body   *graph.Program
	a      *scaled.Analysis // of what has been read
	recur  *graph.Recur
	codes  *scaled.Analysis // in which every code is an integer tensor
	input  Code             // of the scanned tensor
	states []Code
	known  map[string]any // what integer tensors were read as: *vector, *dot, *rounding, *gate, *joint or *table
}

// A vector is the input, or a state.
type vector struct{ code Code }

// as is what a tensor was read as; nil where that is something else.
func as[T any](b *reader, tensor string) *T {
	v, _ := b.known[tensor].(*T)
	return v
}

// NotLSTM is the reason of a body that is no cell of a layer.
func NotLSTM(format string, args ...any) error {
	return unmapped.Because("its body is no LSTM cell in integers: "+fmt.Sprintf(format, args...),
		"quantise every gate, the cell's state and the hidden state (Brevitas: QuantLSTM with all quantisers on)")
}

// Read reads a body as an LSTM cell. of is what the scanned input's elements are.
func Read(r *graph.Recur, of Code) (*Cell, error) {
	b := &reader{body: r.Body, a: scaled.New(r.Body), recur: r, input: of, known: map[string]any{}}
	b.input.Tensor = r.Body.Graph.Inputs[r.States].Name
	b.learn(b.input.Tensor, &vector{b.input}, of.Affine)
	if reject := b.declareStates(); reject != nil {
		return nil, reject
	}
	for _, step := range r.Body.Steps {
		if reject := b.step(step); reject != nil {
			return nil, reject
		}
	}
	return b.assemble()
}

// learn notes what a tensor is, whose elements' real values are of.
func (b *reader) learn(tensor string, is any, of ...real.Affine) {
	b.known[tensor] = is
	b.a.Declare(tensor, of)
}

// declareStates finds the integers of the states: those of the codes that their next values are.
func (b *reader) declareStates() error {
	b.codes = scaled.New(b.body)
	for _, step := range b.body.Steps {
		if scaled.IsCode(step) {
			b.codes.Declare(step.Output, scaled.Unit)
		}
	}
	g := b.body.Graph
	for k := range b.recur.States {
		next := g.Outputs[k].Name
		forms, err := b.codes.Forms(next, scaled.All(graph.Size(b.body.Known[next].Shape)))
		form, leaf, ok := forms.One()
		if err != nil || !ok {
			return NotLSTM("state %q is not quantised before the next step", g.Inputs[k].Name)
		}
		f, ok := form.Affine(0)
		if !ok || !scaled.InOrder(leaf.Index, len(leaf.Index)) {
			return NotLSTM("state %q is not a quantised tensor itself", g.Inputs[k].Name)
		}
		span, _ := scaled.Codes(b.body.Producer(leaf.Tensor))
		c := Code{leaf.Tensor, f, span}
		b.states = append(b.states, c)
		b.learn(g.Inputs[k].Name, &vector{c}, f)
	}
	return nil
}

func (b *reader) step(step *graph.Step) error {
	switch {
	case step.Dot != nil:
		return b.dot(step)
	case scaled.IsCode(step):
		return b.code(step)
	case step.Order != nil, step.Recur != nil:
		return NotLSTM("it has %s", unmapped.Describe(step.Node))
	}
	return nil
}
