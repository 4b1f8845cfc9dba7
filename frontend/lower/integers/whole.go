// Package integers converts real numbers to integers, exactly: weights to multiples of a common unit, step functions
// of channels, multipliers of a sum, and the rounding of products by quantisers.
//
// In come rationals, expressions and quantisers; out come integers that are the same, or the reason why there are
// none. Files: whole.go has units and columns; blocks.go finds blocks of a sum with units of their own; steps.go
// has limits and errors of step functions; rounding.go reads quantisers; requantise.go finds factors of a sum of
// two; nearest.go finds the sums next to a number, small.go in few bits.
package integers

import (
	"fmt"
	"math"
	"math/big"
	mathbits "math/bits"
	"slices"

	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

// maxQuantisedWeightBits is the largest width, in bits, of the integer weights of a column that counts as quantised.
// The integers of float32 weights that were not quantised are wider.
const maxQuantisedWeightBits = 24

// Limits for minifloats, whose weights are integers of few bits times a power of two. If all integers of a column
// have this form, they may be wider than maxQuantisedWeightBits, up to the widest signed integer in an int64.
const (
	maxMantissa = maxQuantisedWeightBits / 2
	maxFloat    = 62
)

// quantised reports whether the integers of a column, the largest of which has the given bits, count as quantised
// weights. They may be wider than maxQuantisedWeightBits if they are minifloats.
func quantised(row []int64, bits int) bool {
	if bits <= maxQuantisedWeightBits {
		return true
	}
	return bits <= maxFloat && !slices.ContainsFunc(row, func(v int64) bool {
		v = max(v, -v)
		return v>>mathbits.TrailingZeros64(uint64(v)) >= 1<<maxMantissa
	})
}

// GreatestCommonUnitOf returns the greatest positive rational of which all values are integer multiples, or 1 if all
// are zero.
func GreatestCommonUnitOf(values []*big.Rat) *big.Rat {
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

// CountUnits returns v/unit, which must be an integer. The error is the reason why it does not fit into an int64.
func CountUnits(v, unit *big.Rat) (int64, error) {
	q := new(big.Rat).Quo(v, unit)
	if !q.Num().IsInt64() {
		return 0, unmapped.NewReasonWithCode(diag.ActivationRangeTooWide,
			"the scales of the tensors that it adds have no common unit of 63 bits",
			"use one scale for both, or scales that are powers of two")
	}
	return q.Num().Int64(), nil
}

// InputAffines holds, for each input of a matrix product, the scale and the bias of its real values. All columns of
// weights share it.
type InputAffines struct {
	of      []real.Affine
	dead    []int    // inputs of scale 0, whose values are their biases
	scale   *big.Rat // scale of the first other input; nil if there is none
	uniform bool     // all other inputs have this scale
	alike   bool     // no input has scale 0, and all have one bias
}

// NewInputAffines returns the InputAffines for the given scales and biases, one of each per input.
func NewInputAffines(in []real.Affine) *InputAffines {
	x := &InputAffines{of: in, uniform: true, alike: true}
	for k, a := range in {
		switch {
		case a.Scale.Sign() == 0:
			x.dead = append(x.dead, k)
		case x.scale == nil:
			x.scale = a.Scale
		default:
			x.uniform = x.uniform && equal(a.Scale, x.scale)
		}
		x.alike = x.alike && equal(a.Bias, in[0].Bias)
	}
	x.alike = x.alike && x.scale != nil && len(x.dead) == 0
	return x
}

// WeightColumnToIntegers returns a column of weights, each times its input's scale, as integer multiples of a unit. The
// unit, as large as possible, is the scale in out; out also has the bias of the column's sum. Inputs of scale 0 get the
// weight 0. The error is the reason why the weights do not count as quantised.
func (x *InputAffines) WeightColumnToIntegers(column []float64) (row []int64, out real.Affine, reject error) {
	live := column
	if len(x.dead) > 0 {
		live = slices.Clone(column)
		for _, k := range x.dead {
			live[k] = 0
		}
	}
	var unit *big.Rat
	var bits int
	if x.uniform {
		row, unit, bits = dyadic(live)
	} else {
		row, unit, bits = rationals(live, x.of)
	}
	if !quantised(row, bits) {
		return nil, out, weightsTooWideReason(bits, x.uniform)
	}
	out = real.Affine{Scale: unit, Bias: new(big.Rat)}
	if x.uniform && x.alike {
		out.Bias.SetInt64(sum(row))
		out.Bias.Mul(out.Bias, unit).Mul(out.Bias, x.of[0].Bias)
	} else {
		out.Bias = bias(column, x.of)
	}
	if x.uniform && x.scale != nil {
		out.Scale = new(big.Rat).Mul(unit, x.scale)
	}
	return row, out, nil
}

// WeightColumnToIntegers returns what InputAffines.WeightColumnToIntegers returns, for a matrix of which the column is
// the only one.
func WeightColumnToIntegers(column []float64, in []real.Affine) (row []int64, out real.Affine, reject error) {
	return NewInputAffines(in).WeightColumnToIntegers(column)
}

// CodedWeightColumnToIntegers is InputAffines.WeightColumnToIntegers for weights given as codes; values holds the
// weight for each code. All inputs must have the scale and the bias of in, and the scale must not be 0. It examines
// each code only once.
func CodedWeightColumnToIntegers(codes []uint8, values []float64, in real.Affine) (row []int64, out real.Affine,
	reject error) {
	var occurs [256]bool
	for _, c := range codes {
		occurs[c] = true
	}
	var used []uint8
	var column []float64
	for c, is := range occurs {
		if is {
			used, column = append(used, uint8(c)), append(column, values[c])
		}
	}
	integers, unit, bits := dyadic(column)
	if !quantised(integers, bits) {
		return nil, out, weightsTooWideReason(bits, true)
	}
	var table [256]int64
	for i, c := range used {
		table[c] = integers[i]
	}
	row = make([]int64, len(codes))
	for k, c := range codes {
		row[k] = table[c]
	}
	out = real.Affine{Scale: new(big.Rat).Mul(unit, in.Scale), Bias: new(big.Rat).SetInt64(sum(row))}
	out.Bias.Mul(out.Bias, unit).Mul(out.Bias, in.Bias)
	return row, out, nil
}

// equal reports whether two rationals are equal. It is fast for identical pointers, which occur often.
func equal(a, b *big.Rat) bool { return a == b || a.Cmp(b) == 0 }

func sum(row []int64) (s int64) {
	for _, v := range row {
		s += v
	}
	return s
}

// bias returns the sum of all weights of a column times the biases of their inputs.
func bias(column []float64, in []real.Affine) *big.Rat {
	sum := new(big.Rat)
	for k, w := range column {
		if in[k].Bias.Sign() != 0 {
			v := new(big.Rat).SetFloat64(w)
			sum.Add(sum, v.Mul(v, in[k].Bias))
		}
	}
	return sum
}

// dyadic returns a column of weights as integer multiples of unit, the largest number for which they are integers. bits
// is the width of the widest integer. Above 63 bits the integers are meaningless.
func dyadic(column []float64) (row []int64, unit *big.Rat, bits int) {
	var g grid
	var seen [64]float64 // some earlier weights, since quantised weights have few values
	for _, w := range column {
		at := &seen[math.Float64bits(w)*0x9e3779b97f4a7c15>>58]
		if w == 0 || w == *at {
			continue
		}
		*at = w
		g.add(w)
	}
	row = make([]int64, len(column))
	if g.divisor == 0 {
		return row, big.NewRat(1, 1), 0
	}
	if bits = g.bits(); bits <= 63 {
		multiples(row, column, g.divisor, g.least)
	}
	return row, g.unit(), bits
}

// multiples sets row to the weights of a column divided by divisor * 2^least. The results must be integers of at most
// 63 bits. If the divisor is a normal float64, the quotient is exact, since it has no more bits than the weight.
func multiples(row []int64, column []float64, divisor uint64, least int) {
	if -1000 < least && least < 900 {
		unit := math.Ldexp(float64(divisor), least)
		for k, w := range column {
			row[k] = int64(w / unit)
		}
		return
	}
	for k, w := range column {
		if w == 0 {
			continue
		}
		m, e := odd(w)
		if row[k] = int64(m / divisor << (e - least)); w < 0 {
			row[k] = -row[k]
		}
	}
}

// odd splits a float64 that is not 0: its magnitude is m * 2^e with m odd.
func odd(w float64) (m uint64, e int) {
	const fraction = 52
	b := math.Float64bits(w)
	e = int(b>>fraction&0x7ff) - 1023 - fraction
	m = b & (1<<fraction - 1)
	if e == -1023-fraction { // subnormal
		e++
	} else {
		m |= 1 << fraction
	}
	n := mathbits.TrailingZeros64(m)
	return m >> n, e + n
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// rationals is dyadic for weights times the scales of their inputs, which need not be powers of two.
func rationals(column []float64, in []real.Affine) (row []int64, unit *big.Rat, bits int) {
	values := make([]*big.Rat, len(column))
	for k, w := range column {
		values[k] = new(big.Rat).SetFloat64(w)
		values[k].Mul(values[k], in[k].Scale)
	}
	unit = GreatestCommonUnitOf(values)
	row = make([]int64, len(column))
	for k, v := range values {
		q := new(big.Rat).Quo(v, unit)
		bits = max(bits, q.Num().BitLen())
		row[k] = q.Num().Int64()
	}
	return row, unit, bits
}

// weightsTooWideReason returns the reason for refusing a column whose integers would need the given number of bits.
// uniform says whether all inputs have one scale, so that the weights are to blame.
func weightsTooWideReason(bits int, uniform bool) error {
	if !uniform {
		return unmapped.NewReasonWithCode(diag.ScalePerInputChannel,
			fmt.Sprintf("the input's scale varies along the summed axis, and no common scale leaves weights below "+
				"%d bits", bits),
			"quantise activations per tensor (Brevitas: scaling_per_output_channel=False)")
	}
	return unmapped.NewReasonWithCode(diag.WeightsNotInteger,
		fmt.Sprintf("the weights are not quantised with one scale per output channel: as integers they would need %d "+
			"bits", bits),
		"quantise the weights of this layer")
}
