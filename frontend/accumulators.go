package frontend

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/bits"
	"sync"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/program"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// An OverflowMode says what an accumulator does with a sum that it cannot hold.
type OverflowMode string

// These are the overflow modes.
const (
	OverflowModeWrap     OverflowMode = "wrap"     // keep the sum modulo 2^bits, in two's complement
	OverflowModeSaturate OverflowMode = "saturate" // after every product, keep the nearest number that fits
)

// An AccumulatorSettings says how the products of a LayerDotProducts are added up: in how many bits, in which order,
// and what happens if a sum needs more bits.
type AccumulatorSettings struct {
	Bits     int // width in two's complement; 0 for the width that every sum needs
	Overflow OverflowMode
	// the order of the products, as indices in a row of weights; nil for the order of the file
	Order []int
	Seen  *ObservedSumStatistics // records the sums; may be nil
}

// ObservedSumStatistics records the exact sums that samples produce in a layer, before any overflow.
type ObservedSumStatistics struct {
	mutex sync.Mutex
	Range num.Range
	Sums  int // the number of sums
	Left  int // the number of sums for which the accumulator was too narrow
	// Count holds the number of sums by the bits that they need in two's complement: [0] for negative sums, [1] for the
	// others.
	Count [2][65]int
}

// add records the exact sums of one run. left is the number of sums that the accumulator could not hold.
func (s *ObservedSumStatistics) add(sums []int64, left int) {
	if s == nil {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, v := range sums {
		sign, rest := 1, v
		if v < 0 {
			sign, rest = 0, ^v
		}
		s.Count[sign][bits.Len64(uint64(rest))+1]++
		if s.Sums == 0 {
			s.Range = num.SingleValueRange(v)
		}
		s.Range = s.Range.Union(num.SingleValueRange(v))
		s.Sums++
	}
	s.Left += left
}

// ReferenceWithAccumulators returns a reference of the model as written, in which the given sums have other
// accumulators. Its outputs differ from the model's if an accumulator is too narrow, or saturates and adds in another
// order. The sums must come from AllLayerDotProducts of im, and have integers (Why is empty).
func (im *ImportedModel) ReferenceWithAccumulators(
	by map[*LayerDotProducts]AccumulatorSettings) dataflow.ReferenceFunc {
	sums := map[string]*execution.SumReplacement{}
	for s, a := range by {
		sums[s.step.Output] = s.summing(a)
	}
	part := mustPart(im.written, inputNames(im.written), outputNames(im.written))
	return func(in []dataflow.RealTensor) ([]dataflow.RealTensor, error) {
		if err := checkFinite(in); err != nil {
			return nil, err
		}
		return results(im.written, part.WithReplacedSums(maps.Clone(sums)), reals(in))
	}
}

// summing returns the function that replaces the layer's sums in a run, with accumulators that work as a says.
func (s *LayerDotProducts) summing(a AccumulatorSettings) *execution.SumReplacement {
	unit, zero := make([]*big.Rat, len(s.weight)), make([]int64, len(s.weight))
	for c, w := range s.weight {
		unit[c] = new(big.Rat).Mul(w, s.input)
		for _, v := range s.Weights[c] {
			zero[c] += v * s.zero
		}
	}
	d := s.step.Dot
	return &execution.SumReplacement{Row: s.row, Unit: unit, Sum: func(x *program.Reals) ([]int64, error) {
		whole, err := s.whole(x)
		if err != nil {
			return nil, err
		}
		exact, out, left := make([]int64, d.ABase.Len()), make([]int64, d.ABase.Len()), 0
		products := make([]int64, d.K)
		for i, base := range d.ABase.All {
			for k, w := range s.Weights[s.row[i]] {
				products[k] = w * whole[base+s.taps[k]]
				exact[i] += products[k]
			}
			var fits bool
			if out[i], fits = a.of(products, exact[i]); !fits {
				left++
			}
			out[i] -= zero[s.row[i]]
		}
		a.Seen.add(exact, left)
		return out, nil
	}}
}

// whole returns the layer's inputs as integers, in the units in which LayerDotProducts counts them. For an input that
// float64 does not hold exactly, it returns the nearest integer. It returns an error for an input that is no such
// integer or out of range.
func (s *LayerDotProducts) whole(x *program.Reals) ([]int64, error) {
	unit, _ := s.input.Float64()
	out := make([]int64, len(x.Lo))
	for i := range out {
		v := x.Lo[i]/2 + x.Hi[i]/2
		n := math.Round(v / unit)
		if out[i] = int64(n) + s.zero; math.Abs(v/unit-n) > 1e-6*max(1, math.Abs(n)) ||
			!s.In.Union(num.SingleValueRange(s.zero)).Contains(out[i]) {
			return nil, fmt.Errorf("%s: input %d is %v, not an integer in %v times %v", s.Node, i, v, s.In, unit)
		}
	}
	return out, nil
}

// of returns the sum of products as the accumulator gives it. exact is the true sum. fits is false if the accumulator
// overflowed on the way or, with OverflowModeWrap, at the end. With Bits 0 or above 63 it returns exact and true.
func (a AccumulatorSettings) of(products []int64, exact int64) (sum int64, fits bool) {
	if a.Bits == 0 || a.Bits > 63 {
		return exact, true
	}
	lo, hi := int64(-1)<<(a.Bits-1), int64(1)<<(a.Bits-1)-1
	if a.Overflow == OverflowModeWrap {
		rest := 64 - a.Bits
		return exact << rest >> rest, lo <= exact && exact <= hi
	}
	fits = true
	for k := range products {
		at := k
		if a.Order != nil {
			at = a.Order[k]
		}
		sum += products[at]
		if clipped := min(max(sum, lo), hi); clipped != sum {
			sum, fits = clipped, false
		}
	}
	return sum, fits
}
