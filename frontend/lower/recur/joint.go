package recur

import (
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/num"
)

// joint reads a code of two codes.
func (b *reader) joint(step *graph.Step, form *scaled.Form) error {
	n := graph.Size(step.Shape)
	leaves := form.Leaves()
	for j := 1; j < n; j++ {
		if !form.SameNumbers(0, j) {
			return NotLSTM("%s is scaled differently from unit to unit", unmapped.Describe(step.Node))
		}
	}
	if !aligned(leaves, n) {
		return NotLSTM("%s joins elements of different units", unmapped.Describe(step.Node))
	}
	// What is rounded is the quantiser's input over its scale.
	value, err := b.a.Forms(step.Node.Inputs[0], scaled.All(n))
	if err != nil {
		return NotLSTM("%s is not made of integers", unmapped.Describe(step.Node))
	}
	e, vars := value.Of[0].Numbers(0)
	rounding, err := whole.RoundingOf(b.body, step)
	if err != nil {
		return NotLSTM("%v", err)
	}
	out := &joint{of: [2]string{leaves[0].Tensor, leaves[1].Tensor}, code: own(step)}
	spans := [2]num.Range{b.codeOf(out.of[0]).Span, b.codeOf(out.of[1]).Span}
	var scale *big.Rat
	var over num.Range
	e = e.Within([]real.Interval{whole.Interval(spans[0]), whole.Interval(spans[1])})
	if inner, outer, ok := e.Joint(vars); ok {
		out.sum = true
		u := whole.Unit(inner.Scale)
		for i, v := range inner.Scale {
			m, reject := whole.Times(v, u)
			if reject != nil {
				return reject
			}
			out.factors[i] = m
			term, ok := spans[i].Times(m)
			if ok {
				over, ok = over.Plus(term)
			}
			if !ok {
				return NotLSTM("%s adds codes of scales too far apart", unmapped.Describe(step.Node))
			}
		}
		f, ok := outer.Affine()
		if !ok || f.Bias.Sign() != 0 {
			return NotLSTM("%s adds a constant to the state, or bends it", unmapped.Describe(step.Node))
		}
		scale = new(big.Rat).Mul(f.Scale, u)
	} else if offset, outer, ok := e.Product(); ok {
		f, ok := outer.Affine()
		if !ok || f.Bias.Sign() != 0 {
			return NotLSTM("%s adds a constant to a product, or bends it", unmapped.Describe(step.Node))
		}
		scale = f.Scale
		var reject error
		if over, reject = out.product(offset, &spans, &scale); reject != nil {
			return reject
		}
	} else {
		return NotLSTM("%s is neither a sum nor a product of two codes", unmapped.Describe(step.Node))
	}
	if out.requant, err = rounding.Fit(new(big.Rat).Quo(scale, rounding.Scale), over); err != nil {
		return NotLSTM("%v", err)
	}
	b.learn(step.Output, out, scaled.Unit...)
	return nil
}

// product deals with the offsets of a product: a factor is a code and a constant, and turned round where it is never above 0,
// as that of an input gate that is coupled with the forget gate.
func (out *joint) product(offset [2]*big.Rat, spans *[2]num.Range, scale **big.Rat) (num.Range, error) {
	for i, o := range offset {
		if !o.IsInt() || !o.Num().IsInt64() || o.Num().BitLen() > 40 {
			return num.Range{}, NotLSTM("a product has an offset that is no integer")
		}
		v := o.Num().Int64()
		out.offsets[i] = v
		spans[i] = num.Range{Lo: spans[i].Lo + v, Hi: spans[i].Hi + v}
		if out.falls[i] = v != 0 && spans[i].Hi <= 0; out.falls[i] {
			spans[i] = spans[i].Neg()
			*scale = new(big.Rat).Neg(*scale)
		}
	}
	r, ok := spans[1].Times(spans[0].Lo)
	other, ok2 := spans[1].Times(spans[0].Hi)
	if !ok || !ok2 {
		return r, NotLSTM("a product is too wide")
	}
	return r.Union(other), nil
}

// factor is the values of steps as factor i of a product.
func (out *joint) factor(i int, steps []num.Step) []num.Step {
	made := make([]num.Step, len(steps))
	for k, f := range steps {
		made[k].At = f.At
		for _, v := range f.Value {
			if v += out.offsets[i]; out.falls[i] {
				v = -v
			}
			made[k].Value = append(made[k].Value, v)
		}
	}
	return made
}

// plain reports whether factor i is the code itself.
func (out *joint) plain(i int) bool { return out.offsets[i] == 0 && !out.falls[i] }
