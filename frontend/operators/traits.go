package operators

import (
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
)

// An operator describes an operator of a graph: its least and greatest number of inputs, its traits, and the function
// that builds its steps.
type operator struct {
	min, max int
	is       Trait
	build    definition
}

// A definition builds the steps of a node.
type definition = func(*call)

// A joining combines two expressions into one.
type joining = func(x, y *real.Expr) *real.Expr

// A Trait is a property of an operator. Only this package knows operators by their names. Other code asks for
// traits.
type Trait uint16

// These are the traits.
const (
	TraitKeepsScaledIntegers Trait = 1 << iota // maps scaled integers to scaled integers
	// TraitSoftmax: each element depends on its whole row, and rises strictly with its own input.
	TraitSoftmax
	TraitClip               // limits each element by inputs 1 and 2, or by attributes
	TraitNeedsCellFormats   // its gates get formats only from --lstm-config or --cell-config
	TraitMinifloatQuantiser // quantises to minifloats
	TraitOneHot             // maps each index to a row of zeros with a single one
	// TraitUniformCodes: it gives codes of equal steps; inputs are the data, the scale and the zero point.
	TraitUniformCodes
	TraitInputChannelsFirst // sums windows over the first axis of its weights, not the second
	// TraitMinifloatCodes: it gives codes whose steps grow with the value; inputs are the data and the scale.
	TraitMinifloatCodes

	TraitLoop    // runs along a sequence
	codes        // gives the codes of a quantiser
	signs        // gives codes that are all -1 or +1
	ofCodes      // maps codes to their values
	bounds       // may read infinities, which mean no limit
	TraitReshape // may give other axes than those of its input
)

// These operators occur in graphs that other packages write.
const (
	OpAdd           = "Add"
	OpCast          = "Cast"
	OpQuantiserCode = "Code"
	OpConcat        = "Concat"
	OpFloatQuant    = "FloatQuant"
	OpGather        = "Gather"
	OpIdentity      = "Identity"
	OpMatMul        = "MatMul"
	OpMax           = "Max"
	OpMin           = "Min"
	OpMul           = "Mul"
	opOneHot        = "OneHot"
	OpQuant         = "Quant"
	OpReshape       = "Reshape"
	OpIf            = "If"
	OpScan          = "Scan"
	OpSub           = "Sub"
	OpTranspose     = "Transpose"
)

// operators holds every supported operator, by domain and name.
var operators map[string]map[string]operator

// parts holds the internal operators to which others are reduced. They do not repeat the checks of those operators. No
// graph contains them.
var parts map[string]operator

// QONNXDomain is the domain of QONNX' quantisers.
const QONNXDomain = "qonnx.custom_op.general"

// InternalDomain is the domain of operators that only passes create.
const InternalDomain = "hlsgen"

// domainOf returns the name that a domain has in the tables of operators. QONNX' domain has had several names. PULP's
// operators also occur in the domain of onnxruntime's extensions.
func domainOf(domain string) string {
	switch domain {
	case "onnx.brevitas", "finn.custom_op.general", "finn", "qonnx":
		return QONNXDomain
	case contrib:
		return pulp
	}
	return domain
}

// IsQuantisationDomain reports whether a domain belongs to QONNX, FINN or Brevitas.
func IsQuantisationDomain(domain string) bool {
	return domainOf(domain) == QONNXDomain || strings.HasPrefix(domain, "qonnx.") || strings.HasPrefix(domain, "finn.")
}

// lookup returns the operator with a name that may occur in graphs. ok is false if hlsgen does not support it.
func lookup(domain, op string) (operator, bool) {
	def, ok := operators[domainOf(domain)][op]
	return def, ok
}

// row returns the operator with a name, including the internal ones in parts.
func row(domain, op string) (operator, bool) {
	if def, ok := lookup(domain, op); ok || domain != InternalDomain {
		return def, ok
	}
	def, ok := parts[op]
	return def, ok
}

// IsSupportedOperator reports whether an operator is supported, at least in some forms.
func IsSupportedOperator(domain, op string) bool {
	_, ok := lookup(domain, op)
	return ok
}

// HasTrait reports whether a node's operator has a trait.
func HasTrait(n *graph.Node, t Trait) bool {
	def, _ := row(n.Domain, n.Op)
	return def.is&t != 0
}

// IsRecurrent reports whether a node is a loop along a sequence.
func IsRecurrent(n *graph.Node) bool { return HasTrait(n, TraitLoop) }

// NewMulByOneNode returns a node that multiplies a tensor by the constant one. The output has the same values, but can
// have codes of its own.
func NewMulByOneNode(name, in, one, out string) *graph.Node {
	return &graph.Node{Index: -1, Name: name, Op: OpMul, Inputs: []string{in, one}, Outputs: []string{out}}
}

// pulp is the domain of the operators of PULP's tools: quantlib writes them, Deeploy and DORY read them.
const pulp = "PACTOps"

// contrib is the domain of onnxruntime's extensions.
const contrib = "ai.onnx.contrib"

// channelsLast is QONNX' domain of operators on data whose last axis is the channels.
const channelsLast = "qonnx.custom_op.channels_last"
