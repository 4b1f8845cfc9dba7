package graph

import "strings"

// A Role says what an operator does with codes, for the placement of quantisers.
type Role uint8

// These are the roles.
const (
	NoRole    Role = iota // with one tensor of data, a function of each element; with several, it combines them
	Carries               // moves codes, or chooses among them; its outputs are codes
	Products              // sums of products with weights; reads codes and gives sums
	Means                 // sums; reads codes and gives sums
	Values                // a quantiser that gives real values
	Truncates             // Trunc
	Counts                // MultiThreshold
	Encodes               // QuantizeLinear, which gives integers
	Decodes               // DequantizeLinear
	Limits                // Clip, which maps codes to codes
	Loops                 // Scan
	Mixes                 // reads codes if several inputs depend on data, because a layer adds integers
)

// roles maps each operator that has a role to its role.
var roles = map[string]Role{
	"Conv": Products, "ConvTranspose": Products, "MatMul": Products, "Gemm": Products,
	"AveragePool": Means, "GlobalAveragePool": Means, "ReduceMean": Means, "ReduceSum": Means,
	"Reshape": Carries, "Flatten": Carries, "Transpose": Carries, "Squeeze": Carries, "Unsqueeze": Carries,
	"Identity": Carries, "Dropout": Carries, "Slice": Carries, "Split": Carries, "Gather": Carries, "Concat": Carries,
	"Pad": Carries, "Tile": Carries, "Expand": Carries, "DepthToSpace": Carries, "SpaceToDepth": Carries,
	"Upsample": Carries, "Resize": Carries, "MaxPool": Carries, "GlobalMaxPool": Carries, "Relu": Carries,
	"Quant": Values, "IntQuant": Values, "BipolarQuant": Values, "FloatQuant": Values,
	"Trunc": Truncates, "MultiThreshold": Counts,
	"QuantizeLinear": Encodes, "DequantizeLinear": Decodes, "Clip": Limits, "Scan": Loops,
	"Add": Mixes, "Sub": Mixes, "Mul": Mixes, "Sum": Mixes, "Mean": Mixes,
	"DebugMarker": Carries, "Im2Col": Carries,
}

// Role returns the role of a node.
func (n *Node) Role() Role { return roles[n.Op] }

// Chooses reports whether a node that carries codes chooses one of several elements by their size.
func (n *Node) Chooses() bool { return n.Op == "MaxPool" || n.Op == "GlobalMaxPool" }

// linear holds the operators that map a single tensor of data by a factor and an offset for each element.
var linear = map[string]bool{"Add": true, "Sub": true, "Mul": true, "Sum": true, "Mean": true, "Neg": true,
	"Cast": true, "BatchNormalization": true}

// Curves reports whether a node applies a function to the elements of a single tensor that is not linear. data is the
// tensor's name.
func Curves(n *Node, data string) bool {
	switch n.Role() {
	case Carries:
		return n.Op == "Relu"
	case Products, Means, Values, Encodes, Decodes:
		return false
	}
	return !linear[n.Op] && !(n.Op == "Div" && n.In(1) != data)
}

// magnitudes holds the operators that often follow a Fourier transform, and rarely follow a trained layer.
var magnitudes = map[string]bool{"Pow": true, "Abs": true, "Sqrt": true, "Log": true, "ReduceL1": true,
	"ReduceL2": true, "ReduceSumSquare": true, "ReduceLogSum": true}

// Measures reports whether a node computes squares, magnitudes or logarithms.
func Measures(n *Node) bool { return magnitudes[n.Op] }

// Summarises reports whether a node computes one number from many elements of data.
func Summarises(n *Node) bool { return n.Role() == Means || strings.HasPrefix(n.Op, "Reduce") }

// DividesBy returns the tensor by which a node divides, or of which it computes a power. It returns "" if there is
// none.
func DividesBy(n *Node) string {
	switch n.Op {
	case "Div":
		return n.In(1)
	case "Reciprocal", "Pow":
		return n.In(0)
	}
	return ""
}

// Reshaped returns a node that replaces n and reshapes n's first input. shape names the constant with the new shape.
func Reshaped(n *Node, shape string) *Node {
	return &Node{Index: n.Index, Name: n.Name, Op: "Reshape", Inputs: []string{n.Inputs[0], shape}, Outputs: n.Outputs}
}

// ChannelAxis returns the axis of output channels of a node's weights at an input slot, or -1 if the channels do not
// lie along one axis.
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
