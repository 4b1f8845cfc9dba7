package find

import (
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/num"
)

// Defer notes a quantiser that rounds products one by one: they wait for their sum.
func (p *Program) Defer(code *graph.Step) { p.rounded[code.Output] = code }

// RoundsProducts reports whether a quantiser rounds products of data and weights one by one, of which nothing but sums is
// used: the product of a matrix and a vector whose single products are rounded, as FINN-L's are.
func (p *Program) RoundsProducts(c *Codes) bool {
	step, forms := c.Step, c.Forms
	if step.Node.Op != "Code" || len(forms.Of) != 1 || len(forms.Of[0].Leaves()) != 1 || len(forms.Of[0].Vars) < 2 {
		return false
	}
	products, err := p.Integers.Forms(step.Node.Inputs[0], []int32{0})
	if err != nil || len(products.Of[0].Leaves()) != 1 {
		return false
	}
	e, _ := products.Of[0].Numbers(0)
	f, ok := e.Affine()
	return ok && f.Bias.Sign() == 0 && p.onlySummed(step.Output)
}

// onlySummed reports whether a tensor, scaled and moved, is used for nothing but sums.
func (p *Program) onlySummed(tensor string) bool {
	found := false
	for _, r := range p.Uses.Readers(tensor) {
		switch {
		case r.Dot != nil && r.Window == nil:
			w := p.Known[r.Node.Inputs[r.Dot.B]].Const
			if w == nil || !ones(w) {
				return false
			}
		case scaled.IsCode(r), r.Elem == nil && r.Move == nil, r.Window != nil, !p.onlySummed(r.Output):
			return false
		}
		found = true
	}
	return found
}

func ones(w *graph.Tensor) bool {
	for i := range w.Len() {
		if w.At(i) != 1 {
			return false
		}
	}
	return true
}

// Rounded is vectors whose single products with weights are rounded before they are added up.
type Rounded struct {
	*Operand     // one vector after the other
	Count, K int // vectors, and elements of each
	Matrix   choose.Matrix
	Scale    real.Affine // the real value of a sum
}

// RoundedOf reads a sum of rounded products; ok is false where a step is none.
func (p *Program) RoundedOf(step *graph.Step, w *graph.Tensor) (r *Rounded, ok bool, reject error) {
	if len(p.rounded) == 0 {
		return nil, false, nil
	}
	d := step.Dot
	elements := make([]int32, 0, len(d.ABase)*d.K)
	for _, base := range d.ABase {
		for _, k := range d.AOffset {
			elements = append(elements, base+k)
		}
	}
	terms, err := p.Integers.Forms(step.Node.Inputs[d.A], elements)
	if err != nil || len(terms.Of) != 1 || len(terms.Of[0].Leaves()) != 1 {
		return nil, false, nil
	}
	code, ok := p.rounded[terms.Of[0].Leaves()[0].Tensor]
	if ok {
		r, reject = p.roundedSums(d.K, w, code, terms)
	}
	return r, ok, reject
}

// roundedSums reads sums of k codes each, in order, whose forms are terms.
func (p *Program) roundedSums(k int, w *graph.Tensor, code *graph.Step, terms *scaled.Forms) (*Rounded, error) {
	if reject := p.Trace(len(terms.Of[0].Leaves()[0].Index)); reject != nil {
		return nil, reject
	}
	leaf := terms.Of[0].Leaves()[0]
	e, _ := terms.Of[0].Numbers(0)
	scale, ok := e.Affine()
	for i := range leaf.Index {
		ok = ok && terms.Of[0].SameNumbers(0, i)
	}
	if !ok || scale.Bias.Sign() != 0 || !ones(w) {
		return nil, unmapped.Because("it does more than add up rounded products", "use the sum of the products itself")
	}
	products, err := p.Integers.Forms(code.Node.Inputs[0], leaf.Index) // in the order of the sums
	if err != nil || len(products.Of) != 1 || len(products.Of[0].Leaves()) != 1 {
		return nil, unmapped.Because("it adds up products of several tensors", "use one tensor of data and one of weights")
	}
	form := &products.Of[0]
	x := form.Leaves()[0]
	n := 1 // outputs of one vector: they are sums over the same elements
	for n*k < len(x.Index) && slices.Equal(x.Index[n*k:(n+1)*k], x.Index[:k]) {
		n++
	}
	for i := range x.Index {
		if first := i % (n * k); x.Index[i] != x.Index[i-first+first%k] || !form.SameNumbers(first, i) {
			return nil, unmapped.Because("its weights are not one matrix for all vectors", "use one matrix of weights")
		}
	}
	m, reject := p.roundedWeights(code, form, n, k)
	if reject != nil {
		return nil, reject
	}
	o := &Operand{Tensors: []string{x.Tensor}, Nodes: append([]*graph.Node{code.Node}, form.Nodes...)}
	for i := 0; i < len(x.Index); i += n * k {
		for _, element := range x.Index[i : i+k] {
			o.Then(0, p.Places[x.Tensor].Position(element))
		}
	}
	return &Rounded{o, len(x.Index) / n / k, k, m, scale}, nil
}

// roundedWeights finds the weights of n rows of k products, and how the products are rounded.
func (p *Program) roundedWeights(code *graph.Step, form *scaled.Form, n, k int) (m choose.Matrix, reject error) {
	rounding, err := whole.RoundingOf(p.Program, code)
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
	r := p.Places[form.Leaves()[0].Tensor].Type.Union()
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

func notRounded(err error) error {
	return unmapped.Because("its products are rounded one by one: "+err.Error(), "round them with one scale and zero point 0, or round their sum")
}
