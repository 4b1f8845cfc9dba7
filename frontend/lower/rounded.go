package lower

import (
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// roundsProducts reports whether a quantiser rounds products of data and weights one by one, of which nothing but sums is
// used: the product of a matrix and a vector whose single products are rounded, as FINN-L's are.
func (s *state) roundsProducts(step *graph.Step, forms *scaled.Forms) bool {
	if step.Node.Op != "Code" || len(forms.Of) != 1 || len(forms.Of[0].Leaves()) != 1 || len(forms.Of[0].Vars) < 2 {
		return false
	}
	products, err := s.a.Forms(step.Node.Inputs[0], []int32{0})
	if err != nil || len(products.Of[0].Leaves()) != 1 {
		return false
	}
	e, _ := products.Of[0].Numbers(0)
	f, ok := e.Affine()
	return ok && f.Bias.Sign() == 0 && s.onlySummed(step.Output)
}

// onlySummed reports whether a tensor, scaled and moved, is used for nothing but sums.
func (s *state) onlySummed(tensor string) bool {
	found := false
	for _, r := range s.prog.Readers(tensor) {
		switch {
		case !s.used[r]:
			continue
		case r.Dot != nil && r.Window == nil:
			w := s.prog.Known[r.Node.Inputs[r.Dot.B]].Const
			if w == nil || slices.ContainsFunc(scaled.All(w.Len()), func(i int32) bool { return w.At(int(i)) != 1 }) {
				return false
			}
		case scaled.IsCode(r), r.Elem == nil && r.Move == nil, r.Window != nil, !s.onlySummed(r.Output):
			return false
		}
		found = true
	}
	return found
}

// roundedTerms finds the quantiser whose codes a sum adds up, and the forms of those codes; nil where there is none.
func (s *state) roundedTerms(step *graph.Step) (code *graph.Step, forms *scaled.Forms) {
	if len(s.rounded) == 0 {
		return nil, nil
	}
	d := step.Dot
	elements := make([]int32, 0, len(d.ABase)*d.K)
	for _, base := range d.ABase {
		for _, k := range d.AOffset {
			elements = append(elements, base+k)
		}
	}
	forms, err := s.a.Forms(step.Node.Inputs[d.A], elements)
	if err != nil || len(forms.Of) != 1 || len(forms.Of[0].Leaves()) != 1 {
		return nil, nil
	}
	return s.rounded[forms.Of[0].Leaves()[0].Tensor], forms
}

// roundedVectors makes a product of a matrix with vectors whose single products are rounded.
func (s *state) roundedVectors(step *graph.Step, ones *graph.Tensor, code *graph.Step, terms *scaled.Forms) *unmapped.Reason {
	k := step.Dot.K
	if reject := s.trace(len(step.Dot.ABase) * k); reject != nil {
		return reject
	}
	leaf := terms.Of[0].Leaves()[0]
	e, _ := terms.Of[0].Numbers(0)
	scale, ok := e.Affine()
	for i := range leaf.Index {
		ok = ok && terms.Of[0].SameNumbers(0, i)
	}
	if !ok || scale.Bias.Sign() != 0 || slices.ContainsFunc(scaled.All(ones.Len()), func(i int32) bool { return ones.At(int(i)) != 1 }) {
		return unmapped.Because("it does more than add up rounded products", "use the sum of the products itself")
	}
	products, err := s.a.Forms(code.Node.Inputs[0], leaf.Index) // in the order of the sums
	if err != nil || len(products.Of) != 1 || len(products.Of[0].Leaves()) != 1 {
		return unmapped.Because("it adds up products of several tensors", "use one tensor of data and one of weights")
	}
	form := &products.Of[0]
	x := form.Leaves()[0]
	n := 1 // outputs of one vector: they are sums over the same elements
	for n*k < len(x.Index) && slices.Equal(x.Index[n*k:(n+1)*k], x.Index[:k]) {
		n++
	}
	for i := range x.Index {
		if first := i % (n * k); x.Index[i] != x.Index[i-first+first%k] || !form.SameNumbers(first, i) {
			return unmapped.Because("its weights are not one matrix for all vectors", "use one matrix of weights")
		}
	}
	p := &product{step: step, nodes: append([]*graph.Node{code.Node}, form.Nodes...)}
	m, reject := s.roundedWeights(code, form, n, k)
	if reject != nil {
		return reject
	}
	o := &operand{wires: []string{x.Tensor}, nodes: p.nodes}
	for i := 0; i < len(x.Index); i += n * k {
		for _, element := range x.Index[i : i+k] {
			o.From, o.At = append(o.From, 0), append(o.At, s.places[x.Tensor].Position(element))
		}
	}
	v := len(x.Index) / n / k
	if p.in, reject = s.arrange(o, dataflow.Shape{v, k}, 0); reject != nil {
		return reject
	}
	return s.wait(p, m, nil, []real.Affine{scale})
}

// roundedWeights finds the weights of n rows of k products, and how the products are rounded.
func (s *state) roundedWeights(code *graph.Step, form *scaled.Form, n, k int) (m choose.Matrix, reject *unmapped.Reason) {
	rounding, err := whole.RoundingOf(s.prog, code)
	if err != nil {
		return m, notRounded(err)
	}
	weights := make([]*big.Rat, n*k)
	for i := range weights {
		e, _ := form.Numbers(i)
		f, ok := e.Affine()
		if !ok || f.Bias.Sign() != 0 {
			return m, unmapped.Because("what it rounds is no plain product of an integer and a weight", "quantise the data with zero point 0")
		}
		weights[i] = new(big.Rat).Quo(f.Scale, rounding.Scale)
	}
	unit := whole.Unit(weights)
	r := s.places[form.Leaves()[0].Tensor].Type.Union()
	all := num.Range{}
	m.Weights = make([][]int64, n)
	for i, v := range weights {
		w, reject := whole.Times(v, unit)
		if reject != nil {
			return m, reject
		}
		span, ok := r.Times(w)
		if !ok || max(w, -w) >= 1<<whole.MaxBits {
			return m, whole.TooWide(64, true)
		}
		all = all.Union(span)
		m.Weights[i/k] = append(m.Weights[i/k], w)
	}
	q, err := rounding.Fit(unit, all)
	if err != nil {
		return m, notRounded(err)
	}
	m.Product = &q
	return m, nil
}

func notRounded(err error) *unmapped.Reason {
	return unmapped.Because("its products are rounded one by one: "+err.Error(), "round them with one scale and zero point 0, or round their sum")
}
