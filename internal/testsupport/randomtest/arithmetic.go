package randomtest

import (
	"math"
	"math/rand/v2"
	"slices"

	"hlsgen/hlslib/add"
	"hlsgen/hlslib/globalpool"
	"hlsgen/hlslib/labelselect"
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mul"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// Add draws a sum of two inputs, with factors and step functions.
func Add(r *rand.Rand) layertest.Case {
	channels := []int{1, 2, 3, 5, 6, 8}[r.IntN(6)]
	shape := []dataflow.Shape{{channels}, {4, channels}, {2, 2, channels}}[r.IntN(3)]
	in := []dataflow.StreamType{layertest.RandomType(r, shape, 8), layertest.RandomType(r, shape, 8)}
	var p add.Params
	dead := r.IntN(4) // the number of an input, or none, with factor 0 in some channels
	for i := range p.Factors {
		for range []int{0, 1, channels}[r.IntN(3)] {
			f := 1 + r.Int64N(1<<(1+r.IntN(16)))
			if r.IntN(3) == 0 {
				f = -f
			}
			if i == dead && r.IntN(3) == 0 {
				f = 0
			}
			p.Factors[i] = append(p.Factors[i], f)
		}
	}
	_, sum, err := add.New(p).Bind(in)
	if err != nil {
		panic(err)
	}
	rising := r.IntN(2) == 0
	for c := range []int{0, 1, channels}[r.IntN(3)] {
		p.Steps = append(p.Steps, layertest.RandomStepFunction(r, sum[0].ChannelRange(c), 9, 1+r.IntN(9), rising))
	}
	c := layertest.Case{Op: add.New(p), In: in}
	one := func(x num.Range) bool { return x.ValueCount() == 1 }
	alone := dead < len(in) || slices.ContainsFunc(in[0].Range, one) || slices.ContainsFunc(in[1].Range, one)
	if !rising && alone {
		c.Loose = "a step may lie between two sums, where no sum is"
	}
	return c
}

// Mul draws a product of two inputs, with offsets, and step functions or a requantiser.
func Mul(r *rand.Rand) layertest.Case {
	channels := []int{1, 2, 3, 5, 6, 8}[r.IntN(6)]
	shape := []dataflow.Shape{{channels}, {4, channels}, {2, 2, channels}}[r.IntN(3)]
	other := shape
	if r.IntN(2) == 0 {
		other = []dataflow.Shape{{channels}, {1, 1, channels}}[r.IntN(len(shape))/2]
	}
	in := []dataflow.StreamType{layertest.RandomType(r, shape, 8), layertest.RandomType(r, other, 8)}
	var p mul.Params
	for i := range p.Offset {
		if r.IntN(2) == 0 {
			p.Offset[i] = r.Int64N(1<<(1+r.IntN(12))) - r.Int64N(1<<(1+r.IntN(12)))
		}
	}
	_, product, err := mul.New(p).Bind(in)
	if err != nil {
		panic(err)
	}
	if r.IntN(4) == 0 {
		p.Requant = &num.Requant{Multiplier: (r.Int64N(1<<20) - 1<<18) * min(1, r.Int64N(4)), Shift: r.IntN(24),
			Mode: num.Roundings[r.IntN(len(num.Roundings))], Lo: -r.Int64N(1 << 9), Hi: r.Int64N(1 << 9)}
		return layertest.Case{Op: mul.New(p), In: in}
	}
	rising := r.IntN(2) == 0
	for c := range []int{0, 1, channels}[r.IntN(3)] {
		p.Steps = append(p.Steps, layertest.RandomStepFunction(r, product[0].ChannelRange(c), 9, 1+r.IntN(9), rising))
	}
	c := layertest.Case{Op: mul.New(p), In: in}
	if !rising {
		c.Loose = "a step may lie between two products, where no product is"
	}
	return c
}

// Requant draws a requantisation, with any rounding.
func Requant(r *rand.Rand) layertest.Case {
	channels := []int{1, 2, 3, 5, 6, 8}[r.IntN(6)]
	shape := []dataflow.Shape{{channels}, {4, channels}, {2, 2, channels}}[r.IntN(3)]
	in := layertest.RandomType(r, shape, 20)
	multipliers, biases := layertest.Int(1+r.IntN(20)).Range(), layertest.Int(1+r.IntN(40)).Range()
	p := requant.Params{Shift: r.IntN(40), Lo: math.MinInt64, Hi: math.MaxInt64}
	p.Mode = num.Roundings[r.IntN(len(num.Roundings))]
	if r.IntN(2) == 0 { // small shifts have many ties
		p.Shift = r.IntN(6)
	}
	each := []int{channels, shape.ElementCount()}[r.IntN(2)]
	for range []int{1, each}[r.IntN(2)] {
		p.Multiplier = append(p.Multiplier, layertest.RandomInRange(r, multipliers))
		if r.IntN(6) == 0 {
			p.Multiplier[len(p.Multiplier)-1] = 0 // a dead channel
		}
	}
	for range []int{1, each}[r.IntN(2)] {
		p.Bias = append(p.Bias, layertest.RandomInRange(r, biases))
	}
	if r.IntN(4) == 0 { // long multipliers
		p.LowShift = 1 + r.IntN(30)
		low := func() (list []requant.LowDigit) {
			for range 1 + len(p.Low) {
				list = append(list, requant.LowDigit{Multiplier: digits(r, len(p.Multiplier), p.LowShift),
					Bias: digits(r, len(p.Bias), p.LowShift)})
			}
			return list
		}
		if p.Low = low(); r.IntN(2) == 0 {
			p.Low = low() // one digit more
		}
		if r.IntN(2) == 0 {
			p.Below = &requant.LowerLine{At: []int64{layertest.RandomInRange(r, in.UnionOfRanges())},
				Multiplier: digits(r, each, 12), Bias: digits(r, 1, 20), Low: low()[:len(p.Low)]}
		}
	}
	_, out, err := requant.New(p).Bind([]dataflow.StreamType{in})
	if err != nil {
		panic(err)
	}
	if codes := out[0].UnionOfRanges(); r.IntN(3) > 0 {
		a, b := layertest.RandomInRange(r, codes)+r.Int64N(3)-1, layertest.RandomInRange(r, codes)
		p.Lo, p.Hi = min(a, b), max(a, b)
	}
	return layertest.Case{Op: requant.New(p), In: []dataflow.StreamType{in}}
}

// digits draws n digits of the given number of bits.
func digits(r *rand.Rand, n, bits int) (list []int64) {
	for range n {
		list = append(list, r.Int64N(1<<bits))
	}
	return list
}

// Threshold draws step functions: one, one per channel, or one per element.
func Threshold(r *rand.Rand) layertest.Case {
	channels := []int{1, 2, 3, 5, 6, 8}[r.IntN(6)]
	shape := []dataflow.Shape{{channels}, {4, channels}, {2, 2, channels}}[r.IntN(3)]
	in := layertest.RandomType(r, shape, 10)
	n := []int{1, channels, shape.ElementCount()}[r.IntN(3)]
	rising := r.IntN(2) == 0
	var p threshold.Params
	for c := range n {
		p.Steps = append(p.Steps, layertest.RandomStepFunction(r, in.ChannelRange(c%channels), 9, 1+r.IntN(9), rising))
	}
	c := layertest.Case{Op: threshold.New(p), In: []dataflow.StreamType{in}}
	if in.Elem.Kind == num.KindBipolar {
		c.Loose = "what a step gives for 0 counts, which lies between a bipolar input's two values"
	}
	return c
}

// Pool draws a maximum or a sum of windows.
func Pool(r *rand.Rand) layertest.Case {
	shape := dataflow.Shape{1 + r.IntN(3), 1 + r.IntN(3), 1 + r.IntN(9), []int{1, 2, 3, 4, 6}[r.IntN(5)]}
	op := []layer.Pooling{layer.PoolingMax, layer.PoolingSum}[r.IntN(2)]
	in := layertest.RandomType(r, shape[r.IntN(3):], 7)
	return layertest.Case{Op: pool.New(pool.Params{Op: op}), In: []dataflow.StreamType{in}}
}

// GlobalPool draws a maximum or a sum of frames.
func GlobalPool(r *rand.Rand) layertest.Case {
	shape := dataflow.Shape{1 + r.IntN(3), 1 + r.IntN(4), []int{1, 2, 3, 4, 6, 12, 40}[r.IntN(7)]}
	op := []layer.Pooling{layer.PoolingMax, layer.PoolingSum}[r.IntN(2)]
	in := layertest.RandomType(r, shape[r.IntN(2):], 7)
	return layertest.Case{Op: globalpool.New(globalpool.Params{Op: op}), In: []dataflow.StreamType{in}}
}

// LabelSelect draws a selection among a few labels, in any order.
func LabelSelect(r *rand.Rand) layertest.Case {
	labels := []int{2, 3, 4, 6, 9, 12, 16}[r.IntN(7)]
	shape := []dataflow.Shape{{labels}, {4, labels}, {2, 2, labels}}[r.IntN(3)]
	p := labelselect.Params{Labels: labels, K: 1 + r.IntN(labels)}
	p.First = []labelselect.RankOrder{labelselect.RankOrderLargestFirst, labelselect.RankOrderSmallestFirst}[r.IntN(2)]
	p.Ties = []labelselect.TieBreak{labelselect.TieBreakLowerIndexWins, labelselect.TieBreakHigherIndexWins}[r.IntN(2)]
	c := layertest.Case{Op: labelselect.New(p), In: []dataflow.StreamType{layertest.RandomType(r, shape, 1+r.IntN(8))}}
	if len(c.In[0].Range) > 1 {
		c.Loose = "a label may never take the first place"
	}
	return c
}
