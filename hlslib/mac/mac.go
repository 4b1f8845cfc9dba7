// Package mac is the arithmetic of layers with weights: multiply, accumulate, apply a step function. Its C++ is
// hlslib/core/mac.hpp.
//
// A unit has channels, each with a row of K weights. From the inputs x that meet its row, channel c makes
//
//	y[c] = f[c](sum over k of W[c][k]*x[k])
//
// f[c] is a non-decreasing step function, built of thresholds, or nothing, and then y[c] is the sum. Which inputs meet
// which row is the layer's to say, and so is when. Every product may go through a requantiser before it is summed.
//
// PE channels are computed side by side, each from SIMD products a clock. Row n*(K/SIMD)+s of the weight table is what
// one clock takes: element pe*SIMD+i of it is W[n*PE+pe][s*SIMD+i].
//
// The accumulator is the narrowest type that holds the final sums of all channels; what lies between may wrap around,
// which two's complement forgives. Where weights and inputs are both bipolar, products are matches of bits and the
// accumulator counts them: p matches in K are a sum of 2p-K, and thresholds are moved likewise. Products that are
// requantised are numbers.
//
// In come weights, step functions and the types of inputs; out come a unit's accumulator, its folds, its results and
// the parameters of its C++. It sees layer, cost, delay, dataflow
// and num.
package mac

import (
	"errors"
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Limits of what Verify and Bind accept.
const (
	MaxWeight = 1 << 40 // magnitude of a weight
	// MaxThresholds is the most of one channel: a jump by n of the outputs' common unit is n thresholds.
	MaxThresholds = layer.MaxThresholds
	maxAccBits    = 63
)

// A Unit is weights and step functions bound to their inputs.
type Unit struct {
	Weight num.Type    // of one weight
	Acc    num.Type    // of the accumulator
	XNOR   bool        // weights and inputs are bipolar, the accumulator counts matches
	Out    num.Type    // of one output
	Range  []num.Range // of each channel's output

	weights [][]int64
	steps   []num.Step
	requant *num.Requant // of every product, nil for none
	in      num.Type
	raw     num.Range       // one weight times one input
	product num.Range       // of what is summed
	compare num.Comparators // no rows without step functions
	bound   dataflow.Bound  // the accumulator by all rules
}

// Verify checks what is wrong with weights, step functions and the requantiser of products whatever the inputs. There
// are no step functions, one for all channels, or one per channel.
func Verify(weights [][]int64, steps []num.Step, product *num.Requant) error {
	if len(weights) == 0 || len(weights[0]) == 0 {
		return errors.New("there are no weights")
	}
	for c, row := range weights {
		if len(row) != len(weights[0]) {
			return fmt.Errorf("row %d of the weights has %d elements, row 0 has %d", c, len(row), len(weights[0]))
		}
		for k, w := range row {
			if w > MaxWeight || w < -MaxWeight {
				return fmt.Errorf("weight %d of channel %d is %d, beyond 2^40", k, c, w)
			}
		}
	}
	if n := len(steps); n > 1 && n != len(weights) {
		return fmt.Errorf("%d step functions for %d channels, want none, one or %d", n, len(weights), len(weights))
	}
	if err := layer.VerifySteps(steps); err != nil {
		return err
	}
	if product != nil {
		if err := product.Verify(); err != nil {
			return fmt.Errorf("the products: %w", err)
		}
	}
	return nil
}

// Bind makes the unit for inputs of type in. ranges gives the values of the inputs that meet channel c's weights: one
// range for all of them, or one for each. Every product goes through the requantiser, if there is one.
func Bind(weights [][]int64, steps []num.Step, product *num.Requant, in num.Type,
	ranges func(c int) []num.Range) (*Unit, error) {
	u := &Unit{weights: weights, steps: steps, requant: product, in: in, Weight: num.Narrowest(weights...)}
	if u.XNOR = u.Weight.Kind == num.Bipolar && in.Kind == num.Bipolar; u.XNOR && product != nil {
		u.XNOR, u.Weight = false, num.Type{Kind: num.Ternary, Width: 2}
	}
	inputs := ranges(0)[0]
	for c := range weights {
		for _, r := range ranges(c) {
			inputs = inputs.Union(r)
		}
	}
	if err := u.bindProduct(inputs); err != nil {
		return nil, err
	}
	sums := make([]num.Range, len(weights))
	for c, row := range weights {
		var ok bool
		if sums[c], ok = Sum(row, product, ranges(c)); !ok {
			return nil, fmt.Errorf("channel %d: the accumulator leaves 64 bits", c)
		}
	}
	if err := u.bindAccumulator(sums); err != nil {
		return nil, err
	}
	if err := u.bindOutput(sums); err != nil {
		return nil, err
	}
	return u, nil
}

// Exact is channel c's output of a sum.
func (u *Unit) Exact(c int, sum int64) int64 {
	if len(u.steps) == 0 {
		return sum
	}
	return layer.Of(u.steps, c).Apply(sum)
}

// Accumulator tells the accumulator's width by all rules.
func (u *Unit) Accumulator() dataflow.Bound { return u.bound }

// Thresholds is the number of thresholds of a channel, 0 without step functions.
func (u *Unit) Thresholds() int { return u.compare.Steps() }

// bindOutput derives the outputs' ranges and element type, and the comparators that make them.
func (u *Unit) bindOutput(sums []num.Range) error {
	if len(u.steps) == 0 {
		u.Range = sums
		u.Out = num.Smallest(dataflow.Type{Range: sums}.Union())
		return nil
	}
	u.Range = make([]num.Range, len(sums))
	steps, values, acc := make([]num.Step, len(sums)), make([][]int64, len(sums)), make([]num.Range, len(sums))
	for c, r := range sums {
		acc[c] = u.accumulated(r)
		steps[c] = u.onAccumulator(layer.Of(u.steps, c).Over(r)).Over(acc[c])
		if !steps[c].NonDecreasing() {
			return fmt.Errorf("channel %d: the step function falls between the sums in %v; turn it round with the "+
				"signs of the weights", c, r)
		}
		u.Range[c], values[c] = steps[c].Reach(acc[c]), steps[c].Value
	}
	u.Out = num.Narrowest(values...)
	u.compare = num.Compare(steps, acc, u.Acc, MaxThresholds).Merged()
	if u.compare.Delta != nil {
		return fmt.Errorf("a channel's step function takes more than %d thresholds of one unit; make it a layer of "+
			"its own", MaxThresholds)
	}
	return nil
}

// onAccumulator is s as a function of the accumulator. Matches p stand for the sum 2p-K, which reaches a breakpoint at
// from p = (at+K)/2 on, rounded up; of two breakpoints that meet there, no sum lies between.
func (u *Unit) onAccumulator(s num.Step) num.Step {
	if !u.XNOR {
		return s
	}
	m := num.Step{Value: s.Value[:1:1]}
	for i, at := range s.At {
		p := (at + u.inputs() + 1) >> 1
		if n := len(m.At); n > 0 && m.At[n-1] == p {
			m.Value[n] = s.Value[i+1]
			continue
		}
		m.At, m.Value = append(m.At, p), append(m.Value, s.Value[i+1])
	}
	return m
}

// inputs is the number of weights of a channel.
func (u *Unit) inputs() int64 { return int64(len(u.weights[0])) }
