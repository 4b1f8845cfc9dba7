package mac

import (
	"slices"

	"hlsgen/internal/num"
)

// A row holds the facts about one channel's weights that bind needs, found in one pass.
type row struct {
	span      num.Range          // range of the weights
	zero      bool               // a weight is 0
	l1, total int64              // sum of magnitudes, and sum of weights
	inputs    num.Range          // range of the inputs
	sum       num.Range          // range of the sum of products
	fits      bool               // the sum stays within 64 bits
	own       num.Range          // for loaded weights: the range of these weights' sum
	magnitude num.MinifloatNeeds // union of the weights' magnitudes
	values    []int64            // distinct weights in order; nil if there are more than codes
}

func rowOf(weights []int64, product *num.Requant, inputs []num.Range) row {
	r := row{span: num.SingleValueRange(weights[0]), inputs: inputs[0]}
	few := true
	var seen [256]bool // of the values that nearly all are
	for _, w := range weights {
		r.l1, r.total = r.l1+max(w, -w), r.total+w
		if w == int64(int8(w)) {
			if seen[uint8(w)] {
				continue
			}
			seen[uint8(w)] = true
		}
		r.span, r.zero = r.span.Union(num.SingleValueRange(w)), r.zero || w == 0
		r.magnitude = r.magnitude.WithValue(w)
		if few {
			r.values = with(r.values, w)
			few = len(r.values) <= num.MaxCodingCodes
		}
	}
	if !few {
		r.values = nil
	}
	for _, in := range inputs {
		r.inputs = r.inputs.Union(in)
	}
	r.sum, r.fits = ChannelSumRange(weights, product, inputs)
	return r
}

// with returns the sorted list with v inserted, or the list itself if it already contains v.
func with(list []int64, v int64) []int64 {
	i, have := slices.BinarySearch(list, v)
	if have {
		return list
	}
	return slices.Insert(list, i, v)
}

// narrowest returns the type that stores the weights of all rows in the fewest bits. It is a minifloat if that saves
// more bits than its decoder is worth.
func narrowest(rows []*row) num.Type {
	span, zero, magnitude := rows[0].span, false, num.MinifloatNeeds{}
	for _, r := range rows {
		span, zero, magnitude = span.Union(r.span), zero || r.zero, magnitude.Union(r.magnitude)
	}
	values := []int64{span.Lo, span.Hi}
	if zero {
		values = append(values, 0)
	}
	return magnitude.MinifloatIfWorthwhile(num.NarrowestTypeOfValues(values))
}
