// Package mac is the arithmetic of layers with weights: multiply, accumulate, apply a step function. The C++ is
// hlslib/core/mac.hpp.
//
// A unit has channels, each with a row of K weights. From the inputs x of its row, channel c computes
//
//	y[c] = f[c](sum over k of W[c][k]*x[k])
//
// f[c] is a non-decreasing step function, built from thresholds, or absent; then y[c] is the sum. The layer decides
// which inputs a row meets, and when. Every product may pass a requantiser before it is added.
//
// PE channels are computed side by side, with SIMD products each per clock. Row n*(K/SIMD)+s of the weight table is
// consumed in one clock; its element pe*SIMD+i is W[n*PE+pe][s*SIMD+i].
//
// The accumulator is the narrowest type that holds the final sums of all channels. Intermediate sums may wrap around,
// which leaves the final sum right in two's complement. If weights and inputs are both bipolar, a product is a match
// of two bits, and the accumulator counts the matches: p matches among K are the sum 2p-K, and the thresholds are
// converted accordingly. Requantised products are always numbers.
//
// In come weights, step functions and the types of inputs; out come a unit's accumulator, its folds, its results, the
// parameters of its C++ and its circuits.
//
//   - mac.go      Unit, and how it is bound
//   - float.go    products of minifloats
//   - room.go     weights and step functions that are loaded at run time
//   - row.go, accumulator.go: ranges of weights, products and sums
//   - coding.go   weights as codes of fewer bits
//   - output.go   from sums to outputs
//   - constants.go weights that are constants in the logic
//   - lanes.go    accumulators of individual widths
//   - shared.go   sums that outputs share
//   - fold.go     folds, latency, and the fields and tables of the C++
//   - alike.go    whether two units have the same cost
//   - product.go  the cost of a single multiplication
//   - circuit.go  RTL; packed.go lets channels share DSP slices
package mac

