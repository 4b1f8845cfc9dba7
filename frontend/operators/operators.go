// Package operators knows the operators of ONNX and of its dialects. Prepare turns a graph into a program: it finds
// every shape, and reduces each operator to steps of five forms. Only this package knows operators by name; other
// packages ask for their traits.
//
// A file rests on those before it, with few exceptions. Files without a word define the operators of their name: each
// definition builds the steps of a node.
//
//	gaps         operators that are not supported, and what to do instead
//	refusal      reasons why a node is not supported
//	strides      index tables that nodes share
//	traits       what other code asks of operators, and their names
//	preparation  a program while it is prepared
//	composite    operators that are first replaced by others
//	dynamic      quantisers whose scales come from the data
//	reading      a node with what is known of its inputs
//	limits       limits of resources
//	call         the steps of a node
//	formats      formats of cells' gates, from --lstm-config and --cell-config
//	order        sorting
//	bind         sizes that the file leaves open
//	expand       internal nodes that stand for a node
//	activation
//	window       windows of convolutions and pools
//	finn         FINN's operators, and the steps of FINN's build
//	quant        quantisers
//	pulp         PULP's operators
//	minifloat    quantisers to minifloats
//	unsupported  messages for operators that are not supported
//	weights      recovery of weights that were rounded to float32
//	prepare      Prepare
//	arithmetic
//	again        reuse of steps after nodes were replaced
//	lstm         Brevitas' LSTM cell
//	slice, blocks
//	cell         the cells of LSTM, GRU and RNN as the bodies of loops
//	coding       quantisers split into a code and its value, for canon
//	units        real values of the codes of constants
//	infinite     operators that compute with infinities
//	move
//	fused        onnxruntime's fused products
//	image, logic
//	qonnx        QONNX' operators
//	recur        loops
//	loop         Loop, as a Scan
//	conv, pool, curves
//	branches     each If with a known condition, replaced by the nodes of its branch
//	reduce, recurrent
//	operators    the table of operators
//	standing     how each operator is computed, for the list of operators
//	role         what operators do with codes, for the placement of quantisers
//	shapes       shapes that users give
package operators

import (
	"maps"
	"slices"

	"hlsgen/frontend/real"
)

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
			"Add": {2, 2, TraitKeepsScaledIntegers, binary(real.Add)},
			"Sub": {2, 2, TraitKeepsScaledIntegers | ofCodes, binary(real.Sub)},
			"Mul": {2, 2, TraitKeepsScaledIntegers | ofCodes, binary(real.Mul)},
			"Div": {2, 2, TraitKeepsScaledIntegers, buildDiv},
			"Pow": {2, 2, 0, buildPow},
			"Relu": {1, 1, 0, unary(func(x *real.Expr) *real.Expr {
				return real.Max(x,
					real.ConstantExprOfFloat(0))
			})},
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
			"Ceil":               {1, 1, 0, unary(rounded(real.RoundingModeTowardsPositiveInf))},
			"Floor":              {1, 1, 0, unary(rounded(real.RoundingModeTowardsNegativeInf))},
			"Round":              {1, 1, 0, unary(rounded(real.RoundingModeHalfEven))},
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
		QONNXDomain: {
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
	// QONNXDomain' domain channels_last has ONNX' operators on data whose last axis is the channels. GlobalAveragePool
	// and GlobalMaxPool in it are our own.
	for _, op := range []string{"Conv", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool",
		"BatchNormalization", "Resize"} {
		def := operators[""][op]
		def.is = 0
		operators[channelsLast][op] = def
	}
}

// KnownOperatorNames returns the sorted names of all operators that hlsgen knows, supported or not.
func KnownOperatorNames() []string {
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
