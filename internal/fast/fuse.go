package fast

import (
	"math"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// mostSteps is the most breakpoints of a function that is computed as a step function.
const mostSteps = 1 << 10

// fused merges the node n, a function of sums, with the node that makes the sums. For that node it adds a stage that
// computes both, if only n reads the sums; for n it adds nothing. It returns false if it merges nothing.
func (p *Executable) fused(n *dataflow.Node) bool {
	if p.with[n] != nil { // computed with its sums
		return true
	}
	reader, _ := p.g.ReaderOfStream(n.Out[0])
	if reader < 0 || p.streams[n.Out[0]].view != nil {
		return false
	}
	next := p.g.Nodes[reader]
	e, ok := dataflow.ComputationOf(next.Op).(dataflow.ElementwiseComputation)
	if !ok || !e.Monotonic || len(next.In) != 1 {
		return false
	}
	var c dataflow.ProductsComputation
	macs := int64(0)
	switch of := dataflow.ComputationOf(n.Op).(type) {
	case dataflow.ProductsComputation:
		c, macs = of, int64(of.Vectors)*int64(len(of.Weights))*int64(len(of.Weights[0]))
	case dataflow.PoolingComputation:
		c = adding(of, &p.streams[p.viewOf(n.In[0]).root], &p.streams[n.Out[0]])
	}
	if c.Weights == nil || len(c.Steps) > 0 || len(c.Weights)%e.Channels != 0 {
		return false
	}
	t := p.g.Streams[n.Out[0]].Type
	for k := range c.Weights {
		s, ok := stepsOf(func(x int64) int64 { return e.Of(k%e.Channels, []int64{x}) },
			t.ChannelRange(k%t.Shape.ChannelCount()))
		if !ok {
			return false
		}
		c.Steps = append(c.Steps, s)
	}
	if !p.products(n.In[0], next.Out[0], c) {
		return false
	}
	p.with[next] = n
	p.MACs += macs
	return true
}

// stepsOf returns the monotonic function of over the range r as a step function. ok is false if that has too many
// steps.
func stepsOf(of func(x int64) int64, r num.Range) (s num.StepFunction, ok bool) {
	s.Value = []int64{of(r.Lo)}
	var between func(lo, hi, at, to int64) bool // of(lo) is at, of(hi) is to
	between = func(lo, hi, at, to int64) bool {
		switch {
		case at == to:
			return true
		case hi-lo == 1:
			s.At, s.Value = append(s.At, hi), append(s.Value, to)
			return len(s.At) <= mostSteps
		}
		middle := lo + (hi-lo)/2
		v := of(middle)
		return between(lo, middle, at, v) && between(middle, hi, v, to)
	}
	return s, between(r.Lo, r.Hi, s.Value[0], of(r.Hi))
}

// adding returns a pool that adds up values as products with weights of 1. It returns no products if the pool computes
// maxima, or if sums might not fit into 16 bits.
func adding(c dataflow.PoolingComputation, in, out *stream) (none dataflow.ProductsComputation) {
	top := in.reach.ValueCount() - 1
	if !c.Sum || top > math.MaxUint8 || top*int64(c.Positions) > math.MaxInt16 {
		return none
	}
	weights := make([][]int64, c.Channels)
	for k := range weights {
		weights[k] = make([]int64, c.Positions)
		for i := range weights[k] {
			weights[k][i] = 1
		}
	}
	return dataflow.ProductsComputation{Weights: weights, Vectors: out.size / c.Channels, Groups: c.Channels,
		Runs: c.Positions, Run: 1, Stride: c.Channels}
}
