package requant

import (
	"math/big"

	"hlsgen/internal/num"
)

// maxLowDigits limits how many low digits FitLongQuantisers tries.
const maxLowDigits = 12

// maxDigitSumBits is the largest total width of a digit and an input, in bits. Their product, with a bias and a carry,
// then fits into 63 bits.
const maxDigitSumBits = 61

// FitLongQuantisers does what FindParamsForQuantisers does, with low digits: multipliers have as many bits as equality
// over the inputs needs. If all quantisers are equal, so are all multipliers and biases. All quantisers have one shift.
// ok is false if it finds none of at most num.MaxWideBits.
func FitLongQuantisers(quantisers []num.ExactQuantiser, x []num.Range) (p Params, ok bool) {
	limits := codeLimits(quantisers, x)
	quantisers, x = onlyDifferent(quantisers, x)
	return fitLong(quantisers, x, limits)
}

// A BentQuantiser is a quantiser for integers from At on, and another one for integers below.
type BentQuantiser struct {
	At           int64
	Above, Below num.ExactQuantiser
}

// FitBentQuantisers does what FitLongQuantisers does for quantisers with a bend, one for all channels or one per
// channel.
func FitBentQuantisers(quantisers []BentQuantiser, x []num.Range) (p Params, ok bool) {
	n := len(quantisers)
	below := &LowerLine{At: make([]int64, n)}
	all, in := make([]num.ExactQuantiser, 2*n), make([]num.Range, 2*n)
	for c, q := range quantisers {
		below.At[c] = q.At
		all[c], in[c] = q.Above, num.Range{Lo: max(x[c].Lo, q.At), Hi: x[c].Hi}
		all[n+c], in[n+c] = q.Below, num.Range{Lo: x[c].Lo, Hi: min(x[c].Hi, q.At-1)}
		for _, side := range []int{c, n + c} {
			if in[side].Lo > in[side].Hi { // all inputs lie on the other side
				all[side], in[side] = all[2*c+n-side], x[c]
			}
		}
	}
	if p, ok = fitLong(all, in, codeLimits(all, in)); !ok {
		return Params{}, false
	}
	p.Multiplier, below.Multiplier = p.Multiplier[:n], p.Multiplier[n:]
	p.Bias, below.Bias = p.Bias[:n], p.Bias[n:]
	for i, d := range p.Low {
		below.Low = append(below.Low, LowDigit{Multiplier: d.Multiplier[n:], Bias: d.Bias[n:]})
		p.Low[i] = LowDigit{Multiplier: d.Multiplier[:n], Bias: d.Bias[:n]}
	}
	p.Below = below
	return p, true
}

// fitLong returns parameters with low digits, one multiplier and bias per quantiser, that clip to the limits.
func fitLong(quantisers []num.ExactQuantiser, x []num.Range, limits num.Range) (p Params, ok bool) {
	list, ok := wideScalings(quantisers, x)
	for n := 1; ok && n <= maxLowDigits; n++ {
		if p, fits := split(list, x, n); fits {
			p.Lo, p.Hi = limits.Lo, limits.Hi
			return p, keepsLimits(p, quantisers, x)
		}
	}
	for n := 1; n <= maxLowDigits; n++ {
		if p, fits := splitRounded(quantisers, x, n); fits {
			p.Lo, p.Hi = limits.Lo, limits.Hi
			return p, keepsLimits(p, quantisers, x)
		}
	}
	return Params{}, false
}

// codeLimits returns the least range that holds all codes.
func codeLimits(quantisers []num.ExactQuantiser, x []num.Range) (r num.Range) {
	for c, q := range quantisers {
		ends := num.SingleValueRange(q.CodeAt(x[c].Lo)).Union(num.SingleValueRange(q.CodeAt(x[c].Hi)))
		if r = r.Union(ends); c == 0 {
			r = ends
		}
	}
	return r
}

// keepsLimits reports whether each channel's codes end where its quantiser's do, although all have one pair of limits.
func keepsLimits(p Params, quantisers []num.ExactQuantiser, x []num.Range) bool {
	for c, q := range quantisers {
		if p.apply(c, x[c].Lo) != q.CodeAt(x[c].Lo) || p.apply(c, x[c].Hi) != q.CodeAt(x[c].Hi) {
			return false
		}
	}
	return true
}

