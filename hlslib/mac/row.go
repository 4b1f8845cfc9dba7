package mac

import (
	"slices"

	"hlsgen/internal/num"
)

// A row is what is known of a row of weights: all that binding asks of it, in one pass.
type row struct {
	span      num.Range     // of the weights
	zero      bool          // one of them is 0
	l1, total int64         // sum of their magnitudes, and of themselves
	inputs    num.Range     // of the inputs that meet them
	sum       num.Range     // of the products
	fits      bool          // the sum does not leave 64 bits
	own       num.Range     // of a row that has room, the sum of these weights
	magnitude num.Magnitude // of the weights
	values    []int64       // that occur among them, in order; nil where they are more than codes
}

func rowOf(weights []int64, product *num.Requant, inputs []num.Range) row {
	r := row{span: num.Point(weights[0]), inputs: inputs[0]}
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
		r.span, r.zero = r.span.Union(num.Point(w)), r.zero || w == 0
		r.magnitude = r.magnitude.With(w)
		if few {
			r.values = with(r.values, w)
			few = len(r.values) <= num.MostCodes
		}
	}
	if !few {
		r.values = nil
	}
	for _, in := range inputs {
		r.inputs = r.inputs.Union(in)
	}
	r.sum, r.fits = Sum(weights, product, inputs)
	return r
}

// with is a list in order, and v in its place, if it is not there.
func with(list []int64, v int64) []int64 {
	i, have := slices.BinarySearch(list, v)
	if have {
		return list
	}
	return slices.Insert(list, i, v)
}

// narrowest is the type that holds the weights of rows in the fewest bits: minifloats where these are fewer by more
// than their decoder is worth.
func narrowest(rows []*row) num.Type {
	span, zero, magnitude := rows[0].span, false, num.Magnitude{}
	for _, r := range rows {
		span, zero, magnitude = span.Union(r.span), zero || r.zero, magnitude.Union(r.magnitude)
	}
	values := []int64{span.Lo, span.Hi}
	if zero {
		values = append(values, 0)
	}
	return magnitude.Denser(num.Narrowest(values))
}
