package rtlsim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
)

// BenchmarkChain simulates eight layers of 400 iterations per frame, for 131 frames: the size of a small keyword
// spotter.
func BenchmarkChain(b *testing.B) {
	n := &net{t: b, perWord: 1}
	s := n.input(20)
	for range 8 {
		s = n.add("Matrix", matrix(1, 20, 20, 6), s)[0]
	}
	d := n.design(2, s)
	frames := randomFrames(d, 131, rand.New(rand.NewPCG(1, 1)))
	for _, c := range []struct {
		name string
		opt  Options
	}{{"tokens", Options{Frames: 131}}, {"data", Options{}}} {
		b.Run(c.name, func(b *testing.B) {
			cycles := 0
			for b.Loop() {
				if c.opt.Frames > 0 {
					cycles = run(b, d, nil, c.opt).Cycles
				} else {
					cycles = run(b, d, frames, c.opt).Cycles
				}
			}
			b.ReportMetric(float64(cycles)*float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
		})
	}
}

// window returns the loop of a sliding window with padding. The image has size x size pixels of the given number of
// words, and there is a k x k window at every stride-th pixel. While the loop writes a window, it reads what the
// next window needs in addition.
func window(size, words, k, stride, latency int) dataflow.Loop {
	run := func(n int, m dataflow.PortMoves) dataflow.LoopRun { return dataflow.LoopRun{Times: n, Moves: m} }
	out := size / stride
	need := func(y, x int) int { // words read before window y, x
		y, x = min(y*stride+k/2, size-1), min(x*stride+k/2, size-1)
		return (y*size + x + 1) * words
	}
	read := need(0, 0)
	body := []dataflow.LoopRun{run(read, dataflow.PortMoves{Read: 1})}
	for y := range out {
		var row []dataflow.LoopRun
		for x := range out {
			next := size * size * words
			if x+1 < out {
				next = need(y, x+1)
			} else if y+1 < out {
				next = need(y+1, 0)
			}
			reads, writes := max(0, next-read), k*k*words
			read = max(read, next)
			both := min(reads, writes)
			row = dataflow.JoinLoopRuns(append(row, dataflow.RepeatLoopRuns(1, run(both, dataflow.PortMoves{Read: 1,
				Write: 1}),
				run(writes-both, dataflow.PortMoves{Write: 1}), run(reads-both, dataflow.PortMoves{Read: 1}))...)...)
		}
		body = append(body, row...)
	}
	return dataflow.Loop{Body: dataflow.JoinLoopRuns(body...), Latency: latency}
}

// A stage is a k x k convolution over size x size pixels. A word of its window has simd channels, a word of its
// product pe.
type stage struct{ size, in, out, k, stride, simd, pe int }

// convolutions chains windows, products and the width converters between them. It returns the clocks of the slowest
// layer, too.
func convolutions(b testing.TB, stages []stage) (*dataflow.Design, int) {
	n := &net{t: b, perWord: 1}
	first := stages[0]
	words := first.size * first.size * first.in / first.simd
	s, have := n.input(words), first.simd
	convert := func(channels, want int) {
		if have != want {
			l := have * want / gcd(have, want)
			s = n.add("Converter", regroup(channels/l, l/have, l/want, 1), s)[0]
			have = want
		}
	}
	for _, c := range stages {
		convert(c.size*c.size*c.in, c.simd)
		if c.k > 1 {
			s = n.add("Window", window(c.size, c.in/c.simd, c.k, c.stride, 2), s)[0]
		}
		size := c.size / c.stride
		s, have = n.add("Matrix", matrix(size*size, c.out/c.pe, c.k*c.k*c.in/c.simd, 8), s)[0], c.pe
	}
	d := n.design(2, s)
	slowest, _ := d.BottleneckInterval()
	return d, slowest
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// mobileNet returns a design in the shape of MobileNet v1 0.25 at 224 x 224: about 80 layers, the slowest with
// 900,000 clocks.
func mobileNet(b testing.TB) (*dataflow.Design, int) {
	stages := []stage{{224, 3, 8, 3, 2, 3, 1}}
	size, channels := 112, 8
	for i, out := range []int{16, 32, 32, 64, 64, 128, 128, 128, 128, 128, 128, 256, 256} {
		stride := 1
		if slices.Contains([]int{1, 3, 5, 11}, i) {
			stride = 2
		}
		stages = append(stages, stage{size, channels, channels, 3, stride, channels, min(2, channels/8)})
		size /= stride
		simd, pe := 1, 1
		for size*size*channels/simd*out/pe > 450000 {
			if simd < channels {
				simd *= 2
			} else {
				pe *= 2
			}
		}
		stages = append(stages, stage{size, channels, out, 1, 1, simd, pe})
		channels = out
	}
	return convolutions(b, stages)
}

// cnv returns a design in the shape of FINN's CNV: six 3 x 3 convolutions, the slowest with about 30,000 clocks.
func cnv(b testing.TB) (*dataflow.Design, int) {
	return convolutions(b, []stage{{32, 3, 64, 3, 1, 3, 16}, {32, 64, 64, 3, 2, 32, 32}, {16, 64, 128, 3, 1, 32, 16},
		{16, 128, 128, 3, 2, 32, 16}, {8, 128, 256, 3, 1, 32, 4}, {8, 256, 256, 3, 2, 32, 1}})
}

// tfc returns a design in the shape of FINN's TFC, with the folding of finn_builds' auto.
func tfc(b testing.TB) (*dataflow.Design, int) {
	n := &net{t: b, perWord: 1}
	s := n.input(784)
	s = n.add("Threshold", pass(784, 1, 1, 2), s)[0]
	s = n.add("Converter", regroup(28, 28, 1, 1), s)[0]
	s = n.add("Matrix", matrix(1, 32, 28, 9), s)[0]
	s = n.add("Converter", regroup(8, 4, 1, 1), s)[0]
	s = n.add("Matrix", matrix(1, 64, 8, 7), s)[0]
	s = n.add("Converter", regroup(8, 8, 1, 1), s)[0]
	s = n.add("Matrix", matrix(1, 64, 8, 7), s)[0]
	s = n.add("Converter", regroup(64, 1, 1, 1), s)[0]
	s = n.add("Matrix", matrix(1, 10, 64, 4), s)[0]
	d := n.design(2, s)
	slowest, _ := d.BottleneckInterval()
	return d, slowest
}

// BenchmarkNetwork simulates whole networks without data.
func BenchmarkNetwork(b *testing.B) {
	for _, c := range []struct {
		name   string
		make   func(testing.TB) (*dataflow.Design, int)
		frames int
	}{{"mobilenet", mobileNet, 3}, {"cnv", cnv, 10}, {"tfc", tfc, 1000}} {
		b.Run(c.name, func(b *testing.B) {
			d, slowest := c.make(b)
			b.Logf("%d layers, slowest %d clocks", len(d.Model.Graph.Nodes), slowest)
			cycles := 0
			for b.Loop() {
				t := run(b, d, nil, Options{Frames: c.frames})
				cycles = t.Cycles
				if b.N == 1 {
					b.Logf("%d clocks, latency %d, interval %v, period %v", t.Cycles, t.FirstFrameLatencyClocks(),
						t.IntervalClocks(),
						t.Period)
				}
			}
			b.ReportMetric(float64(cycles)*float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
		})
	}
}

// BenchmarkSize sizes all FIFOs of whole networks.
func BenchmarkSize(b *testing.B) {
	for _, c := range []struct {
		name string
		make func(testing.TB) (*dataflow.Design, int)
	}{{"mobilenet", mobileNet}, {"cnv", cnv}, {"tfc", tfc}} {
		b.Run(c.name, func(b *testing.B) {
			d, _ := c.make(b)
			for b.Loop() {
				z := size(b, d, FIFOSizingOptions{})
				if b.N == 1 {
					b.Logf("kept %t, %d trials, %d words", z.Feasible, z.Trials, z.Words)
				}
			}
		})
	}
}
