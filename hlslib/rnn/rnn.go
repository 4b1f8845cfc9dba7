// Package rnn is the recurrent engine: cells that compute, in every time step, integers of those of the step before. An
// LSTM's, a GRU's or a plain RNN's cell is data: a small program over codes. The products of the weights and the input,
// which do not depend on the step before, come from a matrix layer ahead of it.
//
// A frame is T time steps. In every step the turns, which are S sequences times D cells (the directions of a
// bidirectional layer), compute one after the other; each has states of its own, vectors of integers. A cell computes
// in phases. A phase has U units, and computes for each of them, from the vector v that the phase looks at, a state or
// what an earlier phase made of its units, first the sums of its dots
//
//	sum[dot] = sum over k of P(W[dot][unit][k]*v[k])
//
// and then its values, one after the other, each by one operation:
//
//	operation  is
//	input      a lane of the step's input, in the first phase
//	sum        that of a dot
//	state      the unit's element of a state, as the step found it
//	earlier    a value that an earlier phase with as many units computed for the unit
//	linear     sum over i of Factors[i]*value[i] + Bias, each of all units or one per unit
//	product    of two values
//	steps      a step function of a value (num.Step), of all units or one per unit
//	requant    multiply, shift, round, clip (num.Requant)
//
// P is a requantiser, or missing. A step ends with every state replaced by a value of some phase. For example
//
//	LSTM     one phase over h: four sums; z = linear(input, sum), i = steps(z) ...; h' = requant(product(o, steps(c')))
//	         c' = requant(linear(requant(product(f, state c)), requant(product(i, g))))
//	GRU      one phase over h where the reset gate multiplies the sum (ONNX: linear_before_reset = 1); else two: the
//	         reset gate and r*h first, and the products of the candidate over r*h
//	LSTMP    two phases: the cells, and the projection over what they made
//
// The input has the shape [T, S*D*U*X], or [S*D*U*X] of one step, of X lanes for each unit of the first phase, at least
// one: element ((s*D+d)*U+unit)*X+lane. An output is a value of every step, [T, S*D*U], element (s*D+d)*U+unit with the
// units of the value's phase, or of the last step, [S*D*U]. Where the input has an axis of sequences, [T, S, D*U*X], so
// have the others: [T, S, D*U] and [S, D*U]. Every frame starts with the states' Start, or, for those in Starts, with
// what further inputs of shape [S*D*U] bring, or, where the layer keeps its state, with what the frame before ended
// with.
//
// PE units of a phase are computed side by side, each of their dots from SIMD elements of the vector a clock; PE
// divides the units of every phase, SIMD the length of every vector. A dot whose weights are all zero, a value that is
// always the same and what nothing depends on that goes out are not built; a phase without dots takes a clock for PE
// units. With NF = U/PE and SF = len(v)/SIMD of a phase, or 1, the loop is
//
//	head clocks in which states arrive, PE units of each input a clock, and `rest` clocks
//	for t < T: for every phase { for turn < S*D: for n < NF: for sf < SF: one clock, and `idle` clocks of the phase }
//
// without the idle clocks after the last step, unless the state is kept. Iterations with sf = SF-1 read a word of the
// input in the first phase, the X*PE elements of a turn's units from n*PE on, and write a word of every output of the
// phase, wherever outputs have the step. What a phase writes arrives L clocks later, where
//
//	L = the stages into which the operations on the longest path to what is kept or goes out are packed
//
// (latency; hlslib/delay has the stages of the target's clock), and outside of the layer one clock later: that in which
// an iteration is decided on is none of what steps hand on. A phase begins, and so does a step, as soon as every word
// that it looks at has arrived when it is read. Where turns take T clocks, one phase over its own state waits for the
// last of the W words of lcm(PE, SIMD) units that the first turn made, which it reads (W-1)/W*SF clocks after it has
// begun:
//
//	idle = max(0, T + L - S*D*T - (W-1)/W*SF)
//
// In RTL, what is kept is read at the stage of the pipeline that needs it, and written at the one at which it is made:
// L is the stages between, read off the circuit for each memory.
//
// Row r of the weights is what one clock takes, in the order of phases, cells, n and sf: element (pe*G+lane)*SIMD+i is
// W[dot][n*PE+pe][sf*SIMD+i], where G is the most dots that a phase has; lanes without one are zeros. Rows of
// parameters and of step functions are of all cells, of each cell, or of d*NF+n, and then element pe*steps+i is that of
// unit n*PE+pe. States are kept in words of lcm(PE, SIMD) units for dots, and of PE units for values; there are two
// halves where old words are still read while new ones are written.
//
// In come parameters and the types of inputs; out comes a layer. It sees layer, mac, estimate, cost, delay, boards,
// dataflow and num.
//
//	rnn.go, verify.go           parameters, and what must hold of them
//	eval.go                     the meaning: a step, a frame, frames that follow each other
//	bind.go, ranges.go          what is built of the parameters, of what every unit computes
//	tables.go, stepped.go       weights and parameters as tables; comparators of step functions
//	storage.go, timing.go       what is kept where; when phases and steps begin, and latencies
//	recurrence.go               what a step hands on to the next, for reports
//	loop.go, kernel.go, cost.go folds, ports and iterations; what they compute; what it takes
//	emit.go                     the C++: rnn.hpp's loop
//	circuit.go, position.go     the RTL: dots and memories; where an iteration stands in its frame
//	cell.go                     the program of a cell in it
package rnn

