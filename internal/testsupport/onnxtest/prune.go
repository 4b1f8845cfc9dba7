package onnxtest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
)

// weighted maps each operator whose weights Prune may change to the number of its input with the weights.
var weighted = map[string]int{"MatMul": 1, "Gemm": 1, "Conv": 1, "ConvTranspose": 1, "ConvInteger": 1,
	"MatMulInteger": 1, "QLinearConv": 3, "QLinearMatMul": 3}

// factors maps operators to the index of the input that may be a constant factor per channel.
var factors = map[string]int{"Mul": 1, "BatchNormalization": 1}

// ZeroRandomRowsAndColumns returns the matrix of weights. In one of two calls it sets some of the matrix' rows and
// columns to zero, in place.
func ZeroRandomRowsAndColumns[W int | int64 | float64](r *rand.Rand, weights []W, columns int) []W {
	if r.IntN(2) == 0 {
		return weights
	}
	dead := func(n int) (list []bool) {
		for range n {
			list = append(list, r.IntN(5) == 0)
		}
		return list
	}
	rows, others := dead(len(weights)/columns), dead(columns)
	for i := range weights {
		if rows[i/columns] || others[i%columns] {
			weights[i] = 0
		}
	}
	return weights
}

// Prune sets parts of the model's weights to zero, as pruning does: rows, columns, kernel positions, and now and
// then a whole tensor. It also sets some factors of channels to zero. A channel whose weights are all zero may have
// any scale, so some of these get an unusual scale. Prune returns the number of parts that are now zero.
func (m *Model) Prune(r *rand.Rand) (dead int) {
	p := &pruning{r: r, constants: map[string]*onnxpb.TensorProto{}, made: map[string]*onnxpb.NodeProto{}}
	for _, t := range m.Proto.Graph.Initializer {
		p.constants[t.GetName()] = t
	}
	for _, n := range m.Proto.Graph.Node {
		for _, out := range n.Output {
			p.made[out] = n
		}
	}
	for _, n := range m.Proto.Graph.Node {
		if at, ok := weighted[n.GetOpType()]; ok && at < len(n.Input) {
			dead += p.weights(n.Input[at])
		}
		if at, ok := factors[n.GetOpType()]; ok && at < len(n.Input) && r.IntN(3) == 0 {
			if t := p.constants[n.Input[at]]; t != nil && len(t.Dims) > 0 {
				dead += p.slice(t, nil)
			}
		}
	}
	return dead
}

type pruning struct {
	r         *rand.Rand
	constants map[string]*onnxpb.TensorProto
	made      map[string]*onnxpb.NodeProto
}

// weights sets parts of a tensor of weights to zero. It looks for the constant in front of any quantisers.
func (p *pruning) weights(tensor string) (dead int) {
	var scale *onnxpb.TensorProto
	for p.constants[tensor] == nil {
		n := p.made[tensor]
		if n == nil || len(n.Input) == 0 {
			return 0
		}
		if n.GetOpType() == "Quant" || n.GetOpType() == "DequantizeLinear" {
			scale = p.constants[n.Input[1]]
		}
		tensor = n.Input[0]
	}
	t := p.constants[tensor]
	if len(t.Dims) < 2 {
		return 0
	}
	if p.r.IntN(12) == 0 {
		for i := range size(t) {
			kill(t, i)
		}
		return 1
	}
	for range p.r.IntN(4) {
		dead += p.slice(t, scale)
	}
	return dead
}

// odd lists scales that no quantiser would choose.
var odd = []float64{1e30, 1e-30, -0.5, 0x1p-126, 77}

// slice sets all elements with one random index along a random axis to zero. If every index has its own scale, this
// index may then get an unusual one.
func (p *pruning) slice(t, scale *onnxpb.TensorProto) int {
	axis := p.r.IntN(len(t.Dims))
	extent := int(t.Dims[axis])
	if extent == 0 {
		return 0
	}
	index, inner := p.r.IntN(extent), 1
	for _, d := range t.Dims[axis+1:] {
		inner *= int(d)
	}
	for i := range size(t) {
		if i/inner%extent == index {
			kill(t, i)
		}
	}
	if scale != nil && size(scale) == extent && size(scale) > 1 && alongAxis(scale, t, axis) && p.r.IntN(2) == 0 {
		binary.LittleEndian.PutUint32(scale.RawData[4*index:], math.Float32bits(float32(odd[p.r.IntN(len(odd))])))
	}
	return 1
}

// alongAxis reports whether scales lie along the given axis of a tensor and no other. There are as many of them as
// indices along that axis.
func alongAxis(scale, t *onnxpb.TensorProto, axis int) bool {
	if len(scale.Dims) == len(t.Dims) {
		return scale.Dims[axis] == t.Dims[axis]
	}
	return axis == len(t.Dims)-1 && !slices.Contains(t.Dims[:axis], t.Dims[axis])
}

// size returns the number of elements of a tensor.
func size(t *onnxpb.TensorProto) int {
	n := 1
	for _, d := range t.Dims {
		n *= int(d)
	}
	return n
}

// kill sets an element to 0.
func kill(t *onnxpb.TensorProto, i int) {
	if len(t.FloatData) > 0 {
		t.FloatData[i] = 0
		return
	}
	width := 1
	switch graph.DType(t.GetDataType()) {
	case graph.DTypeFloat32, graph.DTypeInt32:
		width = 4
	case graph.DTypeInt8, graph.DTypeUInt8:
	default:
		return
	}
	clear(t.RawData[width*i : width*(i+1)])
}
