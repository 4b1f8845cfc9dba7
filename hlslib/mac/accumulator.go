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
	b := dataflow.AccumulatorWidthsByRule{Channels: make([]int, len(sums))}
	union := u.accumulated(sums[0])
	centred, l1, in := true, int64(0), integer(u.in)
	for c, row := range u.rows {
		r := u.accumulated(sums[c])
		union = union.Union(r)
		b.Channels[c] = num.NarrowestIntTypeFor(r).Width
		b.Exact = max(b.Exact, b.Channels[c])
		centred, l1 = centred && row.total == 0, max(l1, row.l1)
	}
	b.L1 = num.AccumulatorBitsByL1(l1, in.Width, in.IsSigned()) // for wider inputs it is no smaller
	if centred {
		b.ZeroCentred = num.AccumulatorBitsByZeroCentred(l1, spanBits(in))
	}
	if u.requant != nil { // the rules below hold for plain products only
		b.L1, b.ZeroCentred = b.Exact, 0
	} else {
		b.DataType = num.AccumulatorBitsByDataType(len(u.weights[0]), in.Width, signedWeightBits(u), in.IsSigned())
	}
	if u.room != nil && len(u.steps) > 0 {
		union.Lo-- // a threshold below every sum
	}
	u.Acc = num.NarrowestIntTypeFor(union)
	if u.Acc.Width > maxAccBits {
		why := fmt.Sprintf("the accumulator takes %d bits for %v, more than %d", u.Acc.Width, union, maxAccBits)
		return AccumulatorTooWideError{why, floats(u)}
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

// spanBits returns the number N of bits for which the largest and the least input differ by at most 2^N-1. For -1 and
// +1, which differ by 2, N is 2.
func spanBits(in num.Type) int {
	if in.Kind == num.KindBipolar {
		return 2
	}
	return in.Width
}

// signedWeightBits returns the number M of bits for which every weight's magnitude is at most 2^(M-1).
func signedWeightBits(u *Unit) int {
	t := integer(u.Weight)
	if t.IsSigned() {
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
	low, ok1 := inputs.TimesConstant(w.Lo)
	high, ok2 := inputs.TimesConstant(w.Hi)
	u.raw = low.Union(high)
	if u.product = u.raw; !ok1 || !ok2 {
		u.product = num.Type{Kind: num.KindInt, Width: num.MaxTypeBits}.Range() // no weight meets such an input
	}
	if u.requant != nil {
		var ok bool
		if u.product, ok = u.requant.ResultRange(u.raw); !ok || !ok1 || !ok2 {
			return fmt.Errorf("a product that is requantised leaves %d bits", maxAccBits)
		}
	}
	return nil
}

// ChannelSumRange returns the exact range of a channel's sum with weights w, as num.DotProductRange does. in holds the
// range of each input; the last one also serves all further weights. Each product passes the requantiser product before
// it is added, unless that is nil. ok is false if a number leaves 64 bits.
func ChannelSumRange(w []int64, product *num.Requant, in []num.Range) (r num.Range, ok bool) {
	if product == nil {
		return num.DotProductRange(w, in)
	}
	for i, wi := range w {
		p, ok1 := in[min(i, len(in)-1)].TimesConstant(wi)
		p, ok2 := product.ResultRange(p)
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
	lo, ok1 := num.SingleValueRange(u.product.Lo).TimesConstant(int64(simd))
	hi, ok2 := num.SingleValueRange(u.product.Hi).TimesConstant(int64(simd))
	if !ok1 || !ok2 {
		return u.Acc
	}
	if t := num.NarrowestIntTypeFor(lo.Union(hi)); t.Width < u.Acc.Width {
		return t
	}
	return u.Acc
}

// RequantisedProductBits returns the width of a requantised product, or 0 if no product is rounded.
func (u *Unit) RequantisedProductBits() int {
	if u.requant == nil || u.requant.WithLeastShift().Shift == 0 {
		return 0
	}
	return num.NarrowestIntTypeFor(u.product).Width
}
