// Package operators knows the operators of ONNX and of its dialects. Prepare turns a graph into a program: it finds
// every shape, and reduces each operator to steps of five forms. Only these files know operators by name; other
// packages ask for their traits.
//
// The table of operators:
//
//	operators              the table, and the traits of operators
//	arithmetic, activation, curves, reduce, order, conv, pool, image, move, slice, logic, quant, qonnx, pulp,
//	recurrent, lstm, loop, minifloat, blocks
//	                       the definitions of operators: each builds the steps of a node
//	cell                   the cells of LSTM, GRU and RNN as the bodies of loops
//	coding                 quantisers split into a code and its value, for canon
//	composite, fused, finn operators that are first replaced by others: quantised ones, those that onnxruntime
//	                       fuses, FINN's; recognition of the steps of FINN's build
//	dynamic                quantisers whose scales come from the data
//	branches               each If with a known condition, replaced by the nodes of its branch
//	role                   what operators do with codes, for the placement of quantisers
//	weights                recovery of weights that were rounded to float32
//	infinite               operators that compute with infinities
//	units                  real values of the codes of constants
//	unsupported, gaps      messages for operators that are not supported
//	standing               how each operator is computed, for the list of operators
//
// The preparation of a graph:
//
//	prepare, recur, window          Prepare; loops; windows of convolutions and pools
//	bind, shapes, limits            sizes that the file leaves open; limits of resources
//	reading, call, expand           the attributes and inputs of a node; its steps; internal nodes
//	again                           reuse of steps after nodes were replaced
//	strides                         index tables that nodes share
//	formats                         the formats of cells' gates, from --lstm-config and --cell-config
package operators

import (
	"maps"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
)

// An operator describes an operator: its least and greatest number of inputs, its traits, and the function that builds
// its steps.
type operator struct {
	min, max int
	is       Trait
	build    definition
}

// A definition builds the steps of a node.
type definition = func(*call)

// A joining combines two expressions into one.
type joining = func(x, y *real.Expr) *real.Expr

// A Trait is a property of an operator. Only the files operators*.go know operators by their names; other code asks for
// traits.
type Trait uint16

// These are the traits.
const (
	TraitKeepsScaledIntegers Trait = 1 << iota // maps scaled integers to scaled integers
	// each element depends on its whole row, and rises strictly with its own input
	TraitSoftmax
	TraitClip               // limits each element by inputs 1 and 2, or by attributes
	TraitNeedsCellFormats   // its gates get formats only from --lstm-config or --cell-config
	TraitMinifloatQuantiser // quantises to minifloats
	TraitOneHot             // maps each index to a row of zeros with a single one
	// gives codes of equal steps; inputs are the data, the scale and the zero point
	TraitUniformCodes
	TraitInputChannelsFirst // sums windows over the first axis of its weights, not the second
	// gives codes whose steps grow with the value; inputs are the data and the scale
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
	OpAdd        = "Add"
	OpCast       = "Cast"
	OpCode       = "Code"
	OpConcat     = "Concat"
	OpFloatQuant = "FloatQuant"
	OpGather     = "Gather"
	OpIdentity   = "Identity"
	OpMatMul     = "MatMul"
	OpMax        = "Max"
	OpMin        = "Min"
	OpMul        = "Mul"
	opOneHot     = "OneHot"
	OpQuant      = "Quant"
	OpReshape    = "Reshape"
	OpIf         = "If"
	OpScan       = "Scan"
	OpSub        = "Sub"
	OpTranspose  = "Transpose"
)

// operators holds every supported operator, by domain and name.
var operators map[string]map[string]operator

// parts holds the internal operators to which others are reduced. They do not repeat the checks of those operators. No
// graph contains them.
var parts map[string]operator

