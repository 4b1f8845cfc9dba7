package stats

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// An Entropy tells how far weights can be compressed without loss, if each is coded by itself (arXiv 2301.13376).
// For several tensors it is their mean, weighted by their numbers of elements, since each tensor has a code of its
// own.
type Entropy struct {
	// -sum p*log2(p) over the codes that occur, where p is the frequency of a code
	Bits float64 `json:"bits_per_weight"`
	// 32 bits per weight divided by the entropy; absent if the entropy is 0, which means that all weights are equal
	Compression float64 `json:"compression,omitempty"`
}

// A symbols counts how often each code occurs, by the code's value.
type symbols map[float32]int64

// entropy returns the entropy of the codes in bits per code, and how many codes were counted.
func (s symbols) entropy() (bits float64, n int64) {
	counts := make([]int64, 0, len(s))
	for _, k := range s {
		counts = append(counts, k)
		n += k
	}
	return entropy(counts), n
}

// A mean is a sum of entropies of tensors, weighted by their numbers of elements, and the sum of these numbers.
type mean struct {
	bits float64
	n    int64
}

func (m *mean) add(bits float64, n int64) {
	m.bits += bits * float64(n)
	m.n += n
}

// entropy returns the weighted mean as an Entropy, or nil if nothing was added.
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

// entropy returns the entropy, in bits per event, of events with the given counts. It sorts counts, so that the result
// does not depend on their order.
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

// symbols counts the codes of a constant: its integers, or its values divided by its quantiser's scale, if that differs
// by channel. Without a quantiser it counts values. A common scale does not change the counts.
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

// scale returns the scale of a quantiser with several scales. It returns nil if the node is no quantiser, or has a
// single or unknown scale.
func (s *scope) scale(node *graph.Node) *graph.Tensor {
	if !operators.Has(node, operators.TraitMinifloatQuantiser) && !s.codesOf(node) {
		return nil
	}
	scale := s.Known[node.In(1)].Const
	if node.In(1) == "" || scale == nil || scale.Len() == 1 || len(scale.Shape) > len(s.Known[node.Outputs[0]].Shape) {
		return nil
	}
	return scale
}

// spread returns a function for tensors of shape from that are broadcast to shape to. It maps the index of an element
// of to to that of the element it equals.
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
