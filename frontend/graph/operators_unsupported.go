package graph

// A gap is a family of operators that we know and do not support: what it is, and what it would take.
type gap struct{ what, needs string }

var (
	attention = gap{"attention",
		"products of two tensors of data, a softmax over rows and normalisation in integers would be needed: run " +
			"transformer blocks elsewhere, or replace them by convolutions or an MLP mixer"}
	normalisation = gap{"normalisation by statistics of the data",
		"a mean and a root per sample would be needed in integers: train with BatchNormalization, whose statistics " +
			"are constants"}
	recurrence = gap{"a recurrent network of a kind that has no layer",
		"quantise an LSTM, a GRU or an RNN with constant parameters, or write the cell as the body of a Scan"}
	controlFlow = gap{"control flow that depends on data",
		"the hardware has one fixed schedule: export the model with the branch or the loop resolved"}
	convolution = gap{"a convolutional network that samples at places which depend on data",
		"a gather of pixels would be needed: use Conv and Resize with mode nearest"}
	norms     = gap{"pooling by norms", "powers and roots of every window would be needed: use MaxPool or AveragePool"}
	unpooling = gap{"unpooling",
		"the places of the maxima would have to travel along: use Resize with mode nearest, or ConvTranspose"}
	embedding = gap{"detection or text processing on the host's side",
		"keep this part out of the exported model and run it on the host"}
)

// gaps names the operators of each family.
var gaps = map[string]gap{
	"Attention": attention, "MultiHeadAttention": attention, "QAttention": attention, "Einsum": attention,
	"RotaryEmbedding": attention, "GroupQueryAttention": attention,
	"LayerNormalization": normalisation, "SkipLayerNormalization": normalisation,
	"SimplifiedLayerNormalization": normalisation, "RMSNormalization": normalisation,
	"InstanceNormalization": normalisation, "GroupNormalization": normalisation,
	"MeanVarianceNormalization": normalisation, "LpNormalization": normalisation, "LRN": normalisation,
	"DynamicQuantizeLSTM": recurrence,
	"If":                  controlFlow, "Loop": controlFlow, "SequenceMap": controlFlow,
	"DeformConv": convolution, "GridSample": convolution, "MaxRoiPool": convolution, "AffineGrid": convolution,
	"LpPool": norms, "GlobalLpPool": norms, "MaxUnpool": unpooling,
	"NonMaxSuppression": embedding, "RoiAlign": embedding, "TfIdfVectorizer": embedding, "StringNormalizer": embedding,
}

// unknown is the refusal of an operator without a definition.
func unknown(n *Node) {
	if g, ok := gaps[n.Op]; ok {
		unsupported(g.needs, "this is part of %s, which is not supported", g.what)
	}
	if _, ok := composites[n.Domain][n.Op]; ok {
		unsupported("export it as QuantizeLinear and DequantizeLinear around the real operator, with "+
			"constant zero points", "this form of the operator, with %d inputs, is not understood", len(n.Inputs))
	}
	for domain, of := range operators {
		if _, ok := of[n.Op]; ok && domain != n.Domain {
			unsupported("check the custom domains that the exporter writes",
				"no such operator is known in this domain, but in another")
		}
	}
	unsupported("rewrite the model without it, or run this part outside the accelerator",
		"no such operator is known")
}
