package onnxtest

import (
	"math/rand/v2"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
)

// Retrain shuffles the weights of each matrix layer within their tensor, and likewise the factors and biases of
// channels in batch normalisations. This gives the same network with other values, as more training would. It
// returns the number of tensors that it changed.
func (m *Model) Retrain(r *rand.Rand) (changed int) {
	p := &pruning{r: r, constants: map[string]*onnxpb.TensorProto{}, made: map[string]*onnxpb.NodeProto{}}
	for _, t := range m.Proto.Graph.Initializer {
		p.constants[t.GetName()] = t
	}
	for _, n := range m.Proto.Graph.Node {
		for _, out := range n.Output {
			p.made[out] = n
		}
		if n.GetOpType() == "Constant" && len(n.Output) == 1 && len(n.Attribute) == 1 && n.Attribute[0].T != nil {
			p.constants[n.Output[0]] = n.Attribute[0].T
		}
	}
	seen := map[*onnxpb.TensorProto]bool{}
	shuffle := func(t *onnxpb.TensorProto) {
		if t == nil || seen[t] || size(t) < 2 {
			return
		}
		seen[t] = true
		if swapped(r, t) {
			changed++
		}
	}
	for _, n := range m.Proto.Graph.Node {
		if at, ok := weighted[n.GetOpType()]; ok && at < len(n.Input) {
			tensor := n.Input[at]
			for p.constants[tensor] == nil && p.made[tensor] != nil && len(p.made[tensor].Input) > 0 {
				tensor = p.made[tensor].Input[0]
			}
			shuffle(p.constants[tensor])
		}
		if n.GetOpType() == "BatchNormalization" && len(n.Input) == 5 {
			shuffle(p.constants[n.Input[1]])
			shuffle(p.constants[n.Input[2]])
		}
	}
	return changed
}

// swapped shuffles the elements of a tensor. It returns false if the tensor's type is not supported.
func swapped(r *rand.Rand, t *onnxpb.TensorProto) bool {
	n, width := size(t), 1
	switch dtype := graph.DType(t.GetDataType()); {
	case len(t.FloatData) == n:
		r.Shuffle(n, func(i, j int) { t.FloatData[i], t.FloatData[j] = t.FloatData[j], t.FloatData[i] })
		return true
	case dtype == graph.DTypeFloat32 || dtype == graph.DTypeInt32:
		width = 4
	case dtype != graph.DTypeInt8 && dtype != graph.DTypeUInt8:
		return false
	}
	if len(t.RawData) != width*n {
		return false
	}
	r.Shuffle(n, func(i, j int) {
		for k := range width {
			a, b := &t.RawData[width*i+k], &t.RawData[width*j+k]
			*a, *b = *b, *a
		}
	})
	return true
}
