package mac

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// packed returns the same heaps as UnitCircuitBuilder.heaps, for n channels with common inputs that share multipliers.
// It follows mac_packed of hlslib/core/mac.hpp: one factor holds the weights of all channels, each in its own lane, and
// the product holds the products likewise.
func (c UnitCircuitBuilder) packed(x, w circuit.Value, n int) []*circuit.BitHeap {
	heaps := make([]*circuit.BitHeap, n)
	for lane := range heaps {
		heaps[lane] = c.b.NewBitHeap()
	}
	for from := 0; from < c.f.SIMD; from += c.p.Terms {
		sum, odd := c.slices(x, w, n, from)
		c.unpack(sum, odd, heaps)
	}
	return heaps
}

// slices returns the sum of up to Terms packed products of n channels, from index from on. For each lane that overlaps
// the lane below, odd says whether the lane's sum is odd.
func (c UnitCircuitBuilder) slices(x, w circuit.Value, n, from int) (sum circuit.Value, odd []circuit.Value) {
	var products []circuit.Value
	odds := make([][]circuit.Value, n) // by lane: whether each product is odd
	for i := from; i < min(from+c.p.Terms, c.f.SIMD); i++ {
		input := circuit.ElementOf(x, i, c.in)
		var weights []circuit.Value
		for lane := range n {
			at := lane*c.f.SIMD + i
			number := c.weight(w, at)
			weight := circuit.AssumeRange(number, c.span)
			if c.p.Lanes[lane].Overlap {
				own := circuit.AllHold(circuit.BitOf(number, 0), circuit.BitOf(x, i*c.in.Width))
				odds[lane] = append(odds[lane], own)
			}
			weights = append(weights, weight)
		}
		products = append(products, circuit.MultiplyInDSP(c.wide(weights), circuit.AssumeRange(input, c.inputs)))
	}
	odd = make([]circuit.Value, n)
	for lane, list := range odds {
		if list != nil {
			odd[lane] = parity(list)
		}
	}
	return c.sum(products), odd
}

// wide returns the wide factor of a packed product, which has a weight in each lane. A lane's weight is reduced by one
// if the lanes below are negative.
func (c UnitCircuitBuilder) wide(weights []circuit.Value) circuit.Value {
	var words []circuit.Value
	r, own := weights[0].Range(), weights[0]
	for lane, w := range weights[1:] {
		before, at := c.p.Lanes[lane].At, c.p.Lanes[lane+1].At
		words = append(words, circuit.LowBitsOf(own, at-before))
		if borrow := circuit.IsNegative(own); borrow.Stage() == circuit.ConstantStage {
			own = circuit.Subtract(w, borrow)
		} else {
			own = circuit.SumOfTwo(w, circuit.LowBitsAsType(circuit.LowBitsOf(borrow, 1), num.Type{Kind: num.KindInt,
				Width: 1}))
		}
		shifted, _ := w.Range().TimesConstant(1 << at)
		r, _ = r.Plus(shifted)
	}
	if len(words) == 0 {
		return own
	}
	word := circuit.ConcatenateWords(append(words, circuit.LowBitsOf(own, own.Width()))...)
	return circuit.AssumeRange(circuit.LowBitsAsType(word, num.Type{Kind: num.KindInt, Width: word.Width()}), r)
}

// sum returns the sum of packed products. It uses a compressor heap for more than two, because Yosys makes up to three
// times as many LUTs of chained adders.
func (c UnitCircuitBuilder) sum(products []circuit.Value) circuit.Value {
	if len(products) <= 2 {
		return circuit.SumAsTree(products...)
	}
	h := c.b.NewBitHeap()
	for _, p := range products {
		h.AddShifted(p, 0)
	}
	return h.Sum(num.Type{Kind: num.KindInt, Width: c.p.Sum}.Range())
}

// parity returns a condition of the circuit: an odd number of the given conditions hold.
func parity(conditions []circuit.Value) circuit.Value {
	if len(conditions) == 1 {
		return conditions[0]
	}
	half := len(conditions) / 2
	return circuit.ExclusiveOr(parity(conditions[:half]), parity(conditions[half:]))
}

// unpack adds the lanes of a packed sum to their heaps. The bits below a lane are a signed number; if it is negative,
// it has borrowed 1 from the lane.
func (c UnitCircuitBuilder) unpack(sum circuit.Value, odd []circuit.Value, lanes []*circuit.BitHeap) {
	word := circuit.LowBitsOf(sum, c.p.Sum)
	borrowed := c.b.ConstantNumber(0)
	for lane, h := range lanes {
		at, next := c.p.Lanes[lane].At, c.p.Sum
		if lane+1 < len(lanes) {
			next = c.p.Lanes[lane+1].At
		}
		h.AddShifted(borrowed, 0)
		if own := circuit.SliceBits(word, at, next-at); lane+1 == len(lanes) {
			h.AddShifted(circuit.LowBitsAsType(own, num.Type{Kind: num.KindInt, Width: next - at}), 0)
		} else {
			if borrowed = circuit.BitOf(word, next-1); c.p.Lanes[lane+1].Overlap {
				borrowed = circuit.ExclusiveOr(circuit.BitOf(word, next), odd[lane+1])
			}
			own = circuit.ConcatenateWords(own, circuit.LowBitsOf(borrowed, 1))
			h.AddShifted(circuit.LowBitsAsType(own, num.Type{Kind: num.KindInt, Width: next - at + 1}), 0)
		}
	}
}
