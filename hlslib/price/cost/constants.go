package cost

import (
	"math"
	"math/bits"

	"hlsgen/internal/num"
)

// ConstantWeightAdderCounts counts the adders of products whose weights are all constants, as in a layer whose table
// has one row. A product by a constant is a sum of the input shifted by each signed digit of the weight. So a weight of
// 0 takes nothing, and a weight of 4 takes only wires. A product that several channels need is made once. The products
// of a channel are added in pairs. The zero value means that the weights come from a table.
type ConstantWeightAdderCounts struct {
	Are   bool // whether the weights are constants
	Terms int  // the number of products that are not always 0
	Bits  int  // the bits of all adders
}

// ConstantWeightAdderCountsOf counts the adders of channels with the given rows of weights, for inputs of a type and a
// range. If shared is true, element k of every row multiplies the same input. No adder has more bits than the
// accumulator.
func ConstantWeightAdderCountsOf(weights [][]int64, shared bool, in num.Type, inputs num.Range,
	accumulator int) ConstantWeightAdderCounts {
	c := ConstantWeightAdderCounts{Are: true}
	if inputs == num.SingleValueRange(0) {
		return c
	}
	type product struct {
		input  int
		factor int64
	}
	made := map[product]bool{}
	var terms []addend
	for _, row := range weights {
		terms = terms[:0]
		for k, w := range row {
			if w == 0 {
				continue
			}
			zeros := bits.TrailingZeros64(uint64(w))
			if p := (product{k, w >> zeros}); !shared || !made[p] {
				made[p] = true
				c.Bits += total(digitsOf(p.factor, in, inputs), accumulator)
			}
			terms = append(terms, addend{clamped(inputs.TimesConstant(w)), zeros})
		}
		c.Terms += len(terms)
		c.Bits += total(terms, accumulator)
	}
	return c
}

// An addend is a number within a range. Its lowest bits, as many as zeros says, are always 0.
type addend struct {
	num.Range
	zeros int
}

// digitsOf returns the addends whose sum is the product of a factor and an input. They are the input for each digit of
// the factor, or the factor for each bit of the input, whichever are fewer. An input of two values has one bit; for the
// values -1 and 1 the product is off by a constant, which takes nothing.
func digitsOf(factor int64, in num.Type, inputs num.Range) (list []addend) {
	digits := num.CanonicalSignedDigits(factor)
	if in.Width < len(digits) {
		for i := range in.Width {
			list = append(list, addend{clamped(num.Range{Hi: 1 << i}.TimesConstant(factor)), i})
		}
		return list
	}
	for _, d := range digits {
		power := int64(1) << d.Weight
		if d.Negative {
			power = -power
		}
		list = append(list, addend{clamped(inputs.TimesConstant(power)), d.Weight})
	}
	return list
}

// total returns the bits of all adders that add up a list of addends in pairs, none of them wider than the accumulator.
// It overwrites the list. The lowest bits of a sum need no adder where one of the two numbers is 0.
func total(list []addend, accumulator int) (width int) {
	for len(list) > 1 {
		n := 0
		for i := 0; i+1 < len(list); i += 2 {
			a, b := list[i], list[i+1]
			sum := addend{clamped(a.Plus(b.Range)), min(a.zeros, b.zeros)}
			width += max(0, min(num.NarrowestIntTypeFor(sum.Range).Width, accumulator)-max(a.zeros, b.zeros))
			list[n] = sum
			n++
		}
		if len(list)%2 == 1 {
			list[n] = list[len(list)-1]
			n++
		}
		list = list[:n]
	}
	return width
}

// clamped returns r, or the range of all 64-bit integers if ok is false because r overflows.
func clamped(r num.Range, ok bool) num.Range {
	if !ok {
		return num.Range{Lo: math.MinInt64, Hi: math.MaxInt64}
	}
	return r
}

// constantShares appends to a list the cost of d's arithmetic, whose weights are constants. A bit of an adder costs as
// much as one of any other product, and HLS registers the sums. Products of single bits cost what they cost without
// constants. Accumulators need no adders.
func (d dot) constantShares(list []share, v *values) []share {
	tree := share{name: "adder tree", lut: v[product] * float64(d.constants.Bits), ff: float64(d.constants.Bits)}
	if d.w == 1 && d.a == 1 {
		n := float64(d.constants.Terms)
		tree = share{name: "popcount", lut: v[popcount] * n, ff: v[pipelineFF] * n}
	}
	return append(list, tree, share{name: "accumulators", ff: v[accumulateFF] * float64(d.pe*d.acc-d.spare)})
}
