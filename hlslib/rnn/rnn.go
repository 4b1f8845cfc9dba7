// Package rnn is the recurrent layer: a cell computes integers from those of the time step before. The cell of
// an LSTM, a GRU or a plain RNN is data: a small program over codes. A matrix layer ahead of this one computes
// the products of weights and input, which do not depend on the step before.
//
// A frame is T time steps. A step has S*D turns, for S sequences and D cells (the directions of a bidirectional
// layer). The turns are computed one after the other. Each turn has its own states, which are vectors of
// integers. A cell computes in phases. A phase has U units, and reads one vector v: a state, or a value of an
// earlier phase for all of its units. For each unit the phase first computes the sums of its dots
//
//	sum[dot] = sum over k of P(W[dot][unit][k]*v[k])
//
// and then its values, one after the other, by one operation each:
//
//	operation  is
//	input      a lane of the step's input, in the first phase
//	sum        that of a dot
//	state      the unit's element of a state, as the step found it
//	earlier    a value that an earlier phase with as many units computed for the unit
//	linear     sum over i of Factors[i]*value[i] + Bias, each of all units or one per unit
//	product    of two values
//	steps      a step function of a value (num.StepFunction), of all units or one per unit
//	requant    multiply, shift, round, clip (num.Requant)
//
// P is a requantiser, or absent. At the end of a step a value of some phase replaces each state. For example
//
//	LSTM     one phase over h: four sums; z = linear(input, sum), i = steps(z) ...;
//	         h' = requant(product(o, steps(c')))
//	         c' = requant(linear(requant(product(f, state c)), requant(product(i, g))))
//	GRU      one phase over h where the reset gate multiplies the sum (ONNX: linear_before_reset = 1); else two: the
//	         reset gate and r*h first, and the products of the candidate over r*h
//	LSTMP    two phases: the cells, and the projection over what they made
//
// The input has the shape [T, S*D*U*X], or [S*D*U*X] for one step. X >= 1 is the number of lanes for each unit
// of the first phase; the element is numbered ((s*D+d)*U+unit)*X+lane. An output is a value of every step, with
// the shape [T, S*D*U], or of the last step, with the shape [S*D*U]. Its element is numbered (s*D+d)*U+unit,
// with U of the value's phase. If the input has an axis of sequences, [T, S, D*U*X], the others have it, too:
// [T, S, D*U] and [S, D*U].
//
// Every frame starts with the states' Start. States in Starts begin with a further input of shape [S*D*U]
// instead. If the layer keeps its state, a frame starts with the states at the end of the frame before.
//
// PE units of a phase are computed side by side, and each of their dots consumes SIMD elements of the vector
// per clock. PE divides the units of every phase, SIMD the length of every vector. Some parts are not built:
// dots with only zero weights, constant values, and values that no output depends on. A phase without dots
// takes one clock for PE units. With NF = U/PE and SF = len(v)/SIMD (1 without dots), the loop is
//
//	head clocks in which states arrive, PE units of each input a clock, and `rest` clocks
//	for t < T: for every phase { for turn < S*D: for n < NF: for sf < SF: one clock, and `idle` clocks of the phase }
//
// without the idle clocks after the last step, unless the state is kept. Iterations of the first phase with sf
// = SF-1 read a word of the input: X*PE elements, those of units n*PE to n*PE+PE-1 of the turn. Iterations of
// any phase with sf = SF-1 write a word of each of the phase's outputs, if the output has this step. A word
// that a phase writes arrives L clocks later, where
//
//	L = the pipeline stages of the longest path of operations to a value that is stored or written
//
// (latency; hlslib/price/delay has the stages for the target's clock). Outside of the layer the word arrives one
// clock later: the clock that decides whether an iteration takes place is no part of what one step hands to the
// next. A phase begins when every word that it reads will have arrived at the time of its reading, and so does
// a step. Take one phase that reads its own state, with turns of T clocks. It waits for the last of the W words
// of lcm(PE, SIMD) units that the first turn made. It reads this word (W-1)/W*SF clocks after its begin:
//
//	idle = max(0, T + L - S*D*T - (W-1)/W*SF)
//
// In RTL, a memory is read at the pipeline stage that needs the word, and written at the stage that makes it. L
// is the number of stages between, read off the circuit for each memory.
//
// A row of the weights is consumed in one clock. The rows are in the order of phases, cells, n and sf. Element
// (pe*G+lane)*SIMD+i of a row is W[dot][n*PE+pe][sf*SIMD+i], where G is the largest number of dots in a phase;
// lanes without a dot have zeros. Tables of parameters and step functions have one row for all cells, one per
// cell, or one per word: row d*NF+n, with element pe*steps+i for unit n*PE+pe. States are stored in words of
// lcm(PE, SIMD) units for dots, and of PE units for values. A memory has two halves if old words are still read
// while new ones are written.
//
// In come parameters and the types of inputs; out comes a layer.
//
//	rnn.go, verify.go           parameters, and the checks of them
//	eval.go                     the reference computation: a step, a frame, consecutive frames
//	bind.go, ranges.go          from parameters to hardware; the range of every value
//	tables.go, stepped.go       weights and parameters as tables; comparators of step functions
//	storage.go, timing.go       the memories; when phases and steps begin, and latencies
//	recurrence.go               the path from a step to the next, for reports
//	loop.go, kernel.go, cost.go folds, ports and iterations; a simulation of them; resources
//	emit.go, code.go            the C++: the config of rnn.hpp's loop, and the program
//	circuit.go, position.go     the RTL: dots and memories; the position of an iteration in its frame
//	cell.go                     the program of a cell in RTL
package rnn

