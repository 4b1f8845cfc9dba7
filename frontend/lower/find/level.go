package find

import (
	"math/big"
	"slices"

	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/scaled"
)

// maxLevelled limits the magnitude of weights that are enlarged to reach a common scale: to 8 bits, as in most layers.
const maxLevelled = 1 << 7

// EqualiseColumnScales returns weights with a common scale for all columns of the product that computes the ranking's
// integers. It multiplies those of a column by the column's scale over the common unit. of holds the real values of the
// new integers; falls is true if real values fall where these rise. ok is false if a column has no single scale, or if
// weights would become too large.
func (p *AnalysedProgram) EqualiseColumnScales(r *RowsToSort, weights [][]int64) (out [][]int64,
	of scaled.AffinesOfElements, falls,
	ok bool) {
	scales, ok := r.columns(weights)
	if !ok {
		return nil, of, false, false
	}
	unit := integers.GreatestCommonUnitOf(scales)
	if at := slices.IndexFunc(scales, func(v *big.Rat) bool { return v.Sign() != 0 }); at >= 0 &&
		scales[at].Sign() < 0 {
		falls = true
		unit.Neg(unit)
	}
	factors := make([]*big.Rat, len(scales)) // integers
	for c, v := range scales {
		factors[c] = new(big.Rat).Quo(v, unit)
	}
	if out = levelled(weights, factors); out == nil {
		return nil, of, false, false
	}
	for e := range r.Affine {
		f, _ := p.Integers.AffineOfElement(r.Source, e)
		if m := factors[int(p.Places[r.Source].PositionOf(int32(e)))%len(factors)]; m.Sign() != 0 {
			f.Scale = new(big.Rat).Quo(f.Scale, m)
		}
		of.Of = append(of.Of, f)
	}
	return out, of, falls != r.reversed, true
}

// levelled multiplies each channel's weights by an integer. It returns nil if a weight becomes too large.
func levelled(weights [][]int64, factors []*big.Rat) (out [][]int64) {
	limit := int64(maxLevelled)
	for _, row := range weights {
		for _, w := range row {
			limit = max(limit, w, -w)
		}
	}
	for c, row := range weights {
		m := factors[c].Num()
		if m.CmpAbs(big.NewInt(limit)) > 0 {
			return nil
		}
		next := make([]int64, len(row))
		for k, w := range row {
			if next[k] = w * m.Int64(); max(next[k], -next[k]) > limit {
				return nil
			}
		}
		out = append(out, next)
	}
	return out
}

// columns returns the scale of each column of weights, or 0 if all weights of the column are 0, so that any scale fits.
// ok is false if a column has several scales, if a scale is 0, or if biases differ within a row.
func (r *RowsToSort) columns(weights [][]int64) (scales []*big.Rat, ok bool) {
	scales = make([]*big.Rat, len(weights))
	for i, f := range r.Affine {
		c := i % len(weights)
		switch zero := !slices.ContainsFunc(weights[c], func(w int64) bool { return w != 0 }); {
		case f.Bias.Cmp(r.Affine[i-i%r.N].Bias) != 0:
			return nil, false
		case zero:
			scales[c] = new(big.Rat)
		case f.Scale.Sign() == 0, scales[c] != nil && scales[c].Cmp(f.Scale) != 0:
			return nil, false
		default:
			scales[c] = f.Scale
		}
	}
	return scales, true
}
