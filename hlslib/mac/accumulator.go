package mac

import (
	"fmt"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// bindAccumulator sets the accumulator's type from the exact range of every channel's sum, and the bounds that the
// report compares. Exact is the width that the widest channel needs. Used is one bit more if only another channel is
// signed. It returns an error if the accumulator is too wide.
func bindAccumulator(u *Unit, sums []num.Range) error {
	b := dataflow.AccumulatorBounds{Channels: make([]int, len(sums))}
	union := u.accumulated(sums[0])
	centred, l1, in := true, int64(0), integer(u.in)
	for c, row := range u.rows {
		r := u.accumulated(sums[c])
		union = union.Union(r)
		b.Channels[c] = num.NarrowestInt(r).Width
		b.Exact = max(b.Exact, b.Channels[c])
		centred, l1 = centred && row.total == 0, max(l1, row.l1)
	}
	b.L1 = num.AccumulatorBitsByL1(l1, in.Width, in.Signed()) // for wider inputs it is no smaller
	if centred {
		b.ZeroCentred = num.AccumulatorBitsZeroCentred(l1, spanBits(in))
	}
	if u.requant != nil { // the rules below hold for plain products only
		b.L1, b.ZeroCentred = b.Exact, 0
	} else {
		b.DataType = num.AccumulatorBitsByDataType(len(u.weights[0]), in.Width, signedWeightBits(u), in.Signed())
	}
	if u.room != nil && len(u.steps) > 0 {
		union.Lo-- // a threshold below every sum
	}
	u.Acc = num.NarrowestInt(union)
	if u.Acc.Width > maxAccBits {
		why := fmt.Sprintf("the accumulator takes %d bits for %v, more than %d", u.Acc.Width, union, maxAccBits)
		return TooWideError{why, floats(u)}
	}
	b.Used, b.Type = u.Acc.Width, u.Acc
	u.bound = b
	return nil
}

// accumulated returns the range of the accumulator's values for sums in r: counts of matches if products are of signs.
func (u *Unit) accumulated(r num.Range) num.Range {
	if u.XNOR {
		k := u.length
		return num.Range{Lo: (r.Lo + k) / 2, Hi: (r.Hi + k) / 2}
	}
	return r
}

// spanBits returns N such that the largest and the least input differ by at most 2^N-1. For -1 and +1 they differ by
// 2.
func spanBits(in num.Type) int {
	if in.Kind == num.Bipolar {
		return 2
	}
	return in.Width
}

// signedWeightBits returns M such that every weight's magnitude is at most 2^(M-1).
func signedWeightBits(u *Unit) int {
	t := integer(u.Weight)
	if t.Signed() {
		return t.Width
	}
	return t.Width + 1
}

// bindProduct sets the range of a product of one weight and one input, over all weights and inputs together, before
// and after the requantiser.
func bindProduct(u *Unit) error {
	inputs, w := u.rows[0].inputs, u.rows[0].span
	for _, r := range u.rows {
		inputs, w = inputs.Union(r.inputs), w.Union(r.span)
	}
	u.span, u.inputs = w, inputs
	if u.XNOR {
		u.product = num.Range{Lo: 0, Hi: 1}
		return nil
	}
	low, ok1 := inputs.Times(w.Lo)
	high, ok2 := inputs.Times(w.Hi)
	u.raw = low.Union(high)
	if u.product = u.raw; !ok1 || !ok2 {
		u.product = num.Type{Kind: num.Int, Width: num.MaxWidth}.Range() // no weight meets such an input
	}
	if u.requant != nil {
		var ok bool
		if u.product, ok = u.requant.Range(u.raw); !ok || !ok1 || !ok2 {
			return fmt.Errorf("a product that is requantised leaves %d bits", maxAccBits)
		}
	}
	return nil
}

// SumRange returns the exact range of a channel's sum, as num.Dot does, after every product has passed the requantiser.
// ok is false if a number leaves 64 bits.
func SumRange(w []int64, product *num.Requant, in []num.Range) (r num.Range, ok bool) {
	if product == nil {
		return num.Dot(w, in)
	}
	for i, wi := range w {
		p, ok1 := in[min(i, len(in)-1)].Times(wi)
		p, ok2 := product.Range(p)
		s, ok3 := r.Plus(p)
		if !ok1 || !ok2 || !ok3 {
			return num.Range{}, false
		}
		r = s
	}
	return r, true
}

// dotType returns the type that holds the sum of one clock's simd products of a channel. It is never wider than the
// accumulator, because higher bits do not matter.
func (u *Unit) dotType(simd int) num.Type {
	lo, ok1 := num.SingleValue(u.product.Lo).Times(int64(simd))
	hi, ok2 := num.SingleValue(u.product.Hi).Times(int64(simd))
	if !ok1 || !ok2 {
		return u.Acc
	}
	if t := num.NarrowestInt(lo.Union(hi)); t.Width < u.Acc.Width {
		return t
	}
	return u.Acc
}

// RequantBits returns the width of a requantised product, or 0 if no product is rounded.
func (u *Unit) RequantBits() int {
	if u.requant == nil || u.requant.Reduced().Shift == 0 {
		return 0
	}
	return num.NarrowestInt(u.product).Width
}