import (
	"errors"
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/num"
)

// KindName is the name of this kind of layer.
const KindName = "RNN"

// LayerKind describes the recurrent layer in the table of layers, hlslib.LayerKinds. New returns a layer of this kind
// with the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name: KindName,
	Doc:  "a recurrence: the part of LSTM, GRU and plain RNN cells that depends on the step before",
	Example: `{"cells":[{
		"states":[{"next":{"phase":0,"value":3}}],
		"phases":[{"units":1,"state":0,"dots":[{"weights":[[2]]}],"values":[
			{"op":"input"},{"op":"sum"},{"op":"linear","of":[0,1],"factors":[[1],[1]]},
			{"op":"steps","of":[2],"steps":[{"at":[0],"value":[0,3]}]}]}]}],
		"outputs":[{"phase":0,"value":3}],"sequence":true}`,
	Takes:   layer.AcceptAnyInputs,
	Stepped: true,
	Bind:    bind,
})

// Params are the parameters of the recurrent layer: by direction the program of a time step, and what is read and
// written.
type Params struct {
	Cells     []Cell     `json:"cells"`               // in the order of their turns; they differ only in numbers
	Sequences int        `json:"sequences,omitempty"` // S, the interleaved sequences; 0 means 1
	Outputs   []ValueRef `json:"outputs"`             // the values that are written, one stream each
	Sequence  bool       `json:"sequence,omitempty"`  // every step is written, else only the last
	Starts    []int      `json:"starts,omitempty"`    // states whose initial values the second and further inputs bring
	Keeps     bool       `json:"keeps,omitempty"`     // a frame starts with the last frame's states; Starts is empty
}

// A Cell is the program that one direction of the layer runs in each time step: its states, and the phases that compute
// values.
type Cell struct {
	States []StateDefinition `json:"states"`
	Phases []CellPhase       `json:"phases"`
}

// A StateDefinition is a vector that a time step reads, and replaces at its end by a value.
type StateDefinition struct {
	Next  ValueRef `json:"next"`            // its next value, made by steps or requant, which bound it
	Start []int64  `json:"start,omitempty"` // initial value per unit; zeros if empty
}

// A ValueRef names a value of a cell, by the number of its phase and its number there.
type ValueRef struct {
	Phase int `json:"phase"`
	Value int `json:"value"`
}

// A CellPhase computes the same values for each of its units, one after the other. All of its dots multiply one vector.
type CellPhase struct {
	Units  int                 `json:"units"`
	State  *int                `json:"state,omitempty"` // the vector is this state
	Of     *ValueRef           `json:"of,omitempty"`    // or this value of an earlier phase
	Dots   []CellMatrixProduct `json:"dots,omitempty"`  // none if there is no vector
	Values []CellOperation     `json:"values"`
}

// A CellMatrixProduct multiplies a matrix with the vector of its phase. All dots of a layer requantise products alike.
type CellMatrixProduct struct {
	Weights [][]int64    `json:"weights"`           // [unit][k]
	Product *num.Requant `json:"product,omitempty"` // applied to every product
}

// A CellOperation is the result of one operation for each unit of a phase.
type CellOperation struct {
	Op      string             `json:"op"`                // one of the operations below
	Of      []int              `json:"of,omitempty"`      // the arguments: earlier values of the phase
	At      int                `json:"at,omitempty"`      // number of the lane, dot, state or earlier phase's value
	Phase   int                `json:"phase,omitempty"`   // that earlier phase
	Factors [][]int64          `json:"factors,omitempty"` // by argument: one for all units, or one per unit
	Bias    []int64            `json:"bias,omitempty"`    // one for all units, or one per unit
	Steps   []num.StepFunction `json:"steps,omitempty"`   // one for all units, or one per unit
	Requant *num.Requant       `json:"requant,omitempty"`
}

// The operations of values.
const (
	OpInput             = "input"
	OpDot               = "sum"
	OpState             = "state"
	OpEarlierPhaseValue = "earlier"
	OpLinear            = "linear"
	OpProduct           = "product"
	OpStepFunction      = "steps"
	OpRequant           = "requant"
)

// Verify reports what is wrong with the parameters, whatever the inputs are.
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
