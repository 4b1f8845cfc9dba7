package randomtest

import (
	"math"
	"math/rand/v2"

	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/vvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// MVAU draws a layer of at most 7 by 7, sometimes 12 by 16, with weights in one of several styles.
func MVAU(r *rand.Rand) layertest.Case {
	mh, mw := 1+r.IntN(7), 1+r.IntN(7)
	if r.IntN(8) == 0 {
		mh, mw = 12, 16
	}
	style := [][2]int64{{-1, 1}, {-1, 1}, {0, 1}, {-4, 3}, {0, 15}, {-30000, 30000}, {2, 2}}[r.IntN(7)]
	sparse := r.IntN(2) != 0
	p := mvau.Params{Weights: layertest.Weights(r, mh, mw, num.Range{Lo: style[0], Hi: style[1]}, sparse)}
	if r.IntN(4) == 0 {
		p.Weights = layertest.FewWeights(r, mh, mw)
	}
	shape := []dataflow.Shape{{mw}, {3, mw}, {2, 2, mw}}[r.IntN(3)]
	in := layertest.RandomType(r, shape, 8)
	if n := []int{0, 1, mh}[r.IntN(3)]; n > 0 {
		for c := range n {
			acc, _ := num.DotProductRange(p.Weights[c], in.Range)
			p.Steps = append(p.Steps, layertest.RandomStepFunction(r, acc, 7, 1+r.IntN(5), true))
		}
	}
	return layertest.Case{Op: mvau.New(p), In: []dataflow.StreamType{in}, Folds: 12}
}

// DrawRequantMVAU draws an MVAU with requantised products.
func DrawRequantMVAU(r *rand.Rand) layertest.Case {
	mh, mw := 1+r.IntN(4), 1+r.IntN(6)
	q := num.Requant{Multiplier: 1, Shift: r.IntN(6), Mode: num.Roundings[r.IntN(len(num.Roundings))],
		Lo: math.MinInt64, Hi: math.MaxInt64}
	if r.IntN(2) == 0 {
		q.Multiplier = r.Int64N(200) - 100
	}
	if r.IntN(2) == 0 {
		q.Lo, q.Hi = -r.Int64N(200), r.Int64N(100)
	}
	weights := [][2]int64{{-1, 1}, {-8, 7}, {0, 15}, {-300, 300}}[r.IntN(4)]
	p := mvau.Params{Weights: make([][]int64, mh), Product: &q}
	for c := range p.Weights {
		for range mw {
			w := layertest.RandomInRange(r, num.Range{Lo: weights[0], Hi: weights[1]})
			if w == 0 {
				w = 1
			}
			p.Weights[c] = append(p.Weights[c], w)
		}
	}
	in := layertest.RandomType(r, dataflow.Shape{3, mw}, 8)
	if r.IntN(2) == 0 {
		_, sums, err := mvau.New(p).Bind([]dataflow.StreamType{in})
		if err != nil {
			panic(err)
		}
		for c := range mh {
			p.Steps = append(p.Steps, layertest.RandomStepFunction(r, sums[0].ChannelRange(c), 7, 4, true))
		}
	}
	return layertest.Case{Op: mvau.New(p), In: []dataflow.StreamType{in}, Folds: 8}
}

// VVAU draws a depthwise layer of at most 6 channels.
func VVAU(r *rand.Rand) layertest.Case {
	channels, positions := 1+r.IntN(6), 1+r.IntN(9)
	style := [][2]int64{{-1, 1}, {-4, 3}, {0, 15}, {-30000, 30000}}[r.IntN(4)]
	p := vvau.Params{Weights: layertest.Weights(r, channels, positions, num.Range{Lo: style[0], Hi: style[1]},
		style[0] != -1)}
	if r.IntN(4) == 0 {
		p.Weights = layertest.FewWeights(r, channels, positions)
	}
	shape := []dataflow.Shape{{positions, channels}, {3, positions, channels}, {2, 2, positions, channels}}[r.IntN(3)]
	in := layertest.RandomType(r, shape, 8)
	for c := range []int{0, 1, channels}[r.IntN(3)] {
		acc, _ := num.DotProductRange(p.Weights[c], []num.Range{in.ChannelRange(c)})
		p.Steps = append(p.Steps, layertest.RandomStepFunction(r, acc, 7, 1+r.IntN(5), true))
	}
	return layertest.Case{Op: vvau.New(p), In: []dataflow.StreamType{in}, Folds: 12}
}

// Grouped draws an MVAU with two or three groups of channels.
func Grouped(r *rand.Rand) layertest.Case {
	groups, outputs, positions, channels := 2+r.IntN(2), 1+r.IntN(4), 1+r.IntN(4), 1+r.IntN(3)
	style := []num.Range{{Lo: -4, Hi: 3}, {Lo: -1, Hi: 1}, {Lo: 0, Hi: 9}}[r.IntN(3)]
	p := mvau.Params{Groups: groups,
		Weights: layertest.Weights(r, groups*outputs, positions*channels, style, style.Lo != -1)}
	if r.IntN(4) == 0 {
		p.Weights = layertest.FewWeights(r, groups*outputs, positions*channels)
	}
	in := layertest.RandomType(r, dataflow.Shape{2, positions, groups * channels}, 5)
	for range []int{0, 1, groups * outputs}[r.IntN(3)] {
		p.Steps = append(p.Steps, layertest.RandomStepFunction(r, num.Range{Lo: -40, Hi: 40}, 6, 3, true))
	}
	return layertest.Case{Op: mvau.New(p), In: []dataflow.StreamType{in}, Folds: 12}
}
