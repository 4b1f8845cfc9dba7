package fast_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"hlsgen/hlslib/globalpool"
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/swg"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/fast"
	"hlsgen/internal/num"
)

// A tower has layers of 3 x 3 convolution over 32 x 32 pixels, with 4-bit weights and activations, and a
// classifier.
type tower struct {
	*dataflow.Graph
	weights     int
	activations int // elements of the two largest adjacent streams
}

func newTower(t testing.TB, depth, width int) tower {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var b dataflow.GraphBuilder
	var made tower
	add := func(op dataflow.Op, s int) int {
		out, err := b.BindAndAddLayer(op, []int{s}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out[0]
	}
	product := func(s, outputs, inputs int, steps ...num.StepFunction) int {
		weights := make([][]int64, outputs)
		for c := range weights {
			weights[c] = make([]int64, inputs)
			for k := range weights[c] {
				weights[c][k] = int64(r.IntN(15) - 7)
			}
		}
		made.weights += outputs * inputs
		return add(mvau.New(mvau.Params{Weights: weights, Steps: steps}), s)
	}
	staircase := num.StepFunction{Value: []int64{0}}
	for i := range int64(15) {
		staircase.At, staircase.Value = append(staircase.At, 40*i-200), append(staircase.Value, i+1)
	}
	codes := num.Type{Kind: num.KindUInt, Width: 4}
	s := b.AddInput("x", dataflow.StreamType{Shape: dataflow.Shape{32, 32, 3}, Range: []num.Range{codes.Range()},
		Elem: codes})
	both := [2]int{1, 1}
	for range depth {
		c := b.TypeOfStream(s).Shape.ChannelCount()
		window := swg.Params{Kernel: [2]int{3, 3}, Stride: both, Dilation: both, Before: both, After: both, Groups: 1}
		s = product(add(swg.New(window), s), width, 9*c, staircase)
	}
	s = product(add(globalpool.New(globalpool.Params{Op: layer.PoolingMax}), s), 10, width)
	b.MarkOutput(s)
	g, err := b.VerifiedGraph()
	if err != nil {
		t.Fatal(err)
	}
	made.Graph, made.activations = g, 2*32*32*width
	return made
}

// heap returns the bytes that are still in use after a garbage collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkSlopes measures the time of a frame per product, ns/MAC, for networks of several depths and widths. It
// should be the same for all. B is the memory of the program and a worker, per frame. B/need is B divided by the
// weights and the two largest activations, at a byte each.
func BenchmarkSlopes(b *testing.B) {
	for _, c := range []struct{ depth, width int }{
		{2, 64}, {4, 64}, {8, 64}, {16, 64}, {8, 16}, {8, 32}, {8, 128}, {8, 256},
	} {
		b.Run(fmt.Sprintf("depth=%d/width=%d", c.depth, c.width), func(b *testing.B) {
			of := newTower(b, c.depth, c.width)
			before := heap()
			p, err := fast.CompileGraph(of.Graph)
			if err != nil {
				b.Fatal(err)
			}
			w := p.NewWorker()
			x := dataflow.Tensor{Shape: dataflow.Shape{32, 32, 3}, Data: make([]int64, 32*32*3)}
			in := slices.Repeat([][]dataflow.Tensor{{x}}, p.Batch)
			w.RunFrames(in)
			takes := float64(heap()-before) - float64(p.BufferBytesPerFrame()*(p.Batch-1))
			start := cpuTime(b)
			for b.Loop() {
				w.RunFrames(in)
			}
			ns := float64(cpuTime(b)-start) / float64(b.N*p.Batch)
			b.ReportMetric(ns, "cpu-ns/frame")
			b.ReportMetric(ns/float64(p.MACs), "ns/MAC")
			b.ReportMetric(float64(p.MACs), "MAC")
			b.ReportMetric(takes, "B")
			b.ReportMetric(takes/float64(of.weights+of.activations), "B/need")
			runtime.KeepAlive(w)
		})
	}
}

// BenchmarkThreads compares two workers on two goroutines with one: frames per second, as the median of rounds in
// which both have their turn. Other work on the machine disturbs it. The figure of-one-cpu is not disturbed: it
// compares the CPU time per frame of one worker and of two, as if each had a processor of its own.
func BenchmarkThreads(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("one processor")
	}
	of := newTower(b, 8, 64)
	p, err := fast.CompileGraph(of.Graph)
	if err != nil {
		b.Fatal(err)
	}
	x := dataflow.Tensor{Shape: dataflow.Shape{32, 32, 3}, Data: make([]int64, 32*32*3)}
	in := slices.Repeat([][]dataflow.Tensor{{x}}, p.Batch)
	workers := []*fast.Worker{p.NewWorker(), p.NewWorker()}
	took := func(n int) (wall, cpu float64) { // n goroutines, each with the same number of frames
		var all sync.WaitGroup
		start, before := time.Now(), cpuTime(b)
		for _, w := range workers[:n] {
			all.Go(func() {
				for range 8 {
					w.RunFrames(in)
				}
			})
		}
		all.Wait()
		return float64(time.Since(start)), float64(cpuTime(b) - before)
	}
	var gains, costs []float64
	for b.Loop() {
		one, oneCPU := took(1)
		two, twoCPU := took(2)
		gains, costs = append(gains, 2*one/two), append(costs, 4*oneCPU/twoCPU)
	}
	slices.Sort(gains)
	slices.Sort(costs)
	b.ReportMetric(costs[len(costs)/2], "of-one-cpu")
	b.ReportMetric(gains[len(gains)/2], "of-one")
	b.ReportMetric(gains[0], "least")
	b.ReportMetric(gains[len(gains)-1], "most")
}
