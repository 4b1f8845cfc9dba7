package stats

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// A WeightEntropy tells how far weights can be compressed without loss if each weight is coded by itself (arXiv
// 2301.13376). For several tensors, it holds the mean of theirs, weighted by their numbers of elements, since each
// tensor has a code of its own.
type WeightEntropy struct {
	// -sum p*log2(p) over the codes that occur, where p is the frequency of a code
	Bits float64 `json:"bits_per_weight"`
	// 32 bits per weight divided by the entropy; absent if the entropy is 0, which means that all weights are equal
	Compression float64 `json:"compression,omitempty"`
}

// A symbols holds how often each code of a tensor occurs, by the code's value.
type symbols map[float32]int64

// entropy returns the entropy of the counted codes in bits per code, and their number.
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

// entropy returns the weighted mean as a WeightEntropy, or nil if nothing was added.
func (m *mean) entropy() *WeightEntropy {
	if m.n == 0 {
		return nil
	}
	e := &WeightEntropy{Bits: m.bits / float64(m.n)}
	if e.Bits > 0 {
		e.Compression = 32 / e.Bits
	}
	return e
}

// entropy returns the entropy, in bits per event, of events with the given counts. It sorts counts in place, so that
// the result does not depend on their order.
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

// symbols returns how often each code of a constant occurs. For these counts, codes are the constant's values, divided
// by the quantiser's scale if that differs by channel. A common scale does not change the counts. For a constant that
// is moved from others, it counts the codes of these.
func (s *scope) symbols(name string) symbols {
	c := s.Known[name].Const
	out := symbols{}
	node := s.makers[name]
	if node != nil && c.DType.IsReal() {
		if scale := s.scale(node); scale != nil {
			at := spread(scale.Shape, c.Shape)
			for i := range c.Len() {
				out[float32(c.FloatAt(i)/scale.FloatAt(at(i)))+0]++
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
		out[float32(c.FloatAt(i))+0]++
	}
	return out
}

func (s *scope) codesOf(node *graph.Node) bool {
	_, ok := s.quantised(node)
	return ok
}

// scale returns the scales of a quantiser with several scales. It returns nil if the node is not a quantiser, or has a
// single or unknown scale.
func (s *scope) scale(node *graph.Node) *graph.ConstantTensor {
	if !operators.HasTrait(node, operators.TraitMinifloatQuantiser) && !s.codesOf(node) {
		return nil
	}
	scale := s.Known[node.InputName(1)].Const
	if node.InputName(1) == "" || scale == nil || scale.Len() == 1 ||
		len(scale.Shape) > len(s.Known[node.Outputs[0]].Shape) {
		return nil
	}
	return scale
}

// spread returns a function for tensors of shape from that are broadcast to shape to. The function maps the index of an
// element of the result to the index of the element that it equals.
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
