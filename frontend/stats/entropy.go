package stats

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
)

// An Entropy says how far weights can be compressed without loss, each by itself (arXiv 2301.13376). Of several tensors
// it is their mean, weighted by their elements: each has codes of its own.
type Entropy struct {
	// -sum p*log2(p) over the codes that occur, p being how often each does
	Bits float64 `json:"bits_per_weight"`
	// 32 bits per weight against the entropy; absent where that is 0: all weights are equal
	Compression float64 `json:"compression,omitempty"`
}

// symbols count how often a code occurs.
type symbols map[float32]int64

// entropy is that of the symbols, and how many there are.
func (s symbols) entropy() (bits float64, n int64) {
	counts := make([]int64, 0, len(s))
	for _, k := range s {
		counts = append(counts, k)
		n += k
	}
	return entropy(counts), n
}

// A mean is of the entropies of tensors.
type mean struct {
	bits float64
	n    int64
}

func (m *mean) add(bits float64, n int64) {
	m.bits += bits * float64(n)
	m.n += n
}

// entropy is the mean; nil of nothing.
func (m *mean) entropy() *Entropy {
	if m.n == 0 {
		return nil
	}
	e := &Entropy{Bits: m.bits / float64(m.n)}
	if e.Bits > 0 {
		e.Compression = 32 / e.Bits
	}
	return e
}

// entropy is in bits, of events that have been counted. It depends on the counts alone, not on their order.
func entropy(counts []int64) float64 {
	slices.Sort(counts)
	total, sum := int64(0), 0.0
	for _, n := range counts {
		total += n
		sum += float64(n) * math.Log2(float64(n))
	}
	if len(counts) < 2 {
		return 0
	}
	return max(0, math.Log2(float64(total))-sum/float64(total))
}

// symbols counts the codes of a constant: its integers, or its values over the scale of its quantiser; the values where
// there is none. A scale of the whole tensor changes nothing, one per channel does.
func (s *scope) symbols(name string) symbols {
	c := s.Known[name].Const
	out := symbols{}
	node := s.makers[name]
	if node != nil && c.DType.Float() {
		if scale := s.scale(node); scale != nil {
			at := spread(scale.Shape, c.Shape)
			for i := range c.Len() {
				out[float32(c.At(i)/scale.At(at(i)))+0]++
			}
			return out
		}
		if from := s.moved(node); len(from) > 0 && !s.codesOf(node) {
			for _, name := range from {
				for code, n := range s.symbols(name) {
					out[code] += n
				}
			}
			return out
		}
	}
	for i := range c.Len() {
		out[float32(c.At(i))+0]++
	}
	return out
}

func (s *scope) codesOf(node *graph.Node) bool {
	_, ok := s.quantised(node)
	return ok
}

// scale is that of a quantiser, which gives multiples of it; nil where a node is none, or has one scale.
func (s *scope) scale(node *graph.Node) *graph.Tensor {
	if !node.Is(graph.Minifloat) && !s.codesOf(node) {
		return nil
	}
	scale := s.Known[node.In(1)].Const
	if node.In(1) == "" || scale == nil || scale.Len() == 1 || len(scale.Shape) > len(s.Known[node.Outputs[0]].Shape) {
		return nil
	}
	return scale
}

// spread is where the element of a tensor that is broadcast to a shape lies for each element.
func spread(from, to []int) func(i int) int {
	return func(i int) int {
		at, stride := 0, 1
		for a := len(to) - 1; a >= 0; a-- {
			index := i % to[a]
			i /= to[a]
			if f := a - (len(to) - len(from)); f >= 0 {
				if from[f] > 1 {
					at += index * stride
				}
				stride *= from[f]
			}
		}
		return at
	}
}
