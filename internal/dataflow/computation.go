package dataflow

import "hlsgen/internal/num"

// A Computation is what a bound layer computes of a frame, as data instead of as code: one of Gather, Products,
// Elements and Pools. It is the same function as Eval, for engines that have a program for each of these forms and none
// for a kind of layer. Frames are row-major.
type Computation interface{ computation() }

// Computing is implemented by bound layers that can say what they compute; nil says that this one cannot.
type Computing interface{ Computation() Computation }

// ComputationOf is what a bound layer says that it computes; nil where it says nothing.
func ComputationOf(op Op) Computation {
	if c, ok := op.(Computing); ok {
		return c.Computation()
	}
	return nil
}

// Gather has the elements of the outputs be those of the inputs, whatever these are, Run of them that lie side by side
// at a time. Run r of an output is run at of an input, or Run times Fill, where input is -1.
type Gather struct {
	Run    int
	Fill   int64
	At     func(output, r int) (input, at int)
	Border *Border // not nil: the same in two steps, for a layer of one input and one output
}

// A Border is a frame between the input and the output of a Gather: the input with runs of Fill around it. All that the
// output is made of lies in it, so that none of the output's windows is an exception.
type Border struct {
	Runs int             // of the frame
	In   func(r int) int // what run of the input run r of the frame is; -1 for Fill
	Of   func(r int) int // what run of the frame run r of the output is
}

// Products are of one input and of constant weights. The input is Vectors vectors; each has a row of elements for each
// of Groups groups, of as many outputs each, and an output is f(sum over k of Weights[c][k]*row[k]).
//
// A row is Runs runs of Run elements side by side: run r of group g begins at element r*Stride + g*Run of the vector.
type Products struct {
	Weights   [][]int64  // by output
	Steps     []num.Step // f: none, one for all outputs, or one per output
	Vectors   int
	Groups    int
	Runs, Run int
	Stride    int
}

// Elements are functions of one element of each input: element i of the output is Of(i%Channels, x), where x has
// element i of each input. All inputs have the size of the output.
type Elements struct {
	Channels  int
	Of        func(c int, x []int64) int64
	Monotonic bool // of one element: Of(c, x) never turns as x grows, for each c
}

// Pools are the maximum, or the sum, of each of Channels channels of Positions vectors that follow each other.
type Pools struct {
	Channels, Positions int
	Sum                 bool
}

func (Gather) computation()   {}
func (Products) computation() {}
func (Elements) computation() {}
func (Pools) computation()    {}
