package mac

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Room is what weights of the unit's types need.
func (a *tail) Room() dataflow.Room { return a.needs }

// roomFor is what weights of a unit's types need.
func roomFor(u *Unit) dataflow.Room {
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
	return dataflow.RoomOf(narrowest(u.rows), all, u.Codes.coding, out)
}

// Loads reports whether there are tables that are loaded: of weights, unless these come with every frame, or of step
// functions.
func (a *tail) Loads() bool { return a.room != nil && (!a.External() || a.Thresholds() > 0) }

// External reports whether weights come from memory with every frame.
func (a *tail) External() bool { return a.room != nil && a.room.External }

// roomOf is what is known of a row of weights that have room: that of any others. The error says which of them has
// none.
func roomOf(room dataflow.Room, weights []int64, product *num.Requant, inputs []num.Range) (row, error) {
	lo, hi := room.Values.Lo, room.Values.Hi
	for k, w := range weights {
		if !room.Values.Contains(w) || !room.Weight.Holds(w) {
			return row{}, fmt.Errorf("weight %d is %d, and the hardware has room for %s, %d to %d", k, w, room.Weight,
				lo, hi)
		}
		if room.Coding != nil && !room.Coding.Holds(w) {
			return row{}, fmt.Errorf("weight %d is %d, and the hardware has room for %v", k, w,
				slices.Sorted(slices.Values(room.Coding.Values)))
		}
	}
	most := max(hi, -lo)
	n := int64(len(weights))
	r := row{span: room.Values, zero: room.Weight.Kind != num.Bipolar, l1: n * most, total: 1, inputs: inputs[0],
		fits: true}
	for k := range weights {
		in := inputs[min(k, len(inputs)-1)]
		r.inputs = r.inputs.Union(in)
		a, ok1 := in.Times(lo)
		b, ok2 := in.Times(hi)
		p, ok3 := a.Union(b), true
		if product != nil {
			p, ok3 = product.Range(p)
		}
		sum, ok4 := r.sum.Plus(p)
		if r.fits = r.fits && ok1 && ok2 && ok3 && ok4; r.fits {
			r.sum = sum
		}
	}
	r.own, _ = Sum(weights, product, inputs) // which lies in it
	return r, nil
}

// bindLoaded derives outputs of any step functions that have room: as many thresholds as there are codes above the
// least. Those below the codes that a function begins with are the accumulator's least value, which no sum is, those
// above the codes that it ends with are never exceeded.
func bindLoaded(u *Unit, sums []num.Range) error {
	u.Out = u.room.Out
	codes, unit := u.Out.Range(), int64(1)
	if u.Out.Kind == num.Bipolar {
		unit = 2
	}
	all := (codes.Hi - codes.Lo) / unit
	if all > MaxThresholds {
		return fmt.Errorf("codes of %s take %d thresholds, at most %d are possible", u.Out, all, MaxThresholds)
	}
	acc := make([]num.Range, len(sums))
	u.compare = num.Comparators{Base: []int64{codes.Lo}, Count: int(all), Unit: unit}
	for c := range u.weights {
		acc[c] = u.accumulated(sums[c])
		list, err := thresholds(u, c, codes, unit)
		if err != nil {
			return fmt.Errorf("channel %d: %w", c, err)
		}
		u.compare.At, u.Range = append(u.compare.At, list), append(u.Range, codes)
	}
	u.built = steps.Loaded(u.compare, acc, u.Acc, u.Out)
	return nil
}

// thresholds are those of a channel's step function: from where on they are exceeded.
func thresholds(u *Unit, c int, codes num.Range, unit int64) (list []int64, err error) {
	own := u.rows[c].own
	s := u.onAccumulator(layer.Of(u.steps, c).Over(own)).Over(u.accumulated(own))
	if !s.NonDecreasing() {
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
