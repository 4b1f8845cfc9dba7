package find

import (
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
)

// Window is a window that slides over the image, for a layer.
func (im *Image) Window(win *graph.Window) choose.Window {
	covers := im.Before == [2]int{} && im.After == [2]int{} && win.Kernel == [2]int{im.H, im.W} &&
		win.Dilation == [2]int{1, 1}
	return choose.Window{Window: win, Channels: im.C, Covers: covers}
}

// channel is the constant of a channel of the tensor that was left out, or else its number among those that were not.
func (im *Image) channel(c int) (constant *big.Rat, kept int) {
	if im.constants == nil {
		return nil, c
	}
	if v := im.constants[c]; v != nil {
		return new(big.Rat).Set(v), 0
	}
	for _, v := range im.constants[:c] {
		if v == nil {
			kept++
		}
	}
	return nil, kept
}

// Convolution is the product of the image's windows with weights. of is the real values of the outputs.
func (im *Image) Convolution(step *graph.Step, w *graph.Tensor) (m choose.Matrix, of scaled.Values, reject error) {
	d, win := step.Dot, step.Window
	channels := ChannelsOf(win, step.Shape)
	window := im.Window(win)
	m = choose.Matrix{Groups: win.Group, Window: &window}
	for c := range channels.N {
		column, in := make([]float64, 0, d.K), make([]real.Affine, 0, d.K)
		base, bias := int(d.BBase[c*channels.Stride]), new(big.Rat)
		first := c / (channels.N / win.Group) * win.Depth
		for k := range d.K {
			_, _, at := win.Tap(k)
			weight := w.At(base + int(d.BOffset[k]))
			if v, kept := im.channel(first + at); v != nil {
				bias.Add(bias, v.Mul(v, new(big.Rat).SetFloat64(weight)))
			} else {
				column, in = append(column, weight), append(in, im.Affine[kept])
			}
		}
		row, f, reject := whole.Column(column, in)
		if reject != nil {
			return m, of, reject
		}
		f.Bias = bias.Add(bias, f.Bias)
		m.Weights, of.Of = append(m.Weights, row), append(of.Of, f)
	}
	of.Group = channels.Of
	return m, of, nil
}
