package lower

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/add"
	"hlsgen/hlslib/concat"
	"hlsgen/hlslib/crop"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/labelselect"
	"hlsgen/hlslib/mul"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pad"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/reorder"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/rnn"
	"hlsgen/hlslib/split"
	"hlsgen/hlslib/swg"
	"hlsgen/hlslib/threshold"
	"hlsgen/hlslib/upsample"
	"hlsgen/hlslib/vvau"
	"hlsgen/internal/dataflow"
)

// A turn is how a layer takes the samples of a frame. One that computes each vector apart takes any parts of whole
// vectors, and its outputs have as many. A recurrence and a window over time take the parts in before, and a
// reordering any.
type turn struct {
	op      dataflow.Op // for all samples; none for a reordering
	vectors int         // of a sample, each of which is computed apart, else 0
	before  []int       // else: parts, by input; of a reordering, those that suit it best, 0 for any
	after   int         // parts of the outputs
	image   bool        // it slides along the parts: they are the rows of an image, and the samples its columns
	shaped  bool        // the inputs' axes matter
}

// turn is how a node takes the samples, or the reason why it does not.
func (t *interleaver) turn(n *dataflow.Node) (as turn, reason string) {
	in, out := t.shape(n.In[0]), t.shape(n.Out[0])
	apart := func(vectors int) (turn, string) {
		return turn{op: n.Op, vectors: vectors, shaped: len(n.In) > 1}, ""
	}
	switch p := n.Op.Params().(type) {
	case rnn.Params:
		as.before, as.after = slices.Repeat([]int{1}, len(n.In)), 1 // an initial state is one vector
		as.before[0] = in.Vectors()
		if p.Sequence {
			as.after = as.before[0]
		}
		p.Sequences = t.turns.Samples
		as.op = rnn.New(p)
		return as, ""
	case reorder.Params: // where steps stay steps, it moves elements within one
		if behind := t.wanted(n); behind > 0 && in.Vectors()%behind == 0 {
			return turn{before: []int{behind}}, ""
		}
		return turn{before: []int{0}}, ""
	case dup.Params:
		if wanted := t.wanted(n); wanted > 0 && t.agree(n) { // so that one reordering serves all readers
			return turn{op: n.Op, before: []int{wanted}, after: wanted}, ""
		}
		return apart(in.Size())
	case split.Params:
		return apart(in.Vectors())
	case mvau.Params, vvau.Params, pool.Params, labelselect.Params, add.Params, concat.Params:
		return apart(out.Vectors())
	case threshold.Params:
		return apart(in.Size() / max(in.Channels(), len(p.Steps)))
	case requant.Params:
		return apart(in.Size() / max(in.Channels(), len(p.Multiplier), len(p.Bias)))
	case mul.Params:
		if t.shape(n.In[1]).Size() == in.Size() {
			return apart(out.Vectors())
		}
		return as, "one vector of a sample multiplies all others"
	case swg.Params, pad.Params, crop.Params, upsample.Params:
		for axis := range in[:2] {
			if as, ok := slides(p, axis, in, out, t.turns.Samples); ok {
				return as, ""
			}
		}
		return as, "it works along rows and columns; samples take turns where it works along a line of steps"
	default:
		return as, fmt.Sprintf("it computes with several vectors of a sample at a time (%T)", p)
	}
}

// slides is how a layer of images takes the samples where each is a line of pixels along an axis: they become the
// columns of an image, along whose rows the layer does what it did along the line. It reports whether each is.
func slides(params any, axis int, in, out dataflow.Shape, samples int) (as turn, ok bool) {
	across := 1 - axis
	if in[across] != 1 || out[across] != 1 {
		return as, false
	}
	along := func(v [2]int, columns int) [2]int { return [2]int{v[axis], columns} }
	as = turn{before: []int{in[axis]}, after: out[axis], image: true, shaped: true}
	switch p := params.(type) {
	case swg.Params:
		if p.Kernel[across] != 1 {
			return as, false // its padding has weights
		}
		p.Kernel, p.Stride, p.Dilation = along(p.Kernel, 1), along(p.Stride, 1), along(p.Dilation, 1)
		p.Before, p.After = along(p.Before, 0), along(p.After, 0)
		as.op = swg.New(p)
	case pad.Params:
		p.Before, p.After, p.Between = along(p.Before, 0), along(p.After, 0), along(p.Between, 0)
		as.op = pad.New(p)
	case crop.Params:
		p.Start, p.Stop, p.Step = along(p.Start, 0), along(p.Stop, samples), along(p.Step, 1)
		as.op = crop.New(p)
	case upsample.Params:
		p.Scale = along(p.Scale, 1)
		as.op = upsample.New(p)
	}
	return as, true
}

// wants is the parts in which a layer would best have an input where the readers of its outputs want so many; 0 for
// any.
func (as turn) wants(input, behind int) int {
	switch {
	case as.vectors == 0:
		return as.before[input]
	case as.vectors == 1:
		return 1
	case behind > 0 && as.vectors%behind == 0:
		return behind
	}
	return 0
}

// wanted is the parts that the readers of a node's outputs want; 0 for any.
func (t *interleaver) wanted(n *dataflow.Node) int {
	for _, s := range n.Out {
		if t.wants[s] > 0 {
			return t.wants[s]
		}
	}
	return 0
}

// agree reports whether the readers of all outputs of a node want the same parts.
func (t *interleaver) agree(n *dataflow.Node) bool {
	return !slices.ContainsFunc(n.Out, func(s int) bool { return t.wants[s] != t.wants[n.Out[0]] })
}

// common is the parts in which all inputs of a layer that computes so many vectors apart best lie: those of one of
// them, or else those that the readers of its outputs want.
func (t *interleaver) common(n *dataflow.Node, vectors int) int {
	for _, s := range n.In {
		if vectors%t.parts[s] == 0 {
			return t.parts[s]
		}
	}
	return max(1, (turn{vectors: vectors}).wants(0, t.wanted(n)))
}

// behind is the parts of a reordering's output: those that its reader wants, or else as they are in front of it.
func (t *interleaver) behind(n *dataflow.Node) int {
	if wanted := t.wanted(n); wanted > 0 {
		return wanted
	}
	if parts := t.parts[n.In[0]]; t.shape(n.Out[0]).Vectors()%parts == 0 {
		return parts
	}
	return 1
}
