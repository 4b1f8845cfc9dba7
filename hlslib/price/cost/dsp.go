package cost

import (
	"math/bits"
	"sort"

	"hlsgen/internal/num"
)

// A DSPPacking says how DSP slices compute the products of channels that share their inputs. The weights of several
// channels lie side by side in one factor, each in a lane of its own; the other factor is the input. A lane of the
// product holds the product of its weight, minus 1 if the lanes below are negative and borrow from it. LUTs correct
// that (luts). HLS packs nothing by itself; hlslib/core/mac.hpp implements this.
type DSPPacking struct {
	Lanes []DSPLane // the lanes of a slice, the lowest first; with one or none, every product has slices of its own
	// Terms is the number of products of a lane that are added before the lanes are separated.
	Terms int
	// Wide and Sum are the bits of the packed weights and of the sum of Terms packed products. Both are signed.
	Wide, Sum int
}

// A DSPLane is the place of one product in the result of a DSP slice: it begins at bit At. If Overlap is true, its
// lowest bit is also the highest bit of the lane below. The lowest bits of the lane's factors tell the two apart.
type DSPLane struct {
	At      int
	Overlap bool
}

// HasMultipleLanes reports whether each DSP slice computes products of several channels.
func (p DSPPacking) HasMultipleLanes() bool { return len(p.Lanes) > 1 }

// slices returns the number of DSP slices for channels with simd products each. The packing must have lanes.
func (p DSPPacking) slices(channels, simd int) int { return ceil(channels, len(p.Lanes)) * simd }

// sumBits is the width of the adder after the multiplier: 48 bits in every DSP48.
const sumBits = 48

// ports returns the bits of the two signed factors of a DSP slice. They are 25 by 18 (DSP48E1, UG479), 27 by 18
// (DSP48E2, UG579) and 27 by 24 (DSP58, AM004). Other families say theirs.
func (f Fabric) ports() (wide, narrow int) {
	switch f {
	case FabricSeries7:
		return 25, 18
	case FabricVersal:
		return 27, 24
	}
	if family := FamilyOfFabric(f); family != nil {
		return family.DSP.Wide, family.DSP.Narrow
	}
	return 27, 18
}

// PackProducts returns the packing of channels that multiply weights and inputs of these ranges, simd of each side by
// side. It prefers the fewest slices, then the fewest lanes per slice, then the fewest overlaps, then the most terms.
// It does not use the dot product mode of a DSP58, three products of 9 by 8 bits, because HLS cannot request it
// (docs/RATIONALE.md).
func (f Fabric) PackProducts(channels, simd int, weights, inputs num.Range) DSPPacking {
	single := DSPPacking{Lanes: make([]DSPLane, 1), Terms: 1}
	wide, narrow := f.ports()
	weights, inputs = weights.Union(num.SingleValueRange(0)), inputs.Union(num.SingleValueRange(0))
	if signedBits(weights) > wide || signedBits(inputs) > narrow {
		return single
	}
	if zero := num.SingleValueRange(0); weights == zero || inputs == zero {
		return single // such products have no bits
	}
	fits := func(lanes, overlapping, terms int) bool {
		s := stackOf(terms, weights, inputs)
		for i := range lanes {
			if s.add(i > 0 && i >= lanes-overlapping); !s.within(wide) {
				return false
			}
		}
		return true
	}
	most, tight := 1, stackOf(1, weights, inputs)
	for tight.add(false); most < channels; most++ {
		if tight.add(true); !tight.within(wide) {
			break
		}
	}
	lanes := ceil(channels, ceil(channels, most))
	if lanes == 1 {
		return single
	}
	overlapping := sort.Search(lanes-1, func(n int) bool { return fits(lanes, n, 1) })
	terms := 1
	if overlapping == 0 {
		terms = sort.Search(simd, func(n int) bool { return !fits(lanes, 0, n+1) })
		terms = ceil(simd, ceil(simd, terms))
	}
	p, s := DSPPacking{Lanes: make([]DSPLane, lanes), Terms: terms}, stackOf(terms, weights, inputs)
	for i := range p.Lanes {
		p.Lanes[i] = s.add(i > 0 && i >= lanes-overlapping)
	}
	p.Wide, p.Sum = s.bits()
	return p
}

