package graph

import "strings"

// A Role is what an operator does, as far as quantisers are concerned.
type Role uint8

// The roles.
const (
	NoRole   Role = iota // of one tensor of data, a function of each element; of several, a joining
	Carries              // moves codes, or chooses among them: codes come out
	Products             // sums of products with weights: wants codes, and gives sums
	Means                // sums: wants codes, and gives sums
	Values               // a quantiser: its value comes out
	Halves               // Trunc
	Counts               // MultiThreshold
	Encodes              // QuantizeLinear: integers come out
	Decodes              // DequantizeLinear
	Limits               // Clip: of codes, codes
	Loops                // Scan
	Mixes                // wants codes of all tensors of data where these are several: a layer adds integers
)

// roles is what the operators do that are more than functions of each element.
var roles = map[string]Role{
	"Conv": Products, "ConvTranspose": Products, "MatMul": Products, "Gemm": Products,
	"AveragePool": Means, "GlobalAveragePool": Means, "ReduceMean": Means, "ReduceSum": Means,
	"Reshape": Carries, "Flatten": Carries, "Transpose": Carries, "Squeeze": Carries, "Unsqueeze": Carries,
	"Identity": Carries, "Dropout": Carries, "Slice": Carries, "Split": Carries, "Gather": Carries, "Concat": Carries,
	"Pad": Carries, "Tile": Carries, "Expand": Carries, "DepthToSpace": Carries, "SpaceToDepth": Carries,
	"Upsample": Carries, "Resize": Carries, "MaxPool": Carries, "GlobalMaxPool": Carries, "Relu": Carries,
	"Quant": Values, "IntQuant": Values, "BipolarQuant": Values, "FloatQuant": Values,
	"Trunc": Halves, "MultiThreshold": Counts,
	"QuantizeLinear": Encodes, "DequantizeLinear": Decodes, "Clip": Limits, "Scan": Loops,
	"Add": Mixes, "Sub": Mixes, "Mul": Mixes, "Sum": Mixes, "Mean": Mixes,
	"DebugMarker": Carries, "Im2Col": Carries,
}

// Role is what a node does.
func (n *Node) Role() Role { return roles[n.Op] }

// Chooses reports whether a node that carries codes takes one of several elements by their size.
func (n *Node) Chooses() bool { return n.Op == "MaxPool" || n.Op == "GlobalMaxPool" }

// linear are the operators that, of one tensor of data, make a factor and an offset of each element.
var linear = map[string]bool{"Add": true, "Sub": true, "Mul": true, "Sum": true, "Mean": true, "Neg": true,
	"Cast": true, "BatchNormalization": true}

// Curves reports whether a node, of one tensor of data, gives a function of its elements that is not linear. data is
// the tensor's name.
func Curves(n *Node, data string) bool {
	switch n.Role() {
	case Carries:
		return n.Op == "Relu"
	case Products, Means, Values, Encodes, Decodes:
		return false
	}
	return !linear[n.Op] && !(n.Op == "Div" && n.In(1) != data)
}

// magnitudes are the operators that follow a transform into waves, and hardly a layer that was trained.
var magnitudes = map[string]bool{"Pow": true, "Abs": true, "Sqrt": true, "Log": true, "ReduceL1": true,
	"ReduceL2": true, "ReduceSumSquare": true, "ReduceLogSum": true}

// Measures reports whether a node gives squares, magnitudes or logarithms.
func Measures(n *Node) bool { return magnitudes[n.Op] }

// Summarises reports whether a node makes one number of many that are data.
func Summarises(n *Node) bool { return n.Role() == Means || strings.HasPrefix(n.Op, "Reduce") }

// DividesBy is the tensor that a node divides by, or has a power of; empty where there is none.
func DividesBy(n *Node) string {
	switch n.Op {
	case "Div":
		return n.In(1)
	case "Reciprocal", "Pow":
		return n.In(0)
	}
	return ""
}

// Reshaped is a node's first input in a shape that a constant has, in its place.
func Reshaped(n *Node, shape string) *Node {
	return &Node{Index: n.Index, Name: n.Name, Op: "Reshape", Inputs: []string{n.Inputs[0], shape}, Outputs: n.Outputs}
}

// ChannelAxis is the axis of output channels of a node's weights, at a slot of its inputs; -1 where the channels are
// not one axis's.
func ChannelAxis(n *Node, slot, rank int) int {
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
