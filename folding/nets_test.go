package folding

import (
	"fmt"
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"

	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

var uint4 = num.Type{Kind: num.UInt, Width: 4}

// A sketch is a layer for tests of large networks: shapes, words, clocks and plausible costs, without a meaning. It
// stands for the layers around a matrix product in a convolutional network.
type sketch struct {
	kind    string
	window  int // positions of the kernel's window
	stride  int
	ways    int // outputs of a fork
	deep    bool
	in, out []dataflow.Type
}

func (s *sketch) Kind() string { return s.kind }
func (s *sketch) Params() any  { return s.kind }

func (s *sketch) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	b := *s
	b.in, b.out = in, nil
	x := in[0].Shape
	c := x.Channels()
	image := func(h, w int, rest ...int) dataflow.Type {
		return dataflow.Type{Shape: append(dataflow.Shape{h, w}, rest...), Range: []num.Range{uint4.Range()}, Elem: in[0].Elem}
	}
	switch s.kind {
	case "Window":
		b.out = []dataflow.Type{image(x[0]/s.stride, x[1]/s.stride, s.window, c)}
	case "Depthwise":
		b.out = []dataflow.Type{image(x[0], x[1], c)}
	case "Pool":
		b.out = []dataflow.Type{image(x[0]/s.stride, x[1]/s.stride, c)}
	case "Up":
		b.out = []dataflow.Type{image(2*x[0], 2*x[1], c)}
	case "Fork":
		for range s.ways {
			b.out = append(b.out, in[0])
		}
	case "Join":
		b.out = in[:1]
	case "Concat":
		sum := 0
		for _, t := range in {
			sum += t.Shape.Channels()
		}
		b.out = []dataflow.Type{image(x[0], x[1], sum)}
	}
	return &b, b.out, nil
}

func (s *sketch) Eval([]dataflow.Tensor) []dataflow.Tensor { panic("a sketch has no meaning") }

func (s *sketch) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) {
		c := s.in[0].Shape.Channels()
		for _, t := range s.in[1:] {
			for c%t.Shape.Channels() != 0 && t.Shape.Channels()%c != 0 {
				c /= 2
			}
			c = min(c, t.Shape.Channels())
		}
		for _, d := range dataflow.Divisors(c) {
			var folds []dataflow.Fold
			switch s.kind {
			case "Window":
				for _, m := range []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM} {
					folds = append(folds, dataflow.Fold{PE: 1, SIMD: d, Memory: m})
					if s.deep || d == c {
						folds = append(folds, dataflow.Fold{PE: s.window, SIMD: d, Memory: m})
					}
				}
			case "Depthwise":
				for _, simd := range dataflow.Divisors(s.window) {
					folds = append(folds, dataflow.Fold{PE: d, SIMD: simd, Memory: dataflow.LUTRAM, Compute: dataflow.LUT}, dataflow.Fold{PE: d, SIMD: simd, Memory: dataflow.LUTRAM, Compute: dataflow.DSP})
				}
			default:
				folds = append(folds, dataflow.Fold{PE: d, SIMD: 1})
			}
			for _, f := range folds {
				if !yield(f) {
					return
				}
			}
		}
	}
}

func (s *sketch) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	port := func(t dataflow.Type, per, tile int) dataflow.Port {
		return dataflow.Port{Elem: t.Elem, PerWord: per, Words: t.Shape.Size() / per, Tile: t.Shape.Tiled(tile)}
	}
	row := func(t dataflow.Type) int { return t.Shape.Channels() }
	switch s.kind {
	case "Window":
		tile := row(s.in[0])
		if s.deep {
			tile = f.SIMD
		}
		return []dataflow.Port{port(s.in[0], f.SIMD, row(s.in[0]))}, []dataflow.Port{port(s.out[0], f.PE*f.SIMD, tile)}
	case "Depthwise":
		return []dataflow.Port{port(s.in[0], f.PE*f.SIMD, f.PE)}, []dataflow.Port{port(s.out[0], f.PE, row(s.out[0]))}
	}
	for _, t := range s.in {
		in = append(in, port(t, f.PE, row(t)))
	}
	for _, t := range s.out {
		out = append(out, port(t, f.PE, row(t)))
	}
	return in, out
}

// Loop moves the words of every port evenly; the port with most words has one in every iteration.
func (s *sketch) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	in, out := s.Ports(f)
	n := 0
	for _, p := range slices.Concat(in, out) {
		n = max(n, p.Words)
	}
	common := n
	for _, p := range slices.Concat(in, out) {
		common = gcd(common, p.Words)
	}
	runs := make([]dataflow.Run, 0, n/common)
	for i := range n / common {
		r := dataflow.Run{Times: 1}
		for k, p := range in {
			if (i+1)*p.Words/n > i*p.Words/n {
				r.Moves.Read |= 1 << k
			}
		}
		for k, p := range out {
			if (i+1)*p.Words/n > i*p.Words/n {
				r.Moves.Write |= 1 << k
			}
		}
		runs = append(runs, r)
	}
	return dataflow.Loop{Body: dataflow.Repeat(common, runs...), Latency: 3}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (s *sketch) Kernel(dataflow.Fold) dataflow.Kernel { panic("a sketch has no meaning") }

