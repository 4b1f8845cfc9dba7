package graph

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// An IntegerInputEncoding says that the real numbers of a model input arrive as integers of a type. Integer k of a
// channel stands for exactly Scale*k + Bias. Files and programs hold that value rounded to the input's own type.
type IntegerInputEncoding struct {
	Type num.Type
	Of   []real.Affine // one for all channels, or one for each; scales are above 0
	Axis int           // the axis of channels, counted from the last one (1); 0 if Of has one entry
	// Within holds, by channel, how far a number may be from the value that it stands for. Programs scale, subtract and
	// divide, each with an error, by constants that have errors. It is 0 if the input's type holds every value exactly.
	Within []float64

	format num.FloatFormat // of the input's type
	lines  []line          // by channel
	// near holds the values by channel and integer, starting with the least integer. It is nil for integers that stand
	// for themselves, and if there are more than maxNear. Values are then computed when needed.
	near [][]near
}

// A near holds the number of the input's type that is nearest to an exact value, and a float64 interval that holds the
// exact value.
type near struct {
	float  float64
	around real.Interval
}

const maxNear = 1 << 18

// A line is an affine function in float64.
type line struct{ scale, bias float64 }

func lineOf(of real.Affine) line {
	scale, _ := of.Scale.Float64()
	bias, _ := of.Bias.Float64()
	return line{scale, bias}
}

// NewIntegerInputEncoding returns the encoding of an input of format f that arrives as integers of type t. of holds the
// functions from integers to values: one for all channels, or one for each index on axis. It returns an error if a
// value is too large for f, or if numbers of format f do not distinguish the integers.
func NewIntegerInputEncoding(t num.Type, of []real.Affine, axis int, f num.FloatFormat) (*IntegerInputEncoding, error) {
	a := &IntegerInputEncoding{Type: t, Of: of, Axis: axis, Within: make([]float64, len(of)), format: f}
	r := t.Range()
	for c := range of {
		var most float64
		a.lines = append(a.lines, lineOf(of[c]))
		for _, k := range []int64{r.Lo, r.Hi} {
			near := nearestIn(a.ExactValueOf(c, k), f)
			if math.IsInf(near, 0) {
				return nil, fmt.Errorf("integer %d stands for a number that is too large for the input's type", k)
			}
			most = max(most, math.Abs(near))
		}
		if a.holds(c) {
			continue
		}
		of := a.lines[c]
		a.Within[c] = math.Ldexp(most+2*math.Abs(of.bias), 2-f.Digits)
		if 2*a.Within[c] >= of.scale {
			return nil, fmt.Errorf("steps of %g are too small for numbers of up to %g with %d bits", of.scale, most,
				f.Digits)
		}
	}
	if n := int(r.Hi - r.Lo + 1); n*len(of) <= maxNear {
		a.near = make([][]near, len(of))
		for c := range of {
			for k := r.Lo; k <= r.Hi; k++ {
				v := a.ExactValueOf(c, k)
				a.near[c] = append(a.near[c], near{nearestIn(v, f), FloatIntervalOfRational(v)})
			}
		}
	}
	return a, nil
}

// holds reports whether the input's format certainly holds every value of a channel exactly. This needs values that are
// small multiples of one power of two.
func (a *IntegerInputEncoding) holds(channel int) bool {
	of, r := a.Of[channel], a.Type.Range()
	unit := math.MaxInt // the exponent of the common power of two
	for _, v := range []*big.Rat{of.Scale, of.Bias} {
		if !dyadic(v) {
			return false
		}
		if v.Sign() != 0 {
			unit = min(unit, int(v.Num().TrailingZeroBits())-v.Denom().BitLen()+1)
		}
	}
	for _, k := range []int64{r.Lo, r.Hi} {
		v, _ := a.ExactValueOf(channel, k).Float64()
		if math.Abs(v) > math.Ldexp(1, unit+a.format.Digits) {
			return false
		}
	}
	return unit >= a.format.Least
}

// dyadic reports whether a rational is a whole multiple of a power of two.
func dyadic(v *big.Rat) bool { return int(v.Denom().TrailingZeroBits()) == v.Denom().BitLen()-1 }

// NewIdentityEncoding returns the encoding of integers of type t that stand for themselves.
func NewIdentityEncoding(t num.Type) *IntegerInputEncoding {
	one := real.Affine{Scale: big.NewRat(1, 1), Bias: new(big.Rat)}
	return &IntegerInputEncoding{Type: t, Of: []real.Affine{one}, Within: make([]float64, 1), format: num.Float64Format,
		lines: []line{lineOf(one)}}
}

