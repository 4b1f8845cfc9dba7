package finn

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hlsgen/hlslib"
	"hlsgen/internal/diag"
	"hlsgen/internal/suggest"
)

// This file lists the kinds and attributes that FINN's files may have and that hlsgen ignores, to tell them from typos.
// They come from FINN's operators (github.com/Xilinx/finn, src/finn/custom_op/fpgadataflow, both of its branches) and
// from files of its builds.

// finnOnly lists kinds of layers that FINN has and hlsgen does not. Kinds that hlsgen inserts by itself are in derived.
var finnOnly = slices.Concat(
	// elementwise operators, and their earlier names
	strings.Fields(`ChannelwiseOp StreamingEltwise ElementwiseSub ElementwiseAbsDiff ElementwiseDiv ElementwiseMax
		ElementwiseMaximum ElementwiseMinimum ElementwiseAnd ElementwiseOr ElementwiseXor ElementwiseEqual
		ElementwiseLess ElementwiseLessOrEqual ElementwiseGreater ElementwiseGreaterOrEqual ElementwiseBitwiseAnd
		ElementwiseBitwiseOr ElementwiseBitwiseXor ElementwiseBitShift ElementwiseFloat2Int`),
	// shapes and order
	strings.Fields(`Reshape Squeeze Unsqueeze Shuffle InnerShuffle OuterShuffle DownSampler Pad1D ReplicateStream
		Deconvolution`),
	// transformers
	strings.Fields(`HWSoftmax QuantSoftmax QuantMaxNorm HWReduceMax LayerNorm DynMVAU ScaledDotProductAttention
		SplitMultiHeads MergeMultiHeads AddCLSToken SelectToken Where HWWhere PWPolyF FINNLoop`),
	// around a design
	strings.Fields(`CheckSum StreamingDataflowPartition ACCLIn ACCLOut`),
)

// finnAttributes lists attributes of FINN's layers that ask for nothing: they follow from the network or record what
// FINN did.
var finnAttributes = slices.Concat(
	// of FIFOs, width converters and ports
	strings.Fields(`depth impl_style depth_monitor folded_shape normal_shape shape inWidth outWidth streamWidth
		intfWidth burstMode direction intfName NumIters Protocol DynIters ElemWidth StreamWidth`),
	// data types
	strings.Fields(`inputDataType weightDataType outputDataType accDataType thresholdDataType dataType paramDataType
		inputDataTypes lhs_dtype rhs_dtype out_dtype lhs_style rhs_style`),
	// shapes and functions
	strings.Fields(`MW MH numInputVectors NumChannels Channels ChannelsPerStream NumOutputStreams numSteps ActVal
		binaryXnorMode noActivation Dim Kernel ConvKernelDim IFMChannels IFMDim OFMDim Stride Dilation depthwise is1D Padding
		ImgDim OutImgDims PoolDim KernelSize Size Function AccumBits BatchSize CeilMode PaddingMode K Labels Func
		Scale HO WO HI WI NumEmbeddings EmbeddingDim EmbeddingType InputType InputShape ext_mem_width lhs_shape
		rhs_shape out_shape numInputs input_shape output_shape perm axes epsilon`),
	// records of tools
	strings.Fields(`code_gen_dir_ipgen code_gen_dir_cppsim executable_path ipgen_path ip_path ip_vlnv gen_top_module
		cpp_interface hls_style cycles_rtlsim cycles_estimate rtlsim_trace rtlsim_so res_estimate res_hls res_synth
		output_hook io_chrc_in io_chrc_out io_chrc_period io_chrc_pads_in io_chrc_pads_out mlo_max_iter address_map`),
)

// known lists the attributes of a layer that a folding file may have with effect.
var known = []string{"PE", "SIMD", "parallel_window", "ram_style", "resType", "steps", "mem_mode",
	"inFIFODepths", "outFIFODepths", "inFIFOMemory", "outFIFOMemory"}

// knownAre returns a hint that lists the known attributes.
func knownAre() string {
	last := len(known) - 1
	return "known are " + strings.Join(known[:last], ", ") + " and " + known[last]
}

// useless adds a diagnostic for an attribute without effect: a note for what belongs elsewhere, a warning for what only
// FINN knows. Any other is an error, since it is a typo, and the user would lose what it asks for.
func (r *reader) useless(attr string) {
	a := r.unused[attr]
	times := ""
	if a.times > 1 {
		times = fmt.Sprintf(" (%d times)", a.times)
	}
	switch {
	case slices.Contains(elsewhere, attr):
		r.d.Add(fileDiag(diag.SeverityNote, "", fmt.Sprintf("%q has no effect%s", attr, times),
			"back end and floor plan are left to the vendor's tool"))
	case slices.Contains(finnAttributes, attr):
		r.d.Add(fileDiag(diag.SeverityWarning, "", fmt.Sprintf("%q has no effect%s: FINN alone knows it", attr, times),
			knownAre()))
	default:
		hint := knownAre()
		if n := suggest.NearestWord(attr, slices.Concat(known, elsewhere, slices.Sorted(maps.Keys(neutral)))); n != "" {
			hint = fmt.Sprintf("did you mean %s? %s", n, hint)
		}
		r.fail(a.first, fmt.Sprintf("no layer has an attribute %s%s", show(attr), times), hint)
	}
}

// isKind reports whether hlsgen or FINN has layers of the given kind, by our name for it.
func isKind(kind string) bool { return slices.Contains(kindNames(), kind) }

// kindNames returns the kinds of layers of hlsgen, those that hlsgen inserts by itself, and those that only FINN has,
// under our names.
func kindNames() (names []string) {
	for _, k := range hlslib.LayerKinds {
		names = append(names, k.Name)
	}
	return slices.Concat(names, derived, finnOnly)
}