func (s *sketch) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	w := s.in[0].Elem.Width
	var r dataflow.Resources
	switch s.kind {
	case "Window":
		depth := s.in[0].Shape.Size() / s.in[0].Shape[0] * 3 / f.SIMD
		r.LUT = 200 + 4*f.SIMD*w + 2*f.PE*f.SIMD*w
		if f.Memory == dataflow.BRAM {
			r.BRAM = ((f.SIMD*w + 35) / 36) * ((depth + 511) / 512)
		} else {
			r.LUT += f.SIMD * w * ((depth + 31) / 32)
		}
	case "Depthwise":
		r.LUT = 150 + f.PE*(30+f.SIMD*8)
		if f.Compute == dataflow.DSP {
			r.DSP = f.PE * f.SIMD
		} else {
			r.LUT += f.PE * f.SIMD * w * 6
		}
	default:
		r.LUT = 20 + f.PE*w*len(s.in)*len(s.out)*2
	}
	r.FF = r.LUT + 40*bits.Len(uint(f.PE*f.SIMD))
	return dataflow.Cost{{Name: "sketch", Resources: r}}
}

func (s *sketch) Emit(dataflow.Fold, dataflow.Target) dataflow.Instance {
	panic("a sketch has no kernel")
}

// A painter builds a large network out of sketches and real matrix products.
type painter struct {
	b dataflow.Builder
	r *rand.Rand
}

func newPainter() *painter { return &painter{r: rand.New(rand.NewPCG(3, 14))} }

func (p *painter) image(h, w, c int) int {
	return p.b.Input("x", dataflow.Type{Shape: dataflow.Shape{h, w, c}, Range: []num.Range{uint4.Range()}, Elem: uint4})
}

func (p *painter) add(s *sketch, in ...int) []int {
	return must(p.b.Add(s, in, nil, []string{fmt.Sprint(s.kind)}))
}

func (p *painter) channels(s int) int { return p.b.Type(s).Shape.Channels() }

// product is a matrix product over the trailing axes with an activation of 4 bits.
func (p *painter) product(s, inputs, outputs int) int {
	m := mvau.Params{Steps: []num.Step{staircase(15)}}
	for range outputs {
		row := make([]int64, inputs)
		for j := range row {
			row[j] = p.r.Int64N(15) - 7
		}
		m.Weights = append(m.Weights, row)
	}
	return must(p.b.Add(mvau.New(m), []int{s}, nil, nil))[0]
}

// conv is a dense convolution.
func (p *painter) conv(s, k, stride, outputs int) int {
	c := p.channels(s)
	if k*k > 1 || stride > 1 {
		s = p.add(&sketch{kind: "Window", window: k * k, stride: stride}, s)[0]
	}
	return p.product(s, k*k*c, outputs)
}

func (p *painter) depthwise(s, stride int) int {
	s = p.add(&sketch{kind: "Window", window: 9, stride: stride, deep: true}, s)[0]
	return p.add(&sketch{kind: "Depthwise", window: 9}, s)[0]
}

func (p *painter) model(name string, out ...int) *dataflow.Model {
	for _, s := range out {
		p.b.Output(s)
	}
	return &dataflow.Model{Name: name, Graph: must(p.b.Graph())}
}

// mobileNet has the form of MobileNet-v1 0.25 at 224 x 224.
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
	s = p.add(&sketch{kind: "Pool", stride: 7}, s)[0]
	return p.model("mobilenet", p.product(s, 256, 1000))
}

// resNet has residual blocks, every second with a convolution on the short path.
func resNet(blocks, c int) *dataflow.Model {
	p := newPainter()
	s := p.conv(p.image(32, 32, 3), 3, 1, c)
	for i := range blocks {
		f := p.add(&sketch{kind: "Fork", ways: 2}, s)
		a, short, stride := f[0], f[1], 1
		if i%2 == 1 && i < 6 {
			c, stride = 2*c, 2
			short = p.conv(short, 1, 2, c)
		}
		a = p.conv(p.conv(a, 3, stride, c), 3, 1, c)
		s = p.add(&sketch{kind: "Join"}, a, short)[0]
	}
	return p.model("resnet", p.product(p.add(&sketch{kind: "Pool", stride: 4}, s)[0], c, 10))
}

// uNet has levels of two convolutions on the way down, a skip connection, and two on the way up.
func uNet(levels, each, c int) *dataflow.Model {
	p := newPainter()
	s := p.image(64, 64, 3)
	var skips []int
	for l := range levels {
		for range each {
			s = p.conv(s, 3, 1, c<<l)
		}
		f := p.add(&sketch{kind: "Fork", ways: 2}, s)
		skips = append(skips, f[1])
		s = p.add(&sketch{kind: "Pool", stride: 2}, f[0])[0]
	}
	for range each {
		s = p.conv(s, 3, 1, c<<levels)
	}
	for l := levels - 1; l >= 0; l-- {
		s = p.conv(p.add(&sketch{kind: "Up"}, s)[0], 3, 1, c<<l)
		s = p.add(&sketch{kind: "Concat"}, skips[l], s)[0]
		for range each {
			s = p.conv(s, 3, 1, c<<l)
		}
	}
	return p.model("unet", s)
}

// inception has blocks of four branches between a fork and a concatenation.
func inception(blocks int) *dataflow.Model {
	p := newPainter()
	s := p.conv(p.image(32, 32, 3), 3, 1, 32)
	for range blocks {
		f := p.add(&sketch{kind: "Fork", ways: 4}, s)
		a := p.conv(f[0], 1, 1, 16)
		b := p.conv(p.conv(f[1], 1, 1, 8), 3, 1, 16)
		c := p.conv(p.conv(p.conv(f[2], 1, 1, 8), 3, 1, 16), 3, 1, 16)
		d := p.conv(f[3], 1, 1, 16)
		s = p.add(&sketch{kind: "Concat"}, a, b, c, d)[0]
	}
	return p.model("inception", s)
}
