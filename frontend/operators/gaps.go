package operators

import "strings"

// A gap is a family of operators that hlsgen knows but does not support: its name, what support would need, and the
// names of its operators, in any domain.
type gap struct{ what, needs, names string }

var families = []gap{
	{"attention",
		"products of two tensors of data, a softmax over rows and normalisation in integers would be needed: run " +
			"transformer blocks elsewhere, or replace them by convolutions or an MLP mixer",
		`Attention AttnLSTM DecoderAttention DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention Einsum
		FlexAttention GatedDeltaNet GatedRelativePositionBias GemmaRotaryEmbedding GroupQueryAttention ITAMax
		LinearAttention LinearAttentionGate LongformerAttention MRotaryEmbedding MoE MultiHeadAttention
		PackedAttention PackedMultiHeadAttention PagedAttention QAttention QMoE QOrderedAttention QOrderedGelu
		QOrderedLongformerAttention QOrderedMatMul RelativePositionBias RotaryEmbedding SparseAttention BiasSoftmax
		BiasSplitGelu iGELU iSoftmax`},
	{"normalisation by statistics of the data",
		"a mean and a root per sample would be needed in integers: train with BatchNormalization, whose statistics " +
			"are constants",
		`EmbedLayerNormalization GatedRMSNorm GroupNorm GroupNormalization InstanceNormalization LRN
		LayerNormalization LpNormalization MeanVarianceNormalization QEmbedLayerNormalization
		QOrderedLayerNormalization RMSNormalization SimplifiedLayerNormalization SkipGroupNorm
		SkipLayerNormalization SkipSimplifiedLayerNormalization iLayerNorm IntegerMean`},
	{"control flow that depends on data",
		"the hardware has one fixed schedule: export the model with the branch or the loop resolved",
		`BeamSearch BifurcationDetector GreedySearch NGramRepeatBlock Sampling SequenceMap WhisperBeamSearch`},
	{"a convolutional network that samples at places which depend on data",
		"a gather of pixels would be needed: use Conv and Resize with mode nearest",
		`AffineGrid CropAndResize DeformConv GridSample MaxRoiPool ConvTransposeWithDynamicPads`},
	{"pooling by norms", "powers and roots of every window would be needed: use MaxPool or AveragePool",
		`GlobalLpPool LpPool`},
	{"unpooling",
		"the places of the maxima would have to travel along: use Resize with mode nearest, or ConvTranspose",
		`MaxUnpool MaxpoolWithMask`},
	{"dynamic quantisation, whose scales and zero points come from the data of each run",
		"freeze them on samples: quantise with onnxruntime's quantize_static, or any other static quantisation, " +
			"instead of quantize_dynamic",
		`DynamicQuantizeLSTM DynamicQuantizeLinear DynamicQuantizeMatMul`},
	{"quantisation of the weights alone",
		"the activations stay floats, and integers times floats have no layer: quantise both, with onnxruntime's " +
			"quantize_static",
		`DequantizeBFP DequantizeWithOrder GatherBlockQuantized GemmFloat8 MatMulBlockQuantizedFp4Weight
		MatMulBlockQuantizedFp8Weight MatMulBnb4 MatMulFpQ4 MatMulNBits MatMulNBitsMlp MatMulNBitsQkv QuantizeBFP
		QuantizeWithOrder`},
	{"detection or text processing on the host's side",
		"keep this part out of the exported model and run it on the host",
		`DynamicTimeWarping ImageDecoder MurmurHash3 NGramHashMapping NonMaxSuppression RegexFullMatch RoiAlign
		StringConcat StringNormalizer StringSplit TfIdfVectorizer Tokenizer VarlenNGramHashMapping WordConvEmbedding
		EngramGate`},
	{"random numbers", "a network on hardware is a function of its inputs: export the model in inference mode",
		`Bernoulli BiasDropout BitmaskBiasDropout BitmaskDropout Multinomial RandomNormal RandomNormalLike
		RandomUniform RandomUniformLike`},
	{"training", "export the model for inference, without its loss",
		`Adagrad Adam Gradient Momentum NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss`},
	{"sequences, optional values and text, which are no tensors of numbers",
		"export the model with tensors of fixed shapes alone",
		`ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty
		SequenceErase SequenceInsert SequenceLength SplitToSequence`},
	{"signal processing by spectra", "compute the spectrum on the host, and feed it to the network",
		`BlackmanWindow ComplexMul ComplexMulConj DFT HammingWindow HannWindow Irfft MelWeightMatrix Rfft STFT`},
	{"moving elements to places that depend on data",
		"the hardware moves elements along fixed ways: use Gather, Slice, Concat or Pad with constant indices",
		`CenterCropPad Compress GatherElements GatherND RemovePadding RestorePadding ReverseSequence Scatter
		ScatterElements ScatterND TensorScatter TorchEmbedding Unique`},
	{"logic of single bits", "write it with comparisons and arithmetic on whole numbers",
		`BitCast BitShift BitwiseAnd BitwiseOr BitwiseXor`},
	{"linear algebra", "inverses, determinants and distances of data have no layer: keep this part on the host",
		`CDist Det Inverse SparseToDenseMatMul`},
	{"running sums", "write it as a MatMul with a constant triangle of ones", `CumProd CumSum`},
	{"sums of windows that overlap", "use ConvTranspose", `Col2Im UnfoldTensor`},
	{"vectors with a single one", "use ArgMax, or Gather rows of a constant identity matrix", `Hardmax`},
	{"constants that are computed", "simplify the model before, for example with onnxsim", `EyeLike`},
	{"convolutions with a state that is kept elsewhere", "use Conv, and --stateful for what is kept",
		`CausalConvWithState VarlenCausalConvWithState`},
	{"what one other engine makes of a model for itself",
		"export the model for onnxruntime's CPU, without its own optimisations",
		`BiasAdd EPContext ExpandDims FusedMatMulActivation GatedAdd GemmFastGelu IsAllFinite MulInteger NhwcConv
		NhwcFusedConv ReduceSumInteger SampleOp Snpe`},
}

// gaps maps the name of each operator that hlsgen knows and does not support to its family.
var gaps = byName(families)

func byName(families []gap) map[string]gap {
	all := map[string]gap{}
	for _, g := range families {
		for _, name := range strings.Fields(g.names) {
			all[name] = g
		}
	}
	return all
}
