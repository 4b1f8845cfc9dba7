package rtlsim

import (
	"math/rand/v2"
	"testing"
)

// Eight layers of 400 iterations per frame, 131 frames: the size of a small keyword spotter.
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
