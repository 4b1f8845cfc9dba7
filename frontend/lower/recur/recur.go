// Package recur reads the body of a recurrence as a cell that a layer runs: an LSTM's. What comes in is a graph.Recur
// and what the integers of its scanned input are; what goes out is a Cell, or the reason why the body is none. It knows
// nothing of streams: how the input gets there, and where the outputs go, is the caller's.
//
// Files: recur.go walks over the body, and finds the LSTM in what has been read; codes.go reads products of vectors
// with weights, and quantisers by what their values are made of (a gate of a sum of products, a table of one code, a
// product or sum of two); gates.go puts each gate together in integers.
//
// For example, where every value is quantised, q,
//
//	z = W*x + U*h            two products: their sum has one common unit
//	f = q(sigmoid(z))        a gate: a step function of that sum; i, g and o likewise
//	c' = q(q(f*c) + q(i*g))  joints: products of two codes, and a sum of two
//	h' = q(o * q(tanh(c')))  a table of one code, and a joint
//
// It sees graph, real, scaled, unmapped, whole, num and hlslib.
package recur

import (
	"fmt"
	"math/big"
	"slices"

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

// A Cell is the body of a recurrence read as an LSTM's: what it does in integers, but for the weights of its input,
// which are a matrix product ahead of the loop.
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

// unlike is the reason of a body with a step that no cell has.
func unlike(step *graph.Step, format string, args ...any) error {
	return NotLSTM("%s %s", unmapped.Describe(step.Node), fmt.Sprintf(format, args...))
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

// The gates in the order of the layer.
const (
	gateI = iota
	gateF
	gateC
	gateO
)

// assemble finds the parts of a cell: the hidden state is the product of the output gate and a table of the cell's
// state; that is the sum of the products of the forget gate and the state before, and of the input gate and the
// candidate.
func (b *reader) assemble() (*Cell, error) {
	if len(b.states) != 2 {
		return nil, NotLSTM("it has %d states, not a hidden one and a cell's", len(b.states))
	}
	for h := range 2 {
		hidden, state := as[joint](b, b.states[h].Tensor), as[joint](b, b.states[1-h].Tensor)
		if hidden != nil && !hidden.sum && state != nil && state.sum {
			return b.cell(h, hidden, state)
		}
	}
	return nil, NotLSTM("no state is a product of a gate and a table of the other, which is a sum of two products")
}

func (b *reader) cell(h int, hidden, state *joint) (*Cell, error) {
	c := &Cell{body: b.body, codes: b.codes, H: b.states[h], C: b.states[1-h], States: [2]int{h, 1 - h}}
	p := &c.Params
	p.Hidden, p.Cell = hidden.requant, state.requant
	cName := b.body.Graph.Inputs[1-h].Name
	// h' = o * tanh(c')
	o, th := hidden.of[0], hidden.of[1]
	atO, atTh := 0, 1
	if as[gate](b, o) == nil {
		o, th, atO, atTh = th, o, 1, 0
	}
	t := as[table](b, th)
	if as[gate](b, o) == nil || t == nil || t.of != c.C.Tensor {
		return nil, NotLSTM("the hidden state is not made of a gate and of the new state")
	}
	p.Tanh = hidden.factor(atTh, t.steps)
	// c' = f*c + i*g
	fc, ig := as[joint](b, state.of[0]), as[joint](b, state.of[1])
	p.CellFactors = state.factors
	if fc == nil || ig == nil || fc.sum || ig.sum {
		return nil, NotLSTM("the cell's state is no sum of two quantised products")
	}
	if fc.of[0] != cName && fc.of[1] != cName {
		fc, ig = ig, fc
		p.CellFactors[0], p.CellFactors[1] = p.CellFactors[1], p.CellFactors[0]
	}
	atC := slices.Index(fc.of[:], cName)
	if atC < 0 || !fc.plain(atC) || as[gate](b, fc.of[1-atC]) == nil {
		return nil, NotLSTM("no product of a gate and the state before")
	}
	f := fc.of[1-atC]
	p.Forget, p.Input = fc.requant, ig.requant
	atI := slices.Index(ig.of[:], f)
	gates := [4]*gate{gateF: as[gate](b, f), gateO: as[gate](b, o)}
	factors := [4]func([]num.Step) []num.Step{
		gateF: func(s []num.Step) []num.Step { return fc.factor(1-atC, s) },
		gateO: func(s []num.Step) []num.Step { return hidden.factor(atO, s) },
	}
	switch {
	case atI >= 0: // what the forget gate leaves
		if !ig.falls[atI] || fc.falls[1-atC] {
			return nil, NotLSTM("the input gate is the forget gate")
		}
		k := fc.offsets[1-atC] - ig.offsets[atI]
		p.CIFG = &k
	default:
		if atI = 0; b.isCandidate(ig.of[0], ig.of[1]) {
			atI = 1
		}
		gates[gateI] = as[gate](b, ig.of[atI])
		factors[gateI] = func(s []num.Step) []num.Step { return ig.factor(atI, s) }
	}
	gates[gateC] = as[gate](b, ig.of[1-atI])
	factors[gateC] = func(s []num.Step) []num.Step { return ig.factor(1-atI, s) }
	if gates[gateC] == nil || p.CIFG == nil && gates[gateI] == nil {
		return nil, NotLSTM("no product of an input gate and a candidate")
	}
	c.Units = len(gates[gateF].inner)
	for k, gate := range gates {
		if gate == nil {
			continue
		}
		peephole := cName
		if k == gateO {
			peephole = c.C.Tensor
		}
		if reject := b.gateOf(c, k, gate, peephole); reject != nil {
			return nil, reject
		}
		p.Gates[k].Steps = factors[k](p.Gates[k].Steps)
	}
	return c, nil
}

// isCandidate reports whether of the two factors of a product, which both are gates, the first is the candidate: it is
// the one that can be negative. Which is which matters to names only.
func (b *reader) isCandidate(x, y string) bool {
	return b.codeOf(x).Span.Lo < 0 && b.codeOf(y).Span.Lo >= 0
}

func sameRequant(a, b *num.Requant) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// Of reports whether the cell was read from a body.
func (c *Cell) Of(body *graph.Program) bool { return c.body == body }

// Output says which state an output of the body is, 0 for H and 1 for C, and what its codes' real value is.
func (c *Cell) Output(name string) (which int, of real.Affine, reject error) {
	neither := NotLSTM("output %q is neither the hidden nor the cell's state", name)
	forms, err := c.codes.Forms(name, scaled.All(graph.Size(c.body.Known[name].Shape)))
	form, leaf, ok := forms.One()
	if err != nil || !ok {
		return 0, of, neither
	}
	of, ok = form.Affine(0)
	which = slices.Index([]string{c.H.Tensor, c.C.Tensor}, leaf.Tensor)
	if !ok || which < 0 || !scaled.InOrder(leaf.Index, c.Units) {
		return 0, of, neither
	}
	return which, of, nil
}

// Begin sets what the states begin with: the constants of the recurrence's inputs, as integers.
func (c *Cell) Begin(constant func(state int) *graph.Tensor) (reject error) {
	if c.Params.H0, reject = c.H.begin(constant(c.States[0]), c.Units); reject != nil {
		return reject
	}
	c.Params.C0, reject = c.C.begin(constant(c.States[1]), c.Units)
	return reject
}

func (c *Code) begin(t *graph.Tensor, units int) ([]int64, error) {
	if t == nil {
		return nil, unmapped.Because("its initial state arrives with the data",
			"make the initial state a constant (zero)")
	}
	out := make([]int64, units)
	for j := range out {
		v := new(big.Rat).SetFloat64(t.At(j % t.Len()))
		v.Sub(v, c.Affine.Bias).Quo(v, c.Affine.Scale)
		if !v.IsInt() || !v.Num().IsInt64() || !c.Span.Contains(v.Num().Int64()) {
			return nil, NotLSTM("the initial state %v is no code of the state's quantiser", t.At(j%t.Len()))
		}
		out[j] = v.Num().Int64()
	}
	return out, nil
}

// Like reports whether two cells can take turns in one layer: only their tables differ.
func (c *Cell) Like(o *Cell) bool {
	return c.Units == o.Units && (c.Params.CIFG == nil) == (o.Params.CIFG == nil) &&
		sameRequant(c.Product, o.Product) && sameRequant(c.Params.Product, o.Params.Product) &&
		peepholes(&c.Params) == peepholes(&o.Params)
}

// peepholes lists which gates look at the cell's state.
func peepholes(p *lstm.Cell) (which [4]bool) {
	for k, g := range p.Gates {
		which[k] = len(g.Peephole) > 0
	}
	return which
}
