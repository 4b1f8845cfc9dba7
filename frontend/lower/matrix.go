package lower

import (
	"fmt"
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// maxWeightBits tells quantised weights from floats: the integers of a float32 column without common scale are wider.
const maxWeightBits = 24

// A product is a matrix product in integers that has no layer yet.
type product struct {
	step    *graph.Step
	in      int // stream
	weights [][]int64
	op      dataflow.Op
	typ     dataflow.Type // of the sums
	nodes   []*graph.Node // between the input's quantiser and the product
}

// all lists the nodes that the product computes, itself first: it is what a layer is called after.
func (p *product) all() []*graph.Node { return append([]*graph.Node{p.step.Node}, p.nodes...) }

func matrix(s *state, step *graph.Step) (bool, *Reject) {
	if step.Dot == nil {
		return false, nil
	}
	d, in := step.Dot, step.Node.Inputs
	x, w := in[d.A], s.prog.Known[in[d.B]].Const
	switch {
	case s.a.Derived(in[d.A]) && s.a.Derived(in[d.B]):
		return true, &Reject{diag.NotMapped, "both operands depend on data", "a product of two tensors of data, as in attention, needs weights that arrive on a stream, which no layer takes"}
	case s.a.Derived(in[d.B]):
		return true, &Reject{diag.NotMapped, "the constant is on the left", "export the layer as data times weights (transpose both)"}
	case w == nil:
		return true, &Reject{diag.WeightsNotInteger, "the weights are not constant", "weights must be constants of the model"}
	case d.Then != nil || d.AStride != 1 || w.Len() != d.K*dataflow.Shape(step.Shape).Channels():
		return true, &Reject{diag.NotMapped, fmt.Sprintf("weights of shape %v", w.Shape), "weights must be one matrix for all samples"}
	}
	a, reject := s.operand(x, d.K)
	if reject != nil {
		return true, reject
	}
	p, affine, reject := a.product(step, w)
	if reject != nil {
		return true, reject
	}
	if p.in, reject = s.take(a.source, step.Node); reject != nil {
		return true, reject
	}
	op := mvau.New(mvau.Params{Weights: p.weights})
	_, types, err := op.Bind([]dataflow.Type{s.build.Type(p.in)})
	if err != nil {
		return true, &Reject{diag.AccumulatorWide, err.Error(), "use fewer bits for weights or activations"}
	}
	p.op, p.typ, p.nodes = op, types[0], a.nodes
	s.pending[step.Output] = p
	s.a.Declare(step.Output, affine)
	return true, nil
}

// An operand is the data side of a product: element k of every vector is scale[k]*q + bias[k], where q is element
// order[k] of the vector in the integer tensor. Vectors there may be longer, or shorter where elements are taken twice.
type operand struct {
	source string
	length int // of a vector in the integer tensor
	order  []int
	affine []real.Affine
	nodes  []*graph.Node
}

func (s *state) operand(x string, k int) (*operand, *Reject) {
	a := &operand{}
	seen := map[*graph.Node]bool{}
	size := graph.Size(s.prog.Known[x].Shape)
	if reject := s.trace(size); reject != nil {
		return nil, reject
	}
	for i := range size {
		sl, err := s.a.At(x, i)
		if err != nil {
			return nil, &Reject{diag.NotMapped, "its input is not in integers: " + err.Error(), "quantise the input of this layer"}
		}
		if len(sl.Leaves) != 1 {
			return nil, join(sl)
		}
		leaf := sl.Leaves[0]
		f, ok := sl.Expr.Affine()
		if !ok {
			return nil, &Reject{diag.NotMapped, "its input is no scaled integer: " + between(sl.Nodes) + " stands between it and the last quantiser",
				"quantise the input of this layer, after its activation function"}
		}
		if i == 0 {
			a.source = leaf.Tensor
			a.length = graph.Size(s.prog.Known[a.source].Shape) * k / size
		}
		vector, at := i/k, leaf.Index-i/k*a.length
		if leaf.Tensor != a.source || at < 0 || at >= a.length || a.length*size/k != graph.Size(s.prog.Known[a.source].Shape) {
			return nil, &Reject{diag.NotMapped, fmt.Sprintf("vector %d of its input takes element %d of %q", vector, leaf.Index, leaf.Tensor),
				"vectors are mixed between a layer and the next: flatten without transposing"}
		}
		if vector == 0 {
			a.order, a.affine = append(a.order, at), append(a.affine, f)
			for _, n := range sl.Nodes {
				if !seen[n] {
					seen[n] = true
					a.nodes = append(a.nodes, n)
				}
			}
			continue
		}
		if first := a.affine[i%k]; a.order[i%k] != at || f.Scale.Cmp(first.Scale) != 0 || f.Bias.Cmp(first.Bias) != 0 {
			return nil, &Reject{diag.NotMapped, fmt.Sprintf("vector %d of its input is scaled differently from the first", vector), "quantise activations per tensor or per channel"}
		}
	}
	return a, nil
}

// between names what of a slice is no scale and bias: a node, or, where there is none, the rounding of a declared input.
func between(nodes []*graph.Node) string {
	if len(nodes) == 0 {
		return "the rounding of the input's values to float32"
	}
	for _, n := range nodes {
		if !isPlain(n) {
			return describe(n)
		}
	}
	return describe(nodes[0])
}

// isPlain reports whether a node keeps a scaled integer one.
func isPlain(n *graph.Node) bool {
	switch n.Op {
	case "Mul", "Add", "Sub", "Div", "Reshape", "Flatten", "Transpose", "Identity", "Squeeze", "Unsqueeze":
		return n.Domain == ""
	}
	return false
}

// product divides each column of real weights (the constant times the input's scale) by the largest real that leaves
// integers: the weights become as narrow as they can be, and that divisor is the sum's scale.
func (a *operand) product(step *graph.Step, w *graph.Tensor) (*product, []real.Affine, *Reject) {
	d, n := step.Dot, dataflow.Shape(step.Shape).Channels()
	p := &product{step: step}
	uniform := true
	for _, f := range a.affine {
		uniform = uniform && f.Scale.Cmp(a.affine[0].Scale) == 0
	}
	affine := make([]real.Affine, graph.Size(step.Shape))
	for c := range n {
		column, bias := make([]*big.Rat, d.K), new(big.Rat)
		for k, f := range a.affine {
			v := new(big.Rat).SetFloat64(w.At(int(d.BBase[c]) + k*d.BStride))
			if f.Bias.Sign() != 0 {
				bias.Add(bias, new(big.Rat).Mul(v, f.Bias))
			}
			if uniform {
				column[k] = v
			} else {
				column[k] = v.Mul(v, f.Scale)
			}
		}
		unit := commonUnit(column)
		row, bits := make([]int64, a.length), 0
		for k, v := range column {
			q := new(big.Rat).Quo(v, unit)
			bits = max(bits, q.Num().BitLen())
			row[a.order[k]] += q.Num().Int64() // an element may be taken twice
		}
		if bits > maxWeightBits {
			return nil, nil, tooWide(bits, uniform)
		}
		p.weights = append(p.weights, row)
		scale := unit
		if uniform {
			scale = new(big.Rat).Mul(unit, a.affine[0].Scale)
		}
		for i := c; i < len(affine); i += n {
			affine[i] = real.Affine{Scale: scale, Bias: bias}
		}
	}
	return p, affine, nil
}

func tooWide(bits int, uniform bool) *Reject {
	if !uniform {
		return &Reject{diag.ScalePerInput, fmt.Sprintf("the input's scale varies along the summed axis, and no common scale leaves weights below %d bits", bits),
			"quantise activations per tensor (Brevitas: scaling_per_output_channel=False)"}
	}
	return &Reject{diag.WeightsNotInteger, fmt.Sprintf("the weights are not quantised: as integers they would need %d bits", bits),
		"quantise the weights of this layer"}
}

// commonUnit is the greatest rational of which all values are whole multiples; 1 where all are zero.
func commonUnit(values []*big.Rat) *big.Rat {
	num, den := new(big.Int), big.NewInt(1)
	for _, v := range values {
		if v.Sign() == 0 {
			continue
		}
		// gcd(n/d, a/b) = gcd(n, a)/lcm(d, b) for fractions in lowest terms
		num.GCD(nil, nil, num, new(big.Int).Abs(v.Num()))
		g := new(big.Int).GCD(nil, nil, den, v.Denom())
		den.Mul(den, new(big.Int).Quo(v.Denom(), g))
	}
	if num.Sign() == 0 {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).SetFrac(num, den)
}