func init() { // in init, because definitions look operators up
	parts = map[string]operator{
		"Pad":     {1, 2, 0, buildPadded},
		"Spread":  {2, 2, 0, buildSpread},
		"Turn":    {1, 1, 0, buildTurn},
		"Sum":     {2, 2, 0, buildSum},
		"Max":     {1, 1, 0, buildOver(real.Max)},
		"Product": {1, 1, 0, buildOver(real.Mul)},
		"OneHot":  {2, 2, TraitOneHot, buildOneHot},

		"QuantizeLinear":   {2, 3, 0, buildQuantised},
		"DequantizeLinear": {2, 3, 0, buildDequantised},
	}
	operators = map[string]map[string]operator{
		"": {
			"Add":                {2, 2, TraitKeepsScaledIntegers, binary(real.Add)},
			"Sub":                {2, 2, TraitKeepsScaledIntegers | ofCodes, binary(real.Sub)},
			"Mul":                {2, 2, TraitKeepsScaledIntegers | ofCodes, binary(real.Mul)},
			"Div":                {2, 2, TraitKeepsScaledIntegers, buildDiv},
			"Pow":                {2, 2, 0, buildPow},
			"Relu":               {1, 1, 0, unary(func(x *real.Expr) *real.Expr { return real.Max(x, real.Float(0)) })},
			"Clip":               {1, 3, TraitClip | bounds, buildClip},
			"Cast":               {1, 1, 0, buildCast},
			"Identity":           {1, 1, TraitKeepsScaledIntegers, buildIdentity},
			"BatchNormalization": {5, 5, TraitKeepsScaledIntegers, buildBatchNorm},
			"MatMul":             {2, 2, 0, buildMatMul},
			"Gemm":               {2, 3, 0, buildGemm},
			"Constant":           {0, 0, bounds, buildConstant},
			"Shape":              {1, 1, 0, buildShape},
			"Flatten":            {1, 1, TraitKeepsScaledIntegers | TraitReshape, buildFlatten},
			"Reshape":            {2, 2, TraitKeepsScaledIntegers | TraitReshape, buildReshape},
			"Squeeze":            {1, 2, TraitKeepsScaledIntegers | TraitReshape, buildSqueeze},
			"Unsqueeze":          {1, 2, TraitKeepsScaledIntegers | TraitReshape, buildUnsqueeze},
			"Transpose":          {1, 1, TraitKeepsScaledIntegers, buildTranspose},
			"Concat":             {1, 1 << 16, TraitKeepsScaledIntegers, buildConcat},
			"Gather":             {2, 2, TraitReshape, buildGather},
			"QuantizeLinear":     {2, 3, 0, buildQuantizeLinear},
			"DequantizeLinear":   {2, 3, 0, buildDequantizeLinear},
			"Abs":                {1, 1, 0, unary(real.Abs)},
			"Neg":                {1, 1, 0, unary(real.Neg)},
			"Sqrt":               {1, 1, 0, unary(real.Sqrt)},
			"Exp":                {1, 1, 0, unary(real.Exp)},
			"Log":                {1, 1, 0, unary(real.Log)},
			"Sign":               {1, 1, 0, unary(sign)},
			"Reciprocal":         {1, 1, 0, unary(func(x *real.Expr) *real.Expr { return real.Div(one, x) })},
			"Sigmoid":            {1, 1, 0, unary(sigmoid)},
			"Tanh":               {1, 1, 0, unary(tanh)},
			"Softplus":           {1, 1, 0, unary(softplus)},
			"Softsign":           {1, 1, 0, unary(softsign)},
			"HardSigmoid":        {1, 1, 0, buildHardSigmoid},
			"LeakyRelu":          {1, 1, 0, buildLeakyRelu},
			"Elu":                {1, 1, 0, buildElu},
			"Selu":               {1, 1, 0, buildSelu},
			"PRelu":              {2, 2, 0, buildPRelu},
			"Celu":               {1, 1, 0, buildCelu},
			"ThresholdedRelu":    {1, 1, 0, buildThresholdedRelu},
			"Shrink":             {1, 1, 0, buildShrink},
			"HardSwish":          {1, 1, 0, unary(hardSwish)},
			"Swish":              {1, 1, 0, buildSwish(1)},
			"Mish":               {1, 1, 0, unary(mish)},
			"Gelu":               {1, 1, 0, buildGelu},
			"Erf":                {1, 1, 0, unary(real.Erf)},
			"Sin":                {1, 1, 0, unary(real.Sin)},
			"Cos":                {1, 1, 0, unary(real.Cos)},
			"Tan":                {1, 1, 0, unary(tangent)},
			"Asin":               {1, 1, 0, unary(arcSine)},
			"Acos":               {1, 1, 0, unary(arcCosine)},
			"Atan":               {1, 1, 0, unary(real.Atan)},
			"Sinh":               {1, 1, 0, unary(halfOfExps(real.Sub))},
			"Cosh":               {1, 1, 0, unary(halfOfExps(real.Add))},
			"Asinh":              {1, 1, 0, unary(areaSine)},
			"Acosh":              {1, 1, 0, unary(areaCosine)},
			"Atanh":              {1, 1, 0, unary(areaTangent)},
			"IsNaN":              {1, 1, 0, buildNever},
			"IsInf":              {1, 1, 0, buildIsInf},
			"BitwiseNot":         {1, 1, 0, buildBitwiseNot},
			"CastLike":           {2, 2, 0, buildCastLike},
			"Trilu":              {1, 2, TraitKeepsScaledIntegers, buildTrilu},
			"Sum":                {1, 1 << 10, TraitKeepsScaledIntegers, fold(real.Add)},
			"Mean":               {1, 1 << 10, TraitKeepsScaledIntegers, buildMean},
			"Ceil":               {1, 1, 0, unary(rounded(real.TowardsPositiveInf))},
			"Floor":              {1, 1, 0, unary(rounded(real.TowardsNegativeInf))},
			"Round":              {1, 1, 0, unary(rounded(real.HalfEven))},
			"Min":                {1, 1 << 10, bounds, extreme(real.Min, 1)},
			"Max":                {1, 1 << 10, bounds, extreme(real.Max, -1)},
			"Where":              {3, 3, 0, buildWhere},
			"Equal":              {2, 2, 0, comparison(equal)},
			"Greater":            {2, 2, 0, comparison(greater)},
			"GreaterOrEqual":     {2, 2, 0, comparison(greaterOrEqual)},
			"Less":               {2, 2, 0, comparison(less)},
			"LessOrEqual":        {2, 2, 0, comparison(lessOrEqual)},
			"And":                {2, 2, 0, logic(real.Min)},
			"Or":                 {2, 2, 0, logic(real.Max)},
			"Xor":                {2, 2, 0, logic(either)},
			"Not":                {1, 1, 0, buildNot},
			"OneHot":             {3, 3, 0, buildOneHotOf},
			"Mod":                {2, 2, 0, buildMod},
			"Range":              {3, 3, 0, buildRange},
			"Size":               {1, 1, 0, buildSize},
			"Tile":               {2, 2, TraitKeepsScaledIntegers, buildTile},
			"NonZero":            {1, 1, 0, buildNonZero},
			"Softmax":            {1, 1, TraitSoftmax, softmax(false)},
			"LogSoftmax":         {1, 1, TraitSoftmax, softmax(true)},
			"ArgMax":             {1, 1, 0, buildArg(true)},
			"ArgMin":             {1, 1, 0, buildArg(false)},
			"TopK":               {1, 2, 0, buildTopK},
			"Split":              {1, 2, TraitKeepsScaledIntegers, buildSplit},
			"Slice":              {1, 5, TraitKeepsScaledIntegers, buildSlice},
			"Expand":             {2, 2, TraitReshape, buildExpand},
			"ConstantOfShape":    {1, 1, 0, buildConstantOfShape},
			"Dropout":            {1, 3, 0, buildDropout},
			"Scan":               {1, 1 << 10, TraitLoop, buildScan},
			"Loop":               {0, 1 << 10, TraitLoop, buildLoop},
			OpIf:                 {1, 1, 0, buildIf},
			"LSTM":               {3, 8, TraitLoop | TraitNeedsCellFormats, buildRecurrent},
			"GRU":                {3, 6, TraitLoop | TraitNeedsCellFormats, buildRecurrent},
			"RNN":                {3, 6, TraitLoop | TraitNeedsCellFormats, buildRecurrent},
			"Conv":               {2, 3, 0, buildConv},
			"ConvTranspose":      {2, 3, TraitInputChannelsFirst, buildConvTranspose},
			"MaxPool":            {1, 1, 0, buildMaxPool},
			"AveragePool":        {1, 1, 0, buildAveragePool},
			"GlobalMaxPool":      {1, 1, 0, buildGlobalMaxPool},
			"GlobalAveragePool":  {1, 1, 0, buildGlobalAveragePool},
			"Pad":                {1, 4, TraitKeepsScaledIntegers, buildPad},
			"Resize":             {1, 4, 0, buildResize},
			"Upsample":           {1, 2, 0, buildUpsample},
			"DepthToSpace":       {1, 1, 0, buildDepthToSpace},
			"SpaceToDepth":       {1, 1, 0, buildSpaceToDepth},
			"ReduceMean":         {1, 2, 0, reduction("GlobalAveragePool", "Sum")},
			"ReduceSum":          {1, 2, 0, reduction("", "Sum")},
			"ReduceMax":          {1, 2, 0, reduction("GlobalMaxPool", "Max")},
			"ReduceMin":          {1, 2, 0, minimumOver},
			"ReduceProd":         {1, 2, 0, reduction("", "Product")},
			"ReduceL1":           {1, 2, 0, sumOf("", "Abs")},
			"ReduceL2":           {1, 2, 0, sumOf("Sqrt", "Mul")},
			"ReduceSumSquare":    {1, 2, 0, sumOf("", "Mul")},
			"ReduceLogSum":       {1, 2, 0, sumOf("Log")},
			"ReduceLogSumExp":    {1, 2, 0, sumOf("Log", "Exp")},
		},
		QONNX: {
			"Quant":          {4, 4, 0, buildQuant},
			"IntQuant":       {4, 4, 0, buildQuant},
			"FloatQuant":     {6, 6, TraitMinifloatQuantiser, buildFloatQuant},
			"BipolarQuant":   {2, 2, 0, buildBipolarQuant},
			"QuantLSTMCell":  {48, 48, TraitLoop, buildQuantLSTMCell},
			"MultiThreshold": {2, 2, 0, buildMultiThreshold},
			"Trunc":          {5, 6, 0, buildTrunc},
			"DebugMarker":    {1, 1, TraitKeepsScaledIntegers, buildIdentity},
			"Im2Col":         {1, 1, TraitKeepsScaledIntegers | TraitReshape, buildIm2Col},
		},
		// Package canon replaces every quantiser by one of these, which gives the integer code alone, and ordinary
		// arithmetic.
		InternalDomain: {
			"Scan":  {1, 1 << 10, TraitLoop, buildScan},
			"Code":  {3, 3, codes | TraitUniformCodes, buildCode},
			"Sign":  {1, 1, codes | signs, buildSignCode},
			"Trunc": {5, 6, codes, buildTruncCode},
			"Count": {2, 2, codes, buildCountCode},
			"Float": {2, 2, codes | TraitMinifloatCodes, buildFloatCode},
		},
		channelsLast: {},
		microsoft: {
			"Gelu":      {1, 1, 0, unary(gelu)},
			"BiasGelu":  {2, 2, 0, buildBiased(gelu)},
			"FastGelu":  {1, 2, 0, buildBiased(geluTanh)},
			"QuickGelu": {1, 1, 0, buildSwish(1.702)},
		},
		pulp: {"RequantShift": {3, 3, 0, buildRequantShift}},
	}
	operators[""]["RequantShift"] = operators[pulp]["RequantShift"] // some files have it in ONNX' domain
	// QONNX' domain channels_last has ONNX' operators on data whose last axis is the channels. GlobalAveragePool and
	// GlobalMaxPool in it are our own.
	for _, op := range []string{"Conv", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool",
		"BatchNormalization", "Resize"} {
		def := operators[""][op]
		def.is = 0
		operators[channelsLast][op] = def
	}
}

