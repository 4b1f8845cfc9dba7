package mvau

import (
	"fmt"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// bindAccumulator derives the accumulator's type from the exact range of every channel, and the line of the report
// that compares it with the other rules.
func (o *op) bindAccumulator() error {
	o.bound = dataflow.Bound{Channels: make([]int, o.mh)}
	var union num.Range
	centred := true
	for c, row := range o.p.Weights {
		r, ok := o.sum(c)
		if !ok {
			return fmt.Errorf("channel %d: the accumulator leaves 64 bits", c)
		}
		r = o.accumulated(r)
		if c == 0 {
			union = r
		}
		union = union.Union(r)
		o.bound.Channels[c] = num.Smallest(r).Width
		o.bound.Exact = max(o.bound.Exact, o.bound.Channels[c])
		l1, sum := int64(0), int64(0)
		for _, w := range row {
			l1, sum = l1+max(w, -w), sum+w
		}
		centred = centred && sum == 0
		o.bound.L1 = max(o.bound.L1, num.L1Bound(l1, o.in.Elem.Width, o.in.Elem.Signed()))
		o.bound.ZeroCentred = max(o.bound.ZeroCentred, num.ZeroCentredBound(l1, o.spanBits()))
	}
	if !centred {
		o.bound.ZeroCentred = 0
	}
	o.bound.DataType = num.DataTypeBound(o.mw, o.in.Elem.Width, o.signedWeightBits(), o.in.Elem.Signed())
	o.acc = num.Smallest(union)
	if o.acc.Width > maxAccBits {
		return fmt.Errorf("the accumulator needs %d bits for %v, at most %d are possible", o.acc.Width, union, maxAccBits)
	}
	o.bound.Used, o.bound.Type = o.acc.Width, o.acc
	o.bindProduct()
	return nil
}

// Accumulator tells the accumulator's width by all rules. Exact is the widest channel; Used is one bit more where only
// another channel is signed.
func (o *op) Accumulator() dataflow.Bound { return o.bound }

// spanBits is N such that the inputs span at most 2^N-1; -1 and +1 span 2.
func (o *op) spanBits() int {
	if o.in.Elem.Kind == num.Bipolar {
		return 2
	}
	return o.in.Elem.Width
}

// signedWeightBits is M such that every weight's magnitude is at most 2^(M-1).
func (o *op) signedWeightBits() int {
	if o.weight.Signed() {
		return o.weight.Width
	}
	return o.weight.Width + 1
}

// bindProduct derives the range of one weight times one input, over all weights and inputs together.
func (o *op) bindProduct() {
	if o.xnor {
		o.product = num.Range{Lo: 0, Hi: 1}
		return
	}
	w := num.Point(o.p.Weights[0][0])
	for _, row := range o.p.Weights {
		for _, v := range row {
			w = w.Union(num.Point(v))
		}
	}
	x := o.in.Union()
	low, ok1 := x.Times(w.Lo)
	high, ok2 := x.Times(w.Hi)
	if o.product = low.Union(high); !ok1 || !ok2 {
		o.product = num.Type{Kind: num.Int, Width: num.MaxWidth}.Range() // no weight meets such an input
	}
}

// dotType holds the sum of one iteration's products; beyond the accumulator's width nothing of it is needed.
func (o *op) dotType(simd int) num.Type {
	lo, ok1 := num.Point(o.product.Lo).Times(int64(simd))
	hi, ok2 := num.Point(o.product.Hi).Times(int64(simd))
	if !ok1 || !ok2 {
		return o.acc
	}
	if t := num.Smallest(lo.Union(hi)); t.Width < o.acc.Width {
		return t
	}
	return o.acc
}