// A stack holds lanes side by side, as close together as sums of the given terms allow. The bits below a lane are a
// signed number of exactly that width, in the sum as well as among the weights. With an overlap they are one bit more.
// So the lane lends them at most 1.
type stack struct {
	weights, product num.Range // the ranges of one lane
	packed, sum      num.Range // the ranges of all lanes together
	next             int       // the last lane's lowest bit plus 1
	fits             bool      // whether all ranges fit in an int64
}

func stackOf(terms int, weights, inputs num.Range) stack {
	s := stack{weights: weights}
	s.product, s.fits = sumOf(weights, inputs, int64(terms))
	return s
}

// add puts a lane above the others and returns it. overlap says that it shares a bit with the lane below.
func (s *stack) add(overlap bool) DSPLane {
	var l DSPLane
	if s.next > 0 {
		l = DSPLane{max(signedBits(s.packed), signedBits(s.sum)), overlap}
		if overlap {
			l.At--
		}
		l.At = max(l.At, s.next)
	}
	var ok1, ok2 bool
	s.packed, ok1 = above(s.packed, s.weights, l.At)
	s.sum, ok2 = above(s.sum, s.product, l.At)
	s.next, s.fits = l.At+1, s.fits && ok1 && ok2
	return l
}

// bits returns the widths of the packed weights, and of the sum of their products.
func (s *stack) bits() (wide, sum int) { return signedBits(s.packed), signedBits(s.sum) }

// within reports whether a DSP slice whose wider factor has most bits can hold the lanes.
func (s *stack) within(most int) bool {
	wide, sum := s.bits()
	return s.fits && wide <= most && sum <= sumBits
}

// sumOf returns the range of the sum of terms products of weights and inputs. ok is false if it leaves 64 bits.
func sumOf(weights, inputs num.Range, terms int64) (r num.Range, ok bool) {
	low, ok1 := inputs.TimesConstant(weights.Lo)
	high, ok2 := inputs.TimesConstant(weights.Hi)
	r, ok = low.Union(high).TimesConstant(terms)
	return r, ok && ok1 && ok2
}

// above returns the range of sums of two numbers: one of the range below, and one of the range r shifted left by at
// bits. The second result is false if it leaves 64 bits.
func above(below, r num.Range, at int) (num.Range, bool) {
	if at >= 62 {
		return num.Range{}, false
	}
	r, ok1 := r.TimesConstant(1 << at)
	r, ok2 := below.Plus(r)
	return r, ok1 && ok2
}

// signedBits returns the width of the narrowest signed number that holds all of r.
func signedBits(r num.Range) int {
	return 1 + max(bits.Len64(uint64(r.Lo^r.Lo>>63)), bits.Len64(uint64(r.Hi^r.Hi>>63)))
}

// luts returns the LUTs that pack weights of w bits and separate products with inputs of a bits, for channels with simd
// products each. In every lane but the lowest, a weight is one less if the bits below are negative. Sums of Terms
// products lend a bit each, which is counted and added back. Where lanes overlap, a LUT computes the shared bit.
func (p DSPPacking) luts(channels, simd, w, a int) int {
	upper, overlapping := 0, 0
	for c := range channels {
		if l := p.Lanes[c%len(p.Lanes)]; l.At > 0 {
			upper++
			if l.Overlap {
				overlapping++
			}
		}
	}
	groups := ceil(simd, p.Terms)
	return upper*(simd*(w+1)+groups+w+a) + overlapping*groups
}

// DSPsPerProduct returns the number of DSP slices for one product of two signed factors of w and a bits.
func (f Fabric) DSPsPerProduct(w, a int) int { return f.slices(w, a) }

// slices returns the DSP slices of one product of signed factors of w and a bits. The factors are cut into tiles of the
// multiplier's ports; all tiles of a factor except the first lose the sign bit.
func (f Fabric) slices(w, a int) int {
	wide, narrow := f.ports()
	tiles := func(bits, tile int) int { return max(1, ceil(bits-1, tile-1)) }
	return min(tiles(w, narrow)*tiles(a, wide), tiles(w, wide)*tiles(a, narrow))
}
