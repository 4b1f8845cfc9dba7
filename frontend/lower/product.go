package lower

import (
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/concat"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A product has no layer yet: it waits for its activation.
type product struct {
	*choose.Product
	step  *graph.Step
	in    int           // wire
	nodes []*graph.Node // between the input's quantiser and the product
}

// Wire makes the layer without an activation.
func (p *product) Wire(n *place.Netlist, name string) int {
	out, err := n.Add(p.Op(), []int{p.in}, name, p.all())
	if err != nil {
		panic(fmt.Sprintf("lower: %s: %v", name, err)) // the rule for products has bound it before
	}
	return out[0]
}

// waiting is the product whose integers a stream carries, if it has no layer yet.
func waiting(s *place.Stream) *product {
	if s.OnWire() {
		return nil
	}
	p, _ := s.Source.(*product)
	return p
}

// all lists the nodes that the product computes, itself first: it is what a layer is called after.
func (p *product) all() []*graph.Node { return append([]*graph.Node{p.step.Node}, p.nodes...) }

func matrix(s *state, step *graph.Step) (bool, *unmapped.Reason) {
	if step.Dot == nil {
		return false, nil
	}
	d, in := step.Dot, step.Node.Inputs
	w := s.prog.Known[in[d.B]].Const
	switch {
	case s.a.Derived(in[d.A]) && s.a.Derived(in[d.B]):
		return true, unmapped.Because("both operands depend on data", "a product of two tensors of data, as in attention, needs weights that arrive on a stream, which no layer takes")
	case s.a.Derived(in[d.B]):
		return true, unmapped.Because("the constant is on the left", "export the layer as data times weights (transpose both)")
	case w == nil:
		return true, unmapped.As(diag.WeightsNotInteger, "the weights are not constant", "weights must be constants of the model")
	case d.Then != nil:
		return true, unmapped.Because(fmt.Sprintf("weights of shape %v", w.Shape), "weights must be one matrix for all samples")
	case step.Window != nil:
		return true, s.convolution(step, w)
	}
	if one := s.prog.Producer(in[d.A]); one != nil && isOneHot(one) {
		return true, s.lookup(step, one, w)
	}
	return true, s.vectors(step, w)
}

// vectors makes a product of a matrix with vectors.
func (s *state) vectors(step *graph.Step, w *graph.Tensor) *unmapped.Reason {
	d := step.Dot
	if code, forms := s.roundedTerms(step); code != nil {
		return s.roundedVectors(step, w, code, forms)
	}
	n, ok := rows(d)
	if !ok {
		return unmapped.Because(fmt.Sprintf("weights of shape %v", w.Shape), "weights must be one matrix for all samples")
	}
	v := len(d.ABase) / n
	elements := make([]int32, 0, v*d.K)
	for r := range v {
		for _, k := range d.AOffset {
			elements = append(elements, d.ABase[r*n]+k)
		}
	}
	o, reject := s.operand(step.Node.Inputs[d.A], elements)
	if reject != nil {
		return reject
	}
	affine, ok := o.affine(d.K)
	if !ok {
		return unmapped.Because("vectors of its input are scaled differently", "quantise activations per tensor or per channel")
	}
	constants, reject := o.constants(v, d.K)
	if reject != nil {
		return reject
	}
	var kept []int // columns of data
	for k, c := range constants {
		if c == nil {
			affine[len(kept)] = affine[k]
			kept = append(kept, k)
		}
	}
	o = o.columns(v, d.K, kept)
	p := &product{step: step, nodes: o.nodes}
	var weights [][]int64
	order, length := o.within(s, v, len(kept))
	if order != nil {
		p.in = s.take(o.wires[0])
	} else if p.in, order, length = o.together(s, v); order == nil {
		if p.in, reject = s.arrange(o, dataflow.Shape{v, len(kept)}, 0); reject != nil {
			return reject
		}
		length = len(kept)
		for k := range kept {
			order = append(order, k)
		}
	}
	var out []real.Affine
	for c := range n {
		weight := func(k int) *big.Rat { return new(big.Rat).SetFloat64(w.At(int(d.BBase[c] + d.BOffset[k]))) }
		column := make([]*big.Rat, len(kept))
		for i, k := range kept {
			column[i] = weight(k)
		}
		row, f, reject := whole.Column(column, affine[:len(kept)])
		if reject != nil {
			return reject
		}
		for k, v := range constants {
			if v != nil {
				f.Bias = new(big.Rat).Add(f.Bias, new(big.Rat).Mul(weight(k), v))
			}
		}
		placed := make([]int64, length)
		for k, q := range row {
			placed[order[k]] += q // an element may be taken twice
		}
		weights, out = append(weights, placed), append(out, f)
	}
	return s.wait(p, choose.Matrix{Weights: weights}, nil, scaled.Spread(out, len(d.ABase), func(i int) int { return i % n }))
}

// rows is the number of outputs that a matrix makes of one vector. ok is false where the product is no such thing.
func rows(d *graph.Dot) (n int, ok bool) {
	n = 1
	for n < len(d.ABase) && d.ABase[n] == d.ABase[0] {
		n++
	}
	if len(d.ABase)%n != 0 {
		return 0, false
	}
	for i, base := range d.ABase {
		if base != d.ABase[i-i%n] || d.BBase[i] != d.BBase[i%n] {
			return 0, false
		}
	}
	return n, true
}

// constants is the constant in each column of an operand of v vectors of k elements, nil in columns of data. There are
// some of these.
func (o *operand) constants(v, k int) ([]*big.Rat, *unmapped.Reason) {
	out := make([]*big.Rat, k)
	if o.value == nil {
		return out, nil
	}
	data := false
	for i := range v * k {
		first, this := o.value[i%k], o.value[i]
		if (first == nil) != (this == nil) || first != nil && first.Cmp(this) != 0 {
			return nil, unmapped.Because("constants that differ from vector to vector are put among its input's elements", "pad all vectors alike")
		}
		out[i%k] = first
		data = data || first == nil
	}
	if !data {
		return nil, unmapped.Because("its input is constant", "remove the constant part of the model")
	}
	return out, nil
}

// columns is an operand of v vectors of k elements without those that are not kept.
func (o *operand) columns(v, k int, kept []int) *operand {
	if len(kept) == k {
		return o
	}
	out := &operand{wires: o.wires, nodes: o.nodes}
	for r := range v {
		for _, c := range kept {
			out.Then(o.From[r*k+c], o.At[r*k+c])
		}
	}
	return out
}

// together reads a vector off several tensors of as many pixels, whose channels it concatenates. order is as within's.
func (o *operand) together(s *state, v int) (wire int, order []int, length int) {
	if v != 1 || len(o.wires) < 2 {
		return 0, nil, 0
	}
	first := s.places[o.wires[0]].Type.Shape
	pixels := first[:len(first)-1]
	offset, channels, total := make([]int, len(o.wires)), make([]int, len(o.wires)), 0
	for i, tensor := range o.wires {
		shape := s.places[tensor].Type.Shape
		if !slices.Equal(pixels, shape[:len(shape)-1]) {
			return 0, nil, 0
		}
		offset[i], channels[i] = total, shape.Channels()
		total += channels[i]
	}
	ins := make([]int, len(o.wires))
	for i, tensor := range o.wires {
		ins[i] = s.take(tensor)
	}
	wire, err := s.net.AddMover(concat.New(concat.Params{Inputs: len(ins)}), ins, o.nodes)
	if err != nil {
		return 0, nil, 0
	}
	for k, at := range o.At {
		i := o.From[k]
		order = append(order, int(at)/channels[i]*total+offset[i]+int(at)%channels[i])
	}
	return wire, order, pixels.Size() * total
}

// within reads an operand of v vectors of k elements off vectors of one wire that are longer, or shorter where elements are
// taken twice: element k of each is element order[k] there. order is nil where it is no such thing.
func (o *operand) within(s *state, v, k int) (order []int, length int) {
	if len(o.wires) != 1 {
		return nil, 0
	}
	t := s.places[o.wires[0]].Type
	size := t.Shape.Size()
	if size%v != 0 {
		return nil, 0
	}
	length = size / v
	if _, ok := t.Vectors(length); !ok {
		return nil, 0
	}
	order = make([]int, k)
	for i, at := range o.At {
		j := int(at) - i/k*length
		if j < 0 || j >= length || i >= k && order[i%k] != j {
			return nil, 0
		}
		order[i%k] = j
	}
	return order, length
}

// wait makes an integer tensor of a product of vectors.
func (s *state) wait(p *product, m choose.Matrix, at []int32, affine []real.Affine) *unmapped.Reason {
	c, reject := choose.Layer(m)
	if reject != nil {
		return reject
	}
	return s.waitFor(p, c, at, affine)
}

// waitFor makes an integer tensor of a product's output, which has no layer until it is known whether a quantiser takes it.
func (s *state) waitFor(p *product, c *choose.Choice, at []int32, affine []real.Affine) *unmapped.Reason {
	p.Product = c.Waits
	p.In = s.net.Type(p.in)
	_, types, err := p.Op().Bind([]dataflow.Type{p.In})
	if err != nil {
		return c.Refused(err)
	}
	s.places[p.step.Output] = &place.Place{Stream: &place.Stream{Type: types[0], Source: p}, At: at}
	s.a.Declare(p.step.Output, affine)
	return nil
}
