package quantise

import "hlsgen/frontend/graph"

// A role is what an operator does, as far as quantisers are concerned.
type role uint8

const (
	other   role = iota // of one tensor of data, a function of each element; of several, a joining
	carrier             // moves codes, or chooses among them: codes come out
	matrix              // sums of products with weights: wants codes, and gives sums
	mean                // sums: wants codes, and gives sums
	value               // a quantiser: its value comes out
	halving             // Trunc
	steps               // MultiThreshold
	encode              // QuantizeLinear: integers come out
	decode              // DequantizeLinear
	limit               // Clip: of codes, codes
	loop                // Scan
)

// roles is what the operators do that are more than functions of each element.
var roles = map[string]role{
	"Conv": matrix, "ConvTranspose": matrix, "MatMul": matrix, "Gemm": matrix,
	"AveragePool": mean, "GlobalAveragePool": mean, "ReduceMean": mean, "ReduceSum": mean,
	"Reshape": carrier, "Flatten": carrier, "Transpose": carrier, "Squeeze": carrier, "Unsqueeze": carrier,
	"Identity": carrier, "Dropout": carrier, "Slice": carrier, "Split": carrier, "Gather": carrier, "Concat": carrier,
	"Pad": carrier, "Tile": carrier, "Expand": carrier, "DepthToSpace": carrier, "SpaceToDepth": carrier,
	"Upsample": carrier, "Resize": carrier, "MaxPool": carrier, "GlobalMaxPool": carrier, "Relu": carrier,
	"Quant": value, "IntQuant": value, "BipolarQuant": value, "FloatQuant": value,
	"Trunc": halving, "MultiThreshold": steps,
	"QuantizeLinear": encode, "DequantizeLinear": decode, "Clip": limit, "Scan": loop,
}

// roleOf is the role of a node.
func roleOf(n *graph.Node) role { return roles[n.Op] }

// mixing are the operators that want codes of all tensors of data where these are several and not functions of one:
// a layer adds integers.
var mixing = map[string]bool{"Add": true, "Sub": true, "Mul": true, "Sum": true}

// channelAxis is the axis of output channels of a node's weights, at a slot of its inputs; -1 where the channels are
// not one axis's.
func channelAxis(n *graph.Node, slot, rank int) int {
	switch {
	case n.Op == "Conv" && slot == 1:
		return 0
	case n.Op == "MatMul" && slot == 1 && rank == 2:
		return 1
	case n.Op == "MatMul" && slot == 0 && rank == 2:
		return 0
	case n.Op == "Gemm" && slot == 1:
		return 1 - int(min(1, n.Int("transB", 0)))
	case n.Op == "Gemm" && slot == 0:
		return int(min(1, n.Int("transA", 0)))
	}
	return -1
}
