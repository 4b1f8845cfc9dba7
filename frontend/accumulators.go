package frontend

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/bits"
	"sync"

	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// An Overflow is what an accumulator does that cannot hold a sum.
type Overflow string

// The overflows.
const (
	Wrap     Overflow = "wrap"     // the sum modulo 2^bits, as a two's complement number
	Saturate Overflow = "saturate" // after every product, the nearest number that fits
)

// An Accumulator is what adds the products of a Sum up.
type Accumulator struct {
	Bits     int // two's complement; 0 is as many as are needed
	Overflow Overflow
	Order    []int // in which products are added, by their place in a row of weights; nil is that of the file
	Seen     *Seen // what it has held; may be nil
}

// Seen is the sums of a layer that samples have made, before anything became of them.
type Seen struct {
	mutex sync.Mutex
	Range num.Range
	Sums  int // how many
	Left  int // of these, the ones for which the accumulator was too narrow
	// how many needed so many bits as two's complement numbers, by their sign: the negative ones first
	Count [2][65]int
}

// add counts the sums of one run.
func (s *Seen) add(sums []int64, left int) {
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
			s.Range = num.Point(v)
		}
		s.Range = s.Range.Union(num.Point(v))
		s.Sums++
	}
	s.Left += left
}

// Accumulate is the model as written, in which the sums of some products are accumulated in another way. That changes
// what it means where accumulators are too narrow, or orders count.
func (im *Imported) Accumulate(by map[*Sum]Accumulator) dataflow.Reference {
	sums := map[string]*graph.Summing{}
	for s, a := range by {
		sums[s.step.Output] = s.summing(a)
	}
	part := mustPart(im.written, inputNames(im.written), outputNames(im.written))
	return func(in []dataflow.RealTensor) ([]dataflow.RealTensor, error) {
		if err := checkFinite(in); err != nil {
			return nil, err
		}
		return results(im.written, part.With(maps.Clone(sums)), reals(in))
	}
}

// summing accumulates the products as a does.
func (s *Sum) summing(a Accumulator) *graph.Summing {
	unit, zero := make([]*big.Rat, len(s.weight)), make([]int64, len(s.weight))
	for c, w := range s.weight {
		unit[c] = new(big.Rat).Mul(w, s.input)
		for _, v := range s.Weights[c] {
			zero[c] += v * s.zero
		}
	}
	d := s.step.Dot
	return &graph.Summing{Row: s.row, Unit: unit, Sum: func(x *graph.Reals) ([]int64, error) {
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

// whole is inputs as codes. Those that float64 does not hold are enclosed, and nearer to one than to any other.
func (s *Sum) whole(x *graph.Reals) ([]int64, error) {
	unit, _ := s.input.Float64()
	out := make([]int64, len(x.Lo))
	for i := range out {
		v := x.Lo[i]/2 + x.Hi[i]/2
		n := math.Round(v / unit)
		if out[i] = int64(n) + s.zero; math.Abs(v/unit-n) > 1e-6*max(1, math.Abs(n)) ||
			!s.In.Union(num.Point(s.zero)).Contains(out[i]) {
			return nil, fmt.Errorf("%s: input %d is %v, not an integer in %v times %v", s.Node, i, v, s.In, unit)
		}
	}
	return out, nil
}

// of adds products up; exact is their sum. fits is false where the accumulator did not hold all that it had to.
func (a Accumulator) of(products []int64, exact int64) (sum int64, fits bool) {
	if a.Bits == 0 || a.Bits > 63 {
		return exact, true
	}
	lo, hi := int64(-1)<<(a.Bits-1), int64(1)<<(a.Bits-1)-1
	if a.Overflow == Wrap {
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
