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

var modes = map[real.RoundingMode]num.Rounding{real.RoundingModeHalfEven: num.RoundingHalfEven,
	real.RoundingModeHalfAwayFromZero:   num.RoundingHalfAwayFromZero,
	real.RoundingModeHalfTowardsZero:    num.RoundingHalfTowardZero,
	real.RoundingModeTowardsNegativeInf: num.RoundingFloor,
	real.RoundingModeTowardsPositiveInf: num.RoundingCeil,
	real.RoundingModeTowardsZero:        num.RoundingTowardZero,
	real.RoundingModeAwayFromZero:       num.RoundingAwayFromZero}

// ProductRoundingOf returns the rounding that a quantiser step with a single scale and no zero point performs. The
// error states why the step is not such a quantiser.
func ProductRoundingOf(p *program.Program, step *program.Step) (*ProductRounding, error) {
	q, err := ProductRoundingWithZeroPointOf(p, step)
	if err == nil && (q.Before.Sign() != 0 || q.Behind != 0) {
		return nil, fmt.Errorf("%s has a zero point", unmapped.DescribeNode(step.Node))
	}
	return q, err
}

// ProductRoundingWithZeroPointOf returns the rounding that a quantiser step with a single scale and a single zero
// point, which may be 0, performs. The error states why the step is not such a quantiser.
func ProductRoundingWithZeroPointOf(p *program.Program, step *program.Step) (*ProductRounding, error) {
	codes, ok := scaled.QuantiserCodeRange(step)
	if !ok || !operators.HasTrait(step.Node, operators.TraitUniformCodes) || step.Node.IntAttrOr("sign", 0) != 0 {
		return nil, fmt.Errorf("%s does not round products", unmapped.DescribeNode(step.Node))
	}
	s, z := p.Known[step.Node.Inputs[1]].Const, p.Known[step.Node.Inputs[2]].Const
	if s == nil || z == nil || s.Len() != 1 || z.Len() != 1 {
		return nil, fmt.Errorf("%s has a zero point or a scale per unit", unmapped.DescribeNode(step.Node))
	}
	mode, ok := modes[real.RoundingMode(step.Node.IntAttrOr("mode", 0))]
	if !ok {
		return nil, fmt.Errorf("%s rounds in a way that no layer does", unmapped.DescribeNode(step.Node))
	}
	q := &ProductRounding{Mode: mode, Scale: new(big.Rat).SetFloat64(s.FloatAt(0)), Before: new(big.Rat), Codes: codes,
		node: step.Node}
	if step.Node.IntAttrOr("zero_first", 0) != 0 {
		q.Before.SetFloat64(z.FloatAt(0))
	} else {
		q.Behind = int64(z.FloatAt(0)) // an integer
	}
	return q, nil
}

// IntegerProductsOf returns integer weights w for the first n elements of a form, which r rounds. Each element is w
// times an integer x within in, times a common scale. q multiplies and shifts w*x to the code that r gives. An
// *unmapped.Reason says that the weights are too wide; all other errors, why the elements have no such form.
func (r *ProductRounding) IntegerProductsOf(form *scaled.FormExpression, n int, in num.Range) (weights []int64,
	q num.Requant,
	err error) {
	scales := make([]*big.Rat, n)
	for i := range scales {
		f, ok := form.AffineAtElement(i)
		if !ok || f.Bias.Sign() != 0 {
			return nil, q, fmt.Errorf("%s does not round plain products", unmapped.DescribeNode(r.node))
		}
		scales[i] = new(big.Rat).Quo(f.Scale, r.Scale)
	}
	unit := GreatestCommonUnitOf(scales)
	all := num.Range{}
	for _, v := range scales {
		w, err := CountUnits(v, unit)
		if err != nil {
			return nil, q, err
		}
		products, ok := in.TimesConstant(w)
		if !ok || max(w, -w) >= 1<<maxQuantisedWeightBits {
			return nil, q, weightsTooWideReason(64, true)
		}
		all, weights = all.Union(products), append(weights, w)
	}
	q, err = r.FitRequant(unit, all)
	return weights, q, err
}

// FitRequant returns the multiplier and the shift by which each integer in a range becomes the code that r gives for
// the integer times scale. The error states that there are none.
func (r *ProductRounding) FitRequant(scale *big.Rat, in num.Range) (num.Requant, error) {
	q, ok := num.FitRequant(scale, r.Mode, in, r.Codes.Lo, r.Codes.Hi)
	if !ok {
		return q, fmt.Errorf("no multiplier and shift of 62 bits round as %s does", unmapped.DescribeNode(r.node))
	}
	return q, nil
}
