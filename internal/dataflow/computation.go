package dataflow

import "hlsgen/internal/num"

// A Computation describes as data, not as code, what a bound layer computes of a frame. It is a GatherComputation,
// ProductsComputation, ElementwiseComputation or PoolingComputation. It is the same function as Eval, for engines that
// have a program for each of these forms but none for kinds of layers. Frames are row-major.
type Computation interface{ computation() }

// ComputationOf returns the computation of a bound layer, or nil if the layer does not describe it.
func ComputationOf(op Op) Computation {
	if of := op.Describe().Computation; of != nil {
		return of()
	}
	return nil
}

// A GatherComputation copies elements of the inputs to the outputs, whatever their values, in runs of Run neighbouring
// elements. At gives, for run r of an output, the input and the number of its run there, or Run times Fill if input is
// -1.
type GatherComputation struct {
	Run    int
	Fill   int64
	At     func(output, r int) (input, at int)
	Border *GatherBorder // if not nil: the same in two steps, for a layer of one input and one output
}

// A GatherBorder is a tensor between the input and the output of a GatherComputation: the input with runs of Fill
// around it. All elements of the output lie in it, so that windows at the edge need no special case.
type GatherBorder struct {
	Runs int             // the number of runs in the bordered tensor
	In   func(r int) int // the run of the input that is run r of the bordered tensor; -1 for Fill
	Of   func(r int) int // the run of the bordered tensor that is run r of the output
}

// A ProductsComputation multiplies one input by constant weights. The input is Vectors vectors, each with a row of
// elements for each of Groups groups, which have equally many outputs. Output c is f(sum over k of
// Weights[c][k]*row[k]). Run r of the Runs runs of Run neighbouring elements of group g's row begins at element
// r*Stride + g*Run of the vector.
type ProductsComputation struct {
	Weights   [][]int64          // per output
	Steps     []num.StepFunction // the function f: none, one for all outputs, or one per output
	Vectors   int
	Groups    int
	Runs, Run int
	Stride    int
}

// An ElementwiseComputation computes functions of one element of each input. Element i of the output is Of(i%Channels,
// x), where x holds element i of each input. All inputs have the size of the output.
type ElementwiseComputation struct {
	Channels  int
	Of        func(c int, x []int64) int64
	Monotonic bool // whether, for one input, Of(c, x) never falls or never rises as x grows, for each c
}

// A PoolingComputation computes the maximum, or the sum, of each of Channels channels over Positions consecutive
// vectors.
type PoolingComputation struct {
	Channels, Positions int
	Sum                 bool
}

func (GatherComputation) computation()      {}
func (ProductsComputation) computation()    {}
func (ElementwiseComputation) computation() {}
func (PoolingComputation) computation()     {}
