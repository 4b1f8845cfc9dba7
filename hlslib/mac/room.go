package mac

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Room returns the limits of weights and step functions that fit the unit's types.
func (a *tail) Room() dataflow.LoadableWeightLimits { return a.needs }

// roomFor returns the limits of weights and step functions that fit the unit's types.
func roomFor(u *Unit) dataflow.LoadableWeightLimits {
	if u.room != nil {
		return *u.room
	}
	all := u.rows[0].span
	for _, r := range u.rows {
		all = all.Union(r.span)
	}
	var out num.Type
	if len(u.steps) > 0 {
		out = u.Out
	}
	return dataflow.NewLoadableWeightLimits(narrowest(u.rows), all, u.Codes.coding, out)
}

// Loads reports whether tables are loaded at run time: of step functions, or of weights that do not come with every
// frame.
func (a *tail) Loads() bool { return a.room != nil && (!a.External() || a.Thresholds() > 0) }

// External reports whether the weights come from memory with every frame.
func (a *tail) External() bool { return a.room != nil && a.room.External }

// roomOf returns the facts about a row of weights that hold for any weights within the room. The error names the first
// of the given weights outside it.
func roomOf(room dataflow.LoadableWeightLimits, weights []int64, product *num.Requant, inputs []num.Range) (row,
	error) {
	lo, hi := room.Values.Lo, room.Values.Hi
	for k, w := range weights {
		if !room.Values.Contains(w) || !room.Weight.Holds(w) {
			return row{}, fmt.Errorf("weight %d is %d, and the hardware has room for %s, %d to %d", k, w, room.Weight,
				lo, hi)
		}
		if room.Coding != nil && !room.Coding.HasCodeFor(w) {
			return row{}, fmt.Errorf("weight %d is %d, and the hardware has room for %v", k, w,
				slices.Sorted(slices.Values(room.Coding.Values)))
		}
	}
	most := max(hi, -lo)
	n := int64(len(weights))
	r := row{span: room.Values, zero: room.Weight.Kind != num.KindBipolar, l1: n * most, total: 1, inputs: inputs[0],
		fits: true}
	for k := range weights {
		in := inputs[min(k, len(inputs)-1)]
		r.inputs = r.inputs.Union(in)
		a, ok1 := in.TimesConstant(lo)
		b, ok2 := in.TimesConstant(hi)
		p, ok3 := a.Union(b), true
		if product != nil {
			p, ok3 = product.ResultRange(p)
		}
		sum, ok4 := r.sum.Plus(p)
		if r.fits = r.fits && ok1 && ok2 && ok3 && ok4; r.fits {
			r.sum = sum
		}
	}
	r.own, _ = ChannelSumRange(weights, product, inputs) // lies within r.sum
	return r, nil
}

// bindLoaded sets the outputs for any step functions within the room: there are as many thresholds as codes above the
// least. If a function starts above the least code, the thresholds below are the accumulator's least value, which
// every sum exceeds. If it ends below the greatest code, the thresholds above are never exceeded.
func bindLoaded(u *Unit, sums []num.Range) error {
	u.Out = u.room.Out
	codes, unit := u.Out.Range(), int64(1)
	if u.Out.Kind == num.KindBipolar {
		unit = 2
	}
	all := (codes.Hi - codes.Lo) / unit
	if all > maxThresholdsPerChannel {
		return fmt.Errorf("codes of %s take %d thresholds, at most %d are possible", u.Out, all,
			maxThresholdsPerChannel)
	}
	acc := make([]num.Range, len(sums))
	u.compare = num.ThresholdTable{Base: []int64{codes.Lo}, Count: int(all), Unit: unit}
	for c := range u.weights {
		acc[c] = u.accumulated(sums[c])
		list, err := thresholds(u, c, codes, unit)
		if err != nil {
			return fmt.Errorf("channel %d: %w", c, err)
		}
		u.compare.At, u.Range = append(u.compare.At, list), append(u.Range, codes)
	}
	u.built = steps.NewLoadableStepFunctions(u.compare, acc, u.Acc, u.Out)
	return nil
}

// thresholds returns the thresholds of channel c's step function, as the least values that exceed them. codes and unit
// are the range and distance of its outputs. It returns an error if the function has other ones.
func thresholds(u *Unit, c int, codes num.Range, unit int64) (list []int64, err error) {
	own := u.rows[c].own
	s := u.onAccumulator(layer.ElementForChannel(u.steps, c).RestrictedTo(own)).RestrictedTo(u.accumulated(own))
	if !s.IsNonDecreasing() {
		return nil, fmt.Errorf("the step function falls; turn it round with the signs of the weights")
	}
	before := codes.Lo
	for i, v := range s.Value {
		if !u.Out.Holds(v) || !codes.Contains(v) {
			return nil, fmt.Errorf("a code is %d, and the hardware has room for %s, %d to %d", v, u.Out, codes.Lo,
				codes.Hi)
		}
		at := u.Acc.Range().Lo + 1
		if i > 0 {
			at = s.At[i-1]
		}
		for ; before < v; before += unit {
			list = append(list, at)
		}
	}
	return list, nil
}
