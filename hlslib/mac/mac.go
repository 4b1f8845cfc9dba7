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
// In come weights, step functions and the types of inputs; out come a unit's accumulator, its folds, its results, the
// parameters of its C++ and its circuits. It sees layer, steps, estimate, cells, cost, delay, circuit,
// dataflow and num.
//
//   - mac.go      Unit: what it is bound to
//   - room.go     weights and step functions that are loaded
//   - row.go, accumulator.go: what is known of weights, products and sums
//   - coding.go   weights as codes of fewer bits
//   - output.go   outputs of sums
//   - constants.go weights that are constants of the logic
//   - lanes.go    accumulators as wide as each PE needs
//   - fold.go     folds, stages, and what C++ asks for
//   - alike.go    which units take the same
//   - float.go    products of minifloats
//   - product.go  a single multiplication: what it takes
//   - circuit.go  RTL; packed.go has channels share DSP slices
package mac

import (
	"errors"
	"fmt"

	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/circuit"
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
	Codes  Codes       // of weights in tables
	Apart  bool        // no two channels have inputs in common; what binds the unit says so

	weights   [][]int64
	rows      []*row // what is known of each row of weights
	length    int64  // weights of a channel
	steps     []num.Step
	dots      *circuit.Library // circuits, which parts have in common
	requant   *num.Requant     // of every product, nil for none
	in        num.Type
	span      num.Range      // of the weights
	inputs    num.Range      // that meet them
	raw       num.Range      // one weight times one input
	product   num.Range      // of what is summed
	bound     dataflow.Bound // the accumulator by all rules
	constants *constants
	tail
}

