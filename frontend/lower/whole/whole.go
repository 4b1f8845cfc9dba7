// Package whole makes whole numbers of real ones, exactly: integers that are the multiples of a common unit, steps of
// channels, multipliers of a sum, and how a quantiser rounds a product.
//
// In come rationals, expressions and quantisers; out come integers that are the same, or the reason why there are none.
// Files: whole.go has units and columns; steps.go what steps of channels have in common; rounding.go reads quantisers;
// requantise.go finds factors of a sum of two; nearest.go finds the sums next to a number, small.go in few bits.
//
// It sees graph, real, scaled, unmapped, diag and num.
package whole

import (
	"fmt"
	"math/big"

	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

// MaxBits tells quantised weights from floats: the integers of a float32 column without common scale are wider.
const MaxBits = 24

// Unit is the greatest rational of which all values are whole multiples; 1 where all are zero.
func Unit(values []*big.Rat) *big.Rat {
	n, d := new(big.Int), big.NewInt(1)
	for _, v := range values {
		if v.Sign() == 0 {
			continue
		}
		// gcd(n/d, a/b) = gcd(n, a)/lcm(d, b) for fractions in lowest terms
		n.GCD(nil, nil, n, new(big.Int).Abs(v.Num()))
		g := new(big.Int).GCD(nil, nil, d, v.Denom())
		d.Mul(d, new(big.Int).Quo(v.Denom(), g))
	}
	if n.Sign() == 0 {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).SetFrac(n, d)
}

// Times is v in units.
func Times(v, unit *big.Rat) (int64, error) {
	q := new(big.Rat).Quo(v, unit)
	if !q.Num().IsInt64() {
		return 0, unmapped.As(diag.RangeTooWide, "the scales of the tensors that it adds have no common unit of 63 bits",
			"use one scale for both, or scales that are powers of two")
	}
	return q.Num().Int64(), nil
}

// Column divides a column of real weights, each times its input's scale, by the largest real that leaves integers: the
// weights become as narrow as they can be, and that divisor is the sum's scale.
func Column(column []*big.Rat, in []real.Affine) (row []int64, out real.Affine, reject error) {
	bias := new(big.Rat)
	uniform := true
	for k, w := range column {
		uniform = uniform && in[k].Scale.Cmp(in[0].Scale) == 0
		if in[k].Bias.Sign() != 0 {
			bias.Add(bias, new(big.Rat).Mul(w, in[k].Bias))
		}
	}
	if !uniform {
		for k, w := range column {
			column[k] = new(big.Rat).Mul(w, in[k].Scale)
		}
	}
	unit := Unit(column)
	bits := 0
	for _, v := range column {
		q := new(big.Rat).Quo(v, unit)
		bits = max(bits, q.Num().BitLen())
		row = append(row, q.Num().Int64())
	}
	if bits > MaxBits {
		return nil, out, TooWide(bits, uniform)
	}
	if uniform {
		unit = new(big.Rat).Mul(unit, in[0].Scale)
	}
	return row, real.Affine{Scale: unit, Bias: bias}, nil
}

// TooWide is the reason of a column whose integers need so many bits; uniform says that its inputs have one scale.
func TooWide(bits int, uniform bool) error {
	if !uniform {
		return unmapped.As(diag.ScalePerInput,
			fmt.Sprintf("the input's scale varies along the summed axis, and no common scale leaves weights below "+
				"%d bits", bits),
			"quantise activations per tensor (Brevitas: scaling_per_output_channel=False)")
	}
	return unmapped.As(diag.WeightsNotInteger,
		fmt.Sprintf("the weights are not quantised: as integers they would need %d bits", bits),
		"quantise the weights of this layer")
}
