package find

import (
	"cmp"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
)

// SlidingWindowOf returns the window of a step over the image, as package choose describes it.
func (im *PaddedImage) SlidingWindowOf(win *program.Window) choose.SlidingWindow {
	covers := im.Before == [2]int{} && im.After == [2]int{} && win.Kernel == [2]int{im.H, im.W} &&
		win.Dilation == [2]int{1, 1}
	return choose.SlidingWindow{Window: win, Channels: im.C, Covers: covers}
}

// channel returns the constant of channel c if that was left out of the tensor, and otherwise the channel's number
// among those that remain.
func (im *PaddedImage) channel(c int) (constant *big.Rat, kept int) {
	if im.constants == nil {
		return nil, c
	}
	if v := im.constants[c]; v != nil {
		return v, 0
	}
	for _, v := range im.constants[:c] {
		if v == nil {
			kept++
		}
	}
	return nil, kept
}

// ConvolutionTerms describes the terms of a convolution's sum over the channels of a group.
type ConvolutionTerms struct {
	image   *PaddedImage
	window  *program.Window
	dot     *program.Dot
	weights *graph.ConstantTensor
	columns ChannelLayout
}

// ConvolutionTermsOf returns the terms that a convolution with the weights w adds up for one output.
func (im *PaddedImage) ConvolutionTermsOf(step *program.Step, w *graph.ConstantTensor) *ConvolutionTerms {
	return &ConvolutionTerms{im, step.Window, step.Dot, w, ChannelLayoutOf(step.Window, step.Shape)}
}

// ScalePerTerm returns the scale of every channel of a group, nil for constants. ok is false if groups have different
// scales.
func (t *ConvolutionTerms) ScalePerTerm() (scales []*big.Rat, ok bool) {
	scales = make([]*big.Rat, t.window.Depth)
	for c := range t.window.Depth * t.window.Group {
		v, kept := t.image.channel(c)
		if v != nil {
			continue
		}
		scale, at := scaleOf(t.image.Affine[kept], t.image.always[kept]), c%t.window.Depth
		if scale != nil && scales[at] != nil && scales[at].Cmp(scale) != 0 {
			return nil, false
		}
		scales[at] = cmp.Or(scales[at], scale)
	}
	return scales, true
}

// WeightBlockOfEachTerm returns the block of weights to which each channel belongs, and the number of blocks
// (integers.GroupElementsByWeightUnit).
func (t *ConvolutionTerms) WeightBlockOfEachTerm() (of []int, count int) {
	all := make([]float64, t.window.KernelPositionCount())
	return integers.GroupElementsByWeightUnit(t.window.Depth, t.columns.N, func(k, c int) []float64 {
		for i := range all {
			all[i] = t.weight(i*t.window.Depth+k, c)
		}
		return all
	})
}

// HasBlocksPerTap reports whether the weights form blocks that differ between positions of the kernel.
func (t *ConvolutionTerms) HasBlocksPerTap() bool {
	one := make([]float64, 1)
	_, count := integers.GroupElementsByWeightUnit(t.dot.K, t.columns.N, func(k, c int) []float64 {
		one[0] = t.weight(k, c)
		return one
	})
	return count > 1
}

// weight returns the weight of term k in column c.
func (t *ConvolutionTerms) weight(k, c int) float64 {
	return t.weights.FloatAt(int(t.dot.BBase.At(c*t.columns.Stride) + t.dot.BOffset[k]))
}

// A group holds, for the outputs of one group of channels, the scales and biases of what their weights multiply.
type group struct {
	data      []int // terms of the sum that depend on data
	constants []int // constant terms
	values    []*big.Rat
	inputs    *integers.InputAffines // inputs that are data
}

// group returns the inputs of a group of k terms, whose channels begin with number first.
func (im *PaddedImage) group(win *program.Window, k, first int) *group {
	g := &group{}
	in, always := make([]real.Affine, 0, k), make([]*big.Rat, 0, k)
	for k := range k {
		_, _, at := win.KernelTapOfTerm(k)
		v, kept := im.channel(first + at)
		if v != nil {
			g.constants, g.values = append(g.constants, k), append(g.values, v)
			continue
		}
		g.data, in, always = append(g.data, k), append(in, im.Affine[kept]), append(always, im.always[kept])
	}
	g.inputs = inputs(in, always)
	return g
}

// likeBefore reports whether the channels of a group, from channel first on, equal those of the group before, so
// that equal weights give equal results.
func (im *PaddedImage) likeBefore(win *program.Window, first int) bool {
	if im.constants != nil {
		return false
	}
	for c := first; c < first+win.Depth; c++ {
		last := c - win.Depth
		if a, b := im.always[c], im.always[last]; (a == nil) != (b == nil) || a != nil && a.Cmp(b) != 0 ||
			!same(im.Affine[c], im.Affine[last]) {
			return false
		}
	}
	return true
}

// ConvolutionProduct returns the product of the image's windows with weights. of holds the real values of the outputs.
// reject is the reason why the weights of an output are no integers with one scale.
func (im *PaddedImage) ConvolutionProduct(step *program.Step, w *graph.ConstantTensor) (m choose.MatrixProduct,
	of scaled.AffinesOfElements, reject error) {
	d, win := step.Dot, step.Window
	channels := ChannelLayoutOf(win, step.Shape)
	window := im.SlidingWindowOf(win)
	m = choose.MatrixProduct{Groups: win.Group, Window: &window}
	each := channels.N / win.Group
	var g *group
	var row []int64 // of the channel before
	var f real.Affine
	weights, before := make([]float64, 0, d.K), make([]float64, 0, d.K)
	for c := range channels.N {
		if first := c / each * win.Depth; c%each == 0 && (g == nil || !im.likeBefore(win, first)) {
			g, row = im.group(win, d.K, first), nil
		}
		base := int(d.BBase.At(c * channels.Stride))
		weights = weights[:0]
		for _, k := range g.data {
			weights = append(weights, w.FloatAt(base+int(d.BOffset[k])))
		}
		if row == nil || !slices.Equal(weights, before) { // equal in a mean, for example
			var reject error
			if row, f, reject = g.inputs.WeightColumnToIntegers(weights); reject != nil {
				return m, of, reject
			}
		}
		weights, before = before, weights
		f := real.Affine{Scale: f.Scale, Bias: new(big.Rat).Set(f.Bias)}
		for i, k := range g.constants {
			v := new(big.Rat).SetFloat64(w.FloatAt(base + int(d.BOffset[k])))
			f.Bias.Add(f.Bias, v.Mul(v, g.values[i]))
		}
		m.Weights, of.Of = append(m.Weights, row), append(of.Of, f)
	}
	of.Group = channels.ChannelOfElement
	return m, of, nil
}