// A tail is the step functions behind the accumulator: none, one for all channels, or one per channel.
type tail struct {
	live    []num.Step      // of each channel, of the accumulator, where sums are; nil where they are loaded
	matches bool            // that is of counts of matches
	compare num.Comparators // no rows without step functions
	built   *steps.Functions
	room    *dataflow.Room // nil where they, and the weights, are constants
	needs   dataflow.Room  // what weights and codes of such types do
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
		magnitudes := int64(0) // no bit is in any that is not here
		for _, w := range row {
			magnitudes |= w ^ w>>63
		}
		if magnitudes < MaxWeight {
			continue
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
	u := &Unit{weights: weights, rows: make([]*row, len(weights)), steps: steps, requant: product, in: in,
		dots: new(circuit.Library)}
	rows := make([]row, len(weights))
	for c := range weights {
		rows[c] = rowOf(weights[c], product, ranges(c))
		u.rows[c] = &rows[c]
	}
	return u, bind(u)
}

// Loaded is Bind with tables that are loaded: all that follows of weights and step functions is so for all that there
// is room for, and the same circuit. The error says what there is no room for.
func Loaded(room dataflow.Room, weights [][]int64, steps []num.Step, product *num.Requant, in num.Type,
	ranges func(c int) []num.Range) (*Unit, error) {
	u := &Unit{weights: weights, rows: make([]*row, len(weights)), steps: steps, requant: product, in: in,
		dots: new(circuit.Library), tail: tail{room: &room}}
	switch codes := room.Out != (num.Type{}); {
	case codes && len(steps) == 0:
		return nil, fmt.Errorf("it gives its sums, and the hardware gives codes of %s", room.Out)
	case !codes && len(steps) > 0:
		return nil, errors.New("it has step functions behind its sums, and the hardware gives the sums")
	}
	for c := range weights {
		r, err := roomOf(room, weights[c], product, ranges(c))
		if err != nil {
			return nil, fmt.Errorf("channel %d: %w", c, err)
		}
		u.rows[c] = &r
	}
	return u, bind(u)
}

// Part is the unit of some channels of another, as Bind would make it of their weights and step functions.
func Part(u *Unit, channels []int, weights [][]int64, steps []num.Step) (*Unit, error) {
	p := &Unit{Apart: u.Apart, requant: u.requant, in: u.in, dots: u.dots, tail: tail{room: u.room}, weights: weights,
		steps: steps}
	p.rows = pick(u.rows, channels)
	if u.live != nil {
		p.live, p.Range, p.matches = pick(u.live, channels), pick(u.Range, channels), u.matches
	}
	if err := bind(p); err != nil {
		return nil, err
	}
	if p.built != nil {
		p.built.Share(u.built, channels)
	}
	return p, nil
}

// pick is some of a list.
func pick[T any](list []T, at []int) []T {
	some := make([]T, len(at))
	for i, k := range at {
		some[i] = list[k]
	}
	return some
}

// bind derives everything else from weights, rows and step functions.
func bind(u *Unit) error {
	u.length = int64(len(u.weights[0]))
	if u.Weight = narrowest(u.rows); u.room != nil {
		u.Weight = u.room.Weight
	}
	if u.XNOR = u.Weight.Kind == num.Bipolar && u.in.Kind == num.Bipolar; u.XNOR && u.requant != nil {
		u.XNOR, u.Weight = false, num.Type{Kind: num.Ternary, Width: 2}
	}
	if u.Codes = codesOf(u.Weight, values(u.rows)); u.room != nil {
		u.Codes = Codes{number: u.Weight, coding: u.room.Coding}
	}
	if err := bindProduct(u); err != nil {
		return err
	}
	if floats(u) && rawBits(u) >= maxAccBits {
		return TooWide{fmt.Sprintf("a product of minifloats takes more than %d bits", maxAccBits), true}
	}
	sums := make([]num.Range, len(u.rows))
	for c, r := range u.rows {
		if sums[c] = r.sum; !r.fits {
			return TooWide{fmt.Sprintf("channel %d: the accumulator takes more than %d bits", c, maxAccBits), floats(u)}
		}
	}
	if err := bindAccumulator(u, sums); err != nil {
		return err
	}
	if err := u.bindOutput(sums); err != nil {
		return err
	}
	u.needs = roomFor(u)
	u.constants = new(constants)
	return nil
}

// TooWide is why a layer is refused whose sums, or products, take more bits than an accumulator has.
type TooWide struct {
	why        string
	Minifloats bool // it multiplies minifloats
}

func (e TooWide) Error() string { return e.why }

// Exact is channel c's output of a sum.
func (u *Unit) Exact(c int, sum int64) int64 {
	if len(u.steps) == 0 {
		return sum
	}
	return layer.Of(u.steps, c).Apply(sum)
}

// Accumulator tells the accumulator's width by all rules.
func (u *Unit) Accumulator() dataflow.Bound { return u.bound }

// ChannelSums tells of each channel's weights and sums.
func (u *Unit) ChannelSums() []dataflow.ChannelSum {
	list := make([]dataflow.ChannelSum, len(u.rows))
	for c, r := range u.rows {
		list[c] = dataflow.ChannelSum{L1: r.l1, Total: r.total, Range: r.sum}
	}
	return list
}

// form is how the step functions are built in a fold; nil without any.
func (a *tail) form(f dataflow.Fold) steps.Form {
	if a.Thresholds() == 0 {
		return nil
	}
	return a.built.At(steps.Site{PE: f.PE, Alike: a.compare.Shared()})
}

// Logic is what the step functions take beside their tables, in a fold.
func (a *tail) Logic(m cost.Model, f dataflow.Fold) []cost.Part {
	if form := a.form(f); form != nil {
		return form.Logic(m)
	}
	return nil
}

// Thresholds is the number of thresholds of a channel, 0 without step functions.
func (a *tail) Thresholds() int { return a.compare.Steps() }

// bindOutput derives the outputs' ranges and element type, and the comparators that make them.
func (u *Unit) bindOutput(sums []num.Range) error {
	if len(u.steps) == 0 {
		u.Range = sums
		u.Out = num.Smallest(dataflow.Type{Range: sums}.Union())
		return nil
	}
	if u.room != nil {
		return bindLoaded(u, sums)
	}
	acc, values := make([]num.Range, len(sums)), make([][]int64, len(sums))
	for c, r := range sums {
		acc[c] = u.accumulated(r)
	}
	if u.live == nil || u.matches != u.XNOR { // a part may have signs alone
		if err := bindLive(u, sums, acc); err != nil {
			return err
		}
	}
	for c := range values {
		values[c] = u.live[c].Value
	}
	u.Out = num.Narrowest(values...)
	u.compare = num.Compare(u.live, acc, u.Acc, MaxThresholds).Merged()
	if u.compare.Delta != nil {
		return fmt.Errorf("a channel's step function takes more than %d thresholds of one unit; make it a layer of "+
			"its own", MaxThresholds)
	}
	u.built = steps.New(u.compare, acc, u.Acc, u.Out)
	return nil
}

// bindLive finds what step functions are where sums are, and their outputs.
func bindLive(u *Unit, sums, acc []num.Range) error {
	u.live, u.Range, u.matches = make([]num.Step, len(sums)), make([]num.Range, len(sums)), u.XNOR
	for c, r := range sums {
		s := u.onAccumulator(layer.Of(u.steps, c).Over(r)).Over(acc[c])
		if !s.NonDecreasing() {
			return fmt.Errorf("channel %d: the step function falls between the sums in %v; turn it round with the "+
				"signs of the weights", c, r)
		}
		u.live[c], u.Range[c] = s, s.Reach(acc[c])
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
		p := (at + u.length + 1) >> 1
		if n := len(m.At); n > 0 && m.At[n-1] == p {
			m.Value[n] = s.Value[i+1]
			continue
		}
		m.At, m.Value = append(m.At, p), append(m.Value, s.Value[i+1])
	}
	return m
}