import (
	"errors"
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// The limits that VerifyWeightsAndSteps and BindUnit check.
const (
	MaxWeightMagnitude = 1 << 40 // magnitude of a weight
	// maxThresholdsPerChannel limits the thresholds of a channel. A jump by n times the outputs' common unit counts as
	// n thresholds.
	maxThresholdsPerChannel = layer.MaxThresholdsPerChannel
	maxAccBits              = 63
)

// A Unit is the arithmetic of a matrix layer: its weights and step functions, bound to the type and ranges of their
// inputs.
type Unit struct {
	Weight num.Type       // type of a weight
	Acc    num.Type       // type of the accumulator
	XNOR   bool           // weights and inputs are bipolar, and the accumulator counts matches
	Out    num.Type       // type of an output
	Range  []num.Range    // range of each channel's output
	Codes  WeightEncoding // how tables store the weights
	Apart  bool           // no two channels share inputs; set by the caller of BindUnit

	weights   [][]int64
	rows      []*row // facts about each row of weights
	length    int64  // weights per channel
	steps     []num.StepFunction
	dots      *circuit.FunctionLibrary // circuit functions, shared with the units made by Select
	requant   *num.Requant             // applied to every product; nil for none
	in        num.Type
	span      num.Range                        // range of the weights
	inputs    num.Range                        // range of the inputs
	raw       num.Range                        // range of a weight times an input
	product   num.Range                        // range of a product after its requantiser
	bound     dataflow.AccumulatorWidthsByRule // the accumulator's width under all rules
	constants *constants
	shared    *sharedAdders
	tail
}

// A tail holds the step functions behind the accumulator: none, one for all channels, or one per channel.
type tail struct {
	live    []num.StepFunction // by channel: the function of the accumulator, over its range; nil if loaded
	matches bool               // live are functions of the number of matches
	compare num.ThresholdTable // empty without step functions
	built   *steps.StepFunctions
	room    *dataflow.LoadableWeightLimits // the room of tables that are loaded; nil for constants
	needs   dataflow.LoadableWeightLimits  // the room that tables of these types need
}

// VerifyWeightsAndSteps returns an error if weights, step functions or the requantiser of products are wrong, whatever
// the inputs are. There may be no step functions, one for all channels, or one per channel.
func VerifyWeightsAndSteps(weights [][]int64, steps []num.StepFunction, product *num.Requant) error {
	if len(weights) == 0 || len(weights[0]) == 0 {
		return errors.New("there are no weights")
	}
	for c, row := range weights {
		if len(row) != len(weights[0]) {
			return fmt.Errorf("row %d of the weights has %d elements, row 0 has %d", c, len(row), len(weights[0]))
		}
		magnitudes := int64(0) // the OR of all magnitudes
		for _, w := range row {
			magnitudes |= w ^ w>>63
		}
		if magnitudes < MaxWeightMagnitude {
			continue
		}
		for k, w := range row {
			if w > MaxWeightMagnitude || w < -MaxWeightMagnitude {
				return fmt.Errorf("weight %d of channel %d is %d, beyond 2^40", k, c, w)
			}
		}
	}
	if n := len(steps); n > 1 && n != len(weights) {
		return fmt.Errorf("%d step functions for %d channels, want none, one or %d", n, len(weights), len(weights))
	}
	if err := layer.VerifyStepFunctions(steps); err != nil {
		return err
	}
	if product != nil {
		if err := product.Verify(); err != nil {
			return fmt.Errorf("the products: %w", err)
		}
	}
	return nil
}

// BindUnit returns the unit for inputs of type in. ranges returns the ranges of the inputs that meet channel c's
// weights: one for all of them, or one for each. Each product passes the requantiser product, unless it is nil. Errors:
// a sum or product is too wide, there are too many thresholds, or a step function falls.
func BindUnit(weights [][]int64, steps []num.StepFunction, product *num.Requant, in num.Type,
	ranges func(c int) []num.Range) (*Unit, error) {
	u := &Unit{weights: weights, rows: make([]*row, len(weights)), steps: steps, requant: product, in: in,
		dots: new(circuit.FunctionLibrary)}
	rows := make([]row, len(weights))
	for c := range weights {
		rows[c] = rowOf(weights[c], product, ranges(c))
		u.rows[c] = &rows[c]
	}
	return u, bind(u)
}

// BindLoadableUnit returns what BindUnit does for weights and step functions that are loaded at run time. All types and
// circuits hold for any of them within the room. The error names the first number that does not fit.
func BindLoadableUnit(room dataflow.LoadableWeightLimits, weights [][]int64, steps []num.StepFunction,
	product *num.Requant,
	in num.Type,
	ranges func(c int) []num.Range) (*Unit, error) {
	u := &Unit{weights: weights, rows: make([]*row, len(weights)), steps: steps, requant: product, in: in,
		dots: new(circuit.FunctionLibrary), tail: tail{room: &room}}
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

// SelectChannels returns the unit of the given channels of u, as BindUnit would from their weights and step functions,
// which it takes.
func SelectChannels(u *Unit, channels []int, weights [][]int64, steps []num.StepFunction) (*Unit, error) {
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
		p.built.MarkAsChannelsOf(u.built, channels)
	}
	return p, nil
}

// pick returns the elements of the list at the given indices, in the order of the indices.
func pick[T any](list []T, at []int) []T {
	some := make([]T, len(at))
	for i, k := range at {
		some[i] = list[k]
	}
	return some
}

// bind derives all other fields of u from its weights, rows and step functions. It returns an error as BindUnit does.
func bind(u *Unit) error {
	u.length = int64(len(u.weights[0]))
	if u.Weight = narrowest(u.rows); u.room != nil {
		u.Weight = u.room.Weight
	}
	if u.XNOR = u.Weight.Kind == num.KindBipolar && u.in.Kind == num.KindBipolar; u.XNOR && u.requant != nil {
		u.XNOR, u.Weight = false, num.Type{Kind: num.KindTernary, Width: 2}
	}
	if u.Codes = codesOf(u.Weight, values(u.rows)); u.room != nil {
		u.Codes = WeightEncoding{number: u.Weight, coding: u.room.Coding}
	}
	if err := bindProduct(u); err != nil {
		return err
	}
	if floats(u) && rawBits(u) >= maxAccBits {
		return AccumulatorTooWideError{fmt.Sprintf("a product of minifloats takes more than %d bits", maxAccBits), true}
	}
	sums := make([]num.Range, len(u.rows))
	for c, r := range u.rows {
		if sums[c] = r.sum; !r.fits {
			return AccumulatorTooWideError{fmt.Sprintf("channel %d: the accumulator takes more than %d bits", c,
				maxAccBits),
				floats(u)}
		}
	}
	if err := bindAccumulator(u, sums); err != nil {
		return err
	}
	if err := u.bindOutput(sums); err != nil {
		return err
	}
	u.needs = roomFor(u)
	u.constants, u.shared = new(constants), new(sharedAdders)
	return nil
}

// An AccumulatorTooWideError says that sums or products of a layer need more bits than an accumulator may have.
type AccumulatorTooWideError struct {
	why        string
	Minifloats bool // it multiplies minifloats
}

func (e AccumulatorTooWideError) Error() string { return e.why }

// ExactOutput returns channel c's output for the sum of its products: the value of its step function, or the sum itself
// without step functions.
func (u *Unit) ExactOutput(c int, sum int64) int64 {
	if len(u.steps) == 0 {
		return sum
	}
	return layer.ElementForChannel(u.steps, c).Apply(sum)
}

// AccumulatorWidthsByRule returns the width in bits that the accumulator needs by each of several rules, for reports
// that compare them.
func (u *Unit) AccumulatorWidthsByRule() dataflow.AccumulatorWidthsByRule { return u.bound }

// channelSums returns, by channel, the sum of the weights and of their magnitudes, and the range of the sum of
// products.
func (u *Unit) channelSums() []dataflow.ChannelSumBounds {
	list := make([]dataflow.ChannelSumBounds, len(u.rows))
	for c, r := range u.rows {
		list[c] = dataflow.ChannelSumBounds{L1: r.l1, Total: r.total, Range: r.sum}
	}
	return list
}

// form returns the form of hardware in which a fold computes the step functions, or nil if there are none.
func (a *tail) form(f dataflow.Fold) steps.StepFunctionHardware {
	if a.Thresholds() == 0 {
		return nil
	}
	return a.built.CheapestFormAt(steps.FormSite{PE: f.PE, Alike: a.compare.HasSharedRow()})
}

// Logic returns the cost of the step functions in a fold, without the memories of their tables.
func (a *tail) Logic(m cost.CostModel, f dataflow.Fold) []cost.CostPart {
	if form := a.form(f); form != nil {
		return form.LogicCost(m)
	}
	return nil
}

// Thresholds returns the number of thresholds per channel, or 0 without step functions.
func (a *tail) Thresholds() int { return a.compare.ThresholdsPerChannel() }

// bindOutput sets the outputs' ranges and type, and the thresholds that compute them, for sums in the given ranges by
// channel. It returns an error for too many thresholds, and for a step function that falls.
func (u *Unit) bindOutput(sums []num.Range) error {
	if len(u.steps) == 0 {
		u.Range = sums
		u.Out = num.NarrowestIntTypeFor(dataflow.StreamType{Range: sums}.UnionOfRanges())
		return nil
	}
	if u.room != nil {
		return bindLoaded(u, sums)
	}
	acc, values := make([]num.Range, len(sums)), make([][]int64, len(sums))
	for c, r := range sums {
		acc[c] = u.accumulated(r)
	}
	if u.live == nil || u.matches != u.XNOR { // a part can be bipolar although the whole is not
		if err := bindLive(u, sums, acc); err != nil {
			return err
		}
	}
	for c := range values {
		values[c] = u.live[c].Value
	}
	u.Out = num.NarrowestTypeOfValues(values...)
	u.compare = num.NewThresholdTable(u.live, acc, u.Acc, maxThresholdsPerChannel).WithSharedRow()
	if u.compare.Delta != nil {
		return fmt.Errorf("a channel's step function takes more than %d thresholds of one unit; make it a layer of "+
			"its own", maxThresholdsPerChannel)
	}
	u.built = steps.New(u.compare, acc, u.Acc, u.Out)
	return nil
}

// bindLive restricts the step functions to the sums that occur, and sets the outputs' ranges. acc has the ranges of the
// accumulator's values. A function that falls is an error.
func bindLive(u *Unit, sums, acc []num.Range) error {
	u.live, u.Range, u.matches = make([]num.StepFunction, len(sums)), make([]num.Range, len(sums)), u.XNOR
	for c, r := range sums {
		s := u.onAccumulator(layer.ElementForChannel(u.steps, c).RestrictedTo(r)).RestrictedTo(acc[c])
		if !s.IsNonDecreasing() {
			return fmt.Errorf("channel %d: the step function falls between the sums in %v; turn it round with the "+
				"signs of the weights", c, r)
		}
		u.live[c], u.Range[c] = s, s.ValueRangeOver(acc[c])
	}
	return nil
}

// onAccumulator returns s as a function of the accumulator's value. p matches stand for the sum 2p-K, which reaches a
// breakpoint at for p >= (at+K)/2. If two breakpoints fall on one p, no sum lies between them.
func (u *Unit) onAccumulator(s num.StepFunction) num.StepFunction {
	if !u.XNOR {
		return s
	}
	m := num.StepFunction{Value: s.Value[:1:1]}
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
