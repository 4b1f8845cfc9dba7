package folding

import (
	"math/rand/v2"

	"hlsgen/hlslib/add"
	"hlsgen/hlslib/concat"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/globalpool"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/swg"
	"hlsgen/hlslib/upsample"
	"hlsgen/hlslib/vvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

var uint4 = num.Type{Kind: num.KindUInt, Width: 4}

// A painter builds a convolutional network of random weights, with 4 bits for weights and activations.
type painter struct {
	b dataflow.GraphBuilder
	r *rand.Rand
}

func newPainter() *painter { return &painter{r: rand.New(rand.NewPCG(3, 14))} }

func (p *painter) image(h, w, c int) int {
	return p.b.AddInput("x", dataflow.StreamType{Shape: dataflow.Shape{h, w, c}, Range: []num.Range{uint4.Range()},
		Elem: uint4})
}

func (p *painter) add(op dataflow.Op, in ...int) []int {
	return must(p.b.BindAndAddLayer(op, in, nil, nil))
}

func (p *painter) channels(s int) int { return p.b.TypeOfStream(s).Shape.ChannelCount() }

func (p *painter) weights(rows, columns int) [][]int64 {
	return randomWeights(p.r, rows, columns, -7, 7)
}

func (p *painter) windows(s, k, stride, groups int) int {
	both := func(n int) [2]int { return [2]int{n, n} }
	edge := 0
	if k == 3 {
		edge = 1
	}
	return p.add(swg.New(swg.Params{Kernel: both(k), Stride: both(stride), Dilation: both(1), Before: both(edge),
		After: both(edge), Groups: groups}), s)[0]
}

// conv adds a dense convolution with an activation.
func (p *painter) conv(s, k, stride, outputs int) int {
	c := p.channels(s)
	if k > 1 || stride > 1 {
		s = p.windows(s, k, stride, 1)
	}
	return p.add(mvau.New(mvau.Params{Weights: p.weights(outputs, k*k*c), Steps: []num.StepFunction{staircase(15)}}),
		s)[0]
}

func (p *painter) depthwise(s, stride int) int {
	c := p.channels(s)
	return p.add(vvau.New(vvau.Params{Weights: p.weights(c, 9), Steps: []num.StepFunction{staircase(15)}}),
		p.windows(s, 3, stride, c))[0]
}

// pool adds a maximum over windows of 2 x 2 or, for stride 1, 3 x 3.
func (p *painter) pool(s, stride int) int {
	return p.add(pool.New(pool.Params{Op: pool.PoolingMax}), p.windows(s, 4-stride, stride, p.channels(s)))[0]
}

func (p *painter) fork(s, copies int) []int { return p.add(dup.New(dup.Params{Copies: copies}), s) }

func (p *painter) join(a, b int) int {
	return p.add(add.New(add.Params{Steps: []num.StepFunction{staircase(15)}}), a, b)[0]
}

func (p *painter) concat(in ...int) int {
	return p.add(concat.New(concat.Params{Inputs: len(in)}), in...)[0]
}

// classify adds a global pooling and a fully connected layer.
func (p *painter) classify(s, classes int) int {
	s = p.add(globalpool.New(globalpool.Params{Op: globalpool.PoolingMax}), s)[0]
	return p.add(mvau.New(mvau.Params{Weights: p.weights(classes, p.channels(s))}), s)[0]
}

func (p *painter) model(name string, out ...int) *dataflow.Model {
	for _, s := range out {
		p.b.MarkOutput(s)
	}
	return &dataflow.Model{Name: name, Graph: must(p.b.VerifiedGraph())}
}

// mobileNet returns a network of the form of MobileNet-v1 0.25 at 224 x 224.
func mobileNet() *dataflow.Model {
	p := newPainter()
	s := p.conv(p.image(224, 224, 3), 3, 2, 8)
	for i, c := range []int{16, 32, 32, 64, 64, 128, 128, 128, 128, 128, 128, 256, 256} {
		stride := 1
		if i == 1 || i == 3 || i == 5 || i == 11 {
			stride = 2
		}
		s = p.conv(p.depthwise(s, stride), 1, 1, c)
	}
	return p.model("mobilenet", p.classify(s, 1000))
}

// cnv returns a network of the form of finn-examples' CNV-w2a2.
func cnv() *dataflow.Model {
	p := newPainter()
	s := p.image(32, 32, 3)
	conv := func(outputs int) {
		both := [2]int{1, 1}
		c := p.channels(s)
		s = p.add(swg.New(swg.Params{Kernel: [2]int{3, 3}, Stride: both, Dilation: both, Groups: 1}), s)[0]
		s = p.add(mvau.New(mvau.Params{Weights: p.weights(outputs, 9*c), Steps: []num.StepFunction{staircase(3)}}),
			s)[0]
	}
	for _, c := range []int{64, 128} {
		conv(c)
		conv(c)
		s = p.pool(s, 2)
	}
	conv(256)
	conv(256)
	for _, c := range []int{512, 512} {
		s = p.add(mvau.New(mvau.Params{Weights: p.weights(c, p.channels(s)), Steps: []num.StepFunction{staircase(3)}}),
			s)[0]
	}
	return p.model("cnv", p.add(mvau.New(mvau.Params{Weights: p.weights(10, 512)}), s)[0])
}

// resNet returns a network of residual blocks, every second with a convolution on the short path.
func resNet(blocks, c int) *dataflow.Model {
	p := newPainter()
	s := p.conv(p.image(32, 32, 3), 3, 1, c)
	for i := range blocks {
		f := p.fork(s, 2)
		a, short, stride := f[0], f[1], 1
		if i%2 == 1 && i < 6 {
			c, stride = 2*c, 2
			short = p.conv(short, 3, 2, c)
		}
		a = p.conv(p.conv(a, 3, stride, c), 3, 1, c)
		s = p.join(a, short)
	}
	return p.model("resnet", p.classify(s, 10))
}

// uNet returns a network with levels of two convolutions on the way down, a skip connection, and two on the way up.
func uNet(levels, each, c int) *dataflow.Model {
	p := newPainter()
	s := p.image(64, 64, 3)
	var skips []int
	for l := range levels {
		for range each {
			s = p.conv(s, 3, 1, c<<l)
		}
		f := p.fork(s, 2)
		skips = append(skips, f[1])
		s = p.pool(f[0], 2)
	}
	for range each {
		s = p.conv(s, 3, 1, c<<levels)
	}
	for l := levels - 1; l >= 0; l-- {
		s = p.conv(p.add(upsample.New(upsample.Params{Scale: [2]int{2, 2}}), s)[0], 3, 1, c<<l)
		s = p.concat(skips[l], s)
		for range each {
			s = p.conv(s, 3, 1, c<<l)
		}
	}
	return p.model("unet", s)
}

// inception returns a network with blocks of four branches between a fork and a concatenation.
func inception(blocks int) *dataflow.Model {
	p := newPainter()
	s := p.conv(p.image(32, 32, 3), 3, 1, 32)
	for range blocks {
		f := p.fork(s, 4)
		a := p.conv(f[0], 1, 1, 16)
		b := p.conv(p.conv(f[1], 1, 1, 8), 3, 1, 16)
		c := p.conv(p.conv(p.conv(f[2], 1, 1, 8), 3, 1, 16), 3, 1, 16)
		d := p.conv(f[3], 1, 1, 16)
		s = p.concat(a, b, c, d)
	}
	return p.model("inception", s)
}
