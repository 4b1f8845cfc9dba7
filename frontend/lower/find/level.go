package find

import (
	"math/big"
	"slices"

	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/scaled"
)

// maxLevelled bounds the weights that become larger for the sake of one scale: those of 8 bits, as layers mostly have.
const maxLevelled = 1 << 7

// Level brings the columns of a product of the ranking's integers to one scale. Each column's integers are as small as
// they can be, so that its scale may be a multiple of its neighbours' though all weights were quantised alike; and
// scales per channel may be powers of two. The weights of a column are multiplied by what its scale has over the unit
// that all have in common. ok is false where the labels differ in more than that, or weights would become too large. of
// is the real values of the new integers; falls says that these fall where the integers rise.
func (p *Program) Level(r *Ranking, weights [][]int64) (out [][]int64, of scaled.Values, falls, ok bool) {
	scales, ok := r.columns(weights)
	if !ok {
		return nil, of, false, false
	}
	unit := whole.Unit(scales)
	if at := slices.IndexFunc(scales, func(v *big.Rat) bool { return v.Sign() != 0 }); at >= 0 &&
		scales[at].Sign() < 0 {
		falls = true
		unit.Neg(unit)
	}
	factors := make([]*big.Rat, len(scales)) // they are whole
	for c, v := range scales {
		factors[c] = new(big.Rat).Quo(v, unit)
	}
	if out = levelled(weights, factors); out == nil {
		return nil, of, false, false
	}
	for e := range r.Affine {
		f, _ := p.Integers.Integer(r.Source, e)
		if m := factors[int(p.Places[r.Source].Position(int32(e)))%len(factors)]; m.Sign() != 0 {
			f.Scale = new(big.Rat).Quo(f.Scale, m)
		}
		of.Of = append(of.Of, f)
	}
	return out, of, falls, true
}

// levelled multiplies each channel's weights by a whole number. It is nil where one becomes too large.
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

// columns is the scale of every column of weights; 0 where all of a column's weights are 0, and any scale does. ok is
// false where a column has several, where a scale is 0, or where biases differ within a row.
func (r *Ranking) columns(weights [][]int64) (scales []*big.Rat, ok bool) {
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
