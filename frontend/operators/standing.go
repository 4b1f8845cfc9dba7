package operators

import (
	"maps"
	"slices"
	"strings"
)

// A SupportEntry says how some operators are computed, or why they are not supported.
type SupportEntry struct {
	How      string
	Computes bool
	Ops      []string
}

// These texts say what computes a kind of operators, for the list of operators. A quantised operator of onnxruntime has
// the text of the real operator to which it is reduced.
const (
	byStep = "a step function of integers: thresholds of the layer in front, a Thresholding (of values of at most " +
		"16 bits a table), or a Requantization"
	bySum = "with constants a part of step functions and scales; a sum of two tensors is an AddStreams, a product of " +
		"two a MultiplyStreams"
	byProduct = "an MVAU, VVAU or Pool, for a convolution behind a ConvolutionInputGenerator"
	byTotal   = "an MVAU whose weights are ones"
	byWindow  = "a Pool behind a ConvolutionInputGenerator, or a GlobalPool"
	byRow     = "the host, in front of the first quantiser or behind the last layer"
	byMove    = "no layer where elements only change places; else FMPadding, Crop, UpsampleNearestNeighbour, " +
		"StreamingConcat, StreamingSplit, Reorder or FirstLast; a Gather of constant rows is a Lookup"
	byCopies   = "a Reorder that repeats the index, and thresholds, a Thresholding; of the host's integers, the host"
	byCode     = "codes: of the host at the network's inputs, elsewhere of a step function"
	byConstant = "a constant, found while the file is read"
	byBranch   = "the layers of the branch that it takes, where the condition depends on no data"
	byOrder    = "a LabelSelect, or the host"
	bySequence = "an RNN, behind the product with its input; what no layer runs is written out step by step"
)

var standings = []struct{ how, names string }{
	{byStep,
		`Abs Acos Acosh And Asin Asinh Atan Atanh BiasGelu BitwiseNot Cast CastLike Ceil Celu Clip Cos Cosh Elu Equal
		Erf Exp FastGelu Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish IsInf IsNaN LeakyRelu Less
		LessOrEqual Log Max Min Mish Mod Neg Not Or PRelu Pow QLinearLeakyRelu QLinearSigmoid QLinearWhere
		QuickGelu Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh
		ThresholdedRelu Where Xor`},
	{byCopies, opOneHot},
	{bySum,
		`Add BatchNormalization Div Mean Mul QLinearAdd QLinearMul Sub Sum`},
	{byProduct,
		`Conv ConvInteger ConvTranspose FusedConv FusedGemm FusedMatMul Gemm MatMul MatMulInteger MatMulInteger16
		MatMulIntegerToFloat QGemm QLinearConv QLinearMatMul TransposeMatMul XnorPopcountMatMul`},
	{byWindow,
		`AveragePool GlobalAveragePool GlobalMaxPool MaxPool MaxPoolNHWC NhwcMaxPool QLinearAveragePool
		QLinearGlobalAveragePool QLinearReduceMean QuantAvgPool2d ReduceMax ReduceMean ReduceMin`},
	{byTotal,
		`ReduceL1 ReduceLogSum ReduceSum`},
	{byRow,
		`LogSoftmax QLinearSoftmax ReduceL2 ReduceLogSumExp ReduceProd ReduceSumSquare Softmax Trilu`},
	{byMove,
		`Concat DebugMarker DepthToSpace Dropout Expand Flatten Gather Identity Im2Col Pad QLinearConcat Reshape
		Resize Slice SpaceToDepth Split Squeeze Tile Transpose Unsqueeze Upsample`},
	{byCode,
		`BipolarQuant DequantizeLinear FloatQuant IntQuant MultiThreshold Quant QuantizeLinear RequantShift Trunc`},
	{byConstant,
		`Constant ConstantOfShape NonZero Range Shape Size`},
	{byBranch, OpIf},
	{byOrder,
		`ArgMax ArgMin TopK`},
	{bySequence,
		`GRU LSTM Loop QuantLSTMCell RNN Scan`},
}

// SupportEntriesOf returns texts that say how the operators of a domain are computed. unknown holds the names for which
// it has no text.
func SupportEntriesOf(domain string, names []string) (list []SupportEntry, unknown []string) {
	at := map[string]int{}
	add := func(how string, computes bool, op string) {
		if _, ok := at[how]; !ok {
			at[how] = len(list)
			list = append(list, SupportEntry{How: how, Computes: computes})
		}
		list[at[how]].Ops = append(list[at[how]].Ops, op)
	}
	for _, s := range standings {
		of := strings.Fields(s.names)
		for _, op := range names {
			if slices.Contains(of, op) && understood(domain, op) {
				add(s.how, true, op)
			}
		}
	}
	for _, op := range names {
		switch g, ok := gaps[op]; {
		case understood(domain, op):
			if !slices.ContainsFunc(list, func(s SupportEntry) bool { return slices.Contains(s.Ops, op) }) {
				unknown = append(unknown, op)
			}
		case ok:
			add("part of "+g.what+"; "+g.needs, false, op)
		case op == "GenericPartition":
			add("a partition that FINN has put into a file of its own; give the file of an earlier step", false, op)
		default:
			unknown = append(unknown, op)
		}
	}
	return list, unknown
}

// understood reports whether an operator is supported, directly or as a composite of others.
func understood(domain, op string) bool {
	_, written := composites[domainOf(domain)][op]
	return written || IsSupportedOperator(domain, op)
}

// SupportedOperators returns the sorted names of the supported operators of a domain.
func SupportedOperators(domain string) []string {
	names := map[string]bool{}
	addKeys(names, operators[domainOf(domain)])
	addKeys(names, composites[domainOf(domain)])
	return slices.Sorted(maps.Keys(names))
}