// onlyDifferent returns one quantiser for all channels and the range of all their inputs, if all quantisers are equal.
func onlyDifferent(quantisers []num.ExactQuantiser, x []num.Range) ([]num.ExactQuantiser, []num.Range) {
	first, all := quantisers[0], x[0]
	for c, q := range quantisers {
		if q.Scale.Cmp(first.Scale) != 0 || q.Bias.Cmp(first.Bias) != 0 || q.Mode != first.Mode || q.Lo != first.Lo ||
			q.Hi != first.Hi {
			return quantisers, x
		}
		all = all.Union(x[c])
	}
	return quantisers[:1], []num.Range{all}
}

// wideScalings returns each quantiser as a scaling that rounds down, all with one shift.
func wideScalings(quantisers []num.ExactQuantiser, x []num.Range) ([]num.WideScaling, bool) {
	list, shift := make([]num.WideScaling, len(quantisers)), 1 // a bit for a low digit
	for c, q := range quantisers {
		s, ok := q.FindWideScalingOver(x[c], 0)
		if !ok {
			return nil, false
		}
		list[c], shift = s, max(shift, s.Shift)
	}
	for c, s := range list { // quantisers of one scale then share a multiplier
		if again, ok := quantisers[c].FindWideScalingOver(x[c], shift); ok && again.Shift == shift {
			list[c] = again
			continue
		}
		s.Multiplier.Lsh(s.Multiplier, uint(shift-s.Shift))
		s.Bias.Lsh(s.Bias, uint(shift-s.Shift))
		list[c].Shift = shift
	}
	return list, true
}

// split returns the scalings, which all have one shift and rounding, with n low digits. ok is false if a number needs
// more than 63 bits.
func split(list []num.WideScaling, x []num.Range, n int) (p Params, ok bool) {
	bits := 0
	for _, s := range list {
		bits = max(bits, s.Multiplier.BitLen())
	}
	cut := min(bits*n/(n+1), list[0].Shift) / n
	return digits(list, x, n, max(1, cut))
}

// splitRounded returns the quantisers as scalings with their own rounding, and n low digits that the rounding does not
// see. ok is false if a number needs more than 63 bits.
func splitRounded(quantisers []num.ExactQuantiser, x []num.Range, n int) (p Params, ok bool) {
	kept, cut := 0, 0
	for c, q := range quantisers {
		kept, cut = max(kept, q.FractionBits()), max(cut, num.CutOffBits(x[c]))
		if q.Mode != quantisers[0].Mode || q.Mode == num.RoundingHalfOdd {
			return Params{}, false
		}
	}
	each := (cut + n - 1) / n
	if kept > maxShiftBits || kept+n*each > num.MaxWideBits {
		return Params{}, false
	}
	list := make([]num.WideScaling, len(quantisers))
	for c, q := range quantisers {
		list[c] = q.RoundedScalingOver(x[c], kept, n*each)
	}
	return digits(list, x, n, each)
}

// digits returns the scalings with n low digits of the given number of bits. ok is false if a number needs more than 63
// bits.
func digits(list []num.WideScaling, x []num.Range, n, bits int) (p Params, ok bool) {
	p = Params{Shift: list[0].Shift - n*bits, Mode: list[0].Mode, Low: make([]LowDigit, n), LowShift: bits}
	for c := range x {
		if num.NarrowestIntTypeFor(x[c].Union(num.Range{Lo: -1})).Width+bits > maxDigitSumBits {
			return Params{}, false
		}
	}
	mask := big.NewInt(1)
	mask.Lsh(mask, uint(bits)).Sub(mask, big.NewInt(1))
	for _, s := range list {
		digit := func(v *big.Int, d int) int64 {
			v = new(big.Int).Rsh(v, uint(d*bits))
			return v.And(v, mask).Int64()
		}
		for d := range p.Low {
			low := &p.Low[d]
			low.Multiplier = append(low.Multiplier, digit(s.Multiplier, d))
			low.Bias = append(low.Bias, digit(s.Bias, d))
		}
		m, b := new(big.Int).Rsh(s.Multiplier, uint(n*bits)), new(big.Int).Rsh(s.Bias, uint(n*bits))
		if !m.IsInt64() || !b.IsInt64() {
			return Params{}, false
		}
		p.Multiplier, p.Bias = append(p.Multiplier, m.Int64()), append(p.Bias, b.Int64())
	}
	if p.Shift < 0 || p.Shift > maxShiftBits {
		return Params{}, false
	}
	_, err := p.sums(len(list), func(c int) num.Range { return x[c] })
	return p, err == nil
}
