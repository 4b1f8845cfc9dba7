package graph

import (
	"fmt"
	"strconv"
	"strings"

	"hlsgen/internal/diag"
)

// A gap is a family of operators that we know and do not support: what it is, and what it would take.
type gap struct{ what, needs string }

var (
	attention = gap{"attention",
		"products of two tensors of data, a softmax over rows and normalisation in integers would be needed: run " +
			"transformer blocks elsewhere, or replace them by convolutions or an MLP mixer"}
	normalisation = gap{"normalisation by statistics of the data",
		"a mean and a root per sample would be needed in integers: train with BatchNormalization, whose statistics " +
			"are constants"}
	controlFlow = gap{"control flow that depends on data",
		"the hardware has one fixed schedule: export the model with the branch or the loop resolved"}
	convolution = gap{"a convolutional network that samples at places which depend on data",
		"a gather of pixels would be needed: use Conv and Resize with mode nearest"}
	norms     = gap{"pooling by norms", "powers and roots of every window would be needed: use MaxPool or AveragePool"}
	unpooling = gap{"unpooling",
		"the places of the maxima would have to travel along: use Resize with mode nearest, or ConvTranspose"}
	dynamic = gap{"dynamic quantisation, whose scales and zero points come from the data of each run",
		"freeze them on samples: quantise with onnxruntime's quantize_static, or any other static quantisation, " +
			"instead of quantize_dynamic"}
	weightsOnly = gap{"quantisation of the weights alone",
		"the activations stay floats, and integers times floats have no layer: quantise both, with onnxruntime's " +
			"quantize_static"}
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
	"QOrderedAttention": attention, "QOrderedLongformerAttention": attention, "QOrderedMatMul": attention,
	"QOrderedGelu": attention, "QMoE": attention, "QOrderedLayerNormalization": normalisation,
	"QEmbedLayerNormalization": normalisation, "EmbedLayerNormalization": normalisation,
	"DynamicQuantizeLinear": dynamic, "DynamicQuantizeMatMul": dynamic, "DynamicQuantizeLSTM": dynamic,
	"MatMulNBits": weightsOnly, "MatMulBnb4": weightsOnly, "MatMulFpQ4": weightsOnly,
	"If": controlFlow, "SequenceMap": controlFlow,
	"DeformConv": convolution, "GridSample": convolution, "MaxRoiPool": convolution, "AffineGrid": convolution,
	"LpPool": norms, "GlobalLpPool": norms, "MaxUnpool": unpooling,
	"NonMaxSuppression": embedding, "RoiAlign": embedding, "TfIdfVectorizer": embedding, "StringNormalizer": embedding,
}

// unknown is the refusal of an operator without a definition. inputs says that they are known: where they are not, a
// form that is not understood is no reason of its own.
func unknown(n *Node, inputs bool) {
	if g, ok := gaps[n.Op]; ok {
		panic(&reject{diag.OpUnsupported, fmt.Sprintf("this is part of %s, which is not supported", g.what), g.needs,
			g.what})
	}
	if _, ok := compositeOf(n); ok {
		if !inputs {
			panic(reported)
		}
		unsupported("export it as QuantizeLinear and DequantizeLinear around the real operator, with "+
			"constant zero points", "this form of the operator, with %d inputs, is not understood", len(n.Inputs))
	}
	msg, hint := "no such operator is known", "rewrite the model without it, or run this part outside the accelerator"
	for domain, of := range operators {
		if _, ok := of[n.Op]; ok && domain != n.Domain {
			msg, hint = msg+" in this domain, but in another", "check the custom domains that the exporter writes"
			break
		}
	}
	panic(&reject{diag.OpUnsupported, msg, hint, n.FullOp()})
}

// A causes list is diagnostics of nodes with one cause each: there is one for all of them.
type causes map[string]*cause

type cause struct {
	at    int // in the list of diagnostics
	nodes []string
}

// add is the diagnostic of one more node.
func (c causes) add(why string, x diag.Diag, d *diag.List) {
	if known := c[why]; known != nil {
		node := strconv.Quote(x.Node)
		if x.Op != d.Diags[known.at].Op {
			node = x.Op + " " + node
		}
		known.nodes = append(known.nodes, node)
		return
	}
	c[why] = &cause{len(d.Diags), nil}
	d.Add(x)
}

// shownNodes is how many nodes of one cause are named.
const shownNodes = 4

// tell says of which nodes besides the first a diagnostic is.
func (c causes) tell(d *diag.List) {
	for _, known := range c {
		n := len(known.nodes)
		if n == 0 {
			continue
		}
		note := strings.Join(known.nodes[:min(n, shownNodes)], ", ")
		if n > shownNodes {
			note = fmt.Sprintf("%s and %d more", note, n-shownNodes)
		}
		x := &d.Diags[known.at]
		x.Msg = fmt.Sprintf("%s (%d nodes)", x.Msg, n+1)
		x.Notes = append(x.Notes, note)
	}
}
