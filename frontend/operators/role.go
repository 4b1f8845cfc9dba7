package operators

import (
	"strings"

	"hlsgen/frontend/graph"
)

// A Role says what an operator does with codes, for the placement of quantisers.
type Role uint8

// These are the roles.
const (
	// RoleNone is the role of an operator that computes a function of each element, or combines several tensors of
	// data.
	RoleNone             Role = iota
	RoleMovesCodes            // moves codes, or chooses among them; its outputs are codes
	RoleWeightedSum           // sums of products with weights; reads codes and gives sums
	RolePlainSum              // sums; reads codes and gives sums
	RoleFakeQuantise          // a quantiser that gives real values
	RoleTrunc                 // Trunc
	RoleMultiThreshold        // MultiThreshold
	RoleQuantizeLinear        // QuantizeLinear, which gives integers
	RoleDequantizeLinear      // DequantizeLinear
	RoleClip                  // Clip, which maps codes to codes
	RoleScan                  // Scan
	RoleElementwise           // reads codes if several inputs depend on data, because a layer adds integers
)

// roles holds the role of each operator that has one, by the operator's name.
var roles = map[string]Role{
	"Conv": RoleWeightedSum, "ConvTranspose": RoleWeightedSum, "MatMul": RoleWeightedSum, "Gemm": RoleWeightedSum,
	"AveragePool": RolePlainSum, "GlobalAveragePool": RolePlainSum, "ReduceMean": RolePlainSum,
	"ReduceSum": RolePlainSum,
	"Reshape":   RoleMovesCodes, "Flatten": RoleMovesCodes, "Transpose": RoleMovesCodes, "Squeeze": RoleMovesCodes,
	"Unsqueeze": RoleMovesCodes,
	"Identity":  RoleMovesCodes, "Dropout": RoleMovesCodes, "Slice": RoleMovesCodes, "Split": RoleMovesCodes,
	"Gather": RoleMovesCodes, "Concat": RoleMovesCodes,
	"Pad": RoleMovesCodes, "Tile": RoleMovesCodes, "Expand": RoleMovesCodes, "DepthToSpace": RoleMovesCodes,
	"SpaceToDepth": RoleMovesCodes,
	"Upsample":     RoleMovesCodes, "Resize": RoleMovesCodes, "MaxPool": RoleMovesCodes,
	"GlobalMaxPool": RoleMovesCodes,
	"Relu":          RoleMovesCodes,
	"Quant":         RoleFakeQuantise, "IntQuant": RoleFakeQuantise, "BipolarQuant": RoleFakeQuantise,
	"FloatQuant": RoleFakeQuantise,
	"Trunc":      RoleTrunc, "MultiThreshold": RoleMultiThreshold,
	"QuantizeLinear": RoleQuantizeLinear, "DequantizeLinear": RoleDequantizeLinear, "Clip": RoleClip, "Scan": RoleScan,
	"Add": RoleElementwise, "Sub": RoleElementwise, "Mul": RoleElementwise, "Sum": RoleElementwise,
	"Mean":        RoleElementwise,
	"DebugMarker": RoleMovesCodes, "Im2Col": RoleMovesCodes,
}

// RoleOf returns the role of a node's operator, which is RoleNone for operators without another one.
func RoleOf(n *graph.Node) Role { return roles[n.Op] }

// IsMaxPool reports whether a node is a max pool, which chooses one of several elements by their size.
func IsMaxPool(n *graph.Node) bool { return n.Op == "MaxPool" || n.Op == "GlobalMaxPool" }

// linear holds the names of the operators that map a single tensor of data by a factor and an offset for each element.
var linear = map[string]bool{"Add": true, "Sub": true, "Mul": true, "Sum": true, "Mean": true, "Neg": true,
	"Cast": true, "BatchNormalization": true}

// IsNonlinear reports whether a node applies a function to the elements of a single tensor that is not linear. data is
// the tensor's name.
func IsNonlinear(n *graph.Node, data string) bool {
	switch RoleOf(n) {
	case RoleMovesCodes:
		return n.Op == "Relu"
	case RoleWeightedSum, RolePlainSum, RoleFakeQuantise, RoleQuantizeLinear, RoleDequantizeLinear:
		return false
	}
	return !linear[n.Op] && !(n.Op == "Div" && n.InputName(1) != data)
}

// magnitudes holds the operators that often follow a Fourier transform, and rarely follow a trained layer.
var magnitudes = map[string]bool{"Pow": true, "Abs": true, "Sqrt": true, "Log": true, "ReduceL1": true,
	"ReduceL2": true, "ReduceSumSquare": true, "ReduceLogSum": true}

// ComputesSquareMagnitudeOrLog reports whether a node computes squares, magnitudes or logarithms.
func ComputesSquareMagnitudeOrLog(n *graph.Node) bool { return magnitudes[n.Op] }

// IsReduction reports whether a node computes a single number from many elements of data, such as a sum or a maximum.
func IsReduction(n *graph.Node) bool {
	return RoleOf(n) == RolePlainSum || strings.HasPrefix(n.Op, "Reduce")
}

// DivisorOrPowerBaseOf returns the name of the tensor by which a node divides, or of which it computes a power. It
// returns "" if there is none.
func DivisorOrPowerBaseOf(n *graph.Node) string {
	switch n.Op {
	case "Div":
		return n.InputName(1)
	case "Reciprocal", "Pow":
		return n.InputName(0)
	}
	return ""
}

// NewReshapeNode returns a node that replaces n by a Reshape of n's first input. shape is the name of the constant with
// the new shape.
func NewReshapeNode(n *graph.Node, shape string) *graph.Node {
	return &graph.Node{Index: n.Index, Name: n.Name, Op: "Reshape", Inputs: []string{n.Inputs[0], shape},
		Outputs: n.Outputs}
}

// OutputChannelAxisOfWeights returns the axis of a node's weights, which are of the given rank and at an input slot,
// that counts output channels. It returns -1 if these do not lie along one axis.
func OutputChannelAxisOfWeights(n *graph.Node, slot, rank int) int {
	switch {
	case n.Op == "Conv" && slot == 1:
		return 0
	case n.Op == "MatMul" && slot == 1 && rank == 2:
		return 1
	case n.Op == "MatMul" && slot == 0 && rank == 2:
		return 0
	case n.Op == "Gemm" && slot == 1:
		return 1 - int(min(1, n.IntAttrOr("transB", 0)))
	case n.Op == "Gemm" && slot == 0:
		return int(min(1, n.IntAttrOr("transA", 0)))
	}
	return -1
}
