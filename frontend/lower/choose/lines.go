package choose

import (
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/real"
	"hlsgen/hlslib/requant"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// quantisersOf returns the given functions as quantisers. It returns nil if a function is none.
func quantisersOf(functions []*real.Expr) []num.ExactQuantiser {
	list := make([]num.ExactQuantiser, len(functions))
	for c, f := range functions {
		if c > 0 && f == functions[c-1] {
			list[c] = list[c-1]
			continue
		}
		var ok bool
		if list[c], ok = real.QuantiserOfAnyTies(f); !ok {
			return nil
		}
	}
	return list
}

// channelRanges returns the ranges of the first n channels of a stream of type t.
func channelRanges(t dataflow.StreamType, n int) []num.Range {
	ranges := make([]num.Range, n)
	for c := range ranges {
		ranges[c] = t.ChannelRange(c)
	}
	return ranges
}

// longLines returns parameters of a layer with multipliers of any length for functions of the channels of a stream of
// type in, if each is a line that is rounded and clipped, or two lines that meet. ok is false if there are none.
func longLines(functions []*real.Expr, in dataflow.StreamType) (p requant.Params, ok bool) {
	x := channelRanges(in, len(functions))
	if lines := quantisersOf(functions); lines != nil {
		return requant.FitLongQuantisers(lines, x)
	}
	if all := in.UnionOfRanges(); allEqual(functions) {
		functions, x = functions[:1], []num.Range{all}
	}
	list := make([]requant.BentQuantiser, len(functions))
	for c, f := range functions {
		if c > 0 && f == functions[c-1] && x[c] == x[c-1] {
			list[c] = list[c-1]
			continue
		}
		if list[c], ok = bentQuantiserOf(f, x[c]); !ok {
			return requant.Params{}, false
		}
	}
	return requant.FitBentQuantisers(list, x)
}

// allEqual reports whether all channels have one function.
func allEqual(functions []*real.Expr) bool {
	for _, f := range functions {
		if f != functions[0] && !f.HasSameForm(functions[0]) {
			return false
		}
	}
	return true
}

// bentQuantiserOf returns f as two quantisers of the integers in x, one on each side of a bend. ok is false if f is
// nothing of that kind.
func bentQuantiserOf(f *real.Expr, x num.Range) (q requant.BentQuantiser, ok bool) {
	side := func(r num.Range) (num.ExactQuantiser, bool) {
		e := f.SimplifyWithin([]real.Interval{integers.IntervalOfRange(r)})
		if line, ok := e.AsAffine(); ok && line.Scale.Sign() == 0 && line.Bias.IsInt() { // all codes are one limit
			return num.ExactQuantiser{Scale: line.Scale, Bias: line.Bias, Mode: num.RoundingFloor, Lo: -1 << 62,
				Hi: 1 << 62}, true
		}
		return real.QuantiserOfAnyTies(e)
	}
	if whole, ok := side(x); ok {
		return requant.BentQuantiser{At: x.Lo, Above: whole, Below: whole}, true
	}
	for _, at := range real.IntegersAtKinks(f) {
		if at <= x.Lo || at > x.Hi {
			continue
		}
		below, ok1 := side(num.Range{Lo: x.Lo, Hi: at - 1})
		above, ok2 := side(num.Range{Lo: min(at+1, x.Hi), Hi: x.Hi}) // intervals do not tell the side of an exact kink
		if !ok1 || !ok2 {
			continue
		}
		here, err := real.Compile(f).StepFunctionOver(num.SingleValueRange(at), 1)
		if err == nil && above.CodeAt(at) == here.Value[0] {
			return requant.BentQuantiser{At: at, Above: above, Below: below}, true
		}
	}
	return q, false
}