// QONNX is the domain of QONNX' quantisers.
const QONNX = "qonnx.custom_op.general"

// InternalDomain is the domain of operators that only passes create.
const InternalDomain = "hlsgen"

// domainOf returns the name of a domain in the tables. QONNX' domain has had several names. PULP's operators also occur
// in the domain of onnxruntime's extensions.
func domainOf(domain string) string {
	switch domain {
	case "onnx.brevitas", "finn.custom_op.general", "finn", "qonnx":
		return QONNX
	case contrib:
		return pulp
	}
	return domain
}

// IsQuantisationDomain reports whether a domain belongs to QONNX, FINN or Brevitas.
func IsQuantisationDomain(domain string) bool {
	return domainOf(domain) == QONNX || strings.HasPrefix(domain, "qonnx.") || strings.HasPrefix(domain, "finn.")
}

// lookup returns the operator with a name that may occur in graphs.
func lookup(domain, op string) (operator, bool) {
	def, ok := operators[domainOf(domain)][op]
	return def, ok
}

// row returns the operator with a name, including those in parts.
func row(domain, op string) (operator, bool) {
	if def, ok := lookup(domain, op); ok || domain != InternalDomain {
		return def, ok
	}
	def, ok := parts[op]
	return def, ok
}

// KnownOperator reports whether an operator is supported, at least in some forms.
func KnownOperator(domain, op string) bool {
	_, ok := lookup(domain, op)
	return ok
}

// Is reports whether a node's operator has a trait.
func Has(n *graph.Node, t Trait) bool {
	def, _ := row(n.Domain, n.Op)
	return def.is&t != 0
}

// Recurrent reports whether a node is a loop along a sequence.
func IsRecurrent(n *graph.Node) bool { return Has(n, TraitLoop) }

// OperatorNames returns the sorted names of all operators that hlsgen knows, supported or not.
func OperatorNames() []string {
	names := map[string]bool{}
	for _, of := range operators {
		addKeys(names, of)
	}
	for _, of := range composites {
		addKeys(names, of)
	}
	addKeys(names, parts)
	addKeys(names, gaps)
	return slices.Sorted(maps.Keys(names))
}

func addKeys[T any](to map[string]bool, from map[string]T) {
	for name := range from {
		to[name] = true
	}
}

// NewMulByOne returns a node that multiplies a tensor by the constant one. The output has the same values, but can have
// codes of its own.
func NewMulByOne(name, in, one, out string) *graph.Node {
	return &graph.Node{Index: -1, Name: name, Op: OpMul, Inputs: []string{in, one}, Outputs: []string{out}}
}
