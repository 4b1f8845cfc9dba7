package recur

import (
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/lstm"
	"hlsgen/internal/num"
)

// The gates in the order of the layer.
const (
	gateI = iota
	gateF
	gateC
	gateO
)

// assemble finds the parts of a cell: the hidden state is the product of the output gate and a table of the cell's state; that
// is the sum of the products of the forget gate and the state before, and of the input gate and the candidate.
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

// isCandidate reports whether of the two factors of a product, which both are gates, the first is the candidate: it is the one
// that can be negative. Which is which matters to names only.
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
		return nil, unmapped.Because("its initial state arrives with the data", "make the initial state a constant (zero)")
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
	return c.Units == o.Units && (c.Params.CIFG == nil) == (o.Params.CIFG == nil) && sameRequant(c.Product, o.Product) &&
		sameRequant(c.Params.Product, o.Params.Product) && peepholes(&c.Params) == peepholes(&o.Params)
}

// peepholes lists which gates look at the cell's state.
func peepholes(p *lstm.Cell) (which [4]bool) {
	for k, g := range p.Gates {
		which[k] = len(g.Peephole) > 0
	}
	return which
}