// nearestIn returns the number of a format that is nearest to a rational.
func nearestIn(v *big.Rat, f num.FloatFormat) float64 {
	if f == num.Float32Format {
		single, _ := v.Float32()
		return float64(single)
	}
	near, _ := v.Float64()
	return f.RoundToNearest(near)
}

// ChannelOfElement returns the channel of element i of a tensor of the given shape. The shape may have further axes in
// front of those of the input.
func (a *IntegerInputEncoding) ChannelOfElement(shape []int, i int) int {
	if len(a.Of) == 1 {
		return 0
	}
	axis := len(shape) - a.Axis
	return i / ElementCount(shape[axis+1:]) % shape[axis]
}

// ExactValueOf returns the exact value for which integer k of a channel stands.
func (a *IntegerInputEncoding) ExactValueOf(channel int, k int64) *big.Rat {
	r, of := new(big.Rat).SetInt64(k), a.Of[channel]
	return r.Add(r.Mul(r, of.Scale), of.Bias)
}

// RoundedValueOf returns the value of integer k of a channel, rounded to the input's format. k must be in the range of
// the encoding's Type.
func (a *IntegerInputEncoding) RoundedValueOf(channel int, k int64) float64 {
	if a.near != nil {
		return a.near[channel][k-a.Type.Range().Lo].float
	}
	return nearestIn(a.ExactValueOf(channel, k), a.format)
}

// integerOf returns the integer of a channel for which number x stands. ok is false if x stands for no integer of the
// type. k is then 0 for NaN, and otherwise the nearest integer in the type's range, which may be the 0 that a bipolar
// type lacks.
func (a *IntegerInputEncoding) integerOf(channel int, x float64) (k int64, ok bool) {
	if math.IsNaN(x) {
		return 0, false
	}
	line, r := a.lines[channel], a.Type.Range()
	k = int64(max(float64(r.Lo), min(float64(r.Hi), math.Round((x-line.bias)/line.scale))))
	return k, a.Type.Holds(k) && math.Abs(a.RoundedValueOf(channel, k)-x) <= a.Within[channel]
}

// NearestValueTo returns the number nearest to x among those for which the integers of a channel stand. x must not be
// NaN.
func (a *IntegerInputEncoding) NearestValueTo(channel int, x float64) float64 {
	k, _ := a.integerOf(channel, x)
	if !a.Type.Holds(k) { // 0, which a bipolar type lacks
		k++
	}
	return a.RoundedValueOf(channel, k)
}

// ValueIntervalOf returns the smallest float64 interval that holds the exact value of integer k of a channel. k must be
// in the range of the encoding's Type.
func (a *IntegerInputEncoding) ValueIntervalOf(channel int, k int64) real.Interval {
	if a.near != nil {
		return a.near[channel][k-a.Type.Range().Lo].around
	}
	return FloatIntervalOfRational(a.ExactValueOf(channel, k))
}

// IsExact reports whether the input's format certainly holds every value exactly, so that no number differs from the
// value for which it stands. It looks only at Within.
func (a *IntegerInputEncoding) IsExact() bool {
	return !slices.ContainsFunc(a.Within, func(w float64) bool { return w > 0 })
}

// An InputValueOffGridError is the error for a value for which no integer of an input stands.
type InputValueOffGridError struct{ Msg string }

func (e *InputValueOffGridError) Error() string { return e.Msg }

// IntegersOfSample returns the integers for which the elements x of a sample stand. If an element stands for none, it
// returns nil and a *InputValueOffGridError. That names the input, as name, and the first such element.
func (a *IntegerInputEncoding) IntegersOfSample(name string, shape []int, x []float64) ([]int64, error) {
	codes := make([]int64, len(x))
	for i, v := range x {
		c := a.ChannelOfElement(shape, i)
		var ok bool
		if codes[i], ok = a.integerOf(c, v); !ok {
			return nil, &InputValueOffGridError{fmt.Sprintf("input %q, element %d: %v is not %s that %s holds", name,
				i, v,
				formula(a.Of[c]), a.Type)}
		}
	}
	return codes, nil
}

// formula describes the possible values of a channel for a message, such as "3 more than 1/2 times an integer".
func formula(of real.Affine) string {
	s := of.Scale.RatString() + " times an integer"
	switch of.Bias.Sign() {
	case 1:
		s = of.Bias.RatString() + " more than " + s
	case -1:
		s = new(big.Rat).Neg(of.Bias).RatString() + " less than " + s
	}
	return s
}

// FloatIntervalOfRational returns the smallest float64 interval that holds r.
func FloatIntervalOfRational(r *big.Rat) real.Interval {
	return real.NumberOfRational(r).FloatInterval()
}
