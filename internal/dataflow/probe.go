package dataflow

import (
	"iter"
	"math"
	"slices"
)

// mostProbed is the most elements that all samples of ProbeSamples have together.
const mostProbed = 1 << 27

// ProbeSamples yields samples of the inputs of In which together meet every threshold of In: the threshold itself, the
// numbers of the input's format next to it on both sides, and both zeros. Elements with the same thresholds share them.
// If that takes more than mostProbed elements, later samples are left out. A sample is valid until the next one.
func (h *HostDescription) ProbeSamples(inputs []RealTensorInfo) iter.Seq[[]RealTensor] {
	p := h.probing(inputs)
	return func(yield func([]RealTensor) bool) {
		for left := mostProbed; left > 0 && p.next(); left -= p.elements {
			if !yield(p.sample) {
				return
			}
		}
	}
}

// A probe holds the numbers that the elements with one step function have to meet, and how many they have met.
type probe struct {
	numbers []float64
	met     int
}

// A probing is the state of ProbeSamples.
type probing struct {
	sample   []RealTensor
	elements int
	readers  [][][]*probe // per input and element
	turn     int
}

// probing returns the state before the first sample. Elements begin with the middle of their input's range.
func (h *HostDescription) probing(inputs []RealTensorInfo) *probing {
	p := &probing{}
	for _, in := range inputs {
		n := Shape(in.Shape).ElementCount()
		t := RealTensor{Shape: in.Shape, Data: make([]float64, n)}
		for i := range t.Data {
			if t.Data[i] = in.NumberFormat().RoundToNearest((in.Range[0] + in.Range[1]) / 2); in.Grid != nil {
				t.Data[i] = in.Grid(i, t.Data[i])
			}
		}
		p.sample = append(p.sample, t)
		p.elements += n
		p.readers = append(p.readers, make([][]*probe, n))
	}
	for _, in := range h.In {
		var of []*probe
		for _, s := range in.Steps {
			of = append(of, &probe{numbers: s.probes(inputs[in.Input])})
		}
		for i, at := range in.Index {
			which := 0
			if in.Which != nil {
				which = int(in.Which[i])
			}
			if r := &p.readers[in.Input][at]; of != nil && !slices.Contains(*r, of[which]) {
				*r = append(*r, of[which])
			}
		}
	}
	return p
}

// probes returns the numbers at which an implementation of the step function could be wrong.
func (s HostStepFunction) probes(in RealTensorInfo) (numbers []float64) {
	f := in.NumberFormat()
	keys := []int64{-1, 0, 1, f.FinitePositions().Lo, f.FinitePositions().Hi}
	for _, at := range s.At {
		k := f.PositionOf(at)
		keys = append(keys, k-1, k, k+1)
	}
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		if f.FinitePositions().Contains(k) {
			numbers = append(numbers, f.NumberAtPosition(k))
		}
	}
	return append(numbers, math.Copysign(0, -1))
}

// next makes the next sample of ProbeSamples. It returns false if all numbers have been met.
func (p *probing) next() (more bool) {
	p.turn++
	for k, elements := range p.readers {
		for i, readers := range elements {
			for n := range readers {
				r := readers[(n+p.turn)%len(readers)]
				if r.met < len(r.numbers) {
					p.sample[k].Data[i] = r.numbers[r.met]
					r.met++
					more = true
					break
				}
			}
		}
	}
	return more
}
