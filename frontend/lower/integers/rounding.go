package integers

import (
	"fmt"
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/num"
)

// A ProductRounding describes how a quantiser rounds products: clip(round(product/Scale + Before) + Behind).
type ProductRounding struct {
	Mode   num.Rounding
	Scale  *big.Rat
	Before *big.Rat // zero point that is added before rounding
	Behind int64    // zero point that is added after rounding
	Codes  num.Range

	node *graph.Node
}

var modes = map[real.RoundingMode]num.Rounding{real.HalfEven: num.HalfEven, real.HalfAwayFromZero: num.HalfAway,
	real.HalfTowardsZero: num.HalfTowardZero, real.TowardsNegativeInf: num.Floor, real.TowardsPositiveInf: num.Ceil,
	real.TowardsZero:  num.TowardZero,
	real.AwayFromZero: num.AwayFromZero}

// RoundingOf reads a quantiser with a single scale and no zero point as a rounding. The error states why the step is no
// such quantiser.
func RoundingOf(p *program.Program, step *program.Step) (*ProductRounding, error) {
	q, err := ShiftedOf(p, step)
	if err == nil && (q.Before.Sign() != 0 || q.Behind != 0) {
		return nil, fmt.Errorf("%s has a zero point", unmapped.NodeText(step.Node))
	}
	return q, err
}

// ShiftedOf reads a quantiser with a single scale and a single zero point, which may be 0, as a rounding. The error
// states why the step is no such quantiser.
func ShiftedOf(p *program.Program, step *program.Step) (*ProductRounding, error) {
	codes, ok := scaled.Codes(step)
	if !ok || !operators.Has(step.Node, operators.TraitUniformCodes) || step.Node.Int("sign", 0) != 0 {
		return nil, fmt.Errorf("%s does not round products", unmapped.NodeText(step.Node))
	}
	s, z := p.Known[step.Node.Inputs[1]].Const, p.Known[step.Node.Inputs[2]].Const
	if s == nil || z == nil || s.Len() != 1 || z.Len() != 1 {
		return nil, fmt.Errorf("%s has a zero point or a scale per unit", unmapped.NodeText(step.Node))
	}
	mode, ok := modes[real.RoundingMode(step.Node.Int("mode", 0))]
	if !ok {
		return nil, fmt.Errorf("%s rounds in a way that no layer does", unmapped.NodeText(step.Node))
	}
	q := &ProductRounding{Mode: mode, Scale: new(big.Rat).SetFloat64(s.At(0)), Before: new(big.Rat), Codes: codes,
		node: step.Node}
	if step.Node.Int("zero_first", 0) != 0 {
		q.Before.SetFloat64(z.At(0))
	} else {
		q.Behind = int64(z.At(0)) // an integer
	}
	return q, nil
}

// Products reads the first n elements of a form that r rounds as products of weights and integers within in. q
// multiplies and shifts these products as r rounds. An error that is no *unmapped.Reason states why the elements have
// no such form.
func (r *ProductRounding) Products(form *scaled.Expression, n int, in num.Range) (weights []int64, q num.Requant,
	err error) {
	scales := make([]*big.Rat, n)
	for i := range scales {
		f, ok := form.Affine(i)
		if !ok || f.Bias.Sign() != 0 {
			return nil, q, fmt.Errorf("%s does not round plain products", unmapped.NodeText(r.node))
		}
		scales[i] = new(big.Rat).Quo(f.Scale, r.Scale)
	}
	unit := CommonUnit(scales)
	all := num.Range{}
	for _, v := range scales {
		w, err := InUnits(v, unit)
		if err != nil {
			return nil, q, err
		}
		products, ok := in.Times(w)
		if !ok || max(w, -w) >= 1<<MaxBits {
			return nil, q, TooWide(64, true)
		}
		all, weights = all.Union(products), append(weights, w)
	}
	q, err = r.Fit(unit, all)
	return weights, q, err
}

// Fit returns the multiplier and the shift that map each integer of a range, times a scale, to the code that r gives.
// The error states that there are none.
func (r *ProductRounding) Fit(scale *big.Rat, in num.Range) (num.Requant, error) {
	q, ok := num.FitRequant(scale, r.Mode, in, r.Codes.Lo, r.Codes.Hi)
	if !ok {
		return q, fmt.Errorf("no multiplier and shift of 62 bits round as %s does", unmapped.NodeText(r.node))
	}
	return q, nil
}