import (
	"errors"
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "RNN"

// Layer is the row of the recurrent engine in the table of layers; New makes one.
var Layer, New = layer.Define(layer.Definition[Params]{
	Name: Kind,
	Doc:  "a recurrence: the part of LSTM, GRU and plain RNN cells that depends on the step before",
	Example: `{"cells":[{
		"states":[{"next":{"phase":0,"value":3}}],
		"phases":[{"units":1,"state":0,"dots":[{"weights":[[2]]}],"values":[
			{"op":"input"},{"op":"sum"},{"op":"linear","of":[0,1],"factors":[[1],[1]]},
			{"op":"steps","of":[2],"steps":[{"at":[0],"value":[0,3]}]}]}]}],
		"outputs":[{"phase":0,"value":3}],"sequence":true}`,
	Takes:   layer.Any,
	Stepped: true,
	Bind:    bind,
})

// Params makes the layer.
type Params struct {
	Cells     []Cell `json:"cells"`               // in the order of their turns; they differ in numbers only
	Sequences int    `json:"sequences,omitempty"` // S, that are interleaved; 0 is 1
	Outputs   []Ref  `json:"outputs"`             // what goes out, a stream for each
	Sequence  bool   `json:"sequence,omitempty"`  // every step goes out, else the last one
	Starts    []int  `json:"starts,omitempty"`    // states that begin with what the inputs behind the first bring
	Keeps     bool   `json:"keeps,omitempty"`     // a frame goes on where the one before ended; Starts is empty
}

// A Cell is a program of one time step.
type Cell struct {
	States []State `json:"states"`
	Phases []Phase `json:"phases"`
}

// A State is a vector that a step begins with and replaces.
type State struct {
	Next  Ref     `json:"next"`            // the value that it becomes: one of steps or requant, which bound it
	Start []int64 `json:"start,omitempty"` // per unit; none for zeros
}

// A Ref is a value of a phase.
type Ref struct {
	Phase int `json:"phase"`
	Value int `json:"value"`
}

// A Phase is what is computed for each of its units. It looks at one vector, which all of its dots multiply.
type Phase struct {
	Units  int     `json:"units"`
	State  *int    `json:"state,omitempty"` // the vector: a state
	Of     *Ref    `json:"of,omitempty"`    // or a value of an earlier phase
	Dots   []Dot   `json:"dots,omitempty"`  // none where the phase looks at nothing
	Values []Value `json:"values"`
}

// A Dot is sums of products with the vector that a phase looks at. All dots of a layer requantise products alike.
type Dot struct {
	Weights [][]int64    `json:"weights"`           // [unit][k]
	Product *num.Requant `json:"product,omitempty"` // of every product
}

// A Value is what one operation makes of earlier values of its phase.
type Value struct {
	Op      string       `json:"op"`                // a row of Operations
	Of      []int        `json:"of,omitempty"`      // the values that it is made of
	At      int          `json:"at,omitempty"`      // which lane, dot or state, or which value of an earlier phase
	Phase   int          `json:"phase,omitempty"`   // that phase
	Factors [][]int64    `json:"factors,omitempty"` // by argument: one for all units, or one per unit
	Bias    []int64      `json:"bias,omitempty"`    // one for all units, or one per unit; none for zero
	Steps   []num.Step   `json:"steps,omitempty"`   // one for all units, or one per unit
	Requant *num.Requant `json:"requant,omitempty"`
}

// The operations of values.
const (
	Input   = "input"
	Sum     = "sum"
	OfState = "state"
	Earlier = "earlier"
	Linear  = "linear"
	Product = "product"
	Steps   = "steps"
	Requant = "requant"
)

// Verify says what is wrong with p whatever the inputs.
func (p Params) Verify() error {
	if len(p.Cells) == 0 || p.Sequences < 0 || len(p.Outputs) == 0 {
		return fmt.Errorf("%d cells, %d sequences and %d outputs, want at least one of each", len(p.Cells), p.Sequences,
			len(p.Outputs))
	}
	for d, c := range p.Cells {
		if err := c.verify(); err != nil {
			return fmt.Errorf("cell %d: %w", d, err)
		}
		if !c.like(p.Cells[0]) {
			return fmt.Errorf("cell %d: its program is another one than that of cell 0", d)
		}
	}
	first := p.Cells[0]
	for i, r := range p.Outputs {
		if !first.has(r) || slices.Contains(p.Outputs[:i], r) {
			return fmt.Errorf("output %d is no value of a phase, or goes out twice", i)
		}
	}
	for i, s := range p.Starts {
		if s < 0 || s >= len(first.States) || slices.Contains(p.Starts[:i], s) {
			return fmt.Errorf("input %d starts state %d, which is there twice or not at all", i+1, s)
		}
	}
	if p.Keeps && len(p.Starts) > 0 {
		return errors.New("a state is kept from frame to frame, and arrives with every frame")
	}
	return nil
}
