package cost

import (
	"math"
	"math/bits"

	"hlsgen/internal/num"
)

// Constants counts the adders of products whose weights are all constants: those of a layer whose table has one row.
// A product by a constant is the input, shifted by each of the weight's signed digits, so that a weight of 0 is nothing
// and one of 4 is wiring; a product that several channels have is made once. The products of a channel are added two by
// two. The zero value is of weights that come out of a table.
type Constants struct {
	Are   bool // the weights are constants
	Terms int  // products that are not always 0
	Bits  int  // of all adders
}

// ConstantsOf is that of channels with rows of weights, whose inputs are of a type and a range. Where they are shared,
// element k of every row meets the same input. An adder has no bits beyond the accumulator's.
func ConstantsOf(weights [][]int64, shared bool, in num.Type, inputs num.Range, accumulator int) Constants {
	c := Constants{Are: true}
	if inputs == num.Point(0) {
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
			terms = append(terms, addend{clamped(inputs.Times(w)), zeros})
		}
		c.Terms += len(terms)
		c.Bits += total(terms, accumulator)
	}
	return c
}

// An addend is a number of a range. So many of its lowest bits are always 0.
type addend struct {
	num.Range
	zeros int
}

// digitsOf is what the product of a factor and an input is the sum of: the input for each digit of the factor, or the
// factor for each bit of the input, whichever are fewer. Of two values an input has one bit, and what the product with
// -1 and 1 is besides is a constant.
func digitsOf(factor int64, in num.Type, inputs num.Range) (list []addend) {
	digits := num.Digits(factor)
	if in.Width < len(digits) {
		for i := range in.Width {
			list = append(list, addend{clamped(num.Range{Hi: 1 << i}.Times(factor)), i})
		}
		return list
	}
	for _, d := range digits {
		power := int64(1) << d.Weight
		if d.Negative {
			power = -power
		}
		list = append(list, addend{clamped(inputs.Times(power)), d.Weight})
	}
	return list
}

// total is the bits of the adders that add up a list two by two, which it overwrites. The lowest bits of a sum need no
// adder where one of both numbers has none there.
func total(list []addend, accumulator int) (width int) {
	for len(list) > 1 {
		n := 0
		for i := 0; i+1 < len(list); i += 2 {
			a, b := list[i], list[i+1]
			sum := addend{clamped(a.Plus(b.Range)), min(a.zeros, b.zeros)}
			width += max(0, min(num.Smallest(sum.Range).Width, accumulator)-max(a.zeros, b.zeros))
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

// clamped is a range, or all of 64 bits where it leaves these.
func clamped(r num.Range, ok bool) num.Range {
	if !ok {
		return num.Range{Lo: math.MinInt64, Hi: math.MaxInt64}
	}
	return r
}

// constantShares appends them to a list: every bit of an adder takes what a bit of any other product does, and HLS
// registers the sums. Of single bits the products are counted, as without constants. There is nothing to add to an
// accumulator.
func (d dot) constantShares(list []share, v *values) []share {
	tree := share{name: "adder tree", lut: v[product] * float64(d.constants.Bits), ff: float64(d.constants.Bits)}
	if d.w == 1 && d.a == 1 {
		n := float64(d.constants.Terms)
		tree = share{name: "popcount", lut: v[popcount] * n, ff: v[pipelineFF] * n}
	}
	return append(list, tree, share{name: "accumulators", ff: v[accumulateFF] * float64(d.pe*d.acc-d.spare)})
}
